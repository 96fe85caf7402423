#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Line coverage per folder, from a build with --coverage in which tests were run: coverage.py BUILD [SOURCE]."""
import collections
import json
import os
import subprocess
import sys


def main():
    build = os.path.abspath(sys.argv[1])
    root = os.path.abspath(sys.argv[2] if len(sys.argv) > 2 else os.path.dirname(os.path.dirname(__file__)))
    out = subprocess.run(["gcovr", "--root", root, "--object-directory", build, "--json-summary",
                          "--gcov-ignore-parse-errors", "--exclude", ".*/tests/.*", "--exclude", ".*/build.*/.*"],
                         cwd=build, check=True, capture_output=True, text=True).stdout
    lines, covered = collections.Counter(), collections.Counter()
    for f in json.loads(out)["files"]:
        folder = os.path.dirname(f["filename"])
        for name in (folder, "all"):
            lines[name] += f["line_total"]
            covered[name] += f["line_covered"]
    print("%-20s %7s %7s %6s" % ("folder", "lines", "run", "%"))
    for name in sorted(lines, key=lambda n: (n == "all", n)):
        print("%-20s %7d %7d %6.1f" % (name, lines[name], covered[name], 100 * covered[name] / max(1, lines[name])))


if __name__ == "__main__":
    main()
