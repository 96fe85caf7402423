# SPDX-License-Identifier: GPL-3.0-or-later
"""What surrounds a night: one instance, kills, windows, missed nights, sources, failures, exit codes."""
import hashlib
import http.server
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import threading
import time

import e2e_lib as e2e
import nightly_lib


class OneInstance(nightly_lib.Files):
    def begin(self, date="2026-11-01", **params):
        self.file([self.synthetic(mean=100, **params)], repeat={"boots": 4, "iterations": 1})
        self.kernel("v2")
        p = self.start("nightly", self.path("mainline.json"), "--now", "--date", date)
        e2e.wait_for("iterations", lambda: self.states().get("done", 0) >= 2, process=p)
        return p

    def again(self):
        """The next start; the night of that date is the one that was cut off."""
        return self.kab("nightly", self.path("mainline.json"), "--now")

    def test_second_start_says_so_and_is_no_failure(self):
        first = self.begin(sleep_s=1)
        r = self.night("2026-11-01")
        self.assertEqual(r.status, 7)
        self.assertEqual(r.out, "")
        self.assertRegex(r.err, r"\Akab: nightly 'mainline' is running already, process %d since .*\n\Z" % first.pid)
        r = self.kab("nightly", self.path("mainline.json"), "--check")
        self.assertEqual((r.status, r.out[:21]), (0, "OK: mainline: running"))
        r = self.finish(first)
        self.assertEqual((r.status, r.out), (0, ""), r.err)
        self.assert_target_clean()

    def test_killed_night_is_gone_on_with(self):
        first = self.begin(sleep_s=1)
        first.kill()
        first.wait()
        done = self.states()["done"]
        r = self.kab("nightly", self.path("mainline.json"), "--check")
        self.assertEqual(r.status, 4)
        self.assertRegex(r.out, "cut off")
        r = self.again()
        self.assertEqual((r.status, r.out), (0, ""), r.err)
        self.assertGreaterEqual(done, 2)
        self.assertEqual(self.sql("SELECT name, state FROM run"), [("mainline-2026-11-01-local", "complete")])
        self.assertEqual(self.states(), {"done": 8})
        self.assertEqual(self.sql("SELECT count(DISTINCT sequence) FROM iteration"), [(8,)])
        self.assertIn("was killed before its end", self.log("2026-11-01"))
        self.assertEqual(self.state("2026-11-01"), "done")
        self.assert_target_clean()

    def test_night_that_is_over_is_ended_and_tonight_is_measured(self):
        first = self.begin(sleep_s=1)
        first.kill()
        first.wait()
        db = sqlite3.connect(self.db, timeout=30)
        with db:
            db.execute("UPDATE nightly_night SET begin_wall_ns = begin_wall_ns - 200000000000000, "
                       "end_wall_ns = end_wall_ns - 200000000000000")
        db.close()
        shutil.rmtree("/var/tmp/kab-lease")
        self.kernel("v3")
        r = self.night("2026-11-02")
        self.assertEqual(r.status, 5, r.err)
        self.assertEqual(self.sql("SELECT date, state, test_label FROM nightly_night ORDER BY date"),
                         [("2026-11-01", "done", "v2"), ("2026-11-02", "done", "v3")])
        self.assertIn("whose window is over", self.log("2026-11-01"))
        self.assertIn("run 'mainline-2026-11-02-local'", self.log("2026-11-02"))
        # What is missing of the first is not measured under the name of its night.
        self.assertLess(self.sql("SELECT count(*) FROM iteration WHERE state = 'done' AND run_id = 1")[0][0], 8)

    def test_term_stops_and_the_next_start_goes_on(self):
        first = self.begin(sleep_s=1)
        first.send_signal(signal.SIGTERM)
        r = self.finish(first)
        self.assertEqual(r.status, 130, r.err)
        self.assertIn("interrupted", r.out)
        self.assert_target_clean()
        r = self.again()
        self.assertEqual((r.status, r.out), (0, ""), r.err)
        self.assertEqual(self.states(), {"done": 8})

    def test_lock_of_another_boot_is_stale(self):
        self.file([self.synthetic()], repeat={"boots": 4, "iterations": 1})
        self.kernel("v2")
        os.mkdir(self.path("state"), 0o700)
        self.write("state/lock", "pid 1\nstart 1\nboot 11111111-2222-3333-4444-555555555555\nsince 1000000000\n")
        r = self.night("2026-11-01")
        self.assertEqual(r.status, 0, r.err)
        self.assertIn("cut off by a restart of this machine", self.log("2026-11-01"))


