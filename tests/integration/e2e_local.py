# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs on this machine: what is stored, what is said, and with which status kab ends."""
import json
import os
import re
import signal
import subprocess
import time
import unittest

import e2e_lib as e2e


class Run(e2e.Case):
    def test_aa_run_is_stored_and_printed(self):
        r = self.aa(self.suite([self.synthetic(mean=5, sd=0.1)]), "--seed", "7", "--name", "first")
        self.assertEqual(r.status, 0, r.err)
        self.assert_exactly_once(6)
        self.assertRegex(r.err, "run 'first'")
        self.assertEqual(self.sql("SELECT label, position FROM run_kernel ORDER BY position"),
                         [("base", 0), ("same", 1)])
        plan = json.loads(self.sql("SELECT plan_json FROM run")[0][0])
        self.assertEqual(plan["seed"], 7)
        self.assertTrue(plan["restarts"])
        # What the kernel itself says, not what kab made of it.
        release, boot_id = self.sql("SELECT k.release, b.os_boot_id FROM boot b JOIN kernel k "
                                    "ON k.id = b.kernel_id LIMIT 1")[0]
        self.assertEqual(release, os.uname().release)
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
            self.assertEqual(boot_id, f.read().strip())
        self.assert_target_clean()

    def test_kernels_of_a_round_are_interleaved(self):
        r = self.aa(self.suite([self.synthetic()]), "--iterations", "20", "--seed", "1")
        self.assertEqual(r.status, 0, r.err)
        order = [k for k, in self.sql(
            "SELECT rk.label FROM iteration i JOIN boot b ON b.id = i.boot_id "
            "JOIN run_kernel rk ON rk.id = b.run_kernel_id ORDER BY i.sequence")]
        rounds = [tuple(order[i:i + 2]) for i in range(0, 40, 2)]
        self.assertEqual({frozenset(r) for r in rounds}, {frozenset(("base", "same"))})
        self.assertEqual(len(set(rounds)), 2, "both orders occur")
        started = [t for t, in self.sql("SELECT started_wall_ns FROM iteration ORDER BY sequence")]
        self.assertEqual(started, sorted(started))

    def test_same_name_twice_gives_two_runs(self):
        suite = self.suite([self.synthetic()])
        self.assertEqual(self.aa(suite, "--name", "x").status, 0)
        second = self.aa(suite, "--name", "x")
        self.assertEqual(second.status, 0)
        self.assertRegex(second.err, "'x' is taken; this run is 'x-2'")
        self.assertEqual(self.sql("SELECT name FROM run ORDER BY id"), [("x",), ("x-2",)])
        self.assertEqual(self.states(), {"done": 12})

    def test_dry_run_prints_the_plan_and_stores_nothing(self):
        r = self.aa(self.suite([self.synthetic(sleep_s=3)]), "--dry-run", "--seed", "3")
        self.assertEqual(r.status, 0, r.err)
        self.assertRegex(r.out, r"Seed 3\b")
        self.assertEqual(len(re.findall(r"^ +\d+  s ", r.out, re.M)), 6)
        self.assertFalse(os.path.exists(self.db))
        self.assertEqual(self.runs_on_target(), [])
        self.assertEqual(self.lease_owner(), "-")
        again = self.aa(self.suite([self.synthetic(sleep_s=3)]), "--seed", "3", "--dry-run")
        self.assertEqual(again.out, r.out)

    def test_warmups_are_stored_apart(self):
        r = self.aa(self.suite([self.synthetic()]), "--warmup", "2", "--iterations", "1")
        self.assertEqual(r.status, 0, r.err)
        self.assertEqual(self.sql("SELECT warmup, count(*) FROM iteration GROUP BY warmup"),
                         [(0, 2), (1, 4)])

    def test_expressions_get_their_value_from_the_host(self):
        r = self.aa(self.suite([self.synthetic(samples="cpus*2", mean=1)]))
        self.assertEqual(r.status, 0, r.err)
        (text, resolved, argv), = set(self.sql(
            "SELECT params_text, params_resolved, argv_json FROM iteration"))
        n = 2 * os.cpu_count()
        self.assertIn("samples=cpus*2", text)
        self.assertIn("samples=%d" % n, resolved)
        self.assertIn("samples=%d" % n, json.loads(argv))
        self.assertEqual(self.sql("SELECT count(*) FROM sample s JOIN series e ON e.id = s.series_id "
                                  "WHERE e.metric = 'value'"), [(6 * n,)])

    def test_division_by_zero_on_this_host_is_refused(self):
        r = self.aa(self.suite([self.synthetic(samples="4/(cpus-cpus)")]))
        self.assertEqual(r.status, 4, r.err)
        self.assertIn("division by zero", r.err)
        self.assertFalse(os.path.exists(self.db))


