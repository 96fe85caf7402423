# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports for KCIDB over HTTP, to a server that fails in the ways that real ones do: bad gateways, lost
answers, refusals, and a submission that is accepted first and rejected later."""
import http.server
import json
import os
import socket
import subprocess
import threading
import urllib.parse

import e2e_lib as e2e

TOKEN = "s3cr3t.T0ken-of_ours"


class Server(http.server.ThreadingHTTPServer):
    """`posts` are what the next POSTs get: a status, with an id or words; None: the line is cut."""

    def __init__(self, posts, states=("done",)):
        super().__init__(("127.0.0.1", 0), Handler)
        self.posts, self.states = list(posts), list(states)
        self.seen, self.asked = [], []
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)
        self.thread.start()

    @property
    def url(self):
        return "http://127.0.0.1:%d/submit" % self.server_address[1]

    def stop(self):
        self.shutdown()
        self.server_close()
        self.thread.join()


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, doc, headers=()):
        body = doc if isinstance(doc, bytes) else json.dumps(doc).encode()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        s = self.server
        s.seen.append((self.path, self.headers.get("Authorization"), body))
        how = s.posts.pop(0) if s.posts else 500
        if how is None:
            self.connection.shutdown(socket.SHUT_RDWR)
        elif isinstance(how, tuple):
            self.answer(*how)
        elif how == 200:
            self.answer(200, {"id": "abc%d" % len(s.seen), "status": "ok", "message": "received"})
        else:
            self.answer(how, b"<html>Bad Gateway</html>" if how >= 500 else {"message": "words of %d" % how})

    def do_GET(self):
        s = self.server
        url = urllib.parse.urlparse(self.path)
        s.asked.append((url.path, urllib.parse.parse_qs(url.query).get("id"), self.headers.get("Authorization")))
        state = s.states.pop(0) if len(s.states) > 1 else s.states[0]
        if isinstance(state, int):
            self.answer(state, {"status": "notfound"})
        else:
            self.answer(200, {"id": "x", "status": state, "message": "number is not a number in tests[3]"})


class Submit(e2e.Case):
    def setUp(self):
        super().setUp()
        lines = ["kernel,boot,value,unit,direction"] + ["%s,%d,%d,s,lower" % (k, b, 10 + b) for k in "ab" for b in range(3)]
        r = self.kab("import", "--csv", self.write("x.csv", "\n".join(lines)), "--name", "x")
        self.assertEqual(r.status, 0, r.err)
        self.token = self.write("token", TOKEN + "\n", 0o600)
        self.server = None

    def tearDown(self):
        if self.server:
            self.server.stop()
        super().tearDown()

    def serve(self, *posts, **kw):
        self.server = Server(posts, **kw)
        return self.server

    def submit(self, *words, status=0, env=None, url=None):
        r = self.kab("export", "x", "--origin", "me", "--submit", url or self.server.url, "--token-file", self.token, *words,
                     env=env)
        self.assertEqual(r.status, status, r.err)
        self.assertNotIn(TOKEN, r.err + r.out)
        return r

    def flush(self, status=0, *words):
        r = self.kab("export", "--submit-spool", "--token-file", self.token, *words)
        self.assertEqual(r.status, status, r.err)
        return r

    def spool(self):
        base = self.path("home/.local/state/kab/kcidb-spool")
        return [os.path.join(base, n) for n in sorted(os.listdir(base)) if n.endswith(".json")]

    def entry(self):
        paths = self.spool()
        self.assertEqual(len(paths), 1)
        self.assertEqual(os.stat(paths[0]).st_mode & 0o777, 0o600)
        with open(paths[0], encoding="utf-8") as f:
            text = f.read()
        self.assertNotIn(TOKEN, text)
        return json.loads(text)

    def test_bad_gateways_then_accepted_then_rejected(self):
        s = self.serve(502, 502, 200, states=("pending", "failed"))
        r = self.submit(status=4)
        self.assertIn("failed: number is not a number in tests[3]", r.err)
        self.assertEqual([p for p, *_ in s.seen], ["/submit"] * 3)
        self.assertEqual({a for _, a, _ in s.seen}, {"Bearer " + TOKEN})
        self.assertEqual(len({b for *_, b in s.seen}), 1)
        report = json.loads(s.seen[0][2])
        self.assertEqual(report["version"], {"major": 5, "minor": 3})
        self.assertEqual([(p, i) for p, i, _ in s.asked], [("/status", ["abc3"])] * 2)
        e = self.entry()
        self.assertEqual((e["state"], e["id"], e["tries"]), ("failed", "abc3", 3))
        # What failed for good is not sent by itself again.
        self.assertIn("nothing waits", self.flush().err)
        self.assertEqual(len(s.seen), 3)

    def test_accepted_is_never_sent_twice(self):
        s = self.serve(200)
        r = self.submit()
        self.assertIn("abc1", r.err)
        self.assertEqual(self.entry()["state"], "done")
        self.assertNotIn("report", self.entry())
        self.assertIn("submitted before", self.submit().err)
        self.flush()
        self.assertEqual(len(s.seen), 1)

    def test_spool_over_a_restart(self):
        s = self.serve(502, 503, 502, 200)
        r = self.submit("--submit-for", "0.8")
        self.assertIn("waits in the spool", r.err)
        self.assertEqual(self.entry()["state"], "queued")
        before = len(s.seen)
        self.assertLess(before, 4)
        self.flush()
        self.assertEqual(self.entry()["state"], "done")
        self.assertEqual(len(s.seen), 4)
        self.assertEqual(len({b for *_, b in s.seen}), 1)

    def test_nobody_listens(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = "http://127.0.0.1:%d/submit" % free.getsockname()[1]
        r = self.submit("--submit-for", "0", url=url)
        self.assertRegex(r.err, "[Cc]onnect")
        self.assertEqual(self.entry()["state"], "queued")

    def test_killed_while_it_tries(self):
        s = self.serve(*[502] * 50)
        p = self.start("export", "x", "--origin", "me", "--submit", s.url, "--token-file", self.token)
        e2e.wait_for("a first try", lambda: s.seen)
        with open("/proc/%d/cmdline" % p.pid, "rb") as f:
            self.assertNotIn(TOKEN.encode(), f.read())
        p.kill()
        p.communicate()
        s.posts = [200]
        self.flush()
        self.assertEqual(self.entry()["state"], "done")

    def test_interrupted(self):
        s = self.serve(*[502] * 50)
        p = self.start("export", "x", "--origin", "me", "--submit", s.url, "--token-file", self.token)
        e2e.wait_for("a first try", lambda: s.seen)
        p.send_signal(2)
        self.assertEqual(self.finish(p).status, 130)
        self.assertEqual(self.entry()["state"], "queued")

    def test_accepted_but_not_yet_known(self):
        s = self.serve(200, states=("processing",))
        r = self.submit("--submit-for", "1")
        self.assertIn("asks again", r.err)
        self.assertEqual(self.entry()["state"], "accepted")
        s.states = ["rejected"]
        self.assertIn("rejected", self.flush(4).err)
        self.assertEqual(len(s.seen), 1)

    def test_taken_off_the_status_service(self):
        self.serve(200, states=(404,))
        self.submit()
        self.assertEqual(self.entry()["state"], "done")

    def test_a_lost_answer_is_tried_again_with_the_same_report(self):
        s = self.serve(None, 200)
        self.submit()
        self.assertEqual(len(s.seen), 2)
        self.assertEqual(s.seen[0][2], s.seen[1][2])

    def test_refusals(self):
        self.serve(400)
        self.assertIn("words of 400", self.submit(status=4).err)
        self.assertEqual(self.entry()["state"], "failed")
        # Asked for once more by name, it is sent once more.
        self.server.posts = [200]
        self.submit()
        self.assertEqual(self.entry()["state"], "done")

    def test_a_refused_token_keeps_the_report(self):
        self.serve(401, 200)
        self.assertIn("words of 401", self.submit(status=4).err)
        self.assertEqual(self.entry()["state"], "queued")
        self.flush()
        self.assertEqual(self.entry()["state"], "done")

    def test_error_in_a_good_answer(self):
        self.serve((200, {"id": "0", "status": "error", "message": "no such origin"}))
        self.assertIn("no such origin", self.submit(status=4).err)

    def test_redirects_are_not_followed(self):
        other = Server([200])
        try:
            self.serve((302, b"", (("Location", other.url),)))
            self.submit(status=4)
            self.assertEqual(other.seen, [])
        finally:
            other.stop()

    def test_the_token_stays_secret(self):
        r = self.submit(url="http://example.org/submit", status=3)
        self.assertIn("unencrypted", r.err)
        os.chmod(self.token, 0o644)
        self.serve(200)
        self.assertIn("chmod 600", self.submit().err)
        self.assertEqual(self.kab("export", "x", "--origin", "she", "--submit", self.server.url, "--token-file",
                                  self.write("empty", "")).status, 3)
        self.server.posts = [200]
        r = self.kab("export", "x", "--origin", "you", "--submit", self.server.url,
                     env=dict(self.env, KAB_KCIDB_TOKEN="from-env"))
        self.assertEqual(r.status, 0, r.err)
        self.assertEqual(self.server.seen[-1][1], "Bearer from-env")
        found = subprocess.run(["grep", "-rl", "-e", TOKEN, "-e", "from-env", self.path("home")], stdout=subprocess.PIPE,
                               check=False).stdout
        self.assertEqual(found, b"")

    def test_urls(self):
        self.submit(url="ftp://127.0.0.1/x", status=3)
        r = self.submit(url="http://joe:pw@127.0.0.1:1/submit?k=v", status=0, *("--submit-for", "0"))
        self.assertNotIn("pw", r.err)

    def test_two_at_once_send_once(self):
        s = self.serve(502, 200)
        words = ("export", "x", "--origin", "me", "--submit", s.url, "--token-file", self.token)
        a = self.start(*words)
        e2e.wait_for("a first try", lambda: s.seen)
        b = self.kab(*words)
        self.assertEqual(self.finish(a).status, 0)
        self.assertEqual(b.status, 4)
        self.assertIn("another kab", b.err)
        self.assertEqual(len(s.seen), 2)


if __name__ == "__main__":
    e2e.main()