class Cron(nightly_lib.Files):
    """The lines of examples/nightly/crontab, with the environment that cron gives."""

    def lines(self):
        with open(os.path.join(nightly_lib.HERE, "../../examples/nightly/crontab"), encoding="ascii") as f:
            lines = [l.split(None, 5)[5] for l in f if re.match(r"[*0-9]", l)]
        return [l.strip().replace("/etc/kab/mainline.json", self.path("mainline.json")) for l in lines]

    def cron(self, line):
        env = {k: v for k, v in self.env.items() if k.endswith("SAN_OPTIONS")}
        env.update(HOME=self.path("home"), PATH=self.bin + ":/usr/bin:/bin", SHELL="/bin/sh", LOGNAME="kab")
        r = subprocess.run(["/bin/sh", "-c", line], env=env, cwd=self.path("home"), capture_output=True, text=True,
                           stdin=subprocess.DEVNULL, timeout=120, check=False)
        self.assertEqual(r.stderr, "")
        return r.stdout

    def test_three_starts_and_a_check(self):
        os.symlink(e2e.KAB, self.path("bin/kab"))
        night, check = self.lines()
        self.file([self.synthetic(mean=100)], repeat={"boots": 4, "iterations": 1}, state=None)
        self.kernel("v2")
        self.assertRegex(self.cron(check), "BROKEN: mainline: the job has never run")
        for _ in range(3):
            self.assertEqual(self.cron(night), "")
        self.assertEqual(self.cron(check), "")
        self.db = self.path("home/.local/share/kab/kab.db")
        self.assertEqual(self.sql("SELECT state FROM nightly_night"), [("done",)])
        self.assertEqual(self.states(), {"done": 8})
        self.assertTrue(os.path.exists(self.path("home/.local/state/kab/nightly/mainline/heartbeat")))
        self.assertEqual(os.stat(self.path("home/.local/state/kab/nightly/mainline")).st_mode & 0o777, 0o700)


