# SPDX-License-Identifier: GPL-3.0-or-later
"""Stopped, killed and resumed: nothing is lost, nothing is done twice, nothing is left behind."""
import os
import random
import signal
import time
import unittest

import e2e_lib as e2e


class Stop(e2e.Case):
    def begin(self, sleep_s=2, iterations=3, **more):
        """A run whose first iteration is being timed, with a count of the invocations."""
        self.calls = self.path("calls")
        case = self.synthetic(sleep_s=sleep_s, fail_every=1000000, state=self.calls)
        suite = self.suite([case], repeat={"iterations": iterations}, **more)
        p = self.start("run", suite, "--kernel", "base=running", "--name", "r")
        e2e.wait_for("the first invocation", lambda: os.path.exists(self.calls), process=p)
        return p

    def count(self):
        return e2e.number_in(self.calls)

    def resume(self, status=0):
        r = self.kab("resume", "r")
        self.assertEqual(r.status, status, r.err)
        return r

    def assert_done(self, n):
        self.assert_exactly_once(n)
        self.assert_target_clean()

    def test_ctrl_c_once_finishes_the_iteration(self):
        p = self.begin(sleep_s=1)
        p.send_signal(signal.SIGINT)
        r = self.finish(p)
        self.assertEqual(r.status, 130, r.err)
        self.assertIn("finishing the iteration", r.err)
        self.assertIn("kab resume r", r.err)
        self.assertEqual(self.states(), {"done": 1, "pending": 2})
        self.assertEqual(self.sql("SELECT state FROM run"), [("interrupted",)])
        self.assert_target_clean()
        self.resume()
        self.assert_done(3)
        self.assertEqual(self.count(), 3)

    def hard(self, *signals):
        begin = time.monotonic()
        p = self.begin(sleep_s=60)
        for sig in signals:
            p.send_signal(sig)
            time.sleep(0.3)
        r = self.finish(p)
        self.assertEqual(r.status, 130, r.err)
        self.assertLess(time.monotonic() - begin, 50, "the iteration was not waited for")
        self.assertEqual(self.states(), {"pending": 3}, "nothing is running any more")
        self.assert_target_clean()
        self.assertEqual(self.sql("SELECT state FROM run"), [("interrupted",)])

    def test_ctrl_c_twice_stops_now(self):
        self.hard(signal.SIGINT, signal.SIGINT)

    def test_term_stops_now(self):
        self.hard(signal.SIGTERM)

    def test_stopped_hard_and_resumed(self):
        p = self.begin(sleep_s=1, iterations=2)
        p.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(p).status, 130)
        self.resume()
        self.assert_done(2)

    def test_ctrl_c_while_probing(self):
        """Before anything is stored a stop is a stop, too."""
        self.standin("java", "sleep 30\n")
        p = self.start("run", self.suite([self.synthetic()]), "--kernel", "a=running")
        time.sleep(1.0)
        p.send_signal(signal.SIGINT)
        r = self.finish(p, timeout=30)
        self.assertEqual(r.status, 130, r.err)
        self.assertFalse(os.path.exists(self.db))

    def test_killed_iteration_is_waited_for_not_run_twice(self):
        p = self.begin(sleep_s=4, iterations=2)
        begin = time.monotonic()
        p.kill()
        p.wait()
        self.assertEqual(self.states(), {"running": 1, "pending": 1})
        r = self.resume()
        self.assertIn("still running", r.err)
        self.assertLess(time.monotonic() - begin, 50)
        self.assert_done(2)
        self.assertEqual(self.count(), 2, "two invocations for two iterations")

    def test_killed_and_finished_alone(self):
        p = self.begin(sleep_s=1, iterations=2)
        p.kill()
        p.wait()
        time.sleep(2.5)
        self.assertEqual(self.count(), 1)
        self.resume()
        self.assert_done(2)
        self.assertEqual(self.count(), 2)

    def test_two_processes_for_one_run(self):
        p = self.begin(sleep_s=3, iterations=1)
        r = self.kab("resume", "r")
        self.assertEqual(r.status, 4, r.err)
        self.assertIn("another kab", r.err)
        self.assertEqual(self.finish(p).status, 0)
        self.assert_done(1)

    def test_condition_of_a_killed_run_stays_until_its_iteration_is_over(self):
        knob = self.write("knob", "old\n")
        p = self.begin(sleep_s=5, iterations=2, conditions={"file:" + knob: "new"})
        p.kill()
        p.wait()
        with open(knob, encoding="ascii") as f:
            self.assertEqual(f.read(), "new\n")
        q = self.start("resume", "r")
        values = set()
        while self.count() == 1 and q.poll() is None:
            with open(knob, encoding="ascii") as f:
                values.add(f.read().strip())
            time.sleep(0.01)
        r = self.finish(q)
        self.assertEqual(r.status, 0, r.err)
        self.assertEqual(values - {"new", ""}, set(), "never taken back under the benchmark")
        with open(knob, encoding="ascii") as f:
            self.assertEqual(f.read(), "old\n")
        self.assert_done(2)
        self.assertEqual(self.count(), 2)


class Crash(e2e.Case):
    TRIALS = int(os.environ.get("KAB_TEST_CRASHES", "20"))

    def test_killed_at_random_moments(self):
        """SIGKILL somewhere, then resume until complete: the plan's iterations, once each."""
        rng = random.Random(20260105)
        calls, knob = self.path("calls"), self.write("knob", "old\n")
        suite = self.suite([self.synthetic(sleep_s=0.05, fail_every=1000000, state=calls)],
                           repeat={"iterations": 2},
                           conditions={"file:" + knob: ["a", "b"]})
        whole = time.monotonic()
        r = self.kab("run", suite, "--kernel", "base=running", "--name", "whole")
        self.assertEqual(r.status, 0, r.err)
        whole = time.monotonic() - whole
        n = 4
        trial = 0
        runs = 1
        while trial < self.TRIALS:
            name = "t%d" % runs
            runs += 1
            os.unlink(calls)
            words = ["run", suite, "--kernel", "base=running", "--name", name]
            for _ in range(4):
                if trial == self.TRIALS:
                    break
                trial += 1
                p = self.start(*words)
                time.sleep(rng.uniform(0.02, whole))
                p.kill()
                p.communicate()
                if self.sql("SELECT count(*) FROM run WHERE name = ?", name) == [(1,)]:
                    words = ["resume", name]
            r = self.kab(*words)
            self.assertEqual(r.status, 0, r.err)
            with self.subTest(run=name):
                self.assertEqual(self.sql(
                    "SELECT count(*), count(DISTINCT i.sequence), sum(i.state = 'done') "
                    "FROM iteration i JOIN run r ON r.id = i.run_id WHERE r.name = ?", name),
                    [(n, n, n)])
                self.assertEqual(self.sql(
                    "SELECT count(*) FROM extraction x JOIN iteration i ON i.id = x.iteration_id "
                    "JOIN run r ON r.id = i.run_id WHERE r.name = ?", name), [(n,)])
                with open(calls, encoding="ascii") as f:
                    self.assertEqual(int(f.read()), n, "each was invoked once")
                with open(knob, encoding="ascii") as f:
                    self.assertEqual(f.read(), "old\n")
                self.assert_target_clean()


if __name__ == "__main__":
    e2e.main()
