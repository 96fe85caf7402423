# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the real kab against emulated guests with real kernels.

Guests belong to the test program: they end with it, however it ends. With LABTEST_RECORD=FILE
every command and all that it said is appended to FILE, with the time it took.
"""
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LAB_SH = os.path.join(HERE, "lab.sh")
QMP = os.path.join(HERE, "qmp.py")
SKIP = 77


def skip(why):
    print("skip: " + why)
    sys.exit(SKIP)


class Failed(AssertionError):
    pass


def check(condition, what):
    if not condition:
        raise Failed(what)


def record(text):
    path = os.environ.get("LABTEST_RECORD")
    if path:
        with open(path, "a", encoding="utf-8") as f:
            f.write(text)


class Result:
    def __init__(self, status, out, err, seconds):
        self.status, self.out, self.err, self.seconds = status, out, err, seconds

    def said(self, words):
        return words in self.err or words in self.out


class Lab:
    """Some guests, a folder, a database."""

    def __init__(self, kab, arches, *options, life=1500):
        self.kab, self.arches = os.path.abspath(kab), arches
        needed = {"amd64": "qemu-system-x86_64", "arm64": "qemu-system-aarch64",
                  "ppc64le": "qemu-system-ppc64"}
        if subprocess.run([LAB_SH, "deps"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, text=True).returncode:
            missing = [needed[a] for a in arches if not shutil.which(needed[a])]
            skip("cannot install what the emulated hosts need%s; try: %s deps" %
                 (" (%s)" % ", ".join(missing) if missing else "", LAB_SH))
        # Not $TMPDIR: the path of a unix socket is short.
        self.dir = tempfile.mkdtemp(prefix="kab-lab-", dir="/tmp")
        self.run_dir = os.path.join(self.dir, "run")
        self.db_path = os.path.join(self.dir, "kab.db")
        self.env = dict(os.environ, KAB_DB=self.db_path, HOME=self.dir, LC_ALL="C")
        self.env.pop("KAB_LAB", None)
        began = time.monotonic()
        # The image cache is the user's: HOME changes only for kab.
        started = subprocess.run([LAB_SH, "start", self.run_dir, *arches, "--", "life=%d" % life,
                                  "owner=%d" % os.getpid(), "wait=400", *options],
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 check=False)
        print(started.stdout, end="", flush=True)
        if started.returncode:
            shutil.rmtree(self.dir, ignore_errors=True)
            if "no image for" in started.stdout and not online():
                skip("no images of the emulated hosts, and the Debian mirror cannot be reached")
            raise Failed("the guests did not start")
        print("guests are up after %.0f s" % (time.monotonic() - began), flush=True)
        with open(self.path("kernels.json"), encoding="utf-8") as f:
            self.kernels = json.load(f)
        # On a busy machine an emulated boot can take minutes; a lost one is not to cost ten.
        shutil.copy(self.lab_file(boot_deadline_s=240), self.path("lab.json"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run([LAB_SH, "stop", self.run_dir], check=False)
        if os.environ.get("LABTEST_KEEP"):
            print("kept: " + self.dir)
        else:
            shutil.rmtree(self.dir, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.run_dir, name)

    def write(self, name, value):
        path = os.path.join(self.dir, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(value if isinstance(value, str) else json.dumps(value, indent=1))
        return path

    def release(self, arch, role):
        return next(k["release"] for k in self.kernels[arch]["kernels"] if k["role"] == role)

    def lab_file(self, **changes):
        """lab.json with other keys of its hosts; boot_... go below "boot"."""
        with open(self.path("lab.json"), encoding="utf-8") as f:
            lab = json.load(f)
        for host in lab["hosts"].values():
            for key, value in changes.items():
                if key.startswith("boot_"):
                    host["boot"][key[5:]] = value
                elif value is None:
                    host.pop(key, None)
                else:
                    host[key] = value
        return self.write("lab-%d.json" % time.monotonic_ns(), lab)

    def suite(self, name, case=None, **keys):
        case = dict({"name": "quick", "runner": "synthetic", "params": {"sleep_s": 1},
                     "timeout_s": 300}, **(case or {}))
        suite = {"name": name, "repeat": {"boots": 1, "iterations": 2}, "quiet": "off",
                 "cases": [case]}
        suite.update(keys)
        return self.write(name + ".json", suite)

    # ---- kab ----
    def start(self, *args, lab=None):
        words = [self.kab, "--lab", lab or self.path("lab.json"), *args]
        child = subprocess.Popen(words, env=self.env, stdin=subprocess.DEVNULL, text=True,
                                 stdout=open(os.path.join(self.dir, "out"), "w+", encoding="utf-8"),
                                 stderr=open(os.path.join(self.dir, "err"), "w+", encoding="utf-8"),
                                 start_new_session=True)
        child.words, child.began = words, time.monotonic()
        child.files = [os.path.join(self.dir, "out%d" % child.pid),
                       os.path.join(self.dir, "err%d" % child.pid)]
        for name, path in zip(("out", "err"), child.files):
            os.rename(os.path.join(self.dir, name), path)
        return child

    @staticmethod
    def said(child):
        with open(child.files[1], encoding="utf-8", errors="replace") as f:
            return f.read()

    def wait_said(self, child, words, seconds=240):
        end = time.monotonic() + seconds
        while words not in self.said(child):
            check(child.poll() is None, "kab ended (%s) before it said '%s':\n%s" %
                  (child.returncode, words, self.said(child)))
            check(time.monotonic() < end, "kab did not say '%s' in %d s:\n%s" %
                  (words, seconds, self.said(child)))
            time.sleep(0.1)

    def finish(self, child, timeout=900):
        try:
            child.wait(timeout)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            raise Failed("kab did not end in %d s:\n%s" % (timeout, self.said(child))) from None
        seconds = time.monotonic() - child.began
        texts = []
        for path in child.files:
            with open(path, encoding="utf-8", errors="replace") as f:
                texts.append(f.read())
        result = Result(child.returncode, *texts, seconds)
        line = " ".join(word if word.replace("-", "").isalnum() else "'%s'" % word
                        for word in child.words).replace(self.dir + "/", "")
        record("\n$ %s\n%s%s[exit status %d, %.0f s]\n" % (line, result.err, result.out,
                                                          result.status, seconds))
        check("Sanitizer" not in result.err, "a sanitizer spoke:\n" + result.err)
        return result

    def run(self, *args, lab=None, timeout=900, status=None):
        result = self.finish(self.start(*args, lab=lab), timeout)
        check(status is None or result.status == status, "kab %s: exit status %d, not %s:\n%s%s" %
              (args[0], result.status, status, result.err, result.out))
        return result

    def rows(self, sql, *args):
        if not os.path.exists(self.db_path):
            return []
        with sqlite3.connect("file:%s?mode=ro" % self.db_path, uri=True) as db:
            return [tuple(row) for row in db.execute(sql, args)]

    def iterations(self, run):
        """host, kernel, boot id in the store, iteration, attempt, state, reason; in the order of the plan."""
        return self.rows("SELECT h.label, k.label, i.boot_id, i.iteration, i.attempt, i.state, i.reason"
                         " FROM iteration i JOIN boot b ON b.id = i.boot_id"
                         " JOIN run_host h ON h.id = b.run_host_id"
                         " JOIN run_kernel k ON k.id = b.run_kernel_id JOIN run r ON r.id = i.run_id"
                         " WHERE r.name = ? ORDER BY h.position, i.sequence, i.attempt", run)

    def boots(self, run):
        """host, kernel, state, release that ran, os boot id, nonce on its command line, reason."""
        return self.rows("SELECT h.label, k.label, b.state, n.release, b.os_boot_id, e.value, b.reason"
                         " FROM boot b JOIN run_host h ON h.id = b.run_host_id"
                         " JOIN run_kernel k ON k.id = b.run_kernel_id JOIN run r ON r.id = b.run_id"
                         " LEFT JOIN kernel n ON n.id = b.kernel_id"
                         " LEFT JOIN environment e ON e.boot_id = b.id AND e.key = 'cmdline'"
                         " WHERE r.name = ? ORDER BY h.position, b.sequence, b.id", run)

    def events(self, run, kind=None):
        return self.rows("SELECT e.kind, e.text FROM event e JOIN run r ON r.id = e.run_id"
                         " WHERE r.name = ? AND (? IS NULL OR e.kind = ?) ORDER BY e.id",
                         run, kind, kind)

    # ---- guests ----
    def guest(self, arch, command, timeout=60, tolerant=False):
        done = subprocess.run(["ssh", "-F", self.path("ssh_config"), "-o", "ConnectTimeout=10", arch,
                               command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=timeout, check=False, text=True)
        check(tolerant or done.returncode == 0, "on %s: %s: %s" % (arch, command, done.stdout))
        return done.stdout.strip()

    def power(self, arch, command="system_reset"):
        subprocess.run([QMP, self.path(arch + "/qmp.sock"), command], check=True)

    def wait_guest(self, arch, seconds=200):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if self.guest(arch, "echo up", timeout=20, tolerant=True) == "up":
                    return
            except subprocess.TimeoutExpired:
                pass
            time.sleep(0.5)
        raise Failed("%s is not back after %d s" % (arch, seconds))


def online():
    import urllib.request
    try:
        with urllib.request.urlopen(os.environ.get("KAB_LAB_MIRROR", "http://deb.debian.org/debian") +
                                    "/dists/bookworm/InRelease", timeout=15):
            return True
    except OSError:
        return False


def main(scenarios, argv, after_failure=None):
    """Run the named scenarios (all without a name), say how each went; 1 when one failed."""
    failed = []
    for name, function in scenarios:
        if argv and name not in argv:
            continue
        record("\n## %s\n%s\n" % (name, (function.__doc__ or "").strip()))
        began = time.monotonic()
        try:
            function()
            how = "ok"
        except (AssertionError, subprocess.SubprocessError, sqlite3.Error, OSError) as error:
            how = "FAILED: %s" % error
            failed.append(name)
            if after_failure:
                after_failure()
        took = time.monotonic() - began
        print("%-28s %5.0f s  %s" % (name, took, how), flush=True)
        record("[%s: %.0f s, %s]\n" % (name, took, how.split("\n")[0]))
    return 1 if failed else 0
