# SPDX-License-Identifier: GPL-3.0-or-later
"""Nights as cron has them: two real servers that are rebooted, a regression, a mail server."""
import os
import re

import e2e_lib as e2e
import nightly_lib
from nightly_lib import NEW, OLD


class Nights(nightly_lib.Night):
    def test_regression_is_confirmed_mailed_once_and_stays_open(self):
        self.hosts_up("one", "two")
        self.file([self.slower_under_old()], mail=self.start_sink(), archive="archive")

        self.kernel("v2", OLD, commit="0123456789abcdef0123456789abcdef01234567")
        r = self.night("2026-11-01", "--gate")
        self.assertEqual(r.status, 1, r.err + r.out)
        self.assertRegex(r.out, r"\Akab nightly mainline 2026-11-01: v2 against v1 on 2 of 2 hosts; "
                                r"2 regressions confirmed; 2 regressions open \(log .*\)\n\Z")
        (mail,) = self.mails()
        body = mail.get_content()
        self.assertRegex(mail["Subject"], r"mainline 2026-11-01: 2 regressions confirmed \(bench -(19|20)\.\d%\)")
        self.assertRegex(body, r"one bench/value: -(19|20)\.\d+ % \[")
        self.assertIn("0123456789ab", body)
        self.assertIn("kab run suite.json --kernel=v1=release:%s --kernel=v2=release:%s --boots=3 " % (NEW, OLD),
                      re.sub(r"[\s\\]+", " ", body))
        self.assertIn("kab history --acknowledge 1 --why", body)
        self.assertLessEqual(max(map(len, body.splitlines())), 76)
        self.assertTrue(os.path.exists(self.path("archive/2026-11-01/report.txt")))

        # Another kernel, as slow: compared with the same baseline as before, and no second mail.
        self.kernel("v3", OLD)
        r = self.night("2026-11-02")
        self.assertEqual(r.status, 0, r.err + r.out)
        self.assertEqual(r.out, "")
        self.assertEqual(len(self.mails()), 1)
        ((label, why),) = self.sql("SELECT baseline_label, baseline_why FROM nightly_night "
                                   "WHERE date = '2026-11-02'")
        self.assertEqual(label, "v1")
        self.assertIn("open, the first since 2026-11-01", why)
        self.assertIn("open since", self.kab("nightly", self.path("mainline.json"), "--status").out
                      .replace("% since", "% open since"))

        # Fast again: that is news, under the first mail.
        self.kernel("v4", NEW)
        r = self.night("2026-11-03")
        self.assertEqual(r.status, 0, r.err + r.out)
        self.assertIn("2 regressions recovered", r.out)
        first, last = self.mails()
        self.assertIn("recovered", last["Subject"])
        self.assertEqual(last["In-Reply-To"], first["Message-ID"])
        self.assertEqual(last["References"], first["Message-ID"])
        self.assert_hosts_clean()

    def test_kernel_that_does_not_boot_is_news(self):
        self.hosts_up("one")
        self.file([self.synthetic(name="bench", mean=100, sd=0.3)], mail=self.start_sink())
        self.never.add(("one", OLD))
        self.kernel("v2", OLD)
        r = self.night("2026-11-01")
        self.assertEqual(r.status, 5, r.err + r.out)
        self.assertRegex(r.out, "kernel 'v2' does not boot on 'one'")
        (mail,) = self.mails()
        self.assertRegex(mail["Subject"], r"mainline 2026-11-01: 1 kernel does not boot")
        self.assertRegex(mail.get_content(), "(?s)Kernels that do not boot:.*kernel 'v2' does not boot on 'one'")
        # It is neither tried again nor a baseline, and the host is not to blame.
        self.assertEqual(self.night("2026-11-02").status, 0)
        self.assertEqual(self.state("2026-11-02"), "skipped")
        self.assertEqual(self.sql("SELECT failed FROM nightly_strike"), [(0,)])
        self.assertEqual(self.sql("SELECT tried, measured FROM nightly_kernel WHERE label = 'v2'"), [("2026-11-01", None)])


if __name__ == "__main__":
    e2e.main()