class Failures(e2e.Case):
    # Counts its calls; the fourth one fails as told.
    STANDIN = """
case $* in *-h*|*--help*) echo "hackbench V 2.4"; exit 0;; esac
n=$(cat {dir}/calls 2>/dev/null || echo 0)
n=$((n + 1))
echo $n > {dir}/calls
echo "Running in process mode with 1 groups using 40 file descriptors each (== 40 tasks)"
echo "Each sender will pass 100 messages of 100 bytes"
if [ $n = 4 ]; then
	echo "SENDER: write: Cannot allocate memory" >&2
	{how}
fi
echo "Time: 0.$((100 + n))"
"""

    def hackbench(self, how, *more):
        self.standin("hackbench", self.STANDIN.format(dir=self.dir, how=how))
        suite = self.suite([{"name": "hb", "runner": "hackbench", "params": {"groups": 1}}],
                           repeat={"iterations": 5})
        return self.kab("run", suite, "--kernel", "base=running", *more)

    def test_fourth_of_five_fails(self):
        r = self.hackbench("exit 2")
        self.assertEqual(r.status, 5, r.err)
        self.assertEqual(self.states(), {"done": 4, "failed": 1})
        self.assertEqual(self.sql("SELECT count(*) FROM sample s JOIN series e ON e.id = s.series_id "
                                  "WHERE e.metric = 'time'"), [(4,)])
        (line,) = [l for l in r.err.splitlines() if "failed" in l and "hb" in l]
        for word in ("local", "base", "#4", "2", "Cannot allocate memory"):
            self.assertIn(word, line)
        self.assertIn("fail 1/5", r.out)
        (iteration, reason, status), = self.sql(
            "SELECT id, reason, exit_status FROM iteration WHERE state = 'failed'")
        self.assertEqual(status, 2)
        self.assertIn("Cannot allocate memory", reason)
        if self.has_command("show"):
            shown = self.kab("show", "latest")
            self.assertIn("Cannot allocate memory", shown.out)
            raw = self.kab("show", "--raw", str(iteration), "--stream", "stderr")
            self.assertIn("SENDER: write: Cannot allocate memory", raw.out)
        self.assert_target_clean()

    def test_retry_is_counted_and_keeps_the_failure(self):
        r = self.hackbench("exit 2", "--retry", "1")
        self.assertEqual(self.states(), {"done": 5, "failed": 1})
        self.assertEqual(self.sql("SELECT attempt, state FROM iteration WHERE iteration = 4 "
                                  "ORDER BY attempt"), [(1, "failed"), (2, "done")])
        self.assertNotEqual(r.status, 6)

    def test_signals_are_named(self):
        for name, number in (("KILL", 9), ("SEGV", 11), ("TERM", 15)):
            with self.subTest(signal=name):
                if os.path.exists(self.db):
                    os.unlink(self.path("calls"))
                r = self.hackbench("ulimit -c 0; kill -%s $$; sleep 5" % name, "--name", name)
                self.assertEqual(r.status, 5, r.err)
                (reason, status), = self.sql(
                    "SELECT i.reason, i.exit_status FROM iteration i JOIN run r ON r.id = i.run_id "
                    "WHERE i.state = 'failed' AND r.name = ?", name)
                self.assertIn("SIG" + name, reason)
                self.assertEqual(status, 128 + number)
                done, = self.sql("SELECT count(*) FROM iteration i JOIN run r ON r.id = i.run_id "
                                 "WHERE i.state = 'done' AND r.name = ?", name)
                self.assertEqual(done, (4,), "the next iteration was started")

    def test_timeout_ends_the_remote_job_and_frees_the_host(self):
        suite = self.suite([self.synthetic(name="slow", sleep_s=120, timeout_s=1)],
                           repeat={"iterations": 1})
        begin = time.monotonic()
        r = self.kab("run", suite, "--kernel", "base=running")
        self.assertEqual(r.status, 5, r.err)
        self.assertLess(time.monotonic() - begin, 40)
        (reason,), = self.sql("SELECT reason FROM iteration")
        self.assertRegex(reason, "timeout.*1 s")
        self.assert_target_clean()
        # The host is free at once: no waiting for somebody's lease to run out.
        quick = self.suite([self.synthetic()], name="quick.json")
        begin = time.monotonic()
        self.assertEqual(self.kab("run", quick, "--kernel", "base=running").status, 0)
        self.assertLess(time.monotonic() - begin, 30)

    def test_silence_is_not_an_end(self):
        r = self.kab("run", self.suite([self.synthetic(sleep_s=6, timeout_s=60)],
                                       repeat={"iterations": 1}), "--kernel", "base=running")
        self.assertEqual(r.status, 0, r.err)
        self.assertEqual(self.states(), {"done": 1})
        self.assertLess(len(r.err.splitlines()), 12, "a log file is not flooded")

    def test_no_result_with_exit_0_is_a_failure(self):
        r = self.kab("run", self.suite([self.synthetic(fail_every=2, fail_mode="nothing",
                                                       state=self.path("calls"))],
                                       repeat={"iterations": 4}), "--kernel", "base=running")
        self.assertEqual(r.status, 5, r.err)
        self.assertEqual(self.states(), {"done": 2, "failed": 2})

    def test_output_that_drives_terminals_is_escaped(self):
        r = self.hackbench(r"printf 'SENDER: \033]0;owned\007\033[2J\302\233' >&2; exit 3")
        self.assertEqual(r.status, 5, r.err)
        for text in (r.out, r.err):
            self.assertNotIn("\033", text)
            self.assertNotIn("\x9b", text)

    def test_case_that_cannot_run_is_refused_before_anything_starts(self):
        self.env["PATH"] = self.bin + ":/bin:/usr/bin"
        suite = self.suite([{"name": "jbb", "runner": "specjbb2015",
                             "params": {"jar": "/nonexistent/specjbb2015.jar"}}])
        r = self.kab("run", suite, "--kernel", "base=running")
        self.assertIn(r.status, (3, 4), r.err)
        self.assertFalse(os.path.exists(self.db))


