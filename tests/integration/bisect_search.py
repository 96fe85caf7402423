# SPDX-License-Identifier: GPL-3.0-or-later
"""A search through a real repository on a server that is rebooted: its commits hold the number that
says under which of two kernel releases the benchmark runs, and under one of them it is slower."""
import os
import signal
import subprocess
import time

import e2e_lib as e2e
import nightly_lib
from nightly_lib import NEW, OLD

COMMITS = 16
CULPRIT = 11
BROKEN = 4
HOOK = """#!/bin/sh
# What is in the commit decides; nothing is built here, and the work tree is left alone.
word=$(git show "$2:kernel") || exit 1
case $word in
broken) echo "missing symbol" >&2; exit 125 ;;
*) echo "{\\"spec\\": \\"release:$word\\"}" ;;
esac
echo "$2" >>"$1"
"""


class Bisect(nightly_lib.Night):
    def setUp(self):
        super().setUp()
        self.hosts_up("one")
        self.suite([self.slower_under_old(pct=20)], repeat={"boots": 4, "iterations": 1})
        self.write("hook", HOOK, 0o755)
        self.repo = self.path("repo")
        os.mkdir(self.repo)
        self.git("init", "-q", ".")
        self.git("config", "user.name", "t")
        self.git("config", "user.email", "t@example.test")
        self.revisions = []
        for i in range(COMMITS + 1):
            word = "broken" if i == BROKEN else OLD if i >= CULPRIT else NEW
            with open(self.repo + "/kernel", "w", encoding="ascii") as f:
                f.write(word + "\n")
            with open(self.repo + "/number", "w", encoding="ascii") as f:
                f.write("%d\n" % i)
            self.git("add", ".")
            self.git("commit", "-q", "-m", "number %d" % i)
            self.revisions.append(self.git("rev-parse", "HEAD").strip())

    def git(self, *words, check=True):
        done = subprocess.run(["git", "-C", self.repo] + list(words), capture_output=True, text=True, env=self.env,
                              check=False)
        if check:
            self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def words(self):
        return [self.path("suite.json"), "--lab", self.path("lab.json"), "--host", "one", "--repo", self.repo,
                "--good", "HEAD~%d" % COMMITS if not os.path.exists(self.repo + "/.git/BISECT_LOG") else
                self.revisions[0], "--bad", self.revisions[-1], "--build", self.path("hook"), "--build-arg",
                self.path("built"), "--boots", "4", "--seed", "7"]

    def built(self):
        with open(self.path("built"), encoding="ascii") as f:
            return f.read().split()

    def test_finds_the_commit_although_it_is_killed(self):
        p = self.start("bisect", *self.words())
        # Somewhere in the second step.
        e2e.wait_for("a second step", lambda: os.path.exists(self.path("built")) and len(self.built()) >= 4, process=p)
        time.sleep(0.5)
        os.killpg(p.pid, signal.SIGKILL)
        p.communicate()
        done = len(self.sql("SELECT 1 FROM bisect_run WHERE done"))
        self.assertGreaterEqual(done, 1)
        r = self.kab("bisect", "--resume", "--lab", self.path("lab.json"), timeout=240)
        self.assertEqual(r.status, 0, r.err + r.out)
        self.assertIn("%s is the first commit with the change" % self.revisions[CULPRIT], r.out)
        self.assertRegex(r.out, r"against its parent %s: regressed -(19|20)\.\d" % self.revisions[CULPRIT - 1][:12])
        # No revision was built twice, none was measured in two runs at once, and the lab is as it was.
        self.assertEqual(len(set(self.built())), len(self.built()))
        self.assertEqual(self.sql("SELECT count(*) FROM bisect_run WHERE NOT done"), [(0,)])
        self.assertEqual(self.git("status", "--porcelain"), "")
        self.assert_hosts_clean()
        # It is over: nothing is measured again.
        runs = self.sql("SELECT count(*) FROM run")
        self.assertEqual(self.kab("bisect", "--resume", "--lab", self.path("lab.json")).out, r.out)
        self.assertEqual(self.sql("SELECT count(*) FROM run"), runs)

    def test_steps_for_git(self):
        self.git("bisect", "start")
        self.git("bisect", "bad", self.revisions[-1])
        self.git("bisect", "good", self.revisions[0])
        out = self.git("bisect", "run", e2e.KAB, "bisect", *self.words(), "--step", "--name", "steps")
        self.assertIn("%s is the first bad commit" % self.revisions[CULPRIT], out)
        self.assertIn("bad %s: +" % self.revisions[CULPRIT][:12], out)
        # A commit that cannot be built, an answer that is known, a lab that is broken, a typing error.
        for revision, status in ((BROKEN, 125), (CULPRIT, 1), (CULPRIT - 1, 0)):
            self.git("checkout", "-q", self.revisions[revision])
            r = self.kab("bisect", *self.words(), "--step", "--name", "steps")
            self.assertEqual(r.status, status, r.err + r.out)
        self.git("checkout", "-q", self.revisions[2])
        for h in self.hosts:
            h.stop()
        r = self.kab("bisect", *self.words(), "--step", "--name", "steps")
        self.assertEqual(r.status, 128, r.err + r.out)
        self.hosts.clear()
        self.assertEqual(self.kab("bisect", "--step", "--typo").status, 128)

    def test_refuses_without_a_change(self):
        words = self.words()
        words[words.index("--bad") + 1] = self.revisions[CULPRIT - 1]
        words[words.index("--good") + 1] = self.revisions[0]
        r = self.kab("bisect", *words)
        self.assertEqual(r.status, 3, r.err + r.out)
        self.assertIn("refused: the end points show no change to search for", r.out)
        self.assertEqual(len(self.built()), 2)
        r = self.kab("bisect", *words)
        self.assertEqual(r.status, 3)
        self.assertIn("there is a bisection 'bisect' already", r.err)

    def test_says_at_once_what_is_not_there(self):
        """Nothing is built, measured or stored for a search that cannot be."""
        bare = self.words()
        at = bare.index("--build") + 1
        for words, said in (
                (["--case", "benhc"], "no case 'benhc' in suite 't'; did you mean 'bench'?; there is: bench"),
                (["--metric", "vale"], "no metric 'vale' in suite 't'; did you mean 'value'?; there is: value, "),
                (["--build", self.path("none")], "the hook '%s' is not there" % self.path("none")),
                (["--build", self.path("suite.json")], "the hook '%s' is not executable" % self.path("suite.json"))):
            r = self.kab("bisect", *bare, *words)
            self.assertEqual(r.status, 3, r.err)
            self.assertIn(said, r.err)
            self.assertEqual(self.kab("bisect", *bare, *words, "--step").status, 128)
        r = self.kab("bisect", "--resume", "nope")
        self.assertEqual(r.status, 3, r.err)
        self.assertIn("there is no bisection 'nope'", r.err)
        self.assertNotIn("go on with", r.err)
        self.assertFalse(os.path.exists(self.path("built")))

        # Another hook, whose path is one of the current folder; nothing else can be changed.
        self.write("false", "#!/bin/sh\nexit 7\n", 0o755)
        here = ["suite.json"] + bare[1:at] + ["./false"] + bare[at + 1:]
        here[here.index("--repo") + 1] = "repo"
        r = self.kab("bisect", *here, "--case", "bench", "--metric", "value", cwd=self.dir)
        self.assertEqual(r.status, 4, r.err)
        self.assertIn("hook '%s' ended with status 7" % self.path("false"), r.err)
        self.assertIn("go on with: kab bisect --resume bisect", r.err)
        self.assertEqual(self.kab("bisect", "--resume", "bisect", "--boots", "5").status, 2)
        self.assertEqual(self.kab("bisect", "--resume", "bisect", "--build", "/none").status, 3)
        self.write("false8", "#!/bin/sh\nexit 8\n", 0o755)
        r = self.kab("bisect", "--resume", "bisect", "--build", "./false8", "--lab", self.path("lab.json"), cwd=self.dir)
        self.assertEqual(r.status, 4, r.err)
        self.assertIn("the hook is now: %s %s" % (self.path("false8"), self.path("built")), r.err)
        self.assertIn("hook '%s' ended with status 8" % self.path("false8"), r.err)
        # Gone on with from another folder: paths that were given in the first one still lead there.
        r = self.kab("bisect", "--resume", "bisect", "--lab", self.path("lab.json"), cwd="/")
        self.assertEqual(r.status, 4, r.err)
        self.assertIn("hook '%s' ended with status 8" % self.path("false8"), r.err)
        r = self.kab("bisect", "--resume", "nope")
        self.assertIn("there is: bisect", r.err)

        r = self.kab("bisect", *bare)
        self.assertEqual(r.status, 3, r.err)
        for way in ("--resume bisect", "--name", "--delete bisect"):
            self.assertIn(way, r.err)
        self.assertEqual(self.kab("bisect", "--delete", "bisect").status, 2)
        self.assertEqual(self.sql("SELECT count(*) FROM bisect"), [(1,)])
        self.assertEqual(self.kab("bisect", "--delete", "bisect", "--yes").status, 0)
        self.assertEqual(self.sql("SELECT count(*) FROM bisect"), [(0,)])


if __name__ == "__main__":
    e2e.main()
