# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host has to be protected from: conditions that do not hold, two controllers at once, a
full disk of the controller, secrets in the open."""
import json
import os
import subprocess
import threading
import time
import unittest

import e2e_lib as e2e


class Conditions(e2e.Case):
    def setUp(self):
        super().setUp()
        self.knob = self.write("a knob", "old value\n")

    def read(self):
        with open(self.knob, encoding="ascii") as f:
            return f.read()

    def test_applied_while_it_runs_and_undone(self):
        seen = self.path("seen")
        case = self.synthetic(sleep_s=0.1)
        case["background"] = {"argv": ["sh", "-c", "cat '%s' >>'%s'; exec sleep 20"
                                       % (self.knob, seen)], "settle_s": 1}
        r = self.kab("run", self.suite([case], repeat={"iterations": 1}), "--kernel", "a=running",
                     "--condition", "file:%s=one,two words" % self.knob)
        self.assertEqual(r.status, 0, r.err)
        with open(seen, encoding="ascii") as f:
            self.assertEqual(sorted(f.read().splitlines()), ["one", "two words"])
        self.assertEqual(self.read(), "old value\n")
        self.assertEqual(sorted(self.sql("SELECT condition, count(*) FROM iteration "
                                         "WHERE state = 'done' GROUP BY condition")),
                         [("file:%s=one" % self.knob, 1), ("file:%s=two words" % self.knob, 1)])
        self.assert_target_clean()

    def test_root_needs_no_sudo(self):
        """Minimal systems have none, and root logs in there."""
        if not e2e.is_root():
            self.skipTest("needs root")
        self.standin("sudo", "echo sudo was asked >&2; exit 1")
        lab = self.write("lab.json", json.dumps({"hosts": {"local": {"become": "sudo"}}}))
        r = self.kab("run", self.suite([self.synthetic()], repeat={"iterations": 1}), "--kernel", "a=running",
                     "--lab", lab, "--condition", "file:%s=new" % self.knob)
        self.assertEqual(r.status, 0, r.err)
        self.assertEqual(self.read(), "old value\n")

    def test_taken_back_by_somebody_fails_the_iteration(self):
        stop = threading.Event()

        def meddle():
            end = time.monotonic() + 60
            while self.read() != "new\n" and time.monotonic() < end:
                time.sleep(0.02)
            time.sleep(0.5)
            if not stop.is_set():
                self.write(self.knob, "old value\n")

        thread = threading.Thread(target=meddle)
        thread.start()
        r = self.kab("run", self.suite([self.synthetic(sleep_s=1.5)], repeat={"iterations": 2}),
                     "--kernel", "a=running", "--condition", "file:%s=new" % self.knob)
        stop.set()
        thread.join()
        self.assertEqual(r.status, 5, r.err)
        self.assertEqual(self.states(), {"failed": 1, "done": 1}, "applied anew for the second")
        (reason,), = self.sql("SELECT reason FROM iteration WHERE state = 'failed'")
        self.assertIn("condition did not hold", reason)
        self.assertIn("old value", reason)
        self.assertEqual(self.read(), "old value\n")

    def test_missing_control_is_refused_before_anything_starts(self):
        r = self.kab("run", self.suite([self.synthetic()]), "--kernel", "a=running",
                     "--condition", "file:/sys/no/such/control=1")
        self.assertEqual(r.status, 4, r.err)
        self.assertRegex(r.err, "host 'local'.*no such control.*/sys/no/such/control")
        self.assertFalse(os.path.exists(self.db))

    def test_setting_that_does_nothing_is_noticed(self):
        measured = self.kab("run", self.suite([self.synthetic()]), "--kernel", "a=running", "--name", "good")
        self.assertEqual(measured.status, 0, measured.err)
        # Writing there works and changes nothing.
        r = self.kab("run", self.suite([self.synthetic()]), "--kernel", "a=running",
                     "--condition", "file:/dev/null=1")
        self.assertEqual(r.status, 4, r.err)
        self.assertIn("/dev/null", r.err)
        self.assertEqual(self.sql("SELECT count(*) FROM iteration WHERE run_id = 2 AND state = 'done'"), [(0,)])
        self.assert_target_clean()
        # What was refused does not hide what was measured, and is named.
        for words in (["report"], ["report", "latest"], ["export", "-f", "csv"]):
            again = self.kab(*words)
            self.assertEqual(again.status, 0, again.err)
            self.assertIn("latest is run 'good' (1)", again.err)
            self.assertRegex(again.err, "'kab show [^ ]+' says why")
        self.assertIn("/dev/null", self.kab("show", "latest").out)

    def test_second_controller_does_not_touch_the_conditions_of_the_first(self):
        calls = self.path("calls")
        first = self.start("run", self.suite([self.synthetic(sleep_s=4, fail_every=9999999,
                                                             state=calls)],
                                             repeat={"iterations": 1}),
                           "--kernel", "a=running", "--condition", "file:%s=new" % self.knob)
        e2e.wait_for("the benchmark", lambda: os.path.exists(calls), process=first)
        second = self.kab("run", self.suite([self.synthetic()], name="other.json"),
                          "--kernel", "a=running", "--condition", "file:%s=mine" % self.knob,
                          "--db", self.path("other.db"))
        self.assertEqual(second.status, 4, second.err)
        self.assertEqual(self.read(), "new\n")
        r = self.finish(first)
        self.assertEqual(r.status, 0, r.err)
        self.assertEqual(self.read(), "old value\n")


@unittest.skipUnless(e2e.is_root(), "mounts files over those of sysfs")
class Smt(e2e.Case):
    """Hosts without an smt/control file: the second threads are switched off one by one."""

    SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                          "../../harness/engine/condition.sh")

    def setUp(self):
        super().setUp()
        # Two cores with two threads each, siblings 0,2 and 1,3.
        self.cpu = self.path("cpu")
        for n, siblings in enumerate(("0,2", "1,3", "0,2", "1,3")):
            os.makedirs("%s/cpu%d/topology" % (self.cpu, n))
            self.write("%s/cpu%d/topology/thread_siblings_list" % (self.cpu, n), siblings + "\n")
            if n:
                self.write("%s/cpu%d/online" % (self.cpu, n), "1\n")

    def condition(self, *words):
        return subprocess.run(
            ["unshare", "--mount", "sh", "-c", "mount --bind '%s' /sys/devices/system/cpu && "
             "exec sh '%s' \"$@\"" % (self.cpu, self.SCRIPT), "sh"] + list(words),
            capture_output=True, text=True, check=False)

    def online(self):
        values = []
        for n in (1, 2, 3):
            with open("%s/cpu%d/online" % (self.cpu, n), encoding="ascii") as f:
                values.append(f.read().strip())
        return values

    def test_off_and_back(self):
        self.assertEqual(self.condition("check", "smt").returncode, 0)
        r = self.condition("apply", self.path("notes"), "smt", "off")
        self.assertEqual(r.returncode, 0, r.stdout)
        self.assertEqual(self.online(), ["1", "0", "0"])
        self.assertEqual(self.condition("verify", self.path("notes"), "smt", "off").returncode, 0)
        self.assertEqual(self.condition("verify", self.path("notes"), "smt", "on").returncode, 1)
        self.assertEqual(self.condition("undo", self.path("notes")).returncode, 0)
        self.assertEqual(self.online(), ["1", "1", "1"])
        self.assertFalse(os.path.exists(self.path("notes/undo")))

    def test_control_file(self):
        os.mkdir(self.cpu + "/smt")
        control = self.write(self.cpu + "/smt/control", "on\n")
        self.assertEqual(self.condition("apply", self.path("n"), "smt", "off").returncode, 0)
        with open(control, encoding="ascii") as f:
            self.assertEqual(f.read(), "off\n")
        self.assertEqual(self.online(), ["1", "1", "1"])
        self.assertEqual(self.condition("undo", self.path("n")).returncode, 0)
        with open(control, encoding="ascii") as f:
            self.assertEqual(f.read(), "on\n")

    def test_several_governors_are_noted_one_by_one(self):
        for n, governor in enumerate(("schedutil", "powersave", "schedutil", "performance")):
            os.mkdir("%s/cpu%d/cpufreq" % (self.cpu, n))
            self.write("%s/cpu%d/cpufreq/scaling_governor" % (self.cpu, n), governor + "\n")
        r = self.condition("apply", self.path("n"), "governor", "performance")
        self.assertEqual(r.returncode, 0, r.stdout)
        self.assertEqual(self.condition("verify", self.path("n"), "governor", "performance").returncode, 0)
        self.assertEqual(self.condition("undo", self.path("n")).returncode, 0)
        after = []
        for n in range(4):
            with open("%s/cpu%d/cpufreq/scaling_governor" % (self.cpu, n), encoding="ascii") as f:
                after.append(f.read().strip())
        self.assertEqual(after, ["schedutil", "powersave", "schedutil", "performance"])


class TwoControllers(e2e.Case):
    def test_the_second_is_refused_with_owner_and_time(self):
        calls = self.path("calls")
        suite = self.suite([self.synthetic(sleep_s=3, fail_every=9999999, state=calls)],
                           repeat={"iterations": 1})
        first = self.start("run", suite, "--kernel", "a=running", "--name", "first")
        e2e.wait_for("the benchmark", lambda: os.path.exists(calls), process=first)
        second = self.kab("run", suite, "--kernel", "a=running", "--db", self.path("b.db"))
        self.assertEqual(second.status, 4, second.err)
        self.assertRegex(second.err, r"held by uid\d+@\S+ for another \d+ s")
        self.assertNotIn("that is run", second.err)
        # In the same database it is known whose run that is, and how to go on when its kab was killed.
        third = self.kab("run", suite, "--kernel", "a=running", "--name", "third")
        self.assertEqual(third.status, 4, third.err)
        self.assertIn("that is run 'first'; if its kab is gone: kab resume first", third.err)
        self.assertEqual(self.finish(first).status, 0)
        with open(calls, encoding="ascii") as f:
            self.assertEqual(f.read(), "1\n")
        self.assert_target_clean()

    def test_started_in_the_same_second_with_patience(self):
        """Neither measures while the other one does."""
        suite = self.suite([self.synthetic(sleep_s=0.3)], repeat={"iterations": 3})
        dbs = [self.path("a.db"), self.path("b.db")]
        both = [self.start("run", suite, "--kernel", "a=running", "--wait", "100", "--db", db)
                for db in dbs]
        for p in both:
            r = self.finish(p)
            self.assertEqual(r.status, 0, r.err)
        spans = []
        for db in dbs:
            self.db = db
            spans.append(self.sql("SELECT min(started_wall_ns), max(finished_wall_ns) "
                                  "FROM iteration")[0])
        spans.sort()
        self.assertLess(spans[0][1], spans[1][0], "one after the other")
        self.assert_target_clean()


@unittest.skipUnless(e2e.is_root(), "mounts a small file system")
class DiskFull(e2e.Case):
    def test_stops_at_the_first_refused_commit_and_resumes_from_the_target(self):
        disk = self.path("disk")
        os.mkdir(disk)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", disk], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=False)
        self.db = self.env["KAB_DB"] = disk + "/kab.db"
        calls = self.path("calls")
        # 300 KB that cannot be packed any smaller, each time.
        self.standin("hackbench", """
