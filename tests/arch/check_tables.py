# SPDX-License-Identifier: GPL-3.0-or-later
"""What is written twice must agree: tables and files, help and man page, schemas and loaders."""
import json
import os
import re
import subprocess
import tempfile

MAN = "harness/man/kab.1"


def kab(tree, *args):
    return subprocess.run([tree.kab, *args], cwd=tree.root, capture_output=True, text=True,
                          env={**os.environ, "XDG_CONFIG_HOME": "/nonexistent"})


def command_names(tree):
    """From `kab help`, in its order."""
    text = kab(tree, "help").stdout
    block = re.search(r"^Commands:\n(.*?)\n\n", text, re.M | re.S)
    return re.findall(r"^  (\S+)", block.group(1), re.M) if block else []


def commands(tree):
    table = tree.read("harness/cli/commands.c")
    header = tree.read("harness/cli/commands.h")
    build = tree.read("harness/cli/CMakeLists.txt")
    defined = set()
    for rel in tree.files(".c"):
        if not rel.startswith("harness/cli/"):
            continue
        base = os.path.basename(rel)
        names = re.findall(r"^const struct kab_cmd kab_cmd_(\w+)", tree.read(rel), re.M)
        if base.startswith("cmd_") and names != [base[4:-2]]:
            tree.bad(rel, f"expected it to define kab_cmd_{base[4:-2]}, found {names}")
        for name in names:
            defined.add(name)
            if f"&kab_cmd_{name}," not in table:
                tree.bad(rel, f"kab_cmd_{name} is not in the table of harness/cli/commands.c")
            if f"kab_cmd_{name};" not in header:
                tree.bad(rel, f"kab_cmd_{name} is not declared in harness/cli/commands.h")
        if not re.search(rf"(?<![\w]){re.escape(base)}(?![\w])", build):
            tree.bad(rel, "is not named in harness/cli/CMakeLists.txt")
    for name in re.findall(r"&kab_cmd_(\w+)", table):
        if name not in defined:
            tree.bad("harness/cli/commands.c", f"kab_cmd_{name} is listed, but no file defines it")


def runners(tree):
    table = tree.read("runners/table.c")
    for rel in tree.files(".c"):
        if rel.startswith("runners/"):
            for name in re.findall(r"^const struct kab_runner (kab_runner_\w+)", tree.read(rel), re.M):
                if f"&{name}" not in table:
                    tree.bad(rel, f"{name} is not in the table of runners/table.c")


def sources(tree):
    """Every C file of a library folder is built."""
    for folder in tree.layers():
        if not tree.exists(folder + "/CMakeLists.txt"):
            continue
        text = tree.read(folder + "/CMakeLists.txt")
        for rel in tree.files(".c"):
            base = os.path.basename(rel)
            if os.path.dirname(rel) == folder and not re.search(rf"(?<![\w]){re.escape(base)}(?![\w])", text):
                tree.bad(rel, f"is not named in {folder}/CMakeLists.txt")


def tests(tree):
    """Every test program is built, and every shell or Python test is called by somebody."""
    build = "\n".join(tree.read(f) for f in tree.files("CMakeLists.txt") if f.startswith("tests/"))
    for rel in tree.files(".c"):
        base = os.path.basename(rel)
        if rel.startswith("tests/") and not re.search(rf"(?<![\w]){re.escape(base)}(?![\w])", build):
            tree.bad(rel, "is named in no CMakeLists.txt below tests/")


def options_of(tree, name):
    """Long options from `kab help NAME`."""
    block = re.search(r"^Options:\n(.*?)\n\n", kab(tree, "help", name).stdout, re.M | re.S)
    return re.findall(r"^  (?:-\w, )?--([\w-]+)", block.group(1), re.M) if block else []


