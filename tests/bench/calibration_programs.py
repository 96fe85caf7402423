#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The calibration data through ministat and R, as programs.

usage: calibration_programs.py CALIBRATION [TRIALS]

Prints one row per design: percent flagged without a change / with a true change of 2 %.
ministat sees all iterations as one sample, as it would in use; R is shown both on all iterations and
on boot means, where it must agree with kab.
"""
import os
import shutil
import subprocess
import sys
import tempfile

R_SCRIPT = r"""
con <- file(commandArgs(TRUE)[1], "r")
while (length(l <- readLines(con, 3)) == 3) {
  k <- as.numeric(strsplit(l[1], " ")[[1]][1])
  a <- as.numeric(strsplit(l[2], " ")[[1]]); b <- as.numeric(strsplit(l[3], " ")[[1]])
  am <- colMeans(matrix(a, ncol = k)); bm <- colMeans(matrix(b, ncol = k))
  cat(t.test(b, a)$p.value < 0.05, suppressWarnings(wilcox.test(b, a)$p.value) < 0.05,
      t.test(log(bm), log(am))$p.value < 0.05, "\n")
}
"""


def ministat(folder, a, b):
    names = [os.path.join(folder, n) for n in "ab"]
    for name, line in zip(names, (a, b)):
        with open(name, "w") as f:
            f.write(line.replace(" ", "\n"))
    # -A: the test without the picture; ministat wants at least three values
    out = subprocess.run(["ministat", "-A", *names], capture_output=True, text=True)
    if "ifference" not in out.stdout:
        raise SystemExit("ministat printed no test: " + (out.stderr or out.stdout))
    return "Difference at 95" in out.stdout


def main():
    for tool in ("ministat", "Rscript"):
        if not shutil.which(tool):
            print(f"skipped: {tool} is not installed (Debian packages ministat, r-base-core)")
            return 77
    trials = sys.argv[2] if len(sys.argv) > 2 else "200"
    out = subprocess.run([sys.argv[1], "--dump", "--trials", trials], capture_output=True, text=True,
                         check=True).stdout
    lines = out.splitlines()
    sets = list(zip(lines[0::3], lines[1::3], lines[2::3]))
    seen = {}
    with tempfile.TemporaryDirectory() as folder:
        data, script = os.path.join(folder, "data"), os.path.join(folder, "r.R")
        with open(data, "w") as f:
            f.write(out)
        with open(script, "w") as f:
            f.write(R_SCRIPT)
        r = subprocess.run(["Rscript", "--vanilla", script, data], capture_output=True, text=True, check=True)
        for (head, a, b), verdict in zip(sets, r.stdout.splitlines()):
            *design, factor, ours = head.split(" ")
            flags = [ministat(folder, a, b)] + [w == "TRUE" for w in verdict.split()] + [ours == "1"]
            cell = seen.setdefault(" ".join(design), {}).setdefault(factor, [])
            cell.append(flags)
    print(f"{trials} data sets per figure")
    print("| boots, iterations, sd ratio, effects | ministat | R t.test, pooled | R wilcox.test, pooled | R t.test, "
          "log boot means | kab |\n|---|---|---|---|---|---|")
    for design, factors in seen.items():
        share = [[100 * sum(col) / len(col) for col in zip(*factors[f])] for f in ("1", "1.02")]
        print(f"| {design} | " + " | ".join(f"{x:.1f} / {y:.0f}" for x, y in zip(*share)) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