class Windows(nightly_lib.Files):
    def window(self, start_h, length_h=1):
        """A window that begins so many hours from now."""
        now = time.time()
        return {"start": time.strftime("%H:%M", time.localtime(now + 3600 * start_h)),
                "end": time.strftime("%H:%M", time.localtime(now + 3600 * (start_h + length_h))), "margin_min": 0}

    def test_outside_nothing_is_measured_and_missed_nights_are_recorded(self):
        self.file([self.synthetic()], repeat={"boots": 4, "iterations": 1}, window=self.window(6))
        self.kernel("v2")
        r = self.kab("nightly", self.path("mainline.json"))
        self.assertEqual((r.status, r.out, r.err), (0, "", ""))
        self.assertEqual(self.sql("SELECT count(*) FROM nightly_night"), [(0,)], "no night before the first one")
        first = time.strftime("%Y-%m-%d", time.localtime(time.time() - 4 * 86400))
        self.assertEqual(self.night(first).status, 0)
        runs = self.sql("SELECT count(*) FROM run")
        r = self.kab("nightly", self.path("mainline.json"))
        self.assertEqual(r.status, 0, r.err)
        missed = [d for (d,) in self.sql("SELECT date FROM nightly_night WHERE state = 'missed' ORDER BY date")]
        self.assertIn(len(missed), (2, 3, 4))
        self.assertTrue(all(d > first for d in missed))
        self.assertIn("missed: " + ", ".join(missed), r.out)
        self.assertEqual(self.sql("SELECT count(*) FROM run"), runs)
        # Said once.
        r = self.kab("nightly", self.path("mainline.json"))
        self.assertEqual((r.status, r.out), (0, ""))
        r = self.kab("nightly", self.path("mainline.json"), "-v")
        self.assertIn("outside the window", r.out)

    def test_plan_is_cut_to_the_window(self):
        self.file([self.synthetic(name="long", sleep_s=40), self.synthetic(name="short", sleep_s=1)],
                  repeat={"boots": 9, "iterations": 1}, min_boots=4,
                  window={"start": "00:00", "end": "00:05", "margin_min": 0})
        self.kernel("v2")
        r = self.kab("nightly", self.path("mainline.json"), "--now", "--dry-run")
        self.assertEqual(r.status, 0, r.err)
        # 300 s for two kernels: 4 boots of both need 8 x (42 + 3) = 360 s, those of the short one 9 x 2 x 3.
        self.assertRegex(r.out, r"left out for want of time: long")
        self.assertRegex(r.out, r"local: 9 boots of 2 kernels, about .*: short\n")
        self.assertIn("Nothing was run.", r.out)
        self.assertEqual(self.sql("SELECT count(*) FROM run"), [(0,)])

    def test_few_boots_are_said(self):
        self.file([self.synthetic()], boots=3, min_boots=None)
        self.kernel("v2")
        said = "'boots' is 3, and 'min_boots' with it: fewer than its default of 5"
        r = self.kab("nightly", self.path("mainline.json"), "--now", "--dry-run")
        self.assertIn(said, r.out, r.err)
        self.assertRegex(r.out, "local: 3 boots of 2 kernels")
        self.file([self.synthetic()], boots=5, min_boots=None)
        self.assertNotIn("min_boots", self.kab("nightly", self.path("mainline.json"), "--now", "--dry-run").out)
        self.file([self.synthetic()], boots=3, min_boots=5)
        r = self.kab("nightly", self.path("mainline.json"), "--now", "--dry-run")
        self.assertEqual((r.status, r.out), (3, ""))
        self.assertRegex(r.err, r"mainline.json: \$\.boots: 'boots' is less than 'min_boots'")

    def test_end_of_the_window_stops_the_run(self):
        self.file([self.synthetic(sleep_s=1)], repeat={"boots": 30, "iterations": 2}, boots=30, min_boots=30,
                  window={"start": "00:00", "end": "00:01", "margin_min": 0})
        self.kernel("v2")
        r = self.night("2026-11-01")
        # The guess for what is not known (60 s) fits in no minute: nothing is begun that cannot end.
        self.assertEqual(r.status, 0, r.err)
        self.assertEqual(self.sql("SELECT count(*) FROM run"), [(0,)])
        self.assertEqual(self.sql("SELECT kind FROM nightly_remark"), [("cut",)])


    def test_host_in_use_is_waited_for_and_not_blamed(self):
        self.suite([self.synthetic(sleep_s=90)], name="hold.json", repeat={"boots": 1, "iterations": 1})
        first = self.start("run", self.path("hold.json"), "--kernel", "a=running", "--db", self.path("other.db"))
        e2e.wait_for("its lease", lambda: self.lease_owner() != "-", process=first)
        self.file([self.synthetic(sleep_s=0.1)], repeat={"boots": 3, "iterations": 1},
                  window={"start": "00:00", "end": "00:01", "margin_min": 0})
        self.kernel("v2")
        # Half of the minute is waited.
        r = self.night("2026-11-01")
        self.assertEqual(r.status, 4, r.err)
        self.assertRegex(r.out, r"v2 against v1 on 0 of 1 host; host 'local' was in use by somebody else \(log")
        self.assertEqual(self.sql("SELECT count(*) FROM nightly_strike"), [(0,)])
        self.assertEqual(self.sql("SELECT count(*) FROM history_point"), [(0,)])
        self.assertEqual(self.sql("SELECT tried FROM nightly_kernel WHERE label = 'v2'"), [(None,)])
        first.send_signal(signal.SIGTERM)
        self.finish(first)
        # The same night again: its run is gone on with, also when something newer is there by then.
        self.kernel("v3")
        r = self.night("2026-11-01")
        self.assertEqual(r.status, 0, r.err)
        self.assertEqual(self.sql("SELECT name, state FROM run"), [("mainline-2026-11-01-local", "complete")])
        self.assertEqual(self.sql("SELECT label FROM nightly_kernel WHERE tried IS NOT NULL"), [("v2",)])


