#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Unit tests under valgrind's memcheck, from a plain debug build. Arguments: a build folder, and a regular
# expression of test names to leave out (those that take minutes under valgrind).
set -eu
build=${1:?usage: tests/memcheck.sh BUILD [LEAVE-OUT]}
out=${2:-'^$'}
command -v valgrind >/dev/null || { echo "memcheck.sh: skipped: no valgrind"; exit 77; }
list=$(ctest --test-dir "$build" -L unit -E "$out" --show-only=json-v1 | python3 -c '
import json, shlex, sys
for t in json.load(sys.stdin)["tests"]:
    # Scripts would have valgrind look at their interpreter.
    if "command" in t and open(t["command"][0], "rb").read(4) == b"\x7fELF" and "python" not in t["command"][0]:
        print(t["name"], shlex.join(t["command"]))
')
status=0
n=0
while read -r name command; do
	n=$((n + 1))
	log=$build/memcheck-$name.log
	dir=$build/memcheck.d
	mkdir -p "$dir"
	# 77: the test says that it cannot run here.
	rc=0
	(cd "$dir" && eval "exec valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,indirect \
		--errors-for-leak-kinds=definite,indirect --track-fds=no --log-file='$log' $command") \
		</dev/null >"$build/memcheck-$name.out" 2>&1 || rc=$?
	# Lines with "--" are about valgrind itself, such as system calls that it does not know.
	if grep -q '^==' "$log" || [ $rc = 99 ]; then
		echo "memcheck.sh: $name:"
		grep '^==' "$log" | head -n 40
		status=1
	elif [ $rc != 0 ] && [ $rc != 77 ]; then
		echo "memcheck.sh: $name: exit status $rc without a complaint of valgrind (too slow for its deadlines?)"
	fi
done <<LIST
$list
LIST
echo "memcheck.sh: $n programs"
exit $status
