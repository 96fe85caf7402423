# SPDX-License-Identifier: GPL-3.0-or-later
"""A web server with bad habits, on 127.0.0.1: prints its port, then one line for each request.

/NAME is 300000 bytes that depend on the name's first letter. The rest of the name says how it is sent:
  drop      60000 bytes at a time, then the connection breaks; ranges and a tag are given
  noetag    no tag       norange   ranges are ignored, the first answer breaks
  busy      503 twice    hang      10000 bytes, then silence
  varies    another tag and other bytes each time; the first answer breaks
  old       the tag is a date
/404 /403 /loop /redirect (to /a) /file-redirect (to file:///etc/passwd) /empty
"""
import http.server
import sys
import time

SIZE = 300000
seen = {}


def content(letter, version=0):
    return bytes((ord(letter) * 7 + version * 13 + i * 31 + i // 251) % 256 for i in range(SIZE))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def plain(self, status, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"page\n")

    def do_GET(self):
        path = self.path.split("?")[0].strip("/")
        seen[path] = count = seen.get(path, 0) + 1
        print("GET /%s range=%s if-range=%s if-none-match=%s if-modified-since=%s" % (
            path, self.headers.get("Range", "-"), self.headers.get("If-Range", "-"),
            self.headers.get("If-None-Match", "-"), self.headers.get("If-Modified-Since", "-")), flush=True)
        if path in ("404", "403"):
            return self.plain(int(path))
        if path == "loop":
            return self.plain(302, Location="/loop")
        if path == "redirect":
            return self.plain(302, Location="/a")
        if path == "file-redirect":
            return self.plain(302, Location="file:///etc/passwd")
        if "busy" in path and count < 3:
            return self.plain(503)
        version = count if "varies" in path else 0
        body = b"" if path == "empty" else content(path[0], version)
        tag = '"tag-%s-%d"' % (path[0], version)
        date = "Mon, 05 Jan 2026 10:00:00 GMT"
        is_dated, is_tagged = "old" in path, "noetag" not in path and "old" not in path
        if (is_tagged and self.headers.get("If-None-Match") == tag) or \
                (is_dated and self.headers.get("If-Modified-Since") == date):
            self.send_response(304)
            self.end_headers()
            return None
        start = 0
        asked = self.headers.get("Range", "")
        condition = self.headers.get("If-Range")
        if asked and "norange" not in path and condition in (None, tag, date):
            start = int(asked[len("bytes="):].rstrip("-"))
        if start >= len(body) and start:
            return self.plain(416)
        if start:
            self.send_response(206)
            self.send_header("Content-Range", "bytes %d-%d/%d" % (start, len(body) - 1, len(body)))
        else:
            self.send_response(200)
        if is_tagged:
            self.send_header("ETag", tag)
        if is_dated:
            self.send_header("Last-Modified", date)
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        body = body[start:]
        breaks = "drop" in path or (("norange" in path or "varies" in path) and count == 1)
        if "hang" in path:
            self.wfile.write(body[:10000])
            self.wfile.flush()
            time.sleep(20)
            body = b""
        elif breaks and len(body) > 60000:
            self.wfile.write(body[:60000])
            self.close_connection = True
            return None
        self.wfile.write(body)
        return None


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    try:
        server.serve_forever()
    except (KeyboardInterrupt, BrokenPipeError):
        sys.exit(0)