class Arguments(e2e.Case):
    VALUES = ["a,b", "it's", "$HOME", "back\\slash", "-n", "", "two  blanks", "new\nline", "`id`",
              "*", "a=b;c", "\u00e4"]

    def test_values_reach_the_benchmark_byte_for_byte(self):
        """Through the background load, whose argv is the user's own, and its stored stream."""
        seen = self.path("seen")
        script = self.write("load.sh", 'for a in "$@"; do printf "%s\\0" "$a"; done >' + seen +
                            "; exec sleep 30\n")
        case = self.synthetic(sleep_s=0.2)
        case["background"] = {"argv": ["sh", script] + self.VALUES, "settle_s": 1}
        r = self.kab("run", self.suite([case], repeat={"iterations": 1}), "--kernel", "a=running")
        self.assertEqual(r.status, 0, r.err)
        with open(seen, "rb") as f:
            self.assertEqual(f.read().split(b"\0")[:-1], [v.encode() for v in self.VALUES])
        self.assert_target_clean()


class Configuration(e2e.Case):
    def test_misspelt_keys_name_file_path_and_nearest(self):
        for doc, path, near in (
                ({"repeat": {"iteratons": 3}}, "$.repeat", "iterations"),
                ({"repeat": {"warmups": 1}}, "$.repeat", "warmup"),
                ({"iterations": 3}, "$", None)):
            with self.subTest(doc=doc):
                suite = self.suite([self.synthetic()], **doc)
                r = self.aa(suite)
                self.assertEqual(r.status, 3, r.err)
                self.assertIn(suite, r.err)
                self.assertIn(path + ":", r.err)
                if near:
                    self.assertIn("'%s'" % near, r.err)
                self.assertFalse(os.path.exists(self.db))

    def test_misspelt_variable_is_warned_about(self):
        self.env["KAB_BD"] = "/nowhere"
        r = self.kab("version")
        self.assertEqual(r.status, 0)
        self.assertRegex(r.err, "KAB_BD.*KAB_DB")

    def test_two_cases_of_one_name_are_refused(self):
        suite = self.suite([{"name": "hb", "runner": "hackbench", "params": {"groups": 1}},
                            {"name": "hb", "runner": "hackbench", "params": {"groups": 40}}])
        r = self.aa(suite)
        self.assertEqual(r.status, 3)
        self.assertIn("$.cases[0]", r.err)
        self.assertIn("$.cases[1]", r.err)

    def test_usage_errors(self):
        suite = self.suite([self.synthetic()])
        for words, said in ((["run"], "missing argument"),
                            (["run", suite], "--kernel"),
                            (["run", suite, "--kernl", "a=running"], "--kernel"),
                            (["run", suite, "--kernel", "a=runing"], "running"),
                            (["run", suite, "--kernel", "a=running", "--kernel", "a=running"],
                             "twice"),
                            (["run", suite, "--kernel", "a=running", "--iterations", "0"], "1"),
                            (["rum", suite], "'run'"),
                            (["run", suite, "--kernel", "a=running", "--name", "-x/y"], "name")):
            with self.subTest(words=words[2:]):
                r = self.kab(*words)
                self.assertEqual(r.status, 2, r.err)
                self.assertIn(said, r.err)
                self.assertEqual(r.out, "")

    def test_kernel_that_does_not_run_is_refused_before_anything_starts(self):
        r = self.kab("run", self.suite([self.synthetic()]), "--kernel", "a=release:9.9.9-none")
        self.assertEqual(r.status, 4, r.err)
        self.assertIn(os.uname().release, r.err)
        self.assertIn("9.9.9-none", r.err)
        self.assertFalse(os.path.exists(self.db))

    def test_other_kernel_has_to_be_booted_by_the_user(self):
        r = self.kab("run", self.suite([self.synthetic()]), "--name", "two",
                     "--kernel", "now=release:" + os.uname().release,
                     "--kernel", "next=release:9.9.9-next")
        self.assertEqual(r.status, 4, r.err)
        self.assertRegex(r.err, "host 'local': boot kernel 'next' .*9.9.9-next.*kab resume two")
        self.assertEqual(self.states(), {"done": 3, "pending": 3})
        self.assertEqual(self.sql("SELECT state FROM run"), [("waiting",)])
        again = self.kab("resume", "two")
        self.assertEqual(again.status, 4)
        self.assertEqual(self.states(), {"done": 3, "pending": 3})
        self.assert_target_clean()

    def test_local_is_never_booted(self):
        lab = self.write("lab.json", json.dumps({"hosts": {"local": {"boot": {"method": "grub"}}}}))
        r = self.kab("run", self.suite([self.synthetic()]), "--kernel", "a=running", "--lab", lab)
        self.assertEqual(r.status, 3, r.err)
        self.assertIn("$.hosts.local.boot.method", r.err)

    def test_without_home_the_database_must_be_named(self):
        suite = self.suite([self.synthetic()])
        env = {k: v for k, v in self.env.items() if k not in ("HOME", "KAB_DB")}
        r = self.aa(suite, env=env)
        self.assertEqual(r.status, 4, r.err)
        self.assertRegex(r.err, "HOME")
        env["KAB_DB"] = self.db
        r = self.aa(suite, env=env)
        self.assertEqual(r.status, 0, r.err)
        self.assert_exactly_once(6)

    def test_closed_output_does_not_kill(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            r = subprocess.run([e2e.KAB, "help"], stdout=full, stderr=subprocess.PIPE, env=self.env,
                               check=False, text=True)
        self.assertEqual(r.returncode, 4)
        self.assertIn("No space left", r.stderr)


if __name__ == "__main__":
    e2e.main()
