# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that do harm: deep and huge JSON, names that a shell, a path, a table, a spreadsheet or a terminal
would act on, and ten thousand cases."""
import csv
import io
import json
import os
import re
import resource
import subprocess
import time

import e2e_lib as e2e

NAMES = ["it's", 'a"b', "a;b", "$(touch hurt)", "`touch hurt`", "../../x", "-rf", "--db=x", "a|b", "=1+1",
         "+1", "-1", "@sum", "a\\b", "%s%n", "<b>&amp;", "*", "~", "\u00e4\u20ac", "a b", "#x", "{a,b}", "[x](y)"]


# Of the import and its reports; tests/long.sh asks for 10000.
CASES = int(os.environ.get("KAB_TEST_CASES", "2000"))


class Files(e2e.Case):
    def limited(self, *words, megabytes=300):
        """With bounded memory: (result, seconds, megabytes used at most)."""
        sanitized = e2e.is_sanitized()

        def limit():
            if not sanitized:
                resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        begin = time.monotonic()
        p = subprocess.Popen(["/usr/bin/time", "-q", "-f", "%M", e2e.KAB, *words], env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, errors="replace", preexec_fn=limit)
        self.started.append(p)
        out, err = p.communicate(timeout=280)
        self.assertNotRegex(err, "Sanitizer|runtime error:")
        err, _, used = err.rstrip("\n").rpartition("\n")
        return e2e.Result(p.returncode, out, err), time.monotonic() - begin, int(used or 0) >> 10

    def loaders(self, path):
        suite = self.suite([self.synthetic()], name="fine.json")
        yield "suite", ("run", path, "--kernel", "k=running", "--dry-run")
        yield "lab", ("hosts", "--lab", path)
        yield "kernel", ("run", suite, "--kernel", "k=@" + path, "--dry-run")
        yield "table", ("render", "plain", path)

    def refused(self, path, *texts):
        for what, words in self.loaders(path):
            r, _, _ = self.limited(*words)
            self.assertEqual(r.status, 3, "%s: %s" % (what, r.err))
            for text in texts:
                self.assertRegex(r.err, text, what)
            self.assertLess(len(r.err), 2000)

    # ---- JSON ----

    def test_deep(self):
        for opening, closing in (("[", "]"), ('{"a":', "}")):
            for head in ("", '{"hosts":', '{"name":"n","cases":', '{"columns":["a"],"rows":'):
                path = self.write("deep.json", head + opening * 10000 + "1" + closing * 10000 + ("}" if head else ""))
                self.refused(path, "depth|deep|nest")

    def test_huge(self):
        path = self.path("huge.json")
        with open(path, "w", encoding="ascii") as f:
            f.write('{"name":"n","cases":[],"hosts":{},"columns":["a"],"rows":[],"x":"')
            for _ in range(100):
                f.write("x" * (1 << 20))
            f.write('"}')
        self.refused(path)

    def test_many_small_values(self):
        path = self.path("many.json")
        with open(path, "w", encoding="ascii") as f:
            f.write('{"name":"n","columns":["a"],"rows":[' + ",".join(["[1]"] * 2000000) + "]}")
        for what, words in self.loaders(path):
            r, _, _ = self.limited(*words, megabytes=1500)
            self.assertEqual(r.status, 3, "%s: %s" % (what, r.err))

    def test_same_key_twice(self):
        for text in ('{"name":"a","name":"b","cases":[]}', '{"hosts":{"a":{"ssh":"x"},"a":{"ssh":"y"}}}',
                     '{"columns":["a"],"columns":["b"],"rows":[]}'):
            path = self.write("twice.json", text)
            self.refused(path, "duplicate|twice")

    def test_numbers_beyond_double(self):
        for number in ("1e999", "-1e999", "1" * 400, "NaN", "Infinity"):
            path = self.write("number.json", '{"name":"n","margin_pct":%s,"cases":[],"hosts":{"a":{"port":%s}},'
                              '"columns":["a"],"rows":[[%s]]}' % ((number,) * 3))
            self.refused(path)

    def test_not_utf8_and_zeros(self):
        for data in (b'{"name":"\xff"}', b'{"name":"a\0b"}', b'{"name":"\\u0000"}', b"\xef\xbb\xbf", b"", b"\0" * 100):
            path = self.path("bytes.json")
            with open(path, "wb") as f:
                f.write(data)
            self.refused(path)

    # ---- names ----

    def test_names_in_a_suite(self):
        suite = self.suite([self.synthetic(name=n) for n in NAMES], repeat={"iterations": 1})
        r = self.kab("run", suite, "--kernel", "k=running", "--name", "r", cwd=self.dir)
        self.assertEqual(r.status, 0, r.err)
        self.assert_exactly_once(len(NAMES))
        self.assertEqual(sorted(n for n, in self.sql("SELECT case_name FROM iteration")), sorted(NAMES))
        self.assertFalse(os.path.exists(self.path("hurt")))
        self.assert_target_clean()
        rows = list(csv.DictReader(io.StringIO(self.kab("report", "r", "--format", "csv").out)))
        self.assertEqual({r["case"].lstrip("'") for r in rows}, {n.lstrip("'") for n in NAMES})
        for row in rows:
            for value in row.values():
                self.assertFalse(value[:1] in "=+@\t\r" and value and not re.fullmatch(r"[-+0-9.e]+", value), value)
        out = self.kab("report", "r", "--style", "markdown").out
        table = [line for line in out.splitlines() if line.startswith("|")]
        self.assertEqual(len({len(re.findall(r"(?<!\\)\|", line)) for line in table}), 1,
                         "every row has as many cells")
        self.assertEqual({c["case"] for c in json.loads(self.kab("report", "r", "--format", "json").out)["rows"]},
                         set(NAMES))

    def test_control_characters_in_names(self):
        for bad in ("a\x1b[31m", "a\nb", "a\tb", "a\rb", "a\x7fb", "a\u009bb", "a\u202eb", ""):
            suite = self.suite([self.synthetic(name=bad)])
            r = self.kab("run", suite, "--kernel", "k=running", "--dry-run")
            self.assertEqual(r.status, 3, r.err)
            self.assertIn("$.cases[0]", r.err)
            self.assertNotRegex(r.err, "[\x1b\x7f\u009b\u202e\t]")

    def test_labels(self):
        suite = self.suite([self.synthetic()])
        for label in ("a;b", "$(id)", "a b", "../x", "-x", "a'b", 'a"b', "a\nb", "", "a/b", "x" * 200):
            r = self.kab("run", suite, "--kernel", "%s=running" % label, "--dry-run")
            self.assertEqual(r.status, 2, (label, r.err))
            self.assertIn("label", r.err)
            lab = self.write("lab.json", json.dumps({"hosts": {label: {"ssh": "x"}}}))
            r = self.kab("hosts", "--lab", lab)
            # A key that begins with a dollar sign is a note.
            self.assertEqual(r.status, 0 if label[:1] == "$" else 3, (label, r.err))
        for dest in ("-oProxyCommand=touch hurt", "", "a\nb", "-F/dev/null"):
            lab = self.write("lab.json", json.dumps({"hosts": {"a": {"ssh": dest}}}))
            r = self.kab("hosts", "--lab", lab, cwd=self.dir)
            self.assertEqual(r.status, 3, (dest, r.err))
            self.assertIn("$.hosts.a.ssh", r.err)
        self.assertFalse(os.path.exists(self.path("hurt")))

    def test_names_in_somebody_elses_csv(self):
        bad = self.write("bad.csv", "kernel,case,value\n" + "".join(
            'base,"%s",%d\ntest,"%s",%d\n' % (n.replace('"', '""'), i + 1, n.replace('"', '""'), i + 2)
            for i, n in enumerate(NAMES)))
        r = self.kab("import", "--csv", bad, "--name", "i")
        self.assertEqual(r.status, 0, r.err)
        for words in (("report", "i", "--format", "csv"), ("export", "i")):
            if words[0] == "export" and not self.has_command("export"):
                continue
            out = self.kab(*words).out
            self.assertGreater(len(out), 1000)
            for row in csv.reader(io.StringIO(out)):
                for value in row:
                    if value[:1] in ("=", "+", "@", "-", "\t", "\r") and not re.fullmatch(r"[-+0-9.e]+", value):
                        self.fail("%s: a spreadsheet would take %r for a formula" % (words, value))
        self.assertFalse(os.path.exists(self.path("hurt")))

    # ---- how many ----

    def test_ten_thousand_cases(self):
        suite = self.suite([self.synthetic(name="case-%05d" % i) for i in range(10000)], repeat={"iterations": 1})
        r, seconds, used = self.limited("run", suite, "--kernel", "a=running", "--kernel", "b=running", "--dry-run")
        self.assertEqual(r.status, 0, r.err)
        print("dry run of 10000 cases: %.1f s, %d MB" % (seconds, used))
        suite = self.suite([self.synthetic(name="case-%05d" % i) for i in range(10001)])
        r = self.kab("run", suite, "--kernel", "a=running", "--dry-run")
        self.assertEqual(r.status, 3, r.err)
        self.assertIn("10000", r.err)
        rows = self.path("rows.csv")
        with open(rows, "w", encoding="ascii") as f:
            f.write("kernel,case,boot,value\n")
            for i in range(CASES):
                for kernel in ("base", "test"):
                    for boot in range(2):
                        f.write("%s,case-%05d,%d,%d.%d\n" % (kernel, i, boot, 100 + i % 7, boot))
        r, seconds, used = self.limited("import", "--csv", rows, "--name", "big")
        self.assertEqual(r.status, 0, r.err)
        print("import of %d cases: %.1f s, %d MB" % (CASES, seconds, used))
        for words in (("report", "big"), ("report", "big", "--format", "csv"), ("show", "big"), ("list",)):
            r, seconds, used = self.limited(*words, megabytes=600)
            self.assertEqual(r.status, 0, r.err)
            print("%s of %d cases: %.1f s, %d MB" % (" ".join(words), CASES, seconds, used))


if __name__ == "__main__":
    e2e.main()
