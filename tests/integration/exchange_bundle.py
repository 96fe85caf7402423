# SPDX-License-Identifier: GPL-3.0-or-later
"""Bundles: there and back without a difference, and what a damaged, forged or hostile one comes to."""
import base64
import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess

import e2e_lib as e2e

STYLES = ("plain grid org markdown describe runs mmtests norm schedtests fastpath lkp percentiles stacked minmax gain "
          "perfstat ministat").split()


def unpack(path):
    return subprocess.run(["zstd", "-dcq", path], check=True, stdout=subprocess.PIPE).stdout


def pack(data, path):
    subprocess.run(["zstd", "-qf", "-", "-o", path], input=data, check=True)
    return path


def seal(lines):
    """Lines of a bundle with the hashes they should have: what a forger would do, too."""
    out, run = [], hashlib.sha256()
    for line in lines:
        if line.startswith(b'{"end":'):
            continue
        if line.startswith(b'{"run":'):
            run = hashlib.sha256()
        if line.startswith(b'{"run_end":'):
            line = b'{"run_end":{"sha256":"%s"}}' % run.hexdigest().encode()
        run.update(line + b"\n")
        out.append(line)
    body = b"".join(x + b"\n" for x in out)
    return body + b'{"end":{"lines":%d,"sha256":"%s"}}\n' % (len(out), hashlib.sha256(body).hexdigest().encode())


