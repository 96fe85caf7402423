#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Of several ctest --output-junit files: what was skipped and why, what failed, and the sum in ctest's words.

again.xml beside one has what failed and was tried once more, alone. What then passed was disturbed by its
neighbours: it is named, and does not count as failed, unless a sanitizer complained the first time.
"""
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


def is_bad(case):
    return case.get("status") == "fail" or case.find("failure") is not None


def passed_alone(path, bad):
    """Names of what failed beside others only."""
    again = os.path.join(os.path.dirname(path), "again.xml")
    if not os.path.exists(again):
        return set()
    good = {c.get("name") for c in ElementTree.parse(again).getroot().findall("testcase")
            if not is_bad(c) and c.find("skipped") is None}
    return {c.get("name") for c in bad
            if c.get("name") in good and not re.search(r"Sanitizer|runtime error:", c.findtext("system-out") or "")}


def main():
    total, skipped, disturbed, failed = 0, [], [], []
    for path in sys.argv[1:]:
        build = os.path.basename(os.path.dirname(path))
        if not os.path.exists(path):
            failed.append(f"{build}: no tests were run")
            continue
        cases = ElementTree.parse(path).getroot().findall("testcase")
        bad = [c for c in cases if is_bad(c)]
        none = [c for c in cases if c.find("skipped") is not None and c not in bad]
        alone = passed_alone(path, bad)
        disturbed += [f"{build}: {name}" for name in sorted(alone)]
        bad = [c for c in bad if c.get("name") not in alone]
        total += len(cases)
        print(f"{build}: {len(cases) - len(bad) - len(none)} passed, {len(bad)} failed, {len(none)} skipped")
        skipped += [f"{build}: {c.get('name')}: {reason(c)}" for c in none]
        failed += [f"{build}: {c.get('name')}" for c in bad]
    for heading, lines in (("Skipped, with the reason:", skipped),
                           ("Failed beside other tests, passed alone:", disturbed), ("Failed:", failed)):
        if lines:
            print(heading)
        for line in lines:
            print(f"  {line}")
    percent = 100 if not failed else min(99, 100 * (total - len(failed)) // total if total else 0)
    print(f"\n{percent}% tests passed, {len(failed)} tests failed out of {total}")
    return 1 if failed or not total else 0


if __name__ == "__main__":
    sys.exit(main())
