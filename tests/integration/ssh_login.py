# SPDX-License-Identifier: GPL-3.0-or-later
"""Logging in as people do: keys with a passphrase, asked for at a real terminal (a pty) or by SSH_ASKPASS,
once for all hosts; servers that want a password; certificates; agents."""
import base64
import os
import pty
import select
import struct
import subprocess
import termios
import time

import e2e_lib as e2e
import e2e_ssh
import fault_lib

SECRET = "correct horse 7!$'"


def hosts_of(lab):
    """`kab hosts` names them one by one."""
    return ["hosts", *lab[:2], *lab[3].split(",")]


class Terminal:
    """A program that has this as its terminal; its answers are what a person would type."""

    def __init__(self, words, env, cwd):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execvpe(words[0], words, env)
        self.seen = ""

    def read(self, seconds):
        if select.select([self.fd], [], [], seconds)[0]:
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                data = b""
            self.seen += data.decode("utf-8", "replace")
            return bool(data)
        return None

    def until(self, text, seconds=e2e.PATIENCE):
        end = time.monotonic() + seconds
        while text not in self.seen:
            if time.monotonic() > end or self.read(0.2) is False:
                raise AssertionError("no '%s' in: %s" % (text, self.seen))

    def echo(self):
        return bool(termios.tcgetattr(self.fd)[3] & termios.ECHO)

    def type(self, text):
        os.write(self.fd, text.encode())

    def finish(self, seconds=120):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.read(0.2) is not False:
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


