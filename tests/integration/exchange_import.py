# SPDX-License-Identifier: GPL-3.0-or-later
"""kab import of other tools' files and folders. tests/data/import has small folders in the layouts that
mmtests and lkp-tests write, with invented values; what is expected of them is computed here, from the files."""
import bz2
import csv
import glob
import gzip
import io
import json
import lzma
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest

KAB = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else None
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "import")
EXTRA = os.environ.get("KAB_EXTRA_FIXTURES", "")
HEAD = ("Running in process mode with 1 groups using 40 file descriptors each (== 40 tasks)\n"
        "Each sender will pass 100 messages of 100 bytes\n")


class Import(unittest.TestCase):
    def setUp(self):
        # In memory where that is possible: every import waits until the disk has it.
        self.dir = tempfile.TemporaryDirectory(prefix="kab-import-",
                                               dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.addCleanup(self.dir.cleanup)
        self.db = os.path.join(self.dir.name, "kab.db")

    def path(self, *parts):
        return os.path.join(self.dir.name, *parts)

    def write(self, name, text):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())
        return path

    def kab(self, *words, status=0):
        done = subprocess.run([KAB, "--db", self.db, *words], capture_output=True, timeout=120, check=False)
        out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, status, err + out)
        return out, err

    def load(self, *words):
        """Import; returns (rows of the JSON report, stderr of the import)."""
        name, err = self.kab("import", *words)
        done = subprocess.run([KAB, "--db", self.db, "report", name.strip(), "--format", "json"],
                              capture_output=True, timeout=120, check=False)
        self.assertIn(done.returncode, (0, 5), done.stderr)
        return json.loads(done.stdout)["rows"], err

    def text(self, *words, status=0):
        return re.sub(r"\s+", " ", self.kab("report", *words, status=status)[0])

    @staticmethod
    def times(pattern):
        """What is behind "Time:" or "Total time:" in files, each."""
        found = []
        for path in sorted(glob.glob(pattern)):
            with open(path, encoding="utf-8") as f:
                found.append([float(x) for x in re.findall(r"^ *(?:Total time|Time): ([0-9.]+)", f.read(), re.M)])
        return found


