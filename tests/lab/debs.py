# SPDX-License-Identifier: GPL-3.0-or-later
"""Debian packages of a foreign architecture: a private apt per architecture, no root needed.

The system's apt and dpkg state is neither read nor changed. Versions come from the lists; nothing
here names one. apt verifies signatures and hashes.
"""
import glob
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time

LISTS_MAX_AGE_S = 7 * 86400
SUITES = ("bookworm-backports", "bookworm")
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


class LabError(Exception):
    pass


def run(argv, **kw):
    """Run a command; its output is shown only when it fails."""
    proc = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          stdin=subprocess.DEVNULL, check=False, **kw)
    if proc.returncode != 0:
        raise LabError("%s failed (%d):\n%s" % (" ".join(argv), proc.returncode,
                                                proc.stdout[-2000:]))
    return proc.stdout


def natural(text):
    """Sort key: numbers inside by value."""
    return [(int(t), "") if t.isdigit() else (-1, t) for t in re.findall(r"\d+|\D+", text)]


def proxy_settings():
    """Keep the machine's proxy; everything else of its apt configuration is left out."""
    dump = subprocess.run(["apt-config", "dump"], stdout=subprocess.PIPE, text=True, check=False)
    return [line for line in dump.stdout.splitlines()
            if re.match(r"Acquire::https?::Proxy", line)]


