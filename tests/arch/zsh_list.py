#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What zsh lists when a line is to be completed. It does so only at a terminal: this gives it one.

zsh_list.py FOLDER LINE: FOLDER has the function _kab."""
import os
import pty
import re
import select
import sys
import time


def read(fd, until, quiet_s):
    """Up to a text, or until nothing has come for a while; ten seconds at most."""
    out, end = "", time.monotonic() + 10
    while time.monotonic() < end and not (until and until in out):
        if not select.select([fd], [], [], quiet_s)[0]:
            if until:
                continue
            break
        try:
            out += os.read(fd, 65536).decode("utf-8", "replace")
        except OSError:
            break
    return out


def main():
    folder, line = sys.argv[1:]
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "dumb"
        os.execvp("zsh", ["zsh", "-f", "-i"])
    setup = (f"PS1=; fpath=({folder} $fpath); autoload -Uz compinit; compinit -u -d {folder}/dump; LISTMAX=10000; "
             "stty columns 60 rows 500; bindkey '^I' list-choices; print RE''ADY\n")
    os.write(fd, setup.encode())
    if "READY" not in read(fd, "READY", 0.2):
        sys.exit("zsh did not start")
    read(fd, None, 0.2)
    os.write(fd, (line + "\t").encode())
    shown = read(fd, "\n", 1)
    shown += read(fd, None, 1)
    os.close(fd)
    os.waitpid(pid, 0)
    for row in shown.split("\n")[1:]:
        row = row.strip()
        # "run  -- what it does", or several words beside one another.
        for word in [row.split()[0]] if " -- " in row else row.split():
            if not line.endswith(word) or " -- " in row:
                print(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", word))


if __name__ == "__main__":
    main()
