# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of faults share: hosts behind real servers, and a link that can be spoilt."""
import json
import os
import select
import socket
import subprocess
import threading
import time
import unittest

import e2e_lib as e2e
import e2e_ssh

PROGRAM = e2e_ssh.SSHD


class Link(threading.Thread):
    """A TCP relay to 127.0.0.1:PORT. Each connection, counted from 1, may be given a fault:
    ("freeze", n): after n bytes to the server nothing goes either way, and nothing is closed;
    ("reset", n): after n bytes both ends are reset; ("slow", bytes a second)."""

    def __init__(self, port, faults=None):
        super().__init__(daemon=True)
        self.target, self.faults, self.n, self.alive = port, faults or {}, 0, True
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(50)
        self.port = self.listener.getsockname()[1]
        self.passed = {}
        self.start()

    def run(self):
        while self.alive:
            if not select.select([self.listener], [], [], 0.1)[0]:
                continue
            client = self.listener.accept()[0]
            self.n += 1
            try:
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                client.close()
                continue
            fault = self.faults.get(self.n, self.faults.get("all"))
            threading.Thread(target=self.carry, args=(client, server, fault, self.n),
                             daemon=True).start()

    def carry(self, client, server, fault, number):
        kind, limit = fault or (None, 0)
        up = 0
        try:
            while self.alive:
                for s in select.select([client, server], [], [], 0.1)[0]:
                    data = s.recv(1024 if kind == "slow" else 65536)
                    if not data:
                        return
                    if s is client:
                        up += len(data)
                        self.passed[number] = up
                    if kind == "freeze" and up >= limit:
                        while self.alive:
                            time.sleep(0.1)
                        return
                    if kind == "reset" and up >= limit:
                        for end in (client, server):
                            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                           b"\1\0\0\0\0\0\0\0")
                        return
                    if kind == "slow":
                        time.sleep(len(data) / limit)
                    (server if s is client else client).sendall(data)
        except OSError:
            pass
        finally:
            client.close()
            server.close()

    def close(self):
        self.alive = False
        self.join()
        self.listener.close()


@unittest.skipUnless(e2e.is_root(), "needs root for its servers")
class Hosts(e2e.Case):
    host = e2e_ssh.Ssh.host
    lab = e2e_ssh.Ssh.lab
    calls = e2e_ssh.Ssh.calls
    count = e2e_ssh.Ssh.count
    assert_hosts_clean = e2e_ssh.Ssh.assert_hosts_clean

    def setUp(self):
        super().setUp()
        self.hosts, self.links = [], []

    def tearDown(self):
        for link in self.links:
            link.close()
        if os.path.isdir(self.path("sshd")):
            subprocess.run(["sh", PROGRAM, "stop", self.path("sshd")], check=False)
        super().tearDown()

    def server(self, name, *options):
        """A plain server without a world of its own: a jump host."""
        r = subprocess.run(["sh", PROGRAM, "start", self.path("sshd"), name] + list(options),
                           capture_output=True, text=True, check=True)
        self.before |= set(e2e.processes())
        return int(r.stdout)

    def port(self, name):
        with open(self.path("sshd/%s/sshd_config" % name), encoding="ascii") as f:
            return int([line for line in f if line.startswith("Port ")][0].split()[1])

    def alias(self, name, target, port, *lines):
        """Host NAME: the server of TARGET by another port or with more settings."""
        with open(self.path("sshd/ssh_config"), "r+", encoding="ascii") as f:
            old = f.read()
            f.seek(0)
            f.write("Host %s\n  HostName 127.0.0.1\n  Port %d\n  HostKeyAlias [127.0.0.1]:%d\n"
                    "  User root\n  IdentityFile %s\n  IdentitiesOnly yes\n  IdentityAgent none\n"
                    "  UserKnownHostsFile %s\n%s" % (name, port, self.port(target),
                                                     self.path("sshd/id"),
                                                     self.path("sshd/known_hosts"),
                                                     "".join("  %s\n" % w for w in lines)) + old)

    def link(self, name, target, faults):
        """Host NAME: the server of TARGET behind a spoilt link."""
        link = Link(self.port(target), faults)
        self.links.append(link)
        self.alias(name, target, link.port)
        return link

    def lab_of(self, entries):
        """{name: entry}; the words for the command line."""
        config = self.path("sshd/ssh_config")
        doc = {name: dict({"ssh": name, "ssh_config": config}, **more)
               for name, more in entries.items()}
        return ["--lab", self.write("lab.json", json.dumps({"hosts": doc})), "--host",
                ",".join(doc)]

    def events(self, name="events"):
        with open(self.path(name), encoding="utf-8") as f:
            return [json.loads(line) for line in f]