class Failures(nightly_lib.Files):
    def test_one_crashing_case_and_a_failing_publisher_leave_the_rest(self):
        cases = [self.synthetic(name="bad", fail_every=1)] + \
                [self.synthetic(name=n, mean=100) for n in ("two", "three", "four")]
        self.file(cases, repeat={"boots": 4, "iterations": 1}, archive="archive",
                  publish=[self.write("publish", "#!/bin/sh\nls \"$1\" >'%s'\necho no such bucket >&2; exit 3\n"
                                      % self.path("published"), 0o755)])
        self.kernel("v2")
        r = self.night("2026-11-01")
        self.assertEqual(r.status, 5, r.err)
        self.assertIn("no result of bad", r.out)
        self.assertEqual(self.sql("SELECT case_name, state, count(*) FROM iteration GROUP BY 1, 2"),
                         [("bad", "failed", 8), ("four", "done", 8), ("three", "done", 8), ("two", "done", 8)])
        self.assertEqual(self.sql("SELECT DISTINCT case_name FROM history_point WHERE state = 'ok' ORDER BY 1"),
                         [("four",), ("three",), ("two",)])
        with open(self.path("published"), encoding="ascii") as f:
            self.assertEqual(f.read().split(), ["mainline-2026-11-01-local.csv", "mainline-2026-11-01-local.json",
                                                "report.txt"])
        self.assertIn("no such bucket", self.log("2026-11-01"))
        # What fails again is known: the status says it, the line does not.
        self.file(cases, repeat={"boots": 4, "iterations": 1})
        self.kernel("v3")
        r = self.night("2026-11-02")
        self.assertEqual((r.status, r.out), (5, ""), r.err)
        self.assertIn("still no result of bad", self.kab("nightly", self.path("mainline.json"), "--status").out)

    def test_unreachable_host_goes_into_quarantine_and_comes_back(self):
        self.file([self.synthetic(mean=100)], repeat={"boots": 4, "iterations": 1}, lab="lab.json",
                  hosts=["local", "gone"])
        self.write("lab.json", json.dumps({"hosts": {"gone": {"ssh": "127.0.0.1", "port": 1}}}))
        for day in (1, 2):
            self.kernel("v%d" % (day + 1))
            r = self.night("2026-11-0%d" % day)
            self.assertEqual(r.status, 5, r.err)
            self.assertIn("host 'gone' failed: cannot connect" if day == 1 else "host 'gone' goes into", r.out)
        self.assertIn("goes into quarantine: failed in 2 nights in a row", r.out)
        self.kernel("v4")
        r = self.night("2026-11-03")
        self.assertEqual((r.status, r.out), (0, ""), r.err)
        self.assertEqual(self.states(), {"done": 8 + 12 + 12})
        lab = ("--lab", self.path("lab.json"))
        r = self.kab("hosts", "--recheck", *lab)
        self.assertEqual(r.status, 4)
        self.assertRegex(r.out, "gone: stays in quarantine: .")
        self.write("lab.json", json.dumps({"hosts": {"gone": {"transport": "local"}}}))
        r = self.kab("hosts", "--recheck", *lab)
        self.assertEqual(r.status, 0, r.err)
        self.assertRegex(r.out, r"gone: back from quarantine \(since 2026-11-02: failed in 2 nights in a row")
        self.assertEqual(self.kab("hosts", "--recheck", *lab).out, "No host is in quarantine.\n")

    def test_all_hosts_lost_is_tried_again(self):
        self.file([self.synthetic()], repeat={"boots": 4, "iterations": 1}, lab="lab.json", hosts=["gone"])
        self.write("lab.json", json.dumps({"hosts": {"gone": {"ssh": "127.0.0.1", "port": 1}}}))
        self.kernel("v2")
        r = self.night("2026-11-01")
        self.assertEqual(r.status, 4, r.err)
        r = self.kab("nightly", self.path("mainline.json"), "--check")
        self.assertEqual(r.status, 4)
        self.assertIn("the night of 2026-11-01 failed", r.out)
        self.write("lab.json", json.dumps({"hosts": {"gone": {"transport": "local"}}}))
        r = self.night("2026-11-01")
        self.assertEqual(r.status, 0, r.err)
        self.assertEqual(self.sql("SELECT label FROM nightly_kernel WHERE measured = '2026-11-01'"), [("v2",)])

    def test_exit_codes(self):
        self.kernel("v2")
        path = self.file([self.synthetic()], repeat={"boots": 4, "iterations": 1})
        self.assertEqual(self.kab("nightly", path, "--no-such").status, 2)
        self.assertEqual(self.kab("nightly", path, "--date", "2026-11-01").status, 2)
        later = time.strftime("%Y-%m-%d", time.localtime(time.time() + 2 * 86400))
        for date in ("2026-13-20", "2026-02-30", "2025-02-29", "2026-1-2", "tomorrow", "", later):
            r = self.night(date)
            self.assertEqual((r.status, r.out), (2, ""), date)
            self.assertRegex(r.err, r"\Akab: --date .*\n", date)
        self.assertFalse(os.path.exists(self.db), "nothing is begun")
        r = self.kab("nightly", path, "--status", "--check")
        self.assertEqual((r.status, r.out), (2, ""))
        self.assertIn("--status and --check exclude each other", r.err)
        self.assertEqual(self.kab("nightly", self.path("none.json")).status, 3)
        self.file([self.synthetic()], hosts=["nobody"])
        r = self.kab("nightly", path, "--now", "--gate")
        self.assertEqual(r.status, 3)
        self.assertIn("nobody", r.err)
        self.file([self.synthetic()], baselin={})
        r = self.kab("nightly", path)
        self.assertEqual(r.status, 3)
        self.assertRegex(r.err, r"mainline.json: \$.*'baselin'.*did you mean 'baseline'\?")
        # A database that another program has locked.
        self.file([self.synthetic()], repeat={"boots": 4, "iterations": 1})
        self.assertEqual(self.night("2026-11-01").status, 0)
        r = self.kab("nightly", path, "--now", "--date", "2026-11-02", "--gate",
                     env=dict(self.env, KAB_DB="/dev/null/kab.db"))
        self.assertEqual(r.status, 4, r.err)
        r = self.kab("nightly", path, "--check")
        self.assertEqual(r.status, 4)
        self.assertIn("error: ", r.out)