class Logs(Import):
    def setUp(self):
        super().setUp()
        self.values = {("base", "b1"): [1.0, 1.1, 1.2], ("base", "b2"): [1.3, 1.2, 1.1],
                       ("base", "b10"): [1.05, 1.15, 1.1], ("patched", "b1"): [0.5, 0.6, 0.55],
                       ("patched", "b2"): [0.52, 0.61, 0.57], ("patched", "b3"): [0.55, 0.5, 0.6]}
        for (kernel, boot), values in self.values.items():
            for i, value in enumerate(values):
                self.write(f"logs/{kernel}/{boot}/{i + 1}.log", HEAD + f"Time: {value:.3f}\n")

    def test_sub_folders_are_boots(self):
        rows, _ = self.load("--runner", "hackbench", "--kernel", "base=" + self.path("logs/base"),
                            "--kernel", "patched=" + self.path("logs/patched"))
        base, patched = rows[0]["sets"]
        self.assertEqual((base["n"], base["boots"], patched["boots"], base["over"]), (9, 3, 3, "boots"))
        self.assertAlmostEqual(base["mean"], statistics.mean(
            statistics.mean(v) for (k, _), v in self.values.items() if k == "base"))
        self.assertEqual(rows[0]["comparisons"][0]["verdict"], "improved")
        self.assertIn("boots: each sub-folder is one", self.text())

    def test_without_sub_folders_boots_are_unknown(self):
        rows, err = self.load("--runner", "hackbench", "base=" + self.path("logs/base/b1"),
                              "patched=" + self.path("logs/patched/b1"))
        self.assertIn("which values share a boot is not known", err)
        self.assertEqual((rows[0]["sets"][0]["boots"], rows[0]["sets"][0]["n"]), (None, 3))
        compared = rows[0]["comparisons"][0]
        self.assertEqual((compared["verdict"], compared["reason"], compared["mark"], compared["p"]),
                         ("inconclusive", "boots unknown", "", None))
        text = self.text()
        self.assertIn("n=3, boots unknown", text)
        self.assertNotIn(" in one boot", text)
        # The user knows better.
        rows, _ = self.load("--runner", "hackbench", "--boots", "--again", "base=" + self.path("logs/base/b1"),
                            "patched=" + self.path("logs/patched/b1"))
        self.assertEqual(rows[0]["sets"][0]["boots"], 3)

    def test_files_beside_the_boots_belong_to_none(self):
        self.write("logs/base/loose.log", HEAD + "Time: 1.000\n")
        words = ["--runner", "hackbench", "base=" + self.path("logs/base"), "patched=" + self.path("logs/patched")]
        _, err = self.kab("import", *words, status=3)
        self.assertRegex(err, "1 files beside its sub-folders.*which boot")
        rows, err = self.load("--match", "[0-9].log", *words)
        self.assertEqual(rows[0]["sets"][0]["n"], 9)
        self.assertRegex(err, "not read: .*loose.log: does not fit --match")
        # Some of the kernels with boots and others without: no.
        _, err = self.kab("import", "--runner", "hackbench", "base=" + self.path("logs/base/b1"),
                          "patched=" + self.path("logs/patched"), status=3)
        self.assertIn("say of all of them which boot", err)

    def test_a_log_without_a_figure_is_a_failure(self):
        self.write("logs/base/b2/4.log", HEAD)
        rows, err = self.load("--runner", "hackbench", "base=" + self.path("logs/base"),
                              "patched=" + self.path("logs/patched"))
        self.assertEqual((rows[0]["sets"][0]["failed"], rows[0]["sets"][0]["n"]), (1, 9))
        self.assertIn("1 failed", err)

    def test_compressed_files_are_not_read(self):
        """By their content; and what else is no log can be found by its name."""
        text = (HEAD + "Time: 9.000\n").encode()
        top = "logs/base/b1/"
        self.write(top + "old.log.gz", gzip.compress(text))
        self.write(top + "old.log", lzma.compress(text))
        self.write(top + "older.log", bz2.compress(text))
        zst = subprocess.run(["zstd", "-q", "-c"], input=text, capture_output=True, check=True).stdout \
            if shutil.which("zstd") else b"\x28\xb5\x2f\xfd\x04\x00"
        self.write(top + "oldest", zst)
        self.write(top + "README", "what this is\n")
        name, err = self.kab("import", "--runner", "hackbench", "base=" + self.path("logs/base"),
                             "patched=" + self.path("logs/patched"))
        self.assertIn("19 iterations of 2 kernels, 1 failed", err)
        self.assertIn("old.log: compressed; unpack it first, and 3 more like it", err)
        self.assertRegex(err, "base, iteration [0-9]+: b1/README: [a-z]")
        self.assertIn("baseline: 'base' (--baseline changes it)", err)
        shown, _ = self.kab("show", name.strip())
        for what in ("old.log.gz", "old.log", "older.log", "oldest"):
            self.assertIn("b1/" + what + ": compressed; unpack it first", shown)
        self.assertIn("b1/README: ", shown)
        _, err = self.kab("import", "--runner", "hackbench", "base=" + self.path(top + "old.log.gz"), status=3)
        self.assertRegex(err, "no file to read; left out: .*old.log.gz: compressed")

    def test_the_same_content_is_noticed(self):
        words = ["--runner", "hackbench", "base=" + self.path("logs/base"), "patched=" + self.path("logs/patched")]
        name = self.kab("import", *words, "--name", "first")[0].strip()
        _, err = self.kab("import", *words, "--name", "second", status=3)
        self.assertIn(f"run '{name}' was imported from the same content already; --again", err)
        # Other names of files and kernels do not make it something else.
        os.rename(self.path("logs"), self.path("moved"))
        words = ["--runner", "hackbench", "a=" + self.path("moved/base"), "b=" + self.path("moved/patched")]
        self.kab("import", *words, status=3)
        _, err = self.kab("import", *words, "--dry-run")
        self.assertIn("same content already", err)
        self.kab("import", *words, "--again", "--name", "third")
        out, _ = self.kab("list")
        self.assertEqual([n in out for n in ("first", "second", "third")], [True, False, True])

    def test_standard_input_and_pipes(self):
        done = subprocess.run([KAB, "--db", self.db, "import", "--runner", "hackbench", "base=-", "-n"],
                              input=(HEAD + "Time: 1.000\n").encode(), capture_output=True, timeout=60, check=True)
        self.assertIn(b"base: hackbench: 1 iteration, 0 failed", done.stdout)
        out = subprocess.run(["bash", "-c", '"$0" --db "$1" import --runner hackbench a=<(cat "$2") -n', KAB, self.db,
                              self.path("logs/base/b1/1.log")], capture_output=True, timeout=60, check=True)
        self.assertIn(b"a: hackbench: 1 iteration, 0 failed", out.stdout)

    def test_dry_run_stores_nothing(self):
        out, _ = self.kab("import", "--runner", "hackbench", "base=" + self.path("logs/base"),
                          "patched=" + self.path("logs/patched"), "--dry-run")
        self.assertFalse(os.path.exists(self.db))
        self.assertIn("base: hackbench: 9 iterations, 0 failed, 3 boots; time (s, lower)", out)

    def test_hostile_folders(self):
        """Loops, links, pipes, devices, strange names: nothing hangs, everything is told."""
        top = self.path("hostile")
        os.makedirs(top)
        good = self.write("hostile/1.log", HEAD + "Time: 1.000\n")
        os.symlink(top, os.path.join(top, "loop"))
        os.symlink(good, os.path.join(top, "link.log"))
        os.symlink("/nowhere", os.path.join(top, "dangling"))
        os.mkfifo(os.path.join(top, "pipe"))
        self.write("hostile/.hidden", "x")
        for name in (b"new\nline.log", b"bad\xff\xfe.log", b"\x1b[31mred.log"):
            with open(os.path.join(top.encode(), name), "wb") as f:
                f.write((HEAD + "Time: 1.500\n").encode() if b"line" in name else b"\xff\xfe\x00garbage\n")
        name, err = self.kab("import", "--runner", "hackbench", "base=" + top)
        for what in ("loop: a symbolic link", "link.log: a symbolic link", "dangling: a symbolic link",
                     "pipe: no regular file", ".hidden: hidden"):
            self.assertTrue(what in err or "more like it" in err, what)
        shown, _ = self.kab("show", name.strip())
        for what in ("/loop: a symbolic link", "/link.log: a", "/dangling: a", "/pipe: no regular", "/.hidden: hidden"):
            self.assertIn(what, shown)
        self.assertNotIn("\x1b", err + shown)
        self.assertIn("4 iterations of 1 kernels, 2 failed", err)

    def test_a_file_of_100_mb(self):
        path = self.path("big.log")
        with open(path, "wb") as f:
            f.write(HEAD.encode())
            f.truncate(100 << 20)
            f.seek(0, 2)
            f.write(b"Time: 1.000\n")
        name, err = self.kab("import", "--runner", "hackbench", "base=" + path)
        self.assertIn("1 failed", err)
        self.assertRegex(self.kab("show", name.strip())[0], "truncated|missing|cut")

    def test_deep_folders(self):
        deep = "deep/" + "/".join(["d"] * 40) + "/1.log"
        self.write(deep, HEAD + "Time: 1.000\n")
        _, err = self.kab("import", "--runner", "hackbench", "base=" + self.path("deep"), status=3)
        self.assertIn("folders deep", err)

    def test_errors_leave_nothing(self):
        empty = self.path("empty")
        os.mkdir(empty)
        for words, status, what in (
                (["--runner", "hackbench", "a=" + empty], 3, "no file to read"),
                (["--runner", "hackbench", "a=/nowhere/at/all"], 3, "cannot open"),
                (["--runner", "hackbench", "a=/dev/zero"], 3, "neither a file nor a folder"),
                (["--runner", "hackbench", empty], 2, "of which kernel"),
                (["--runner", "hakbench", "a=" + empty], 3, "did you mean 'hackbench'"),
                (["--runner", "hackbench"], 2, "no file was named"),
                (["--runner", "hackbench", "--from", "lkp", "x"], 2, "one of --csv"),
                (["--runner", "hackbench", "--kernel", "b", "a=" + self.path("logs/base")], 2, "no file is of kernel"),
                (["--runner", "hackbench", "a=" + self.path("logs/base"), "--lower", "nothing"], 3, "measured 'nothing'"),
                (["--from", "mmtests", "a=" + self.path("logs")], 3, "no result of hackbench"),
                (["--from", "lkp", "a=" + self.path("logs")], 3, "no result of hackbench")):
            _, err = self.kab("import", *words, status=status)
            self.assertIn(what, err)
        self.assertFalse(os.path.exists(self.db))


