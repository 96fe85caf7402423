# SPDX-License-Identifier: GPL-3.0-or-later
"""Headless Chromium, driven through chromedriver by the WebDriver protocol: plain HTTP and JSON."""
import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
import zlib

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "PageUp": "\ue00e", "PageDown": "\ue00f",
        "End": "\ue010", "Home": "\ue011", "Left": "\ue012", "Up": "\ue013", "Right": "\ue014", "Down": "\ue015",
        "Shift": "\ue008", "Control": "\ue009", "Space": " "}
# Nothing that a browser asks the network for by itself.
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
         "--hide-scrollbars", "--force-color-profile=srgb", "--no-default-browser-check", "--disable-extensions"]


def missing():
    """Why there is no browser here, or None."""
    for program, package in (("chromium", "chromium"), ("chromedriver", "chromium-driver")):
        if not shutil.which(program):
            return "%s is not installed (Debian package %s)" % (program, package)
    return None


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def unfilter(kind, line, above, step):
    """A line of a PNG by its filter (RFC 2083, 6)."""
    out = bytearray(line)
    for i, byte in enumerate(line):
        left = out[i - step] if i >= step else 0
        corner = above[i - step] if i >= step else 0
        if kind == 4:
            guess = left + above[i] - corner
            add = min((left, above[i], corner), key=lambda c: abs(guess - c))
        else:
            add = (0, left, above[i], (left + above[i]) // 2)[kind]
        out[i] = (byte + add) & 255
    return out


class Browser:
    """One session. Use as a context: everything it started ends with it."""

    def __init__(self, width=1300, height=1000):
        self.folder = tempfile.mkdtemp(prefix="kab-chromium-")
        self.port = free_port()
        env = dict(os.environ, HOME=self.folder, XDG_CONFIG_HOME=self.folder, XDG_CACHE_HOME=self.folder)
        self.driver = subprocess.Popen(["chromedriver", "--port=%d" % self.port], env=env, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, start_new_session=True)
        self.base = "http://127.0.0.1:%d" % self.port
        self.session = None
        try:
            self._wait()
            options = {"args": FLAGS + ["--user-data-dir=" + os.path.join(self.folder, "profile"),
                                        "--window-size=%d,%d" % (width, height)],
                       "binary": shutil.which("chromium")}
            answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
                "goog:chromeOptions": options,
                "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}})
            self.session = answer["sessionId"]
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _wait(self):
        end = time.monotonic() + 30
        while True:
            try:
                with urllib.request.urlopen(self.base + "/status", timeout=5) as r:
                    if json.load(r)["value"]["ready"]:
                        return
            except (OSError, ValueError, KeyError):
                pass
            if self.driver.poll() is not None or time.monotonic() > end:
                raise RuntimeError("chromedriver does not answer")
            time.sleep(0.05)

    def close(self):
        if self.session:
            try:
                self.call("DELETE", "/session/" + self.session)
            except (OSError, RuntimeError):
                pass
            self.session = None
        self.driver.terminate()
        try:
            self.driver.wait(10)
        except subprocess.TimeoutExpired:
            self.driver.kill()
            self.driver.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method, path, body=None):
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.base + path, data=data, method=method,
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as r:
                return json.load(r)["value"]
        except urllib.error.HTTPError as e:
            raise RuntimeError("%s: %s" % (path, e.read().decode("utf-8", "replace")[:500])) from e

    def do(self, method, path, body=None):
        return self.call(method, "/session/%s%s" % (self.session, path), body)

    def open(self, url):
        self.do("POST", "/url", {"url": url})

    def js(self, script, *args):
        return self.do("POST", "/execute/sync", {"script": script, "args": list(args)})

    def cdp(self, command, **params):
        """A command of Chromium's own protocol."""
        return self.do("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def log(self, kind):
        return self.do("POST", "/se/log", {"type": kind})

    def find(self, css):
        return self.do("POST", "/element", {"using": "css selector", "value": css})[ELEMENT]

    def click(self, css):
        self.do("POST", "/element/%s/click" % self.find(css))

    def keys(self, *names, hold=()):
        """Press keys by name, or letters; `hold` is down meanwhile."""
        down = [{"type": "keyDown", "value": KEYS[h]} for h in hold]
        up = [{"type": "keyUp", "value": KEYS[h]} for h in hold]
        press = []
        for name in names:
            for key in [KEYS[name]] if name in KEYS else list(name):
                press += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.do("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": down + press + up}]})

    def point(self, css):
        """Move the mouse to the middle of an element."""
        self.do("POST", "/actions", {"actions": [{
            "type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
            "actions": [{"type": "pointerMove", "duration": 0, "x": 0, "y": 0,
                         "origin": {ELEMENT: self.find(css)}}]}]})

    def screenshot(self, path, whole=False):
        if whole:
            size = self.cdp("Page.getLayoutMetrics")["cssContentSize"]
            shot = self.cdp("Page.captureScreenshot", captureBeyondViewport=True,
                            clip={"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1})["data"]
        else:
            shot = self.do("GET", "/screenshot")
        with open(path, "wb") as f:
            f.write(base64.b64decode(shot))

    def pixels(self, css):
        """The colours (red, green, blue) of an element as drawn."""
        png = base64.b64decode(self.do("GET", "/element/%s/screenshot" % self.find(css)))
        width, height, _, kind = struct.unpack(">IIBB", png[16:26])
        at, data = 8, b""
        while at < len(png):
            length, name = struct.unpack(">I4s", png[at:at + 8])
            data += png[at + 8:at + 8 + length] if name == b"IDAT" else b""
            at += length + 12
        raw, step = zlib.decompress(data), {2: 3, 6: 4}[kind]
        line, seen = bytearray(width * step), set()
        for y in range(height):
            start = y * (width * step + 1)
            line = unfilter(raw[start], raw[start + 1:start + 1 + width * step], line, step)
            seen.update(bytes(line[i:i + 3]) for i in range(0, len(line), step))
        return {tuple(colour) for colour in seen}

    def dark(self, on):
        self.cdp("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if on else "light"}])

    def pdf(self, path, width_cm=21.0, height_cm=29.7):
        data = self.do("POST", "/print", {"page": {"width": width_cm, "height": height_cm}, "background": False,
                                          "margin": {"top": 1.4, "bottom": 1.4, "left": 1.2, "right": 1.2}})
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))
