#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""test_target.py KAB [SCENARIO...]: benchmarks that take their host down, and machines that are suspended.

One emulated host; what would harm the machine that runs the tests happens inside it.
"""
import os
import signal
import sys
import time

import labtest
from labtest import check
from test_faults import HOST, Faults


class Target(Faults):
    def hackbench_is(self, once):
        """In the place of hackbench a script that does this the first time and hackbench from then on."""
        return self.wrap("hackbench", "case $* in *-g*) ;; *) exec $real \"$@\" ;; esac; "
                                      "[ -e /var/tmp/once ] || { >/var/tmp/once; sync; %s; }; exec $real \"$@\"" % once)

    def two_iterations(self, name, once, status, timeout_s=60, **entry):
        lab = self.lab
        path = self.hackbench_is(once)
        case = {"name": "h", "runner": "hackbench", "timeout_s": timeout_s,
                "params": {"groups": 1, "fds": 2, "loops": 50}}
        try:
            return lab.run(*self.run_args(lab.suite(name, case), name, self.kernel("test", self.test)), status=status,
                           lab=lab.lab_file(**entry))
        finally:
            self.unwrap(path)
            lab.guest(HOST, "rm -f /var/tmp/once")

    def reason(self, run):
        return [r for *_, state, r in self.lab.iterations(run) if state == "failed"]

    def out_of_memory(self):
        """The kernel kills the benchmark for want of memory: said so, and the next iteration is measured."""
        result = self.two_iterations("oom", "x=0123456789abcdef; while :; do x=$x$x; done", 5, timeout_s=240)
        check(self.states("oom") == [("test", 1, "failed"), ("test", 2, "done")], self.states("oom"))
        reason, = self.reason("oom")
        check("memory" in reason, reason)
        check("fail 1/2" in result.out, result.out)
        print("  " + reason)

    def fork_bomb(self):
        """A benchmark that forks without end: its time is over, it is ended or the host is restarted, and the next
        iteration is measured."""
        self.two_iterations("bomb", "b() { b | b & }; b; sleep 600", 5, timeout_s=30)
        states = self.states("bomb")
        check([s for _, _, s in states] == ["failed", "done"], states)
        print("  " + "; ".join(self.reason("bomb")))

    def hangs(self):
        """The kernel dies under the benchmark and stays so: its power is cycled, the iteration is lost, the next one
        is measured in a new boot of the same kernel."""
        lab = self.lab
        result = self.two_iterations("hangs", "echo 0 >/proc/sys/kernel/panic; echo c >/proc/sysrq-trigger; sleep 600",
                                     5, timeout_s=20, boot_deadline_s=120)
        check([s for _, _, s in self.states("hangs")] == ["failed", "done"], self.states("hangs"))
        check(result.said("its console shows a panic, past the end of the iteration; cycling its power"), result.err)
        reason, = self.reason("hangs")
        check("stopped answering" in reason, reason)
        check([b[2:4] for b in lab.boots("hangs")] == [("broken", self.test), ("done", self.test)], lab.boots("hangs"))
        check([text for _, text in lab.events("hangs", "power-cycle")] == ["the host panicked during an iteration"],
              lab.events("hangs"))
        check("1 hang with a power cycle of 'test'" in " ".join(result.out.split()), result.out)

    def suspended(self, name, stop, go, seconds):
        """Two iterations of 10 s; in the first, something is stopped for so long."""
        lab = self.lab
        suite = lab.suite(name, {"params": {"sleep_s": 10}, "timeout_s": 300}, repeat={"boots": 1, "iterations": 2})
        child = self.quietly(name, suite)
        lab.wait_said(child, "block 1 of 1")
        time.sleep(4)
        stop(child)
        time.sleep(seconds)
        go(child)
        result = lab.finish(child)
        check(result.status == 0, result.err)
        check([s for _, _, s in self.states(name)] == ["done", "done"], self.states(name))
        elapsed = [row[0] for row in lab.rows("SELECT elapsed_s FROM iteration i JOIN run r ON r.id = i.run_id"
                                              " WHERE r.name = ? ORDER BY i.sequence", name)]
        check(all(9.9 < s < 20 for s in elapsed), elapsed)
        return result

    def laptop_sleeps(self):
        """The controller is stopped for longer than three keepalives, the host goes on: fetched, not repeated."""
        self.suspended("laptop", lambda child: os.killpg(child.pid, signal.SIGSTOP),
                       lambda child: os.killpg(child.pid, signal.SIGCONT), 100)

    def host_sleeps(self):
        """The host is stopped for longer than three keepalives: its link is lost, the iteration is not."""
        result = self.suspended("host-sleeps", lambda _: self.lab.power(HOST, "stop"),
                                lambda _: self.lab.power(HOST, "cont"), 100)
        print("  " + (result.err.strip().split("\n") or [""])[-1])

    def clock_ahead(self):
        """The host's clock jumps a year ahead in the middle of an iteration."""
        lab = self.lab
        suite = lab.suite("ahead", {"params": {"sleep_s": 12}}, repeat={"boots": 1, "iterations": 2})
        child = self.quietly("ahead", suite)
        try:
            lab.wait_said(child, "block 1 of 1")
            time.sleep(5)
            lab.guest(HOST, "date -s @$(($(date +%s) + 31536000))")
            result = lab.finish(child)
        finally:
            lab.guest(HOST, "date -s @%d" % time.time())
        check(result.status == 0, result.err)
        check([s for _, _, s in self.states("ahead")] == ["done", "done"], self.states("ahead"))
        elapsed = [row[0] for row in lab.rows("SELECT elapsed_s FROM iteration i JOIN run r ON r.id = i.run_id"
                                              " WHERE r.name = 'ahead'")]
        check(all(11.9 < s < 22 for s in elapsed), elapsed)


SCENARIOS = ["out_of_memory", "fork_bomb", "hangs", "laptop_sleeps", "host_sleeps", "clock_ahead"]


def main():
    args = sys.argv[1:]
    if not args or args[0].startswith("-") or set(args[1:]) - set(SCENARIOS):
        sys.exit(__doc__)
    with labtest.Lab(args[0], [HOST], "sh=dash", life=7200) as lab:
        target = Target(lab)
        return labtest.main([(n, getattr(target, n)) for n in args[1:] or SCENARIOS], [], target.start_afresh)


if __name__ == "__main__":
    sys.exit(main())
