# SPDX-License-Identifier: GPL-3.0-or-later
"""kab report --format html in a real browser: its tables are the JSON of the same report, it asks for nothing,
and a keyboard is enough."""
import http.server
import json
import os
import random
import re
import sys
import threading
import unittest
from decimal import ROUND_HALF_UP, Decimal

import e2e_lib
from html_browser import Browser, missing

HEAD = "kernel,host,condition,case,row,boot,iteration,metric,unit,direction,value\n"
OUTCOMES = ["improved", "regressed", "equivalent", "inconclusive", "failed", "missing", "not comparable",
            "below resolution", "no verdict"]
TIMES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
HOSTILE = {
    "case": "<script>document.title='owned'</script>",
    "row": "k=\"' onmouseover='alert(1)",
    "condition": "</table></script><img src=x onerror=alert(1)>",
    "metric": "m&lt;b&gt;",
    "unit": "\"><svg/onload=alert(1)>",
}

# Every cell of every table, and what stands behind its row, as a reader sees it.
READ = r"""
const text = e => e.textContent;
return [...document.querySelectorAll("table.main")].map(t => {
    const heads = [];
    for (const th of t.tHead.querySelectorAll("[data-c]"))
        heads[+th.dataset.c] = {head: text(th), k: th.dataset.k, p: th.dataset.p};
    const small = s => s && {caption: text(s.caption), heads: [...s.tHead.rows[0].cells].map(text),
        rows: [...s.tBodies[0].rows].map(r => [...r.cells].map(text))};
    return {title: text(t.caption), heads,
        kernels: [...t.tHead.querySelectorAll(".kern")].map(text),
        rows: [...t.tBodies].slice(0, arguments[0] || 1e9).map(b => ({
            cells: [...b.rows[0].cells].map(text), name: text(b.rows[1].querySelector(".name")),
            sets: small(b.querySelector("table.s")), pairs: small(b.querySelector("table.p")),
            pictures: b.querySelectorAll("svg.strip, svg.plot").length}))};
});
"""


def measured(rng):
    """Three kernels, two metrics of the verdict and one beside; a case that fails, one that is not there."""
    factor = {("patched", 4): 0.93, ("patched", 16): 1.05}
    lines = []
    for kernel in ("base", "patched", "patched-v2"):
        for case, metric, unit, direction, level in (("pipe", "time", "s", "lower", 2.3),
                                                     ("rand", "events", "1/s", "higher", 5123),
                                                     ("tiny", "latency", "s", "lower", 0.00003),
                                                     ("plain", "bytes", "B", "none", 4096)):
            for load in (1, 4, 16, 64) if case in ("pipe", "rand") else (1, 2):
                for boot in range(5):
                    mean = level * (1 + load / 10) * factor.get((kernel, load), 1) * rng.gauss(1, 0.006)
                    for i in range(4):
                        value = "%.6g" % (mean * rng.gauss(1, 0.01))
                        if kernel == "patched" and load == 64 and (case == "pipe" or i == 0):
                            value = "fail"
                        if kernel == "patched-v2" and load == 1 and case == "rand":
                            continue
                        lines.append("%s,box,,%s,groups=%d,%d,%d,%s,%s,%s,%s" %
                                     (kernel, case, load, boot, i, metric, unit, direction, value))
    return HEAD + "\n".join(lines) + "\n"


def quoted(text):
    return '"%s"' % text.replace('"', '""')


def hostile():
    lines = []
    for kernel in ("base", "evil"):
        for boot in range(3):
            lines.append(",".join([kernel, "h1", quoted(HOSTILE["condition"]), quoted(HOSTILE["case"]),
                                   quoted(HOSTILE["row"]), str(boot), "0", quoted(HOSTILE["metric"]),
                                   quoted(HOSTILE["unit"]), "lower", "%d.5" % (boot + 1)]))
    return HEAD + "\n".join(lines) + "\n"


def away_from_zero(value, places):
    return Decimal(value).quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)


def places(text):
    return len(text.partition(".")[2].rstrip("%"))


