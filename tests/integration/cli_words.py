# SPDX-License-Identifier: GPL-3.0-or-later
"""What commands say, and when they say nothing: plans, lists, refusals and advice."""
import json
import os
import re
import shutil
import subprocess

import e2e_lib as e2e


class Nothing(e2e.Case):
    """A run that came to nothing: one line that tells what to type, and no table."""

    def test_refused_lease(self):
        slow = self.suite([self.synthetic(sleep_s=60)], name="slow.json", repeat={"iterations": 1})
        holder = self.start("run", slow, "--kernel", "a=running", "--name", "holder")
        e2e.wait_for("the lease", lambda: self.lease_owner() != "-")
        r = self.kab("run", self.suite([self.synthetic(sd=0.1)]), "--kernel", "a=running", "--name", "late")
        self.assertEqual((r.status, r.out), (4, ""), r.err)
        said = [line for line in r.err.splitlines() if "late" in line and "steps on" not in line]
        self.assertEqual(len(said), 1, r.err)
        self.assertRegex(said[0], r"^kab: warning: host 'local' is held by \S+ for another .*kab resume late --wait SECONDS$")
        listed, = [line for line in self.kab("list").out.splitlines() if " late " in line]
        self.assertRegex(listed, r"0/3 .*\(nothing done yet\)$")
        leases = self.kab("hosts", "--leases", "local").out
        self.assertRegex(leases, r"^local: leased by \S+ \(run 'holder', suite 't'\) for another \d+ s")
        holder.terminate()
        holder.wait()

    def test_waits_for_a_boot(self):
        r = self.kab("run", self.suite([self.synthetic(sd=0.1)]), "--kernel", "a=running",
                     "--kernel", "b=release:0.0-none", "--iterations", "2", "--name", "w")
        self.assertEqual(r.status, 4)
        self.assertIn("boot kernel 'b'", r.err)
        self.assertIn("kab resume w", r.err)
        again = self.kab("resume", "w")
        self.assertEqual((again.status, again.out), (4, ""))
        self.assertIn("boot kernel 'b' (release:0.0-none), then: kab resume w", again.err)
        self.assertNotIn("nothing done", self.kab("list").out)
        # The one that was measured is not the baseline only because the baseline is missing.
        r = self.kab("run", self.suite([self.synthetic(sd=0.1)]), "--kernel", "b=release:0.0-none",
                     "--kernel", "a=running", "--iterations", "2", "--name", "x")
        self.assertRegex(r.out, r"(?m)^Kernels : test  a = ")


class Plans(e2e.Case):
    def test_noise_needs_boots(self):
        suite = self.suite([self.synthetic(mean=100)], repeat={"boots": 1, "iterations": 1})
        r = self.kab("run", suite, "--aa", "--name", "floor")
        self.assertEqual(r.status, 0, r.err)
        self.assertEqual(self.sql("SELECT count(DISTINCT block) FROM boot"), [(8,)])
        self.assertEqual(self.kab("run", suite, "--aa", "--boots", "2", "--name", "two").status, 0)
        self.assertEqual(self.sql("SELECT count(DISTINCT block) FROM boot JOIN run ON run.id = run_id "
                                  "WHERE name = 'two'"), [(2,)])
        more = self.suite([self.synthetic(mean=100)], name="more.json", repeat={"boots": 9, "iterations": 1})
        self.assertRegex(self.kab("run", more, "--aa", "--dry-run").out, r"\b9 (boots|restarts)")

    def test_plan_of_earlier_runs(self):
        """The newest run has one boot and says nothing; the one before it has three."""
        suite = self.suite([self.synthetic(mean=100, sd=3)], repeat={"boots": 3, "iterations": 1})
        self.assertIn(self.aa(suite, "--name", "three").status, (0, 5))
        self.assertEqual(self.aa(suite, "--name", "one", "--boots", "1").status, 0)
        r = self.kab("plan", suite, "--power", "5")
        self.assertEqual(r.status, 0, r.err)
        self.assertRegex(r.out, r"\(run 'three'\)")
        self.assertNotIn("unknown", r.out)
        self.assertIn("kab run %s --boots" % suite, r.out)
        tiny = self.kab("plan", suite, "--power", "0.01%")
        self.assertRegex(tiny.out, r"more than 1000 boots")
        self.assertIn("Not feasible on this host for 1 row:", tiny.out)
        self.assertNotIn("--boots", tiny.out)


