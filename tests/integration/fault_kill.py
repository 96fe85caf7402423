# SPDX-License-Identifier: GPL-3.0-or-later
"""SIGKILL at random moments of runs over real servers, then resume: the plan's iterations, once each;
no lease, no condition, no process, no folder left, on either side. KAB_TEST_KILLS: how many."""
import os
import random
import time

import e2e_lib as e2e
import fault_lib

KILLS = int(os.environ.get("KAB_TEST_KILLS", "25"))


class Kill(fault_lib.Hosts):
    def sql_of(self, name, query):
        return self.sql(query + " FROM iteration i JOIN run r ON r.id = i.run_id WHERE r.name = ?",
                        name)

    @staticmethod
    def gone_alone(text):
        return text.count("still running") + text.count("finished while")

    def test_killed_at_random_moments(self):
        seed = int(os.environ.get("KAB_TEST_SEED", "20260106"))
        rng = random.Random(seed)
        hosts = [self.host("a"), self.host("b")]
        lab = self.lab_of({"a": {"keepalive_s": 2}, "b": {"keepalive_s": 2, "transport": "openssh"}})
        for h in hosts:
            h.put("var-tmp/knob", "old")
        suite = self.suite([self.calls(sleep_s=0.4)], repeat={"iterations": 2},
                           conditions={"file:/var/tmp/knob": ["x", "y"]})
        words = ["run", suite, "--kernel", "k=running", "--name"]
        begin = time.monotonic()
        r = self.kab(*words, "whole", *lab)
        whole = time.monotonic() - begin
        self.assertEqual(r.status, 0, r.err)
        n, kills, runs, adopted = 8, 0, 0, 0
        while kills < KILLS:
            runs += 1
            name = "t%d" % runs
            for h in hosts:
                os.unlink(h.dir + "/var-tmp/calls")
            command = words + [name] + lab
            for _ in range(5):
                if kills == KILLS:
                    break
                kills += 1
                p = self.start(*command)
                time.sleep(rng.uniform(0.02, whole))
                p.kill()
                adopted += self.gone_alone(p.communicate()[1])
                if os.path.exists(self.db) and \
                        self.sql("SELECT count(*) FROM run WHERE name = ?", name) == [(1,)]:
                    command = ["resume", name]
            if command[0] == "resume" and \
                    self.sql("SELECT state FROM run WHERE name = ?", name) != [("complete",)]:
                d = self.kab("doctor", "--store")
                self.assertIn("kab resume " + name, d.out)
            r = self.kab(*command)
            self.assertEqual(r.status, 0, r.err)
            adopted += self.gone_alone(r.err)
            with self.subTest(run=name, seed=seed):
                self.assertEqual(self.sql_of(
                    name, "SELECT count(*), count(DISTINCT i.sequence), sum(i.state = 'done'), "
                    "sum(i.attempt = 1)"), [(n, n, n, n)])
                self.assertEqual(self.sql(
                    "SELECT count(*) FROM extraction x JOIN iteration i ON i.id = x.iteration_id "
                    "JOIN run r ON r.id = i.run_id WHERE r.name = ?", name), [(n,)])
                self.assertEqual([self.count(h) for h in hosts], [n // 2, n // 2])
                for h in hosts:
                    with open(h.dir + "/var-tmp/knob", encoding="ascii") as f:
                        self.assertEqual(f.read().strip(), "old")
                self.assert_hosts_clean()
                e2e.wait_for("all processes to end: %s" % self.leftovers(),
                             lambda: not self.leftovers(), 15)
        d = self.kab("doctor", "--store")
        self.assertEqual(d.status, 0, d.out)
        print("%d kills in %d runs; %d iterations went on alone and were fetched" %
              (kills, runs, adopted))


if __name__ == "__main__":
    e2e.main()
