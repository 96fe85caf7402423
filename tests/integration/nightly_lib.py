# SPDX-License-Identifier: GPL-3.0-or-later
"""Nights on real servers. Hosts are those of e2e_ssh.py; the boot method is a command that asks this
program to restart a host under one of two kernel releases: that of the machine, and 2.6, under which
the benchmark of the suite is slower. Mails go to mail_sink.py."""
import email
import email.policy
import json
import os
import shutil
import subprocess
import threading
import time
import unittest

import e2e_lib as e2e
import e2e_ssh
from mail_reply import PYTHON as MAIL_PYTHON

HERE = os.path.dirname(os.path.abspath(__file__))
NEW = os.uname().release
OLD = subprocess.run(["setarch", "--uname-2.6", "uname", "-r"], capture_output=True, text=True,
                     check=False).stdout.strip()
BOOT = """#!/bin/sh
# The name and release of the host go to the test, which restarts it; a word comes back.
echo "$1 $2" >"%(dir)s/boot-$1.new" && mv "%(dir)s/boot-$1.new" "%(dir)s/boot-$1.ask"
while [ -e "%(dir)s/boot-$1.ask" ]; do sleep 0.1; done
"""


class Files(e2e.Case):
    """A folder with suite, source and nightly file; nights on this machine, whose kernels are all one."""

    def setUp(self):
        super().setUp()
        self.hosts = []
        self.sink = None

    def tearDown(self):
        if self.sink:
            self.sink.kill()
            self.sink.wait()
            self.sink.stdout.close()
        if os.environ.get("KAB_TEST_KEEP"):
            shutil.copytree(self.dir, os.environ["KAB_TEST_KEEP"] + "/" + self._testMethodName, dirs_exist_ok=True,
                            ignore=shutil.ignore_patterns("host-*", "sshd"))
        super().tearDown()

    # ---- what a user writes ----

    def synthetic(self, **params):
        """Without a spread that is asked for there is none: a night never nominates by chance."""
        if "sd" not in params:
            params.setdefault("dist", "constant")
        return super().synthetic(**params)

    def kernel(self, label, release=None, **more):
        """The source has this one now."""
        kernel = dict({"label": label, "spec": "release:" + release if release else "running", "id": label},
                      **more)
        self.write("kernels.json", json.dumps({"kernels": [kernel]}))

    def file(self, cases, name="mainline", repeat=None, **more):
        self.suite(cases, repeat=repeat or {"boots": 3, "iterations": 1})
        self.write("hook", "#!/bin/sh\ncat '%s'\n" % self.path("kernels.json"), 0o755)
        doc = {"name": name, "lab": "lab.json" if self.hosts else None, "suite": "./suite.json",
               "hosts": [h.name for h in self.hosts] or ["local"], "reference": "v1=release:" + NEW if self.hosts else "v1=running",
               "sources": [{"hook": [self.path("hook")]}], "state": "state",
               "window": {"start": "00:00", "end": "23:59", "margin_min": 1},
               "confirm_boots": 3, "min_boots": 3}
        doc.update(more)
        doc = {k: v for k, v in doc.items() if v is not None}
        return self.write(name + ".json", json.dumps(doc, indent=1))

    def slower_under_old(self, name="bench", pct=20, **params):
        return self.synthetic(name=name, mean=100, sd=0.3, seed=1, shift_if=OLD, shift_pct=pct, **params)

    # ---- mail ----

    def start_sink(self):
        if not MAIL_PYTHON:
            self.skipTest("no aiosmtpd")
        os.mkdir(self.path("mails"))
        self.sink = subprocess.Popen([MAIL_PYTHON, os.path.join(HERE, "mail_sink.py"), self.path("mails")],
                                     stdout=subprocess.PIPE, text=True)
        self.before |= set(e2e.processes())
        return {"from": "Lab <lab@example.test>", "to": ["perf@lists.example.test"], "server": "127.0.0.1",
                "port": int(self.sink.stdout.readline()), "encryption": "none"}

    def mails(self):
        found = []
        for n in range(1, 100):
            path = self.path("mails/%d.eml" % n)
            if not os.path.exists(path):
                return found
            with open(path, "rb") as f:
                found.append(email.message_from_bytes(f.read(), policy=email.policy.default))
        return found

    def night(self, date, *more, timeout=240):
        return self.kab("nightly", self.path("mainline.json"), "--now", "--date", date, *more, timeout=timeout)

    def state(self, date):
        return self.sql("SELECT state FROM nightly_night WHERE date = ?", date)[0][0]

    def log(self, date):
        with open(self.path("state/logs/%s.log" % date), encoding="utf-8") as f:
            return f.read()

@unittest.skipUnless(e2e.is_root(), "needs root for its servers")
@unittest.skipUnless(OLD and OLD != NEW, "this machine has no second kernel release to show")
class Night(Files):
    """The same with servers that can be rebooted."""

    def setUp(self):
        super().setUp()
        self.stopping = threading.Event()
        self.never = set()  # (host, release) that does not come back under that release
        self.thread = None

    def tearDown(self):
        self.stopping.set()
        if self.thread:
            self.thread.join()
        if os.path.isdir(self.path("sshd")):
            subprocess.run(["sh", e2e_ssh.SSHD, "stop", self.path("sshd")], check=False)
        super().tearDown()

    # ---- hosts ----

    def hosts_up(self, *names, boot=None):
        for name in names:
            self.hosts.append(e2e_ssh.Host(self, name).start())
        self.before |= set(e2e.processes())
        self.write("boot", BOOT % {"dir": self.dir}, 0o755)
        boot = boot or {"method": "command", "command": [self.path("boot")], "deadline_s": 20, "tries": 1}
        self.write("lab.json", json.dumps({"hosts": {h.name: h.entry(boot=boot, **{"class": "twins"})
                                                     for h in self.hosts}}))
        self.thread = threading.Thread(target=self.serve_boots)
        self.thread.start()

    def serve_boots(self):
        while not self.stopping.is_set():
            for h in list(self.hosts):
                ask = self.path("boot-%s.ask" % h.name)
                if os.path.exists(ask):
                    with open(ask, encoding="ascii") as f:
                        release = f.read().split()[1]
                    h.stop()
                    h.new_boot_id()
                    if (h.name, release) not in self.never:
                        h.old = release == OLD
                    else:
                        h.old = False
                    h.start()
                    self.before |= set(e2e.processes())
                    os.unlink(ask)
            time.sleep(0.05)

    def assert_hosts_clean(self):
        for h in self.hosts:
            self.assertEqual(self.lease_owner(h.lease), "-", h.name)
            self.assertEqual(self.runs_on_target(h.base), [], h.name)
