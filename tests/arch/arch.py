#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of the source tree. arch.py --root DIR [--kab FILE] [--build DIR] CHECK...

Prints one line for each finding, and exits with 1 when there are any, 77 when a tool is missing."""
import argparse
import shutil
import sys

import check_compile
import check_layers
import check_tables
import check_text
from tree import Tree

CHECKS = {**check_layers.CHECKS, **check_text.CHECKS, **check_tables.CHECKS, **check_compile.CHECKS}
NEEDS = {"style": ["clang-format-14"], "shells": ["shellcheck", "dash"], "manual": ["mandoc"], "clang": ["clang-14"],
         "headers": ["gcc", "pkg-config"], "globals": ["nm"]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", required=True)
    parser.add_argument("--kab")
    parser.add_argument("--build")
    parser.add_argument("--only", help="look at files that match this regular expression")
    parser.add_argument("checks", nargs="+", choices=sorted(CHECKS))
    args = parser.parse_args()
    failed = False
    for name in args.checks:
        missing = [t for t in NEEDS.get(name, []) if not shutil.which(t)]
        if missing:
            print(f"skipped: {', '.join(missing)} not installed")
            return 77
        tree = Tree(args.root, args.kab, args.build, args.only)
        CHECKS[name](tree)
        for line in tree.found:
            print(f"{name}: {line}")
        failed = failed or bool(tree.found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