case $* in *-h*) echo "hackbench V 2.4"; exit 0;; esac
n=$(cat {dir}/calls 2>/dev/null || echo 0)
echo $((n + 1)) >{dir}/calls
head -c 300000 /dev/urandom | base64
echo "Time: 0.123"
""".format(dir=self.dir))
        suite = self.suite([{"name": "hb", "runner": "hackbench", "params": {"groups": 1}}],
                           repeat={"iterations": 12},
                           conditions={"file:" + self.write("knob", "old\n"): "new"})
        r = self.kab("run", suite, "--kernel", "a=running", "--name", "full")
        self.assertEqual(r.status, 4, r.err)
        self.assertRegex(r.err, "full|space")
        with open(calls, encoding="ascii") as f:
            invoked = int(f.read())
        self.assertLess(invoked, 12, "no host is kept busy without a store")
        self.assertEqual(len(self.runs_on_target()), 1, "the finished iteration is kept")
        self.assertEqual(self.lease_owner(), "-")
        with open(self.path("knob"), encoding="ascii") as f:
            self.assertEqual(f.read(), "old\n", "the host is left as it was found")
        subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
        done = self.states().get("done", 0)
        self.assertEqual(invoked, done + 1)
        r = self.kab("resume", "full")
        self.assertEqual(r.status, 0, r.err)
        self.assert_exactly_once(12)
        with open(calls, encoding="ascii") as f:
            self.assertEqual(int(f.read()), 12, "fetched, not measured again")
        self.assert_target_clean()


class Readers(e2e.Case):
    def test_readers_beside_the_writer(self):
        suite = self.suite([self.synthetic(name=n) for n in ("x", "y")], repeat={"iterations": 4})
        p = self.start("run", suite, "--kernel", "base=running", "--kernel", "same=running")
        e2e.wait_for("the first result", lambda: self.states().get("done", 0) >= 1, process=p)
        if not self.has_command("report"):
            self.skipTest("no report yet")
        said = []

        def look():
            while p.poll() is None:
                for words in (["list"], ["report", "latest"], ["show", "latest"]):
                    r = subprocess.run([e2e.KAB] + words, env=self.env, capture_output=True,
                                       text=True, check=False, stdin=subprocess.DEVNULL)
                    said.append((words, r.returncode, r.stderr))

        threads = [threading.Thread(target=look) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        r = self.finish(p)
        self.assertEqual(r.status, 0, r.err)
        self.assert_exactly_once(16)
        self.assertGreater(len(said), 3)
        for words, status, err in said:
            self.assertNotIn("locked", err)
            self.assertIn(status, (0, 5), "%s: %s" % (words, err))


class Secrets(e2e.Case):
    """Passwords that stand in the environment or in what a lab file points at show up nowhere."""

    def test_nothing_shows_them(self):
        secrets = ["bmc-hunter2-71", "smtp-correct-horse-72", "token-a9f3c1-73"]
        self.env.update(KAB_BMC_PASSWORD=secrets[0], SMTP_PASSWORD=secrets[1], API_TOKEN=secrets[2])
        suite = self.suite([self.synthetic(fail_every=2, state=self.path("calls"))])
        seen = []
        stop = threading.Event()

        def snapshots():
            while not stop.is_set():
                seen.extend(e2e.processes().values())
                time.sleep(0.01)

        t = threading.Thread(target=snapshots)
        t.start()
        said = []
        for words in (["run", suite, "--kernel", "a=running", "-v", "-v"],
                      ["run", suite, "--kernel", "a=release:9.9.9", "-v", "-v"],
                      ["resume", "nothing", "-v", "-v"], ["doctor", "-v", "-v"],
                      ["hosts", "-v", "-v"]):
            r = self.kab(*words)
            said += [r.out, r.err]
        stop.set()
        t.join()
        with open(self.db, "rb") as f:
            stored = f.read().decode("latin1")
        with open(self.db + "-wal", "rb") if os.path.exists(self.db + "-wal") else open(
                "/dev/null", "rb") as f:
            stored += f.read().decode("latin1")
        for secret in secrets:
            for text in said + [stored]:
                self.assertNotIn(secret, text)
            self.assertFalse([w for w in seen if secret in w])


if __name__ == "__main__":
    e2e.main()
