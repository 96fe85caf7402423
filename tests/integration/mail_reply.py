# SPDX-License-Identifier: GPL-3.0-or-later
"""kab reply from the mail to the mailbox: an archive over HTTP, a real SMTP server, git send-email's settings."""
import email
import email.policy
import email.utils
import http.server
import json
import mailbox
import os
import re
import subprocess
import sys
import threading
import unittest

import e2e_lib as e2e

def with_aiosmtpd():
    """A Python that has it: the one that runs this may not be Debian's."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import aiosmtpd"], capture_output=True, check=False).returncode == 0:
            return python
    return None


PYTHON = with_aiosmtpd()
HERE = os.path.dirname(os.path.abspath(__file__))
ID = "parent.1@example.test"
REFERENCES = " ".join("<ref%d.of-a-long-thread@lists.example.test>" % i for i in range(30))
# What a mail client may do to a name, a subject and a table, with every line that mail servers mangle.
PARENT = """\
From: =?ISO-8859-1?Q?Zo=EB_M=FCller?= <zoe@example.test>
To: "Doe, Jane" <jane@example.test>, list@lists.example.test
Cc: <LIST@lists.example.test>, Self <self@example.test>, =?UTF-8?B?SsO8cmdlbg==?= <juergen@example.test>
Subject: Re: [PATCH v2 1/3] sched: =?utf-8?q?faster_=E2=80=93_much_faster_wakeups_in_every_case_that_anyone_can_see?=
Date: Tue, 24 Nov 2026 10:00:00 +0100
Message-ID: <%s>
References: %s
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

Hello,

this improves hackbench for every load. It costs nothing =96 we think.

   groups      base (s)     patched (s)     gain
   1-groups      10.10          9.90       1.98%%
   2-groups      20.20         19.80       1.98%%
   4-groups      40.40         39.60       1.98%%
.config and the line below are of no interest here =
at all.

