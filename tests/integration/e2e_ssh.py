# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs over SSH. Each host is a real sshd on 127.0.0.1 in a mount namespace with its own machine id,
boot id, home and /var/tmp, so that several look like several machines; a host can be restarted, and
can come back with another kernel release (the personality that calls every kernel 2.6)."""
import json
import os
import shutil
import signal
import subprocess
import time
import unittest
import uuid

import e2e_lib as e2e

SSHD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sshd.sh")


class Host:
    def __init__(self, case, name, alone=True, args=()):
        self.case, self.name, self.alone, self.args = case, name, alone, args
        self.dir = case.path("host-" + name)
        self.sshd = case.path("sshd")
        self.base = self.dir + "/home/.local/state/kab"
        self.lease = self.dir + "/var-tmp/kab-lease" if alone else "/var/tmp/kab-lease"
        for folder in (self.dir, self.dir + "/home", self.dir + "/var-tmp"):
            os.mkdir(folder)
        os.chmod(self.dir + "/var-tmp", 0o1777)
        self.put("machine-id", uuid.uuid4().hex)
        self.new_boot_id()
        with open("/sys/kernel/notes", "rb") as f:
            self.notes = f.read()
        self.old = False

    def put(self, name, text):
        # In place: the file is mounted somewhere.
        with open(self.dir + "/" + name, "w", encoding="ascii") as f:
            f.write(text + "\n")

    def new_boot_id(self):
        self.put("boot_id", str(uuid.uuid4()))

    def start(self):
        """Start its sshd; under `old`, in a world where all kernels are 2.6."""
        notes = self.notes
        mark = bytes.fromhex("040000001400000003000000474e5500")
        at = notes.find(mark)
        if self.old and at >= 0:
            at += len(mark)
            notes = notes[:at] + bytes([notes[at] ^ 0xFF]) + notes[at + 1:]
        with open(self.dir + "/notes", "wb") as f:
            f.write(notes)
        mounts = "true"
        if self.alone:
            mounts = " && ".join("mount --bind '%s/%s' %s" % (self.dir, what, where) for what, where in (
                ("machine-id", "/etc/machine-id"), ("boot_id", "/proc/sys/kernel/random/boot_id"),
                ("notes", "/sys/kernel/notes"), ("var-tmp", "/var/tmp"), ("home", "/root")))
        else:
            mounts = "mount --bind '%s/home' /root" % self.dir
        command = ["setarch", "--uname-2.6"] if self.old else []
        # The tests may lie below the home that has just been hidden.
        script = self.dir + "/sshd.sh"
        shutil.copyfile(SSHD, script)
        r = subprocess.run(["unshare", "--mount", "sh", "-c", mounts + ' && exec "$@"', "sh"] + command +
                           ["sh", script, "start", self.sshd, self.name, *self.args], capture_output=True, text=True,
                           check=False, env=dict(os.environ, PATH=self.case.env["PATH"]),
                           stdin=subprocess.DEVNULL)
        if r.returncode == 77:
            self.case.skipTest(r.stderr)
        self.case.assertEqual(r.returncode, 0, r.stderr)
        return self

    def stop(self):
        subprocess.run(["sh", SSHD, "stop", self.sshd, self.name], check=False)
        # The next start gets another port.
        path = self.sshd + "/ssh_config"
        with open(path, encoding="ascii") as f:
            blocks = f.read().split("Host ")
        with open(path, "w", encoding="ascii") as f:
            f.write("Host ".join(b for b in blocks if not b.startswith(self.name + "\n")))

    def pid(self):
        with open("%s/%s/pid" % (self.sshd, self.name), encoding="ascii") as f:
            return int(f.read())

    def cut_links(self):
        r = subprocess.run(["sh", SSHD, "sessions", self.sshd, self.name], check=True,
                           capture_output=True, text=True)
        for pid in r.stdout.split():
            os.kill(int(pid), signal.SIGKILL)

    def crash(self):
        """Everything but the server ends, and the boot id is a new one."""
        world = os.readlink("/proc/%d/ns/mnt" % self.pid())
        for pid in os.listdir("/proc"):
            try:
                if pid.isdigit() and int(pid) != self.pid() and \
                        os.readlink("/proc/%s/ns/mnt" % pid) == world:
                    os.kill(int(pid), signal.SIGKILL)
            except OSError:
                pass
        self.new_boot_id()

    def entry(self, **more):
        return dict({"ssh": self.name, "ssh_config": self.sshd + "/ssh_config"}, **more)


@unittest.skipUnless(e2e.is_root(), "needs root for its servers")
class Ssh(e2e.Case):
    def setUp(self):
        super().setUp()
        self.hosts = []

    def tearDown(self):
        if os.path.isdir(self.path("sshd")):
            subprocess.run(["sh", SSHD, "stop", self.path("sshd")], check=False)
        super().tearDown()

    def host(self, name, **kw):
        h = Host(self, name, **kw).start()
        self.hosts.append(h)
        self.before |= set(e2e.processes())
        return h

    def lab(self, **more):
        path = self.write("lab.json", json.dumps({"hosts": {h.name: h.entry(**more)
                                                            for h in self.hosts}}))
        return ["--lab", path, "--host", ",".join(h.name for h in self.hosts)]

    def calls(self, **params):
        """A case that counts its invocations on each host."""
        return self.synthetic(fail_every=9999999, state="/var/tmp/calls", **params)

    def count(self, host):
        try:
            with open(host.dir + "/var-tmp/calls", encoding="ascii") as f:
                return int(f.read() or 0)
        except FileNotFoundError:
            return 0

    def assert_hosts_clean(self):
        for h in self.hosts:
            self.assertEqual(self.lease_owner(h.lease), "-", h.name)
            self.assertEqual(self.runs_on_target(h.base), [], h.name)

    def test_four_hosts_at_once(self):
        for n in range(1, 5):
            self.host("h%d" % n)
        suite = self.suite([self.calls(sleep_s=0.5)], repeat={"iterations": 2, "warmup": 1})
        r = self.aa(suite, *self.lab())
        self.assertEqual(r.status, 0, r.err)
        self.assert_exactly_once(24)
        for h in self.hosts:
            self.assertEqual(self.count(h), 6)
        rows = self.sql("SELECT h.label, min(i.started_wall_ns), max(i.finished_wall_ns), "
                        "count(DISTINCT b.host_id) FROM iteration i JOIN boot b ON b.id = i.boot_id "
                        "JOIN run_host h ON h.id = b.run_host_id GROUP BY h.label")
        self.assertEqual([row[0] for row in rows], ["h1", "h2", "h3", "h4"])
        self.assertLess(max(row[1] for row in rows), min(row[2] for row in rows), "all at once")
        self.assertEqual(self.sql("SELECT count(*) FROM host"), [(4,)])
        self.assert_hosts_clean()

    def test_one_lost_host_does_not_stop_the_others(self):
        first, second = self.host("h1"), self.host("h2")
        second.stop()
        self.hosts = [first, second]
        with open(self.path("sshd/ssh_config"), "a", encoding="ascii") as f:
            f.write("Host h2\n  HostName 127.0.0.1\n  Port 1\n  IdentityFile %s\n"
                    % self.path("sshd/id"))
        r = self.aa(self.suite([self.calls()]), *self.lab())
        self.assertEqual(r.status, 4, r.err)
        self.assertIn("h2", r.err)
        self.assertFalse(os.path.exists(self.db), "refused before anything starts")

    def test_one_machine_under_two_names_is_refused(self):
        h = self.host("h1")
        lab = self.write("lab.json", json.dumps({"hosts": {"a": h.entry(), "b": h.entry()}}))
        r = self.aa(self.suite([self.calls()]), "--lab", lab, "--host", "a,b")
        self.assertEqual(r.status, 4, r.err)
        self.assertIn("same machine", r.err)
        self.assertFalse(os.path.exists(self.db))

    def test_local_and_its_own_address_share_the_lease(self):
        self.host("me", alone=False)
        seen = self.path("calls")
        first = self.start("run", self.suite([self.synthetic(sleep_s=4, fail_every=9999999, state=seen)],
                                             repeat={"iterations": 1}), "--kernel", "a=running")
        e2e.wait_for("the benchmark", lambda: os.path.exists(seen), process=first)
        second = self.kab("run", self.suite([self.synthetic()], name="b.json"), "--kernel", "a=running",
                          "--db", self.path("b.db"), *self.lab())
        self.assertEqual(second.status, 4, second.err)
        self.assertRegex(second.err, r"host 'me'.* held by uid0@\S+ for another \d+ s")
        self.assertEqual(self.finish(first).status, 0)

    def test_values_reach_the_benchmark_byte_for_byte(self):
        values = ["a,b", "it's", "$HOME", "back\\slash", "-n", "", "two  blanks", "new\nline", "`id`",
                  "*", "\u00e4"]
        h = self.host("h1")
        load = self.write("load.sh", 'for a in "$@"; do printf "%s\\0" "$a"; done >/var/tmp/seen\n'
                          "exec sleep 30\n")
        case = self.synthetic()
        case["background"] = {"argv": ["sh", load] + values}
        r = self.kab("run", self.suite([case], repeat={"iterations": 1}), "--kernel", "a=running",
                     *self.lab())
        self.assertEqual(r.status, 0, r.err)
        with open(h.dir + "/var-tmp/seen", "rb") as f:
            self.assertEqual(f.read().split(b"\0")[:-1], [v.encode() for v in values])

    def test_link_lost_in_an_iteration(self):
        h = self.host("h1")
        p = self.start("run", self.suite([self.calls(sleep_s=3)], repeat={"iterations": 2}),
                       "--kernel", "a=running", *self.lab())
        e2e.wait_for("the benchmark", lambda: self.count(h) == 1, process=p)
        h.cut_links()
        r = self.finish(p)
        self.assertEqual(r.status, 0, r.err)
        self.assertIn("link lost", r.err)
        self.assert_exactly_once(2)
        self.assertEqual(self.count(h), 2)
        self.assert_hosts_clean()

    def test_interrupted_hard(self):
        h = self.host("h1")
        p = self.start("run", self.suite([self.calls(sleep_s=60)]), "--kernel", "a=running",
                       "--name", "r", *self.lab())
        e2e.wait_for("the benchmark", lambda: self.count(h) == 1, process=p)
        p.send_signal(signal.SIGTERM)
        r = self.finish(p, timeout=40)
        self.assertEqual(r.status, 130, r.err)
        self.assert_hosts_clean()

    def test_restart_of_the_host_fails_the_iteration_and_repeats_the_boot(self):
        h = self.host("h1")
        p = self.start("run", self.suite([self.calls(sleep_s=2)], repeat={"iterations": 3}),
                       "--kernel", "a=running", *self.lab())
        e2e.wait_for("the second invocation", lambda: self.count(h) == 2, process=p)
        h.crash()
        r = self.finish(p)
        self.assertEqual(r.status, 5, r.err)
        self.assertEqual(self.states(), {"done": 2, "failed": 1})
        (reason,), = self.sql("SELECT reason FROM iteration WHERE state = 'failed'")
        self.assertIn("rebooted", reason)
        self.assertEqual(self.sql("SELECT state, replaces IS NOT NULL FROM boot ORDER BY id"),
                         [("broken", 0), ("done", 1)])
        self.assertEqual(self.count(h), 3)
        self.assert_hosts_clean()

    def test_user_boots_the_other_kernel(self):
        h = self.host("h1")
        now = os.uname().release
        then = subprocess.run(["setarch", "--uname-2.6", "uname", "-r"], check=True,
                              capture_output=True, text=True).stdout.strip()
        self.assertNotEqual(now, then)
        suite = self.suite([self.calls()], repeat={"boots": 2, "iterations": 2})
        lab = self.lab()
        words = ["--kernel", "base=release:" + now, "--kernel", "patched=release:" + then]
        r = self.kab("run", suite, "--name", "r", *words, *lab)
        for done in (2, 4, 6):
            self.assertEqual(r.status, 4, r.err)
            self.assertEqual(self.states(), {"done": done, "pending": 8 - done})
            # In the same boot nothing more can be done for this kernel.
            again = self.kab("resume", "r")
            self.assertEqual(again.status, 4)
            self.assertEqual(self.states()["done"], done)
            label = "patched" if "boot kernel 'patched'" in again.err else "base"
            self.assertIn("boot kernel '%s'" % label, again.err)
            h.stop()
            h.new_boot_id()
            h.old = label == "patched"
            h.start()
            self.before |= set(e2e.processes())
            r = self.kab("resume", "r")
        self.assertEqual(r.status, 0, r.err)
        self.assert_exactly_once(8)
        self.assertEqual(self.count(h), 8)
        rows = self.sql("SELECT rk.label, k.release, count(*), count(DISTINCT b.os_boot_id) FROM boot b "
                        "JOIN run_kernel rk ON rk.id = b.run_kernel_id JOIN kernel k "
                        "ON k.id = b.kernel_id GROUP BY 1, 2 ORDER BY 1")
        self.assertEqual(rows, [("base", now, 2, 2), ("patched", then, 2, 2)])
        self.assert_hosts_clean()


if __name__ == "__main__":
    e2e.main()
