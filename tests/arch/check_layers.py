# SPDX-License-Identifier: GPL-3.0-or-later
"""Includes, sizes and forbidden calls of the C sources, by the layer table of docs/design.md."""
import os
import re
import subprocess

from tree import strip_c

MAX_LINES = 800

# Library of the table -> how its headers begin.
LIBRARIES = {
    "jansson": ("jansson.h",),
    "libcrypto": ("openssl/",),
    "gsl": ("gsl/",),
    "pcre2": ("pcre2",),
    "libssh2": ("libssh2",),
    "sqlite3": ("sqlite3.h",),
    "zstd": ("zstd",),
    "libcurl": ("curl/",),
}
SYSTEM = set("""
assert.h ctype.h dirent.h errno.h fcntl.h float.h getopt.h glob.h iconv.h inttypes.h libgen.h limits.h locale.h
math.h netdb.h poll.h pthread.h pwd.h sched.h setjmp.h signal.h spawn.h stdalign.h stdarg.h stdatomic.h
stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h strings.h termios.h time.h unistd.h wchar.h
arpa/inet.h netinet/in.h netinet/tcp.h sys/epoll.h sys/eventfd.h sys/file.h sys/ioctl.h sys/mman.h sys/mount.h
sys/prctl.h sys/random.h sys/resource.h sys/select.h sys/signalfd.h sys/socket.h sys/stat.h
sys/statvfs.h sys/syscall.h sys/time.h sys/timerfd.h sys/times.h sys/types.h sys/uio.h sys/un.h
sys/utsname.h sys/vfs.h sys/wait.h fnmatch.h iconv.h langinfo.h linux/magic.h
""".split())

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
BANNED = ("strcpy strcat stpcpy sprintf vsprintf gets atoi atol atoll atof system popen strtok setlocale "
          "alloca vfork mktemp tmpnam").split()
# A library returns values; what is printed and when to end is the caller's business.
LOUD = "printf vprintf puts putchar perror psignal exit _exit quick_exit abort fork".split()
# (file, object): guards of pthread_once(), which is how a library that must be started once is started.
ONCE = {("libkab_transport.a", "library")}
# Out of memory, and a broken libcrypto: the two ends that no caller could handle.
MAY_ABORT = {"harness/base/alloc.c", "harness/base/sha256.c"}


def layer_of(rel, rows):
    return max((f for f in rows if rel.startswith(f + "/")), key=len, default=None)


def target_of(include, rows):
    """Folder of the table that "base/err.h" or "stats/welch.h" is in."""
    for prefix in ("", "harness/"):
        folder = layer_of(prefix + include, rows)
        if folder:
            return folder
    return None


def includes(tree):
    rows = tree.layers()
    for rel in tree.files(".c", ".h"):
        if rel.startswith("tests/"):
            continue
        layer = layer_of(rel, rows)
        if not layer:
            tree.bad(rel, "lies in no folder of the layer table in docs/design.md")
            continue
        for number, line in tree.lines(rel):
            m = INCLUDE.match(line)
            if not m:
                continue
            where, header = f"{rel}:{number}", m.group(2)
            if m.group(1) == '"':
                one_of_ours(tree, rows, layer, rel, where, header)
            else:
                foreign(tree, rows, layer, where, header)


def one_of_ours(tree, rows, layer, rel, where, header):
    if "/" not in header:
        # A file beside it, or one made at build time.
        if not tree.exists(os.path.join(os.path.dirname(rel), header)) and not header.endswith(".inc"):
            tree.bad(where, f'"{header}" is not beside the file; name the folder too')
        return
    target = target_of(header, rows)
    if ".." in header or not target:
        tree.bad(where, f'"{header}" lies in no folder of the layer table')
    elif target != layer and target not in rows[layer][0]:
        tree.bad(where, f"{layer} may not include {target} (docs/design.md, layer table)")


