# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's side: a damaged database, descriptors used up, a terminal that is closed, two
controllers, events for a program, secrets."""
import json
import os
import re
import resource
import signal
import sqlite3
import subprocess
import time

import e2e_lib as e2e

KEYS = ["time", "run", "event", "host", "kernel", "boot", "condition", "case", "row", "iteration",
        "attempt", "warmup", "state", "metric", "value", "unit", "elapsed_s", "reason", "done",
        "total"]


def strict(line):
    def refuse(word):
        raise ValueError("no JSON: " + word)
    return json.loads(line, parse_constant=refuse)


class Events(e2e.Case):
    def lines(self, text):
        events = [strict(line) for line in text.splitlines()]
        for e in events:
            self.assertEqual(list(e), KEYS)
            self.assertRegex(e["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        return events

    def test_every_state_in_order(self):
        path = self.path("e.json")
        suite = self.suite([self.synthetic(), self.synthetic(name="bad \"q\"\u00e4", fail_every=1,
                                                             state=self.path("calls"))],
                           repeat={"iterations": 2, "warmup": 1})
        r = self.kab("run", suite, "--kernel", "k=running", "--name", "r", "--events=json:" + path)
        self.assertEqual(r.status, 5, r.err)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        with open(path, encoding="utf-8") as f:
            events = self.lines(f.read())
        self.assertEqual([(e["event"], e["state"]) for e in events if e["event"] == "run"],
                         [("run", "running"), ("run", "complete")])
        self.assertEqual(events[0]["event"], "run")
        self.assertEqual(events[-1]["event"], "run")
        self.assertEqual([e["state"] for e in events if e["event"] == "host"],
                         ["connected", "leased", "done"])
        self.assertEqual([e["state"] for e in events if e["event"] == "boot"], ["proven"])
        steps = [e for e in events if e["event"] == "iteration"]
        self.assertEqual([e["state"] for e in steps[0::2]], ["running"] * 6)
        stored = self.sql("SELECT case_name, iteration, warmup, state, reason FROM iteration "
                          "ORDER BY finished_wall_ns, id")
        self.assertEqual([(e["case"], e["iteration"], int(e["warmup"]), e["state"], e["reason"])
                          for e in steps[1::2]], stored)
        values = [e["value"] for e in steps[1::2] if e["state"] == "done"]
        self.assertEqual(values, [v for v, in self.sql(
            "SELECT s.value FROM sample s JOIN extraction x ON x.id = s.extraction_id "
            "JOIN iteration i ON i.id = x.iteration_id ORDER BY i.finished_wall_ns, i.id")])
        self.assertTrue(all(e["unit"] is None for e in steps[1::2] if e["state"] == "failed"))
        self.assertEqual(steps[-1]["done"], 6)

    def changes(self, text):
        """Without the notes: whether the host was quiet depends on what else runs here."""
        return [(e["event"], e["state"]) for e in self.lines(text) if e["event"] != "note"]

    def test_on_stderr_and_on_a_descriptor(self):
        suite = self.suite([self.synthetic()], repeat={"iterations": 1})
        r = self.kab("run", suite, "--kernel", "k=running", "--events=json")
        self.assertEqual(r.status, 0, r.err)
        self.assertGreater(len(self.lines(r.err)), 5, "nothing but events")
        with open(self.path("e"), "wb") as f:
            p = subprocess.run([e2e.KAB, "run", suite, "--kernel", "k=running",
                                "--events=json:fd:%d" % f.fileno()], env=self.env, check=False,
                               pass_fds=[f.fileno()], capture_output=True)
        self.assertEqual(p.returncode, 0, p.stderr)
        with open(self.path("e"), encoding="utf-8") as f:
            self.assertEqual(self.changes(f.read()), self.changes(r.err))

    def test_resume_and_places_that_cannot_be(self):
        suite = self.suite([self.synthetic()], repeat={"iterations": 1})
        for word, text in (("xml", "json:FILE"), ("json:", "json:FILE"), ("json:fd:77", "descriptor"),
                           ("json:/no/such/folder/e", "/no/such")):
            r = self.kab("run", suite, "--kernel", "k=running", "--events=" + word)
            self.assertIn(r.status, (2, 4), r.err)
            self.assertIn(text, r.err)
            self.assertFalse(os.path.exists(self.db))
        os.mkfifo(self.path("fifo"))
        r = self.kab("run", suite, "--kernel", "k=running", "--events=json:" + self.path("fifo"))
        self.assertIn("nobody reads", r.err)
        # A full disk ends the events, not the run.
        r = self.kab("run", suite, "--kernel", "k=running", "--events=json:/dev/full")
        self.assertEqual(r.status, 0, r.err)
        self.assertIn("no more events", r.err)
        self.assert_exactly_once(1)
        r = self.kab("resume", "--events=json")
        self.assertEqual((r.status, r.err), (0, ""), "nothing to do, nothing to tell")


class Doctor(e2e.Case):
    def filled(self):
        suite = self.suite([self.synthetic()], repeat={"iterations": 4})
        self.assertEqual(self.kab("run", suite, "--kernel", "k=running", "--name", "r").status, 0)
        db = sqlite3.connect(self.db)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.close()

    def doctor(self, status, *texts):
        with open(self.db, "rb") as f:
            before = f.read()
        r = self.kab("doctor", "--store")
        self.assertEqual(r.status, status, r.out + r.err)
        for text in texts:
            self.assertIn(text, r.out)
        with open(self.db, "rb") as f:
            self.assertEqual(f.read(), before, "nothing is changed")
        return r

    def test_healthy(self):
        self.filled()
        r = self.doctor(0, "Nothing to fix", "write-ahead log", "runs: 1, none left behind")
        self.assertNotIn("FIX", r.out)

    def test_every_page_in_turn(self):
        """Rubbish in a page is found, or was in a page that holds nothing."""
        self.filled()
        with open(self.db, "rb") as f:
            whole = f.read()
        found = missed = 0
        pages = len(whole) // 4096
        for page in range(1, pages, max(1, pages // 12)):
            at = page * 4096
            with open(self.db, "wb") as f:
                f.write(whole[:at] + b"\xa5" * 4096 + whole[at + 4096:])
            r = self.kab("doctor", "--store")
            self.assertIn(r.status, (0, 4), r.err)
            if r.status == 4:
                found += 1
                self.assertRegex(r.out, "damaged|malformed")
                self.assertIn("sqlite3 %s .recover" % self.db if "FILE" not in r.out else "recover",
                              r.out)
            else:
                missed += 1
        print("rubbish in %d pages: %d found, %d of them empty" % (found + missed, found, missed))
        self.assertGreater(found, missed)

    def test_index_that_lost_its_rows(self):
        """What a damaged index hides is not counted as something else."""
        self.filled()
        page, = self.sql("SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_run_kernel_2'")[0]
        with open(self.db, "r+b") as f:
            f.seek((page - 1) * 4096)
            f.write(bytes.fromhex("0a00000000100000"))
        r = self.kab("report")
        self.assertEqual(r.status, 4, r.err)
        self.assertRegex(r.err, "results of a kernel '.*' that run 1 has not; see 'kab doctor --store'")
        self.doctor(4, "missing from index", "recover")

    def test_truncated(self):
        self.filled()
        with open(self.db, "r+b") as f:
            f.truncate(os.path.getsize(self.db) // 2)
        self.doctor(4, "shorter than it says", ".recover")

    def test_references_and_states(self):
        self.filled()
        db = sqlite3.connect(self.db)
        db.execute("PRAGMA foreign_keys=OFF")
        db.execute("DELETE FROM extraction WHERE id = 2")
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.close()
        self.doctor(4, "'sample' belong to nothing in 'extraction'", "done but have no reading")

    def test_left_behind_by_a_kill(self):
        calls = self.path("calls")
        suite = self.suite([self.synthetic(sleep_s=3, fail_every=99999, state=calls)],
                           repeat={"iterations": 1})
        p = self.start("run", suite, "--kernel", "k=running", "--name", "r")
        e2e.wait_for("the benchmark", lambda: os.path.exists(calls), process=p)
        r = self.kab("doctor", "--store")
        self.assertEqual(r.status, 0, r.out)
        self.assertIn("is being carried out now", r.out)
        p.kill()
        p.wait()
        r = self.kab("doctor", "--store")
        self.assertEqual(r.status, 4, r.out)
        self.assertIn("1 iteration is begun and not fetched", r.out)
        self.assertIn("kab resume r", r.out)
        self.assertEqual(self.kab("resume", "r").status, 0)
        self.assertEqual(self.kab("doctor", "--store").status, 0)
        self.assert_exactly_once(1)

    def test_schema_of_another_version(self):
        self.filled()
        for version, text in ((9999, "newer"), (0, "")):
            db = sqlite3.connect(self.db)
            db.execute("PRAGMA user_version = %d" % version)
            db.commit()
            db.close()
            suite = self.suite([self.synthetic()], repeat={"iterations": 1})
            r = self.kab("run", suite, "--kernel", "k=running")
            self.assertEqual(r.status, 4, r.err)
            self.assertIn(text, r.err)
            self.assertEqual(self.sql("SELECT count(*) FROM run"), [(1,)])
            self.assert_target_clean()


class Controller(e2e.Case):
    def test_few_descriptors(self):
        """ulimit -n N from what cannot start to what is plenty: done, or a reason; nothing left."""
        suite = self.suite([self.synthetic()], repeat={"iterations": 1})
        ended = {}
        for limit in (8, 10, 12, 14, 16, 20, 40):
            p = subprocess.run([e2e.KAB, "run", suite, "--kernel", "k=running", "--name",
                                "n%d" % limit], env=self.env, capture_output=True, text=True,
                               check=False, timeout=100, stdin=subprocess.DEVNULL,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE,
                                                                     (limit, limit)))
            ended[limit] = p.returncode
            self.assertIn(p.returncode, (0, 4), "%d: %s" % (limit, p.stderr))
            if p.returncode:
                self.assertRegex(p.stderr, "(?i)too many open files|cannot|unable")
                # Facts that could not be read with 8 or 10 are no base for going on.
                if limit >= 12 and os.path.exists(self.db) and self.sql("SELECT 1 FROM run WHERE name = ?",
                                                        "n%d" % limit):
                    r = self.kab("resume", "n%d" % limit)
                    self.assertEqual(r.status, 0, p.stderr + r.err)
            self.assert_target_clean()
        self.assertEqual(ended[40], 0)
        print("descriptors: exit status", ended)

    def test_terminal_closed(self):
        """SIGHUP finishes the iteration, as the first Ctrl-C does."""
        calls = self.path("calls")
        suite = self.suite([self.synthetic(sleep_s=1, fail_every=99999, state=calls)])
        p = self.start("run", suite, "--kernel", "k=running", "--name", "r")
        e2e.wait_for("the benchmark", lambda: os.path.exists(calls), process=p)
        p.send_signal(signal.SIGHUP)
        r = self.finish(p)
        self.assertEqual(r.status, 130, r.err)
        self.assertEqual(self.states(), {"done": 1, "pending": 2})
        self.assert_target_clean()
        self.assertEqual(self.kab("resume", "r").status, 0)
        self.assert_exactly_once(3)

    def test_limit_on_the_size_of_files(self):
        suite = self.suite([self.synthetic()], repeat={"iterations": 1})
        p = subprocess.run([e2e.KAB, "run", suite, "--kernel", "k=running"], env=self.env, capture_output=True,
                           text=True, check=False, timeout=100, stdin=subprocess.DEVNULL,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000)))
        self.assertEqual(p.returncode, 4, p.stderr)
        self.assertIn(self.db, p.stderr)

    def taken_away(self, take):
        """Not written to a file that is nowhere: what there is is kept, and the run can go on."""
        calls = self.path("calls")
        suite = self.suite([self.synthetic(sleep_s=0.5, fail_every=99999, state=calls)], repeat={"iterations": 8})
        p = self.start("run", suite, "--kernel", "k=running", "--name", "r")
        e2e.wait_for("an iteration", lambda: self.states().get("done"), process=p)
        take()
        r = self.finish(p)
        self.assertEqual(r.status, 4, r.err)
        saved = self.path("kab.db.%d.rescued" % p.pid)
        self.assertIn("all that it held is in '%s'" % saved, r.err)
        self.assertEqual(self.lease_owner(), "-")
        for name in os.listdir(self.dir):
            if name.startswith("kab.db") and self.path(name) != saved:
                os.unlink(self.path(name))
        os.rename(saved, self.db)
        self.assertEqual(self.kab("resume", "r").status, 0)
        self.assert_exactly_once(8)
        with open(calls, encoding="ascii") as f:
            self.assertEqual(f.read().strip(), "8")

    def test_database_is_removed(self):
        self.taken_away(lambda: [os.unlink(self.path(n)) for n in os.listdir(self.dir) if n.startswith("kab.db")])

    def test_database_is_replaced(self):
        other = self.path("other.db")
        db = sqlite3.connect(other)
        db.execute("CREATE TABLE t (x)")
        db.close()
        self.taken_away(lambda: os.rename(other, self.db))

    def test_two_controllers_on_one_database(self):
        suite = self.suite([self.synthetic(sleep_s=0.1)], repeat={"iterations": 5})
        both = [self.start("run", suite, "--kernel", "k=running", "--wait", "100", "--name", n)
                for n in ("x", "x", "y")]
        for p in both:
            r = self.finish(p)
            self.assertEqual(r.status, 0, r.err)
        self.assertEqual(self.sql("SELECT name FROM run ORDER BY name"), [("x",), ("x-2",), ("y",)])
        self.assertEqual(self.states(), {"done": 15})
        self.assertEqual(self.kab("doctor", "--store").status, 0)
        self.assert_target_clean()


class Secrets(e2e.Case):
    """Planted in the environment and in the files where they belong; looked for everywhere else."""
    PLANTED = {"KAB_BMC_PASSWORD": "hunter2-bmc-7d1f", "KAB_SMTP_PASSWORD": "hunter2-smtp-9a3c",
               "KAB_TOKEN": "hunter2-token-5e8b"}

    def test_not_in_store_logs_argv_events_reports_or_core(self):
        env = dict(self.env, **self.PLANTED)
        self.standin("java", "exit 1\n")
        for name, value in self.PLANTED.items():
            self.write("home/" + name, value + "\n", 0o600)
        suite = self.suite([self.synthetic(sleep_s=1), self.synthetic(name="f", fail_every=1,
                                                                      state=self.path("calls"))],
                           repeat={"iterations": 1})
        seen = bytearray()
        p = self.start("run", suite, "--kernel", "k=running", "--name", "r", "-v", "-v",
                       "--events=json:" + self.path("events"), env=env)
        while p.poll() is None:
            for pid in os.listdir("/proc"):
                try:
                    if pid.isdigit():
                        with open("/proc/%s/cmdline" % pid, "rb") as f:
                            seen += f.read()
                except OSError:
                    pass
            time.sleep(0.02)
        first = self.finish(p)
        seen += (first.out + first.err).encode()
        for words in (("show", "r"), ("report", "r"), ("report", "r", "--style", "json"),
                      ("list",), ("doctor", "--store"), ("resume", "r"), ("report", "nothing"),
                      ("run", "nothing"), ("hosts", "--lab", "/no/such"), ("run", suite, "--bad")):
            r = self.kab(*words, "-v", "-v", env=env)
            seen += (r.out + r.err).encode()
        for folder, _, names in os.walk(self.dir):
            for name in names:
                path = os.path.join(folder, name)
                if name not in self.PLANTED and os.path.isfile(path):
                    with open(path, "rb") as f:
                        seen += f.read()
        for iteration, stream in self.sql("SELECT iteration_id, name FROM output"):
            r = self.kab("show", "r", "--raw", str(iteration), env=env)
            seen += r.out.encode()
        for value in self.PLANTED.values():
            self.assertNotIn(value.encode(), bytes(seen))
        self.assertIn(b"synthetic", bytes(seen), "something was looked at")
        self.assertEqual(os.stat(self.db).st_mode & 0o077, 0)

    def test_no_core(self):
        """A core would hold the environment: none is written."""
        calls = self.path("calls")
        suite = self.suite([self.synthetic(sleep_s=20, fail_every=99999, state=calls)])
        p = subprocess.Popen([e2e.KAB, "run", suite, "--kernel", "k=running"], cwd=self.dir,
                             env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL,
                             preexec_fn=lambda: resource.setrlimit(
                                 resource.RLIMIT_CORE,
                                 (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2))
        try:
            e2e.wait_for("the benchmark", lambda: os.path.exists(calls))
            with open("/proc/%d/limits" % p.pid, encoding="ascii") as f:
                line = re.search("Max core file size +(\\S+)", f.read())
            self.assertEqual(line.group(1), "0")
        finally:
            p.kill()
            p.wait()


if __name__ == "__main__":
    e2e.main(at_once=3)
