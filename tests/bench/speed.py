#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times kab, R, numpy/scipy and ministat on the same files, in turn; called by run.sh.

Every repeat runs all programs once, in random order, so that load of the machine hits all alike. Wall
time and CPU time (user + system of the process) are printed as medians; ratios are of the CPU time
medians, since a busy machine lengthens the wall time of whoever it likes.
"""
import argparse
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "runners")

# Descriptive numbers, Welch and rank test with the shift between the sides: what kab stats prints.
R_ALL = """a <- scan("%s", quiet=TRUE); b <- scan("%s", quiet=TRUE)
for (x in list(a, b)) print(c(mean(x), sd(x), mad(x), quantile(x, c(.01,.05,.25,.5,.75,.9,.95,.99)), range(x)))
print(t.test(b, a)); print(suppressWarnings(wilcox.test(b, a)))
"""
R_T = """a <- scan("%s", quiet=TRUE); b <- scan("%s", quiet=TRUE)
for (x in list(a, b)) print(c(mean(x), sd(x), median(x), range(x)))
print(t.test(b, a))
"""
PY_READ = """import sys, numpy as np
a, b = (np.fromfile(f, sep="\\n") for f in ("%s", "%s"))
for x in (a, b):
    print(len(x), x.min(), x.max(), x.mean(), x.std(ddof=1), np.percentile(x, (1, 5, 25, 50, 75, 90, 95, 99)))
"""
PY_ALL = PY_READ + """from scipy import stats
print(stats.ttest_ind(b, a, equal_var=False)); print(stats.mannwhitneyu(b, a))
"""
PY_T = PY_READ + """from scipy import stats
print(stats.ttest_ind(b, a, equal_var=False))
"""
PY_INSIDE = """import sys, time, numpy as np
from scipy import stats
a, b = (np.fromfile(f, sep="\\n") for f in sys.argv[1:3])
def once(f, *args, **kw):
    f(*args, **kw) if len(a) < 5000 else None
    t = time.perf_counter(); r = f(*args, **kw); return (time.perf_counter() - t) * 1e3, r
def describe():
    for x in (a, b):
        x.min(), x.max(), x.mean(), x.std(ddof=1), np.percentile(x, (1, 5, 25, 50, 75, 90, 95, 99))
print(once(describe)[0], once(stats.ttest_ind, b, a, equal_var=False)[0], once(stats.mannwhitneyu, b, a)[0])
"""
PY_BCA = """import sys, time, numpy as np
from scipy import stats
a, b = (np.fromfile(f, sep="\\n") for f in sys.argv[1:3])
def diff(x, y, axis=-1):
    return y.mean(axis=axis) - x.mean(axis=axis)