class Sources(nightly_lib.Files):
    def serve(self, files):
        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *args):
                pass

            def do_GET(self):
                data = files.get(self.path)
                self.send_response(404 if data is None else 200)
                self.send_header("Content-Length", str(len(data or b"")))
                self.end_headers()
                self.wfile.write(data or b"")

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return "http://127.0.0.1:%d" % server.server_port

    def plan(self, sources):
        self.file([self.synthetic()], repeat={"boots": 4, "iterations": 1}, sources=sources)
        return self.kab("nightly", self.path("mainline.json"), "--now", "--dry-run")

    def test_folder_newest_kernel_with_its_sum(self):
        os.mkdir(self.path("builds"))
        for n, name in enumerate(("linux-image-6.18.0-rc6_1_amd64.deb", "linux-image-6.18.0-rc7_1_amd64.deb",
                                  "linux-headers-6.18.0-rc7_1_amd64.deb", "linux-image-6.17.0-dbg_1_amd64.deb")):
            self.write("builds/" + name, name)
            os.utime(self.path("builds/" + name), (1000000 + n, 1000000 + n))
        r = self.plan([{"folder": "builds"}])
        self.assertIn("Test     : 6.18.0-rc7: new in source 'folder'", r.out, r.err)
        name = "linux-image-6.18.0-rc7_1_amd64.deb"
        kept = self.sql("SELECT spec FROM nightly_kernel WHERE source = 'folder'")[0][0]
        digest = hashlib.sha256(name.encode()).hexdigest()
        self.assertEqual(kept, "deb:%s/state/kernels/%s/%s;sha256=%s" % (self.dir, digest[:16], name, digest))
        # Its files are ours: the folder may be emptied.
        self.assertTrue(os.path.exists(kept[4:].split(";")[0]))
        self.write("builds/%s.sha256" % name, "0" * 64 + "  " + name + "\n")
        r = self.plan([{"folder": "builds"}])
        self.assertIn("has the SHA-256", r.out + r.err)

    def test_index_highest_version(self):
        page = b"""<html><a href="../">up</a> <A HREF='linux-image-6.9.0_1_amd64.deb'>x</A>
<a href="linux-image-6.10.0-rc1_1_amd64.deb">x</a><a href="linux-image-6.10.0%2Bnext_1_amd64.deb">x</a>
<a href="SHA256SUMS">sums</a>"""
        data = b"a kernel"
        name = "linux-image-6.10.0+next_1_amd64.deb"
        sums = "%s  ./%s\n" % (hashlib.sha256(data).hexdigest(), name)
        url = self.serve({"/k/": page, "/k/" + name: data, "/k/SHA256SUMS": sums.encode()})
        r = self.plan([{"index": url + "/k/", "name": "ci"}])
        self.assertIn("Test     : 6.10.0+next: new in source 'ci'", r.out, r.err)

    def test_feed_names_the_version(self):
        feed = {"latest_stable": {"version": "6.17.9"}, "releases": [
            {"moniker": "mainline", "version": "6.18-rc7", "released": {"timestamp": 20}, "iseol": False},
            {"moniker": "stable", "version": "6.17.9", "released": {"timestamp": 30}, "iseol": False},
            {"moniker": "stable", "version": "6.12.60", "released": {"timestamp": 25}, "iseol": False}]}
        url = self.serve({"/releases.json": json.dumps(feed).encode()})
        r = self.plan([{"feed": url + "/releases.json", "spec": "release:{version}-lab"}])
        self.assertIn("Test     : 6.18-rc7: new in source 'feed'", r.out, r.err)
        r = self.plan([{"feed": url + "/releases.json", "moniker": ["stable"], "spec": "release:{version}-lab"}])
        self.assertIn("Test     : 6.17.9: new", r.out, r.err)

    def test_a_broken_source_does_not_hide_the_others(self):
        self.kernel("v2")
        self.file([self.synthetic()], repeat={"boots": 4, "iterations": 1},
                  sources=[{"hook": [self.write("bad", "#!/bin/sh\necho quota exceeded >&2; exit 9\n", 0o755)],
                            "name": "builder"}, {"hook": [self.path("hook")]}])
        r = self.night("2026-11-01")
        self.assertEqual(r.status, 5, r.err)
        self.assertRegex(r.out, r"source 'builder': .*status 9: quota exceeded")
        self.assertEqual(self.states(), {"done": 8})
        self.write("kernels.json", '{"kernels": [{"lable": "x", "spec": "running"}]}')
        r = self.night("2026-11-02")
        self.assertEqual(r.status, 4, r.err)
        self.assertRegex(r.out, r"output of '.*hook': \$\.kernels\[0\].*'lable'.*did you mean 'label'\?")

    def test_no_source_can_be_read(self):
        self.kernel("v2")
        bad = self.write("bad", "#!/bin/sh\necho quota exceeded >&2; exit 9\n", 0o755)
        self.file([self.synthetic()], repeat={"boots": 4, "iterations": 1}, archive="archive", sources=[{"hook": [bad]}])
        said = r": no source could be read; source 'hook': (?!source)[^;\n]*quota exceeded \(log [^\n]*\n\Z"
        r = self.night("2026-11-01")
        self.assertEqual(r.status, 4, r.err)
        self.assertRegex(r.out, said)
        with open(self.path("archive/2026-11-01/report.txt"), encoding="ascii") as f:
            self.assertIn("Measured : nothing: no source could be read\n", f.read())
        # Another error in the next try of that night is the only one then.
        self.write("bad", "#!/bin/sh\necho disk full >&2; exit 8\n", 0o755)
        r = self.night("2026-11-01")
        self.assertRegex(r.out, said.replace("quota exceeded", "disk full"))
        self.assertNotIn("quota", self.kab("nightly", self.path("mainline.json"), "--status").out)

    def test_nothing_new(self):
        self.kernel("v2")
        self.file([self.synthetic(mean=100, sd=1, seed=1)], repeat={"boots": 4, "iterations": 1})
        self.assertEqual(self.night("2026-11-01").status, 0)
        r = self.night("2026-11-02")
        self.assertEqual((r.status, r.out, self.state("2026-11-02")), (0, "", "skipped"))
        self.file([self.synthetic(mean=100, sd=1, seed=1)], repeat={"boots": 4, "iterations": 1}, archive="archive")
        self.assertEqual(self.night("2026-11-02").status, 0)
        with open(self.path("archive/2026-11-02/report.txt"), encoding="ascii") as f:
            self.assertRegex(f.read(), r"Measured : no new kernel; policy 'skip': nothing but")
        # An archive that cannot be written, since there is a file in its place.
        self.file([self.synthetic(mean=100, sd=1, seed=1)], repeat={"boots": 4, "iterations": 1},
                  archive="kernels.json/archive")
        r = self.night("2026-11-02")
        self.assertEqual(r.status, 5, r.err)
        self.assertRegex(r.out, r"\A[^\n]*: no new kernel; the archive is not complete: [^\n]*kernels.json[^\n]*\n\Z")
        self.assertEqual(self.state("2026-11-02"), "skipped")
        self.assertIn("the archive is not complete", self.kab("nightly", self.path("mainline.json"), "--status").out)
        self.file([self.synthetic(mean=100, sd=1, seed=1)], repeat={"boots": 4, "iterations": 1}, unchanged="aa")
        self.assertEqual(self.night("2026-11-03").status, 0)
        self.assertEqual(self.sql("SELECT count(*) FROM noise"), [(1,)])
        self.file([self.synthetic(mean=100, sd=1, seed=1)], repeat={"boots": 4, "iterations": 1}, unchanged="more-boots")
        self.assertEqual(self.night("2026-11-04").status, 0)
        self.assertEqual(self.sql("SELECT purpose, test_label FROM nightly_night WHERE date = '2026-11-04'"),
                         [("more", "v2")])
        # Nights with nothing new are no points of the history.
        self.assertEqual(self.sql("SELECT DISTINCT date FROM history_point"), [("2026-11-01",)])