class Login(fault_lib.Hosts):
    def setUp(self):
        super().setUp()
        for name in ("a", "b", "c"):
            self.host(name)
        self.keygen("locked", "-N", SECRET)
        self.accept("locked")

    def keygen(self, name, *words):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-C", name, "-f", self.path("sshd/" + name)] +
                       list(words), check=True, stdin=subprocess.DEVNULL)

    def accept(self, key):
        """All servers take this key and no other."""
        for h in self.hosts:
            with open(self.path("sshd/" + key + ".pub"), encoding="ascii") as pub, \
                    open(self.path("sshd/%s/authorized_keys" % h.name), "w", encoding="ascii") as out:
                out.write(pub.read())
        with open(self.path("sshd/ssh_config"), "r+", encoding="ascii") as f:
            text = f.read().replace(self.path("sshd/id") + "\n", self.path("sshd/" + key) + "\n")
            f.seek(0)
            f.truncate()
            f.write(text)

    def all_hosts(self, **entry):
        return self.lab_of({h.name: entry for h in self.hosts})

    def run_words(self, **entry):
        return ["run", self.suite([self.calls()], repeat={"iterations": 1}), "--kernel", "k=running", "-v", "-v",
                *self.all_hosts(**entry)]

    def terminal(self, *words):
        env = dict(self.env, TERM="xterm")
        return Terminal([e2e.KAB, *words], env, self.dir)

    def asked(self, said):
        return said.count("Passphrase for key")

    def assert_secret_is_nowhere(self, *texts):
        for text in texts:
            self.assertNotIn(SECRET, text)
        for folder, _, names in os.walk(self.dir):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.isfile(path) and not os.path.islink(path):
                    with open(path, "rb") as f:
                        self.assertNotIn(SECRET.encode(), f.read(), path)

    def test_asked_once_at_a_terminal(self):
        for entry in ({}, {"transport": "openssh"}):
            with self.subTest(**entry):
                if os.path.exists(self.db):
                    os.unlink(self.db)
                t = self.terminal(*self.run_words(**entry))
                t.until("Passphrase for key '%s': " % self.path("sshd/locked"))
                self.assertFalse(t.echo(), "what is typed is not shown")
                # A slip, taken back; another, begun anew.
                t.type("oops\x15" + SECRET + "xy\b\x7f\r")
                status = t.finish()
                self.assertEqual(status, 0, t.seen)
                self.assertEqual(self.asked(t.seen), 1, "once for three hosts, two connections each")
                self.assert_exactly_once(3)
                self.assert_secret_is_nowhere(t.seen)
                self.assertEqual([w for w in e2e.processes().values() if "ssh-agent" in w], [])
                self.assert_hosts_clean()

    def test_wrong_passphrase(self):
        t = self.terminal(*hosts_of(self.all_hosts()))
        for n in range(3):
            t.until(("Wrong. " if n else "") + "Passphrase for key")
            t.seen = t.seen.split("Passphrase for key", 1)[1]
            t.until("': ")
            t.type("wrong%d\n" % n)
        status = t.finish()
        self.assertEqual(self.asked(t.seen), 0, "three times, not once for each host")
        self.assertIn("has another passphrase than the one given", t.seen)
        self.assertNotIn("wrong2", t.seen)
        self.assertEqual(status, 4, t.seen)

    def test_interrupted_at_the_question(self):
        t = self.terminal(*self.run_words())
        t.until("Passphrase for key")
        self.assertFalse(t.echo())
        t.type("half\x03")
        status = t.finish()
        self.assertEqual(status, 130, t.seen)
        self.assertEqual(self.asked(t.seen), 1)
        self.assertFalse(os.path.exists(self.db), "nothing was begun")

    def test_without_a_terminal(self):
        # `start` gives kab a session of its own: there is none.
        r = self.kab(*self.run_words())
        self.assertEqual(r.status, 4)
        self.assertRegex(r.err, "host '[abc]' would take a key from user 'root', but .*/locked has a passphrase, is "
                         "not in the agent, and there is no terminal to ask: ssh-add it, or set SSH_ASKPASS")
        program = self.standin("askpass", "echo x >>%s\ncat %s" % (self.path("asked"), self.path("phrase")))
        env = dict(self.env, SSH_ASKPASS=program)
        self.write("phrase", "nonsense\n")
        r = self.kab(*self.run_words(), env=env)
        self.assertEqual(r.status, 4)
        self.assertIn("has another passphrase than the one given", r.err)
        with open(self.path("asked"), encoding="ascii") as f:
            self.assertEqual(f.read(), "x\n", "a program is not asked again: it knows no other answer")
        os.unlink(self.path("asked"))
        self.write("phrase", SECRET + "\n")
        r = self.kab(*self.run_words(), env=env)
        self.assertEqual(r.status, 0, r.err)
        with open(self.path("asked"), encoding="ascii") as f:
            self.assertEqual(f.read(), "x\n")
        os.unlink(self.path("phrase"))
        self.assert_exactly_once(3)
        self.assert_secret_is_nowhere(r.err, r.out)

    def test_every_kind_of_key(self):
        """Ciphers that libssh2 cannot open, RSA, and old files whose public half is locked in, too."""
        program = self.standin("askpass", "printf '%%s\\n' '%s'" % SECRET.replace("'", "'\\''"))
        env = dict(self.env, SSH_ASKPASS=program)
        kinds = {"gcm": ("-Z", "aes256-gcm@openssh.com"), "cbc": ("-Z", "aes256-cbc"),
                 "chacha": ("-Z", "chacha20-poly1305@openssh.com"), "rsa": ("-t", "rsa"), "ecdsa": ("-t", "ecdsa"),
                 "pem": ("-t", "rsa", "-m", "PEM"), "ecpem": ("-t", "ecdsa", "-m", "PEM")}
        before = "locked"
        for name, words in kinds.items():
            with self.subTest(kind=name):
                self.keygen(name, "-N", SECRET, *words)
                text = self.read("sshd/ssh_config").replace(self.path("sshd/" + before) + "\n",
                                                            self.path("sshd/id") + "\n")
                self.write("sshd/ssh_config", text)
                self.accept(name)
                before = name
                if name in ("pem", "ecpem"):
                    os.unlink(self.path("sshd/%s.pub" % name))
                r = self.kab(*hosts_of(self.all_hosts()), env=env)
                self.assertEqual(r.status, 0, r.err)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return f.read()

    def test_the_server_does_not_wait_for_the_answer(self):
        impatient = e2e_ssh.Host(self, "d", args=("LoginGraceTime", "2")).start()
        self.before |= set(e2e.processes())
        self.hosts = [impatient]
        self.accept("locked")
        t = self.terminal(*hosts_of(self.all_hosts()))
        t.until("Passphrase for key")
        sessions = ["sh", fault_lib.PROGRAM, "sessions", self.path("sshd"), "d"]
        e2e.wait_for("the server to hang up",
                     lambda: not subprocess.run(sessions, capture_output=True, check=True).stdout.strip())
        t.type(SECRET + "\n")
        self.assertEqual(t.finish(), 0, t.seen)
        self.assertEqual(self.asked(t.seen), 1)

    def test_the_agent_ends_with_kab(self):
        program = self.standin("askpass", "printf '%%s\\n' '%s'" % SECRET.replace("'", "'\\''"))
        suite = self.suite([self.calls(sleep_s=20)], repeat={"iterations": 1})
        p = self.start("run", suite, "--kernel", "k=running", *self.all_hosts(),
                       env=dict(self.env, SSH_ASKPASS=program))
        e2e.wait_for("the benchmarks", lambda: all(self.count(h) for h in self.hosts), process=p)
        agents = [w for w in e2e.processes().values() if w.startswith("ssh-agent")]
        self.assertEqual(len(agents), 1, "one for all")
        folder = os.path.dirname(agents[0].split()[-1])
        self.assertEqual(os.stat(folder).st_mode & 0o777, 0o700)
        p.kill()
        e2e.wait_for("the agent to end", lambda: not [w for w in e2e.processes().values()
                                                      if w.startswith("ssh-agent")], 10)
        e2e.wait_for("its folder to go", lambda: not os.path.exists(folder), 10)

    def test_another_key_spares_the_question(self):
        self.keygen("open", "-N", "")
        with open(self.path("sshd/a/authorized_keys"), "a", encoding="ascii") as f:
            f.write(self.read("sshd/open.pub"))
        self.write("sshd/ssh_config", "Host a\n  IdentityFile %s\n  IdentityFile %s\n" % (
            self.path("sshd/locked"), self.path("sshd/open")) + self.read("sshd/ssh_config"))
        lab = self.lab_of({"a": {}})
        t = self.terminal(*hosts_of(lab))
        self.assertEqual(t.finish(), 0, t.seen)
        self.assertEqual(self.asked(t.seen), 0, t.seen)


