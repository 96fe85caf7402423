# SPDX-License-Identifier: GPL-3.0-or-later
"""kab check and kab reply on real mails, which cannot be part of this repository: what a checker must find in
each, what it must not claim, and whom a reply goes to. KAB_EXTRA_FIXTURES names the folder that has
fixtures/mails (with INDEX.json) and mails."""
import email
import email.policy
import email.utils
import glob
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest

KAB = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else None
ROOT = os.environ.get("KAB_EXTRA_FIXTURES", "")
MAILS = os.path.join(ROOT, "fixtures", "mails")
INDEX = os.path.join(MAILS, "INDEX.json")


def check(path, *options):
    done = subprocess.run([KAB, "check", *options, path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) if options else done.stdout


def number(text):
    return float(re.search(r"[-+]?\d+(?:[.,]\d+)?", text).group(0).replace(",", "."))


def percents(found):
    return [p for t in found["tables"] for p in t["percents"]]


def welch(found):
    return [s for t in found["tables"] for s in t["statistics"] if s["kind"] == "welch"]


def seed(prefix):
    return glob.glob(os.path.join(ROOT, "mails", prefix + "*"))[0]


class Fixtures(unittest.TestCase):
    def setUp(self):
        with open(INDEX, encoding="utf-8") as f:
            self.files = json.load(f)["files"]

    def test_every_percentage_is_found_and_none_is_accused_wrongly(self):
        total = 0
        for entry in self.files:
            got = percents(check(os.path.join(MAILS, entry["file"]), "--json"))
            for want in entry["expect"].get("check", {}).get("percent_rows", []):
                hit = next((g for g in got if math.isclose(number(g["printed"]), number(want["printed"]))
                            and g["recomputed"] is not None
                            and math.isclose(g["recomputed"], want["recomputed"], rel_tol=1e-3, abs_tol=5e-3)
                            and (g["verdict"], g["convention"]) == (want["verdict"], want["convention"])), None)
                self.assertIsNotNone(hit, f"{entry['file']}: {want}")
                got.remove(hit)
                total += 1
            wrong = [g for g in got if g["verdict"] == "inconsistent"]
            self.assertEqual(wrong, [], entry["file"])
        self.assertGreater(total, 100)

    def test_tests_agree_with_an_independent_computation(self):
        total = 0
        for entry in self.files:
            rows = entry["expect"].get("check", {}).get("statistics", [])
            want = [r for r in rows if isinstance(rows, list) and isinstance(r, dict) and "df" in r]
            got = welch(check(os.path.join(MAILS, entry["file"]), "--json"))
            for w in want:
                hit = [g for g in got if math.isclose(g["t_base_minus_test"], w["t_base_minus_test"], rel_tol=1e-4)
                       and math.isclose(g["df"], w["df"], rel_tol=1e-4)
                       and math.isclose(g["p"], w["p"], rel_tol=1e-3)]
                self.assertEqual(len(hit), 1, f"{entry['file']}: {w}")
                self.assertEqual(hit[0]["significant_0_05"], w["significant_0_05"])
                total += 1
            if not want:
                self.assertEqual(got, [], f"{entry['file']}: a test without n")
        self.assertGreaterEqual(total, 7)

    def test_replies_go_to_whom_they_should_and_quote_the_table(self):
        with tempfile.TemporaryDirectory() as folder:
            db = os.path.join(folder, "k.db")
            with open(os.path.join(folder, "r.csv"), "w", encoding="ascii") as f:
                f.write("kernel,boot,value\n" + "".join(
                    f"{k},{b},{b + 10 + (k == 'new')}\n" for k in ("old", "new") for b in range(6)))
            subprocess.run([KAB, "--db", db, "import", "--csv", f.name, "--name", "r"], check=True,
                           capture_output=True)
            for entry in self.files:
                want = entry["expect"].get("reply")
                if want:
                    self.one_reply(entry["file"], want, db)

    def one_reply(self, name, want, db):
        done = subprocess.run([KAB, "--db", db, "reply", os.path.join(MAILS, name), "r", "--from",
                               "A Tester <%s>" % want["self"]], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, f"{name}: {done.stderr}")
        mail = email.message_from_string(done.stdout, policy=email.policy.default)

        def addresses(header):
            return [a for _, a in email.utils.getaddresses([str(mail[header] or "")])]
        self.assertEqual(addresses("To"), want["to"], name)
        self.assertEqual(sorted(addresses("Cc")), sorted(want["cc"]), name)
        self.assertIn(str(mail["Subject"]), [want["subject"]] + want.get("subject_also_ok", []), name)
        self.assertEqual(str(mail["In-Reply-To"]), want["in_reply_to"], name)
        self.assertEqual(re.findall(r"<[^>]+>", str(mail["References"])), want["references"], name)
        self.assertTrue(done.stdout.isascii(), name)
        self.assertNotIn("flowed", done.stdout.split("\n\n", 1)[0])
        for line in done.stdout.split("\n\n", 1)[0].split("\n"):
            # One word cannot be folded.
            self.assertTrue(len(line) <= 78 or len(line.split()) <= 2, f"{name}: {line}")
        body = done.stdout.split("\n\n", 1)[1].split("\n")
        table = want["quoted_table"]
        for line in table.get("lines") or [table["first"], table["last"]]:
            self.assertIn((">" if line.startswith(">") else "> ") + line, body, name)


class Seeds(unittest.TestCase):
    def test_columns_of_an_android_grid(self):
        found = check(seed("001"), "--json")
        self.assertEqual([p["verdict"] for p in percents(found)], ["truncated", "exact", "exact"])
        self.assertEqual(welch(found), [])

    def test_decimal_commas_without_line_breaks(self):
        found = check(seed("002"), "--json")
        got = percents(found)
        self.assertEqual(len(got), 11)
        self.assertEqual({p["convention"] for p in got}, {"A"})
        self.assertNotIn("inconsistent", {p["verdict"] for p in got})
        self.assertAlmostEqual(got[0]["recomputed"], 6.028636, places=5)
        gains = {s["row"]: s["diff_pct"] for s in found["tables"][2]["statistics"]}
        self.assertEqual(len(gains), 9)
        self.assertAlmostEqual(gains["16"], 100 * (53.24 - 53.94) / 53.94, places=6)
        self.assertRegex(json.dumps(found["findings"]), r"7 of 9 changes are within it.*16 \(-1.30%\), 512 \(\+1.26%\)")

    def test_standard_deviations_that_are_twice_too_large(self):
        found = check(seed("003"), "--json")
        sds = [s for t in found["tables"] for s in t["statistics"] if s["kind"] == "stddev"]
        self.assertEqual(len(sds), 6)
        for s in sds:
            self.assertEqual(s["verdict"], "inconsistent")
            self.assertAlmostEqual(s["printed"] / s["recomputed"], 2, places=5)
            self.assertIn("sum of squared deviations", s["formula"])
        means = [s for t in found["tables"] for s in t["statistics"] if s["kind"] == "mean"]
        self.assertEqual({s["verdict"] for s in means}, {"exact"})
        sys_time = next(s for s in welch(found) if s["column"] == "sys")
        self.assertAlmostEqual(sys_time["t"], -1.7071198519215494, places=8)
        self.assertAlmostEqual(sys_time["df"], 4.545052937854509, places=8)
        self.assertFalse(any(s["significant_0_05"] for s in welch(found)))

    def test_one_delta_is_significant_and_one_is_not(self):
        found = check(seed("004"), "--json")
        got = {s["row"]: s for s in welch(found)}
        self.assertAlmostEqual(got["+REWORK SMT-ON"]["t"], -3.061955509, places=5)
        self.assertAlmostEqual(got["+REWORK SMT-OFF"]["p"], 0.7539135, places=5)
        self.assertTrue(got["+REWORK SMT-ON"]["significant_0_05"])
        self.assertFalse(got["+REWORK SMT-OFF"]["significant_0_05"])
        self.assertEqual([(p["printed"], p["verdict"]) for p in percents(found)],
                         [("-3.48%", "exact"), ("+0.32%", "exact")])

    def test_a_mail_without_message_id_is_not_replied_to(self):
        for prefix in ("001", "002"):
            done = subprocess.run([KAB, "reply", seed(prefix), "--from", "A <a@example.test>"],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (3, ""))
            self.assertRegex(done.stderr, "no Message-ID.*--in-reply-to")


if __name__ == "__main__":
    if not os.path.exists(INDEX):
        print("skipped: KAB_EXTRA_FIXTURES is not set to a folder with fixtures/mails and mails")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
