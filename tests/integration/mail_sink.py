# SPDX-License-Identifier: GPL-3.0-or-later
"""An SMTP server (aiosmtpd) that keeps what arrives: mail_sink.py FOLDER [starttls] [auth] [refuse].

Prints its port. Every mail becomes FOLDER/N.eml, as it came, and FOLDER/N.json with the envelope. With
starttls, FOLDER/ca.pem is a certificate to trust, and nothing is taken without encryption; with auth, only
user "tester" with the password "s3cret word" may send; with refuse, recipients that begin with "no" are refused.
"""
import asyncio
import json
import os
import ssl
import subprocess
import sys

from aiosmtpd.smtp import SMTP, AuthResult

FOLDER, OPTIONS = sys.argv[1], sys.argv[2:]


class Keep:
    def __init__(self):
        self.n = 0

    async def handle_RCPT(self, server, session, envelope, address, options):
        if "refuse" in OPTIONS and address.startswith("no"):
            return "550 5.1.1 nobody here by that name"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        self.n += 1
        base = os.path.join(FOLDER, str(self.n))
        with open(base + ".eml", "wb") as f:
            f.write(envelope.original_content)
        with open(base + ".json", "w", encoding="ascii") as f:
            json.dump({"from": envelope.mail_from, "to": envelope.rcpt_tos, "tls": session.ssl is not None,
                       "user": session.authenticated}, f)
        return "250 OK"


def authenticate(server, session, envelope, mechanism, data):
    good = getattr(data, "login", b"") == b"tester" and getattr(data, "password", b"") == b"s3cret word"
    return AuthResult(success=good, handled=False)


def context():
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", FOLDER + "/key.pem",
                    "-out", FOLDER + "/ca.pem"], check=True, capture_output=True)
    ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ctx.load_cert_chain(FOLDER + "/ca.pem", FOLDER + "/key.pem")
    return ctx


async def main():
    handler, tls = Keep(), context() if "starttls" in OPTIONS else None
    auth = {"authenticator": authenticate, "auth_required": True, "auth_require_tls": tls is not None} \
        if "auth" in OPTIONS else {}

    def one():
        return SMTP(handler, hostname="sink.test", tls_context=tls, require_starttls=tls is not None, **auth)
    server = await asyncio.get_running_loop().create_server(one, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
