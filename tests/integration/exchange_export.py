# SPDX-License-Identifier: GPL-3.0-or-later
"""What `kab export` writes, read by other eyes: csv and json of Python, a reader of the Go benchmark
format written from its design document, the JSON Schema of KCIDB; and every JSON output of kab through
a parser that takes nothing but JSON."""
import csv
import io
import json
import os
import re
import statistics
import subprocess
import unittest

import jsonschema

import e2e_lib as e2e

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def strict(text):
    """JSON of RFC 8259, each key once; NaN and Infinity are no numbers, and no strings either."""
    def pairs(items):
        keys = [k for k, _ in items]
        if len(set(keys)) != len(keys):
            raise ValueError("a key stands there twice: %s" % keys)
        return dict(items)

    def constant(word):
        raise ValueError("%s is no JSON" % word)

    doc = json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    for word in leaves(doc):
        if isinstance(word, str) and word.lower().strip("+-") in ("nan", "inf", "infinity"):
            raise ValueError("a number is written as '%s'" % word)
    return doc


def leaves(doc):
    if isinstance(doc, dict):
        for v in doc.values():
            yield from leaves(v)
    elif isinstance(doc, list):
        for v in doc:
            yield from leaves(v)
    else:
        yield doc


def read_benchfmt(text):
    """Units with their metadata, and results as (configuration, name, n, {unit: value})."""
    units, results, config = {}, [], {}
    for line in text.split("\n"):
        m = re.match(r"([a-z][^\sA-Z]*):(?:[ \t]+(.*))?$", line)
        if m and not re.match(r"\s", line):
            config[m[1]] = m[2] or ""
            continue
        words = line.split()
        if len(words) > 2 and words[0] == "Unit":
            units[words[1]] = dict(w.split("=", 1) for w in words[2:])
        elif words and re.match(r"Benchmark($|[^a-z])", words[0]):
            if len(words) < 4 or len(words) % 2:
                raise ValueError("no result: " + line)
            values = {words[i + 1]: float(words[i]) for i in range(2, len(words), 2)}
            results.append((dict(config), words[0], int(words[1]), values))
        elif line and not line.startswith("#"):
            raise ValueError("neither a result nor a comment: " + line)
    return units, results


# Five boots of two kernels, three values each; the third kernel fails every time, the fourth once.
def made_csv():
    lines = ["kernel,host,case,row,boot,iteration,metric,value,unit,direction"]
    for k, (kernel, factor) in enumerate((("base", 1.0), ("slow", 1.25), ("dead", None), ("lame", 1.0))):
        for boot in range(1, 6):
            for it in range(1, 4):
                value = "fail" if factor is None or (kernel == "lame" and boot == 2 and it == 1) \
                    else repr(factor * (10 + 0.01 * boot + 0.003 * it))
                lines.append("%s,box,c,groups=4,%d,%d,time,%s,s,lower" % (kernel, boot + 10 * k, it, value))
                if value != "fail":
                    lines.append("%s,box,c,groups=4,%d,%d,rate,%r,MB/s,higher" % (kernel, boot + 10 * k, it,
                                                                                1000 / float(value)))
    return "\n".join(lines) + "\n"


