# SPDX-License-Identifier: GPL-3.0-or-later
"""Links that fall silent, stall, crawl and break, at every stage; servers that are full."""
import os
import random
import signal
import subprocess
import time
import unittest

import e2e_lib as e2e
import fault_lib

# Detected within three keepalives, plus what connecting again and the machine take.
SLACK_S = 20


class Silence(fault_lib.Hosts):
    def forget_after(self, seconds, *ports):
        """As a NAT that forgets a flow after so many seconds of silence, and then drops it."""
        subprocess.run(["nft", "-f", "-"], check=True, text=True, input="""
            table inet nat {
              set ports { type inet_service; elements = { %s } }
              set flows { type inet_service; flags dynamic,timeout; timeout %ds; }
              chain in {
                type filter hook input priority 0;
                tcp dport @ports tcp flags & (syn|ack) == syn update @flows { tcp sport } accept
                tcp dport @ports tcp sport @flows update @flows { tcp sport } accept
                tcp sport @ports tcp dport @flows update @flows { tcp dport } accept
                tcp dport @ports counter drop
                tcp sport @ports counter drop
              }
            }""" % (",".join(str(p) for p in ports), seconds))
        self.addCleanup(subprocess.run, ["nft", "delete table inet nat"], check=True)

    def silent_run(self, keepalive_s):
        self.host("a")
        self.host("b")
        self.forget_after(3, self.port("a"), self.port("b"))
        lab = self.lab_of({"a": {"keepalive_s": keepalive_s},
                           "b": {"keepalive_s": keepalive_s, "transport": "openssh"}})
        begin = time.monotonic()
        r = self.kab("run", self.suite([self.calls(sleep_s=8)], repeat={"iterations": 1}),
                     "--kernel", "k=running", "--events=json:" + self.path("events"), *lab)
        self.assertEqual(r.status, 0, r.err)
        self.assert_exactly_once(2)
        self.assertEqual([self.count(h) for h in self.hosts], [1, 1])
        self.assert_hosts_clean()
        lost = sorted(e["host"] for e in self.events() if e["state"] == "lost")
        return lost, time.monotonic() - begin

    def test_keepalives_keep_a_forgetful_nat_awake(self):
        lost, _ = self.silent_run(1)
        self.assertEqual(lost, [])

    def test_flow_that_was_forgotten_is_noticed_and_the_result_fetched(self):
        lost, took = self.silent_run(4)
        self.assertEqual(lost, ["a", "b"])
        self.assertLess(took, 3 * 4 + SLACK_S)

    def test_without_keepalives_the_loss_is_seen_at_the_deadline(self):
        """keepalive_s 0: nothing is sent while it is timed; the iteration is not lost all the same."""
        self.host("a")
        self.forget_after(3, self.port("a"))
        case = self.calls(sleep_s=6, timeout_s=1)
        case["timeout_s"] = 10
        p = self.start("run", self.suite([case], repeat={"iterations": 1}), "--kernel", "k=running",
                       "--name", "r", *self.lab_of({"a": {"keepalive_s": 0}}))
        e2e.wait_for("the benchmark", lambda: self.count(self.hosts[0]) == 1, process=p)
        time.sleep(8)
        p.kill()
        p.wait()
        r = self.kab("resume", "r")
        self.assertEqual(r.status, 0, r.err)
        self.assert_exactly_once(1)
        self.assertEqual(self.count(self.hosts[0]), 1)
        self.assert_hosts_clean()

    def test_stopped_server(self):
        h, g = self.host("a"), self.host("b")
        lab = self.lab_of({"a": {"keepalive_s": 1}, "b": {"keepalive_s": 1, "transport": "openssh"}})
        p = self.start("run", self.suite([self.calls(sleep_s=6)], repeat={"iterations": 1}),
                       "--kernel", "k=running", "--events=json:" + self.path("events"), *lab)
        e2e.wait_for("the benchmark", lambda: self.count(h) == 1 and self.count(g) == 1, process=p)
        for x in (h, g):
            r = subprocess.run(["sh", fault_lib.PROGRAM, "sessions", x.sshd, x.name], check=True,
                               capture_output=True, text=True)
            for pid in r.stdout.split():
                os.kill(int(pid), signal.SIGSTOP)
        begin = time.monotonic()
        e2e.wait_for("the loss of both", lambda: sorted(
            e["host"] for e in self.events() if e["state"] == "lost") == ["a", "b"], process=p)
        self.assertLess(time.monotonic() - begin, 3 + 4)
        r = self.finish(p)
        self.assertEqual(r.status, 0, r.err)
        self.assert_exactly_once(2)
        self.assertEqual((self.count(h), self.count(g)), (1, 1))
        self.assert_hosts_clean()


