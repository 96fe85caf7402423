# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets whose disk fills up under a benchmark, and that have hardly any tools."""
import os
import subprocess
import time

import e2e_lib as e2e
import fault_lib


class Target(fault_lib.Hosts):
    def small_disk(self, host, size):
        """/mnt/work in the world of that host."""
        self.inside(host, "mkdir -p /root/work && mount -t tmpfs -o size=%s none /root/work" % size)
        return "/root/work/kab"

    def inside(self, host, script):
        r = subprocess.run(["nsenter", "-t", str(host.pid()), "-m", "sh", "-c", script],
                           capture_output=True, text=True, check=False)
        self.assertEqual(r.returncode, 0, r.stderr)
        return r.stdout

    def test_disk_full_while_the_benchmark_writes(self):
        h = self.host("a")
        work = self.small_disk(h, "2m")
        case = self.calls(sleep_s=1)
        case["background"] = {"argv": ["sh", "-c", "[ -e /var/tmp/once ] || { >/var/tmp/once; "
                                       "cat /dev/zero >fill; }; exec sleep 30"]}
        r = self.kab("run", self.suite([case], repeat={"iterations": 2}), "--kernel", "k=running",
                     *self.lab_of({"a": {"workdir": work}}))
        self.assertEqual(r.status, 5, r.err)
        self.assertEqual(self.states(), {"failed": 1, "done": 1}, "the next one has room again")
        (reason,), = self.sql("SELECT reason FROM iteration WHERE state = 'failed'")
        print("disk full on the target: " + reason)
        self.assertEqual(self.inside(h, "ls -d %s/kab-* 2>/dev/null || :" % work), "")
        self.assertEqual(self.lease_owner(h.lease), "-")

    def test_hardly_any_tools(self):
        """Nothing but busybox, and of that not setsid, flock, timeout, stat, nice, od."""
        names = subprocess.run(["busybox", "--list"], check=True, capture_output=True,
                               text=True).stdout.split()
        folder = self.path("few")
        os.mkdir(folder)
        for name in set(names) - {"setsid", "flock", "timeout", "stat", "nice", "od"}:
            os.symlink("/bin/busybox", folder + "/" + name)
        h = self.host("a")
        self.server_with_path(h, folder)
        for transport in ("ssh", "openssh"):
            with self.subTest(transport=transport):
                if os.path.exists(self.db):
                    os.unlink(self.db)
                r = self.kab("run", self.suite([self.calls()], repeat={"iterations": 2}),
                             "--kernel", "k=running", *self.lab_of({"a": {"transport": transport}}))
                self.assertEqual(r.status, 0, r.err)
                self.assert_exactly_once(2)
                self.assert_hosts_clean()

    def server_with_path(self, host, folder):
        with open(self.path("sshd/a/sshd_config"), "r+", encoding="ascii") as f:
            text = "SetEnv PATH=%s\n" % folder + f.read()
            f.seek(0)
            f.write(text)
        os.kill(host.pid(), 1)
        time.sleep(1)


if __name__ == "__main__":
    e2e.main()