def manual(tree):
    text = tree.read(MAN)
    sections = dict(re.findall(r"^\.Ss (\S+)[^\n]*\n(.*?)(?=^\.S[sh] |\Z)", text, re.M | re.S))
    names = command_names(tree)
    if not names:
        tree.bad("kab help", "lists no commands")
    for name in names:
        if name not in sections:
            tree.bad(MAN, f"has no subsection '.Ss {name}'")
            continue
        for option in options_of(tree, name):
            if not re.search(rf"\bFl -{re.escape(option)}(?![\w-])", sections[name]):
                tree.bad(MAN, f"'.Ss {name}' does not explain --{option}")
        for option in re.findall(r"^\.It(?: Fl \w ,)? Fl -([\w-]+)", sections[name], re.M):
            if option not in options_of(tree, name):
                tree.bad(MAN, f"'.Ss {name}' explains --{option}, which it does not have")
    for name in sections:
        if name in names or not re.fullmatch(r"[a-z]+", name):
            continue
        tree.bad(MAN, f"'.Ss {name}' is about no command")
    block = re.search(r"^Global options.*?:\n(.*?)\n\n", kab(tree, "help").stdout, re.M | re.S)
    for option in re.findall(r"--([\w-]+)", block.group(1) if block else ""):
        if f"Fl -{option}" not in text:
            tree.bad(MAN, f"does not explain the global option --{option}")
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", MAN], cwd=tree.root, capture_output=True, text=True)
    for line in (done.stdout + done.stderr).splitlines():
        tree.bad("mandoc", line)


def help_(tree):
    for name in command_names(tree):
        done = kab(tree, name, "--help")
        if done.returncode or not re.search(rf"\nExample:\n(?:  .*\n)*?.*\bkab {name}\b", done.stdout):
            tree.bad(f"kab {name} --help", "has no example")
        for number, line in enumerate(done.stdout.split("\n"), 1):
            if len(line) > 100:
                tree.bad(f"kab {name} --help", f"line {number} is wider than 100 columns")


def suites(tree):
    for rel in tree.files(".json"):
        if rel.startswith("suites/"):
            done = kab(tree, "suites", rel)
            if done.returncode:
                tree.bad(rel, f"kab suites: {done.stderr.strip()}")
            name = json.loads(tree.read(rel)).get("name")
            if name != os.path.basename(rel)[:-5]:
                tree.bad(rel, f"the suite calls itself '{name}'")


def key_list(tree, rel, name):
    """The strings of `const char *const NAME[] = { ... }` in a C file; FUNCTION:NAME is within a function."""
    function, _, variable = name.rpartition(":")
    inside = rf"^\w[^\n]*\b{function}\(.*?" if function else ""
    m = re.search(rf"{inside}\b{variable}\[\]\s*=\s*{{(.*?)}};", tree.read(rel), re.S | re.M)
    if not m:
        tree.bad(rel, f"has no table '{name}'")
        return None
    return set(re.findall(r'"([^"]+)"', m.group(1)))


def at(schema, path):
    for part in path.split("/"):
        schema = schema.get(part, {}) if part else schema
    return schema


# Schema, place in it, C file, table of keys there.
KEYS = (
    ("suite", "", "harness/model/suite.c", "kab_suite_keys"),
    ("suite", "$defs/case", "harness/model/suite.c", "kab_case_keys"),
    ("suite", "$defs/background", "harness/model/suite.c", "background_keys"),
    ("suite", "$defs/repeat", "harness/model/suite.c", "repeat_keys"),
    ("suite", "$defs/hook", "harness/model/suite.c", "hook_keys"),
    ("suite", "$defs/quiet", "harness/model/suite.c", "quiet_keys"),
    ("lab", "", "harness/model/lab.c", "lab_keys"),
    ("lab", "$defs/host", "harness/model/lab.c", "host_keys"),
    ("lab", "$defs/boot", "harness/model/lab.c", "boot_keys"),
    ("lab", "$defs/power", "harness/model/lab.c", "power_keys"),
    ("nightly", "", "harness/model/nightly.c", "nightly_keys"),
    ("nightly", "$defs/baseline", "harness/model/nightly.c", "baseline_keys"),
    ("nightly", "$defs/window", "harness/model/nightly.c", "window_keys"),
    ("nightly", "$defs/host_window", "harness/model/nightly.c", "host_window_keys"),
    ("nightly", "$defs/mail", "harness/model/nightly.c", "mail_keys"),
    ("nightly", "$defs/source", "harness/model/nightly_source.c", "source_keys"),
    ("kernel", "$defs/one", "harness/model/kernel.c", "from_object:keys"),
    ("kernel", "$defs/by_host", "harness/model/kernel.c", "from_hosts:keys"),
)


