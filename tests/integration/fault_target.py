# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets whose disk is full, read-only or executes nothing, that have hardly any tools, and benchmarks
that leave something behind."""
import os
import subprocess
import time

import e2e_lib as e2e
import fault_lib


class Target(fault_lib.Hosts):
    def small_disk(self, host, size):
        """A folder in the world of that host."""
        self.inside(host, "mkdir -p /root/small && mount -t tmpfs -o size=%s none /root/small" % size)
        return "/root/small/kab"

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

    def measured(self, h, **entry):
        """A run of two iterations on that host ends well and leaves nothing."""
        if os.path.exists(self.db):
            os.unlink(self.db)
        for name in ("a", "o"):
            if os.path.exists(h.dir + "/var-tmp/calls"):
                os.unlink(h.dir + "/var-tmp/calls")
        r = self.kab("run", self.suite([self.calls()], repeat={"iterations": 2}), "--kernel",
                     "k=running", *self.lab_of({"a": entry}))
        self.assertEqual(r.status, 0, r.err)
        self.assert_exactly_once(2)
        self.assertEqual(self.count(h), 2)
        self.assertEqual(self.lease_owner(h.lease), "-")

    def refused(self, *words, **entry):
        """Nothing is measured where no folder will do; what is said names the remedy."""
        if os.path.exists(self.db):
            os.unlink(self.db)
        r = self.kab("run", self.suite([self.calls()], repeat={"iterations": 2}), "--kernel",
                     "k=running", *self.lab_of({"a": entry}))
        self.assertEqual(r.status, 4, r.err)
        for word in words:
            self.assertIn(word, r.err)
        self.assertEqual(self.states(), {"pending": 2})

    def test_tmp_and_home_execute_nothing(self):
        """Scripts are given to sh, so it does not matter."""
        h = self.host("a")
        self.inside(h, "for d in /tmp /var/tmp /root; do mount --bind $d $d && "
                       "mount -o remount,bind,noexec $d || exit 1; done; "
                       "cp /bin/true /tmp/x && ! /tmp/x 2>/dev/null")
        for transport in ("ssh", "openssh"):
            with self.subTest(transport=transport):
                self.measured(h, transport=transport)

    def test_home_is_read_only(self):
        h = self.host("a")
        self.inside(h, "mount --bind /root /root && mount -o remount,bind,ro /root; ! touch /root/x 2>/dev/null")
        self.measured(h)

    def test_no_place_to_work_in(self):
        """Where nothing persistent can be written, workdir is asked for; the lease has one place only."""
        h = self.host("a")
        self.inside(h, "mkdir -p /var/tmp/place /mnt/other; mount --bind /var/tmp/place /mnt/other; "
                       "for d in /root /var/tmp; do mount --bind $d $d && mount -o remount,bind,ro $d; done")
        self.refused("workdir", "'a'")
        self.refused("/var/tmp/kab-lease", "writable", workdir="/mnt/other/kab")
        self.inside(h, "mount -o remount,bind,rw /var/tmp")
        self.measured(h, workdir="/mnt/other/kab")

    def test_child_that_keeps_the_output_open(self):
        """The benchmark ends, a child of it goes on and holds its stdout: the iteration is over and the
        child is ended with it, so that it does not disturb the next one."""
        h = self.host("a")
        folder = self.path("few")
        os.mkdir(folder)
        with open(folder + "/hackbench", "w", encoding="ascii") as f:
            # Only what is measured leaves a child, not the question for its version.
            f.write("#!/bin/sh\ncase $* in *-g*) ;; *) exit 1 ;; esac\n(exec sleep 3600) &\necho x >>/var/tmp/calls-made\n"
                    "echo Running in process mode with 1 groups using 40 file descriptors each\n"
                    "echo Each sender will pass 100 messages of 100 bytes\necho 'Time: 0.500'\n")
        os.chmod(folder + "/hackbench", 0o755)
        self.server_with_path(h, folder + ":/usr/sbin:/usr/bin:/sbin:/bin")
        case = {"name": "h", "runner": "hackbench", "params": {"groups": 1}, "timeout_s": 60}
        begin = time.monotonic()
        r = self.kab("run", self.suite([case], repeat={"iterations": 2}), "--kernel", "k=running",
                     *self.lab_of({"a": {}}))
        self.assertEqual(r.status, 0, r.err)
        self.assertLess(time.monotonic() - begin, 60)
        self.assertEqual(self.states(), {"done": 2})
        with open(h.dir + "/var-tmp/calls-made", encoding="ascii") as f:
            self.assertEqual(f.read(), "x\nx\n", r.err)
        self.assertNotIn("sleep 3600", self.inside(h, "ps -eo args"))
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
