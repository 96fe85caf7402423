# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets and benchmarks that do harm: output without end, bytes that drive terminals, results that no clock
can have measured, links where files should be, a uname that lies. KAB_TEST_OUTPUT_MB says how much output
(64; tests/long.sh asks for 2000)."""
import json
import os
import subprocess
import threading
import time

import e2e_lib as e2e

OUTPUT_MB = int(os.environ.get("KAB_TEST_OUTPUT_MB", "64"))
EVIL = r"\033]0;owned\007\033[2J\302\2331m\342\200\256\r\b"


class Target(e2e.Case):
    def hackbench(self, script, *more, iterations=2, **kw):
        self.standin("hackbench", script)
        suite = self.suite([{"name": "hb", "runner": "hackbench", "params": {"groups": 1}}],
                           repeat={"iterations": iterations})
        return self.kab("run", suite, "--kernel", "k=running", "--name", "r", *more, **kw)

    # The probe asks a benchmark for its version, too: outside of a run nothing is done.
    GOOD = "[ -n \"$KAB_RUN_DIR\" ] || exit 0\n" \
           "printf 'Running in process mode with 1 groups using 40 file descriptors each (== 40 tasks)\\n" \
           "Each sender will pass 100 messages of 100 bytes\\n'\n"

    def watched(self, script, **kw):
        """As hackbench(), and the most memory that kab had, in KB."""
        self.standin("hackbench", script)
        suite = self.suite([{"name": "hb", "runner": "hackbench", "params": {"groups": 1}}],
                           repeat={"iterations": 1})
        p = self.start("run", suite, "--kernel", "k=running", "--name", "r", **kw)
        most = 0

        def look():
            nonlocal most
            while p.poll() is None:
                try:
                    with open("/proc/%d/status" % p.pid, encoding="ascii") as f:
                        for line in f:
                            if line.startswith("VmHWM:"):
                                most = max(most, int(line.split()[1]))
                except OSError:
                    pass
                time.sleep(0.02)
        t = threading.Thread(target=look)
        t.start()
        r = self.finish(p, timeout=600)
        t.join()
        return r, most

    # ---- how much ----

    def endless(self, make, name):
        r, most = self.watched(self.GOOD + make + " | head -c %d\nprintf 'Time: 0.500\\n'\n" % (OUTPUT_MB << 20))
        self.assertEqual(r.status, 5, r.err)
        (state, reason), = self.sql("SELECT state, reason FROM iteration")
        self.assertEqual(state, "failed")
        self.assertIn("cut", reason)
        (size, cut), = self.sql("SELECT bytes, cut FROM output WHERE name = 'stdout'")
        self.assertEqual((size, cut), (32 << 20, 1))
        r = self.kab("show", "r")
        self.assertIn("cut", r.out)
        self.assertLess(len(r.out), 20000)
        print("%s of %d MB: kept 32 MB of it, kab had %d MB" % (name, OUTPUT_MB, most >> 10))
        if not e2e.is_sanitized():
            self.assertLess(most, 300 << 10)
        self.assert_target_clean()

    def test_output_without_end(self):
        self.endless("yes 'noise of a benchmark that does not stop'", "lines")

    def test_one_line_without_end(self):
        self.endless("tr '\\0' x </dev/zero", "one line")

    # ---- which bytes ----

    def test_zeros_and_bytes_that_are_no_text(self):
        r = self.hackbench(self.GOOD + r"printf 'a\000b\377\376\000\n\355\240\200 \nTime: 0.500\n\000\000'" + "\n")
        self.assertEqual(r.status, 0, r.err)
        self.assert_exactly_once(2)
        (iteration,), = self.sql("SELECT min(id) FROM iteration")
        p = subprocess.run([e2e.KAB, "show", "--raw", str(iteration)], capture_output=True, env=self.env,
                           check=True)
        self.assertIn(b"a\0b\xff\xfe\0\n\xed\xa0\x80 \nTime: 0.500\n\0\0", p.stdout, "as it was, byte for byte")
        self.assertEqual([v for v, in self.sql("SELECT value FROM sample WHERE value = 0.5")], [0.5, 0.5])
        self.assertEqual(self.kab("reparse", "r").status, 0)

    def test_escapes_are_printed_nowhere(self):
        events = self.path("events")
        env = dict(self.env)
        said = []
        r = self.hackbench("printf 'SENDER: %s%s (creating fdpair)\\n' >&2; printf '%s'; exit 3\n"
                           % (EVIL, EVIL.replace("\\r", ""), EVIL), "-v", "-v", "--events=json:" + events, env=env)
        self.assertEqual(r.status, 5, r.err)
        said.append((r.out + r.err).encode("utf-8", "replace"))
        for words in (("show", "r"), ("report", "r"), ("report", "r", "--all"), ("list",), ("doctor",),
                      ("doctor", "--store"), ("report", "r", "--format", "csv", "--all"), ("reparse", "r"),
                      ("report", "r", "--format", "json", "--all"), ("report", "r", "--style", "markdown"),
                      ("report", "r", "--explain", "hb"), ("resume", "r"), ("hosts", "-v")):
            p = subprocess.run([e2e.KAB, *words], capture_output=True, env=self.env, check=False)
            self.assertNotIn(p.returncode, (6, -6, -11), (words, p.stderr))
            said.append(p.stdout + p.stderr)
            if "json" in words:
                json.loads(p.stdout)
        with open(events, "rb") as f:
            said.append(f.read())
        for line in said[-1].splitlines():
            json.loads(line)
        whole = b"\n".join(said).replace(b"\r\n", b"\n")
        for raw in (b"\x1b", b"\x07", b"\r", b"\b", b"\xc2\x9b", b"\xe2\x80\xae"):
            self.assertNotIn(raw, whole)
        self.assertIn(b"owned", whole, "the words were printed at all")

    def test_facts_of_the_host_drive_nothing(self):
        self.standin("sysbench", "printf 'sysbench 1.0.20%s\\n'\n" % EVIL)
        self.standin("lscpu", "printf 'Model name: %s\\n'; /usr/bin/lscpu\n" % EVIL)
        self.standin("nproc", "printf '%s'; exec /usr/bin/nproc\n" % EVIL)
        for words in (("hosts",), ("hosts", "-v"), ("doctor",)):
            p = subprocess.run([e2e.KAB, *words], capture_output=True, env=self.env, check=False)
            for raw in (b"\x1b", b"\x07", b"\r", b"\xc2\x9b"):
                self.assertNotIn(raw, p.stdout + p.stderr, words)

    # ---- what the results say ----

    def spoilt(self, line):
        """A benchmark that writes into the record of its own run."""
        return self.hackbench(self.GOOD + "printf '%s\\n' >>\"$KAB_RUN_DIR/result.tmp\"\n"
                              "printf 'Time: 0.500\\n'\n" % line, iterations=1)

    def test_absurd_times(self):
        for up0, up1, times in (("nan", "1", "1e308m0s 0m0s"), ("-1e308", "1e308", "nanm0s 0m0s"),
                                ("5", "1", "-5m0s -1m0s"), ("0", "inf", "infm0s 0m0s"), ("x", "y", "z")):
            with self.subTest(up1=up1):
                if os.path.exists(self.db):
                    os.unlink(self.db)
                r = self.spoilt("up0=%s\\nup1=%s\\ntimes0=0m0s 0m0s\\ntimes1=%s\\ntime=rss=-5" % (up0, up1, times))
                self.assertEqual(r.status, 0, r.err)
                elapsed, = self.sql("SELECT elapsed_s, user_s, system_s, max_rss_kb FROM iteration")
                for value in elapsed[:3]:
                    self.assertTrue(value is None or 0 <= value < 3600, elapsed)
                self.assertTrue(elapsed[3] is None or elapsed[3] > 0, elapsed)
                for words in (("report", "r", "--all"), ("report", "r", "--format", "json", "--all")):
                    out = self.kab(*words).out
                    self.assertNotRegex(out, r"\b(nan|inf|NaN|Infinity|1e\+?308)\b")

    def test_absurd_exit_status(self):
        for status in ("99999999999999999999", "-1", "256", "4294967296", "zero", ""):
            with self.subTest(status=status):
                if os.path.exists(self.db):
                    os.unlink(self.db)
                r = self.spoilt("rc=%s" % status)
                self.assertEqual(r.status, 5, r.err)
                self.assertIn("no exit status", r.err)
                self.assertEqual(self.states(), {"failed": 1}, "no figure with such a status")
                self.assert_target_clean()

    def test_absurd_figures(self):
        for figure in ("nan", "inf", "1e999", "-0.5", "0x10", "1e308", "0." + "1" * 5000, "9" * 5000):
            with self.subTest(figure=figure[:8]):
                if os.path.exists(self.db):
                    os.unlink(self.db)
                r = self.hackbench(self.GOOD + "printf 'Time: %s\\n'\n" % figure, iterations=1)
                self.assertIn(r.status, (0, 5), r.err)
                for value, in self.sql("SELECT s.value FROM sample s JOIN series x ON x.id = s.series_id "
                                       "WHERE x.metric = 'time'"):
                    self.assertTrue(0 <= value < 1e300, value)
                out = self.kab("report", "r", "--all").out
                self.assertLess(max(len(line) for line in out.splitlines()), 100)

    def test_lying_uname(self):
        """What the kernel says of itself counts, not what a program prints."""
        self.standin("uname", "case $1 in -r) echo 9.9.9-lie ;; *) exec /usr/bin/uname \"$@\" ;; esac\n")
        suite = self.suite([self.synthetic()], repeat={"iterations": 1})
        r = self.kab("run", suite, "--kernel", "lie=release:9.9.9-lie", "--name", "r")
        self.assertEqual(r.status, 4, r.err)
        self.assertIn("9.9.9-lie", r.err)
        self.assertEqual(self.states(), {})
        r = self.kab("run", suite, "--kernel", "k=running", "--name", "r")
        self.assertEqual(r.status, 0, r.err)
        self.assertNotIn("9.9.9-lie", self.kab("report", "r").out)

    def test_known_build_id_of_another_kernel(self):
        with open("/proc/sys/kernel/osrelease", encoding="ascii") as f:
            release = f.read().strip()
        spec = self.write("k.json", json.dumps({"release": release, "build_id": "ab" * 20}))
        suite = self.suite([self.synthetic()], repeat={"iterations": 1})
        r = self.kab("run", suite, "--kernel", "k=@" + spec)
        if not os.path.exists("/sys/kernel/notes"):
            self.skipTest("this kernel shows no build id")
        self.assertEqual(r.status, 4, r.err)
        self.assertIn("none of the kernels", r.err)

    # ---- links ----

    def victim(self):
        folder = self.path("victim")
        os.mkdir(folder)
        for name in ("a", "out", "err", "result", "job", "pid"):
            self.write("victim/" + name, "do not touch\n")
        return folder

    def assert_untouched(self, folder):
        self.assertEqual(sorted(os.listdir(folder)), ["a", "err", "job", "out", "pid", "result"])
        for name in os.listdir(folder):
            with open(folder + "/" + name, encoding="ascii") as f:
                self.assertEqual(f.read(), "do not touch\n", name)

    def test_links_in_the_folder_of_the_run(self):
        victim = self.victim()
        r = self.hackbench(self.GOOD + "ln -s %s \"$KAB_RUN_DIR/more\"\nln -s %s/a \"$KAB_RUN_DIR/pid.1\"\n"
                           "ln -s %s here\nln -s / root\nprintf 'Time: 0.500\\n'\n" % (victim, victim, victim))
        self.assertEqual(r.status, 0, r.err)
        self.assert_exactly_once(2)
        self.assert_untouched(victim)
        self.assert_target_clean()

    def test_folder_of_the_run_becomes_a_link(self):
        victim = self.victim()
        r = self.hackbench(self.GOOD + "d=${KAB_RUN_DIR%%/}\nmv \"$d\" \"$d.away\" && ln -s %s \"$d\"\n"
                           "printf 'Time: 0.500\\n'\n" % victim, iterations=1, timeout=180)
        self.assertEqual(r.status, 5, r.err)
        self.assertEqual(self.states().get("done", 0), 0)
        self.assert_untouched(victim)

    def test_lease_of_a_stranger(self):
        """The folder of the lease is everybody's: numbers and links in it that somebody else has put there."""
        os.mkdir("/var/tmp/kab-lease", 0o1777)
        os.chmod("/var/tmp/kab-lease", 0o1777)
        victim = self.victim()
        for name in ("lock.99999999999999999999999", "lock.-1", "lock.1x", "lock.", "run.x"):
            with open("/var/tmp/kab-lease/" + name, "w", encoding="ascii") as f:
                f.write("$(touch %s/hurt) `touch %s/hurt` ; * \033[31m\n" % (victim, victim))
        os.symlink(victim + "/a", "/var/tmp/kab-lease/run.1.1")
        r = self.hackbench(self.GOOD + "printf 'Time: 0.500\\n'\n")
        self.assertIn(r.status, (0, 4), r.err)
        print("lease of a stranger: exit %d; %s" % (r.status, r.err.strip().splitlines()[-1:]))
        if r.status:
            self.assertIn("/var/tmp/kab-lease", r.err)
        self.assertNotIn("\033", r.err)
        self.assert_untouched(victim)


if __name__ == "__main__":
    e2e.main()
