#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""test_methods.py KAB [SCENARIO...]: kernels that are booted in other ways than by GRUB.

One emulated host; in each scenario two kernels, two boots of each, in random order, and a bad one.
"""
import sys

import labtest
from labtest import check
from test_faults import HOST, Faults


class Methods(Faults):
    def proven(self, name, boots):
        """Every boot of the run is another boot of the right kernel, with our mark where there is one."""
        rows = self.lab.boots(name)
        check(len(rows) == boots, rows)
        ids = set()
        for _, kernel, state, release, boot_id, cmdline, reason in rows:
            check(state == "done", "%s: %s (%s)" % (kernel, state, reason))
            check(release == {"base": self.base, "test": self.test}[kernel], "%s runs %s" % (kernel, release))
            ids.add(boot_id)
        check(len(ids) == boots, "a boot was counted twice: %s" % rows)
        return rows

    def kexec(self):
        """kexec -l and -e: proven, measured, and the extra command line is there."""
        lab = self.lab
        suite = lab.suite("kexec", repeat={"boots": 2, "iterations": 2})
        args = self.run_args(suite, "kexec", self.kernel("base", self.base),
                             self.kernel("test", self.test, "slub_debug=FZ"))
        result = lab.run(*args, status=0, lab=lab.lab_file(boot_method="kexec"))
        check([s for _, _, s in self.states("kexec")] == ["done"] * 8, result.err)
        for row in self.proven("kexec", 4):
            check(("slub_debug=FZ" in row[5]) == (row[1] == "test"), row)

    def kexec_panics(self):
        """Without firmware in between there is no known-good to fall back to but a power cycle."""
        self.lab.run("kernels", HOST, status=0)
        suite = self.lab.suite("kexec-panics")
        result = self.lab.run(*self.run_args(suite, "kexec-panics", self.kernel("base", self.base), self.kernel(
            "bad", self.test, "rdinit=/nonexistent root=/dev/none panic=0")), status=5,
            lab=self.lab.lab_file(boot_method="kexec", boot_deadline_s=120, boot_tries=1))
        check(result.said("panics: Kernel panic - not syncing"), result.err)
        check([s for k, _, s in self.states("kexec-panics") if k == "base"] == ["done"] * 2, result.err)
        check([s for k, _, s in self.states("kexec-panics") if k == "bad"] == ["missing"] * 2, result.err)


SCENARIOS = ["kexec", "kexec_panics"]


def main():
    args = sys.argv[1:]
    if not args or args[0].startswith("-") or set(args[1:]) - set(SCENARIOS):
        sys.exit(__doc__)
    with labtest.Lab(args[0], [HOST], life=7200) as lab:
        methods = Methods(lab)
        return labtest.main([(n, getattr(methods, n)) for n in args[1:] or SCENARIOS], [], methods.start_afresh)


if __name__ == "__main__":
    sys.exit(main())