--=20
Zo=EB
""" % (ID, REFERENCES)
BISECT = """\
.config was the same
.
..
From 6.1 to 6.12
>From a quoted line
git bisect start
"""


def csv(shift):
    lines = ["kernel,boot,row,value,unit,direction"]
    for kernel in ("base", "patched"):
        for groups in (1, 2, 4):
            for boot in range(6):
                value = groups * (10 + 0.01 * boot) * (1 + (shift if kernel == "patched" else 0))
                lines.append("%s,%s%d,groups=%d,%.4f,s,lower" % (kernel, kernel, boot, groups, value))
    return "\n".join(lines) + "\n"


class Mail(e2e.Case):
    def setUp(self):
        super().setUp()
        self.env.update({"GIT_CONFIG_GLOBAL": self.path("gitconfig"), "GIT_CONFIG_NOSYSTEM": "1",
                         "XDG_CACHE_HOME": self.path("cache")})
        self.write("gitconfig", "[user]\n\tname = Self\n\temail = self@example.test\n")
        self.parent = self.write("parent.eml", PARENT)
        for name, shift in (("better", -0.05), ("worse", 0.05)):
            r = self.kab("import", "--csv", self.write(name + ".csv", csv(shift)), "--name", name)
            self.assertEqual(r.status, 0, r.err)

    def reply(self, *words):
        return self.kab("reply", *words)

    def sink(self, *options):
        folder = self.path("sink")
        os.makedirs(folder, exist_ok=True)
        p = subprocess.Popen([PYTHON, os.path.join(HERE, "mail_sink.py"), folder, *options],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.terminate)
        return folder, p.stdout.readline().strip()

    def body(self, text):
        return text.split("\n\n", 1)[1]


class Compose(Mail):
    def test_headers(self):
        r = self.reply(self.parent, "better")
        self.assertEqual(r.status, 0, r.err)
        self.assertTrue(r.out.isascii())
        head = r.out.split("\n\n", 1)[0]
        for line in head.split("\n"):
            self.assertTrue(len(line) <= 78 or len(line.split()) <= 2, line)
        mail = email.message_from_string(r.out, policy=email.policy.default)
        self.assertEqual(email.utils.getaddresses([str(mail["To"])]), [("Zoë Müller", "zoe@example.test")])
        self.assertEqual(email.utils.getaddresses([str(mail["Cc"])]),
                         [("Doe, Jane", "jane@example.test"), ("", "list@lists.example.test"),
                          ("Jürgen", "juergen@example.test")])
        # The address itself is never encoded, the name always is.
        self.assertRegex(head, r"=\?UTF-8\?q\?[!-~]+\?= <zoe@example\.test>")
        self.assertIn('"Doe, Jane" <jane@example.test>', head)
        self.assertEqual(str(mail["Subject"]), "Re: [PATCH v2 1/3] sched: faster – much faster wakeups in every "
                                               "case that anyone can see")
        self.assertEqual(str(mail["In-Reply-To"]), "<%s>" % ID)
        self.assertEqual(str(mail["References"]).split(), REFERENCES.split() + ["<%s>" % ID])
        self.assertRegex(str(mail["Message-ID"]), r"^<[^<>@\s]+@example\.test>$")
        self.assertIsNotNone(email.utils.parsedate_to_datetime(str(mail["Date"])))
        self.assertEqual(mail["Content-Transfer-Encoding"], "7bit")
        self.assertEqual(mail.get_content_type(), "text/plain")
        self.assertIsNone(mail["Content-Type"].params.get("format"))

    def test_what_is_quoted(self):
        body = self.body(self.reply(self.parent, "better").out)
        self.assertTrue(body.startswith("On Tue, 24 Nov 2026 10:00:00 +0100, Zoe Mueller wrote:\n> "), body)
        self.assertIn(">    4-groups      40.40         39.60       1.98%\n", body)
        self.assertIn("> this improves hackbench for every load. It costs nothing - we think.\n", body)
        self.assertNotIn("> Hello", body)
        self.assertNotIn("of no interest", body)
        self.assertIn("[...]\n", body)
        # The author's labels, each on a line with our numbers.
        ours = body.split("> ")[-1]
        for label in ("1-groups", "2-groups", "4-groups"):
            self.assertRegex(ours, r"(?m)^ *%s +\d" % label)
        self.assertRegex(ours, r"3 improved, 0 regressed")
        for line in ours.split("\n"):
            self.assertLessEqual(len(line), 76, line)
            self.assertEqual(line, line.rstrip())
        self.assertNotIn("Tested-by", body)

    def test_tag_only_when_asked_and_true(self):
        r = self.reply(self.parent, "better", "--tested-by")
        self.assertEqual(r.status, 0, r.err)
        self.assertTrue(r.out.endswith("\nTested-by: Self <self@example.test>\n"), r.out[-200:])
        r = self.reply(self.parent, "worse", "--tested-by")
        self.assertEqual((r.status, r.out), (3, ""))
        self.assertIn("regressed", r.err)

    def test_regression_report(self):
        self.write("good", "CONFIG_A=y\nCONFIG_B=m\n# CONFIG_C is not set\n")
        self.write("bad", "CONFIG_A=y\nCONFIG_B=y\n# CONFIG_C is not set\n")
        r = self.reply(self.parent, "worse", "--regression", "--introduced", "v6.14..v6.15-rc1", "--config-good",
                       self.path("good"), "--config-bad", self.path("bad"), "--bisect-log", self.write("log", BISECT))
        self.assertEqual(r.status, 0, r.err)
        mail = email.message_from_string(r.out, policy=email.policy.default)
        self.assertTrue(str(mail["Subject"]).startswith("[REGRESSION] [PATCH v2 1/3] sched: faster"))
        self.assertIn("regressions@lists.linux.dev", str(mail["Cc"]))
        self.assertIn("\n\n#regzbot introduced: v6.14..v6.15-rc1\n\n", r.out)
        self.assertIn("  -CONFIG_B=m\n  +CONFIG_B=y\n", r.out)
        self.assertNotIn("CONFIG_A", r.out)
        self.assertIn(BISECT, r.out)
        self.assertRegex(r.out, r"Last good: \S+\nFirst bad: \S+\n")
        r = self.reply(self.parent, "better", "--regression", "--introduced", "x")
        self.assertEqual(r.status, 3)
        self.assertIn("nothing regressed", r.err)

    def test_refused_with_the_remedy(self):
        for change, status, words in (
                (("Message-ID: <%s>\n" % ID, ""), 3, "no Message-ID.*--in-reply-to"),
                (("Message-ID: <%s>\n" % ID, "Message-ID: <a@b>\nMessage-ID: <c@d>\n"), 3, "two Message-IDs"),
                (("Subject:", "X-Subject:"), 3, "no subject; pass --subject"),
                (("From:", "X-From:"), 3, "address of the author.*--to")):
            self.write("broken.eml", PARENT.replace(*change))
            r = self.reply(self.path("broken.eml"), "better")
            self.assertEqual((r.status, r.out), (status, ""), change)
            self.assertRegex(r.err, words)
        self.write("gitconfig", "")
        r = self.reply(self.parent, "better")
        self.assertEqual(r.status, 3)
        self.assertIn("--from", r.err)

    def test_mbox_in(self):
        text = "From z@example.test Tue Nov 24 10:00:00 2026\n" + PARENT.replace("Hello,", ">From here it improves.")
        r = self.reply(self.write("one.mbox", text), "better")
        self.assertEqual(r.status, 0, r.err)
        self.assertIn("> From here it improves.\n", r.out)

    def test_encodings_of_the_original(self):
        import base64
        head, body = PARENT.split("\n\n", 1)
        text = "Das ist schneller: it improves things \u2013 gr\u00fc\u00dfe\n\n  load   base   patched   gain\n" \
               "  1-groups  10.10   9.90  1.98%\n  2-groups  20.20  19.80  1.98%\n"
        variants = {
            "base64": ("utf-8", "base64", base64.encodebytes(text.replace("\n", "\r\n").encode()).decode()),
            "8bit": ("utf-8; format=flowed", "8bit", text.replace("things ", "things \n")),
        }
        for name, (charset, how, coded) in variants.items():
            mail = re.sub("charset=.*", "charset=" + charset, head).replace("quoted-printable", how)
            r = self.reply(self.write(name + ".eml", mail + "\n\n" + coded), "better", "--table", "1")
            self.assertEqual(r.status, 0, r.err)
            self.assertTrue(r.out.isascii())
            self.assertIn("> Das ist schneller: it improves things - gruesse\n", r.out, name)
            stuffed = 0 if name == "base64" else 1
            self.assertIn("> " + "  1-groups  10.10   9.90  1.98%\n"[stuffed:], r.out, name)


class Archive(Mail):
    def test_a_message_id_is_fetched(self):
        asked = []
        parent = PARENT

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *args):
                pass

            def do_GET(self):
                asked.append(self.path)
                found = self.path == "/r/parent.1@example.test/raw"
                data = ("From mboxrd@z Thu Jan  1 00:00:00 1970\n" + parent).encode() if found else b"none"
                self.send_response(200 if found else 404)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = "http://127.0.0.1:%d/r" % server.server_port
        r = self.reply("<%s>" % ID, "better", "--archive", url)
        self.assertEqual(r.status, 0, r.err)
        self.assertEqual(asked, ["/r/parent.1@example.test/raw"])
        drop = r"(?m)^(Date|Message-ID): .*\n"
        self.assertEqual(re.sub(drop, "", r.out), re.sub(drop, "", self.reply(self.parent, "better").out))
        r = self.reply("other@example.test", "better", "--archive", url)
        self.assertEqual(r.status, 3)
        self.assertRegex(r.err, "404")


@unittest.skipUnless(PYTHON, "no aiosmtpd")
class Send(Mail):
    def sent(self, folder, n=1):
        with open("%s/%d.eml" % (folder, n), "rb") as f, open("%s/%d.json" % (folder, n), encoding="ascii") as g:
            return f.read(), json.load(g)

    def test_what_arrives_is_what_was_written(self):
        folder, port = self.sink()
        log = self.write("log", BISECT)
        r = self.reply(self.parent, "worse", "--regression", "--introduced", "v1..v2", "--bisect-log", log, "--output",
                       self.path("out.eml"), "--send", "--yes", "--smtp-server", "127.0.0.1", "--smtp-port", port,
                       "--smtp-encryption", "none")
        self.assertEqual(r.status, 0, r.err)
        data, envelope = self.sent(folder)
        with open(self.path("out.eml"), "rb") as f:
            written = f.read()
        self.assertIn(b"\n.\n..\nFrom 6.1 to 6.12\n>From a quoted line\n", written)
        self.assertEqual(data, written.replace(b"\n", b"\r\n"))
        # It was shown, too.
        self.assertEqual(r.out.encode(), written)
        self.assertEqual(envelope["from"], "self@example.test")
        self.assertEqual(envelope["to"], ["zoe@example.test", "jane@example.test", "list@lists.example.test",
                                          "juergen@example.test", "regressions@lists.linux.dev"])

    def test_starttls_with_a_password_from_a_file(self):
        folder, port = self.sink("starttls", "auth")
        secret = self.write("secret", "s3cret word\n", 0o600)
        self.write("gitconfig", "[user]\n\tname = Self\n\temail = self@example.test\n[sendemail]\n"
                                "\tsmtpserver = localhost\n\tsmtpserverport = %s\n\tsmtpencryption = tls\n"
                                "\tsmtpuser = tester\n\tsmtpsslcertpath = %s/ca.pem\n" % (port, folder))
        words = (self.parent, "better", "--send", "--yes", "--smtp-password-file")
        r = self.reply(*words, secret)
        self.assertEqual(r.status, 0, r.err)
        self.assertTrue(self.sent(folder)[1]["tls"])
        self.assertTrue(self.sent(folder)[1]["user"])
        wrong = self.write("wrong", "an0ther secret\n", 0o600)
        r = self.reply(*words, wrong)
        self.assertEqual(r.status, 4)
        self.assertRegex(r.err, "refuses user 'tester'")
        self.assertNotIn("an0ther", r.out + r.err)
        os.chmod(secret, 0o644)
        r = self.reply(*words, secret)
        self.assertEqual(r.status, 3)
        self.assertRegex(r.err, "can be read by others")
        # A certificate that nobody vouches for: nothing is sent.
        os.chmod(secret, 0o600)
        with open(self.path("gitconfig"), encoding="ascii") as f:
            self.write("gitconfig", f.read().replace("ca.pem", "none.pem"))
        r = self.reply(*words, secret)
        self.assertEqual(r.status, 4)
        self.assertFalse(os.path.exists(folder + "/2.eml"))

    def test_no_encryption_offered_is_no_mail(self):
        folder, port = self.sink()
        r = self.reply(self.parent, "better", "--send", "--yes", "--smtp-server", "127.0.0.1", "--smtp-port", port)
        self.assertEqual(r.status, 4)
        self.assertRegex(r.err, "does not offer STARTTLS; nothing was sent")
        self.assertEqual(os.listdir(folder), [])

    def test_a_refused_recipient_stops_the_mail(self):
        folder, port = self.sink("refuse")
        r = self.reply(self.parent, "better", "--send", "--yes", "--smtp-server", "127.0.0.1", "--smtp-port", port,
                       "--smtp-encryption", "none", "--cc", "nobody@example.test")
        self.assertEqual(r.status, 4)
        self.assertRegex(r.err, "nobody here by that name")
        self.assertEqual(os.listdir(folder), [])

    def test_without_a_terminal_and_yes_nothing_is_sent(self):
        folder, port = self.sink()
        done = subprocess.run(["setsid", e2e.KAB, "--db", self.db, "reply", self.parent, "better", "--send", "--smtp-server",
                               "127.0.0.1", "--smtp-port", port, "--smtp-encryption", "none"], text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, env=self.env, timeout=60)
        self.assertEqual(done.returncode, 4)
        self.assertRegex(done.stderr, "pass --yes")
        self.assertEqual(os.listdir(folder), [])

    def test_mailbox_reads_it(self):
        out = self.path("box.eml")
        self.assertEqual(self.reply(self.parent, "better", "--output", out).status, 0)
        box = mailbox.mbox(self.path("box"))
        with open(out, "rb") as f:
            box.add(f.read())
        box.close()
        box = mailbox.mbox(self.path("box"))
        self.addCleanup(box.close)
        self.assertEqual(len(box), 1)


if __name__ == "__main__":
    e2e.main()