class Mmtests(Import):
    def test_runs_are_kernels_and_names_are_parameters(self):
        top = os.path.join(DATA, "mmtests")
        _, err = self.kab("import", "--from", "mmtests", top, status=2)
        self.assertIn("--baseline LABEL; there are 6.12-patched, 6.12-vanilla", err)
        rows, err = self.load("--from", "mmtests", top, "--baseline", "6.12-vanilla")
        self.assertEqual(sorted((r["case"], r["row"]) for r in rows),
                         [(t, f"groups={g}") for t in ("hackbench-process-pipes", "hackbench-thread-sockets")
                          for g in (1, 4)])
        for row in rows:
            for kernel in row["sets"]:
                values = self.times(os.path.join(top, kernel["kernel"], "iter-*", row["case"], "logs",
                                                 "hackbench-%s-*" % row["row"].split("=")[1]))
                self.assertEqual(len(values), 4)
                self.assertEqual((kernel["n"], kernel["boots"]), (4, None))
                self.assertAlmostEqual(kernel["mean"], statistics.mean(sum(values, [])))
                for word in ("pipe=" + str("pipes" in row["case"]).lower(),
                             "threads=" + str("thread" in row["case"]).lower()):
                    self.assertIn(word, kernel["parameters"])
            self.assertEqual(row["comparisons"][0]["reason"], "boots unknown")
            self.assertEqual((row["metric"], row["unit"], row["direction"]), ("time", "s", "lower"))
        self.assertIn("without a reboot", err)
        self.assertIn("without a reboot", self.text())
        self.assertIn("6.12-patched ran 6.12.0-patched", self.kab("show")[0])

    def test_any_folder_of_a_run_may_be_named(self):
        run = os.path.join(DATA, "mmtests", "6.12-vanilla")
        for path, n in ((run, 16), (run + "/", 16), (os.path.join(run, "iter-0"), 8), (os.path.join(run, "iter-1", ""), 8),
                        (os.path.join(run, "iter-0", "hackbench-process-pipes"), 4),
                        (os.path.join(run, "iter-0", "hackbench-process-pipes", "logs", "hackbench-4-1"), 1)):
            out, _ = self.kab("import", "--from", "mmtests", path, "-n")
            self.assertEqual(sum(int(x) for x in re.findall(r"^6.12-vanilla: .*: (\d+) iteration", out, re.M)), n, path)

    def test_a_label_is_one_kernel(self):
        top = os.path.join(DATA, "mmtests")
        self.load("--from", "mmtests", "--kernel", "k", top)
        self.assertIn("k ran more than one release: 6.12.0-patched and 6.12.0-vanilla", self.text())
        subprocess.run(["cp", "-r", os.path.join(top, "6.12-vanilla"), self.path("same")], check=True)
        self.load("--from", "mmtests", "a=" + os.path.join(top, "6.12-vanilla"), "b=" + self.path("same"))
        self.assertIn("a and b ran one and the same release: 6.12.0-vanilla", self.text())

    def test_a_run_a_boot_if_the_user_says_so(self):
        words = []
        os.mkdir(self.path("log"))
        for run in range(2):
            for kernel in ("6.12-vanilla", "6.12-patched"):
                copy = self.path("log", f"{kernel}-{run}")
                subprocess.run(["cp", "-r", os.path.join(DATA, "mmtests", kernel), copy], check=True)
                words.append(("base" if "vanilla" in kernel else "patched") + "=" + copy)
        rows, _ = self.load("--from", "mmtests", "--boots", *words)
        self.assertEqual([s["boots"] for s in rows[0]["sets"]], [2, 2])
        self.assertEqual([s["n"] for s in rows[0]["sets"]], [8, 8])

    def test_what_is_not_read_is_listed(self):
        run = "log/k/iter-0/"
        self.write(run + "hackbench-process-pipes/logs/hackbench-1-1", HEAD + "Time: 1.000\n")
        self.write(run + "hackbench-process-pipes/logs/hackbench-2-1.gz", b"\x1f\x8b")
        self.write(run + "hackbench-process-pipes/fine-profile-cycles/hackbench-1-1", HEAD + "Time: 9.000\n")
        self.write(run + "hackbench-process-pipes/noprofile/hackbench-4", HEAD + "Time: 2.000\n")
        self.write(run + "sysbench/logs/sysbench-1", "x")
        self.write(run + "hackbench-process-pipes/logs/notes", "x")
        out, _ = self.kab("import", "--from", "mmtests", self.path("log"), "--dry-run")
        for what in ("hackbench-2-1.gz: compressed", "measured under a profiler", "of a test that is not read",
                     "notes: no result of hackbench"):
            self.assertIn(what, out)
        self.assertEqual(out.count(": 1 iteration, "), 2)


