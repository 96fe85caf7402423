#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""test_three.py KAB: one command, three architectures, two real kernels on each.

Every boot of every host is checked in the store: its own boot id, the exact release, our mark on the
command line; and the tables of all three hosts are there.
"""
import json
import sys
import time

import labtest
from labtest import check

ARCHES = ["amd64", "arm64", "ppc64le"]
BOOTS, ITERATIONS = 2, 3


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with labtest.Lab(sys.argv[1], ARCHES) as lab:
        suite = lab.write("three.json", {
            "name": "three", "repeat": {"boots": BOOTS, "iterations": ITERATIONS}, "quiet": "off",
            "cases": [{"name": "pipe", "runner": "hackbench",
                       "params": {"groups": 1, "fds": 10, "loops": 100}, "timeout_s": 300}]})
        args = ["run", suite, "--host", ",".join(ARCHES),
                "--kernel", "base=@" + lab.path("baseline.json"),
                "--kernel", "patched=@" + lab.path("test.json"), "--seed", "7", "--name", "three"]
        began = time.monotonic()
        result = lab.run(*args, status=0, timeout=1000)
        print(result.err + result.out)
        print("one command, three hosts, %d boots: %.0f s" % (3 * 2 * BOOTS, time.monotonic() - began))

        release = {(a, label): lab.release(a, role) for a in ARCHES
                   for label, role in (("base", "baseline"), ("patched", "test"))}
        boots = lab.boots("three")
        check(len(boots) == 3 * 2 * BOOTS, "%d boots are in the store" % len(boots))
        seen, nonces = set(), set()
        for host, kernel, state, running, boot_id, cmdline, reason in boots:
            check(state == "done", "%s %s: boot is %s: %s" % (host, kernel, state, reason))
            check(running == release[host, kernel], "%s %s ran %s" % (host, kernel, running))
            nonces |= {w for w in cmdline.split() if w.startswith("kab.nonce=")}
            seen.add(boot_id)
        check(len(seen) == len(boots), "a boot id was used twice")
        check(len(nonces) == len(boots), "a boot has no mark of its own on its command line")

        steps = lab.iterations("three")
        for arch in ARCHES:
            mine = [s for s in steps if s[0] == arch]
            check(len(mine) == 2 * BOOTS * ITERATIONS and all(s[5] == "done" for s in mine),
                  "%s: %s" % (arch, mine))
        check(lab.rows("SELECT count(*) FROM iteration i WHERE (SELECT count(*) FROM sample s JOIN"
                       " extraction x ON x.id = s.extraction_id WHERE x.iteration_id = i.id) = 0") == [(0,)],
              "an iteration has no samples")
        # Each block has every kernel once, in an order of its own.
        orders = {}
        for arch in ARCHES:
            kernels = [b[1] for b in boots if b[0] == arch]
            blocks = [tuple(kernels[i:i + 2]) for i in range(0, len(kernels), 2)]
            check(all(sorted(b) == ["base", "patched"] for b in blocks), "%s: %s" % (arch, kernels))
            orders[arch] = blocks
        print("order of the boots:", orders)
        check(len({o for blocks in orders.values() for o in blocks}) == 2,
              "all blocks have one order: %s" % orders)

        report = json.loads(lab.run("report", "three", "--format", "json", status=0).out)
        text = json.dumps(report)
        for arch in ARCHES:
            check(arch in text, "the report has no host " + arch)
        shown = lab.run("show", "three", status=0).out
        check(all(release[a, "patched"] in shown for a in ARCHES), "kab show has not all releases:\n" + shown)
        # The default is as it was, nothing is chosen for the next boot.
        for arch in ARCHES:
            env = lab.guest(arch, "grub-editenv - list")
            values = dict(line.split("=", 1) for line in env.split("\n") if "=" in line)
            check(not values.get("next_entry") and not values.get("kab_args"), "%s: %s" % (arch, env))
            check(release[arch, "base"] in values.get("saved_entry", ""), "%s lost its default: %s" % (arch, env))
        print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
