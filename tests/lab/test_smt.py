#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""test_smt.py KAB: conditions that need two CPUs, on hosts with sibling threads.

amd64 has smt/control; ppc64le with 6.1 says 'notimplemented' there, so kab takes the siblings off line one by one.
"""
import sys

import labtest
from labtest import check

ARCHES = ["amd64", "ppc64le"]


def smt(lab, arch):
    """smt=on,off: half the CPUs while an iteration with SMT off runs, all of them afterwards."""
    name = "smt-" + arch
    suite = lab.suite(name, {"params": {"sleep_s": 8}}, repeat={"boots": 1, "iterations": 1})
    control = lab.guest(arch, "cat /sys/devices/system/cpu/smt/control 2>/dev/null; true")
    check(lab.guest(arch, "cat /sys/devices/system/cpu/online") == "0-1", "not all CPUs are there to begin with")
    child = lab.start("run", suite, "--host", arch, "--kernel", "now=running", "--condition", "smt=on,off",
                      "--name", name, "--seed", "1", lab=lab.lab_file(boot={"method": "none"}))
    lab.wait_said(child, "condition smt=off")
    seen = []
    while child.poll() is None:
        seen.append(lab.guest(arch, "cat /sys/devices/system/cpu/online", tolerant=True))
    result = lab.finish(child)
    check(result.status == 0, result.err)
    check("0" in seen, "%s: CPUs on line were %s" % (arch, seen))
    check(lab.guest(arch, "cat /sys/devices/system/cpu/online") == "0-1", "SMT was not turned on again")
    rows = lab.rows("SELECT i.condition, i.state FROM iteration i JOIN run r ON r.id = i.run_id WHERE r.name = ?"
                    " ORDER BY i.condition", name)
    check(rows == [("smt=off", "done"), ("smt=on", "done")], rows)
    print("  %s: smt/control says '%s'; CPUs seen on line: %s" % (arch, control, sorted(set(seen))))


def cpuset(lab):
    """cpuset=1: the benchmark alone on CPU 1 by cgroup v2, and nothing left of that afterwards."""
    arch = "amd64"
    groups = "find /sys/fs/cgroup -maxdepth 1 -type d | sort"
    before = lab.guest(arch, groups)
    suite = lab.suite("cpuset", {"params": {"sleep_s": 8}}, repeat={"boots": 1, "iterations": 1})
    child = lab.start("run", suite, "--host", arch, "--kernel", "now=running", "--condition", "cpuset=1",
                      "--name", "cpuset", "--seed", "1", lab=lab.lab_file(boot={"method": "none"}))
    lab.wait_said(child, "condition cpuset=1")
    allowed = set()
    while child.poll() is None:
        allowed |= set(lab.guest(arch, "for p in /proc/[0-9]*; do grep -q 'synthetic[.]sh' $p/cmdline && sed -n"
                                       " 's/^Cpus_allowed_list:.//p' $p/status; done 2>/dev/null; true").split())
    result = lab.finish(child)
    check(result.status == 0, result.err)
    check("1" in allowed, "the benchmark could use the CPUs %s" % sorted(allowed))
    check(lab.guest(arch, groups) == before, "a cgroup was left")


def cpuset_refused(lab):
    """cpuset=0-1: that is all of them, so nothing could be isolated; nothing is measured."""
    arch = "amd64"
    result = lab.run("run", lab.suite("cpuset-all"), "--host", arch, "--kernel", "now=running", "--condition",
                     "cpuset=0-1", "--name", "cpuset-all", lab=lab.lab_file(boot={"method": "none"}), status=4)
    check(result.said("cpuset=0-1"), result.err)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with labtest.Lab(sys.argv[1], ARCHES, "smp=2,threads=2") as lab:
        scenarios = [("smt-" + arch, lambda arch=arch: smt(lab, arch)) for arch in ARCHES]
        for _, function in scenarios:
            function.__doc__ = smt.__doc__
        for function in cpuset, cpuset_refused:
            scenarios.append((function.__name__, lambda function=function: function(lab)))
            scenarios[-1][1].__doc__ = function.__doc__
        return labtest.main(scenarios, sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
