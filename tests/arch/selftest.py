#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each check of arch.py must be able to fail: violations are planted in a copy of the tree.

selftest.py --root DIR --kab FILE --build DIR"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

import arch
from tree import Tree

BAD_RUNNER = "/* SPDX-License-Identifier: GPL-3.0-or-later */\nconst struct kab_runner kab_runner_planted = { 0 };\n"
BAD_CMD = "/* SPDX-License-Identifier: GPL-3.0-or-later */\nconst struct kab_cmd kab_cmd_planted = { 0 };\n"
LOST = ("FIX" + "ME")

# Check, file, what to do with its text (None: there was no file), a part of the expected finding.
PLANTS = (
    ("includes", "harness/base/text.c", lambda s: s + '#include "model/suite.h"\n', "may not include harness/model"),
    ("includes", "harness/judge/judge.c", lambda s: s + '#include "store/store.h"\n', "may not include harness/store"),
    ("includes", "stats/welch.c", lambda s: s + "#include <jansson.h>\n", "of jansson may not be used in stats"),
    ("includes", "stats/welch.c", lambda s: s + "#include <yaml.h>\n", "neither in the layer table"),
    ("includes", "harness/new/a.c", lambda s: "int a;\n", "in no folder of the layer table"),
    ("includes", "docs/design.md", lambda s: s.replace("| 1 | `stats` | `harness/base`", "| 1 | `stats` | `harness/cli`"),
     "may not include 'harness/cli'"),
    ("links", "harness/judge/CMakeLists.txt", lambda s: s.replace("kab_stats", "kab_stats kab_store"), "links kab_store"),
    ("links", "stats/CMakeLists.txt", lambda s: s.replace("PkgConfig::GSL", "PkgConfig::GSL PkgConfig::ZSTD"), "links ZSTD"),
    ("sizes", "harness/base/text.c", lambda s: s + "\n" * 801, "at most 800"),
    ("calls", "harness/base/text.c", lambda s: s + "int x(char *a) { return atoi(a); }\n", "atoi() is not used"),
    ("calls", "tests/planted.c", lambda s: "void x(char *a) { strcpy(a, a); }\n", "strcpy() is not used"),
    ("calls", "harness/base/text.c", lambda s: s + "void x(void) { printf(\"\"); }\n", "printf: a library"),
    ("calls", "reports/style.c", lambda s: s + "void x(void) { fprintf(stderr, \"\"); }\n", "a library neither prints"),
    ("calls", "harness/store/open.c", lambda s: s + "void x(void) { exit(1); }\n", "exit: a library"),
    ("licence", "stats/welch.c", lambda s: s.split("\n", 1)[1], "is not in its first lines"),
    ("licence", "examples/planted", lambda s: "#!/bin/sh\ntrue\n", "is not in its first lines"),
    ("licence", "LICENSE", lambda s: "none\n", "is not the text of the GPL"),
    ("leftovers", "stats/welch.c", lambda s: s + f"/* {LOST}: later */\n", f"'{LOST}' is left"),
    ("leftovers", "README.md", lambda s: s + "a st" + "ub\n", "is left"),
    ("blanks", "stats/welch.c", lambda s: s + "int a; \n", "blanks at the end"),
    ("blanks", "stats/welch.c", lambda s: s + "int a;", "does not end with"),
    ("style", "stats/welch.c", lambda s: s + "int  planted( void ){return 0;}\n", "not formatted"),
    ("shells", "examples/planted.sh", lambda s: "#!/bin/sh\nif true; then\n", "dash -n"),
    ("shells", "examples/planted.sh", lambda s: "#!/bin/sh\ncd $1\necho `ls *`\nread a\n", "SC"),
    ("documents", "README.md", lambda s: s + "[x](docs/none.md)\n", "leads nowhere"),
    ("documents", "docs/planted.md", lambda s: "# Lonely\n", "no other page links"),
    ("commands", "harness/cli/cmd_planted.c", lambda s: BAD_CMD, "is not in the table of harness/cli/commands.c"),
    ("commands", "harness/cli/cmd_planted.c", lambda s: BAD_CMD, "is not named in harness/cli/CMakeLists.txt"),
    ("commands", "harness/cli/cmd_planted.c", lambda s: BAD_CMD, "is not declared"),
    ("runners", "runners/planted.c", lambda s: BAD_RUNNER, "is not in the table of runners/table.c"),
    ("sources", "runners/planted.c", lambda s: BAD_RUNNER, "is not named in runners/CMakeLists.txt"),
    ("tests", "tests/unit/base/test_planted.c", lambda s: "int main(void) { return 0; }\n", "in no CMakeLists.txt"),
    ("manual", "harness/man/kab.1", lambda s: s.replace(".Ss run", ".Ss walk", 1), "has no subsection '.Ss run'"),
    ("manual", "harness/man/kab.1", lambda s: s.replace(".It Fl -seed", ".It Fl -sled", 1), "does not explain --seed"),
    ("manual", "harness/man/kab.1", lambda s: s.replace(".It Fl -seed", ".It Fl -sled", 1), "explains --sled"),
    ("manual", "harness/man/kab.1", lambda s: s.replace("Fl -color", "Fl -colour"), "global option --color"),
    ("manual", "harness/man/kab.1", lambda s: s + ".Xx planted\n", "mandoc"),
    ("suites", "suites/quick.json", lambda s: s.replace("repeat", "repaet"), "kab suites"),
    ("suites", "suites/other.json", lambda s: '{"name":"else","cases":[{"name":"a","runner":"hackbench"}]}\n', "calls itself 'else'"),
    ("schemas", "harness/model/suite.c", lambda s: s.replace('"margin_pct",', '"margin_pct", "planted",'), "differ: ['planted']"),
    ("schemas", "schemas/lab.schema.json", lambda s: s.replace('"console"', '"konsole"'), "differ"),
    ("schemas", "suites/quick.json", lambda s: s.replace("iterations", "iteratons"), "iteratons"),
    ("schemas", "docs/suites.md", lambda s: s + "\n```json\n{ \"cases\": 3 }\n```\n", "example of a suite"),
    ("agreement", "schemas/suite.schema.json", lambda s: s.replace('"minimum": 1, "maximum": 1000,', '"maximum": 1000,'),
     'accepts {"repeat": {"boots": 0}}'),
    ("packages", "cmake/packages.txt", lambda s: s.replace("libgsl-dev", "gsl-dev"), "no line for libgsl-dev"),
    ("packages", "cmake/packages.txt", lambda s: s + "gcc\n", "expected USE PACKAGE CHECK"),
    ("examples", "README.md", lambda s: s + "\n    kab walk\n", "no command 'walk'"),
    ("examples", "README.md", lambda s: s + "\n    kab run quick --fast\n", "no option --fast"),
    ("examples", "README.md", lambda s: s + "\nCall `kab walk`.\n", "no command 'walk'"),
    ("headers", "stats/welch.h", lambda s: s.replace("#endif", "struct unknown_t planted(size_t_ x);\n#endif"), "stats/welch.h"),
    ("headers", "stats/welch.h", lambda s: s.replace("KAB_", "BAK_"), "no include guard"),
    ("clang", "stats/welch.c", lambda s: s + "static int planted(void)\n{\n\treturn 0;\n}\n", "unused function"),
)
# Files that a check which compiles or formats everything needs to look at here.
ONLY = {"style": r"stats/welch\.c", "headers": r"stats/welch\.h", "clang": r"stats/welch\.c",
        "shells": r"planted"}


