# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the real kab against real files, processes and hosts, so that nothing is left behind.

A test program that calls main() starts itself again in its own mount, process and network
namespaces: /var/tmp (where hosts keep their lease), $HOME and the database are private, and every
process that a test has lost ends with the namespace. Without the right to make namespaces nothing is
run: in the open the tests would take the lease of this machine from each other, and from its user.
"""
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

KAB = None
INSIDE = "KAB_TEST_INSIDE"
SANITIZED = os.environ.get("KAB_TEST_SLOW") == "1"
# Everything that is waited for gets this much more time where sanitizers or a busy machine slow it.
PATIENCE = 60


def is_root():
    return os.getuid() == 0


def is_sanitized():
    """Was kab built with a sanitizer? Then its memory says nothing, and cannot be limited."""
    with open(KAB, "rb") as f:
        return re.search(rb"__[at]san_init", f.read()) is not None


def _can_unshare(words):
    return subprocess.run(words + ["true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


class _Part:
    """Tests in namespaces of their own, and the folder of these."""

    def __init__(self, words, argv, apart):
        # Not on a file system in memory: hosts refuse one for their work folder.
        self.scratch = tempfile.mkdtemp(prefix="kab-e2e-", dir="/var/tmp")
        os.chmod(self.scratch, 0o755)
        # One after the other where several write at the same time.
        self.said = tempfile.TemporaryFile() if apart else None
        env = dict(os.environ, KAB_TEST_SCRATCH=self.scratch)
        env[INSIDE] = "ns"
        self.child = subprocess.Popen(
            words + [sys.executable, os.path.abspath(argv[0])] + argv[1:], env=env,
            stdout=self.said, stderr=subprocess.STDOUT if apart else None)

    def close(self):
        shutil.rmtree(self.scratch, ignore_errors=True)
        if self.said:
            self.said.seek(0)
            sys.stdout.write(self.said.read().decode(errors="replace"))
            sys.stdout.flush()
            self.said.close()


def _outer(argv, parts, at_once):
    """Start the tests in namespaces and remove their folders afterwards, whatever happened."""
    words = ["unshare", "--mount", "--pid", "--net", "--fork", "--kill-child", "--mount-proc"]
    if not is_root():
        words.insert(1, "--map-root-user")
    if not _can_unshare(words):
        print("skipped: no right to make mount, process and network namespaces here")
        return 77
    running, failed = [], False
    for sig in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(sig, lambda *_: sys.exit(1))
    try:
        while parts or running:
            while parts and len(running) < at_once:
                running.append(_Part(words, argv + parts.pop(0), at_once > 1))
            for part in [p for p in running if p.child.poll() is not None]:
                failed = failed or part.child.returncode != 0
                running.remove(part)
                part.close()
            time.sleep(0.05)
        return 1 if failed else 0
    finally:
        for part in running:
            part.child.kill()
            part.child.wait()
            part.close()


def _names(tests):
    """Class.method of each of them."""
    found = []
    for test in tests:
        found += _names(test) if isinstance(test, unittest.TestSuite) else \
            [test.id().split(".", 1)[1]]
    return found


def _prepare_inside(scratch):
    # /var/tmp is about to be hidden, and the scratch folder lies in it: /mnt is its second name.
    os.mkdir(scratch + "/var-tmp")
    os.chmod(scratch + "/var-tmp", 0o1777)
    for words in (["mount", "--bind", scratch, "/mnt"],
                  ["mount", "--bind", "/mnt/var-tmp", "/var/tmp"],
                  ["ip", "link", "set", "lo", "up"]):
        subprocess.run(words, check=True)
    # Containers may have no machine id, which is what hosts are told apart by.
    if not os.path.exists("/etc/machine-id"):
        subprocess.run(["cp", "-a", "/etc", "/mnt/etc"], check=True)
        with open("/mnt/etc/machine-id", "w", encoding="ascii") as f:
            f.write(uuid.uuid4().hex + "\n")
        subprocess.run(["mount", "--bind", "/mnt/etc", "/etc"], check=True)
    return "/mnt"


def main(needs_root=False, at_once=1):
    """Run the tests of the calling program: PROGRAM KAB [unittest arguments]. Those that mostly wait may
    do so `at_once`, each with namespaces of its own; then the arguments are names alone."""
    global KAB
    if len(sys.argv) < 2:
        sys.exit("usage: %s KAB [TEST...]" % sys.argv[0])
    KAB = os.path.abspath(sys.argv[1])
    if needs_root and not is_root():
        print("needs root")
        sys.exit(77)
    if INSIDE not in os.environ:
        parts = [sys.argv[2:]]
        if at_once > 1:
            loader, module = unittest.defaultTestLoader, sys.modules["__main__"]
            parts = [[name] for name in _names(
                loader.loadTestsFromNames(sys.argv[2:], module) if sys.argv[2:]
                else loader.loadTestsFromModule(module))]
        sys.exit(_outer([sys.argv[0], KAB], parts, at_once))
    os.environ["KAB_TEST_WORK"] = _prepare_inside(os.environ["KAB_TEST_SCRATCH"])
    program = unittest.main(module="__main__", argv=[sys.argv[0]] + sys.argv[2:], exit=False,
                            verbosity=2)
    sys.stdout.flush()
    os._exit(0 if program.result.wasSuccessful() else 1)


def processes():
    """Living processes other than this one and the kernel's: only meaningful in a namespace."""
    found = {}
    for pid in os.listdir("/proc"):
        if not pid.isdigit() or int(pid) == os.getpid():
            continue
        try:
            with open("/proc/%s/stat" % pid, encoding="latin1") as f:
                state = f.read().rsplit(")", 1)[1].split()[0]
            with open("/proc/%s/cmdline" % pid, "rb") as f:
                words = f.read().replace(b"\0", b" ").decode("latin1").strip()
        except OSError:
            continue
        if state not in "ZX":
            found[int(pid)] = words
    return found


