#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""test_faults.py KAB [--long] [SCENARIO...]: what goes wrong when kernels are booted.

One emulated host with two real kernels; each scenario breaks something and checks what kab says, its
exit status, and what the store holds. Without --long only those that tests/run.sh has the time for.
"""
import json
import os
import random
import signal
import sys
import time

import labtest
from labtest import Failed, check, record

HOST = "amd64"


class Faults:
    def __init__(self, lab):
        self.lab = lab
        self.base, self.test = lab.release(HOST, "baseline"), lab.release(HOST, "test")

    def kernel(self, label, release, cmdline=None):
        return ["--kernel", "%s=release:%s%s" % (label, release, ";cmdline=" + cmdline if cmdline else "")]

    def run_args(self, suite, name, *kernels):
        return ["run", suite, "--host", HOST, "--name", name, "--seed", "3"] + [w for k in kernels for w in k]

    def states(self, run):
        return [(k, i, s) for _, k, _, i, _, s, _ in self.lab.iterations(run)]

    def boot_id(self):
        return self.lab.guest(HOST, "cat /proc/sys/kernel/random/boot_id")

    def wrap(self, program, body):
        """Put a script in the place of a program of the guest; $real is the program."""
        lab = self.lab
        path = lab.guest(HOST, "command -v " + program)
        lab.guest(HOST, "[ -e {0}.real ] || mv {0} {0}.real; printf '%s\\n' '#!/bin/sh' 'real={0}.real' '{1}' "
                        ">{0}; chmod 755 {0}; sync".format(path, body.replace("'", "'\\''")))
        return path

    def at_reboot(self, commands):
        """Commands in the place of what restarts the guest. busybox takes its own reboot whatever is
        on PATH, so they go in one step earlier."""
        return self.wrap("setsid", 'case $* in *reboot*) exec busybox setsid sh -c "%s" ;; esac; '
                                   'exec busybox setsid "$@"' % commands)

    def unwrap(self, path):
        self.lab.guest(HOST, "mv {0}.real {0}; sync".format(path))

    def does_not_boot(self, name, words, bad, tries=1, deadline=60, base=True):
        """A run of a good and a bad kernel: the bad one is given up, the good one is measured."""
        lab = self.lab
        suite = lab.suite(name)
        kernels = ([self.kernel("good", self.base)] if base else []) + [bad]
        result = lab.run(*self.run_args(suite, name, *kernels), status=5,
                         lab=lab.lab_file(boot_deadline_s=deadline, boot_tries=tries))
        for word in words:
            check(result.said(word), "kab did not say '%s':\n%s" % (word, result.err))
        states = self.states(name)
        if base:
            check([s for k, _, s in states if k == "good"] == ["done"] * 2, states)
        check([s for k, _, s in states if k == "bad"] == ["missing"] * 2, states)
        for _, kernel, state, _, _, _, reason in lab.boots(name):
            check(state == ("done" if kernel == "good" else "failed"), "%s: %s" % (kernel, state))
            check(kernel == "good" or "does not boot on '%s'" % HOST in reason, reason)
        check("missing" in result.out, "the table does not say that results are missing:\n" + result.out)
        return result

    def start_afresh(self):
        """What failed may have left the host hung or leased: the next scenario is to have its own chance."""
        self.lab.power(HOST)
        self.lab.wait_guest(HOST)
        self.lab.guest(HOST, "rm -rf /var/tmp/kab-lease; for f in $(command -v setsid grub-editenv); do"
                             " [ ! -e $f.real ] || mv $f.real $f; done; sync")

    # ---- kernels that do not come up ----
    def panic_halted(self):
        """A kernel that panics and stays so (panic=0): nothing is waited for once the console shows it."""
        self.does_not_boot(
            "panic-halted", ["panics: Kernel panic - not syncing", "and halted, says its console; cycling its power"],
            self.kernel("bad", self.test, "rdinit=/nonexistent root=/dev/none panic=0"), deadline=300)
        check(any("Kernel panic" in text for _, text in self.lab.events("panic-halted", "console")),
              "the console was not kept")
        report = self.lab.run("export", "panic-halted", "--format", "kcidb", "--origin", "kab", status=0).out
        tests = {t["misc"]["kernel"]: t for t in json.loads(report)["tests"]}
        check({k: t["status"] for k, t in tests.items()} == {"good": "DONE", "bad": "MISS"}, report)
        check("number" not in tests["bad"], report)

    def panic_restarts(self):
        """A kernel that panics and restarts the host by itself after 30 s: back in the default kernel."""
        self.does_not_boot("panic-restarts", ["panics: Kernel panic - not syncing", "it came back with " + self.base],
                           self.kernel("bad", self.test, "rdinit=/nonexistent root=/dev/none"), deadline=300,
                           base=False)

    def hang(self):
        """A kernel that hangs in its initrd, without a panic: deadline, power cycle, known-good."""
        self.does_not_boot("hang", ["hangs: ", "cycling its power"],
                           self.kernel("bad", self.test, "lab.hang"), deadline=60)

    def no_network(self):
        """The kernel comes up, its network does not: told apart from a panic and from a hang."""
        self.does_not_boot("no-network", ["boots, not reachable"],
                           self.kernel("bad", self.test, "module_blacklist=virtio_net"), deadline=60, base=False)

    def two_command_lines(self):
        """One release with two command lines is two kernels, also when the host runs that release."""
        lab = self.lab
        suite = lab.suite("lines", repeat={"boots": 1, "iterations": 1})
        for name in ("lines", "again"):
            lab.run(*self.run_args(suite, name, self.kernel("plain", self.test),
                                   self.kernel("slow", self.test, "slub_debug=FZ")), status=0)
            lines = {k: c for _, k, _, _, _, c, _ in lab.boots(name)}
            check("slub_debug=FZ" in lines["slow"] and "slub_debug" not in lines["plain"], lines)

    # ---- the wrong kernel ----
    def read_back(self):
        """Something swallows the choice: what is read back differs, so there is no restart at all."""
        path = self.wrap("grub-editenv", 'case $* in *next_entry=*) exit 0 ;; esac; exec $real "$@"')
        before = self.boot_id()
        try:
            self.does_not_boot("read-back", ["next_entry was set to 'kab-oneshot' but reads ''; not rebooting"],
                               self.kernel("bad", self.test), base=False)
        finally:
            self.unwrap(path)
        check(self.boot_id() == before, "the host was restarted")

    def default_boots(self):
        """The choice is lost on the way down: the default kernel boots and is refused, twice."""
        path = self.at_reboot("sleep 1; grub-editenv - unset next_entry; sync; busybox reboot")
        try:
            result = self.does_not_boot(
                "default-boots", ["it came back with %s instead of %s" % (self.base, self.test), "try 2 of 2"],
                self.kernel("bad", self.test), tries=2, deadline=200, base=False)
        finally:
            self.unwrap(path)
        check(self.lab.rows("SELECT count(*) FROM sample s JOIN extraction x ON x.id = s.extraction_id JOIN iteration i"
                            " ON i.id = x.iteration_id JOIN run r ON r.id = i.run_id WHERE r.name = 'default-boots'") ==
              [(0,)], "a sample of the wrong kernel is in the store: " + result.out)

    def wrong_mark(self):
        """The default entry of the right release boots in place of ours: refused by the mark."""
        path = self.at_reboot("sleep 1; grub-editenv - unset next_entry; sync; busybox reboot")
        try:
            self.does_not_boot("wrong-mark", ["runs, but without our mark on its command line", "try 2 of 2"],
                               self.kernel("bad", self.base), tries=2, deadline=200, base=False)
        finally:
            self.unwrap(path)

    # ---- restarts that nobody ordered ----
    def reset(self):
        """The host is reset in the middle of iteration 2 of 3: lost, a new boot, nothing counted twice."""
        lab = self.lab
        suite = lab.suite("reset", {"params": {"sleep_s": 4}}, repeat={"boots": 1, "iterations": 3})
        child = lab.start(*self.run_args(suite, "reset", self.kernel("test", self.test)))
        lab.wait_said(child, "test #1: ")
        time.sleep(2.5)
        lab.power(HOST)
        result = lab.finish(child)
        check(result.status == 5, "exit status %d:\n%s" % (result.status, result.err))
        check(result.said("host rebooted during the iteration"), result.err)
        check("1 unexpected reboot of 'test'" in " ".join(result.out.split()), result.out)
        check(self.states("reset") == [("test", 1, "done"), ("test", 2, "failed"), ("test", 3, "done")],
              self.states("reset"))
        boots = lab.boots("reset")
        check([b[2] for b in boots] == ["broken", "done"] and boots[0][4] != boots[1][4] and
              {b[3] for b in boots} == {self.test}, boots)
        check(len(lab.events("reset", "unexpected-reboot")) == 1, lab.events("reset"))
        used = lab.rows("SELECT count(*), count(DISTINCT i.id) FROM sample s JOIN extraction x ON x.id ="
                        " s.extraction_id JOIN series m ON m.id = s.series_id JOIN iteration i ON i.id = x.iteration_id"
                        " JOIN run r ON r.id = i.run_id WHERE r.name = 'reset' AND m.metric = 'value'")
        check(used == [(2, 2)], used)
        shown = lab.run("show", "reset", status=0)
        check("unexpected-reboot" in shown.out, shown.out)
        env = lab.guest(HOST, "grub-editenv - list")
        check("kab_args=kab" not in env and "next_entry=kab" not in env, "a choice outlives the run: " + env)

    def killed_while_down(self):
        """kab is killed while the host restarts; resume goes on as if nothing had been."""
        lab = self.lab
        suite = lab.suite("killed")
        child = lab.start(*self.run_args(suite, "killed", self.kernel("test", self.test)))
        lab.wait_said(child, "booting 'test'")
        time.sleep(3)
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        record("(killed with SIGKILL after: %s)\n" % lab.said(child).strip().split("\n")[-1])
        result = lab.run("resume", "killed", status=0)
        check(self.states("killed") == [("test", 1, "done"), ("test", 2, "done")], self.states("killed"))
        check([b[2:4] for b in lab.boots("killed")] == [("done", self.test)], lab.boots("killed"))
        check(not result.said("failed"), result.err)

    def going_down(self):
        """sshd answers for 20 s while the host goes down: no step runs before the boot id has changed."""
        path = self.at_reboot("sleep 20; busybox reboot")
        try:
            lab = self.lab
            result = lab.run(*self.run_args(lab.suite("going-down"), "going-down", self.kernel("test", self.test)),
                             status=0)
        finally:
            self.unwrap(path)
        check(result.seconds > 25, "it went down in no time: %.0f s" % result.seconds)
        boots = lab.boots("going-down")
        check([b[2:4] for b in boots] == [("done", self.test)], boots)

    def power_cut(self):
        """The power goes within a second of the benchmark's end: each result is whole, or lost and said so."""
        lab, trials = self.lab, int(os.environ.get("LABTEST_TRIALS", "3"))
        chance = random.Random(1)
        suite = lab.suite("power-cut", {"params": {"sleep_s": 3}}, repeat={"boots": 1, "iterations": trials + 1})
        child = lab.start(*self.run_args(suite, "power-cut", self.kernel("test", self.test)))
        lab.wait_said(child, "kernel 'test'")
        for i in range(1, trials + 1):
            end = time.monotonic() + 300
            while not lab.rows("SELECT 1 FROM iteration i JOIN run r ON r.id = i.run_id WHERE r.name = 'power-cut' AND"
                               " i.iteration = ? AND i.state = 'running'", i):
                check(child.poll() is None and time.monotonic() < end, lab.said(child))
                time.sleep(0.05)
            time.sleep(3 + chance.uniform(0.0, 1.5))
            lab.power(HOST)
        result = lab.finish(child, 3600)
        states = self.states("power-cut")
        check(result.status in (0, 5) and len(states) == trials + 1, "%d: %s" % (result.status, states))
        check(all(s in ("done", "failed") for _, _, s in states), states)
        for iteration, state, n in lab.rows(
                "SELECT i.iteration, i.state, count(s.value) FROM iteration i JOIN run r ON r.id = i.run_id LEFT JOIN"
                " extraction x ON x.iteration_id = i.id LEFT JOIN sample s ON s.extraction_id = x.id AND s.series_id IN"
                " (SELECT id FROM series WHERE metric = 'value') WHERE r.name = 'power-cut' GROUP BY i.id"):
            check(n == (1 if state == "done" else 0), "iteration %d is %s with %d samples" % (iteration, state, n))
        lost = [reason for *_, state, reason in lab.iterations("power-cut") if state == "failed"]
        check(all("rebooted during the iteration" in reason for reason in lost), lost)
        print("  power cut %d times around the end: %d lost, %d whole" % (trials, len(lost), trials - len(lost)))

    # ---- without a restart: method none ----
    def quietly(self, name, suite, *args, wait=None):
        lab = self.lab
        return lab.start(*self.run_args(suite, name, ["--kernel", "now=running"]), *args,
                         lab=lab.lab_file(boot={"method": "none"}))

    def second_controller(self):
        """Another kab wants the host: refused with the owner's name, or it waits."""
        lab = self.lab
        long = lab.suite("first", {"params": {"sleep_s": 15}}, repeat={"boots": 1, "iterations": 2})
        first = self.quietly("first", long)
        lab.wait_said(first, "now #1: ")
        second = lab.finish(self.quietly("second", lab.suite("second")))
        check(second.status == 4 and second.said("is held by uid%d@" % os.getuid()), second.err)
        third = lab.finish(self.quietly("third", lab.suite("third"), "--wait", "120"))
        check(third.status == 0 and third.said("waiting: "), third.err)
        check(lab.finish(first).status == 0, "the first run suffered")
        times = [lab.rows("SELECT min(i.started_wall_ns), max(i.finished_wall_ns) FROM iteration i JOIN run r ON"
                          " r.id = i.run_id WHERE r.name = ?", name)[0] for name in ("first", "third")]
        check(times[1][0] > times[0][1], "two runs measured at the same time")

    def clock(self):
        """The host's clock is a year slow and jumps to the right time in the middle of an iteration."""
        lab = self.lab
        try:
            lab.guest(HOST, "date -s @$(($(date +%s) - 31536000))")
            suite = lab.suite("clock", {"params": {"sleep_s": 15}}, repeat={"boots": 1, "iterations": 1})
            child = self.quietly("clock", suite)
            lab.wait_said(child, "block 1 of 1")
            time.sleep(6)
            lab.guest(HOST, "date -s @$(($(date +%s) + 31536000))")
            other = lab.finish(self.quietly("clock-other", lab.suite("other")))
            check(other.status == 4 and other.said("is held by"), "the step expired the lease:\n" + other.err)
            result = lab.finish(child)
        finally:
            lab.guest(HOST, "date -s @%d" % time.time())
        check(result.status == 0 and result.said("s slow"), result.err)
        elapsed = lab.rows("SELECT elapsed_s FROM iteration i JOIN run r ON r.id = i.run_id"
                           " WHERE r.name = 'clock'")[0][0]
        check(14.9 < elapsed < 25, "elapsed %s s" % elapsed)
        check("wrong-clock" in [kind for kind, _ in lab.events("clock")], lab.events("clock"))

    def quiet(self):
        """Something else uses the CPU: policy refuse fails the iterations, policy wait waits for its end."""
        lab = self.lab
        lab.guest(HOST, "setsid timeout 45 sh -c 'while :; do :; done' >/dev/null 2>&1 </dev/null &")
        refused = lab.finish(self.quietly("refuse", lab.suite("refuse", quiet="refuse")))
        check(refused.status == 5 and refused.said("the host was not quiet: something else uses"), refused.err)
        waited = lab.finish(self.quietly("wait", lab.suite("wait", quiet={"policy": "wait", "wait_s": 120})))
        check(waited.status == 0, waited.err)


QUICK = ["second_controller", "read_back", "panic_halted", "reset", "killed_while_down"]
LONG = QUICK + ["two_command_lines", "panic_restarts", "hang", "no_network", "default_boots", "wrong_mark", "going_down", "power_cut",
                "clock", "quiet"]


def main():
    args = sys.argv[1:]
    names = QUICK
    if "--long" in args:
        args.remove("--long")
        names = LONG
    if not args or args[0].startswith("-") or set(args[1:]) - set(LONG):
        sys.exit(__doc__)
    names = args[1:] or names
    # Not busybox: its shell would take its own setsid in place of the script that stands in for it.
    with labtest.Lab(args[0], [HOST], "sh=dash", life=7200) as lab:
        faults = Faults(lab)
        return labtest.main([(n, getattr(faults, n)) for n in names], [], faults.start_afresh)


if __name__ == "__main__":
    sys.exit(main())
