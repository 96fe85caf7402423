# SPDX-License-Identifier: GPL-3.0-or-later
"""A host made of files: the scripts that run on targets, under a chosen shell, on another root.

The shell is `sh` at the front of PATH. With busybox every tool is an applet, too, so that nothing of
GNU's helps by accident. uname tells the release that the test wants; everything else is real.
"""
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
RUNNING = "6.1.0-50-amd64"
SHELL = "dash"


def script(name):
    text = ""
    for part in ("boot_common.sh", name):
        with open(os.path.join(SOURCE, "harness", "engine", part), encoding="utf-8") as f:
            text += f.read()
    return text


class Answer:
    def __init__(self, done):
        self.status = done.returncode
        self.text = done.stdout
        self.stderr = done.stderr
        self.lines = done.stdout.splitlines()

    def all(self, key):
        return [line[len(key) + 1:] for line in self.lines if line.startswith(key + "=")]

    def get(self, key):
        found = self.all(key)
        return found[0] if found else None


class FakeRoot(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="kab-root-")
        self.addCleanup(shutil.rmtree, self.top, ignore_errors=True)
        self.root = os.path.join(self.top, "root")
        self.bin = os.path.join(self.top, "bin")
        os.makedirs(self.bin)
        os.makedirs(self.root + "/boot")
        os.makedirs(self.root + "/var/lib")
        os.makedirs(self.root + "/lib/modules")
        self.write("/mounts", "/dev/vda1 / ext4 rw 0 0\n", root=self.top)
        path = [self.bin]
        if SHELL == "busybox":
            busybox = shutil.which("busybox")
            for applet in subprocess.run([busybox, "--list"], capture_output=True, text=True,
                                         check=True).stdout.split():
                os.symlink(busybox, os.path.join(self.bin, applet))
            for tool in ("grub-editenv", "zstd"):
                os.symlink(shutil.which(tool), os.path.join(self.bin, tool))
        else:
            os.symlink(shutil.which(SHELL), os.path.join(self.bin, "sh"))
            path += ["/usr/bin", "/bin"]
        self.stand_in("uname", '[ "$1" = -r ] && { echo "${FAKE_RELEASE:-%s}"; exit; }\n'
                           '[ "$1" = -m ] && { echo x86_64; exit; }\necho Linux' % RUNNING)
        # What runs at an installation is looked at by the tests; no menu is ever regenerated.
        self.stand_in("mkinitramfs", 'echo "initrd of $3" >"$2"')
        self.stand_in("depmod", 'exit 0')
        # Not those of the whole machine, again and again.
        self.stand_in("sync", 'exit 0')
        self.stand_in("update-grub", 'touch "%s/update-grub-was-called"' % self.top)
        self.env = {"PATH": ":".join(path), "KAB_BOOT_ROOT": self.root,
                    "KAB_BOOT_MOUNTS": self.top + "/mounts"}

    def tearDown(self):
        self.assertFalse(os.path.exists(self.top + "/update-grub-was-called"))

    def stand_in(self, name, text):
        path = os.path.join(self.bin, name)
        if os.path.lexists(path):
            os.unlink(path)
        with open(path, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\n%s\n" % text)
        os.chmod(path, 0o755)

    def write(self, path, text, root=None):
        path = (root or self.root) + path
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w" if isinstance(text, str) else "wb") as f:
            f.write(text)
        return path

    def read(self, path):
        with open(self.root + path, encoding="utf-8") as f:
            return f.read()

    def exists(self, path):
        return os.path.lexists(self.root + path)

    def run_script(self, name, *args, **env):
        done = subprocess.run(["sh", "-s", "--", *args], input=script(name), text=True,
                              capture_output=True, check=False, timeout=60,
                              env=dict(self.env, **env), executable=os.path.join(self.bin, "sh"))
        return Answer(done)

    def tree(self):
        """Every file below the root with what is in it: to see that nothing was changed."""
        found = {}
        for folder, _, names in os.walk(self.root):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.islink(path):
                    found[path] = os.readlink(path)
                elif stat.S_ISREG(os.lstat(path).st_mode):
                    with open(path, "rb") as f:
                        found[path] = f.read()
        return found


def main():
    global SHELL
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        SHELL = sys.argv.pop(1)
    for tool in (SHELL, "grub-editenv", "dpkg-deb", "xz", "zstd"):
        if not shutil.which(tool):
            print("%s is not installed" % tool)
            sys.exit(77)
    # The programs import this file under its own name.
    sys.modules["fake_root"].SHELL = SHELL
    unittest.main(module="__main__")