class Server:
    """Serves a folder on loopback and remembers what it was asked for."""

    def __init__(self, folder):
        asked = self.asked = []

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *args):
                super().__init__(*args, directory=folder)

            def do_GET(self):
                asked.append(self.path)
                super().do_GET()

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d/" % self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = os.environ["KAB_TEST_WORK"]
        cls.env = {"HOME": cls.dir, "PATH": os.environ["PATH"], "KAB_DB": os.path.join(cls.dir, "kab.db"),
                   "LC_ALL": "C"}
        cls.env.update((n, v) for n, v in os.environ.items() if n.endswith("SAN_OPTIONS"))
        for name, text in (("demo", measured(random.Random(3))), ("again", measured(random.Random(4))),
                           ("hostile", hostile())):
            with open(cls.path(name + ".csv"), "w", encoding="utf-8") as f:
                f.write(text)
            cls.kab("import", "--csv", cls.path(name + ".csv"), "--name", name, status=(0, 5))
        cls.kab("report", "demo", "--all", "--format", "html", "--output", cls.path("demo.html"), status=(5,))
        cls.server = Server(cls.dir)
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.server.close()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.dir, name)

    @classmethod
    def kab(cls, *words, status=(0,)):
        done = e2e_lib.subprocess.run([e2e_lib.KAB, *words], env=cls.env, capture_output=True, check=False)
        if done.returncode not in status:
            raise AssertionError("kab %s: %d: %s" % (words, done.returncode, done.stderr.decode()[-2000:]))
        return done.stdout

    def setUp(self):
        self.browser.cdp("Emulation.setEmulatedMedia", media="", features=[])
        self.browser.log("browser")
        self.browser.log("performance")

    def open(self, name="demo.html"):
        self.browser.open(self.server.url + name)

    def js(self, script, *args):
        return self.browser.js(script, *args)

    # ---- the numbers ----

    def number(self, shown, value, what, scale=1.0):
        """The text is that value, rounded where the text ends."""
        if value is None:
            self.assertIn(shown, ("n/a", "-", ""), what)
            return
        text = shown.rstrip("%")
        self.assertRegex(text, r"^[+-]?\d+(\.\d+)?$", what)
        want = away_from_zero(value * scale, places(text))
        close = away_from_zero(value * scale * (1 + 1e-12), places(text))
        self.assertIn(Decimal(text), (want, close), what)

    def exact(self, shown, value, what, digits=1e-6):
        if value is None:
            self.assertEqual(shown, "n/a", what)
            return
        self.assertAlmostEqual(float(shown), value, delta=abs(value) * digits, msg=what)

    def interval(self, shown, value, what, each):
        if value is None:
            self.assertIn(shown, ("", "n/a", "[n/a]"), what)
            return
        m = re.fullmatch(r"\[(\S+), (\S+)\]", shown)
        self.assertTrue(m, "%s: %s" % (what, shown))
        each(m.group(1), value[0], what + " lo")
        each(m.group(2), value[1], what + " hi")

    def value_cell(self, shown, made, scale, what):
        if made["n"]:
            self.number(shown, made["mean"], what, scale)
        elif made["failed"]:
            self.assertEqual(shown, "fail %d/%d" % (made["failed"], made["planned"]), what)
        else:
            self.assertEqual(shown, "missing", what)

    def same_cells(self, table, shown, row):
        unit = re.search(r"\(([^()]*)\)", table["title"])
        scale = 1.0
        if unit and unit.group(1) in TIMES and row["unit"] in TIMES:
            scale = round(TIMES[row["unit"]] / TIMES[unit.group(1)], 9)
        for head, cell in zip(table["heads"], shown["cells"]):
            what = "%s: %s" % (shown["name"], head)
            if head["k"] is not None:
                made = row["sets"][int(head["k"])]
                if head["head"] == "mean":
                    self.value_cell(cell, made, scale, what)
                elif head["head"] == "+/-":
                    self.number(cell, made["cv_pct"] if made["n"] else None, what)
                elif head["head"] == "n":
                    self.assertEqual(cell.split("x")[0], str(made["boots"]), what)
                elif head["head"] == "lost":
                    self.assertEqual(cell, "fail %d/%d" % (made["failed"], made["planned"])
                                     if made["failed"] and made["n"] else "", what)
                else:
                    self.fail("unknown column " + what)
            elif head["p"] is not None:
                pair = row["comparisons"][int(head["p"])]
                if head["head"] == "gain":
                    self.number(cell, pair["gain_pct"], what)
                elif head["head"] == "diff":
                    self.number(cell, pair["diff_pct"], what)
                elif head["head"] == "verdict":
                    self.assertEqual(cell, (pair["mark"] + " " if pair["mark"] else "") + pair["verdict"], what)
                elif head["head"] == "95% CI":
                    self.interval(cell, pair["gain_ci_pct"], what, self.number)
                else:
                    self.fail("unknown column " + what)
            else:
                labels = (row["host"], row["condition"], row["case"], row["metric"], "%(metric)s (%(unit)s)" % row,
                          row["row"].partition("=")[2])
                self.assertIn(cell, labels, what)

    def same_sets(self, shown, row):
        lines = {r[0]: r[1:] for r in shown["sets"]["rows"]}
        self.assertEqual(shown["sets"]["heads"][1:], [s["kernel"] for s in row["sets"]])
        for k, made in enumerate(row["sets"]):
            what = "%s, %s: " % (shown["name"], made["kernel"])
            self.assertEqual(lines["iterations"][k], str(made["n"]), what)
            self.assertEqual(lines["boots"][k], str(made["boots"]), what)
            for head, key in (("mean", "mean"), ("stddev", "stddev"), ("CV, %", "cv_pct"), ("min", "min"),
                              ("standard error", "sem"), ("median", "median"), ("max", "max")):
                self.exact(lines[head][k], made[key], what + head)
            for p, value in made["percentiles"].items():
                self.exact(lines["median" if p == "50" else p + " %"][k], value, what + p)
            self.interval(lines["95 % interval"][k], made["ci"], what + "interval", self.exact)

    def same_pairs(self, shown, row):
        lines = {r[0]: r[1:] for r in shown["pairs"]["rows"]}
        for p, pair in enumerate(row["comparisons"]):
            what = "%s, %s: " % (shown["name"], pair["test"])
            self.assertEqual(lines["verdict"][p], (pair["mark"] + " " if pair["mark"] else "") + pair["verdict"])
            self.assertEqual(lines["reason"][p], pair["reason"], what)
            self.assertEqual(lines["method"][p], pair["method"], what)
            if pair["warning"]:
                self.assertEqual(lines["warning"][p], pair["warning"], what)
            for head, key in (("(test-base)/base, %", "diff_pct"), ("test/base", "ratio"), ("test-base", "difference"),
                              ("t", "t"), ("df", "df"), ("margin, %", "margin_pct")):
                self.exact(lines[head][p], pair[key], what + head)
            adjusted = [h for h in lines if h.startswith("p after holm over ")]
            self.assertEqual(len(adjusted), 1)
            for head, key in (("p", "p"), (adjusted[0], "p_adjusted"), ("Mann-Whitney p", "mann_whitney_p")):
                self.exact(lines[head][p], pair[key], what + head, 0.006)
            if row["direction"] != "none":
                self.exact(lines["gain, %"][p], pair["gain_pct"], what + "gain")
                self.interval(lines["95 % interval, %"][p], pair["gain_ci_pct"], what + "gain interval", self.exact)

    def same(self, report, most=None):
        """most: only so many rows of each table."""
        rows = {}
        for row in report["rows"]:
            parts = (row["host"], row["condition"], row["case"], row["row"], row["metric"])
            rows["/".join(p for p in parts if p)] = row
        tables = self.js(READ, most)
        for table in tables:
            for shown in table["rows"]:
                row = rows.pop(shown["name"])
                self.assertIn({"lower": "LOWER", "higher": "HIGHER", "none": "not judged"}[row["direction"]],
                              table["title"] + " not judged" * ("no direction" in table["title"]))
                self.same_cells(table, shown, row)
                self.same_sets(shown, row)
                self.same_pairs(shown, row)
                self.assertEqual(shown["pictures"], 2 if any(s["n"] for s in row["sets"]) else 0)
            self.assertEqual(table["kernels"], [s["kernel"] for s in row["sets"]])
        return tables, rows

    def test_tables_are_the_json(self):
        self.open()
        report = json.loads(self.kab("report", "demo", "--format", "json", status=(5,)))
        tables, left = self.same(report)
        self.assertEqual(left, {}, "rows that the page does not have")
        self.assertEqual(len(tables), 4)
        shown = " ".join(c for t in tables for r in t["rows"] for c in r["cells"])
        for word in ("fail 20/20", "missing", "I improved", "R regressed", "= equivalent"):
            self.assertIn(word, shown, "the run has no such row: the test compares less than it says")
        text = self.js("return document.querySelector('header').innerText")
        for pair in report["summary"]:
            self.assertIn("%s: %s" % (pair["test"], pair["text"]), text)

    def test_compare_is_the_json(self):
        words = ("compare", "demo:base", "again:base")
        self.kab(*words, "--format", "html", "--output", self.path("compare.html"))
        self.open("compare.html")
        tables, left = self.same(json.loads(self.kab(*words, "--format", "json")))
        self.assertTrue(all(not row["carries_verdict"] for row in left.values()))
        self.assertTrue(tables)
        text = self.js("return document.body.innerText")
        self.assertIn("demo:base against again:base", text)
        self.assertIn("Kernels of different runs: tested unpaired", text)

    def test_output_is_stdout_and_repeats(self):
        with open(self.path("demo.html"), "rb") as f:
            page = f.read()
        self.assertEqual(self.kab("report", "demo", "--all", "--format", "html", status=(5,)), page)
        self.kab("report", "demo", "--format", "html", "--output", self.path("no/such/folder.html"), status=(4,))
        for name in ("text", "json"):
            done = self.kab("report", "demo", "--format", name, "--output", self.path("out"), status=(5,))
            self.assertEqual(done, b"")
            with open(self.path("out"), "rb") as f:
                self.assertEqual(f.read(), self.kab("report", "demo", "--format", name, status=(5,)))

    # ---- what it asks for, and what it lets in ----

    def test_asks_for_nothing(self):
        self.server.asked.clear()
        self.open()
        self.js("document.getElementById('all').click()")
        self.assertEqual(self.server.asked, ["/demo.html"])
        urls = set()
        for entry in self.browser.log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                urls.add(message["params"]["request"]["url"])
        urls.discard(self.server.url + "demo.html")
        self.assertEqual([u for u in urls if not u.startswith("data:")], [])
        self.assertEqual(self.browser.log("browser"), [])

    def test_policy_holds(self):
        with open(self.path("demo.html"), encoding="utf-8") as f:
            page = f.read()
        self.assertNotRegex(page, r"(?i)<[^>]+\son\w+=")
        self.assertNotRegex(page, r"(?i)<(?!meta)[^>]+\sstyle=")
        bad = page.replace("</header>", "</header><script>document.title='owned'</script>"
                           "<img src=/tracker.png><h1 id=styled style='color:#ff0000'>x</h1>", 1)
        self.assertNotEqual(bad, page)
        with open(self.path("bad.html"), "w", encoding="utf-8") as f:
            f.write(bad)
        self.server.asked.clear()
        self.open("bad.html")
        self.assertEqual(self.browser.do("GET", "/title"), "demo - kab report")
        self.assertEqual(self.server.asked, ["/bad.html"])
        self.assertNotEqual(self.js("return getComputedStyle(document.getElementById('styled')).color"),
                            "rgb(255, 0, 0)")
        self.assertGreaterEqual(len([e for e in self.browser.log("browser") if "Content Security" in e["message"]]), 3)

    def test_hostile_names(self):
        self.kab("report", "hostile", "--format", "html", "--output", self.path("hostile.html"))
        self.open("hostile.html")
        self.assertEqual(self.browser.do("GET", "/title"), "hostile - kab report")
        alive = "return document.querySelectorAll('img, [onmouseover], [onload], script').length"
        self.assertEqual(self.js(alive), 1)
        for name, value in HOSTILE.items():
            self.assertTrue(self.js("return document.body.textContent.includes(arguments[0])", value), name)
        self.same(json.loads(self.kab("report", "hostile", "--format", "json")))
        self.assertEqual(self.browser.log("browser"), [])

    def test_hostile_bytes(self):
        """What no importer lets in: control characters, turned text, bytes that are no UTF-8."""
        db = e2e_lib.sqlite3.connect(self.path("kab.db"))
        try:
            run = db.execute("SELECT id FROM run WHERE name = 'again'").fetchone()[0]
            triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
            for name, _ in triggers:
                db.execute('DROP TRIGGER "%s"' % name)
            db.execute("UPDATE iteration SET case_name = CAST(? AS TEXT)"
                       " WHERE run_id = ? AND case_name = 'tiny'",
                       (b"a\x1b[31m\xe2\x80\xae<b>\xff\"", run))
            for _, sql in triggers:
                db.execute(sql)
            db.commit()
        finally:
            db.close()
        self.kab("report", "again", "--all", "--format", "html", "--output", self.path("bytes.html"), status=(5,))
        with open(self.path("bytes.html"), "rb") as f:
            page = f.read()
        page.decode("utf-8")
        self.assertNotRegex(page, rb"[\x00-\x08\x0b-\x1f\x7f]")
        self.assertNotIn("\u202e".encode(), page)
        self.open("bytes.html")
        self.assertTrue(self.js("return document.body.textContent.includes(arguments[0])",
                                "a\\x1b[31m\\xe2\\x80\\xae<b>\\xff\""))

    # ---- order and filter ----

    def keys_of(self, column):
        return self.js("""return [...document.querySelector('table.main').tBodies].filter(b => !b.hidden).map(b => {
            const v = b.rows[0].cells[arguments[0]].dataset.v; return v === undefined ? null : +v; })""", column)

    def names(self):
        return self.js("return [...document.querySelector('table.main').tBodies].filter(b => !b.hidden)"
                       ".map(b => b.rows[0].cells[0].textContent)")

    def gain_column(self):
        return self.js("return +[...document.querySelectorAll('table.main thead [data-c]')]"
                       ".find(t => t.textContent === 'gain').dataset.c")

    def sorted_well(self, column, sign):
        keys = self.keys_of(column)
        there = [k for k in keys if k is not None]
        self.assertEqual(there, sorted(there, key=lambda k: sign * k))
        self.assertEqual(keys[:len(there)], there, "words stand last")
        self.assertLess(len(there), len(keys), "the table has a word")
        self.assertEqual(len(keys), 4)

    def test_sorts_by_click_and_key(self):
        self.open()
        column, suite = self.gain_column(), self.names()
        button = "table.main thead [data-c='%d'] button" % column
        state = "return document.querySelector(\"table.main thead [data-c='%d']\").getAttribute('aria-sort')" % column
        self.assertEqual(self.js(state), "none")
        for press in (lambda: self.browser.click(button), lambda: self.browser.keys("Enter"),
                      lambda: self.browser.keys("Space")):
            self.js("document.querySelector(arguments[0]).focus()", button)
            press()
            self.assertEqual(self.js(state), "ascending")
            self.sorted_well(column, 1)
            press()
            self.assertEqual(self.js(state), "descending")
            self.sorted_well(column, -1)
            self.assertEqual(self.js("return document.querySelectorAll('[aria-sort$=scending]').length"), 1)
            press()
            self.assertEqual(self.js(state), "none")
            self.assertEqual(self.names(), suite)
        for order, sign in (("worst", 1), ("best", -1)):
            self.js("const o = document.getElementById('order'); o.value = arguments[0];"
                    "o.dispatchEvent(new Event('change'))", order)
            self.sorted_well(column, sign)
        # A row goes with its details.
        self.same(json.loads(self.kab("report", "demo", "--format", "json", status=(5,))))

    def test_filters(self):
        self.open()
        shown = "return document.getElementById('shown').textContent"
        self.assertEqual(self.js(shown), "12 of 12 rows")
        self.browser.click("#find")
        self.browser.keys("HIGHER")
        e2e_lib.wait_for("the filter", lambda: self.js(shown) == "4 of 12 rows")
        self.browser.keys(" missing")
        e2e_lib.wait_for("the filter", lambda: self.js(shown) == "1 of 12 rows")
        self.js("document.getElementById('find').value = ''")
        for o, name in enumerate(OUTCOMES):
            css = "input.verdict[value='%d']" % o
            if name != "regressed" and self.js("return document.querySelector(arguments[0]) !== null", css):
                self.browser.click(css)
        self.assertEqual(self.js(shown), "2 of 12 rows")
        self.assertEqual(self.names(), ["16"])

    # ---- keyboard, pointer, looks ----

    def focused(self):
        return self.js("const e = document.activeElement; return [e.tagName, e.className, e.textContent]")

    def pop(self):
        return self.js("const p = document.getElementById('pop'); return p.hidden ? null : p.innerText")

    def test_keyboard_is_enough(self):
        self.open()
        self.browser.keys("Tab")
        self.assertEqual(self.focused()[2], "Skip to the tables")
        self.browser.keys("Enter")
        seen = []
        for _ in range(60):
            self.browser.keys("Tab")
            seen.append(self.focused())
            if seen[-1][0] == "TH":
                break
        words = [s[2] for s in seen]
        for word in ("Open all rows", "groups", "gain", "verdict"):
            self.assertIn(word, words)
        self.assertEqual(seen[-1][0], "TH", "Tab reaches the rows")
        self.assertIsNone(self.pop(), "a name has no numbers behind it")
        self.browser.keys("Right")
        self.assertIn("stddev", self.pop())
        self.assertIn("base", self.pop())
        self.assertEqual(self.js("return document.activeElement.getAttribute('aria-describedby')"), "pop")
        self.browser.keys("Escape")
        self.assertIsNone(self.pop())
        self.assertEqual(self.focused()[0], "TD", "Escape leaves the focus where it is")
        column = self.gain_column()
        self.browser.keys(*["Right"] * (column - 1))
        for word in ("gain, %", "p after holm", "method", "margin, %", "reason"):
            self.assertIn(word, self.pop())
        self.browser.keys("Down")
        self.assertEqual(self.names().index("4"), 1)
        self.assertIn("+7", self.focused()[2])
        self.browser.keys("Home", "Enter")
        second = "return document.querySelectorAll('table.main > tbody')[1]"
        expanded = second + ".rows[0].cells[0].getAttribute('aria-expanded')"
        visible = second + ".querySelector('.plot').checkVisibility()"
        self.assertEqual(self.js(expanded), "true")
        self.assertTrue(self.js(visible))
        self.browser.keys("Down")
        self.assertIn("order of the run", self.focused()[2].lower())
        self.browser.keys("Enter")
        self.assertEqual(self.js(expanded), "false")
        self.assertFalse(self.js(visible))
        self.browser.keys("End", hold=("Control",))
        self.browser.keys("Home")
        self.assertEqual(self.focused()[2], "64")
        self.browser.keys("Tab")
        self.assertNotEqual(self.focused()[2], "64", "Tab leaves the table")
        self.browser.keys("Tab", hold=("Shift",))
        self.assertEqual(self.focused()[2], "64", "and comes back to where it was")

    def test_focus_is_seen(self):
        self.open()
        self.browser.keys("Tab")
        for _ in range(14):
            self.browser.keys("Tab")
            style = self.js("const s = getComputedStyle(document.activeElement);"
                            "return [s.outlineStyle, s.outlineWidth]")
            self.assertNotEqual(style[0], "none", self.focused())
            self.assertNotEqual(style[1], "0px", self.focused())

    def test_pointer_shows_and_hides(self):
        self.open()
        cell = "table.main > tbody:nth-of-type(2) td:nth-of-type(%d)" % self.gain_column()
        self.browser.point(cell)
        e2e_lib.wait_for("the numbers", self.pop)
        self.assertIn("p after holm", self.pop())
        self.browser.point("#pop p")
        self.assertIn("p after holm", self.pop())
        self.browser.keys("Escape")
        self.assertIsNone(self.pop())
        self.browser.point("h1")
        self.browser.click("table.main > tbody:nth-of-type(2) th")
        self.assertTrue(self.js("return document.querySelectorAll('table.main > tbody')[1]"
                                ".querySelector('.plot').checkVisibility()"))

    def test_colours(self):
        """WCAG 2.2: 4.5 for text, 3 for what is drawn, on page and box, light and dark."""
        self.open()
        text = ("fg", "muted", "link", "improved", "regressed", "plain")
        drawn = ["edge", "focus", *("k%d" % k for k in range(8))]
        grounds = []
        for dark in (False, True):
            self.browser.dark(dark)
            colours = self.js("const s = getComputedStyle(document.documentElement), r = {};"
                              "for (const n of arguments[0]) r[n] = s.getPropertyValue('--' + n).trim(); return r",
                              [*text, *drawn, "bg", "soft"])
            for ground in ("bg", "soft"):
                for names, least in ((text, 4.5), (drawn, 3)):
                    for name in names:
                        ratio = contrast(colours[name], colours[ground])
                        self.assertGreaterEqual(ratio, least, "%s on %s, dark %s: %.2f" % (name, ground, dark, ratio))
            self.assertEqual(len({colours["k%d" % k] for k in range(8)}), 8)
            grounds.append(self.js("return getComputedStyle(document.body).backgroundColor"))
        self.assertNotEqual(grounds[0], grounds[1])
        # On paper it is white, whatever the screen is.
        self.browser.cdp("Emulation.setEmulatedMedia", media="print",
                         features=[{"name": "prefers-color-scheme", "value": "dark"}])
        self.assertEqual(self.js("return getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")

    def test_kernels_keep_their_colour(self):
        self.open()
        self.js("document.getElementById('all').click()")
        for k in range(3):
            colour = self.js("return getComputedStyle(document.documentElement).getPropertyValue(arguments[0]).trim()",
                             "--k%d" % k)
            want = tuple(int(colour[i:i + 2], 16) for i in (1, 3, 5))
            for css in (".summary li:nth-of-type(%d) .swatch" % (k + 1),
                        "table.main thead th.kern:nth-of-type(%d) .swatch" % (k + 2),
                        "table.s th:nth-of-type(%d) .swatch" % (k + 1)):
                self.assertIn(want, self.browser.pixels(css), "kernel %d in %s" % (k, css))
            for css in ("svg.strip", "svg.plot"):
                self.assertIn(want, self.browser.pixels(css), "kernel %d in %s" % (k, css))

    def test_prints(self):
        self.open()
        self.browser.cdp("Emulation.setEmulatedMedia", media="print")
        self.assertFalse(self.js("return document.getElementById('tools').checkVisibility()"))
        self.assertEqual(self.js("return getComputedStyle(document.querySelector('thead')).display"),
                         "table-header-group")
        self.assertFalse(self.js("return document.querySelector('.plot').checkVisibility()"))
        self.browser.cdp("Emulation.setEmulatedMedia", media="")
        self.browser.pdf(self.path("page.pdf"))
        self.browser.pdf(self.path("letter.pdf"), 21.59, 27.94)
        for name in ("page.pdf", "letter.pdf"):
            with open(self.path(name), "rb") as f:
                self.assertEqual(f.read(5), b"%PDF-")
            self.assertGreater(os.path.getsize(self.path(name)), 10000)

    def test_without_script(self):
        self.browser.cdp("Emulation.setScriptExecutionDisabled", value=True)
        try:
            self.open()
            self.assertFalse(self.js("return document.documentElement.classList.contains('js')"))
            self.assertFalse(self.js("return document.getElementById('tools').checkVisibility()"))
            self.same(json.loads(self.kab("report", "demo", "--format", "json", status=(5,))))
            self.browser.click("table.main > tbody details summary")
            self.assertTrue(self.js("return document.querySelector('table.main > tbody .plot').checkVisibility()"))
        finally:
            self.browser.cdp("Emulation.setScriptExecutionDisabled", value=False)

    def test_many_rows(self):
        """What is behind many rows becomes elements only when it is asked for."""
        lines = ["%s,h,,case-%d,,%d,0,time,s,lower,%.4f" % (kernel, row, boot, 10 + row % 7 + boot / 100 + level)
                 for row in range(410) for kernel, level in (("base", 0), ("patched", row % 5 / 10))
                 for boot in range(2)]
        with open(self.path("many.csv"), "w", encoding="ascii") as f:
            f.write(HEAD + "\n".join(lines) + "\n")
        self.kab("import", "--csv", self.path("many.csv"), "--name", "many")
        self.kab("report", "many", "--format", "html", "--output", self.path("many.html"))
        report = json.loads(self.kab("report", "many", "--format", "json"))
        self.open("many.html")
        count = "return document.querySelectorAll('table.main *').length"
        before = self.js(count)
        self.assertLess(before, 410 * 25)
        self.js("document.querySelectorAll('table.main > tbody')[1].rows[0].cells[1].focus()")
        self.assertIn("stddev", self.pop())
        self.browser.keys("Home", "Enter")
        self.assertTrue(self.js("return document.querySelector('svg.plot').checkVisibility()"))
        self.assertLess(self.js(count), before + 300)
        button = "table.main thead [data-c='%d'] button" % self.gain_column()
        self.browser.click(button)
        keys = self.keys_of(self.gain_column())
        self.assertEqual(keys, sorted(keys))
        self.assertEqual(len(keys), 410)
        self.js("document.getElementById('all').click()")
        self.same(report, 15)
        self.assertEqual(self.browser.log("browser"), [])
        self.browser.cdp("Emulation.setScriptExecutionDisabled", value=True)
        try:
            self.open("many.html")
            self.same(report, 15)
        finally:
            self.browser.cdp("Emulation.setScriptExecutionDisabled", value=False)

    def test_narrow(self):
        self.browser.cdp("Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=2, mobile=True)
        try:
            self.open()
            self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), 360)
        finally:
            self.browser.cdp("Emulation.clearDeviceMetricsOverride")

    def test_screen_reader(self):
        """What the accessibility tree says: everything has a name, tables have heads."""
        self.open()
        self.assertEqual(self.js("return document.documentElement.lang"), "en")
        self.js("document.getElementById('all').click()")
        roles = {}
        for node in self.browser.cdp("Accessibility.getFullAXTree")["nodes"]:
            if node.get("ignored"):
                continue
            role = node["role"]["value"]
            name = node.get("name", {}).get("value", "")
            roles.setdefault(role, []).append(name)
            if role in ("button", "image", "img", "grid", "checkbox", "combobox", "searchbox", "link", "heading",
                        "columnheader", "rowheader", "region", "navigation"):
                self.assertTrue(name.strip(), "a nameless %s: %s" % (role, node))
        self.assertEqual(len(roles["grid"]), 4)
        pictures = roles.get("image", []) + roles.get("img", [])
        self.assertEqual(len(pictures), 24)
        self.assertTrue(any("median" in p for p in pictures))
        for role in ("columnheader", "rowheader", "searchbox", "main", "banner", "contentinfo"):
            self.assertIn(role, roles)
        ids = self.js("return [...document.querySelectorAll('[id]')].map(e => e.id)")
        self.assertEqual(len(ids), len(set(ids)), "an id is there twice")


def contrast(a, b):
    """Of two #rrggbb, by the formula of WCAG 2.2."""
    def light(colour):
        parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        parts = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    high, low = sorted((light(a), light(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


if __name__ == "__main__":
    if missing():
        print("skipped: " + missing())
        sys.exit(77)
    e2e_lib.main()