class Mail(nightly_lib.Files):
    def test_a_mail_that_cannot_be_sent_waits(self):
        mail = self.start_sink()
        port = mail["port"]
        mail.update(port=1, when="always", cc="Zo\u00eb M\u00fcller <z@example.test>", digest="sun")
        self.kernel("v2")
        self.file([self.synthetic(mean=100)], repeat={"boots": 4, "iterations": 1}, mail=mail)
        r = self.night("2026-11-01")
        self.assertEqual(r.status, 5, r.err)
        self.assertIn("1 mail could not be sent", r.out)
        self.assertEqual(self.kab("nightly", self.path("mainline.json"), "--check").status, 4)
        mail.update(port=port)
        self.file([self.synthetic(mean=100)], repeat={"boots": 4, "iterations": 1}, mail=mail)
        self.kernel("v3")
        self.assertEqual(self.night("2026-11-02").status, 0)
        first, second = self.mails()
        self.assertIn("2026-11-01: the week", first["Subject"])
        self.assertIn("2026-11-02: v3", second["Subject"])
        self.assertEqual(str(first["Cc"]), "Zo\u00eb M\u00fcller <z@example.test>")
        with open(self.path("mails/1.eml"), "rb") as f:
            raw = f.read()
        self.assertTrue(raw.isascii())
        self.assertLess(max(map(len, raw.splitlines())), 79)
        self.assertIn("v3", second.get_content())
        self.assertRegex(second.get_content(), r"case +v2 +v3 +gain")
        self.assertIn("Baseline : v2: measured in the night of 2026-11-01, and no", second.get_content())


if __name__ == "__main__":
    e2e.main()
