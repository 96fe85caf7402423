#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Power button of a lab guest: qmp.py SOCKET COMMAND.

Any QMP command without arguments works: system_reset, system_powerdown, stop (freeze: a hang
without a panic), cont, query-status, quit. After system_reset a guest that is frozen or has
powered itself off runs again. Exit status 0, 1 (the reason on stderr), or 2 for wrong usage.
"""
import json
import socket
import sys

TIMEOUT_S = 20


def command(stream, name):
    stream.write(json.dumps({"execute": name}) + "\n")
    stream.flush()
    for line in stream:
        reply = json.loads(line)
        if "return" in reply:
            return reply["return"]
        if "error" in reply:
            raise OSError("%s: %s" % (name, reply["error"].get("desc")))
        # anything else is an event, which may come before the reply
    raise OSError("%s: the guest's process closed the connection" % name)


def main(argv):
    if len(argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(TIMEOUT_S)
        sock.connect(argv[1])
        stream = sock.makefile("rw", encoding="utf-8")
        stream.readline()  # greeting
        command(stream, "qmp_capabilities")
        result = command(stream, argv[2])
        if argv[2] == "system_reset" and not command(stream, "query-status")["running"]:
            command(stream, "cont")
        if result:
            print(json.dumps(result))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv))
    except (OSError, ValueError) as error:
        print("qmp: %s: %s" % (sys.argv[1] if len(sys.argv) > 1 else "", error), file=sys.stderr)
        sys.exit(1)
