# SPDX-License-Identifier: GPL-3.0-or-later
"""The source tree as the checks see it: files, the layer table, and the list of findings."""
import os
import re

SKIP_DIRS = {".git", ".cache", "__pycache__"}
# Outputs of real benchmarks and published tables: data, not our text.
DATA_DIRS = ("tests/data/", "tests/golden/", "tests/fuzz/corpus/")


class Tree:
    """Findings are collected in `found`; an empty list means that the check passed."""

    def __init__(self, root, kab=None, build=None, only=None):
        self.root = os.path.abspath(root)
        self.kab = kab
        self.build = build
        self.only = only  # a regular expression: look at no other files
        self.found = []
        self._files = None

    def path(self, rel):
        return os.path.join(self.root, rel)

    def read(self, rel):
        with open(self.path(rel), encoding="utf-8", errors="replace") as f:
            return f.read()

    def bad(self, where, text):
        self.found.append(f"{where}: {text}")

    def files(self, *suffixes, data=False):
        """Paths below the root, sorted; without build folders, data only when asked for."""
        if self._files is None:
            self._files = []
            for folder, dirs, names in os.walk(self.root):
                top = folder == self.root
                dirs[:] = sorted(d for d in dirs
                                 if d not in SKIP_DIRS and not (top and d.startswith("build")))
                rel = os.path.relpath(folder, self.root)
                self._files += [os.path.normpath(os.path.join(rel, n)) for n in sorted(names)
                                if not os.path.islink(os.path.join(folder, n))]
        return [f for f in self._files if (not suffixes or f.endswith(suffixes))
                and (data or not f.startswith(DATA_DIRS)) and (not self.only or re.search(self.only, f))]

    def exists(self, rel):
        return os.path.exists(self.path(rel))

    def lines(self, rel):
        return enumerate(self.read(rel).split("\n"), 1)

    def layers(self):
        """The table of docs/design.md: folder -> (set of folders, set of libraries)."""
        rows = {}
        order = []
        for cells in table_rows(self.read("docs/design.md"), "floor"):
            folder = cells[1].strip("` ")
            own = split(cells[2])
            rows[folder] = [own, split(cells[3])]
            order.append((int(cells[0]), folder))
        floors = {folder: floor for floor, folder in order}
        for folder, row in rows.items():
            if "all" in row[0]:
                row[0] = {f for f in rows if f != folder}
            unknown = row[0] - rows.keys()
            if unknown:
                self.bad("docs/design.md", f"layer '{folder}' names unknown folders {sorted(unknown)}")
            for other in row[0] & rows.keys():
                if floors[other] >= floors[folder]:
                    self.bad("docs/design.md", f"layer '{folder}' (floor {floors[folder]}) may not include "
                                               f"'{other}' (floor {floors[other]})")
        if not rows:
            self.bad("docs/design.md", "no layer table was found")
        return rows


def split(cell):
    return {c.strip().strip("`") for c in cell.split(",")} - {"", "-"}


def table_rows(text, first):
    """Rows of the markdown table whose first heading is `first`."""
    inside = False
    for line in text.split("\n"):
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if not line.lstrip().startswith("|"):
            inside = False
        elif cells[0] == first:
            inside = True
        elif inside and not set(cells[0]) <= set("-: "):
            yield cells


def strip_c(text):
    """C without comments and with empty strings; line numbers stay."""
    def blank(m):
        s = m.group(0)
        if s.startswith("/"):
            return re.sub(r"[^\n]", " ", s)
        return s[0] + s[0]

    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)