class Lkp(Import):
    TOP = os.path.join(DATA, "lkp")
    BASE, TEST = "4f1d2c3b4a59", "9e8d7c6b5a49"

    def figures(self, commit, key):
        found = []
        for path in sorted(glob.glob(os.path.join(self.TOP, "*", "*", "*", "*", "*", "*", commit + "*", "*",
                                                  "hackbench.json"))):
            with open(path, encoding="utf-8") as f:
                found.append(json.load(f)["hackbench." + key][0])
        return found

    def test_commits_are_kernels_and_runs_are_boots(self):
        rows, _ = self.load("--from", "lkp", self.TOP, "--baseline", self.BASE)
        row = next(r for r in rows if r["metric"] == "throughput")
        self.assertEqual((row["host"], row["row"], row["unit"], row["direction"], row["carries_verdict"]),
                         ("lkp-test-1", "params=50%-process-pipe-performance", "KiB/s", "higher", True))
        means = []
        for s, commit in zip(row["sets"], (self.BASE, self.TEST)):
            values = self.figures(commit, "throughput")
            means.append(statistics.mean(values))
            self.assertEqual((s["kernel"], s["boots"], s["n"]), (commit, len(values), len(values)))
            self.assertAlmostEqual(s["mean"], means[-1])
            self.assertAlmostEqual(s["stddev"], statistics.stdev(values))
        self.assertEqual([s["failed"] for s in row["sets"]], [0, 1])
        self.assertAlmostEqual(row["comparisons"][0]["gain_pct"], 100 * (means[1] - means[0]) / means[0])
        self.assertEqual(row["comparisons"][0]["verdict"], "improved")
        # The time of the log is there, its repeated values averaged, and is not judged beside it.
        row = next(r for r in rows if r["metric"] == "time")
        logs = self.times(os.path.join(self.TOP, "*", "*", "*", "*", "*", "*", self.BASE + "*", "*", "hackbench"))
        self.assertAlmostEqual(row["sets"][0]["mean"], statistics.mean(statistics.mean(v) for v in logs))
        self.assertFalse(row["carries_verdict"])
        self.assertIn("fail 1/5", self.kab("report", status=5)[0])
        self.assertIn("lkp says last_state.is_incomplete_run", self.kab("show")[0])
        self.assertIn("boots: each run is one: lkp boots for every run", self.text(status=5))

    def copy(self, name, change=None):
        """A result root of our own; change(path of a file, text) -> text."""
        for path in glob.glob(os.path.join(self.TOP, "**"), recursive=True):
            if not os.path.isfile(path):
                continue
            with open(path, encoding="utf-8") as f:
                text = f.read()
            to, text = change(os.path.relpath(path, self.TOP), text) if change else (
                os.path.relpath(path, self.TOP), text)
            self.write(os.path.join(name, to), text)
        return self.path(name)

    def test_a_local_run_does_not_boot(self):
        top = self.copy("local", lambda p, t: (p, t + "local_run: 1\n" if p.endswith("job.yaml") else t))
        rows, err = self.load("--from", "lkp", top, "--baseline", self.BASE)
        self.assertIn("local_run", err)
        row = next(r for r in rows if r["metric"] == "throughput")
        self.assertEqual((row["sets"][0]["boots"], row["comparisons"][0]["reason"]), (None, "boots unknown"))
        self.assertIn("local_run", self.text(status=5))

    def test_the_compiler_is_not_the_kernel(self):
        top = self.copy("c", lambda p, t: (p.replace("gcc-12", "gcc-14") if "/9e8d" in p else p, t))
        self.load("--from", "lkp", top, "--baseline", self.BASE)
        self.assertIn("compiler differs between the kernels: gcc-12, gcc-14", self.text(status=5))
        top = self.copy("d", lambda p, t: (p.replace("gcc-12", "gcc-14") if p.split("/")[-2] in "01" else p, t))
        rows, _ = self.load("--from", "lkp", top, "--baseline", self.BASE, "--again")
        self.assertEqual({r["condition"] for r in rows}, {"compiler=gcc-12", "compiler=gcc-14"})

    def test_figures_from_whatever_file_is_left(self):
        want = statistics.mean(self.figures(self.BASE, "throughput"))
        for name, keep in (("s", "stats.json"), ("m", "matrix.json")):
            def only(path, text, keep=keep):
                in_job = re.search(r"/\d+/[^/]+$", path)
                if in_job and keep == "matrix.json" and path.endswith("hackbench.json"):
                    return path.replace("hackbench.json", keep), text
                return ("" if in_job and path.endswith(("job.yaml", "stats.json" if keep == "stats.json" else "job.yaml"))
                        else "elsewhere/") + path, text
            top = self.copy(name, only)
            rows, _ = self.load("--from", "lkp", os.path.join(top, "hackbench"), "--baseline", self.BASE)
            row = next(r for r in rows if r["metric"] == "throughput")
            self.assertAlmostEqual(row["sets"][0]["mean"], want)
            self.assertNotIn("time", [r["metric"] for r in rows])

    def test_zeros_are_padding(self):
        top = self.copy("z", lambda p, t: (p, re.sub(r": *\[\s*[0-9.]+", ": [0", t) if re.search("4f1d.*/2/hackbench.json", p)
                                           else "" if re.search("4f1d.*/2/hackbench$", p) else t))
        rows, err = self.load("--from", "lkp", top, "--baseline", self.BASE)
        row = next(r for r in rows if r["metric"] == "throughput")
        self.assertEqual((row["sets"][0]["n"], row["sets"][0]["failed"]), (4, 1))
        self.assertIn("a 'throughput' of 0 is no result", err)

    def test_labels_for_copied_folders(self):
        commits = sorted(glob.glob(os.path.join(self.TOP, "*", "*", "*", "*", "*", "*", "*")))
        for label, commit in zip(("old", "new"), commits):
            subprocess.run(["cp", "-r", commit, self.path(label)], check=True)
        rows, _ = self.load("--from", "lkp", "base=" + self.path("old"), "patched=" + self.path("new"))
        row = next(r for r in rows if r["metric"] == "throughput")
        self.assertEqual([(s["kernel"], s["boots"]) for s in row["sets"]], [("base", 5), ("patched", 4)])
        self.assertEqual((row["host"], row["row"]), ("import", ""))