class Methods(fault_lib.Hosts):
    """Servers that no key opens."""

    def setUp(self):
        super().setUp()
        # libssh2 1.10 loses a number for each login with an ecdsa key, and the list of methods when it is
        # asked for again. The slow unwinder is needed to see libssh2 behind libcrypto.
        leaks = self.write("leaks", "leak:libssh2.so\n")
        for name, more in (("ASAN_OPTIONS", "fast_unwind_on_malloc=0"),
                           ("LSAN_OPTIONS", "print_suppressions=0:suppressions=" + leaks)):
            self.env[name] = ":".join(w for w in (self.env.get(name), more) if w)

    def refused(self, name, **entry):
        r = self.kab(*hosts_of(self.lab_of({name: entry})))
        self.assertEqual(r.status, 4, r.err + r.out)
        return r.err + r.out

    def test_passwords_and_questions(self):
        self.server("password", "PubkeyAuthentication", "no", "PasswordAuthentication", "yes")
        text = self.refused("password")
        self.assertIn("takes no keys from user 'root', only: password; kab answers no question for a password: "
                      "allow PubkeyAuthentication in its sshd_config", text)
        self.server("both", "AuthenticationMethods", "publickey,password", "PasswordAuthentication", "yes")
        text = self.refused("both")
        self.assertIn("took a key from user 'root' and wants password as well", text)
        r = subprocess.run(["sh", fault_lib.PROGRAM, "start", self.path("sshd"), "questions",
                            "PubkeyAuthentication", "no", "KbdInteractiveAuthentication", "yes", "UsePAM", "yes"],
                           capture_output=True, text=True, check=False)
        self.before |= set(e2e.processes())
        if r.returncode == 0:
            self.assertIn("only: keyboard-interactive; kab answers no question", self.refused("questions"))

    def test_hardware_key(self):
        """Nobody has one here; what is read of its file is the public half, in the clear."""
        def field(data):
            return struct.pack(">I", len(data)) + data

        self.server("plain")
        public = field(b"sk-ssh-ed25519@openssh.com") + field(b"k" * 32) + field(b"ssh:")
        raw = b"openssh-key-v1\0" + field(b"none") + field(b"none") + field(b"") + struct.pack(">I", 1) + \
            field(public) + field(b"\1" * 64)
        self.write("sshd/fido", "-----BEGIN OPENSSH PRIVATE KEY-----\n%s-----END OPENSSH PRIVATE KEY-----\n"
                   % base64.encodebytes(raw).decode(), 0o600)
        with open(self.path("sshd/ssh_config"), encoding="ascii") as f:
            config = f.read()
        self.write("sshd/ssh_config", config.replace(self.path("sshd/id") + "\n", self.path("sshd/fido") + "\n"))
        self.assertIn("fido is a hardware key: set \"transport\": \"openssh\" for this host", self.refused("plain"))

    def test_certificates(self):
        """ecdsa by either transport, ed25519 by openssh, which the text proposes."""
        ca = self.path("sshd/ca")
        os.mkdir(self.path("sshd"))
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", ca], check=True)
        self.server("cert", "TrustedUserCAKeys", ca + ".pub")
        self.write("sshd/cert/authorized_keys", "")
        with open(self.path("sshd/ssh_config"), encoding="ascii") as f:
            config = f.read()
        for kind in ("ecdsa", "ed25519"):
            key = self.path("sshd/user_" + kind)
            subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", key], check=True)
            subprocess.run(["ssh-keygen", "-q", "-s", ca, "-I", "kab", "-n", "root", key + ".pub"], check=True)
            self.write("sshd/ssh_config", config.replace(self.path("sshd/id") + "\n", key + "\n"))
            for transport in ("ssh", "openssh"):
                with self.subTest(kind=kind, transport=transport):
                    r = self.kab(*hosts_of(self.lab_of({"cert": {"transport": transport}})))
                    if r.status and kind == "ed25519" and transport == "ssh":
                        # libssh2 before 1.11
                        self.assertIn("user_ed25519-cert.pub is a certificate that this transport cannot use: set "
                                      "\"transport\": \"openssh\"", r.err + r.out)
                    else:
                        self.assertEqual(r.status, 0, r.err + r.out)


if __name__ == "__main__":
    e2e.main()
