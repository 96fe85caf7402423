# SPDX-License-Identifier: GPL-3.0-or-later
"""Databases that somebody else has made: nothing in them runs, and nothing else is written or removed."""
import json
import os
import pty
import shutil
import sqlite3
import struct
import subprocess

import e2e_lib as e2e

READERS = (("list",), ("show",), ("report",), ("report", "--format", "json"), ("report", "--format", "csv"),
           ("compare", "r:a", "r:b"), ("doctor", "--store"), ("export",), ("report", "--format", "html"))


class Foreign(e2e.Case):
    template = None

    def setUp(self):
        super().setUp()
        if not Foreign.template:
            suite = self.suite([self.synthetic()], repeat={"iterations": 2})
            r = self.kab("run", suite, "--kernel", "a=running", "--kernel", "b=running", "--name", "r")
            self.assertEqual(r.status, 0, r.err)
            self.change("PRAGMA wal_checkpoint(TRUNCATE)", db=self.db)
            Foreign.template = self.db
        self.victim = self.write("victim", "do not touch\n")
        os.mkdir(self.path("theirs"))
        self.foreign = self.path("theirs/their.db")
        shutil.copy(Foreign.template, self.foreign)

    def change(self, *statements, db=None, args=()):
        db = sqlite3.connect(db or self.foreign)
        try:
            for s in statements:
                db.execute(s, args if "?" in s else ())
            db.commit()
        finally:
            db.close()

    def rewrite(self, **sql_by_name):
        """The text of objects, as only somebody with ill will changes it."""
        db = sqlite3.connect(self.foreign)
        try:
            db.execute("PRAGMA writable_schema = ON")
            for name, (old, new) in sql_by_name.items():
                n = db.execute("UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE name = ? AND "
                               "instr(sql, ?)", (old, new, name, old)).rowcount
                self.assertEqual(n, 1, name)
            db.commit()
        finally:
            db.close()

    def contents(self):
        found = {}
        for name in sorted(os.listdir(self.path("theirs"))):
            with open(self.path("theirs/" + name), "rb") as f:
                found[name] = f.read()
        return found

    def refused(self, *texts, words=(("list",), ("report",), ("doctor", "--store")), status=(4,)):
        """All that read refuse, say why in one line, and leave everything as it was."""
        before = self.contents()
        for w in words:
            r = self.kab(*w, "--db", self.foreign, timeout=60)
            self.assertIn(r.status, status, "%s: %s%s" % (w, r.out, r.err))
            for text in texts:
                self.assertIn(text, r.out + r.err, w)
            self.assertNotIn("\033", r.out + r.err)
        self.assertEqual(self.contents(), before, "nothing changed, nothing is left beside it")
        with open(self.victim, encoding="ascii") as f:
            self.assertEqual(f.read(), "do not touch\n")

    def accepted(self, words=READERS, status=(0, 5)):
        before = self.contents()
        said = []
        for w in words:
            r = self.kab(*w, "--db", self.foreign, timeout=60)
            self.assertIn(r.status, status, "%s: %s%s" % (w, r.out, r.err))
            said.append(r.out + r.err)
        self.assertEqual(self.contents(), before, "nothing changed, nothing is left beside it")
        return "\n".join(said)

    def test_untouched_is_read_and_left_alone(self):
        self.accepted()
        self.change("CREATE VIEW my_view AS SELECT * FROM run", "CREATE TABLE my_notes (a)",
                    "CREATE INDEX my_index ON sample (value)")
        self.accepted()

    # ---- what is in the schema ----

    def test_trigger_that_nobody_knows(self):
        self.change("CREATE TRIGGER mine AFTER INSERT ON run BEGIN DELETE FROM sample; END")
        self.refused("a trigger 'mine' that kab does not know")
        before = self.contents()
        suite = self.suite([self.synthetic()], name="s2.json")
        r = self.kab("run", suite, "--kernel", "a=running", "--db", self.foreign)
        self.assertEqual(r.status, 4, r.err)
        self.assertIn("'mine'", r.err)
        self.assertEqual(self.contents(), before)

    def test_trigger_with_a_name_of_sqlite(self):
        self.change("CREATE TRIGGER x_mine AFTER INSERT ON run BEGIN DELETE FROM sample; END",
                    "PRAGMA writable_schema = ON",
                    "UPDATE sqlite_schema SET name = 'sqlite_mine', sql = replace(sql, 'x_mine', 'sqlite_mine') "
                    "WHERE name = 'x_mine'")
        self.refused("'sqlite_mine'")

    def test_trigger_of_ours_with_other_text(self):
        self.rewrite(iteration_final=("BEGIN", "BEGIN DELETE FROM sample;"))
        self.refused("'iteration_final'", "is not the one that kab makes")

    def test_view_of_ours_with_other_text(self):
        self.change("DROP VIEW outcome",
                    "CREATE VIEW outcome AS SELECT id AS iteration_id, 1 AS extraction_id, 'ok' AS parse_status, "
                    "'done' AS state, load_extension('/tmp/x.so') AS reason FROM iteration")
        self.refused("view 'outcome'", "is not the one that kab makes")

    def test_view_in_place_of_a_table(self):
        self.change("PRAGMA foreign_keys = OFF", "PRAGMA legacy_alter_table = ON",
                    "ALTER TABLE event RENAME TO real_event", "DROP INDEX event_run",
                    "CREATE VIEW event AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
                    "SELECT x AS id, 1 AS run_id, 1 AS boot_id, 1 AS wall_ns, 'a' AS kind, 'b' AS text FROM c")
        self.refused("'event'", "is not the one that kab makes")

    def test_column_with_a_value_that_is_computed(self):
        self.rewrite(event=("text TEXT NOT NULL", "text TEXT NOT NULL DEFAULT (hex(randomblob(1000000000)))"))
        self.refused("table 'event'")

    def test_table_is_missing(self):
        self.change("PRAGMA foreign_keys = OFF", "DROP TABLE noise")
        self.refused("lacks parts of its schema")

    def test_another_program(self):
        os.unlink(self.foreign)
        self.change("CREATE TABLE run (id)", "INSERT INTO run VALUES (1)")
        self.refused("of another program")

    # ---- what is in the rows ----

    def test_names_that_drive_terminals(self):
        """Escaped wherever they are printed, also without a terminal."""
        evil = "a\x1b]0;owned\x07\x1b[2J\u009b31m\u202e\r\n| forged |\t=1+1"
        triggers = []
        db = sqlite3.connect(self.foreign)
        try:
            triggers = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
            for name, _ in triggers:
                db.execute('DROP TRIGGER "%s"' % name)
            for table, column in (("run", "name"), ("run", "suite_name"), ("run", "command_line"),
                                  ("host", "label"), ("iteration", "case_name"), ("iteration", "row_key"),
                                  ("iteration", "condition"), ("series", "metric"), ("series", "unit"),
                                  ("event", "text"), ("boot", "reason"), ("iteration", "reason"),
                                  ("extraction", "message"), ("environment", "facts")):
                try:
                    db.execute("UPDATE OR IGNORE %s SET %s = ?" % (table, column), (evil,))
                except sqlite3.OperationalError as e:
                    self.assertIn("no such column", str(e))
                except sqlite3.IntegrityError:
                    pass
            for _, sql in triggers:
                db.execute(sql)
            db.commit()
        finally:
            db.close()
        out = b""
        # Into a file or a pipe an export is byte for byte what is stored; a terminal does not get it so.
        self.assertNotIn(b"\x1b", self.on_a_terminal("export"))
        for w in tuple(w for w in READERS if w != ("export",)) + (("report", "--all"), ("report", "--style", "markdown"), ("report", "--style", "org"),
                            ("report", "--explain", "s"), ("show", "1"), ("list", "--all")):
            p = subprocess.run([e2e.KAB, *w, "-v", "--db", self.foreign], capture_output=True,
                               env=self.env, check=False)
            self.assertNotIn(p.returncode, (6, -11, -6), (w, p.stderr))
            out += p.stdout + p.stderr
            if "json" in w:
                json.loads(p.stdout)
            text = (p.stdout + p.stderr).replace(b"\r\n", b"\n")
            for byte in (b"\x1b", b"\x07", b"\r", b"\xc2\x9b", b"\xe2\x80\xae"):
                self.assertNotIn(byte, text, w)
            for line in p.stdout.split(b"\n"):
                if "csv" in w or "html" in w:  # where a quoted cell may have lines
                    break
                self.assertFalse(line.startswith(b"| forged"), (w, text))
        self.assertIn(b"owned", out, "the names were printed at all")
        csv = self.kab("report", "--format", "csv", "--all", "--db", self.foreign).out
        self.assertNotRegex(csv, r'(^|,)"?[=+@]', "no cell is a formula")

    def on_a_terminal(self, *words):
        master, slave = pty.openpty()
        p = subprocess.Popen([e2e.KAB, *words, "--db", self.foreign], stdin=subprocess.DEVNULL, stdout=slave,
                             stderr=subprocess.DEVNULL, env=self.env)
        self.started.append(p)
        os.close(slave)
        out = b""
        try:
            while True:
                part = os.read(master, 65536)
                if not part:
                    break
                out += part
        except OSError:  # the other end is closed
            pass
        os.close(master)
        self.assertEqual(p.wait(), 0)
        self.assertIn(b"owned", out)
        return out

    def test_output_that_claims_or_unpacks_to_much(self):
        zstd = shutil.which("zstd")
        if not zstd:
            self.skipTest("no zstd program to make a bomb with")
        size = 100 << 20
        bomb = subprocess.run([zstd, "-q", "-c", "-19", "--long=27", "--stream-size=%d" % size],
                              input=b"\0" * size, capture_output=True, check=True).stdout
        self.assertLess(len(bomb), 100000)
        (iteration,), = self.rows("SELECT min(iteration_id) FROM output")
        for claimed, text in ((10, "damaged"), (1 << 30, "damaged"), (1 << 60, "damaged"), (-1, None)):
            with self.subTest(claimed=claimed):
                try:
                    self.change("UPDATE output SET data = ?, bytes = %d WHERE iteration_id = %d"
                                % (claimed, iteration), args=(bomb,))
                except sqlite3.IntegrityError:
                    continue
                p = subprocess.run(["/usr/bin/time", "-f", "%M", e2e.KAB, "show", "--raw", str(iteration),
                                    "--db", self.foreign], capture_output=True, env=self.env, text=True, check=False)
                self.assertEqual(p.returncode, 4, p.stderr)
                self.assertIn(text, p.stderr)
                if not e2e.is_sanitized():
                    self.assertLess(int(p.stderr.split()[-1]), 100 << 10, "KB of memory")

    def rows(self, sql):
        db = sqlite3.connect(self.foreign)
        try:
            return db.execute(sql).fetchall()
        finally:
            db.close()

    def test_page_that_lies_about_its_cells(self):
        with open(self.foreign, "r+b") as f:
            whole = f.read()
            for at in range(4096, len(whole), 4096):
                if whole[at] == 13 and struct.unpack(">H", whole[at + 3:at + 5])[0]:
                    f.seek(at + 8)
                    f.write(b"\xff\xff")
        for w in READERS:
            r = self.kab(*w, "--db", self.foreign)
            self.assertIn(r.status, (0, 3, 4, 5), r.err)

    # ---- what lies in its place or beside it ----

    def test_what_is_no_database(self):
        self.change("PRAGMA journal_mode = DELETE")
        with open(self.foreign, "rb") as f:
            whole = f.read()
        for data, text in ((b"#!/bin/sh\necho hello\n" * 20, "is not a kab database"),
                           (whole[:50], "is not a kab database"),
                           (whole[:len(whole) // 2], "shorter than it says"),
                           (b"SQLite format 3\0" + b"\xff" * 4080, "")):
            with open(self.foreign, "wb") as f:
                f.write(data)
            self.refused(text)

    def test_fifo_folder_and_device(self):
        for make in (os.mkfifo, os.mkdir, lambda p: os.symlink("/dev/zero", p)):
            os.unlink(self.foreign) if not os.path.isdir(self.foreign) else os.rmdir(self.foreign)
            make(self.foreign)
            for w in READERS[:3]:
                r = self.kab(*w, "--db", self.foreign, timeout=20)
                self.assertEqual(r.status, 4, r.err)
                self.assertIn("not even a file", r.err)

    def test_names_that_mean_something_to_sqlite(self):
        """An empty one and ":memory:" are databases that vanish with the program."""
        suite = self.suite([self.synthetic()], repeat={"iterations": 1})
        r = self.aa(suite, "--db", "")
        self.assertEqual(r.status, 4, r.err)
        self.assertIn("pass --db PATH", r.err)
        r = self.aa(suite, "--db", ":memory:", cwd=self.dir)
        self.assertEqual(r.status, 0, r.err)
        self.assertEqual(self.kab("show", "--db", self.path(":memory:")).status, 0)
        # What changes a database makes none.
        for w in (["resume", "1"], ["reparse", "1"], ["prune", "--output", "1", "--yes"]):
            r = self.kab(*w, "--db", self.path("none.db"))
            self.assertEqual(r.status, 3, r.err)
            self.assertIn("there is no database", r.err)
        self.assertFalse(os.path.exists(self.path("none.db")))

    def test_backup_overwrites_nothing(self):
        os.symlink(self.path("nowhere"), self.path("link"))
        before = sorted(os.listdir(self.dir))
        for to in (self.foreign, self.victim, self.path("link"), "/dev/null"):
            r = self.kab("backup", to, "--db", self.foreign)
            self.assertEqual(r.status, 4, r.err)
            self.assertIn("name another file", r.err)
        with open(self.victim, encoding="ascii") as f:
            self.assertEqual(f.read(), "do not touch\n")
        self.assertEqual(sorted(os.listdir(self.dir)), before)

    def test_links_beside_it(self):
        for suffix in ("-wal", "-shm", "-journal"):
            with self.subTest(suffix=suffix):
                os.symlink(self.victim, self.foreign + suffix)
                for w in READERS[:3]:
                    r = self.kab(*w, "--db", self.foreign)
                    self.assertEqual(r.status, 4, r.err)
                    self.assertIn("(a link)", r.err)
                with open(self.victim, encoding="ascii") as f:
                    self.assertEqual(f.read(), "do not touch\n")
                os.unlink(self.foreign + suffix)

    def test_link_to_the_database_is_followed(self):
        os.symlink(self.foreign, self.path("link.db"))
        self.assertEqual(self.kab("list", "--db", self.path("link.db")).status, 0)
        os.symlink(self.victim, self.foreign + "-wal")
        r = self.kab("list", "--db", self.path("link.db"))
        self.assertEqual(r.status, 4, r.err)
        self.assertIn("(a link)", r.err)

    def test_journal_that_names_another_file(self):
        """SQLite deletes the file that such a journal names as the one over it."""
        self.change("PRAGMA journal_mode = DELETE")
        name = self.victim.encode()
        with open(self.foreign, "rb") as f:
            page = f.read(4096)
        pages = os.path.getsize(self.foreign) // 4096
        head = bytes.fromhex("d9d505f920a163d7") + struct.pack(">IIIII", 1, 0, pages, 512, 4096)
        body = struct.pack(">I", 1) + page
        checksum = sum(page[i] for i in range(4096 - 200, 0, -200)) & 0xffffffff
        end = struct.pack(">I", 0x40000000 // 4096 + 1) + name + struct.pack(
            ">II", len(name), sum(name)) + bytes.fromhex("d9d505f920a163d7")
        with open(self.foreign + "-journal", "wb") as f:
            f.write(head.ljust(512, b"\0") + body + struct.pack(">I", checksum) + end)
        for w in READERS[:3]:
            r = self.kab(*w, "--db", self.foreign)
            self.assertEqual(r.status, 4, r.err)
            self.assertIn("it names other files", r.err)
        self.assertTrue(os.path.exists(self.victim))

    def test_readable_only(self):
        self.change("PRAGMA journal_mode = DELETE")
        os.chmod(self.foreign, 0o444)
        os.chmod(self.path("theirs"), 0o555)
        self.accepted()


class SameName(e2e.Case):
    def test_second_run_of_a_name_is_interrupted(self):
        """Nothing is written over, and what is printed says of which run it is."""
        calls = self.path("calls")
        first = self.suite([self.synthetic(fail_every=99999, state=self.path("c0"))], repeat={"iterations": 2})
        self.assertEqual(self.kab("run", first, "--kernel", "k=running", "--name", "x").status, 0)
        before = self.kab("report", "x", "--format", "csv").out
        suite = self.suite([self.synthetic(sleep_s=2, fail_every=99999, state=calls)], name="second.json",
                           repeat={"iterations": 5})
        p = self.start("run", suite, "--kernel", "k=running", "--name", "x")
        e2e.wait_for("an iteration of the second run", lambda: self.rows_done() >= 3, process=p)
        p.kill()
        p.wait()
        r = self.kab("report", "x", "--format", "csv")
        self.assertEqual((r.status, r.out), (0, before), "the first one as it was")
        r = self.kab("report", "x-2")
        self.assertEqual(r.status, 5, r.err)
        self.assertIn("missing", r.out)
        listed = self.kab("list").out
        self.assertRegex(listed, r"(?m)^ *2  x-2 .* [1-4]/5 ")
        self.assertRegex(listed, r"(?m)^ *1  x .* 2/2 ")
        self.assertEqual(self.kab("resume", "x-2").status, 0)
        self.assertEqual(self.sql("SELECT name FROM run ORDER BY id"), [("x",), ("x-2",)])
        self.assertEqual(self.states(), {"done": 7})

    def rows_done(self):
        try:
            return self.states().get("done", 0)
        except sqlite3.OperationalError:
            return 0


class Private(e2e.Case):
    def test_whatever_the_mask_is(self):
        """What kab makes is for its user alone, here and on the target."""
        suite = self.suite([self.synthetic(sleep_s=2)], repeat={"iterations": 1})
        events = self.path("events.json")
        p = subprocess.Popen([e2e.KAB, "run", suite, "--kernel", "k=running", "--events=json:" + events],
                             env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             stdin=subprocess.DEVNULL, preexec_fn=lambda: os.umask(0))
        self.started.append(p)
        modes = {}

        def look():
            for base in (self.path("home"), self.db, self.db + "-wal", self.db + "-shm", events):
                for folder, names, files in os.walk(base):
                    for path in [folder] + [os.path.join(folder, n) for n in names + files]:
                        self.note(modes, path)
                self.note(modes, base)
            return p.poll() is not None
        e2e.wait_for("the end of the run", look)
        self.assertEqual(p.returncode, 0)
        self.assertEqual(modes[self.db], 0o600)
        self.assertEqual(modes[self.db + "-wal"], 0o600)
        self.assertEqual(modes[events], 0o600)
        work = self.path("home/.local/state/kab")
        self.assertEqual(modes[work] & 0o077, 0, "the folder of runs keeps others out")
        self.assertGreater(len([m for m in modes if m.startswith(work + "/")]), 5, "runs were seen")
        r = self.kab("backup", self.path("backup.db"))
        self.assertEqual(r.status, 0, r.err)
        self.assertEqual(os.stat(self.path("backup.db")).st_mode & 0o777, 0o600)

    def note(self, modes, path):
        try:
            if not os.path.islink(path):
                modes[path] = os.stat(path).st_mode & 0o777
        except FileNotFoundError:
            pass


if __name__ == "__main__":
    e2e.main()