class PerfStat(Import):
    PLAIN = "24.10,msec,task-clock,24097394,100.00,0.618,CPUs utilized\n2584,,context-switches,24097394,100.00,,\n"
    REPEATED = "0.62,msec,task-clock,6.02%,620138,100.00,0.375,CPUs utilized\n49,,page-faults,1.36%,620138,100.00,,\n"

    def test_values(self):
        files = [f"base={self.write(f'b{i}.csv', 'output, of a command' + chr(10) + self.PLAIN.replace('24.10', str(v)))}"
                 for i, v in enumerate((24.1, 25.0, 23.5))]
        rows, err = self.load("--from", "perf-stat", "--lower", "task-clock", *files)
        row = next(r for r in rows if r["metric"] == "task-clock")
        self.assertEqual((row["unit"], row["direction"]), ("ms", "lower"))
        self.assertAlmostEqual(row["sets"][0]["mean"], (24.1 + 25.0 + 23.5) / 3)
        self.assertEqual(next(r for r in rows if r["metric"] == "context-switches")["direction"], "none")
        self.assertRegex(err, r"b0.csv: 1 line \(the first is 1\) are not of perf stat|b0.csv: 1 line")

    def test_a_file_with_several_runs(self):
        """perf stat -o FILE --append"""
        text = "".join(f"# started on Mon\n\n{v},msec,task-clock,24097394,100.00,,\n" for v in (1.0, 2.0, 4.5))
        rows, _ = self.load("--from", "perf-stat", "k=" + self.write("many.csv", text))
        self.assertEqual((rows[0]["sets"][0]["n"], rows[0]["sets"][0]["mean"]), (3, 2.5))
        rows, err = self.load("--from", "perf-stat", "k=" + self.write("twice.csv", self.PLAIN + self.PLAIN.replace("24.10", "26.10")))
        clock = next(r for r in rows if r["metric"] == "task-clock")["sets"][0]
        self.assertEqual((clock["n"], round(clock["mean"], 9)), (1, 25.1))
        self.assertIn("task-clock stands there more than once", err)

    def test_repeated_is_a_summary(self):
        a, b = self.write("a.csv", self.REPEATED), self.write("b.csv", self.REPEATED.replace("0.62", "0.60"))
        _, err = self.kab("import", "--from", "perf-stat", "base=" + a, "patched=" + b, status=2)
        self.assertIn("--repeat N", err)
        rows, _ = self.load("--from", "perf-stat", "--repeat", "9", "base=" + a, "patched=" + b, "--lower", "task-clock")
        s = next(r for r in rows if r["metric"] == "task-clock")["sets"][0]
        self.assertEqual((s["n"], s["boots"], s["over"], s["values"], s["summary_only"]), (9, None, "summary", [], True))
        self.assertAlmostEqual(s["stddev"], 0.0602 * 0.62 * 3)
        self.assertAlmostEqual(s["sem"], 0.0602 * 0.62)
        with self.subTest("a second file of a kernel is no second measurement of it"):
            c = self.write("c.csv", self.REPEATED.replace("0.62", "0.70"))
            _, err = self.kab("import", "--from", "perf-stat", "--repeat", "9", "base=" + a, "base=" + c, status=3)
            self.assertIn("a second summary of 'task-clock'", err)

    def test_json_lines(self):
        line = ('{"counter-value" : "0.738115", "unit" : "msec", "event" : "task-clock", "event-runtime" : 738115, '
                '"pcnt-running" : 60.00, "metric-value" : 0.007099, "metric-unit" : "CPUs utilized"}\n'
                '{"counter-value" : "<not supported>", "unit" : "", "event" : "cycles", "event-runtime" : 0, '
                '"pcnt-running" : 100.00, "metric-value" : 0.000000, "metric-unit" : ""}\n')
        rows, err = self.load("--from", "perf-stat", "base=" + self.write("j.json", line))
        self.assertEqual([r["metric"] for r in rows], ["task-clock"])
        self.assertAlmostEqual(rows[0]["sets"][0]["mean"], 0.738115)
        self.assertIn("cycles was not supported", err)
        self.assertIn("task-clock was counted 60 % of the time", err)
        _, err = self.kab("import", "--from", "perf-stat", "--repeat", "3", "base=" + self.write(
            "r.json", line.replace('"event-runtime" : 738115', '"variance" : 4.93, "event-runtime" : 738115')), "--dry-run")
        self.assertIn("cycles was not supported: no summary", self.kab(
            "import", "--from", "perf-stat", "--repeat", "3", "base=" + self.path("r.json"), "--dry-run")[0])

    def test_words_are_not_zero(self):
        rows, _ = self.load("--from", "perf-stat", "base=" + self.write(
            "w.csv", "<not counted>,,context-switches,0,100.00,,\n" + self.PLAIN.split("\n")[0] + "\n"))
        self.assertEqual([r["metric"] for r in rows], ["task-clock"])
        _, err = self.kab("import", "--from", "perf-stat", "base=" + self.write(
            "n.csv", "<not supported>,,cycles,0,100.00,,\n"))
        self.assertIn("1 iterations of 1 kernels, 1 failed", err)

    def test_separators(self):
        want = self.load("--from", "perf-stat", "k=" + self.write("c.csv", self.PLAIN))[0]
        for name, sep in (("s.csv", ";"), ("t.csv", "\t"), ("p.csv", "|")):
            got = self.load("--from", "perf-stat", "k=" + self.write(name, self.PLAIN.replace(",", sep)))[0]
            self.assertEqual([(r["metric"], r["sets"][0]["mean"]) for r in got],
                             [(r["metric"], r["sets"][0]["mean"]) for r in want])
        rows, err = self.load("--from", "perf-stat", "k=" + self.write("d.csv", "24,10;msec;task-clock;24097394;100,00;;\n"))
        self.assertAlmostEqual(rows[0]["sets"][0]["mean"], 24.10)
        self.assertIn("decimal commas", err)

    def test_what_cannot_be_meant_is_refused_with_its_line(self):
        for text, line, what in (
                ("24,10,msec,task-clock,24097394,100,00,0,618,CPUs utilized\n", 1, "decimal comma"),
                ("# started on x\n\n     0.050128035,1,,context-switches,866143,100.00,,\n", 3, "intervals"),
                ("CPU0,24,,context-switches,101501401,100.00,,\n", 1, "parts of the machine"),
                ("S0-D0-C0,1,29,,context-switches,101871700,100.00,,\n", 1, "parts of the machine"),
                ("S0,2,32,,context-switches,204254366,100.00,,\n", 1, "parts of the machine"),
                ("sleep-123,32,,context-switches,204254366,100.00,,\n", 1, "parts of the machine"),
                ("\n Performance counter stats for 'true' (3 runs):\n", 2, "table for people"),
                ('{"interval" : 0.05, "counter-value" : "1", "unit" : "", "event" : "x"}\n', 1, "interval"),
                ('{"counter-value" : "1", "unit" : "", "event" : "x", "pcnt-running" : 100,00}\n', 1, "decimal commas")):
            path = self.write("bad.csv", text)
            _, err = self.kab("import", "--from", "perf-stat", "k=" + path, status=3)
            self.assertRegex(err, re.escape(f"bad.csv:{line}: ") + f".*{what}")