def wait_for(what, condition, seconds=PATIENCE, process=None):
    """Poll until condition() is true and return its value; in vain when the process has ended."""
    end = time.monotonic() + seconds
    while True:
        ended = process and process.poll() is not None
        value = condition()
        if value:
            return value
        if ended:
            raise AssertionError("kab ended with %d, and no %s; it said:\n%s"
                                 % (process.returncode, what, process.communicate()[1]))
        if time.monotonic() > end:
            raise AssertionError("waited %d s for %s" % (seconds, what))
        time.sleep(0.05)


def number_in(path):
    """The number that a script keeps in a file: empty for a moment whenever it writes the next one."""
    def text():
        with open(path, encoding="ascii") as f:
            return f.read().strip()
    return int(wait_for("a number in " + path, text))


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err


class Case(unittest.TestCase):
    """A folder, a database, a home and stand-ins on PATH for each test."""

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix=self._testMethodName[:40] + "-",
                                    dir=os.environ["KAB_TEST_WORK"])
        os.chmod(self.dir, 0o755)
        self.bin = self.path("bin")
        os.mkdir(self.bin)
        os.mkdir(self.path("home"))
        self.db = self.path("kab.db")
        self.before = set(processes())
        self.started = []
        self.env = {
            "HOME": self.path("home"),
            "PATH": self.bin + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "KAB_DB": self.db,
            "LC_ALL": "C",
        }
        for name, value in os.environ.items():
            if name.endswith("SAN_OPTIONS"):
                self.env[name] = value

    def tearDown(self):
        for p in self.started:
            if p.poll() is None:
                p.kill()
            p.wait()
            for stream in (p.stdout, p.stderr):
                if stream:
                    stream.close()
        for pid in set(processes()) - self.before:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        for name in os.listdir("/var/tmp"):
            shutil.rmtree("/var/tmp/" + name, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text, mode=0o644):
        path = name if name.startswith("/") else self.path(name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, mode)
        return path

    def standin(self, name, script):
        """A program of that name, first on the PATH of kab and (local) of its benchmarks."""
        return self.write("bin/" + name, "#!/bin/sh\n" + script, 0o755)

    def suite(self, cases, name="suite.json", **more):
        doc = {"name": "t", "repeat": {"iterations": 3}, "cases": cases}
        doc.update(more)
        return self.write(name, json.dumps(doc, indent=1))

    def synthetic(self, **params):
        case = {"name": params.pop("name", "s"), "runner": "synthetic"}
        if "timeout_s" in params:
            case["timeout_s"] = params.pop("timeout_s")
        case["params"] = params
        return case

    def kab(self, *words, env=None, timeout=120, cwd=None, stdin=subprocess.DEVNULL):
        p = self.start(*words, env=env, cwd=cwd, stdin=stdin)
        try:
            out, err = p.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            p.kill()
            out, err = p.communicate()
            self.fail("kab %s does not end; it said:\n%s" % (words, err))
        self.assertNotRegex(err, "Sanitizer|runtime error:", "a sanitizer complained")
        return Result(p.returncode, out, err)

    def start(self, *words, env=None, cwd=None, stdin=subprocess.DEVNULL):
        p = subprocess.Popen([KAB] + list(words), stdin=stdin, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, env=self.env if env is None else env, cwd=cwd,
                             text=True, encoding="utf-8", errors="replace", start_new_session=True)
        self.started.append(p)
        return p

    def finish(self, p, timeout=120):
        out, err = p.communicate(timeout=timeout)
        self.assertNotRegex(err, "Sanitizer|runtime error:", "a sanitizer complained")
        return Result(p.returncode, out, err)

    def aa(self, suite, *more, **kw):
        """An A/A run of the suite on this machine."""
        return self.kab("run", suite, "--kernel", "base=running", "--kernel", "same=running", *more,
                        **kw)

    def has_command(self, name):
        return re.search(r"^  %s " % name, self.kab("help").out, re.M) is not None

    # ---- the database, read with another program's eyes ----

    def sql(self, query, *args):
        db = sqlite3.connect("file:%s?mode=ro" % self.db, uri=True, timeout=30)
        try:
            return db.execute(query, args).fetchall()
        finally:
            db.close()

    def states(self):
        try:
            return dict(self.sql("SELECT state, count(*) FROM iteration GROUP BY state"))
        except sqlite3.OperationalError:
            return {}

    def assert_exactly_once(self, n):
        """The plan's n iterations are there once each, all done, with one sample at least."""
        self.assertEqual(self.states(), {"done": n})
        self.assertEqual(self.sql("SELECT count(DISTINCT sequence) FROM iteration"), [(n,)])
        self.assertEqual(self.sql("SELECT count(*) FROM extraction"), [(n,)])
        self.assertEqual(self.sql("SELECT count(DISTINCT extraction_id) FROM sample"), [(n,)])
        self.assertEqual(self.sql("SELECT state FROM run"), [("complete",)])

    # ---- the target ----

    def lease_owner(self, folder="/var/tmp/kab-lease"):
        """Owner in the newest generation, "-" when free."""
        newest, line = -1, "-"
        try:
            names = os.listdir(folder)
        except FileNotFoundError:
            return "-"
        for name in names:
            if re.fullmatch(r"lock\.[0-9]+", name) and int(name[5:]) > newest:
                try:
                    with open(folder + "/" + name, encoding="utf-8") as f:
                        newest, line = int(name[5:]), f.read()
                except FileNotFoundError:
                    pass
        return line.split()[0] if line.split() else "?"

    def runs_on_target(self, base=None):
        base = base or self.path("home/.local/state/kab")
        try:
            return [n for n in os.listdir(base) if n.startswith("kab-")]
        except FileNotFoundError:
            return []

    def leftovers(self):
        return {p: w for p, w in processes().items()
                if p not in self.before and p not in [s.pid for s in self.started]}

    def assert_target_clean(self):
        self.assertEqual(self.lease_owner(), "-", "the lease is free")
        self.assertEqual(self.runs_on_target(), [], "no folder of a run is left")
        wait_for("the target's processes to end: %s" % self.leftovers(),
                 lambda: not self.leftovers(), 10)
