# SPDX-License-Identifier: GPL-3.0-or-later
"""Licence lines, leftover words, format, shell scripts, and what the documents refer to."""
import os
import re
import subprocess

SPDX = "SPDX-License-Identifier: GPL-3.0-or-later"
SPDX_SUFFIXES = (".c", ".h", ".sh", ".py", ".cmake", "CMakeLists.txt", ".sql", ".1")
# In pieces, so that this file passes its own check.
LEFTOVER = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK")) + r")\b|\b[Ss]tu" + r"bs?\b|\bST" + r"UBS?\b")
BINARY = (".png", ".gz", ".zst", ".db", ".xz")


def shebang(tree, rel):
    with open(tree.path(rel), "rb") as f:
        line = f.readline(80)
    return line.decode("ascii", "replace").strip() if line.startswith(b"#!") else ""


def licence(tree):
    for rel in tree.files():
        script = not rel.endswith(BINARY) and re.search(r"\b(sh|bash|python3)\b", shebang(tree, rel))
        if not (rel.endswith(SPDX_SUFFIXES) or script):
            continue
        if SPDX not in "\n".join(tree.read(rel).split("\n")[:4]):
            tree.bad(rel, f"'{SPDX}' is not in its first lines")
    if not tree.exists("LICENSE") or "GNU GENERAL PUBLIC LICENSE" not in tree.read("LICENSE")[:200]:
        tree.bad("LICENSE", "is not the text of the GPL")


def leftovers(tree):
    for rel in tree.files():
        if rel.endswith(BINARY) or rel == "LICENSE":
            continue
        for number, line in tree.lines(rel):
            m = LEFTOVER.search(line)
            if m:
                tree.bad(f"{rel}:{number}", f"the word '{m.group(0)}' is left")


def blanks(tree):
    for rel in tree.files(".c", ".h", ".sh", ".py", ".cmake", "CMakeLists.txt", ".sql", ".md", ".json"):
        text = tree.read(rel)
        if text and not text.endswith("\n"):
            tree.bad(rel, "does not end with a line end")
        for number, line in enumerate(text.split("\n"), 1):
            if line != line.rstrip(" \t\r") and not rel.endswith(".md"):
                tree.bad(f"{rel}:{number}", "blanks at the end of the line")


def style(tree):
    sources = [f for f in tree.files(".c", ".h")]
    for start in range(0, len(sources), 50):
        done = subprocess.run(["clang-format-14", "--dry-run", "-Werror", "--style=file",
                               *sources[start:start + 50]], cwd=tree.root, capture_output=True, text=True)
        if done.returncode:
            seen = set()
            for m in re.finditer(r"^(\S+?):(\d+):\d+: error:", done.stderr, re.M):
                if m.group(1) not in seen:
                    seen.add(m.group(1))
                    tree.bad(f"{m.group(1)}:{m.group(2)}", "not formatted: run clang-format-14 -i on it")
            if not seen:
                tree.bad("clang-format-14", done.stderr.strip())


def shells(tree):
    for rel in tree.files():
        if rel.endswith(BINARY):
            continue
        first = shebang(tree, rel)
        if not (rel.endswith(".sh") or re.search(r"\b(ba|da)?sh\b", first)):
            continue
        bash = "bash" in first
        check = ["bash", "-n", rel] if bash else ["dash", "-n", rel]
        done = subprocess.run(check, cwd=tree.root, capture_output=True, text=True)
        if done.returncode:
            tree.bad(rel, f"{' '.join(check)}: {done.stderr.strip()}")
        # Scripts without a first line are sent to targets, where sh is what there is.
        # Every sh of these (dash, bash, busybox) has `local`.
        kind = [] if "bash" in first else ["-s", "dash" if "busybox" in first else "sh", "-e", "SC3043"]
        done = subprocess.run(["shellcheck", "-S", "warning", "-f", "gcc", *kind, rel], cwd=tree.root,
                              capture_output=True, text=True)
        for line in done.stdout.splitlines():
            tree.bad("shellcheck", line)


def documents(tree):
    """Relative links of the documents lead somewhere, and every page of docs/ is linked from one."""
    pages = tree.files(".md")
    linked = set()
    for rel in pages:
        for number, line in tree.lines(rel):
            for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", line):
                if re.match(r"[a-z]+:", target):
                    continue
                path = os.path.normpath(os.path.join(os.path.dirname(rel), target))
                linked.add(path)
                if not tree.exists(path):
                    tree.bad(f"{rel}:{number}", f"the link to '{target}' leads nowhere")
    for rel in pages:
        if rel.startswith("docs/") and rel not in linked:
            tree.bad(rel, "no other page links to it")


CHECKS = {"licence": licence, "leftovers": leftovers, "blanks": blanks, "style": style, "shells": shells,
          "documents": documents}