class Advice(e2e.Case):
    def test_nearest_name(self):
        suite = self.suite([self.synthetic(sd=0.1)])
        os.mkdir(self.path("suites"))
        self.suite([self.synthetic(sd=0.1)], name="suites/quick-one.json")
        for words, near in ((["runners", "hackbnch"], "hackbench"), (["suites", "quick-on"], "quick-one"),
                            (["help", "runn"], "run"), (["run", suite, "--kernel", "a=runing"], "running"),
                            (["run", suite, "--kernel", "a=relase:6.1.0"], "release")):
            r = self.kab(*words, cwd=self.dir)
            self.assertIn(r.status, (2, 3), words)
            self.assertIn("did you mean '%s'?" % near, r.err)
        self.assertIn("see 'kab help'\n", self.kab("-x").err)
        self.assertIn("see 'kab run --help'", self.kab("run", "--zzzzzz").err)

    def test_suites_beside_the_program(self):
        """An installation that was moved, or staged elsewhere than where it was configured for."""
        os.makedirs(self.path("x/bin"))
        os.makedirs(self.path("x/share/kab/suites"))
        shutil.copy(e2e.KAB, self.path("x/bin/kab"))
        self.suite([self.synthetic(sd=0.1)], name="x/share/kab/suites/staged.json")
        r = subprocess.run([self.path("x/bin/kab"), "suites", "staged"], env=self.env, cwd=self.dir,
                           capture_output=True, text=True, check=False)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertEqual(r.stdout.splitlines()[-1], "  s (synthetic)")
        self.assertIn("0 warm-ups", r.stdout)
        self.assertEqual(self.kab("suites", "staged", cwd=self.dir).status, 3)
        none = self.kab("suites", cwd=self.dir, env=dict(self.env, KAB_SUITES=self.path("mine")))
        if not none.out:
            self.assertRegex(none.err, r"no suites in %s, suites, " % re.escape(self.path("mine")))

    def test_what_is_not_there(self):
        """A first `kab list` is no error; a database or a suite that the user names should be there."""
        self.assertEqual(self.kab("list").status, 0)
        r = self.kab("--db", self.path("none.db"), "list")
        self.assertEqual((r.status, r.out), (3, ""))
        r = self.kab("run", ".", "--kernel", "a=running")
        self.assertEqual(r.status, 3)
        self.assertIn("'.' is a folder", r.err)
        self.assertEqual(self.kab("hosts", "--names").out, "local\n")

    def test_advice_for_one_value(self):
        """Files of numbers are not runs of kab: more values are wanted, not another run."""
        one, two = self.write("one", "1\n"), self.write("two", "2\n3\n")
        r = self.kab("stats", one, two)
        self.assertIn("One value has no spread", r.out)
        self.assertNotIn("kab run", r.out)

    def test_blocks(self):
        suite = self.suite([self.synthetic(sd=0.1)], repeat={"boots": 2, "iterations": 1})
        said = self.aa(suite).err
        self.assertRegex(said, r"(?m)^local: block 1 of 2 \(%s\)$" % re.escape(os.uname().release))
        self.assertRegex(said, r"(?m)^local: block 2 of 2 ")
        self.assertNotIn("restart", said)

    def test_host_is_named_once(self):
        lab = self.write("lab.json", json.dumps({"hosts": {"dead": {"ssh": "root@127.0.0.1", "port": 1}}}))
        r = self.kab("doctor", "--lab", lab)
        self.assertEqual(r.status, 4)
        line, = [line for line in r.out.splitlines() if "dead" in line]
        self.assertRegex(line, "^FIX   host 'dead'")
        self.assertEqual(line.count("host "), 1, line)
        r = self.kab("run", self.suite([self.synthetic(sd=0.1)]), "--lab", lab, "--host", "dead", "--kernel", "a=running")
        self.assertEqual(r.status, 4)
        self.assertEqual(r.err.count("host 'dead'"), 1, r.err)

    def test_doctor_sees_what_a_run_would_stumble_over(self):
        for host, text in (({"workdir": "/proc/nothing"}, "\"workdir\""),) + \
                (() if e2e.is_root() else (({"become": "sudo"}, "NOPASSWD"),)):
            self.standin("sudo", "echo a password is required >&2; exit 1")
            lab = self.write("lab.json", json.dumps({"hosts": {"local": host}}))
            r = self.kab("doctor", "--lab", lab)
            self.assertEqual(r.status, 4, r.out)
            self.assertRegex(r.out, r"(?m)^FIX   host 'local'.*" + re.escape(text))

    def test_kit_is_missing(self):
        self.standin("java", "exit 0")
        out = self.kab("runners", "--host", "local").out
        for runner in ("specjbb2005", "specjbb2015"):
            entry = out[out.index("\n" + runner + "\n"):].split("on local: ")[1].splitlines()[0]
            self.assertRegex(entry, "cannot run: (the kit is licensed|java is not installed)")


if __name__ == "__main__":
    e2e.main()
