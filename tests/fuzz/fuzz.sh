#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# All fuzzers one after the other, built with clang in build/fuzz. New inputs are collected there; the
# corpus of the repository is only read.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build/fuzz
seconds=100
each=
only=

usage() {
	cat <<TEXT
usage: tests/fuzz/fuzz.sh [--total SECONDS | --each SECONDS] [NAME...]

  --total SECONDS  for all of them together (100)
  --each SECONDS   for each

Without a NAME all fuzzers. Returns 77 where there is no clang with libFuzzer. An input that was found is
written to build/fuzz/found-NAME-*: it belongs into tests/fuzz/corpus/NAME once the fault is gone.
TEXT
}

while [ $# -gt 0 ]; do
	case $1 in
	--total | --each)
		[ $# -gt 1 ] || { usage >&2; exit 2; }
		seconds=$2
		each=
		[ "$1" = --total ] || each=1
		shift
		;;
	-h | --help) usage; exit 0 ;;
	-*) usage >&2; exit 2 ;;
	*) only="$only $1" ;;
	esac
	shift
done

say() { printf 'fuzz.sh: %s\n' "$*"; }

clang=$(command -v clang-14 || command -v clang || true)
mkdir -p "$build"
if [ -z "$clang" ] || ! echo 'int LLVMFuzzerTestOneInput(void *p, unsigned long n) { return !p && n; }' |
	"$clang" -x c -fsanitize=fuzzer,address -o "$build/probe" - 2>"$build/probe.log"; then
	say "skipped: no clang with libFuzzer (libclang-rt-14-dev)"
	exit 77
fi
names=${only:-$(sed -n 's/^kab_fuzz(\([a-z_]*\) .*/\1/p' "$root/tests/fuzz/CMakeLists.txt")}
launcher=
command -v ccache >/dev/null && launcher=-DCMAKE_C_COMPILER_LAUNCHER=ccache
# shellcheck disable=SC2046,SC2086 # lists of words
if ! { cmake -S "$root" -B "$build" -G Ninja -DCMAKE_C_COMPILER="$clang" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	-DKAB_FUZZ=ON -DKAB_SANITIZE=address,undefined ${launcher:+"$launcher"} &&
	cmake --build "$build" --target $(printf 'fuzz_%s ' $names); } >"$build/build.log" 2>&1; then
	tail -n 40 "$build/build.log"
	say "the build failed; all of its output is in $build/build.log"
	exit 1
fi

# Sanitizers place their shadow where more random address bits would put the program.
fixed=
[ "$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 28)" -le 28 ] || fixed="setarch -R"
# A short run is the same each time, so that a change does not fail by chance; a long one looks for more.
seed=0
if [ -z "$each" ]; then
	seed=1
	# shellcheck disable=SC2086 # a list of words
	set -- $names
	seconds=$((seconds / $#))
	[ "$seconds" -gt 0 ] || seconds=1
fi
status=0
for name in $names; do
	corpus=$root/tests/fuzz/corpus/$name
	more=$(sed -n "s/^kab_fuzz($name .* MORE \(.*\))/\1/p" "$root/tests/fuzz/CMakeLists.txt")
	mkdir -p "$build/corpus/$name"
	# shellcheck disable=SC2086 # words or none
	if $fixed "$build/tests/fuzz/fuzz_$name" -max_total_time="$seconds" -seed=$seed -timeout=30 -rss_limit_mb=2048 -verbosity=0 \
		-print_final_stats=1 -dict="$root/tests/fuzz/dict/$name.dict" -artifact_prefix="$build/found-$name-" \
		"$build/corpus/$name" "$corpus" ${more:+"$root/$more"} >"$build/$name.log" 2>&1; then
		say "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$name.log") inputs in $seconds s"
	else
		tail -n 40 "$build/$name.log"
		say "FAILED: $name; its input is $build/found-$name-*"
		status=1
	fi
done
exit $status