class Hyperfine(Import):
    RESULT = {"command": "sleep 1", "mean": 0.825, "stddev": 0.4, "median": 1.0, "user": 0.001, "system": 0.002,
              "min": 0.2, "max": 1.1, "times": [1.0, 1.1, 0.2, 1.0], "exit_codes": [0, 0, 1, 0]}

    def json(self, name, *results, **changes):
        return self.write(name, json.dumps({"results": [dict(r, **changes) for r in results]}))

    def test_the_fast_failure_is_no_result(self):
        path = self.json("a.json", self.RESULT)
        rows, _ = self.load("--from", "hyperfine", "base=" + path,
                            "patched=" + self.json("b.json", self.RESULT, exit_codes=[0, 0, 0, None]))
        base, patched = rows[0]["sets"]
        self.assertEqual((base["n"], base["failed"], base["planned"], base["min"]), (3, 1, 4, 1.0))
        self.assertAlmostEqual(base["mean"], 3.1 / 3)
        self.assertEqual((patched["failed"], patched["first_failure"]), (1, "ended by a signal: no exit status"))
        self.assertEqual((rows[0]["unit"], rows[0]["direction"]), ("s", "lower"))
        self.assertIn("fail 1/4", self.kab("report", status=5)[0])

    def test_two_commands_are_not_one(self):
        self.load("--from", "hyperfine", "a=" + self.json("a.json", self.RESULT),
                  "b=" + self.json("b.json", self.RESULT, command="sleep 2"))
        self.assertIn("not the same command: 'sleep 1' of a, 'sleep 2' of b", self.text(status=5))

    def test_parameters_are_rows(self):
        results = [dict(self.RESULT, command=f"make -j{n}", parameters={"jobs": str(n)}) for n in (1, 2, 10)]
        rows, _ = self.load("--from", "hyperfine", "k=" + self.json("p.json", *results))
        self.assertEqual([r["row"] for r in rows], ["jobs=1", "jobs=2", "jobs=10"])
        results = [dict(self.RESULT, command=c) for c in ("a b", "c d")]
        rows, _ = self.load("--from", "hyperfine", "k=" + self.json("q.json", *results))
        self.assertEqual(sorted(r["row"] for r in rows), ["a b", "c d"])
        # One parameter and two commands: still rows of their own.
        results = [dict(self.RESULT, command=c, parameters={"n": "1"}) for c in ("a 1", "b 1")]
        rows, _ = self.load("--from", "hyperfine", "k=" + self.json("r.json", *results))
        self.assertEqual(sorted(r["row"] for r in rows), ["n=1 a 1", "n=1 b 1"])

    def test_version_2(self):
        runs = [{"time_wall_clock": {"value": v, "unit": "second"}, "exit_code": c} for v, c in ((1.0, 0), (3.0, 2))]
        rows, _ = self.load("--from", "hyperfine", "k=" + self.write(
            "2.json", json.dumps({"schema_version": 2, "results": [{"command": "x", "measurements": runs}]})))
        self.assertEqual((rows[0]["sets"][0]["mean"], rows[0]["sets"][0]["failed"]), (1.0, 1))

    def test_errors_have_a_place(self):
        for text, what in (("{", "bad.json"), ("[]", "bad.json"), ('{"results": [{"command": "x", "mean": 1}]}', "no 'times'"),
                           ('{"results": [{"times": [1, "x"], "exit_codes": [0, 0]}]}', r"times\[1\]"),
                           ('{"results": [{"times": [1, 2], "exit_codes": [0]}]}', "1 exit codes for 2 times"),
                           ('{"results": [{"times": [-1]}]}', r"times\[0\]")):
            _, err = self.kab("import", "--from", "hyperfine", "k=" + self.write("bad.json", text), status=3)
            self.assertRegex(err, what)


