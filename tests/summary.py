#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Of several ctest --output-junit files: what was skipped and why, what failed, and the sum in ctest's words."""
import os
import re
import sys
import xml.etree.ElementTree as ElementTree


def reason(case):
    """The line of its output that says why, else its last line."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", case.findtext("system-out") or "")
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    for line in lines:
        m = re.match(r"skip(?:ped|ping)?\b:?\s*(.*)", line, re.I)
        if m and m.group(1):
            return m.group(1)
    return lines[-1] if lines else "no reason given"


def main():
    total, skipped, failed = 0, [], []
    for path in sys.argv[1:]:
        build = os.path.basename(os.path.dirname(path))
        if not os.path.exists(path):
            failed.append(f"{build}: no tests were run")
            continue
        cases = ElementTree.parse(path).getroot().findall("testcase")
        bad = [c for c in cases if c.get("status") == "fail" or c.find("failure") is not None]
        none = [c for c in cases if c.find("skipped") is not None and c not in bad]
        total += len(cases)
        print(f"{build}: {len(cases) - len(bad) - len(none)} passed, {len(bad)} failed, {len(none)} skipped")
        skipped += [f"{build}: {c.get('name')}: {reason(c)}" for c in none]
        failed += [f"{build}: {c.get('name')}" for c in bad]
    for heading, lines in (("Skipped, with the reason:", skipped), ("Failed:", failed)):
        if lines:
            print(heading)
        for line in lines:
            print(f"  {line}")
    percent = 100 if not failed else min(99, 100 * (total - len(failed)) // total if total else 0)
    print(f"\n{percent}% tests passed, {len(failed)} tests failed out of {total}")
    return 1 if failed or not total else 0


if __name__ == "__main__":
    sys.exit(main())
