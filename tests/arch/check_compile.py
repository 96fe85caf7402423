# SPDX-License-Identifier: GPL-3.0-or-later
"""Headers that compile alone, and a second compiler's opinion of every source."""
import json
import os
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor

WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes", "-Wmissing-prototypes", "-Wformat=2",
            "-Wvla", "-Werror"]


def packages():
    done = subprocess.run(["pkg-config", "--cflags", "jansson", "gsl", "sqlite3", "libssh2", "cmocka"],
                          capture_output=True, text=True, check=True)
    return shlex.split(done.stdout)


def each(jobs):
    with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        return list(pool.map(lambda job: (job[0], subprocess.run(job[1], cwd=job[2], capture_output=True, text=True)),
                             jobs))


def report(tree, done):
    for rel, result in done:
        if result.returncode or result.stderr.strip():
            tree.bad(rel, result.stderr.strip().split("\n")[0])


def headers(tree):
    flags = ["gcc", "-std=gnu11", "-D_GNU_SOURCE", *WARNINGS, "-fsyntax-only", "-x", "c",
             "-I.", "-Iharness", *packages()]
    for rel in tree.files(".h"):
        if "#ifndef KAB_" not in tree.read(rel) and not rel.startswith("tests/"):
            tree.bad(rel, "has no include guard that begins with KAB_")
    report(tree, each([(rel, [*flags, "-include", rel, "/dev/null"], tree.root)
                       for rel in tree.files(".h") if not rel.startswith("tests/")]))


def wanted(words, origin, root):
    """Include paths, definitions, language and warnings left out of a compiler call, moved to another root."""
    keep = []
    for i, word in enumerate(words):
        if word == "-isystem":
            keep += [word, words[i + 1]]
        elif word.startswith(("-I", "-D", "-std", "-Wno-")) and not word.startswith("-D_FORTIFY"):
            ours = word.startswith("-I" + origin) and "/build" not in word[len(origin):]
            keep.append(word.replace(origin, root, 1) if ours else word)
    return keep


def clang(tree):
    """clang-14 on every source, with the flags of this build."""
    with open(os.path.join(tree.build, "compile_commands.json"), encoding="utf-8") as f:
        entries = json.load(f)
    # The self-test looks at a copy of the tree: same flags, other root.
    origin = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
    jobs = []
    for entry in entries:
        rel = os.path.relpath(entry["file"], origin)
        if rel.startswith(("..", "build")) or (tree.only and not re.search(tree.only, rel)):
            continue
        keep = wanted(shlex.split(entry["command"]), origin, tree.root)
        jobs.append((rel, ["clang-14", *WARNINGS, *keep, "-fsyntax-only", tree.path(rel)], entry["directory"]))
    if not jobs:
        tree.bad("compile_commands.json", "names no source of this tree")
    report(tree, each(jobs))


CHECKS = {"headers": headers, "clang": clang}
