#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The synthetic benchmark: draws from a stated distribution, takes the time that it is told to
# take, and fails when it is told to fail. Arguments are NAME=VALUE; runs in any POSIX sh and awk.
#
# With a seed the draws depend only on the seed, the boot and how often these arguments were used
# in this run before; a small file in /var/tmp keeps that (without a run: beside this folder).
set -u
mean=100 sd=1 dist=normal unit=s samples=1 seed='' boot_sd=0 shift_if='' shift_pct=0
sleep_s=0 work=0 fail_every=0 fail_mode=exit exit_status=1 noise_lines=0 state=''
for arg in "$@"; do
	value=${arg#*=}
	case $arg in
	mean=*) mean=$value ;;
	sd=*) sd=$value ;;
	dist=*) dist=$value ;;
	unit=*) unit=$value ;;
	samples=*) samples=$value ;;
	seed=*) seed=$value ;;
	boot_sd=*) boot_sd=$value ;;
	shift_if=*) shift_if=$value ;;
	shift_pct=*) shift_pct=$value ;;
	sleep_s=*) sleep_s=$value ;;
	work=*) work=$value ;;
	fail_every=*) fail_every=$value ;;
	fail_mode=*) fail_mode=$value ;;
	exit_status=*) exit_status=$value ;;
	noise_lines=*) noise_lines=$value ;;
	state=*) state=$value ;;
	*)
		echo "synthetic: unknown argument '$arg'" >&2
		exit 2
		;;
	esac
done

echo "synthetic 1"
count=0
if [ -n "$seed" ] || [ "$fail_every" -gt 0 ]; then
	if [ -z "$state" ]; then
		key=$(printf '%s\n' "$@" | awk '
			BEGIN { for (i = 32; i < 127; i++) code[sprintf("%c", i)] = i }
			{ for (i = 1; i <= length($0); i++)
				h = (h * 257 + code[substr($0, i, 1)] + 1) % 2147483647 }
			END { printf "%d", h }')
		state=../synthetic-$key.count
		if [ -n "${KAB_RUN_DIR-}" ]; then
			# Named kab-RUN-STEP, and gone with the step: count in a place of the run.
			run=${KAB_RUN_DIR%/}
			run=${run##*/}
			state=${TMPDIR:-/var/tmp}/${run%-*}-$key.count
		fi
	fi
	[ -r "$state" ] && read -r count <"$state"
	count=$((count + 1))
	if ! echo "$count" >"$state"; then
		echo "synthetic: cannot write the counter '$state'" >&2
		exit 2
	fi
fi

start=$seed
if [ -z "$start" ]; then
	start=$(od -An -N4 -tu4 /dev/urandom 2>/dev/null | tr -d ' ')
	[ -n "$start" ] || start=$(date +%s)$$
fi
boot=none
[ -r /proc/sys/kernel/random/boot_id ] && read -r boot </proc/sys/kernel/random/boot_id

shifted=0
if [ -n "$shift_if" ]; then
	case $shift_if in
	/*) [ -e "$shift_if" ] && shifted=1 ;;
	*)
		case " $(uname -r) $(cat /proc/cmdline 2>/dev/null) " in
		*" $shift_if "*) shifted=1 ;;
		esac
		;;
	esac
fi

echo "$dist around $mean $unit, deviation $sd"
i=0
while [ "$i" -lt "$noise_lines" ]; do
	i=$((i + 1))
	echo "noise line $i of $noise_lines"
done
[ "$sleep_s" = 0 ] || sleep "$sleep_s"

if [ "$fail_every" -gt 0 ] && [ $((count % fail_every)) -eq 0 ]; then
	case $fail_mode in
	exit)
		echo "synthetic: told to fail in call $count" >&2
		exit "$exit_status"
		;;
	nothing)
		echo "end"
		exit 0
		;;
	truncated) exit 0 ;;
	signal) kill -KILL $$ ;;
	hang) exec sleep 86400 ;;
	esac
fi

# Park and Miller's generator: its products stay below 2^53, so every awk gives the same stream.
# Roots and logarithms by hand: small awks are built without mathematics.
awk -v mean="$mean" -v sd="$sd" -v dist="$dist" -v unit="$unit" -v samples="$samples" \
	-v seed="$start" -v count="$count" -v boot="$boot" -v boot_sd="$boot_sd" \
	-v shifted="$shifted" -v shift_pct="$shift_pct" -v work="$work" '
function root(x,    r, i) {
	if (x <= 0)
		return 0
	r = x > 1 ? x : 1
	for (i = 0; i < 60; i++)
		r = (r + x / r) / 2
	return r
}
function ln(x,    n, z, term, sum, i) {
	for (n = 0; x > 1.5; n++)
		x /= 2
	for (; x < 0.75; n--)
		x *= 2
	z = (x - 1) / (x + 1)
	term = z
	for (i = 1; i < 40; i += 2) {
		sum += term / i
		term *= z * z
	}
	return 2 * sum + n * 0.6931471805599453
}
function power_of_e(x,    n, term, sum, i) {
	for (n = 0; x > 0.5 || x < -0.5; n++)
		x /= 2
	term = sum = 1
	for (i = 1; i < 20; i++) {
		term *= x / i
		sum += term
	}
	for (; n > 0; n--)
		sum *= sum
	return sum
}
function uniform() {
	state = (state * 16807) % 2147483647
	return state / 2147483647
}
function start(a, b,    i) {
	state = ((a % 1000003) * 2147 + (b % 1000003) * 48271 + 12345) % 2147483646 + 1
	for (i = 0; i < 8; i++)
		uniform()
}
function hash(text,    i, h) {
	for (i = 1; i <= length(text); i++)
		h = (h * 31 + index("0123456789abcdef-", substr(text, i, 1))) % 1000003
	return h
}
function normal(    u, v, s) {
	do {
		u = 2 * uniform() - 1
		v = 2 * uniform() - 1
		s = u * u + v * v
	} while (s >= 1 || s == 0)
	return u * root(-2 * ln(s) / s)
}
function draw(    s2, half) {
	if (dist == "normal")
		return mean + sd * normal()
	if (dist == "lognormal") {
		s2 = ln(1 + sd * sd / (mean * mean))
		return power_of_e(ln(mean) - s2 / 2 + root(s2) * normal())
	}
	if (dist == "bimodal") {
		half = uniform() < 0.5 ? -0.95 : 0.95
		return mean + sd * (half + root(1 - 0.95 * 0.95) * normal())
	}
	if (dist == "uniform")
		return mean + sd * root(3) * (2 * uniform() - 1)
	if (dist == "exponential")
		return mean + sd * (-ln(uniform()) - 1)
	return mean
}
BEGIN {
	for (i = 0; i < work; i++)
		spin = (spin * 16807 + 1) % 2147483647
	start(hash(boot), seed)
	effect = boot_sd * normal()
	start(seed, count)
	for (i = 0; i < samples; i++) {
		x = draw() + effect
		if (shifted)
			x *= 1 + shift_pct / 100
		printf "value = %.6f %s\n", x, unit
	}
}' || exit 2
echo "end"