class Export(e2e.Case):
    def make(self, text=None, name="made"):
        path = self.write(name + ".csv", text or made_csv())
        r = self.kab("import", "--csv", path, "--name", name)
        self.assertEqual(r.status, 0, r.err)
        return name

    def out(self, *words, status=0, **kw):
        r = self.kab("export", *words, **kw)
        self.assertEqual(r.status, status, r.err)
        return r.out

    # ---- csv ----

    def rows(self, *words):
        return list(csv.DictReader(io.StringIO(self.out(*words))))

    def test_csv_has_every_sample_and_a_word_for_what_failed(self):
        run = self.make()
        text = self.out(run)
        self.assertTrue(text.startswith(
            "run,host,kernel,release,condition,case,row,params,runner,metric,unit,direction,boot,iteration,"
            "sample,attempts,sequence,state,value,reason,block\n"))
        rows = self.rows(run, "--names")
        given = list(csv.DictReader(io.StringIO(made_csv())))
        self.assertEqual(len([r for r in rows if r["state"] == "done"]),
                         len([g for g in given if g["value"] != "fail"]))
        # Bit for bit.
        self.assertEqual(sorted(float(r["value"]) for r in rows if r["value"]),
                         sorted(float(g["value"]) for g in given if g["value"] != "fail"))
        failed = [r for r in rows if r["state"] == "failed" and r["kernel"] == "dead"]
        self.assertEqual({(r["value"], r["metric"]) for r in failed}, {("", "time"), ("", "rate")})
        self.assertTrue(all(r["reason"] for r in failed))
        self.assertEqual({r["host"] for r in rows}, {"box"})
        self.assertEqual({r["host"] for r in self.rows(run)}, {"host1"})

    def test_csv_formulas_are_text_and_come_back(self):
        evil = ["=1+1", "+1", "-x", "@SUM(A1)", "'quoted", "a,b", 'say "x"', "=HYPERLINK(\"http://x\",\"y\")"]
        buf = io.StringIO()
        w = csv.writer(buf, lineterminator="\n")
        w.writerow("kernel row value unit direction boot".split())
        for i, name in enumerate(evil):
            for kernel in ("a", "b"):
                for boot in range(2):
                    w.writerow([kernel, name, -1.5 - i, "s", "lower", boot])
        run = self.make(buf.getvalue(), "evil")
        text = self.out(run)
        for row in csv.reader(io.StringIO(text)):
            for i, cell in enumerate(row):
                if cell and cell[0] in "=+-@\t\r":
                    float(cell)  # a number, not a formula
        self.write("again.csv", text)
        self.assertEqual(self.kab("import", "--csv", self.path("again.csv"), "--name", "again").status, 0)
        self.assertEqual(self.sql("SELECT DISTINCT row_key FROM iteration i JOIN run r ON r.id = i.run_id"
                                  " WHERE r.name = 'again' ORDER BY 1"), [(n,) for n in sorted(evil)])

    def test_pairs_come_back_as_pairs(self):
        suite = self.suite([self.synthetic()], repeat={"iterations": 2, "boots": 6})
        for name in ("one", "two"):
            r = self.kab("run", suite, "--kernel", "base=running", "--kernel", "test=running", "--name", name)
            self.assertEqual(r.status, 0, r.err)
        text = self.out("one")
        self.assertEqual({r["block"] for r in csv.DictReader(io.StringIO(text))}, set("123456"))
        self.write("pairs.csv", text)
        r = self.kab("import", "--csv", self.path("pairs.csv"), "--name", "pairs")
        self.assertEqual(r.status, 0, r.err)
        a, b = (strict(self.kab("report", n, "--format", "json").out)["rows"] for n in ("one", "pairs"))
        self.assertTrue(a[0]["paired"])
        self.assertTrue(b[0]["paired"])
        self.assertEqual(a[0]["comparisons"][0]["blocks"], 6)
        self.assertEqual(a[0]["comparisons"], b[0]["comparisons"])
        # Boots of two runs are four times six boots, and no pairs: their blocks have the same numbers.
        self.write("both.csv", self.out("one", "two"))
        r = self.kab("import", "--csv", self.path("both.csv"), "--name", "both")
        self.assertEqual(r.status, 0, r.err)
        self.assertIn("not tested as pairs: blocks of several runs", r.err + self.kab("report", "both").out)
        self.assertEqual(self.sql("SELECT count(*) FROM boot b JOIN run r ON r.id = b.run_id WHERE r.name = 'both'"),
                         [(24,)])
        for bad, said in ((text.replace(",2\n", ",x\n"), "a whole number from 1 is needed, not 'x'"),
                          (text.replace(",2\n", ",1\n"), "this block has another boot of this kernel already")):
            self.write("bad.csv", bad)
            r = self.kab("import", "--csv", self.path("bad.csv"), "--name", "bad")
            self.assertEqual(r.status, 3, r.err)
            self.assertIn(said, r.err)

    def test_own_csv_gives_the_same_verdicts(self):
        run = self.make()
        self.write("own.csv", self.out(run))
        r = self.kab("import", "--csv", self.path("own.csv"), "--name", "own", "--baseline", "base")
        self.assertEqual(r.status, 0, r.err)
        a, b = (strict(self.kab("report", n, "--format", "json").out) for n in (run, "own"))
        self.assertEqual(a["summary"], b["summary"])
        self.assertEqual(len(a["rows"]), 2)
        for x, y in zip(a["rows"], b["rows"]):
            for key in ("case", "row", "metric", "unit", "direction", "comparisons"):
                self.assertEqual(x[key], y[key], key)
            for i, j in zip(x["sets"], y["sets"]):
                for key in ("kernel", "n", "boots", "planned", "failed", "mean", "stddev", "values", "first_failure"):
                    self.assertEqual(i[key], j[key], key)

    def test_the_way_back_keeps_baseline_and_order(self):
        """The first iteration was of another kernel, row, condition and case than the first of the report."""
        lines = ["kernel,host,condition,case,row,boot,iteration,metric,value,unit,direction"]
        for boot in range(1, 7):
            for kernel, factor in (("patched", 1.3), ("base", 1.0), ("third", 0.8)):
                for cond in ("smt=on", "smt=off"):
                    for case, groups in (("z", 4), ("z", 1), ("a", 2)):
                        for metric, value, way in (("time", 10, "lower"), ("rate", 5, "higher")):
                            lines.append("%s,box,%s,%s,groups=%d,%d,%d,%s,%r,s,%s" % (
                                kernel, cond, case, groups, boot, 1, metric,
                                factor * value + 0.01 * boot + 0.001 * groups, way))
        path = self.write("orig.csv", "\n".join(lines) + "\n")
        r = self.kab("import", "--csv", path, "--name", "orig", "--baseline", "base")
        self.assertIn("baseline: 'base' (--baseline changes it)", r.err)
        # Of what was executed, the first was 'patched'.
        self.assertEqual(self.sql("SELECT rk.label FROM iteration i JOIN boot b ON b.id = i.boot_id"
                                  " JOIN run_kernel rk ON rk.id = b.run_kernel_id ORDER BY i.sequence LIMIT 1"),
                         [("patched",)])
        self.out("orig", "--output", self.path("y.csv"))
        r = self.kab("import", "--again", "--csv", self.path("y.csv"), "--name", "back")
        self.assertEqual(r.status, 0, r.err)
        self.assertIn("baseline: 'base' (--baseline changes it)", r.err)
        a, b = (strict(self.kab("report", n, "--format", "json").out) for n in ("orig", "back"))
        self.assertEqual(a["summary"], b["summary"])
        self.assertEqual(len(a["rows"]), 12)
        for x, y in zip(a["rows"], b["rows"]):
            self.assertEqual([s["kernel"] for s in x["sets"]], ["base", "patched", "third"])
            for key in ("condition", "case", "row", "metric", "direction", "comparisons"):
                self.assertEqual(x[key], y[key], key)
            self.assertEqual([s["kernel"] for s in x["sets"]], [s["kernel"] for s in y["sets"]])
            self.assertEqual(x["comparisons"][0]["verdict"],
                             {"time": "regressed", "rate": "improved"}[x["metric"]])
        # The order of execution comes back too.
        order = [self.sql("SELECT rk.label, i.condition, i.case_name, i.row_key FROM iteration i"
                          " JOIN boot b ON b.id = i.boot_id JOIN run_kernel rk ON rk.id = b.run_kernel_id"
                          " JOIN run r ON r.id = i.run_id WHERE r.name = '%s' ORDER BY i.sequence" % n)
                 for n in ("orig", "back")]
        self.assertEqual(order[0], order[1])
        self.assertEqual(self.out("back").replace("back,", "orig,"), self.out("orig"))

    # ---- benchstat ----

    def test_benchstat_lines_are_boots(self):
        run = self.make()
        units, results = read_benchfmt(self.out(run, "--format", "benchstat"))
        self.assertEqual(units, {"time-s": {"better": "lower"}, "rate-MB/s": {"better": "higher"}})
        of = {}
        for config, name, n, values in results:
            self.assertEqual(name, "BenchmarkImport/c/groups=4")
            self.assertEqual(list(config), ["kernel"])
            for unit, value in values.items():
                of.setdefault((config["kernel"], unit), []).append((n, value))
        self.assertEqual({k for k, _ in of}, {"base", "slow", "lame"})
        want = [statistics.fmean(10 + 0.01 * b + 0.003 * i for i in (1, 2, 3)) for b in range(1, 6)]
        for (n, value), w in zip(of["base", "time-s"], want):
            self.assertEqual(n, 3)
            self.assertAlmostEqual(value, w, places=12)
        self.assertEqual([n for n, _ in of["lame", "time-s"]], [3, 2, 3, 3, 3])
        each = read_benchfmt(self.out(run, "--format", "benchstat", "--iterations"))[1]
        self.assertEqual(len([1 for c, _, n, v in each if c["kernel"] == "base" and "time-s" in v and n == 1]), 15)
        # For `benchstat a.txt b.txt` the kernel must not part the tables.
        one = read_benchfmt(self.out(run, "--format", "benchstat", "--kernel", "slow"))[1]
        self.assertEqual([c for c, *_ in one], [{}] * 10)
        self.out(run, "--format", "benchstat", "--kernel", "nobody", status=3)

    # ---- mmtests ----

    def test_mmtests(self):
        run = self.make()
        doc = strict(self.out(run, "--format", "mmtests", "--kernel", "lame"))
        data = doc["_ResultData"]
        self.assertEqual(list(data), ["c-groups=4-time", "c-groups=4-rate"])
        boots = data["c-groups=4-time"]
        self.assertEqual([len(b["Values"]) for b in boots], [3, 2, 3, 3, 3])
        for b in boots:
            self.assertEqual(b["SampleNrs"], list(range(1, len(b["Values"]) + 1)))
        self.assertEqual(doc["_Kab"]["c-groups=4-time"]["failed"], 1)
        self.assertIn("--kernel", self.kab("export", run, "--format", "mmtests").err)

    # ---- kcidb ----

    def schema(self):
        with open(ROOT + "/schemas/kcidb-5.3.schema.json", encoding="utf-8") as f:
            return jsonschema.Draft7Validator(json.load(f), format_checker=jsonschema.FormatChecker())

    def kcidb(self, *words):
        doc = strict(self.out(*words, "--format", "kcidb", "--origin", "my_lab"))
        errors = ["%s: %s" % ("/".join(map(str, e.absolute_path)), e.message) for e in self.schema().iter_errors(doc)]
        self.assertEqual(errors, [])
        return doc

    def test_schema_refuses_what_kcidb_refuses(self):
        doc = self.kcidb(self.make())
        test = doc["tests"][0]
        for change in ({"status": "OK"}, {"path": "a..b"}, {"path": "a b"}, {"comment": None}, {"extra": 1},
                       {"id": "noorigin"}, {"origin": "My-Lab"}, {"number": {"value": "1"}},
                       {"number": {"value": 1, "prefix": "kilo"}}, {"misc": {"x": {"y": [None]}}},
                       {"start_time": "yesterday"}):
            broken = dict(doc, tests=[dict(test, **change)])
            self.assertTrue(list(self.schema().iter_errors(broken)), change)
        self.assertTrue(list(self.schema().iter_errors(dict(doc, version={"major": 5, "minor": 2}))))

    def test_kcidb(self):
        doc = self.kcidb(self.make())
        self.assertEqual(doc["version"], {"major": 5, "minor": 3})
        tests = {(t["misc"]["kernel"], t["misc"]["metric"]): t for t in doc["tests"]}
        self.assertEqual({k: t["status"] for k, t in tests.items()},
                         {("base", "time"): "DONE", ("slow", "time"): "FAIL", ("dead", "time"): "MISS",
                          ("lame", "time"): "DONE", ("base", "rate"): "DONE", ("slow", "rate"): "FAIL",
                          ("dead", "rate"): "MISS", ("lame", "rate"): "DONE"})
        t = tests["slow", "time"]
        self.assertEqual(t["path"], "import.c.groups_4.time")
        means = [1.25 * statistics.fmean(10 + 0.01 * b + 0.003 * i for i in (1, 2, 3)) for b in range(1, 6)]
        self.assertAlmostEqual(t["number"]["value"], statistics.fmean(means), places=12)
        self.assertEqual({k: v for k, v in t["number"].items() if k != "value"}, {"unit": "s", "prefix": "metric"})
        misc = t["misc"]
        self.assertEqual((misc["n"], misc["boots"]), (15, 5))
        self.assertAlmostEqual(misc["stddev"], statistics.stdev(means), places=12)
        self.assertLess(misc["interval"][0], t["number"]["value"])
        self.assertAlmostEqual(misc["comparison"]["gain_pct"], -25, places=6)
        self.assertEqual(tests["dead", "time"].get("number"), None)
        self.assertEqual(tests["dead", "time"]["misc"]["failed"], 15)
        for t in doc["tests"]:
            self.assertTrue(t["misc"]["runtime"])
            self.assertTrue(t["environment"]["misc"]["platform"])
            self.assertIn(t["build_id"], {b["id"] for b in doc["builds"]})
        for b in doc["builds"]:
            self.assertEqual(b["misc"]["lab"], "my_lab")
            self.assertIn(b["checkout_id"], {c["id"] for c in doc["checkouts"]})
        self.assertNotIn("box", json.dumps(doc))
        ids = [o["id"] for key in ("checkouts", "builds", "tests") for o in doc[key]]
        self.assertEqual(len(set(ids)), len(ids))

    def test_kcidb_an_id_has_one_value_for_ever(self):
        run = self.make()
        first = {o["id"]: o for o in self.kcidb(run)["tests"]}
        again = {o["id"]: o for o in self.kcidb(run)["tests"]}
        self.assertEqual(first, again)
        # Another value of one sample.
        text = made_csv().replace("base,box,c,groups=4,1,1,time,", "base,box,c,groups=4,1,1,time,1", 1)
        self.make(text, "made")
        other = {o["id"]: o for o in self.kcidb("made-2")["tests"]}
        for key in set(first) & set(other):
            self.assertEqual(first[key], other[key])

        def base(tests):
            return [o for o in tests.values() if o["misc"]["kernel"] == "base" and o["misc"]["metric"] == "time"][0]

        self.assertNotEqual(base(first)["number"], base(other)["number"])
        self.assertNotEqual(base(first)["id"], base(other)["id"])

    def test_kcidb_needs_an_origin(self):
        run = self.make()
        self.assertIn("--origin", self.kab("export", run, "--format", "kcidb").err)
        self.assertEqual(self.kab("export", run, "--format", "kcidb", "--origin", "My-Lab").status, 2)
        r = self.kab("export", run, "--format", "kcidb", env=dict(self.env, KAB_KCIDB_ORIGIN="cave"))
        self.assertEqual(json.loads(r.out)["tests"][0]["origin"], "cave")

    def test_sentences_name_no_hosts(self):
        lines = ["kernel,host,boot,value,unit,direction,reason"]
        for host in ("tx2", "tx2-b"):
            for kernel in "ab":
                for boot in range(3):
                    lines.append("%s,%s,%d,%s,s,lower,%s" % (
                        kernel, host, boot, "fail" if boot == 1 else 10 + boot,
                        "host '%s' was lost; tx2x and tx2_b are others" % host if boot == 1 else ""))
        run = self.make("\n".join(lines), "hosts")
        for words in (("--format", "csv"), ("--format", "benchstat"), ("--format", "kcidb", "--origin", "x")):
            text = self.out(run, *words)
            self.assertNotRegex(text, r"\btx2\b")
            self.assertIn("tx2x and tx2_b are others", text)
            self.assertIn("host 'host1' was lost", text)
            self.assertIn("host 'host2' was lost", text)
            self.assertIn("host 'tx2-b' was lost", self.out(run, *words, "--names"))

    # ---- nothing but JSON, whatever the numbers ----

    CASES = {
        "one": "kernel,value,unit,direction\na,1,s,lower\nb,2,s,lower\n",
        "zero": "kernel,boot,value,unit,direction\n" + "".join("%s,%d,%s,s,lower\n" % (k, b, v) for b in range(4)
                                                            for k, v in (("a", "0"), ("b", "%d" % (b + 1)))),
        "dead": "kernel,boot,value,unit,direction\n" + "".join("%s,%d,fail,s,lower\n" % (k, b) for b in range(3)
                                                              for k in "ab"),
        "signs": "kernel,boot,value,unit,direction\n" + "".join("%s,%d,%d,s,higher\n" % (k, b, (-1) ** b * b)
                                                                for b in range(4) for k in "ab"),
        "huge": "kernel,boot,value,unit,direction\n" + "".join("%s,%d,%s,s,lower\n" % (k, b, v) for b in range(3)
                                                               for k, v in (("a", "1e308"), ("b", "1e-308"))),
        "flat": "kernel,boot,value,unit,direction\n" + "".join("%s,%d,5,s,none\n" % (k, b) for b in range(3)
                                                               for k in "ab"),
    }

    def test_all_json_is_strict(self):
        runs = [self.make(text, name) for name, text in self.CASES.items()] + [self.make()]
        for run in runs:
            doc = strict(self.kab("report", run, "--format", "json", "--all").out)
            self.assertIn("rows", doc)
            self.kcidb(run)
            for kernel in ("a", "base"):
                r = self.kab("export", run, "--format", "mmtests", "--kernel", kernel)
                if r.status == 0:
                    strict(r.out)
        strict(self.kab("compare", "one", "zero", "--format", "json").out)
        doc = strict(self.kab("history", "--format", "json").out or "null")
        self.assertIsNotNone(doc)

    def test_check_is_strict(self):
        mail = self.write("mail", "From: a@example.org\nSubject: x\nMessage-ID: <1@x>\n\n"
                          "hackbench -g 4\n\n              base      patched     gain\n"
                          "  groups 1    0.000     0.000       nan%\n  groups 2    0.000     0.100       inf%\n"
                          "  groups 4    1.000     0.900      10.00%\n")
        r = self.kab("check", "--json", mail)
        self.assertIn(r.status, (0, 1, 3, 5), r.err)
        self.assertIsInstance(strict(r.out), dict)

    def test_undefined_is_null_with_a_reason(self):
        doc = strict(self.kab("report", self.make(self.CASES["dead"], "dead"), "--format", "json").out)
        for row in doc["rows"]:
            for side in row["sets"]:
                self.assertIsNone(side["mean"])
                self.assertIsNone(side["stddev"])
                self.assertIn("failed", side["reason"])
            for pair in row["comparisons"]:
                self.assertIsNone(pair["gain_pct"])
                self.assertTrue(pair["reason"])
        doc = strict(self.kab("report", self.make(self.CASES["one"], "one"), "--format", "json").out)
        for side in doc["rows"][0]["sets"]:
            self.assertEqual(side["n"], 1)
            self.assertIsNone(side["stddev"])
            self.assertTrue(side["reason"])
        doc = strict(self.kab("report", self.make(self.CASES["zero"], "zero"), "--format", "json").out)
        pair = doc["rows"][0]["comparisons"][0]
        self.assertIsNone(pair["gain_pct"])
        self.assertTrue(pair["reason"])

    def test_stats_and_parse_are_strict(self):
        one, zero = self.write("one", "1\n"), self.write("zero", "0\n0\n0\n")
        for words in ((one,), (one, zero), (zero, one), (zero, zero), (one, one)):
            strict(self.kab("stats", "--json", *words).out)
        for text in ("", "Time: nan\n", "Time: inf\n", "Time: 1.5\n", "Time: -nan\n", "Time: 1e999\n"):
            strict(self.kab("parse", "hackbench", self.write("log", text)).out)
        # A saturated histogram of sysbench: the percentile is not a number.
        text = ("sysbench 1.0.20\n\nCPU speed:\n    events per second:   100.00\n\nGeneral statistics:\n"
                "    total time:                          10.0s\n    total number of events:              1000\n\n"
                "Latency (ms):\n         min:                                    0.10\n         avg:    "
                "                                0.11\n         max:                               100000.00\n"
                "         95th percentile:                    100000.00\n         sum:                 "
                "                 1000.00\n")
        strict(self.kab("parse", "sysbench", self.write("log", text)).out)

    def test_events_are_strict(self):
        suite = self.suite([self.synthetic(mean=0, sd=0),
                            self.synthetic(name="dead", mean=1, fail_every=1)], repeat={"iterations": 2})
        r = self.kab("run", suite, "--kernel", "a=running", "--kernel", "b=running", "--name", "ev",
                     "--events=json")
        for line in r.out.split("\n"):
            if line.startswith("{"):
                strict(line)
        strict(self.kab("report", "ev", "--format", "json").out)
        tests = self.kcidb("ev")["tests"]
        self.assertEqual({(t["path"], t["status"]) for t in tests}, {("synthetic.s.value", "DONE"),
                                                                     ("synthetic.dead.value", "ERROR")})
        for t in tests:
            self.assertEqual("number" in t, t["status"] == "DONE")
            self.assertIn("start_time", t)
            self.assertRegex(t["build_id"], "^my_lab:kab-[0-9a-f]{40}$")

    # ---- the command itself ----

    def test_usage(self):
        run = self.make()
        self.out(run, "--format", "xml", status=2)
        self.out(run, "--anonymous", status=2)
        self.out(run, "--iterations", status=2)
        self.out(run, "--format", "bundle", "--kernel", "base", status=2)
        self.out("nobody", status=3)
        self.out(run, "--output", "/nonexistent/x", status=4)
        self.assertEqual(self.out(run, "--output", self.path("o.csv")), "")
        with open(self.path("o.csv"), encoding="utf-8") as f:
            self.assertEqual(f.read(), self.out(run))

    def test_a_full_disk_is_an_error(self):
        run = self.make()
        with open("/dev/full", "w", encoding="utf-8") as full:
            p = subprocess.run([e2e.KAB, "export", run], stdout=full, stderr=subprocess.PIPE, env=self.env, check=False)
        self.assertEqual(p.returncode, 4, p.stderr)


if __name__ == "__main__":
    e2e.main()