class Summaries(Import):
    TABLE = ("kernel,case,row,metric,unit,direction,n,mean,stddev\n"
             "base,hackbench,groups=1,time,s,lower,10,1.25,0.02\npatched,hackbench,groups=1,time,s,lower,10,1.20,0.03\n"
             "base,hackbench,groups=4,time,s,lower,10,5.0,0.05\npatched,hackbench,groups=4,time,s,lower,10,5.01,0.04\n"
             "base,hackbench,groups=8,time,s,lower,10,9.0,\npatched,hackbench,groups=8,time,s,lower,10,9.5,0.1\n")

    def test_welch_on_moments(self):
        rows, err = self.load("--from", "summary", self.write("t.csv", self.TABLE))
        self.assertIn("boots are unknown", err)
        first = rows[0]["comparisons"][0]
        # t = ln(1.20/1.25)/se, se^2 = (0.02/1.25)^2/10 + (0.03/1.20)^2/10, Satterthwaite's df.
        u, v = (0.02 / 1.25) ** 2 / 10, (0.03 / 1.20) ** 2 / 10
        self.assertAlmostEqual(first["t"], math.log(1.20 / 1.25) / math.sqrt(u + v), places=9)
        self.assertAlmostEqual(first["df"], (u + v) ** 2 / (u ** 2 / 9 + v ** 2 / 9), places=9)
        self.assertAlmostEqual(first["gain_pct"], 4, places=9)
        self.assertEqual([r["comparisons"][0]["verdict"] for r in rows], ["improved", "equivalent", "inconclusive"])
        self.assertIn("independent values", first["warning"])
        self.assertIsNone(rows[2]["comparisons"][0]["p"])
        self.assertEqual(rows[2]["comparisons"][0]["reason"], "a standard deviation is not known")

    def test_the_same_verdict_as_values_of_those_moments(self):
        """Boots whose means have exactly these moments: nothing but the words may differ."""
        rows, _ = self.load("--from", "summary", self.write("t.csv", self.TABLE))
        pattern = [-1.3, -0.8, -0.4, -0.1, 0.1, 0.4, 0.8, 1.3, -0.5, 0.5]
        unit = statistics.stdev(pattern)
        lines = ["kernel,boot,value,unit,direction,case,row,metric"]
        for kernel, mean, sd in (("base", 1.25, 0.02), ("patched", 1.20, 0.03)):
            lines += [f"{kernel},{i},{mean + sd * z / unit!r},s,lower,hackbench,groups=1,time"
                      for i, z in enumerate(pattern)]
        values, _ = self.load("--csv", self.write("v.csv", "\n".join(lines) + "\n"))
        for key in ("t", "df", "p", "gain_pct", "ratio"):
            self.assertAlmostEqual(rows[0]["comparisons"][0][key], values[0]["comparisons"][0][key], places=9)
        self.assertEqual(values[0]["sets"][0]["boots"], 10)

    def test_marked_everywhere(self):
        name = self.kab("import", "--from", "summary", self.write("t.csv", self.TABLE), "--name", "s")[0].strip()
        self.assertIn("n=10 (summary only), boots unknown", self.text(name))
        self.assertIn("not tested: a standard deviation is not known", self.text(name))
        for style in ("runs", "percentiles", "describe", "minmax"):
            self.assertIn("summary only", self.text(name, "--style", style))
        for style in ("grid", "org", "norm", "mmtests", "schedtests", "fastpath", "lkp", "gain", "perfstat", "stacked"):
            self.assertRegex(self.text(name, "--style", style), "summary only")
        self.assertIn("summary only", self.kab("report", name, "-x", "groups=1")[0])
        self.assertIn("(6 summaries)", self.kab("list")[0])
        self.assertNotIn("nothing done", self.kab("list")[0])
        self.assertIn("n 10  mean 1.25  stddev 0.02", self.kab("show", name)[0])
        table = list(csv.DictReader(io.StringIO(self.kab("report", name, "--format", "csv")[0])))
        self.assertEqual({(r["over"], r["boots"], r["median"]) for r in table}, {("summary", "", "")})
        self.assertEqual([r["n"] for r in table], ["10"] * 6)

    def test_json_and_standard_errors(self):
        rows, err = self.load("--from", "summary", self.write("t.json", json.dumps(
            [{"kernel": "a", "n": 4, "mean": 10, "sem": 0.5, "unit": "op/s", "direction": "higher"},
             {"kernel": "b", "n": 4, "mean": 12, "stddev": 1.0, "unit": "op/s", "direction": "higher"}])))
        self.assertAlmostEqual(rows[0]["sets"][0]["stddev"], 1.0)
        self.assertIn("standard errors", err)
        self.assertEqual(rows[0]["comparisons"][0]["gain_pct"], 20)

    def test_summaries_and_values_side_by_side(self):
        self.kab("import", "--from", "summary", self.write("t.csv", self.TABLE), "--name", "s")
        lines = ["kernel,boot,value,unit,direction,case,row,metric"]
        lines += [f"mine,{i},{1.19 + i / 1000},s,lower,hackbench,groups=1,time" for i in range(6)]
        self.kab("import", "--csv", self.write("v.csv", "\n".join(lines) + "\n"), "--name", "v")
        done = json.loads(self.kab("compare", "s:base", "v:mine", "--format", "json", status=5)[0])
        row = next(r for r in done["rows"] if r["row"] == "groups=1")
        self.assertEqual([s["summary_only"] for s in row["sets"]], [True, False])
        self.assertRegex(row["comparisons"][0]["warning"], "a summary of 10 values, its boots are unknown, against 6 boots")

    def test_errors(self):
        for text, what in (("kernel,n,mean\na,0,1\n", "t.csv:2: .*whole number from 1"),
                           ("kernel,n,mean\na,1.5,1\n", "t.csv:2: 'n'"),
                           ("kernel,n,mean,stddev\na,3,1,-1\n", "t.csv:2: .*deviation"),
                           ("kernel,n,mean\na,3,\"1,5\"\n", "t.csv:2: 'mean'.*decimal point"),
                           ("kernel,n,avg\na,3,1\n", "unknown column 'avg'"),
                           ("kernel,mean\na,3\n", "no column 'n'"),
                           ("n,mean\n3,3\n", "no column 'kernel'"),
                           ("kernel,n,mean\na,3,1\na,4,2\n", "t.csv:3: a second summary"),
                           ("kernel,n,mean,stddev,sem\na,3,1,1,1\n", "t.csv:2: 'sem'"),
                           ("kernel,n,mean,direction\na,3,1,up\n", "t.csv:2: 'direction'"),
                           ('[{"kernel": "a", "n": 3, "mean": 1, "medan": 1}]', "medan"), ("[]", "empty"),
                           ('[{"kernel": "a", "n": 3, "mean": 1e999}]', "t.csv")):
            _, err = self.kab("import", "--from", "summary", self.write("t.csv", text), status=3)
            self.assertRegex(err, what)
        self.assertFalse(os.path.exists(self.db))


