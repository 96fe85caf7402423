#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Proves the lab itself: one-shot boots of both kernels, panic, power cycle, hang. Prints times.
# Called by lab.sh selftest [arch...] [-- options].
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
boot_wait=300

dir=$(mktemp -d "${TMPDIR:-/tmp}/kab-lab.XXXXXX") || exit 1
# shellcheck disable=SC2329  # called by the trap
cleanup() {
	[ ! -e "$dir/run/supervisor.pid" ] || "$here/lab.sh" stop "$dir/run"
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

arches=() options=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do arches+=("$1"); shift; done
[ $# = 0 ] || { shift; options=("$@"); }
[ "${#arches[@]}" != 0 ] || arches=(amd64 arm64 ppc64le)

now_ms() { echo $((${EPOCHREALTIME/./} / 1000)); }
guest() { timeout 120 ssh -F "$dir/run/ssh_config" -o ConnectTimeout=4 "$@" 2>/dev/null; }
field() { # field ARCH ROLE KEY
	python3 -c 'import json, sys
f, arch, role, key = sys.argv[1:]
a = json.load(open(f))[arch]
print(next(k[key] for k in a["kernels"] if k["role"] == role))' "$dir/run/kernels.json" "$@"
}

report() { printf '%-8s %-40s %6s.%d s  %s\n' "$1" "$2" $(($3 / 1000)) $(($3 / 100 % 10)) "$4"; }
# check ARCH STEP BEGAN CONDITION...: one line of the table; the last words are a test command.
check() {
	local arch=$1 step=$2 took=$(($(now_ms) - $3))
	shift 3
	if test "$@"; then
		report "$arch" "$step" $took ok
	else
		report "$arch" "$step" $took "FAILED: not $*"
		echo "$arch: $step" >>"$dir/failed"
	fi
}

boot_id() { guest "$1" cat /proc/sys/kernel/random/boot_id; }
# Wait for another boot than the given one; prints the new id.
new_boot() {
	local end=$((SECONDS + boot_wait)) id
	while [ $SECONDS -lt $end ]; do
		id=$(timeout 15 ssh -F "$dir/run/ssh_config" -o ConnectTimeout=4 "$1" \
			cat /proc/sys/kernel/random/boot_id 2>/dev/null)
		[ -z "$id" ] || [ "$id" = "$2" ] || { echo "$id"; return 0; }
		sleep 0.5
	done
	return 1
}
reboot_into() { # reboot_into ARCH ENTRY: select once, then reboot
	guest "$1" "grub-reboot --boot-directory=/boot '$2' && sync && (sleep 0.2; reboot) >/dev/null 2>&1 </dev/null &"
}
# Wait for a text that is new on the console: console_says ARCH BYTES TEXT
console_says() {
	local end=$((SECONDS + boot_wait))
	until tail -c "+$2" "$dir/run/$1/console.log" | grep -q "$3"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.5
	done
}
console_size() { stat -c %s "$dir/run/$1/console.log"; }
power_cycle() { "$here/qmp.py" "$dir/run/$1/qmp.sock" system_reset; }

one_arch() {
	local a=$1 base id old t size out
	base=$(field "$a" baseline release)

	t=$(now_ms)
	out=$(guest "$a" "hackbench -g 1 -f 10 -l 100" | sed -n 's/^Time: //p')
	check "$a" "hackbench -g 1 -f 10 -l 100: ${out}s" "$t" -n "$out"
	t=$(now_ms)
	out=$(guest "$a" "stress-ng --cpu 1 --cpu-ops 5 2>&1 | grep -c 'successful run'")
	check "$a" "stress-ng" "$t" "$out" = 1
	old=$(boot_id "$a")
	guest "$a" "echo kept >/var/tmp/kept; sync"

	for role in test baseline; do
		t=$(now_ms)
		reboot_into "$a" "$(field "$a" $role entry)"
		id=$(new_boot "$a" "$old")
		out=$(guest "$a" uname -r)
		check "$a" "one-shot to $out" "$t" "$out" = "$(field "$a" $role release)" -a -n "$id"
		old=$id
		out=$(guest "$a" "grub-editenv /boot/grub/grubenv list | sed -n 's/^next_entry=//p'")
		[ -z "$out" ] || check "$a" "next_entry cleared" "$t" -z "$out"
	done
	# A one-shot to the other kernel must not stick: from there a plain reboot gives the default.
	reboot_into "$a" "$(field "$a" test entry)"
	old=$(new_boot "$a" "$old")
	t=$(now_ms)
	guest "$a" "(sleep 0.2; reboot) >/dev/null 2>&1 </dev/null &"
	old=$(new_boot "$a" "$old")
	out=$(guest "$a" uname -r)
	check "$a" "plain reboot: default again" "$t" "$out" = "$base"

	size=$(console_size "$a") t=$(now_ms)
	guest "$a" "(sleep 0.2; echo c >/proc/sysrq-trigger) >/dev/null 2>&1 </dev/null &"
	console_says "$a" "$size" "end Kernel panic"
	check "$a" "sysrq crash: panic on the console" "$t" $? = 0
	t=$(now_ms)
	power_cycle "$a"
	id=$(new_boot "$a" "$old")
	out="$(guest "$a" uname -r) $(guest "$a" cat /var/tmp/kept)"
	check "$a" "power cycle: default, files kept" "$t" "$out" = "$base kept"
	old=$id

	for out in "kab-lab-panic|end Kernel panic" "kab-lab-hang|lab: hanging as asked"; do
		size=$(console_size "$a") t=$(now_ms)
		reboot_into "$a" "${out%|*}"
		console_says "$a" "$size" "${out#*|}"
		check "$a" "entry ${out%|*}" "$t" $? = 0
		t=$(now_ms)
		power_cycle "$a"
		id=$(new_boot "$a" "$old")
		check "$a" "power cycle after it" "$t" "$(guest "$a" uname -r)" = "$base"
		old=$id
	done
}

began=$(now_ms)
"$here/lab.sh" start "$dir/run" "${arches[@]}" -- owner=$$ "${options[@]}" || exit 1
report all "start until all answer" $(($(now_ms) - began)) ok
for a in "${arches[@]}"; do one_arch "$a" >"$dir/$a.out" & done
wait
for a in "${arches[@]}"; do cat "$dir/$a.out"; done
report all "whole selftest" $(($(now_ms) - began)) "${#arches[@]} guests at once"
if [ -e "$dir/failed" ]; then
	echo "FAILED: $(tr '\n' ';' <"$dir/failed")"
	exit 1
fi
