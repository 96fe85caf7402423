# SPDX-License-Identifier: GPL-3.0-or-later
"""`kab kernels` and kernels from files on the command line, on a root made of files."""
import hashlib
import http.server
import os
import threading
import unittest

import e2e_lib as e2e

MINE, THEIRS = "6.12.0-patched", "6.1.0-50-amd64"


class Kernels(e2e.Case):
    def setUp(self):
        super().setUp()
        self.root = self.path("root")
        for folder in ("boot/kab", "lib/modules/" + MINE, "lib/modules/" + THEIRS, "var/lib/kab/kernels/" + "a" * 64):
            os.makedirs(os.path.join(self.root, folder))
        self.put("boot/vmlinuz-" + THEIRS, "theirs")
        self.put("boot/kab/vmlinuz-" + MINE, "mine")
        self.put("lib/modules/%s/.kab" % MINE, "")
        for name, text in (("release", MINE), ("kind", "deb"), ("date", "2026-01-05")):
            self.put("var/lib/kab/kernels/%s/%s" % ("a" * 64, name), text + "\n")
        self.env["KAB_BOOT_ROOT"] = self.root

    def put(self, name, text):
        self.write(os.path.join(self.root, name), text)

    def has(self, name):
        return os.path.exists(os.path.join(self.root, name))

    def test_listed(self):
        r = self.kab("kernels", "local")
        self.assertEqual(r.status, 0, r.err)
        lines = r.out.splitlines()
        self.assertEqual(lines[0], "local:")
        self.assertIn("  %s" % THEIRS, lines)
        mine, = [line for line in lines if MINE in line]
        self.assertRegex(mine, r"installed by kab \(deb, 2026-01-05, 1 MB\)")
        running, = [line for line in lines if "running" in line]
        self.assertIn(os.uname().release, running)

    def test_removed_and_nothing_else(self):
        r = self.kab("kernels", "local", "--remove", THEIRS)
        self.assertEqual(r.status, 4)
        self.assertIn("not installed by kab", r.err)
        self.assertTrue(self.has("boot/vmlinuz-" + THEIRS))
        self.assertEqual(self.kab("kernels", "--remove", MINE).status, 2)
        r = self.kab("kernels", "local", "--remove", MINE)
        self.assertEqual((r.status, r.out), (0, "local: removed kernel %s\n" % MINE), r.err)
        self.assertFalse(self.has("boot/kab") or self.has("lib/modules/" + MINE) or self.has("var/lib/kab"))
        self.assertTrue(self.has("lib/modules/" + THEIRS))
        self.assertEqual(self.lease_owner(), "-")

    def test_a_leased_host_is_left_alone(self):
        suite = self.suite([self.synthetic(sleep_s=60)], repeat={"iterations": 1})
        run = self.start("run", suite, "--kernel", "a=running")
        e2e.wait_for("the lease", lambda: self.lease_owner() != "-")
        r = self.kab("kernels", "local", "--remove", MINE)
        self.assertEqual(r.status, 4)
        self.assertTrue(self.has("boot/kab/vmlinuz-" + MINE))
        run.terminate()
        self.finish(run)

    def run_with(self, spec, *more):
        return self.kab("run", self.suite([self.synthetic(sleep_s=0.01)]), "--kernel", "base=running",
                        "--kernel", "test=" + spec, *more)

    def test_missing_file(self):
        r = self.run_with("deb:/nowhere/linux.deb")
        self.assertEqual(r.status, 3)
        self.assertIn("kernel 'test'", r.err)
        self.assertIn("/nowhere/linux.deb", r.err)
        self.assertFalse(os.path.exists(self.db))

    def test_wrong_hash_of_a_file(self):
        path = self.write("linux.tar", "x")
        r = self.run_with("tar:%s;sha256=%s" % (path, "0" * 64))
        self.assertEqual(r.status, 3)
        self.assertIn(hashlib.sha256(b"x").hexdigest(), r.err)

    def test_host_that_kab_does_not_boot(self):
        r = self.run_with("tar:" + self.write("linux.tar", "x"))
        self.assertEqual(r.status, 4)
        self.assertIn("boot method none", r.err)
        self.assertFalse(os.path.exists(self.db))

    def serve(self):
        seen = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *args):
                pass

            def do_GET(self):
                seen.append(self.path)
                self.send_response(200 if self.path == "/linux.tar" else 404)
                self.send_header("Content-Length", "1")
                self.end_headers()
                self.wfile.write(b"x")

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return "http://me:secret@127.0.0.1:%d" % server.server_address[1], seen

    def test_url(self):
        base, seen = self.serve()
        r = self.run_with("tar:" + base + "/gone.tar")
        self.assertEqual(r.status, 3)
        self.assertIn("404", r.err)
        self.assertNotIn("secret", r.err)
        # A dry run downloads nothing.
        r = self.run_with("tar:" + base + "/linux.tar", "--dry-run")
        self.assertNotIn("secret", r.out + r.err)
        self.assertEqual(seen, ["/gone.tar"])
        sha = hashlib.sha256(b"x").hexdigest()
        for _ in range(2):
            r = self.run_with("tar:%s/linux.tar;sha256=%s" % (base, sha))
            self.assertIn("boot method none", r.err)
        self.assertEqual(seen, ["/gone.tar", "/linux.tar"])
        self.assertTrue(os.path.exists(self.path("home/.cache/kab/kernels/%s/linux.tar" % sha)))


if __name__ == "__main__":
    e2e.main()