t = time.perf_counter()
r = stats.bootstrap((a, b), diff, n_resamples=10000, method="BCa", vectorized=True, batch=500, random_state=1)
print((time.perf_counter() - t) * 1e3, *r.confidence_interval)
"""


class Timer:
    def __init__(self):
        self.wall, self.cpu = {}, {}

    def process(self, name, argv):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begin = time.perf_counter()
        done = subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        wall = time.perf_counter() - begin
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            sys.exit("%s: %s ended with %d: %s" % (name, argv[0], done.returncode, done.stderr.decode()[-300:]))
        self.wall.setdefault(name, []).append(wall * 1e3)
        self.cpu.setdefault(name, []).append(
            (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) * 1e3)

    def inside(self, name, argv):
        """A program that times itself: the first number that it prints, in ms."""
        out = subprocess.run(argv, stdout=subprocess.PIPE, check=True, text=True).stdout.split()
        self.wall.setdefault(name, []).append(float(out[0]))
        return [float(x) for x in out]


def number(ms):
    return "%.0f" % ms if ms >= 100 else "%.1f" % ms if ms >= 10 else "%.2f" % ms


def table(timer, names, own):
    print("| program | wall, ms | CPU, ms | CPU by that of kab |")
    print("|---|---|---|---|")
    for name in names:
        wall, cpu = statistics.median(timer.wall[name]), statistics.median(timer.cpu[name])
        print("| %s | %s | %s | %.2f |" % (name, number(wall), number(cpu),
                                             cpu / statistics.median(timer.cpu[own])))
    print()


def interleave(timer, repeats, programs, rng):
    for argv in programs.values():  # once unmeasured: files and programs come into the cache
        subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    for _ in range(repeats):
        order = list(programs.items())
        rng.shuffle(order)
        for name, argv in order:
            timer.process(name, argv)


def write_sets(folder, n, rng):
    names = [os.path.join(folder, "%s%d" % (c, n)) for c in "ab"]
    for name, mean in zip(names, (100, 100.5)):
        with open(name, "w", encoding="ascii") as f:
            f.writelines("%.6f\n" % rng.gauss(mean, 3) for _ in range(n))
    return names


def stats_programs(kab, a, b, n):
    python = sys.executable
    programs = {"kab stats": [kab, "stats", "--direction", "lower", a, b], "kab stats --json": [kab, "stats", "--json", a, b]}
    if shutil.which("ministat"):
        programs["ministat"] = ["ministat", a, b]
        programs["ministat -n"] = ["ministat", "-n", a, b]
    if has_scipy():
        programs["python3, numpy + scipy: Welch"] = [python, "-c", PY_T % (a, b)]
        programs["python3, numpy + scipy: Welch, rank test"] = [python, "-c", PY_ALL % (a, b)]
    if shutil.which("Rscript"):
        programs["Rscript: Welch"] = ["Rscript", "--vanilla", "-e", R_T % (a, b)]
        if n <= 100000:
            programs["Rscript: Welch, rank test"] = ["Rscript", "--vanilla", "-e", R_ALL % (a, b)]
    return programs


def has_scipy():
    return subprocess.run([sys.executable, "-c", "import scipy.stats"], stderr=subprocess.DEVNULL, check=False).returncode == 0


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        models = [l.split(":", 1)[1].strip() for l in f if l.startswith("model name")]
    print("Machine: %s, %d CPUs, Linux %s; load %s at the start." %
          (models[0] if models else os.uname().machine, os.cpu_count(), os.uname().release,
           " ".join("%.1f" % x for x in os.getloadavg())))
    missing = [n for n, there in (("r-base-core", shutil.which("Rscript")), ("python3-scipy", has_scipy()),
                                  ("ministat", shutil.which("ministat"))) if not there]
    if missing:
        print("Left out, not installed: %s." % ", ".join(missing))
    print()


def plain_files(args, folder, rng):
    for n in (30, 1000, args.largest):
        a, b = write_sets(folder, n, rng)
        timer, programs = Timer(), stats_programs(args.kab, a, b, n)
        interleave(timer, args.repeats, programs, rng)
        print("### Two files of %d values, process start included\n" % n)
        table(timer, programs, "kab stats")
        if not has_scipy():
            continue
        inside = [[float(x) for x in subprocess.run([sys.executable, "-c", PY_INSIDE, a, b], stdout=subprocess.PIPE,
                                                    check=True, text=True).stdout.split()]
                  for _ in range(args.repeats if n <= 1000 else 3)]
        middle = [number(statistics.median(x)) for x in zip(*inside)]
        print("Inside one Python process, without its start and without reading the files: description %s ms, "
              "`ttest_ind` %s ms, `mannwhitneyu` %s ms.\n" % tuple(middle))


def report_and_parse(args, folder, rng):
    db, csv = os.path.join(folder, "kab.db"), os.path.join(folder, "rows.csv")
    with open(csv, "w", encoding="ascii") as f:
        f.write("kernel,case,row,boot,iteration,metric,unit,direction,value\n")
        for row in range(50):
            for kernel in ("base", "patched"):
                for boot in range(5):
                    level = 100 + rng.gauss(0, 1)
                    f.writelines("%s,case,groups=%d,%d,%d,time,s,lower,%.4f\n" %
                                 (kernel, row + 1, boot + 1, i + 1, level + rng.gauss(0, 1)) for i in range(30))
    subprocess.run([args.kab, "--db", db, "import", "--csv", csv, "--name", "rows"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    timer = Timer()
    programs = {"kab report": [args.kab, "--db", db, "report", "rows"],
                "kab report --format json": [args.kab, "--db", db, "report", "rows", "--format", "json"],
                "kab parse hackbench": [args.kab, "parse", "hackbench", os.path.join(DATA, "hackbench-2.40-default.txt")],
                "kab parse stress-ng": [args.kab, "parse", "stress-ng",
                                        os.path.join(DATA, "stress-ng-0.15.06-metrics.txt")],
                "kab version": [args.kab, "version"], "sh -c true": ["sh", "-c", "true"]}
    interleave(timer, args.repeats, programs, rng)
    print("### Report of 50 rows x 2 kernels x 5 boots x 30 iterations from the database, and parsing\n")
    table(timer, programs, "kab report")


def bootstrap(args, folder, rng):
    if not has_scipy():
        return
    print("### 10 000 BCa resamples of a difference of means, inside the process\n")
    print("| values a side | kab, ms | scipy, ms | scipy by kab | intervals |")
    print("|---|---|---|---|---|")
    for n in (10, 30, 1000):
        a, b = write_sets(folder, n, rng)
        timer = Timer()
        for _ in range(args.repeats):
            own = timer.inside("kab", [args.bootstrap, a, b])
            other = timer.inside("scipy", [sys.executable, "-c", PY_BCA, a, b])
        kab, scipy = (statistics.median(timer.wall[x]) for x in ("kab", "scipy"))
        print("| %d | %s | %s | %.1f | [%.3f, %.3f], [%.3f, %.3f] |" %
              (n, number(kab), number(scipy), scipy / kab, own[1], own[2], other[1], other[2]))
    print()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--largest", type=int, default=1000000)
    parser.add_argument("kab")
    parser.add_argument("bootstrap")
    args = parser.parse_args()
    args.kab, args.bootstrap = os.path.abspath(args.kab), os.path.abspath(args.bootstrap)
    rng = random.Random(1)
    sys.stdout.reconfigure(line_buffering=True)
    machine()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        plain_files(args, folder, rng)
        report_and_parse(args, folder, rng)
        bootstrap(args, folder, rng)
    print("Load %s at the end; medians of %d interleaved repeats." %
          (" ".join("%.1f" % x for x in os.getloadavg()), args.repeats))


if __name__ == "__main__":
    main()
