# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of imported runs: the terminal's, and those that gnuplot draws, which are read by other eyes:
SVG by an XML parser, PNG by a decoder written here from its standard."""
import os
import random
import re
import shutil
import struct
import subprocess
import xml.etree.ElementTree as ET
import zlib

import e2e_lib as e2e

KINDS = ("strip", "histogram", "order", "cdf", "boots")
GNUPLOT = shutil.which("gnuplot")
HOSTILE = "it's \"x\" \\ `touch ran` $(touch ran) @a^b_c{d} %s%% <b>&amp; #c ~z \\n é"


def csv_line(words):
    return ",".join('"%s"' % str(w).replace('"', '""') for w in words)


class Table:
    """The CSV of a run, row by row."""

    def __init__(self):
        self.lines = ["kernel,case,row,boot,iteration,metric,unit,direction,value"]

    def add(self, kernel, values, case="pipe", row="", per_boot=4, metric="time", unit="s", direction="lower"):
        for i, v in enumerate(values):
            self.lines.append(csv_line([kernel, case, row, "%s%d" % (kernel, i // per_boot), i + 1, metric, unit,
                                        direction, v]))
        return self

    def text(self):
        return "\n".join(self.lines) + "\n"


def draws(seed, mean, sd, n):
    r = random.Random(seed)
    return ["%.6f" % r.gauss(mean, sd) for _ in range(n)]


def two(case="pipe", n=16, **more):
    return Table().add("base", draws(1, 10, 0.5, n), case, **more).add("patched", draws(2, 9, 0.5, n), case, **more)


def svg_texts(data):
    root = ET.fromstring(data)
    return ["".join(e.itertext()) for e in root.iter() if e.tag.endswith("}text")]


def png_pixels(data):
    """Width, height and the rows of (r, g, b): 8 bits, RGB or RGBA, not interlaced."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG"
    at, idat, head = 8, b"", None
    while at < len(data):
        n, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + n]
        assert struct.unpack(">I", data[at + 8 + n:at + 12 + n])[0] == zlib.crc32(kind + body), "bad CRC"
        if kind == b"IHDR":
            head = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            idat += body
        at += 12 + n
    width, height, depth, colour, _, _, interlaced = head
    assert depth == 8 and colour in (2, 6) and not interlaced
    size, raw, prior, rows = (3 if colour == 2 else 4), zlib.decompress(idat), None, []
    stride = width * size
    for y in range(height):
        kind, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        prior = prior or bytearray(stride)
        for i in range(stride if kind else 0):
            a = line[i - size] if i >= size else 0
            b, c = prior[i], prior[i - size] if i >= size else 0
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[kind]) & 255
        rows.append([tuple(line[i:i + 3]) for i in range(0, stride, size)])
        prior = line
    return width, height, rows


def colours(data):
    count = {}
    for row in png_pixels(data)[2]:
        for pixel in row:
            count[pixel] = count.get(pixel, 0) + 1
    return count


class Pictures(e2e.Case):
    def take(self, table, name="run"):
        r = self.kab("import", "--csv", self.write(name + ".csv", table.text()), "--name", name)
        self.assertEqual(r.status, 0, r.err)

    def plot(self, *words, status=0):
        r = self.kab("plot", *words)
        self.assertEqual(r.status, status, r.err + r.out)
        return r.out if status == 0 else r.err

    def drawn(self, name, *words):
        """The bytes of a picture that was written to a file."""
        out = self.plot(*words, "--output", self.path(name))
        self.assertEqual(out, "")
        with open(self.path(name), "rb") as f:
            return f.read()


