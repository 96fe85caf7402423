#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fresh random samples through our statistics and through numpy, scipy and (if installed) R.

usage: cross_check.py DRIVER [SEED]

Exit 0: all agree; 1: a difference, with the seed that shows it again; 77: numpy or scipy is missing.
"""
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import scipy.stats as ss
except ImportError as why:
    print(f"skipped: {why} (Debian packages python3-numpy and python3-scipy)")
    sys.exit(77)

PCT = (1, 5, 25, 50, 75, 90, 95, 99)
NUMPY_METHODS = {"1": "inverted_cdf", "6": "weibull", "7": "linear", "8": "median_unbiased"}
R_SCRIPT = r"""
con <- file(commandArgs(TRUE)[1], "r")
num <- function(v) cat(format(v, digits = 17, scientific = TRUE, trim = TRUE), "")
while (length(line <- readLines(con, 2)) == 2) {
  a <- as.numeric(strsplit(line[1], " ")[[1]])
  b <- as.numeric(strsplit(line[2], " ")[[1]])
  w <- t.test(b, a)
  num(c(w$statistic, w$parameter, w$p.value, sd(a), mad(b, constant = 1)))
  ties <- anyDuplicated(c(a, b)) > 0
  exact <- !ties && length(a) < 50 && length(b) < 50
  u <- suppressWarnings(wilcox.test(b, a, exact = exact, correct = TRUE, conf.int = exact))
  num(c(u$statistic, u$p.value))
  num(if (exact) c(u$estimate, u$conf.int) else c(NaN, NaN, NaN))
  for (type in c(1, 6, 7, 8)) num(quantile(a, c(1, 5, 25, 50, 75, 90, 95, 99) / 100, type = type))
  cat("\n")
}
"""


class Check:
    def __init__(self):
        self.compared = 0
        self.failures = []

    def near(self, what, ours, theirs, rel=1e-9, abs_tol=0.0):
        self.compared += 1
        if theirs is None or (isinstance(theirs, float) and math.isnan(theirs)):
            if ours is not None:
                self.failures.append(f"{what}: undefined there, {ours!r} here")
            return
        if ours is None or not abs(ours - theirs) <= rel * abs(theirs) + abs_tol:
            self.failures.append(f"{what}: {ours!r} here, {theirs!r} there")


def samples(rng):
    """Pairs of many shapes and sizes; every one has some spread on both sides."""
    makers = (
        lambda n: rng.normal(100, 3, n),
        lambda n: np.exp(rng.normal(2, 0.4, n)),
        lambda n: 50 * (1 + 0.1 * rng.pareto(2.5, n)),
        lambda n: 100 + rng.standard_t(3, n),
        lambda n: np.round(rng.normal(20, 2, n)),
        lambda n: 1e-6 * rng.gamma(3, 1, n),
        lambda n: 1e9 + rng.normal(0, 1, n),
        lambda n: rng.normal(0, 1, n),
    )
    pairs = []
    for i in range(240):
        make = makers[i % len(makers)]
        na, nb = (int(rng.integers(2, 15)), int(rng.integers(2, 15)))
        if i % 6 == 0:
            na, nb = int(rng.integers(2, 50)), int(rng.integers(2, 50))
        if i % 24 == 5:
            na, nb = int(rng.integers(60, 400)), int(rng.integers(60, 400))
        a, b = make(na), make(nb) * (1 + 0.05 * rng.random())
        if i % 8 == 4:
            b = np.round(b)
        if len(set(a)) > 1 and len(set(b)) > 1:
            pairs.append((a.tolist(), b.tolist()))
    return pairs


def exact_rank(a, b):
    """Conditional distribution of the midrank sum, by adding one value at a time; exact integers."""
    ranks = [int(round(2 * r)) for r in ss.rankdata(a + b)]
    ways = [dict() for _ in range(len(a) + 1)]
    ways[0][0] = 1
    for r in ranks:
        for k in range(len(a), 0, -1):
            for s, c in ways[k - 1].items():
                ways[k][s + r] = ways[k].get(s + r, 0) + c
    seen, total = sum(ranks[: len(a)]), math.comb(len(ranks), len(a))
    low = sum(c for s, c in ways[len(a)].items() if s <= seen)
    high = sum(c for s, c in ways[len(a)].items() if s >= seen)
    return min(1.0, 2 * min(low, high) / total)


def check_numpy(c, tag, d, x):
    scale = max(abs(v) for v in x)
    c.near(tag + " mean", d["mean"], math.fsum(x) / len(x), 1e-15, 1e-15 * scale)
    c.near(tag + " sd", d["sd"], float(np.std(x, ddof=1)), 1e-12, 1e-15 * scale)
    c.near(tag + " mad", d["mad"], float(ss.median_abs_deviation(x)), 1e-12, 1e-15 * scale)
    half = ss.t.ppf(0.975, len(x) - 1) * np.std(x, ddof=1) / math.sqrt(len(x))
    c.near(tag + " ci", d["ci95"][1], float(np.mean(x) + half), 1e-12, 1e-8 * half)
    for t, method in NUMPY_METHODS.items():
        # 99/100 is not a double: at a step of type 1 numpy may land on the neighbour
        if t == "1":
            s = sorted(x)
            want = [s[max(1, -(-len(s) * p // 100)) - 1] for p in PCT]
        else:
            want = np.quantile(x, [p / 100 for p in PCT], method=method)
        for ours, theirs, p in zip(d["quantiles"][t], want, PCT):
            c.near(f"{tag} quantile {p} type {t}", ours, float(theirs), 1e-12, 1e-14 * scale)


def check_scipy(c, tag, r, a, b):
    w = ss.ttest_ind(b, a, equal_var=False)
    x, y = np.array(a), np.array(b)
    va, vb = x.var(ddof=1) / len(x), y.var(ddof=1) / len(y)
    df = (va + vb) ** 2 / (va**2 / (len(x) - 1) + vb**2 / (len(y) - 1))
    noise = 1e-13 * abs(x.mean()) / math.sqrt(va + vb)
    c.near(tag + " t", r["t"], float(w.statistic), 1e-9, noise)
    c.near(tag + " df", r["df"], float(df))
    c.near(tag + " p", r["p"], float(w.pvalue), 1e-8 + 10 * noise)
    q = ss.t.ppf(0.975, df)
    c.near(tag + " ci", r["ci"][0], float(y.mean() - x.mean() - q * math.sqrt(va + vb)), 1e-8,
           1e-8 * math.sqrt(va + vb) + 1e-13 * abs(x.mean()))
    if min(a) > 0 and min(b) > 0:
        ua, ub = va / x.mean() ** 2, vb / y.mean() ** 2
        d, se = math.log(y.mean() / x.mean()), math.sqrt(ua + ub)
        ldf = (ua + ub) ** 2 / (ua**2 / (len(x) - 1) + ub**2 / (len(y) - 1))
        h = ss.t.ppf(0.975, ldf) * se
        c.near(tag + " log t", r["log_t"], d / se, 1e-8, 1e-13 / se)
        c.near(tag + " log df", r["log_df"], ldf)
        c.near(tag + " log p", r["log_p"], float(2 * ss.t.sf(abs(d / se), ldf)), 1e-7 + 1e-12 / se)
        # An error of the exponent, which has the digits of the t quantile, is a relative one here.
        c.near(tag + " log ci", r["log_ci"][0], math.exp(d - h), 1e-8 * max(1, h))
        g, m = q * q * ua, y.mean() / x.mean()
        if g < 0.9:  # beyond, the bound magnifies the last digits of the t quantile
            root = q * math.sqrt(vb / x.mean() ** 2 * (1 - g) + m * m * ua)
            c.near(tag + " fieller", r["fieller_ci"][1], float((m + root) / (1 - g)), 1e-7)
        lw = ss.ttest_ind(np.log(b), np.log(a), equal_var=False)
        c.near(tag + " geo p", r["geo_p"], float(lw.pvalue), 1e-6 + 1e-12 / se)
    u = ss.mannwhitneyu(b, a, method="asymptotic")
    c.near(tag + " u", r["u"], float(u.statistic), 1e-14)
    c.near(tag + " u normal", r["u_p_normal"], float(u.pvalue), 1e-9)
    if r["u_exact"] and len(a) + len(b) <= 40:
        c.near(tag + " u exact", r["u_p"], exact_rank(a, b), 1e-12)
    diffs = np.subtract.outer(np.array(b), np.array(a)).ravel()
    c.near(tag + " shift", r["shift"], float(np.median(diffs)), 1e-12, 1e-15 * max(map(abs, a)))


def check_r(c, pairs, results):
    with tempfile.TemporaryDirectory() as d:
        data, script = os.path.join(d, "data"), os.path.join(d, "check.R")
        with open(data, "w") as f:
            for a, b in pairs:
                f.write(" ".join(map(repr, a)) + "\n" + " ".join(map(repr, b)) + "\n")
        with open(script, "w") as f:
            f.write(R_SCRIPT)
        out = subprocess.run(["Rscript", "--vanilla", script, data], capture_output=True, text=True,
                             timeout=100)
    if out.returncode:
        c.failures.append("R: " + out.stderr.strip()[-300:])
        return
    lines = out.stdout.splitlines()
    if len(lines) != len(pairs):
        c.failures.append(f"R: {len(lines)} lines for {len(pairs)} pairs")
        return
    for k, (line, (a, b), r) in enumerate(zip(lines, pairs, results)):
        v, tag = [float(x) for x in line.split()], f"R pair {k} ({len(a)}, {len(b)})"
        scale = max(map(abs, a + b))
        noise = 1e-13 * scale / (abs(v[3]) + 1e-300)
        c.near(tag + " t", r["t"], v[0], 1e-8, noise)
        c.near(tag + " df", r["df"], v[1], 1e-8)
        c.near(tag + " p", r["p"], v[2], 1e-7 + 10 * noise)
        c.near(tag + " sd", r["a"]["sd"], v[3], 1e-11, 1e-15 * scale)
        c.near(tag + " mad", r["b"]["mad"], v[4], 1e-11, 1e-14 * scale)
        c.near(tag + " u", r["u"], v[5], 1e-12)
        if not math.isnan(v[7]):
            c.near(tag + " u exact", r["u_p"], v[6], 1e-9)
            c.near(tag + " shift", r["shift"], v[7], 1e-10, 1e-14 * scale)
            c.near(tag + " shift lo", r["shift_ci"][0], v[8], 1e-10, 1e-14 * scale)
            c.near(tag + " shift hi", r["shift_ci"][1], v[9], 1e-10, 1e-14 * scale)
        else:
            c.near(tag + " u normal", r["u_p_normal"], v[6], 1e-8)
        at = 10
        for t in ("1", "6", "7", "8"):
            for ours, theirs in zip(r["a"]["quantiles"][t], v[at : at + 8]):
                c.near(f"{tag} quantile type {t}", ours, theirs, 1e-10, 1e-13 * scale)
            at += 8


def main():
    driver = sys.argv[1]
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int.from_bytes(os.urandom(4), "little")
    pairs = samples(np.random.default_rng(seed))
    out = subprocess.run([driver], input=json.dumps(pairs), capture_output=True, text=True, check=True)
    results, c = json.loads(out.stdout), Check()
    for k, (r, (a, b)) in enumerate(zip(results, pairs)):
        tag = f"pair {k} ({len(a)}, {len(b)})"
        check_numpy(c, tag + " a", r["a"], a)
        check_numpy(c, tag + " b", r["b"], b)
        check_scipy(c, tag, r, a, b)
    with_r = shutil.which("Rscript")
    if with_r:
        check_r(c, pairs, results)
    for line in c.failures[:20]:
        print(line)
    print(f"seed {seed}: {len(pairs)} pairs, {c.compared} numbers against numpy {np.__version__}, scipy"
          f"{' and R' if with_r else ' (Rscript not found: R left out)'}, {len(c.failures)} differ")
    return 1 if c.failures else 0


if __name__ == "__main__":
    sys.exit(main())