class Spoilt(fault_lib.Hosts):
    TRIALS = int(os.environ.get("KAB_TEST_LINKS", "3"))

    def run_over(self, transport, faults, name, status=0, keepalive_s=1, iterations=2):
        """A run; the first connections only look at the host."""
        if os.path.exists(self.db):
            os.unlink(self.db)
        h = self.hosts[0]
        if os.path.exists(h.dir + "/var-tmp/calls"):
            os.unlink(h.dir + "/var-tmp/calls")
        link = self.link(name, "a", faults)
        begin = time.monotonic()
        r = self.kab("run", self.suite([self.calls(sleep_s=0.5)], repeat={"iterations": iterations}),
                     "--kernel", "k=running", "--events=json:" + self.path(name), "--name", name,
                     *self.lab_of({name: {"keepalive_s": keepalive_s, "transport": transport}}))
        took = time.monotonic() - begin
        self.assertEqual(r.status, status, r.err)
        return r, link, took

    def lane_connection(self, transport):
        """Number of the connection that carries the run, and how many bytes go up in it."""
        _, link, _ = self.run_over(transport, {}, "whole-" + transport)
        return link.n, link.passed[link.n]

    def spoilt(self, kind, transport):
        self.host("a")
        rng = random.Random("%s %s" % (kind, transport))
        number, total = self.lane_connection(transport)
        for i in range(self.TRIALS):
            # From the greeting to what is sent last.
            at = 1 + int(total * (i + rng.random()) / self.TRIALS)
            with self.subTest(bytes=at, of=total):
                name = "%s%d" % (kind, i)
                r, link, took = self.run_over(transport, {number: (kind, at)}, name)
                self.assert_exactly_once(2)
                self.assertEqual(self.count(self.hosts[0]), 2, r.err)
                self.assertLess(took, 60)
                self.assert_hosts_clean()

    def test_frozen(self):
        self.spoilt("freeze", "ssh")

    def test_frozen_openssh(self):
        self.spoilt("freeze", "openssh")

    def test_reset(self):
        self.spoilt("reset", "ssh")

    def test_reset_openssh(self):
        self.spoilt("reset", "openssh")

    def slow(self, transport):
        """The script goes up in the time of three keepalives."""
        self.host("a")
        # Not shorter: a busy machine may not run a process for some seconds, and that is no slow link.
        r, _, _ = self.run_over(transport, {"all": ("slow", 3000)}, "slow", keepalive_s=4,
                                iterations=1)
        self.assert_exactly_once(1)
        self.assertNotIn("lost", r.err)
        self.assertEqual([e for e in self.events("slow") if e["state"] == "lost"], [])

    def test_a_slow_one_is_not_dead(self):
        self.slow("ssh")

    def test_a_slow_one_is_not_dead_openssh(self):
        self.slow("openssh")

    @unittest.skipUnless("KAB_TEST_LINKS" in os.environ, "takes two minutes: see tests/long.sh")
    def test_a_host_that_is_not_there_is_refused_in_time(self):
        self.host("a")
        for transport in ("ssh", "openssh"):
            name = "mute-" + transport
            r, _, took = self.run_over(transport, {"all": ("freeze", 0)}, name, status=4)
            self.assertLess(took, 60 + SLACK_S)
            self.assertRegex(r.err, "no answer in time")
            self.assertFalse(os.path.exists(self.db))


class Crowd(fault_lib.Hosts):
    HOSTS = int(os.environ.get("KAB_TEST_HOSTS", "12"))

    def test_all_lanes_over_one_full_jump_host(self):
        port = self.server("jump", "MaxStartups", "3:30:10", "LoginGraceTime", "30")
        self.assertTrue(port)
        names = ["h%d" % i for i in range(self.HOSTS)]
        for name in names:
            self.host(name)
            self.alias("far-" + name, name, self.port(name), "ProxyJump jump")
        lab = self.lab_of({"far-" + name: {} for name in names})
        r = self.kab("run", self.suite([self.calls()], repeat={"iterations": 1}), "--kernel",
                     "k=running", "-v", *lab)
        self.assertEqual(r.status, 0, r.err)
        self.assert_exactly_once(self.HOSTS)
        with open(self.path("sshd/jump/log"), encoding="utf-8", errors="replace") as f:
            drops = f.read().count("drop connection")
        print("%d hosts, dropped by the jump host %d times" % (self.HOSTS, drops))
        self.assert_hosts_clean()


if __name__ == "__main__":
    e2e.main(at_once=4)