class Text(Pictures):
    def test_kinds(self):
        self.take(two())
        for kind in KINDS:
            out = self.plot("--kind", kind)
            self.assertIn("pipe/time\ntime (s), LOWER is better; ", out)
            self.assertRegex(out, r"(?m)^x base     16 in 4 boots, median [0-9.]+, mean [0-9.]+$")
            self.assertRegex(out, r"(?m)^\+ patched  16 in 4 boots, ")
            for line in out.split("\n"):
                self.assertLessEqual(len(line), 76)
                self.assertEqual(line, line.rstrip())
            self.assertTrue(out.isascii())
            self.assertFalse(self.plot("--kind", kind, "--unicode").isascii())
            self.assertEqual(out, self.plot("--kind", kind), "the same data give the same bytes")

    def test_marks_are_where_values_are(self):
        values = [2.0, 3.5, 4.25, 9.0]
        self.take(Table().add("base", values).add("patched", [5.5] * 4))
        lines = self.plot().split("\n")
        top = next(i for i, line in enumerate(lines) if line.startswith("x") and "base" not in line)
        want = {2 + min(69, int((v - 2.0) / 7.0 * 70)) for v in values}
        self.assertEqual({i for i, c in enumerate(lines[top]) if c != " " and i > 0}, want)
        self.assertEqual([i for i, c in enumerate(lines[top + 2]) if c != " "], [0, 2 + int(3.5 / 7 * 70)])

    def test_colour_only_when_asked(self):
        self.take(two())
        plain = self.plot()
        self.assertNotIn("\033", plain)
        coloured = self.plot("--color", "always")
        self.assertIn("\033[38;5;", coloured)
        self.assertEqual(re.sub("\033\\[[0-9;]*m", "", coloured), plain)
        self.env["NO_COLOR"] = "1"
        self.assertEqual(self.plot("--color", "auto"), plain)

    def test_failed_and_missing_in_words(self):
        self.take(two(n=8).add("base", draws(3, 5, 1, 8), "part").add("patched", ["fail"] * 6 + ["5", "6"], "part")
                  .add("base", ["fail"] * 4, "none").add("patched", ["fail"] * 4, "none"))
        out = self.plot("--case", "part")
        self.assertRegex(out, r"(?m)^\+ patched +2 in 1 boot, .*fail 6/8")
        out = self.plot("--case", "none")
        self.assertRegex(out, r"(?m)^x base +fail 4/4\n\+ patched +fail 4/4$")
        self.assertIn("Nothing to draw", out)

    def test_choosing(self):
        self.take(two().add("base", draws(3, 5, 1, 8), "other").add("patched", draws(4, 5, 1, 8), "other"))
        self.assertEqual(self.plot().count("LOWER is better"), 2)
        self.assertEqual(self.plot("--case", "other").count("LOWER is better"), 1)
        self.assertIn("there are pipe, other", self.plot("--case", "othr", status=3))
        self.assertIn("no metric 'x' here", self.plot("--metric", "x", status=3))
        self.assertIn("no host 'x' here", self.plot("--host", "x", status=3))
        self.assertIn("no case here has a parameter", self.plot("--kind", "sweep", status=3))
        self.assertIn("no run 'nix'", self.plot("nix", status=3))
        self.plot("--kind", "pie", status=2)
        self.plot("--gnuplot-script", "--format", "text", status=2)
        self.plot("run", "run", status=2)

    def test_sweep(self):
        table = Table()
        for i, groups in enumerate((16, 1, 4)):
            table.add("base", draws(i, 10 * groups, 1, 8), row="groups=%d" % groups)
            table.add("patched", draws(i + 9, 9 * groups, 1, 8), row="groups=%d" % groups)
        self.take(table)
        out = self.plot("--kind", "sweep")
        self.assertIn("mean over groups, bars are the 95 % interval", out)
        self.assertRegex(out, r"(?m)^ +1 +4 +16$")
        self.assertEqual(self.plot("--case", "pipe/groups=4").count("LOWER"), 1)

    def test_several_runs_are_pooled(self):
        self.take(two(), "one")
        self.take(two(n=12), "two")
        self.assertRegex(self.plot("one", "two"), "28 in 7 boots")

    def test_hostile_names(self):
        self.take(two(HOSTILE))
        out = self.plot()
        self.assertTrue(out.isascii())
        self.assertIn("%s%% <b>&amp; #c ~z \\n ?/time\n", out)
        self.assertIn("%s%% <b>&amp; #c ~z \\n \u00e9/time\n", self.plot("--unicode"))

    def test_output_is_a_file(self):
        self.take(two())
        want = self.plot()
        self.assertEqual(self.drawn("x.txt").decode(), want)
        self.assertIn("x.txt", self.plot("--output", self.path("no/such/x.txt"), status=4))


