# SPDX-License-Identifier: GPL-3.0-or-later
"""Many hosts in one run, each a real sshd with an address, a machine id, a home and a lease folder of its
own: nothing fails, and what the controller needs for each. Many hosts behind one server that takes two
logins at a time. KAB_TEST_HOSTS says how many (20)."""
import concurrent.futures
import os
import resource
import threading
import time

import e2e_lib as e2e
import e2e_ssh
import fault_lib

HOSTS = int(os.environ.get("KAB_TEST_HOSTS", "20"))
TICK = os.sysconf("SC_CLK_TCK")


class Watch(threading.Thread):
    """What a process needs while it lives, by its own word in /proc."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.alive = pid, True
        self.rss_kb = self.threads = self.files = 0
        self.own_s = self.children_s = 0.0
        self.start()

    def look(self):
        with open("/proc/%d/status" % self.pid, encoding="ascii") as f:
            status = dict(line.split(":", 1) for line in f)
        with open("/proc/%d/stat" % self.pid, encoding="latin1") as f:
            times = f.read().rsplit(")", 1)[1].split()[11:15]
        self.rss_kb = max(self.rss_kb, int(status.get("VmHWM", "0 kB").split()[0]))
        self.threads = max(self.threads, int(status["Threads"]))
        self.files = max(self.files, len(os.listdir("/proc/%d/fd" % self.pid)))
        self.own_s = (int(times[0]) + int(times[1])) / TICK
        self.children_s = (int(times[2]) + int(times[3])) / TICK

    def run(self):
        while self.alive:
            try:
                self.look()
            except (OSError, KeyError, ValueError):
                return
            time.sleep(0.02)

    def end(self):
        self.alive = False
        self.join()


class Many(fault_lib.Hosts):
    def start_hosts(self, n, *args):
        """Port 22 of an address each: the network is ours."""
        def one(i):
            address = "127.0.%d.%d" % (1 + i // 250, 1 + i % 250)
            return e2e_ssh.Host(self, "h%d" % i, args=("-a", address, "-p", "22") + args).start()

        # The first makes the user key that all share.
        self.hosts = [one(0)]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.hosts += list(pool.map(one, range(1, n)))
        self.before |= set(e2e.processes())

    def measure(self, lab, *words):
        suite = self.suite([self.calls()], repeat={"iterations": 1})
        begin = time.monotonic()
        p = self.start("run", suite, "--kernel", "base=running", "--kernel", "same=running", *words, *lab)
        watch = Watch(p.pid)
        r = self.finish(p, timeout=900)
        watch.end()
        self.assertEqual(r.status, 0, r.err)
        return r, watch, time.monotonic() - begin

    def assert_all_measured(self):
        self.assert_exactly_once(2 * len(self.hosts))
        self.assertEqual(self.sql("SELECT count(*) FROM host"), [(len(self.hosts),)])
        for h in self.hosts:
            self.assertEqual(self.count(h), 2, h.name)
        self.assert_hosts_clean()

    def test_all_at_once(self):
        # What a login shell has as a rule.
        soft, hard = 1024, resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        self.start_hosts(HOSTS)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, hard), hard))
        _, watch, seconds = self.measure(self.lab())
        self.assert_all_measured()
        print("%d hosts: %.1f s; controller at most %d kB resident (%.0f kB a host), %.2f s of CPU (%.0f ms a "
              "host) and %.2f s in its children (%.0f ms), %d threads, %d descriptors"
              % (HOSTS, seconds, watch.rss_kb, watch.rss_kb / HOSTS, watch.own_s, 1e3 * watch.own_s / HOSTS,
                 watch.children_s, 1e3 * watch.children_s / HOSTS, watch.threads, watch.files))
        self.assertLessEqual(watch.threads, HOSTS + 4)

    def test_behind_a_server_that_takes_two(self):
        self.start_hosts(min(HOSTS, 40))
        self.server("jump", "MaxStartups", "2:100:2", "LoginGraceTime", "30")
        for h in self.hosts:
            self.behind(h, "jump")
        lab = self.lab_of({"far-" + h.name: {} for h in self.hosts})
        _, _, seconds = self.measure(lab, "-v")
        self.assert_all_measured()
        with open(self.path("sshd/jump/log"), encoding="utf-8", errors="replace") as f:
            drops = f.read().count("drop connection")
        print("%d hosts behind a server that takes 2 logins at a time: %.1f s, dropped %d times"
              % (len(self.hosts), seconds, drops))

    def behind(self, host, jump):
        """Host far-NAME: the same by way of a jump host."""
        with open(self.path("sshd/ssh_config"), "r+", encoding="ascii") as f:
            old = f.read()
            settings = old.split("Host %s\n" % host.name)[1].split("Host ")[0]
            f.seek(0)
            f.write("Host far-%s\n  ProxyJump %s\n%s" % (host.name, jump, settings) + old)


if __name__ == "__main__":
    e2e.main()