def schemas(tree):
    import jsonschema

    loaded = {}
    for name in sorted({k[0] for k in KEYS}):
        rel = f"schemas/{name}.schema.json"
        loaded[name] = json.loads(tree.read(rel))
        jsonschema.Draft202012Validator.check_schema(loaded[name])
        if tree.kab:
            printed = kab(tree, "schema", name).stdout
            if printed != tree.read(rel):
                tree.bad(rel, f"`kab schema {name}` prints something else")
    for name, place, rel, table in KEYS:
        known, node = key_list(tree, rel, table), at(loaded[name], place)
        if known is None:
            continue
        props = set(node.get("properties", {}))
        if props != known:
            tree.bad(f"schemas/{name}.schema.json", f"'{place or '/'}': properties and {rel}:{table} differ: "
                                                    f"{sorted(props ^ known)}")
        if node.get("additionalProperties") is not False:
            tree.bad(f"schemas/{name}.schema.json", f"'{place or '/'}' lets unknown keys pass")
    validator = jsonschema.Draft202012Validator(loaded["suite"])
    for rel in tree.files(".json"):
        if rel.startswith("suites/"):
            for error in validator.iter_errors(json.loads(tree.read(rel))):
                tree.bad(rel, f"{error.json_path}: {error.message}")
    # The examples of the documents are files that load, too.
    for rel in tree.files(".md"):
        for block in re.findall(r"^```json\n(.*?)^```", tree.read(rel), re.M | re.S):
            try:
                doc = json.loads(block)
            except ValueError as error:
                tree.bad(rel, f"an example is not JSON: {error}")
                continue
            kind = "suite" if "cases" in doc else "nightly" if "sources" in doc else "lab" if "hosts" in doc else "kernel"
            if kind == "lab" and any(k in host for host in doc["hosts"].values() for k in ("release", "deb", "tar")):
                kind = "kernel"
            for error in jsonschema.Draft202012Validator(loaded[kind]).iter_errors(doc):
                tree.bad(rel, f"example of a {kind}: {error.json_path}: {error.message}")


def packages(tree):
    """What the configuration asks for is installed by the scripts, and every package is a plausible line."""
    have = {}
    for number, line in tree.lines("cmake/packages.txt"):
        if not line.strip() or line.startswith("#"):
            continue
        if not re.fullmatch(r"(build|bench|test) [a-z0-9.+-]+ (cmd|pc|header|file|py):\S+", line):
            tree.bad(f"cmake/packages.txt:{number}", "expected USE PACKAGE CHECK")
            continue
        _, package, check = line.split(" ")
        have[check] = package
    needed = re.findall(r"^kab_need\(\w+ (\S+) \S+ (\S+)\)", tree.read("cmake/KabDependencies.cmake"), re.M)
    if len(needed) < 8:
        tree.bad("cmake/KabDependencies.cmake", "calls of kab_need() were not found")
    for module, package in needed:
        if have.get(f"pc:{module}") != package:
            tree.bad("cmake/packages.txt", f"has no line for {package}, which brings {module}")


def calls_of_kab(text):
    """Command words of the calls of kab in the code of a document."""
    for line in text.split("\n"):
        m = re.match(r"(?:    |\t)\s*(?:\$ )?(?:\./|build/\w+/)?kab((?: +--(?:db|lab|color)[= ]\S+)*) +([a-z]+)\b", line)
        if m:
            yield m.group(2)
        yield from re.findall(r"`kab ([a-z]+)\b", line)