class Gnuplot(Pictures):
    def setUp(self):
        super().setUp()
        if not GNUPLOT:
            self.skipTest("gnuplot is not installed")

    def test_svg_of_all_kinds(self):
        self.take(two())
        for kind in KINDS:
            data = self.drawn(kind + ".svg", "--kind", kind, "--format", "svg")
            texts = svg_texts(data)
            self.assertIn("pipe/time", texts)
            self.assertTrue(any(t.startswith("time (s), LOWER is better") for t in texts), texts)
            self.assertTrue(any(t.startswith("base: 16 in 4 boots, median") for t in texts), texts)
            self.assertTrue(any(t.startswith("patched: 16 in 4 boots") for t in texts), texts)
            self.assertEqual(data, self.kab("plot", "--kind", kind, "--format", "svg").out.encode())

    def test_png_of_all_kinds(self):
        self.take(two())
        for kind in KINDS:
            data = self.drawn(kind + ".png", "--kind", kind, "--format", "png")
            count = colours(data)
            # The colours of both kernels, on white; the paper is not the only thing there.
            self.assertGreater(count.get((0x00, 0x72, 0xb2), 0), 20, kind)
            self.assertGreater(count.get((0xd5, 0x5e, 0x00), 0), 20, kind)
            self.assertGreater(count[(255, 255, 255)], sum(count.values()) / 2)
            self.assertEqual(data, self.drawn("again.png", "--kind", kind, "--format", "png"))

    def test_a_kernel_keeps_its_colour(self):
        """The second kernel alone has a value in this row: it is still the second one."""
        self.take(two().add("base", ["fail"] * 4, "lone").add("patched", draws(5, 3, 1, 4), "lone"))
        for kind in KINDS:
            count = colours(self.drawn("x.png", "--case", "lone", "--kind", kind, "--format", "png"))
            self.assertGreater(count.get((0xd5, 0x5e, 0x00), 0), 20, kind)
            texts = svg_texts(self.drawn("x.svg", "--case", "lone", "--kind", kind, "--format", "svg"))
            self.assertIn("base: fail 4/4", texts)

    def test_hostile_labels_stand_literally(self):
        self.take(two(HOSTILE).add("base", draws(6, 1, .1, 8), HOSTILE, row="%g'=\\")
                  .add("patched", draws(7, 1, .1, 8), HOSTILE, row="%g'=\\"))
        for kind in KINDS:
            texts = svg_texts(self.drawn("h.svg", "--kind", kind, "--format", "svg"))
            self.assertIn(HOSTILE + "/time", texts)
        self.assertFalse(os.path.exists("ran") or os.path.exists(self.path("ran")))

    def test_sweep_of_hostile_words(self):
        words = ["%d %%s", "it's", "a\\b", "<&>", "`id`"]
        table = Table()
        for i, word in enumerate(words):
            table.add("base", draws(i, 10, 1, 8), row="mode=" + word).add("patched", draws(i + 9, 9, 1, 8),
                                                                          row="mode=" + word)
        self.take(table)
        texts = svg_texts(self.drawn("s.svg", "--kind", "sweep", "--format", "svg"))
        for word in words:
            self.assertIn(word, texts)
        self.assertIn("mode (in the order of the suite)", texts)

    def test_points_are_where_values_are(self):
        """Pixels of the marks against the pixels of the ticks, which are at known values."""
        table = Table()
        for x, base in ((1, 10), (2, 30), (3, 20)):
            table.add("base", [base] * 4, row="n=%d" % x).add("patched", [5] * 4, row="n=%d" % x)
        self.take(table)
        root = ET.fromstring(self.drawn("p.svg", "--kind", "sweep", "--format", "svg"))
        ticks = {}
        for g in root.iter():
            place = re.match(r"translate\(([0-9.]+),([0-9.]+)\)", g.get("transform", ""))
            text = "".join(g.itertext()).strip()
            if place and re.fullmatch("5|10|15|20|25|30", text):
                ticks[int(text)] = float(place[2])
        self.assertGreaterEqual(len(ticks), 4, ticks)
        scale = (ticks[30] - ticks[10]) / 20
        marks = {}
        for e in root.iter():
            link = e.get("{http://www.w3.org/1999/xlink}href") or e.get("href") or ""
            place = re.search(r"translate\(([0-9.]+),([0-9.]+)\)", e.get("transform", ""))
            # Blue circles above the lower axis: what is below it belongs to the key.
            if link == "#gpPt6" and "114, 178" in e.get("color", "") and float(place[2]) < ticks[5] + 5:
                marks[float(place[1])] = float(place[2])
        self.assertEqual(len(marks), 3, marks)
        heights = [marks[x] for x in sorted(marks)]
        for got, value in zip(heights, (10, 30, 20)):
            # Text stands a little below its tick, everywhere by the same amount.
            self.assertAlmostEqual((got - heights[0]) / scale, value - 10, delta=0.2)

    def test_many_rows_on_one_sheet(self):
        table = Table()
        for i in range(25):
            table.add("base", draws(i, 10, 1, 4), "case%d" % i).add("patched", draws(i + 50, 9, 1, 4), "case%d" % i)
        self.take(table)
        self.assertIn("25 pictures are too many", self.plot("--format", "svg", status=2))
        self.assertIn("25 pictures are too many", self.plot("--gnuplot-script", status=2))
        self.assertEqual(self.plot().count("LOWER is better"), 25)
        self.take(two().add("base", draws(3, 5, 1, 8), "b").add("patched", draws(4, 5, 1, 8), "b"), "two")
        texts = svg_texts(self.drawn("x.svg", "two", "--format", "svg"))
        self.assertIn("pipe/time", texts)
        self.assertIn("b/time", texts)

    def test_odd_data(self):
        """One value, equal values, negative ones, a large spread, nothing at all: always a picture."""
        table = Table().add("base", [1.5], "one").add("patched", [1.6], "one")
        table.add("base", [2.5] * 8, "equal").add("patched", [2.5] * 8, "equal")
        table.add("base", [-1, 2, -3.5, 4], "signs").add("patched", [0, 0, 0, 0], "signs")
        table.add("base", [1e-3, 1, 1e3, 5], "wide").add("patched", [1e-2, 2, 4e3, 5], "wide")
        table.add("base", [3e-9, 4e-9, 3.5e-9, 4e-9], "tiny").add("patched", [3e-9, 3e-9, 3.5e-9, 4e-9], "tiny")
        table.add("base", [1e15, 2e15, 1.5e15, 2e15], "huge").add("patched", [1e9, 2, 3, 4], "huge")
        table.add("base", ["fail"] * 4, "none").add("patched", ["fail"] * 4, "none")
        self.take(table)
        for kind in KINDS:
            texts = svg_texts(self.drawn("o.svg", "--kind", kind, "--format", "svg"))
            for case in ("one", "equal", "signs", "wide", "tiny", "huge", "none"):
                self.assertIn(case + "/time", texts)
            self.assertEqual(texts.count("Nothing to draw: there is no value."), 1)
            self.assertEqual(sum("LOGARITHMIC" in t for t in texts), 2, "wide and huge")

    def test_the_script_can_be_run_by_hand(self):
        self.take(two())
        script = self.plot("--kind", "cdf", "--gnuplot-script")
        self.assertTrue(script.startswith("# Made by kab."))
        path = self.write("x.gnuplot", script)
        e = subprocess.run([GNUPLOT, "-d", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
        self.assertEqual(e.stderr, b"")
        self.assertEqual(e.stdout, self.drawn("x.svg", "--kind", "cdf", "--format", "svg"))


class Failing(Pictures):
    """A gnuplot that is not there, too old, or fails."""

    def test_not_installed(self):
        self.take(two())
        # A PATH on which there is none.
        self.env["PATH"] = self.bin
        err = self.plot("--format", "png", "--output", self.path("x.png"), status=4)
        self.assertIn("install the package gnuplot-nox", err)
        self.assertFalse(os.path.exists(self.path("x.png")))
        self.plot("--gnuplot-script")
        self.plot()

    def test_too_old(self):
        self.take(two())
        self.standin("gnuplot", "echo gnuplot 4.6 patchlevel 6")
        self.assertIn("is version 4.6, and 5.2 is needed", self.plot("--format", "svg", status=4))
        self.standin("gnuplot", "echo hello")
        self.assertIn("does not say which version", self.plot("--format", "svg", status=4))

    def test_no_picture(self):
        self.take(two())
        self.standin("gnuplot", '[ "$1" = --version ] && { echo gnuplot 5.4 patchlevel 4; exit; }\n'
                     'cat >/dev/null; echo "line 3: unknown terminal" >&2; exit 1')
        err = self.plot("--format", "svg", "--output", self.path("x.svg"), status=4)
        self.assertIn("unknown terminal", err)
        self.assertFalse(os.path.exists(self.path("x.svg")))
        # Half of a picture is none.
        self.standin("gnuplot", '[ "$1" = --version ] && { echo gnuplot 5.4 patchlevel 4; exit; }\n'
                     'cat >/dev/null; echo "<svg>"')
        self.assertIn("made no picture", self.plot("--format", "svg", status=4))


if __name__ == "__main__":
    e2e.main()