@unittest.skipUnless(EXTRA, "KAB_EXTRA_FIXTURES is not set")
class Fixtures(Import):
    def test_perf_stat_as_printed(self):
        folder = os.path.join(EXTRA, "fixtures", "outputs")
        with open(os.path.join(folder, "INDEX.json"), encoding="utf-8") as f:
            index = {e["file"]: e for e in json.load(f)["files"]}
        for name in ("perf-stat-6.1-csv.txt", "perf-stat-6.1-json.txt"):
            rows, _ = self.load("--from", "perf-stat", "k=" + os.path.join(folder, name))
            got = {r["metric"]: (r["sets"][0]["mean"], r["unit"]) for r in rows}
            for want in index[name]["expect"]["metrics"]:
                if not want["name"].startswith("hackbench."):
                    self.assertEqual(got[want["name"]], (want["value"], want["unit"] if want["unit"] != "count" else ""))

    def test_an_lkp_log_with_eight_iterations(self):
        log = os.path.join(EXTRA, "fixtures", "outputs", "hackbench-lkp-iterations.txt")
        with open(log, encoding="utf-8") as f:
            text = f.read()
        self.write("r/1/hackbench", text)
        rows, _ = self.load("--from", "lkp", "k=" + self.path("r"))
        times = [float(x) for x in re.findall(r"^Time: ([0-9.]+)", text, re.M)]
        self.assertAlmostEqual(rows[0]["sets"][0]["mean"], statistics.mean(times))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
