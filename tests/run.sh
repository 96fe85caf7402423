#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# All tests: plain, under AddressSanitizer with UndefinedBehaviorSanitizer, and what has threads under
# ThreadSanitizer. Ends with the line of ctest that counts them all.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
only=
quick=
fuzz_s=${KAB_FUZZ_SECONDS:-100}
unset KAB_FUZZ_SECONDS # kab would warn that it does not know it
presets="release asan tsan"
# Many tests wait for most of their time.
jobs=$(($(nproc) + 4))

usage() {
	cat <<TEXT
usage: tests/run.sh [--quick] [--plain] [--only REGEX] [--jobs N]

  --quick        leave out what takes minutes: emulated hosts, the calibration of the statistics, fuzzing
  --plain        without the sanitizers and the fuzzers
  --only REGEX   tests whose names match
  --jobs N       so many at a time (four more than there are CPUs)

Fuzzing takes 100 seconds, or KAB_FUZZ_SECONDS, for all fuzzers together (0: none).
Installs what the tests need when root; otherwise it prints the line to run. Tests that cannot run here
are listed with the reason. Exits with 1 when a test failed.
TEXT
}

while [ $# -gt 0 ]; do
	case $1 in
	--quick) quick=1 ;;
	--plain) presets=release ;;
	--only | --jobs)
		[ $# -gt 1 ] || { usage >&2; exit 2; }
		if [ "$1" = --only ]; then only=$2; else jobs=$2; fi
		shift
		;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
	shift
done

say() { printf 'run.sh: %s\n' "$*"; }

# shellcheck source=cmake/packages.sh
. "$root/cmake/packages.sh"
missing=$(packages_missing build bench test)
if [ -n "$missing" ]; then
	# shellcheck disable=SC2086 # a list of words
	if [ "$(id -u)" -ne 0 ] || ! packages_install $missing; then
		say "not installed; to have all tests: sudo apt-get install $missing"
	fi
	missing=$(packages_missing build)
	[ -z "$missing" ] || { say "cannot build without: $missing"; exit 4; }
fi

# Sanitizers place their shadow where more random address bits would put the program.
fixed=
bits=$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 28)
if [ "$bits" -gt 28 ]; then
	if setarch -R true 2>/dev/null; then
		fixed="setarch -R"
	else
		say "vm.mmap_rnd_bits is $bits and setarch -R is not allowed here: sanitizers may not start"
	fi
fi

cd "$root"
launcher=
command -v ccache >/dev/null && launcher=-DCMAKE_C_COMPILER_LAUNCHER=ccache
warnings=0
for preset in $presets; do
	log=build/$preset/build.log
	mkdir -p "build/$preset"
	begin=$(date +%s)
	if ! { cmake --preset "$preset" -DKAB_TESTS=ON ${launcher:+"$launcher"} &&
		cmake --build --preset "$preset" -- -j "$jobs"; } >"$log" 2>&1; then
		tail -n 40 "$log"
		say "the $preset build failed; all of its output is in $log"
		exit 1
	fi
	n=$(grep -c 'warning:' "$log" || true)
	warnings=$((warnings + n))
	say "built $preset in $(($(date +%s) - begin)) s, $n warnings"
	[ "$n" -eq 0 ] || grep 'warning:' "$log" | sort -u
done

status=0
# Before the tests: nothing else runs, so that the seconds are worth something.
if [ -z "$quick$only" ] && [ "$presets" != release ] && [ "$fuzz_s" -gt 0 ]; then
	begin=$(date +%s)
	tests/fuzz/fuzz.sh --total "$fuzz_s" || { [ $? -eq 77 ] || status=1; }
	say "fuzzing took $(($(date +%s) - begin)) s"
fi
# run_tests PRESET: its tests, by ctest.
run_tests() {
	preset=$1
	dir=build/$preset
	rm -f "$dir/junit.xml" "$dir/again.xml"
	set -- --test-dir "$dir" --output-on-failure --output-junit junit.xml -j "$jobs" ${only:+-R "$only"}
	under=
	case $preset in
	release) [ -z "$quick" ] || set -- "$@" -LE 'lab|calibration' ;;
	asan)
		under=$fixed
		set -- "$@" -LE 'lab|calibration|arch|plain'
		;;
	tsan)
		# What has threads says so by its label.
		under=$fixed
		set -- "$@" -L threads
		;;
	esac
	echo
	say "tests of the $preset build"
	begin=$(date +%s)
	failed=0
	# shellcheck disable=SC2086 # two words or none
	$under ctest "$@" || failed=1
	# What runs real servers and real benchmarks, and failed beside other tests, is tried alone:
	# summary.py names it and decides what that is worth.
	if [ "$failed" -eq 1 ] && [ "$(wc -l <"$dir/Testing/Temporary/LastTestsFailed.log")" -le 3 ]; then
		say "what failed, alone"
		# shellcheck disable=SC2086 # two words or none
		$under ctest --test-dir "$dir" --rerun-failed -L 'integration|lab' --output-on-failure \
			--output-junit again.xml || true
	fi
	say "tests of the $preset build took $(($(date +%s) - begin)) s"
}

beside=
# shellcheck disable=SC2046 # numbers
trap '[ -z "$beside" ] || kill $(cat "/proc/$beside/task/$beside/children") 2>/dev/null' EXIT
trap 'exit 130' HUP INT TERM
for preset in $presets; do
	case $preset in
	asan)
		# The few tests of the tsan build wait for links most of the time: beside these.
		run_tests tsan >build/tsan/tests.log 2>&1 &
		beside=$!
		run_tests asan
		;;
	tsan)
		wait "$beside" || true
		beside=
		cat build/tsan/tests.log
		;;
	*) run_tests "$preset" ;;
	esac
done
echo
# shellcheck disable=SC2046,SC2086 # words
python3 tests/summary.py $(printf 'build/%s/junit.xml ' $presets) || status=1
exit $status