def plant(root, rel, change):
    path = os.path.join(root, rel)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    old = None
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            old = f.read()
    new = change(old)
    if new == old:
        raise SystemExit(f"selftest: nothing to change in {rel}")
    with open(path, "w", encoding="utf-8") as f:
        f.write(new)
    return old


def unplant(root, rel, old):
    path = os.path.join(root, rel)
    if old is None:
        os.unlink(path)
        return
    with open(path, "w", encoding="utf-8") as f:
        f.write(old)


def planted_globals(folder):
    source = os.path.join(folder, "g.c")
    with open(source, "w", encoding="utf-8") as f:
        f.write("int planted_counter;\n")
    subprocess.run(["gcc", "-c", source, "-o", os.path.join(folder, "g.o")], check=True)
    subprocess.run(["ar", "rc", os.path.join(folder, "libkab_g.a"), os.path.join(folder, "g.o")], check=True)


def fake_kab(folder):
    """A kab whose one command has a help without an example."""
    path = os.path.join(folder, "kab")
    with open(path, "w", encoding="utf-8") as f:
        f.write("#!/bin/sh\nprintf 'Commands:\\n  walk  go\\n\\nGlobal options:\\n\\n'\n")
    os.chmod(path, 0o755)
    return path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", required=True)
    parser.add_argument("--kab", required=True)
    parser.add_argument("--build", required=True)
    args = parser.parse_args()
    failed = tried = 0
    seen = {"globals", "help"}
    with tempfile.TemporaryDirectory() as temp:
        root = os.path.join(temp, "tree")
        shutil.copytree(args.root, root, symlinks=True,
                        ignore=lambda d, names: [n for n in names if n in (".git", "__pycache__")
                                                 or (d == args.root and n.startswith("build"))])
        cases = []
        for check, rel, change, expected in PLANTS:
            seen.add(check)
            old = plant(root, rel, change)
            if all(shutil.which(t) for t in arch.NEEDS.get(check, [])):
                tree = Tree(root, args.kab, args.build, ONLY.get(check))
                arch.CHECKS[check](tree)
                cases.append((check, rel, expected, tree.found))
            unplant(root, rel, old)
        build = os.path.join(temp, "build")
        os.mkdir(build)
        planted_globals(build)
        tree = Tree(root, args.kab, build)
        arch.CHECKS["globals"](tree)
        cases.append(("globals", "libkab_g.a", "planted_counter", tree.found))
        tree = Tree(root, fake_kab(temp), build)
        arch.CHECKS["help"](tree)
        cases.append(("help", "kab walk", "has no example", tree.found))
        for check, rel, expected, found in cases:
            tried += 1
            if not any(expected in line for line in found):
                failed += 1
                print(f"{check}: planted in {rel}, expected '{expected}', found {found[:5]}")
    for check in sorted(arch.CHECKS.keys() - seen):
        failed += 1
        print(f"{check}: no violation is planted for it")
    print(f"{tried} violations planted, {failed} not found")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
