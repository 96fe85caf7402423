# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs whose length follows the data, and the noise floor: what is stored, said, and judged."""
import json
import math
import re
import signal
import time
import unittest

import e2e_lib as e2e

# Prints the value of the line that its count of calls names.
STANDIN = """case $* in *-h*|*--help*) echo "hackbench V 2.4"; exit 0;; esac
n=$(cat {dir}/calls 2>/dev/null || echo 0)
n=$((n + 1))
echo $n >{dir}/calls
echo "Running in process mode with 1 groups using 40 file descriptors each (== 40 tasks)"
echo "Each sender will pass 100 messages of 100 bytes"
echo "Time: $(sed -n "$n"p {dir}/values)"
"""

# Two-sided p of t with 9 degrees of freedom: 0.046 at 2.3159, 0.05 at 2.2622, 0.0423 at 2.3636.
T_BETWEEN = 2.3159
# Nominal levels of five looks (Lan & DeMets 1983, O'Brien-Fleming type, 5 %).
BOUNDS = (1.1e-6, 0.00079, 0.0074, 0.0220, 0.0423)


class Length(e2e.Case):
    def blocks(self, run="t"):
        return self.sql("SELECT max(b.block) + 1 FROM boot b JOIN run r ON r.id = b.run_id WHERE r.name = ?", run)[0][0]

    def plan_of(self, run):
        return self.sql("SELECT b.block, k.label, i.case_name, i.iteration, i.sequence FROM iteration i "
                        "JOIN boot b ON b.id = i.boot_id JOIN run_kernel k ON k.id = b.run_kernel_id "
                        "JOIN run r ON r.id = b.run_id WHERE r.name = ? ORDER BY i.sequence", run)

    def json_report(self, run, *more):
        r = self.kab("report", run, "--format", "json", *more)
        self.assertIn(r.status, (0, 1), r.err)
        return json.loads(r.out, parse_constant=lambda word: self.fail(word))

    def assert_complete(self, run="t"):
        self.assertEqual(self.sql("SELECT state FROM run WHERE name = ?", run), [("complete",)])
        states = self.sql("SELECT i.state, count(*), count(DISTINCT i.sequence) FROM iteration i JOIN boot b "
                          "ON b.id = i.boot_id JOIN run r ON r.id = b.run_id WHERE r.name = ? GROUP BY i.state", run)
        n = len(self.plan_of(run))
        self.assertEqual(states, [("done", n, n)])
        # Each block has each kernel once.
        pairs = self.sql("SELECT b.block, count(*), count(DISTINCT b.run_kernel_id) FROM boot b JOIN run r "
                         "ON r.id = b.run_id WHERE r.name = ? GROUP BY b.block ORDER BY b.block", run)
        self.assertEqual(pairs, [(i, 2, 2) for i in range(len(pairs))])

    def quick(self, **params):
        return self.suite([self.synthetic(**params)], repeat={"iterations": 1})

    def test_until_does_not_stop_before_eight_blocks(self):
        r = self.aa(self.quick(dist="constant"), "--until", "50%", "--name", "t", "--seed", "5")
        self.assertEqual(r.status, 0, r.err)
        self.assertEqual(self.blocks(), 8)
        self.assert_complete()
        plan = json.loads(self.sql("SELECT plan_json FROM run")[0][0])
        self.assertEqual(plan["boots"], 20)
        self.assertIn("+/- 50 %", plan["stopping"]["text"])
        self.assertEqual(self.sql("SELECT kind FROM event WHERE kind = 'stopped-by-rule'"), [("stopped-by-rule",)])
        text = " ".join(self.kab("report", "t").out.split())
        self.assertRegex(text, r"up to 20 restarts x 1 .*paired by block.*stops when every 95 % interval is within "
                               r"\+/- 50 %, looked at after each block from 8 on, at most 20")
        self.assertIn("n=8 restarts", text)

    def test_until_ends_at_the_maximum(self):
        r = self.aa(self.quick(sd=30), "--until", "0.05", "--boots", "10", "--name", "t", "--seed", "5")
        self.assertEqual(r.status, 0, r.err)
        self.assertEqual(self.blocks(), 10)
        self.assert_complete()
        self.assertIn("maximum of 10 blocks", r.err)
        # One block at a time after the eighth, never a look before it.
        self.assertEqual(re.findall(r"not decided after (\d+) blocks; going on to (\d+)", r.err),
                         [("8", "9"), ("9", "10")])
        # The order is the one of the seed, as if all had been planned at once.
        fixed = self.aa(self.quick(sd=30), "--boots", "10", "--name", "fixed", "--seed", "5")
        self.assertEqual(fixed.status, 0, fixed.err)
        self.assertEqual(self.plan_of("t"), self.plan_of("fixed"))

    def test_rules_that_cannot_work_are_refused(self):
        suite = self.quick()
        for words, said in ((["--until", "1", "--boots", "7"], "8"), (["--early", "--boots", "9"], "10"),
                            (["--early", "--until", "1"], "two rules")):
            r = self.aa(suite, *words)
            self.assertEqual(r.status, 2, r.err)
            self.assertIn(said, r.err)
        r = self.kab("run", suite, "--kernel", "a=running", "--until", "1")
        self.assertEqual(r.status, 2, r.err)

    def test_dry_run_prints_the_rule(self):
        r = self.aa(self.quick(), "--until", "2%", "--dry-run", "--seed", "1")
        self.assertEqual(r.status, 0, r.err)
        self.assertRegex(r.out, r"Length: stops when every 95 % interval is within \+/- 2 %.*at most 20; "
                                r"the first 8 blocks")
        self.assertRegex(r.out, r"up to 40 steps")

    def test_killed_in_an_extension_and_resumed(self):
        suite = self.quick(sd=30, sleep_s=0.2)
        words = ["run", suite, "--kernel", "base=running", "--kernel", "same=running", "--until", "0.05", "--boots",
                 "11", "--seed", "9", "--name", "t"]
        p = self.start(*words)
        e2e.wait_for("an extension", lambda: self.db_has("SELECT 1 FROM boot WHERE block >= 8"))
        time.sleep(0.3)
        p.send_signal(signal.SIGKILL)
        p.communicate()
        self.assertLess(self.blocks(), 11, "killed too late to show anything")
        for _ in range(5):
            r = self.kab("resume", "t")
            if r.status == 0:
                break
            time.sleep(1)
        self.assertEqual(r.status, 0, r.err)
        self.assertEqual(self.blocks(), 11)
        self.assert_complete()
        again = self.kab("resume", "t")
        self.assertEqual(self.blocks(), 11, again.err)
        fixed = self.aa(self.quick(sd=30), "--boots", "11", "--seed", "9", "--name", "fixed")
        self.assertEqual(fixed.status, 0, fixed.err)
        self.assertEqual(self.plan_of("t"), self.plan_of("fixed"))

    def db_has(self, query):
        try:
            return self.sql(query)
        except Exception:  # not there yet, or being written
            return []

    # ---- five looks ----

    def order(self, suite, boots, seed):
        """Kernels in the order of the steps: the plan as printed."""
        r = self.aa(suite, "--boots", str(boots), "--seed", str(seed), "--dry-run", "-v")
        self.assertEqual(r.status, 0, r.err)
        return re.findall(r"^ +\d+  hb  (base|same)  iteration", r.out, re.M)

    def given(self, base, test, seed=4):
        """A suite whose n-th block yields base[n] and test[n]."""
        self.standin("hackbench", STANDIN.format(dir=self.dir))
        suite = self.suite([{"name": "hb", "runner": "hackbench", "params": {"groups": 1}}], repeat={"iterations": 1})
        order = self.order(suite, len(base), seed)
        self.assertEqual(len(order), 2 * len(base))
        self.write("values", "".join("%.6f\n" % (base if k == "base" else test)[i // 2] for i, k in enumerate(order)))
        self.reset()
        return suite

    def reset(self):
        self.write("calls", "0\n")

    def test_early_looks_five_times_and_ends_at_the_maximum(self):
        # Given, not drawn: one A/A run in fifty would cross a bound by chance.
        base = [1 + 0.01 * (n % 3) for n in range(11)]
        suite = self.given(base, [b * (1.05 if n % 2 else 0.95) for n, b in enumerate(base)], seed=8)
        r = self.aa(suite, "--early", "--boots", "11", "--name", "t", "--seed", "8")
        self.assertEqual(r.status, 0, r.err)
        self.assert_complete()
        steps = re.findall(r"not decided after (\d+) blocks; going on to (\d+)", r.err)
        self.assertEqual(steps, [("3", "5"), ("5", "7"), ("7", "9"), ("9", "11")])
        self.assertEqual(self.blocks(), 11)
        row, = [r for r in self.json_report("t")["rows"] if r["carries_verdict"]]
        self.assertEqual(row["look"], 5)
        self.assertAlmostEqual(row["alpha"], BOUNDS[4], 4)

    def test_early_stops_at_a_look_that_is_clear(self):
        jitter = [0.002, -0.001, 0.001, -0.002, 0.0015] * 2
        suite = self.given([1 + j for j in jitter], [1.5 - j for j in jitter])
        r = self.aa(suite, "--early", "--boots", "10", "--name", "t", "--seed", "4")
        self.assertEqual(r.status, 0, r.err)
        # Two blocks cannot be tested; the second look is at four.
        self.assertEqual(self.blocks(), 4)
        self.assert_complete()
        row, = [r for r in self.json_report("t")["rows"] if r["carries_verdict"]]
        self.assertEqual((row["look"], row["comparisons"][0]["verdict"]), (2, "regressed"))
        self.assertAlmostEqual(row["alpha"], BOUNDS[1], 5)
        self.assertLess(row["comparisons"][0]["p"], BOUNDS[1])
        text = " ".join(self.kab("report", "t").out.split())
        self.assertIn("look 2 of 5 with p below 0.00079", text)
        self.assertRegex(text, r"5 looks with O'Brien-Fleming-type spending of 5 % at up to 10 blocks")

    def test_last_look_has_its_own_level(self):
        """p = 0.046: a change for a run of fixed length, not for one that has looked four times before."""
        change = [0.05, -0.05] * 5
        sd = 0.05 * math.sqrt(10 / 9)
        middle = T_BETWEEN * sd / math.sqrt(10)
        suite = self.given([1.0] * 10, [math.exp(middle + c) for c in change])
        r = self.aa(suite, "--early", "--boots", "10", "--name", "early", "--seed", "4")
        self.assertEqual(r.status, 0, r.err)
        self.assertEqual(self.blocks("early"), 10)
        self.reset()
        self.assertEqual(self.aa(suite, "--boots", "10", "--name", "fixed", "--seed", "4").status, 0)
        verdicts = {}
        for run in ("early", "fixed"):
            row, = [r for r in self.json_report(run, "--margin", "0")["rows"] if r["carries_verdict"]]
            self.assertAlmostEqual(row["comparisons"][0]["p"], 0.046, 3)
            verdicts[run] = row["comparisons"][0]["verdict"], row["look"], round(row["alpha"], 4)
        self.assertEqual(verdicts, {"early": ("inconclusive", 5, 0.0423), "fixed": ("regressed", None, 0.05)})
        self.assertEqual(self.kab("report", "early", "--margin", "0", "--gate").status, 0)
        self.assertEqual(self.kab("report", "fixed", "--margin", "0", "--gate").status, 1)
        self.assertIn("look 5 of 5 with p below 0.042", " ".join(self.kab("report", "early").out.split()))
        self.assertRegex(self.kab("report", "early", "--explain", "time").out, r"look 5 of 5 .*level 0\.0422")

    def test_nothing_to_judge_does_not_fill_the_night(self):
        r = self.aa(self.quick(fail_every=1), "--until", "1%", "--name", "t")
        self.assertEqual(r.status, 5, r.err)
        self.assertEqual(self.blocks(), 8)


class Noise(e2e.Case):
    def test_floor_is_stored_quoted_and_planned_with(self):
        suite = self.suite([self.synthetic(sd=2)], repeat={"iterations": 2})
        r = self.kab("run", suite, "--aa", "--boots", "8", "--name", "floor", "--seed", "3")
        self.assertEqual(r.status, 0, r.err)
        self.assertRegex(" ".join(r.out.split()), r"1 row: \d improved, \d regressed, \d equivalent, \d inconclusive")
        (metric, cv, units, restarts), = self.sql("SELECT metric, cv, units, restarts FROM noise")
        self.assertEqual((metric, units, restarts), ("value", 8, 1))
        # The spread over the means of each restart, by the definition, from the stored samples.
        spread = []
        for label in ("base", "base-again"):
            means = [m for m, in self.sql(
                "SELECT avg(s.value) FROM sample s JOIN series e ON e.id = s.series_id JOIN extraction x "
                "ON x.id = s.extraction_id JOIN iteration i ON i.id = x.iteration_id JOIN boot b ON b.id = i.boot_id "
                "JOIN run_kernel k ON k.id = b.run_kernel_id WHERE e.metric = 'value' AND k.label = ? GROUP BY b.id",
                label)]
            mean = sum(means) / len(means)
            self.assertEqual(len(means), 8)
            spread.append(sum((m - mean) ** 2 for m in means) / 7 / mean ** 2)
        self.assertAlmostEqual(cv, math.sqrt(sum(spread) / 2), 9)
        r = self.aa(suite, "--boots", "8", "--name", "later")
        self.assertEqual(r.status, 0, r.err)
        said = re.search(r"in 8 restarts this host cannot resolve less than ([0-9.]+) % \(A/A run 'floor'\)",
                         " ".join(self.kab("report", "later").out.split()))
        self.assertIsNotNone(said)
        # Two-sided 5 %, power 80 %, 14 degrees of freedom: t 2.1448 and 0.8681.
        self.assertAlmostEqual(float(said.group(1)), 100 * math.expm1((2.1448 + 0.8681) * cv * math.sqrt(2 / 8)),
                               delta=0.1 + 0.03 * float(said.group(1)))
        r = self.kab("plan", suite, "--power", "2%")
        self.assertEqual(r.status, 0, r.err)
        planned = re.search(r"CV ([0-9.]+) %, (\d+) boots per kernel \(A/A run 'floor', 8 restarts\)", r.out)
        self.assertIsNotNone(planned, r.out)
        self.assertAlmostEqual(float(planned.group(1)), 100 * cv, delta=0.006)
        self.assertIn("--boots " + planned.group(2), r.out)
        # The normal approximation plus what t costs.
        about = 2 * ((1.95996 + 0.84162) * cv / math.log(1.02)) ** 2
        self.assertGreaterEqual(int(planned.group(2)), about)
        self.assertLessEqual(int(planned.group(2)), about + 3)

    def test_plan_without_data_says_what_to_measure(self):
        suite = self.suite([self.synthetic()])
        self.aa(self.suite([self.synthetic(name="other")], name="other.json"))
        r = self.kab("plan", suite)
        self.assertEqual(r.status, 0, r.err)
        self.assertIn("unknown", r.out)
        self.assertRegex(r.out, r"kab run \S+ --aa --boots 8")


if __name__ == "__main__":
    e2e.main(at_once=4)