class Apt:
    def __init__(self, cache, arch, log, pool=None, suites=SUITES):
        """pool: a folder for packages that are not the guest's. suites: the last one wins."""
        self.arch = arch
        self.log = log
        self.suites = suites
        self.base = os.path.join(cache, "apt", arch)
        self.pool = os.path.join(cache, "debs", pool or arch)
        self.packages = {}
        self.downloaded = 0
        for sub in ("lists/partial", "cache/archives/partial"):
            os.makedirs(os.path.join(self.base, sub), exist_ok=True)
        os.makedirs(self.pool, exist_ok=True)
        self.stamp = os.path.join(self.base, "updated")
        self._configure()

    def _configure(self):
        mirror = os.environ.get("KAB_LAB_MIRROR", "http://deb.debian.org/debian")
        with open(os.path.join(self.base, "sources.list"), "w", encoding="utf-8") as f:
            for suite in SUITES:
                f.write("deb [signed-by=%s] %s %s main\n" % (KEYRING, mirror, suite))
        open(os.path.join(self.base, "status"), "a", encoding="utf-8").close()
        conf = [
            'APT::Architecture "%s";' % self.arch,
            'APT::Architectures { "%s"; };' % self.arch,
            'APT::Install-Recommends "false";',
            'APT::Sandbox::User "root";',
            'Acquire::Languages "none";',
            'Acquire::GzipIndexes "false";',
            'Acquire::Retries "3";',
            'Dir::Etc::parts "/dev/null";',
            'Dir::Etc::main "/dev/null";',
            'Dir::Etc::sourceparts "/dev/null";',
            'Dir::Etc::sourcelist "%s/sources.list";' % self.base,
            'Dir::State "%s";' % self.base,
            'Dir::State::lists "%s/lists";' % self.base,
            'Dir::State::status "%s/status";' % self.base,
            'Dir::Cache "%s/cache";' % self.base,
        ] + proxy_settings()
        self.conf = os.path.join(self.base, "apt.conf")
        with open(self.conf, "w", encoding="utf-8") as f:
            f.write("\n".join(conf) + "\n")

    def _apt(self, *args, cwd=None):
        return run(["apt-get", "-q", *args], env=dict(os.environ, APT_CONFIG=self.conf,
                                                      LC_ALL="C"), cwd=cwd)

    def lists_age(self):
        try:
            return time.time() - os.stat(self.stamp).st_mtime
        except FileNotFoundError:
            return float("inf")

    def update(self, force=False):
        """True if the lists are new. Old lists serve when the network does not."""
        age = self.lists_age()
        if not force and age < LISTS_MAX_AGE_S:
            return False
        try:
            self._apt("update", "-o", "APT::Update::Error-Mode=any")
        except LabError as e:
            if force or age == float("inf"):
                raise
            self.log("%s: lists are %d days old and cannot be renewed: %s"
                     % (self.arch, age // 86400, str(e).splitlines()[-1]))
            return False
        with open(self.stamp, "w", encoding="utf-8") as f:
            f.write("%d\n" % time.time())
        self.packages = {}
        return True

    def load(self):
        """Read the lists: name -> fields."""
        if self.packages:
            return
        for suite in self.suites:
            found = glob.glob("%s/lists/*_dists_%s_main_binary-%s_Packages"
                              % (self.base, suite, self.arch))
            if not found:
                raise LabError("no package list of %s for %s" % (suite, self.arch))
            with open(found[0], encoding="utf-8") as f:
                for block in f.read().split("\n\n"):
                    fields = dict(re.findall(r"^(Package|Version|Depends|SHA256|Size): (.*)$",
                                             block, re.M))
                    if "Package" in fields:
                        self.packages[fields["Package"]] = fields

    def has(self, name):
        self.load()
        return name in self.packages

    def newest(self, pattern):
        """The highest package name that matches a whole-name pattern."""
        self.load()
        names = [n for n in self.packages if re.fullmatch(pattern, n)]
        if not names:
            raise LabError("no package matches %s for %s" % (pattern, self.arch))
        return max(names, key=natural)

    def depends(self, name):
        """Names in Depends, first alternative only."""
        self.load()
        deps = self.packages[name].get("Depends", "")
        return [re.split(r"[\s:(|]", d.strip(), maxsplit=1)[0] for d in deps.split(",") if d]

    def _pool_path(self, name):
        return os.path.join(self.pool, "%s_%s.deb" % (name, self.packages[name]["SHA256"][:16]))

    def fetch(self, names):
        """Download what is not in the cache yet, in one go."""
        self.load()
        names = [n for n in names if not os.path.exists(self._pool_path(n))]
        if not names:
            return
        tmp = tempfile.mkdtemp(prefix="get-", dir=self.pool)
        try:
            self._apt("download", *["%s=%s" % (n, self.packages[n]["Version"]) for n in names],
                      cwd=tmp)
            by_hash = {self.packages[n]["SHA256"]: n for n in names}
            for got in glob.glob(tmp + "/*.deb"):
                with open(got, "rb") as f:
                    name = by_hash.get(hashlib.sha256(f.read()).hexdigest())
                if name is None:
                    raise LabError("%s: not the file that the lists promise" % got)
                os.rename(got, self._pool_path(name))
                self.downloaded += int(self.packages[name]["Size"])
        finally:
            shutil.rmtree(tmp)

    def deb(self, name):
        """Path of the package file in the cache; downloaded when it is not there."""
        self.fetch([name])
        return self._pool_path(name)

    def prune(self, keep):
        """Remove cached files of packages that the newest image no longer uses."""
        for path in glob.glob(self.pool + "/*.deb"):
            if path not in keep:
                os.unlink(path)


class Tree:
    """Packages unpacked into one folder, completed by the libraries that given programs need."""

    def __init__(self, apt, root):
        self.apt = apt
        self.root = root
        self.owner = {}
        self.debs = []
        os.makedirs(root, exist_ok=True)

    def add(self, name):
        if name in self.owner.values() or any(d[0] == name for d in self.debs):
            return
        deb = self.apt.deb(name)
        self.debs.append((name, deb))
        run(["dpkg-deb", "-x", deb, self.root])
        listing = subprocess.run(["dpkg-deb", "-c", deb], stdout=subprocess.PIPE, text=True,
                                 check=True).stdout
        for line in listing.splitlines():
            path = line.split(None, 5)[5].split(" -> ")[0]
            self.owner[os.path.normpath(path)] = name

    def resolve(self, path):
        """A path inside the tree as a real file, following links within the tree."""
        for _ in range(16):
            full = os.path.join(self.root, path)
            if not os.path.islink(full):
                return path if os.path.exists(full) else None
            target = os.readlink(full)
            path = target.lstrip("/") if target.startswith("/") else \
                os.path.normpath(os.path.join(os.path.dirname(path), target))
        return None

    def find_library(self, soname):
        for libdir in ("lib", "usr/lib", "lib64"):
            top = os.path.join(self.root, libdir)
            hits = [os.path.join(libdir, soname)] + sorted(
                os.path.join(libdir, d, soname) for d in (os.listdir(top) if os.path.isdir(top)
                                                          else []) if "-linux-gnu" in d)
            for hit in hits:
                if os.path.lexists(os.path.join(self.root, hit)) and self.resolve(hit):
                    return hit
        return None

    def _provide(self, soname, needed_by):
        """Add the package with a library: by Debian's naming rule, else try what the user needs."""
        m = re.fullmatch(r"(.+?)\.so\.?(.*)", soname)
        base, version = (m.group(1), m.group(2)) if m else (soname, "")
        base = base.lower().replace("_", "-")
        dash = "-" if base[-1:].isdigit() else ""
        deps = self.apt.depends(needed_by)
        named = [base + dash + version, base + dash + version + "t64"]
        for name in [d for d in deps if d in named] + [d for d in deps if re.match(
                r"(lib|zlib)", d)] + named:
            if self.apt.has(name) and name not in self.owner.values():
                self.add(name)
                if self.find_library(soname):
                    return self.find_library(soname)
        return None

    def closure(self, programs):
        """Libraries (paths in the tree) and loaders that the programs need, and theirs."""
        todo, libs = list(programs), []
        seen = set()
        while todo:
            prog = todo.pop()
            real = self.resolve(prog)
            if real is None:
                raise LabError("%s is in no chosen package (%s)" % (prog, self.apt.arch))
            if real in seen:
                continue
            seen.add(real)
            with open(os.path.join(self.root, real), "rb") as f:
                if f.read(4) != b"\x7fELF":
                    continue
            text = run(["readelf", "-dlW", os.path.join(self.root, real)])
            loader = re.search(r"program interpreter: /(.*?)\]", text)
            if loader and loader.group(1) not in libs:
                libs.append(loader.group(1))
            for soname in re.findall(r"\(NEEDED\).*\[(.*?)\]", text):
                lib = self.find_library(soname) or \
                    self._provide(soname, self.owner.get(real, self.owner.get(prog)))
                if lib is None:
                    raise LabError("%s needs %s, which no package gives (%s)"
                                   % (real, soname, self.apt.arch))
                if lib not in libs:
                    libs.append(lib)
                    todo.append(lib)
        return libs