def examples(tree):
    """The documents call commands that exist, with options that these have."""
    names = set(command_names(tree))
    options = {name: set(options_of(tree, name)) for name in names}
    block = re.search(r"^Global options.*?:\n(.*?)\n\n", kab(tree, "help").stdout, re.M | re.S)
    everywhere = set(re.findall(r"--([\w-]+)", block.group(1))) | {"help", "version"}
    for rel in tree.files(".md"):
        for number, line in tree.lines(rel):
            for name in calls_of_kab(line):
                if name not in names:
                    tree.bad(f"{rel}:{number}", f"kab has no command '{name}'")
                    continue
                call = re.split(rf"kab[^`]*?\b{name}\b", line, maxsplit=1)[-1].split("`")[0]
                for option in re.findall(r"(?<!\S)--([a-z][\w-]*)", call):
                    if option not in options[name] | everywhere:
                        tree.bad(f"{rel}:{number}", f"kab {name} has no option --{option}")


# What both the loader and the schema must refuse, as changes of a suite that both accept, with the words that
# the loader must say (the place, and the nearest key).
WRONG_SUITES = (
    ({"iteratons": 3}, ("$", "iteratons")),
    ({"repeat": {"iteratons": 3}}, ("$.repeat", "iterations")),
    ({"repeat": {"warmups": 1}}, ("$.repeat", "warmup")),
    ({"repeat": {"boots": 0}}, ("$.repeat.boots",)),
    ({"repeat": {"boots": "3"}}, ("$.repeat.boots", "'3'")),
    ({"margin_pct": -1}, ("$.margin_pct",)),
    ({"conditions": {"smd": "on"}}, ("$.conditions.smd",)),
    ({"conditions": {"smt": "maybe"}}, ("$.conditions.smt",)),
    ({"conditions": {"cpuset": "all"}}, ("$.conditions.cpuset",)),
    ({"quiet": "loud"}, ("$.quiet",)),
    ({"hooks": {"h": {"apply": ["true"]}}}, ("$.hooks.h",)),
    ({"name": "a b"}, ("$.name",)),
    ({"cases": []}, ("$.cases",)),
    ({"cases": [{"name": "x"}]}, ("$.cases[0]", "runner")),
    ({"cases": [{"name": "x", "runner": "hackbench", "timeout": 5}]}, ("$.cases[0]", "timeout_s")),
    ({"cases": [{"name": "x", "runner": "hackbench", "params": {"groups": []}}]}, ("$.cases[0].params.groups",)),
    ({"cases": [{"name": "x", "runner": "hackbench", "background": {"settle_s": 1}}]}, ("$.cases[0].background",)),
)


def agreement(tree):
    """The schema of suites and the loader refuse the same things, and the loader says where."""
    import jsonschema

    with open(tree.path("schemas/suite.schema.json"), encoding="utf-8") as f:
        validator = jsonschema.Draft202012Validator(json.load(f))
    good = {"name": "good", "cases": [{"name": "x", "runner": "hackbench", "params": {"groups": [1, 2]}}]}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "suite.json")
        for change, words in (({}, None), ({"_note": 1, "$schema": "x"}, None), *WRONG_SUITES):
            with open(path, "w", encoding="utf-8") as f:
                json.dump({**good, **change}, f)
            done, valid = kab(tree, "suites", path), validator.is_valid({**good, **change})
            what = json.dumps(change)
            if words is None:
                if done.returncode or not valid:
                    tree.bad("a good suite", f"{what} is refused: {done.stderr.strip()}")
                continue
            if valid:
                tree.bad("schemas/suite.schema.json", f"accepts {what}")
            if done.returncode != 3:
                tree.bad("kab suites", f"exits with {done.returncode} for {what}")
            for word in (path, *words):
                if word not in done.stderr:
                    tree.bad("kab suites", f"does not say '{word}' of {what}: {done.stderr.strip()}")


CHECKS = {"agreement": agreement, "packages": packages, "examples": examples, "commands": commands, "runners": runners, "sources": sources, "tests": tests, "manual": manual,
          "help": help_, "suites": suites, "schemas": schemas}
