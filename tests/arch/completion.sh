#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The completion script of one shell, in that shell. Usage: completion.sh KAB SOURCE_DIR bash|zsh|fish
set -u
kab=$1 root=$2 shell=$3
command -v "$shell" >/dev/null || { echo "skipped: $shell is not installed"; exit 77; }
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
PATH=$(dirname "$kab"):$PATH
export HOME=$tmp XDG_CONFIG_HOME=$tmp XDG_DATA_HOME=$tmp
cd "$root" || exit 1
status=0
"$kab" completion "$shell" >"$tmp/script" || exit 1
printf 'kernel,value\na,1\nb,2\n' | "$kab" -q import --csv - --name one-run >"$tmp/run" || exit 1
"$shell" -n "$tmp/script" || { echo "$shell does not accept the script"; exit 1; }

check() { # LINE, its last word to be completed; EXPECTED word; UNEXPECTED word or nothing
	complete_"$shell" "$1" >"$tmp/words" 2>"$tmp/err"
	if [ -s "$tmp/err" ]; then
		echo "'$1': $(head -n 1 "$tmp/err")"
		status=1
	fi
	if ! grep -qxe "$2" "$tmp/words"; then
		echo "'$1': expected '$2' among: $(tr '\n' ' ' <"$tmp/words")"
		status=1
	fi
	if [ -n "${3-}" ] && grep -qxe "$3" "$tmp/words"; then
		echo "'$1': '$3' does not belong there"
		status=1
	fi
}

complete_bash() {
	bash -c '. "$1"; read -ra COMP_WORDS <<<"$2"; [[ $2 == *" " ]] && COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _kab; printf "%s\n" "${COMPREPLY[@]}"' - "$tmp/script" "$1"
}

complete_fish() {
	fish --no-config -c 'source $argv[1]; complete -C $argv[2] | string split -f1 \t' "$tmp/script" "$1"
}

complete_zsh() {
	cp "$tmp/script" "$tmp/_kab"
	/usr/bin/env python3 "$root/tests/arch/zsh_list.py" "$tmp" "$1"
}

check 'kab ru' run resume
check 'kab ' suites
check 'kab run --se' --seed --gate
check 'kab run --co' --color
check 'kab run hackbench-g' hackbench-groups quick
check 'kab runners syn' synthetic
check 'kab --color ' never run
check 'kab report --style min' minmax plain
check 'kab render mini' ministat
check 'kab run quick --host lo' local
check 'kab report --metric latency_a' latency_avg
check 'kab run quick --condition sm' smt=
check 'kab report one-ru' one-run --help
check 'kab completion ' fish
check 'kab --db x.db schema ' lab
exit $status