class Bundle(e2e.Case):
    def setUp(self):
        super().setUp()
        self.far = self.path("far.db")

    def export(self, run, *words, file="b.kab", status=0, env=None):
        r = self.kab("export", run, "--format", "bundle", "--output", self.path(file), *words, env=env)
        self.assertEqual(r.status, status, r.err)
        return self.path(file)

    def take_in(self, path, *words, status=0, db=None):
        r = self.kab("--db", db or self.far, "import", "--bundle", path, *words)
        self.assertEqual(r.status, status, r.err)
        return r

    def far_sql(self, query, *args):
        db = sqlite3.connect(self.far)
        try:
            return db.execute(query, args).fetchall()
        finally:
            db.close()

    def imported(self, name="made"):
        """A run without a benchmark: several boots, a failure, text that is not UTF-8."""
        lines = ["kernel,boot,iteration,value,unit,direction"]
        for k, kernel in enumerate(("base", "new")):
            for boot in range(4):
                for i in range(3):
                    lines.append("%s,%d,%d,%s,s,lower" % (kernel, boot, i, "fail" if boot == i == k == 1 else
                                                         100 + 7 * k + boot + i / 3))
        r = self.kab("import", "--csv", self.write("made.csv", "\n".join(lines)), "--name", name, "--again")
        self.assertEqual(r.status, 0, r.err)
        return name

    def assert_same_reports(self, run, *ways):
        for words in ways or (("--format", "json", "--all"), ()):
            a, b = (self.kab("--db", db, "report", run, *words) for db in (self.db, self.far))
            self.assertTrue(a.out)
            self.assertEqual((a.out, a.status), (b.out, b.status), words)

    def test_there_and_back(self):
        suite = self.suite([self.synthetic(mean=10, sd=0.1, fail_every=5, noise_lines=3)],
                           repeat={"boots": 2, "iterations": 2, "warmup": 1})
        r = self.kab("run", suite, "--kernel", "base=running", "--kernel", "new=running", "--name", "n")
        self.assertIn(r.status, (0, 5), r.err)
        self.assertEqual(self.kab("reparse", "n").status, 0)
        path = self.export("n")
        said = self.take_in(path)
        self.assertEqual(said.out, "n\n")
        self.assert_same_reports("n", *[("--style", s, "--all") for s in STYLES],
                                 *[("--format", f, "--all", "--names") for f in ("json", "csv", "markdown", "html")])
        for words in (("show", "n"), ("show", "n", "--names")):
            a, b = self.kab(*words).out, self.kab("--db", self.far, *words).out
            self.assertEqual([x for x in b.split("\n") if "bundle" not in x],
                             [x for x in a.split("\n") if "bundle" not in x])
        # What was raw is raw there, too, and is read again to the same end.
        names = "SELECT i.sequence, i.attempt, o.name, o.bytes FROM output o JOIN iteration i ON i.id = o.iteration_id"
        self.assertEqual(sorted(self.sql(names)), sorted(self.far_sql(names)))
        self.assertEqual(self.kab("reparse", "n").out, self.kab("--db", self.far, "reparse", "n").out)
        # The bundle of the copy is the bundle.
        os.rename(self.far, self.path("two.db"))
        self.take_in(path)
        again = self.path("again.kab")
        self.assertEqual(self.kab("--db", self.far, "export", "n", "--format", "bundle", "--output", again).status, 0)
        with open(path, "rb") as f, open(again, "rb") as g:
            self.assertEqual(f.read(), g.read())
        self.assertEqual(self.kab("--db", self.far, "doctor", "--store").status, 0)

    def test_the_hash_is_what_it_says(self):
        path = self.export(self.imported())
        body, last = unpack(path)[:-1].rsplit(b"\n", 1)
        digest = hashlib.sha256(body + b"\n").hexdigest()
        self.assertEqual(json.loads(last)["end"], {"lines": body.count(b"\n") + 1, "sha256": digest})
        said = self.kab("export", "made", "--format", "bundle", "--output", self.path("x")).err
        self.assertIn(digest, said)
        self.take_in(path, "--sha256", digest)
        self.assertEqual(self.kab("--db", self.path("plain.db"), "import", path, "--sha256", digest).out, "made\n")
        self.take_in(path, "--sha256", "0" * 64, status=3)
        self.take_in(path, "--sha256", "abc", status=2)
        lines = [json.loads(x) for x in body.split(b"\n")]
        for line in lines:
            self.assertEqual(len(line), 1)

    def test_twice_is_once(self):
        path = self.export(self.imported())
        self.take_in(path)
        before = self.far_sql("SELECT count(*) FROM iteration")
        r = self.take_in(path)
        self.assertIn("here already", r.err)
        self.assertEqual(r.out, "made\n")
        self.assertEqual(self.far_sql("SELECT count(*) FROM iteration"), before)
        self.assertIn("here already", self.take_in(path, db=self.db).err)
        self.assertIn("here already", self.take_in(self.export("made", "--anonymous", file="a.kab"), db=self.db).err)

    def test_names_that_are_taken(self):
        path = self.export(self.imported())
        shutil.copy(self.db, self.path("old.db"))
        r = self.kab("--db", self.far, "import", "--csv", self.path("made.csv"), "--name", "made")
        self.assertEqual(r.status, 0, r.err)
        r = self.take_in(path)
        self.assertEqual(r.out, "made-2\n")
        self.assertIn("made-2", r.err)
        self.assertEqual(self.kab("report", "made", "--style", "describe").out,
                         self.kab("--db", self.far, "report", "made-2", "--style", "describe").out)

    def test_several_runs_in_one(self):
        a, b = self.imported("one"), self.imported("two")
        r = self.kab("export", a, b, a, "--format", "bundle", "--output", self.path("b.kab"))
        self.assertEqual(r.status, 0, r.err)
        self.assertEqual(self.take_in(self.path("b.kab")).out, "one\ntwo\n")
        self.assert_same_reports(a)
        self.assert_same_reports(b)

    def test_through_pipes(self):
        self.imported()
        p = subprocess.run([e2e.KAB, "export", "made", "--format", "bundle"], stdout=subprocess.PIPE, env=self.env,
                           check=True, stderr=subprocess.PIPE)
        q = subprocess.run([e2e.KAB, "--db", self.far, "import", "--bundle", "-"], input=p.stdout, env=self.env,
                           check=False, capture_output=True)
        self.assertEqual((q.returncode, q.stdout), (0, b"made\n"), q.stderr)

    def test_bytes_that_are_no_text(self):
        log = self.path("raw.log")
        raw = b"Running in process mode\nTime: 0.5\n\xff\xfe\x00 \xc3\xa4 \xe2\x82\n" + bytes(range(256)) * 3000
        for kernel in ("a", "b"):
            with open(log + kernel, "wb") as f:
                f.write(raw)
        r = self.kab("import", "--runner", "hackbench", "a=" + log + "a", "b=" + log + "b", "--name", "raw")
        self.assertEqual(r.status, 0, r.err)
        stored = self.sql("SELECT name, bytes FROM output ORDER BY id")
        self.assertEqual(stored[0][1], len(raw))
        path = self.export("raw")
        self.take_in(path)
        self.assertEqual(self.far_sql("SELECT name, bytes FROM output ORDER BY id"), stored)
        data = b""
        for line in unpack(path).split(b"\n"):
            if line.startswith(b'{"output"') and data:
                break
            if line.startswith(b'{"data"'):
                v = json.loads(line)["data"]
                data += base64.b64decode(v["base64"]) if isinstance(v, dict) else v.encode()
        self.assertEqual(data, raw)
        packed = self.far_sql("SELECT data FROM output ORDER BY id LIMIT 1")[0][0]
        self.assertEqual(subprocess.run(["zstd", "-dcq"], input=packed, stdout=subprocess.PIPE, check=True).stdout, raw)

    def test_without_output(self):
        log = self.write("x.log", "Time: 0.5\n")
        self.kab("import", "--runner", "hackbench", "a=" + log, "b=" + log, "--name", "raw")
        path = self.export("raw", "--without-output")
        self.assertNotIn(b'{"output":', unpack(path))
        r = self.take_in(path)
        self.assertIn("no raw output", r.err)
        self.assertEqual(self.far_sql("SELECT count(*) FROM output"), [(0,)])
        self.assert_same_reports("raw")

    def test_anonymous(self):
        home = self.path("home/jane-roe-home")
        os.mkdir(home)
        host = "lab-host-17"
        lab = self.write("lab.json", json.dumps({"hosts": {host: {"transport": "local"}}}))
        suite = self.suite([self.synthetic(mean=10, sd=0.1)], name="home/jane-roe-home/secret-suite.json",
                           repeat={"boots": 1, "iterations": 1})
        words = ["run", suite, "--kernel", "base=running", "--kernel", "new=running", "--name", "n", "--host", host]
        r = self.kab("--lab", lab, *words)
        if r.status == 3:
            r = self.kab(*words[:-2])
            host = "local"
        self.assertEqual(r.status, 0, r.err)
        machine = self.sql("SELECT DISTINCT value FROM environment WHERE key = 'machine_id'")[0][0]
        hashed = self.sql("SELECT machine_hash FROM host")[0][0]
        hostname = self.sql("SELECT DISTINCT value FROM environment WHERE key = 'hostname'")[0][0]
        full, hidden = unpack(self.export("n")), unpack(self.export("n", "--anonymous", file="a.kab"))
        self.assertNotIn(machine.encode(), full, "the machine id is nobody's business")
        self.assertIn(hashed.encode(), full)
        for word in (hashed, machine, "jane-roe-home", self.dir, lab):
            self.assertNotIn(word.encode(), hidden, word)
        if host != "local":
            self.assertNotIn(host.encode(), hidden)
        self.assertIn(b'"key":"hostname","value":"host"', hidden)
        self.assertNotRegex(hidden, rb"(?<![\w-])" + re.escape(hostname).encode() + rb"(?![\w-])")
        self.assertNotIn(b'{"data":', hidden)
        self.assertIn(b"secret-suite.json", hidden, "what a file is called stays")
        self.take_in(self.path("a.kab"))
        a = self.kab("report", "n", "--format", "csv").out
        b = self.kab("--db", self.far, "report", "n", "--format", "csv").out
        self.assertEqual(a.replace(host + ",", "host1,"), b.replace(host + ",", "host1,"))
        self.assertEqual(self.kab("report", "n").out, self.kab("--db", self.far, "report", "n").out)
        # The anonymous copy of an anonymous copy is the same.
        self.assertIn("here already", self.take_in(self.path("a.kab")).err)

    def test_passwords_in_urls(self):
        self.imported()
        db = sqlite3.connect(self.db)
        db.execute("UPDATE run_kernel SET spec = 'deb:https://joe:hunter2@example.org/a/k.deb?token=t0ps3cret'")
        db.execute("UPDATE run SET command_line = 'kab run --kernel x=deb:https://joe:hunter2@example.org/k.deb'")
        db.commit()
        db.close()
        text = unpack(self.export("made"))
        for word in (b"hunter2", b"joe", b"t0ps3cret"):
            self.assertNotIn(word, text)
        self.assertIn(b"https://example.org/a/k.deb?...", text)

    def test_the_noise_floor_of_a_report_comes_along(self):
        self.imported("aa")
        self.imported("ab")
        db = sqlite3.connect(self.db)
        db.execute("INSERT INTO host (machine_hash) VALUES ('m')")
        db.execute("UPDATE boot SET host_id = (SELECT id FROM host WHERE machine_hash = 'm')")
        db.execute("INSERT INTO noise (run_id, machine_hash, runner, params_text, condition, metric, cv, units, restarts)"
                   " SELECT 1, 'm', runner, params_text, condition, 'value', 0.01, 5, 0 FROM iteration WHERE run_id = 1"
                   " LIMIT 1")
        db.commit()
        db.close()
        r = self.kab("export", "ab", "--format", "bundle", "--output", self.path("b.kab"))
        self.assertIn("A/A", r.err)
        self.assertEqual(self.take_in(self.path("b.kab")).out, "aa\nab\n")
        self.assertEqual(self.far_sql("SELECT r.name, n.cv FROM noise n JOIN run r ON r.id = n.run_id"), [("aa", 0.01)])
        self.export("ab", "--no-noise", file="c.kab")
        self.assertEqual(unpack(self.path("c.kab")).count(b'{"run":'), 1)

    def test_nothing_of_a_run_is_forgotten(self):
        """A column that a later schema gives to a run has to go into bundles: see store/dump.c."""
        self.imported()
        carried = {
            "run": "id name wished_name suite_name suite_json lab_json plan_json command_line kab_version state"
                   " created_wall_ns finished_wall_ns",
            "host": "id machine_hash",
            "kernel": "id identity release build_id commit_id config_hash",
            "run_host": "id run_id label position",
            "run_kernel": "id run_id label spec position",
            "boot": "id run_id run_host_id run_kernel_id block sequence restart state reason replaces host_id kernel_id"
                    " os_boot_id proven_wall_ns",
            "environment": "boot_id position key value",
            "iteration": "id run_id boot_id condition case_name row_key runner params_text case_order iteration warmup"
                         " attempt retry_of sequence state remote_id reason exit_status started_wall_ns finished_wall_ns"
                         " elapsed_s user_s system_s max_rss_kb argv_json params_resolved runner_version",
            "extraction": "id iteration_id runner parser_version parse_status message created_wall_ns",
            "series": "id key runner runner_version params metric unit",
            "sample": "extraction_id position series_id direction value",
            "output": "id iteration_id name bytes cut data",
            "summary": "id run_id run_host_id run_kernel_id condition case_name row_key runner metric unit direction n mean"
                       " stddev",
            "noise": "id run_id machine_hash runner params_text condition metric cv units restarts",
            "event": "id run_id boot_id wall_ns kind text",
        }
        for table, columns in carried.items():
            self.assertEqual([r[1] for r in self.sql("PRAGMA table_info(%s)" % table)], columns.split(), table)
        # What nights and histories remember is of the lab, not of a run.
        of_a_run = {t for (t,) in self.sql("SELECT name FROM sqlite_master WHERE type = 'table'")
                    if any(r[2] in ("run", "boot", "iteration") and not re.match("nightly_|history_|bisect", t)
                           for r in self.sql("PRAGMA foreign_key_list(%s)" % t))}
        self.assertLessEqual(of_a_run, set(carried))

    # ---- what is not as it should be ----

    def refused(self, data, words, packed=True):
        path = self.path("bad.kab")
        if packed:
            pack(data, path)
        else:
            with open(path, "wb") as f:
                f.write(data)
        r = self.take_in(path, status=3)
        self.assertRegex(r.err, words)
        self.assertLess(len(r.err), 1500)
        self.assertEqual(self.far_sql("SELECT count(*) FROM run"), [(0,)], "nothing of it is stored")

    def test_damaged_and_forged(self):
        good = self.export(self.imported())
        with open(good, "rb") as f:
            raw = f.read()
        plain = unpack(good)
        for n in (0, 1, 4, 100, len(raw) // 2, len(raw) - 1):
            self.refused(raw[:n], "empty|cut off|damaged|no bundle", packed=False)
        for at in range(30, len(raw), len(raw) // 8):
            self.refused(raw[:at] + bytes([raw[at] ^ 0x10]) + raw[at + 1:], "damaged|changed|bundle|cut off", packed=False)
        self.refused(b"not zstd at all", "damaged, or no bundle", packed=False)
        self.refused(b"hello\n", "no bundle")
        self.refused(plain.replace(b'"value":100.0', b'"value":50.0', 1), "changed or damaged")
        lines = plain[:-1].split(b"\n")
        self.refused(b"".join(x + b"\n" for x in lines[:-1]), "cut off")
        self.refused(b"".join(x + b"\n" for x in lines[:10]), "cut off")
        self.refused(plain + b'{"more":1}\n', "behind the end")
        self.refused(seal([lines[0].replace(b'"format":1', b'"format":2')] + lines[1:]), "newer kab")
        self.refused(plain[:-1], "does not end")

    def test_rows_that_cannot_be(self):
        plain = unpack(self.export(self.imported()))
        lines = plain[:-1].split(b"\n")

        def changed(prefix, old, new, words, n=0):
            at = [i for i, x in enumerate(lines) if x.startswith(b'{"' + prefix + b'":')][n]
            self.assertRegex(lines[at], old)
            bad = lines[:at] + [re.sub(old, lambda m: new, lines[at], count=1)] + lines[at + 1:]
            self.refused(seal(bad), words)

        changed(b"sample", rb'"value":[^}]*', b'"value":NaN', "no JSON")
        changed(b"sample", rb'"value":[^}]*', b'"value":1e999', "no JSON")
        changed(b"sample", rb'"value":[^}]*', b'"value":"1"', "column 'value'")
        changed(b"sample", rb'"value":[^}]*', b'"value":null', "column 'value'")
        changed(b"sample", rb'"value":', b'"value":1,"value":', "no JSON")
        changed(b"sample", rb'"direction":"lower"', b'"direction":"up"', "cannot be")
        changed(b"sample", rb'"series":1', b'"series":99', "wrong series")
        changed(b"sample", rb'"series":1', b'"series":-1', "wrong series")
        changed(b"sample", rb'"series":1', b'"series":99999999999999999999', "no JSON")
        changed(b"sample", rb'"extraction":1', b'"extraction":2', "cannot be|out of order", n=0)
        changed(b"iteration", rb'"boot":1', b'"boot":0', "wrong boot")
        changed(b"iteration", rb'"iteration":1', b'"iteration":0', "cannot be")
        changed(b"iteration", rb'"case_name":"import"', b'"case_name":"a\\u0000b"', "no JSON")
        changed(b"iteration", rb'"case_name":"import"', b'"case_name":"a\\u001b[2Jb"', "case_name")
        changed(b"iteration", rb'"case_name":"import"', b'"case_name":"\xff"', "no JSON")
        changed(b"iteration", rb'"case_name":"import"', b'"case_name":{"base64":"AAAA"}', "case_name")
        changed(b"iteration", rb'"state":"done"', b'"state":"glorious"', "cannot be")
        changed(b"iteration", rb'"state":"done"', b'"state":"pending"', "complete although")
        changed(b"kernel", rb'"label":"base"', b'"label":"../../etc"', "label")
        changed(b"kernel", rb'"label":"base"', b'"label":"new"', "cannot be")
        changed(b"run", rb'"name":"made"', b'"name":"../../x"', "proper name")
        changed(b"run", rb'"state":"complete"', b'"state":"nice"', "no state")
        changed(b"run", rb'"plan_json":"', b'"plan_json":"x', "cannot be|JSON")
        changed(b"run", rb'"suite_name"', b'"other_name"', "suite_name")
        changed(b"boot", rb'"sequence":1', b'"sequence":1,"evil":1', "has 15 values")
        changed(b"host", rb'\{"host"', b'{"house"', "no such row")
        # A row before the one it belongs to, twice the same, and one without its run.
        at = [i for i, x in enumerate(lines) if x.startswith(b'{"boot":')]
        self.refused(seal(lines[:at[0]] + lines[at[-1] + 1:]), "wrong boot")
        first = [i for i, x in enumerate(lines) if x.startswith(b'{"iteration":')][0]
        self.refused(seal(lines[:first + 1] + lines[first:]), "cannot be")
        self.refused(seal(lines[:1] + lines[2:]), "run is due")
        self.refused(seal(lines[:2] + lines[1:]), "within another")
        self.refused(seal([lines[0].replace(b'"runs":1', b'"runs":2')] + lines[1:]), "another number of runs")
        self.refused(seal([lines[0].replace(b'"runs":1', b'"runs":-3')] + lines[1:]), "header")

    def test_plans_that_lie_do_not_crash_a_report(self):
        plain = unpack(self.export(self.imported()))
        lines = plain[:-1].split(b"\n")
        plan = json.loads(json.loads(lines[1])["run"]["plan_json"])
        for n, change in enumerate(({}, {"judge": None}, {"judge": {"cases": 3}}, {"judge": {"cases": [{"name": 1}]}},
                                    {"analysis": "x"}, {"analysis": {"design": "paired"}}, {"kernels": [1, {"label": 2}]},
                                    {"judge": {"margin_pct": -1e300, "cases": [{"name": "import", "order": -5}]}},
                                    {"imported": {"a": 1}}, {"seed": "x", "stopping": {"looks": 10 ** 9}})):
            run = json.loads(lines[1])
            run["run"]["name"] = "p%d" % n
            run["run"]["created_wall_ns"] += n + 1
            run["run"]["plan_json"] = json.dumps(dict(plan, **change) if change else {})
            path = pack(seal([lines[0], json.dumps(run).encode()] + lines[2:]), self.path("p.kab"))
            r = self.kab("--db", self.far, "import", "--bundle", path)
            self.assertIn(r.status, (0, 3), r.err)
            if r.status == 0:
                for words in (("report", "p%d" % n), ("report", "p%d" % n, "--format", "json"), ("show", "p%d" % n),
                              ("export", "p%d" % n, "--format", "kcidb", "--origin", "x"), ("resume", "p%d" % n)):
                    s = self.kab("--db", self.far, *words)
                    self.assertIn(s.status, (0, 1, 3, 4, 5), s.err)

    def test_a_bomb(self):
        """Small when packed, endless once unpacked: refused by its line, in bounded memory."""
        lines = unpack(self.export(self.imported()))[:-1].split(b"\n")
        path = self.path("bomb.kab")
        p = subprocess.Popen(["zstd", "-1qf", "-", "-o", path], stdin=subprocess.PIPE)
        p.stdin.write(lines[0] + b"\n" + lines[1] + b'\n{"host":{"label":"')
        block = b"a" * (1 << 20)
        for _ in range(200):
            p.stdin.write(block)
        p.stdin.close()
        self.assertEqual(p.wait(), 0)
        self.assertLess(os.path.getsize(path), 100000)
        r = self.take_in(path, status=3)
        self.assertIn("longer than", r.err)
        # An output that says it is larger than any output may be, and one that lies about its length.
        log = self.write("x.log", "Time: 0.5\n")
        self.kab("import", "--runner", "hackbench", "a=" + log, "b=" + log, "--name", "raw")
        lines = unpack(self.export("raw"))[:-1].split(b"\n")
        for old, new, words in ((b'"bytes":10', b'"bytes":99999999999', "cannot be"),
                                (b'"bytes":10', b'"bytes":-1', "cannot be"),
                                (b'"bytes":10', b'"bytes":9', "longer than it says"),
                                (b'"bytes":10', b'"bytes":11', "shorter than it says")):
            self.refused(seal([x.replace(old, new) if x.startswith(b'{"output"') else x for x in lines]), words)
        self.refused(seal([x.replace(b'{"data":"', b'{"data":3,"x":"') for x in lines]), "one key")
        self.refused(seal([b'{"data":{"base64":"!!!!"}}' if x.startswith(b'{"data"') else x for x in lines]), "base64")

    def test_unfinished_runs_do_not_go_on_elsewhere(self):
        plain = unpack(self.export(self.imported()))
        lines = plain[:-1].split(b"\n")
        last = [i for i, x in enumerate(lines) if x.startswith(b'{"iteration":')][0]
        bad = [x.replace(b'"state":"complete"', b'"state":"interrupted"') if i == 1 else
               x.replace(b'"state":"failed"', b'"state":"pending"') if i >= last and x.startswith(b'{"iteration"') else x
               for i, x in enumerate(lines)]
        self.take_in(pack(seal(bad), self.path("u.kab")))
        r = self.kab("--db", self.far, "resume", "made")
        self.assertEqual(r.status, 3)
        self.assertIn("came in a bundle", r.err)

    def test_usage(self):
        self.imported()
        self.take_in(self.path("nothing"), status=3)
        self.take_in(self.export("made"), "--csv", "x", status=2)
        self.take_in(self.export("made"), "more", status=2)
        self.export("made", file="no/such/folder/b.kab", status=4)


if __name__ == "__main__":
    e2e.main()
