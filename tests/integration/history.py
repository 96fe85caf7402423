# SPDX-License-Identifier: GPL-3.0-or-later
"""kab history on what was run by hand, and on nights; what people say of them."""
import csv
import io
import json
import os
import shutil
import sqlite3

import e2e_lib as e2e

SERIES = ("next", "rack1", "", "pipe", "", "synthetic", "value", "s", "lower")


class History(e2e.Case):
    def insert(self, table, **values):
        db = sqlite3.connect(self.db)
        with db:
            cursor = db.execute("INSERT INTO %s (%s) VALUES (%s)" % (
                table, ", ".join(values), ", ".join("?" * len(values))), tuple(values.values()))
        db.close()
        return cursor.lastrowid

    def series(self):
        return dict(zip(("tree", "host", "condition", "case_name", "row_key", "runner", "metric", "unit", "direction"),
                        SERIES))

    def point(self, date, ratio, label=None, state="ok", **more):
        values = dict(self.series(), date=date, wall_ns=1, run_name="next-" + date, judged=1, margin_pct=2.0, series="s",
                      machine_hash="m", hardware="Model A, 16 CPUs", label=label or "k" + date[-2:], spec="release:x",
                      kernel="rel:" + date, release="x", commit_id="", reference="v6.12", reference_kernel="rel:r",
                      state=state, reason=None if state == "ok" else "host lost", boots=8, reference_boots=8, done=8,
                      failed=0 if state == "ok" else 8, planned=8, ratio=ratio, log_se=0.002 if ratio else None, df=14,
                      value=100 * ratio if ratio else None, reference_value=100.0)
        values.update(more)
        self.insert("history_point", **values)

    def kernel(self, side, label):
        return {side + "_label": label, side + "_spec": "release:x", side + "_release": "x", side + "_commit": ""}

    def make_nights(self):
        """A database with nights 1 to 12 of a tree, 5 and 6 absent, 7 failed, 16 % slower from 10 on."""
        acknowledge = ["history", "--acknowledge", "1", "--why", "x", "--who", "y"]
        # Neither is a database made for words about nothing, nor is there such a change in one.
        self.assertEqual(self.kab(*acknowledge).status, 3)
        self.assertFalse(os.path.exists(self.db))
        only = self.write("only.csv", "kernel,value,unit,direction\nk,1,s,lower\n")
        self.assertEqual(self.kab("import", "--csv", only).status, 0)
        self.assertEqual(self.kab(*acknowledge).status, 3)
        for n in range(1, 13):
            date = "2026-11-%02d" % n
            if n in (5, 6):
                continue
            if n == 7:
                self.point(date, None, state="failed")
            else:
                self.point(date, (1.16 if n >= 10 else 1.0) + 0.001 * (n % 3))
        change = self.insert("history_nomination", **dict(
            self.series(), date="2026-11-10", since="2026-11-10", wall_ns=1, origin="fast", gain_pct=-16.0, p=0.0001,
            phi=0.25, nights=9, **self.kernel("before", "k09"), **self.kernel("after", "k10")))
        self.insert("history_trial", nomination_id=change, date="2026-11-10", wall_ns=1, run_name="confirm", verdict="regressed",
                    reason="r", gain_pct=-16.1, lo_pct=-16.5, hi_pct=-15.7, p=1e-9, boots=8)
        return change

    def test_runs_by_hand(self):
        suite = self.suite([self.synthetic(name="pipe", mean=100, sd=0.3, seed=1)], repeat={"boots": 3, "iterations": 1})
        for n in (1, 2):
            r = self.kab("run", suite, "--kernel", "ref=running", "--kernel", "k%d=running" % n, "--seed", "1", "--name",
                         "run%d" % n)
            self.assertEqual(r.status, 0, r.err)
        r = self.kab("history", "pipe")
        self.assertEqual(r.status, 0, r.err)
        self.assertIn("from stored runs with reference 'ref'", r.err)
        self.assertIn("2 runs: 2 with a value (0 partial), 0 failed, 0 not measured", r.out)
        self.assertRegex(r.out, r"k1 +\d\.\d{4} +\d+\.\d\d% +\d+\.\d+ +3\+3")
        rows = list(csv.DictReader(io.StringIO(self.kab("history", "--format", "csv", "-q").out)))
        self.assertEqual([x["kernel"] for x in rows], ["k1", "k2"])
        for row in rows:
            self.assertAlmostEqual(float(row["ratio"]), float(row["value"]) / float(row["reference_value"]), 3)
        self.assertEqual(self.kab("history", "--reference", "k1").status, 0)
        self.assertEqual(self.kab("history", "--reference", "nothing").status, 3)
        self.assertEqual(self.kab("history", "nothing").status, 3)

    def test_nights(self):
        change = self.make_nights()
        r = self.kab("history", "pipe", "value")
        self.assertEqual(r.status, 0, r.err)
        self.assertLessEqual(max(map(len, r.out.splitlines())), 76)
        self.assertIn("10 nights: 9 with a value (0 partial), 1 failed, 2 not measured", r.out)
        self.assertIn("2026-11-05  (2 nights)  absent", r.out)
        self.assertRegex(r.out, r"2026-11-07  k07 +failed")
        self.assertRegex(r.out, r"2026-11-10  k10 .* #%d regressed" % change)
        self.assertIn("phi 0.25", r.out)
        self.assertIn("open since 2026-11-10", " ".join(r.out.split()))
        doc = json.loads(self.kab("history", "--format", "json").out)
        (series,) = doc["series"]
        self.assertEqual(len(series["points"]), 10)
        self.assertIsNone(series["points"][4]["ratio"])
        self.assertEqual(series["changes"][0]["verdict"], "regressed")
        # 95 %, 14 degrees of freedom: t is 2.144787
        lo, hi = series["points"][0]["ratio_ci95"]
        self.assertAlmostEqual(hi / series["points"][0]["ratio"], 2.718281828 ** (2.144787 * 0.002), 6)
        self.assertAlmostEqual(lo * hi, series["points"][0]["ratio"] ** 2, 9)
        self.assertNotIn("2026-11-03", self.kab("history", "pipe", "--since", "2026-11-08").out.split("level from")[0])
        self.assertEqual(self.kab("history", "--since", "yesterday").status, 2)
        self.assertEqual(self.kab("history", "--kernel-tree", "other").status, 3)

    def test_what_people_say(self):
        change = self.make_nights()
        why = ("--why", "price of the fix")
        self.assertEqual(self.kab("history", "--acknowledge", str(change)).status, 2)
        self.assertEqual(self.kab("history", "--acknowledge", "99", *why, "--who", "Ann").status, 3)
        # Nobody is known by git or by $USER here.
        self.assertIn("who you are", self.kab("history", "--acknowledge", str(change), *why).err)
        r = self.kab("history", "--acknowledge", str(change), *why, "--who", "Ann")
        self.assertEqual(r.status, 0, r.err)
        text = " ".join(self.kab("history", "pipe").out.split())
        self.assertRegex(text, r"acknowledged \d{4}-\d\d-\d\d by Ann: price of the fix")
        self.assertNotIn("open since", text)
        r = self.kab("history", "--acknowledge", str(change), *why, "--who", "Bob")
        self.assertIn("was acknowledged", r.err)
        self.assertEqual(self.sql("SELECT who FROM history_note"), [("Ann",)])
        # Who: git's configuration, else the user.
        e2e.subprocess.run(["git", "config", "--global", "user.name", "Cy Gitname"], env=self.env, check=True)
        self.assertEqual(self.kab("history", "pipe", "--annotate", "2026-11-09", "--why", "new fan").status, 0)
        self.assertIn("note 2026-11-09 by Cy Gitname: new fan", self.kab("history", "pipe").out)
        self.assertEqual(self.kab("history", "pipe", "--reset", "2026-11-10", "--why", "new compiler").status, 0)
        out = self.kab("history", "pipe").out
        self.assertRegex(out, r"2026-11-10 .* baseline reset")
        self.assertIn("not compared with what came before", " ".join(out.split()))
        for date in ("2026-13-40", "2026-02-30"):
            self.assertEqual(self.kab("history", "--reset", date, "--why", "x").status, 2)
        self.assertEqual(self.kab("history", "--reset", "2026-11-10", "--annotate", "2026-11-10", "--why", "x").status, 2)

    def test_picture(self):
        if not shutil.which("gnuplot"):
            self.skipTest("gnuplot is not installed")
        self.make_nights()
        r = self.kab("history", "pipe", "--format", "svg")
        self.assertEqual(r.status, 0, r.err)
        self.assertIn("<svg", r.out)


if __name__ == "__main__":
    e2e.main()