def foreign(tree, rows, layer, where, header):
    for library, starts in LIBRARIES.items():
        if header.startswith(starts):
            if library not in rows[layer][1]:
                tree.bad(where, f"<{header}> of {library} may not be used in {layer} (docs/design.md, layer table)")
            return
    if header not in SYSTEM:
        tree.bad(where, f"<{header}> is neither in the layer table nor a known system header")


def links(tree):
    """A library target links the folders of its row and no others."""
    rows = tree.layers()
    names = {"kab_" + f.rsplit("/", 1)[-1]: f for f in rows}
    packages = {"JANSSON": "jansson", "CRYPTO": "libcrypto", "GSL": "gsl", "PCRE2": "pcre2",
                "LIBSSH2": "libssh2", "SQLITE": "sqlite3", "ZSTD": "zstd", "CURL": "libcurl"}
    for folder, (own, libraries) in rows.items():
        rel = folder + "/CMakeLists.txt"
        if not tree.exists(rel):
            tree.bad(rel, "is missing, but the layer table has this folder")
            continue
        text = re.sub(r"#[^\n]*", "", tree.read(rel))
        made = re.findall(r"kab_library\(\s*(\w+)", text)
        if made != [name for name, f in names.items() if f == folder]:
            tree.bad(rel, f"makes {made}, expected one library named after the folder")
        for target in set(re.findall(r"\bkab_[a-z]+\b", text)) & names.keys():
            if names[target] != folder and names[target] not in own:
                tree.bad(rel, f"links {target}, which {folder} may not include")
        for package in re.findall(r"PkgConfig::(\w+)", text):
            if packages.get(package) not in libraries:
                tree.bad(rel, f"links {package}, which is not in its row of the layer table")


def sizes(tree):
    for rel in tree.files(".c", ".h", ".py", ".sh", ".cmake"):
        n = tree.read(rel).count("\n")
        if n > MAX_LINES:
            tree.bad(rel, f"{n} lines; at most {MAX_LINES}: split it by topic")


def calls(tree):
    banned = re.compile(r"(?<![\w>.])(" + "|".join(BANNED) + r")\s*\(")
    loud = re.compile(r"(?<![\w>.])(" + "|".join(LOUD) + r")\s*\(|\b(?:fprintf|fputs|fputc|fwrite)\s*\([^;]*\b(?:stdout|stderr)\b")
    for rel in tree.files(".c", ".h"):
        library = not rel.startswith(("tests/", "harness/cli/"))
        for number, line in enumerate(strip_c(tree.read(rel)).split("\n"), 1):
            m = banned.search(line)
            if m:
                tree.bad(f"{rel}:{number}", f"{m.group(1)}() is not used in this project")
            m = loud.search(line) if library and rel not in MAY_ABORT else None
            if m:
                tree.bad(f"{rel}:{number}", f"{m.group(1) or m.group(0)}: a library neither prints nor ends the program")


def globals_(tree):
    """No object in .data or .bss of a library: state belongs to the caller."""
    if not tree.build:
        return
    archives = [os.path.join(d, n) for d, _, names in os.walk(tree.build) for n in names
                if n.startswith("libkab_") and n.endswith(".a")]
    if not archives:
        tree.bad(tree.build, "no library was built; nothing to look at")
    for archive in sorted(archives):
        out = subprocess.run(["nm", "-f", "sysv", "--defined-only", archive], capture_output=True, text=True,
                             check=True).stdout
        for line in out.split("\n"):
            cells = [c.strip() for c in line.split("|")]
            if (os.path.basename(archive), cells[0]) in ONCE:
                continue
            if len(cells) == 7 and cells[3] == "OBJECT" and cells[6] in (".data", ".bss", ".tdata", ".tbss"):
                tree.bad(os.path.basename(archive), f"'{cells[0]}' is mutable global state ({cells[6]})")


CHECKS = {"includes": includes, "links": links, "sizes": sizes, "calls": calls, "globals": globals_}
