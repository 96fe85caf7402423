#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What takes longer than minutes: fuzzing of everything that reads foreign bytes, the calibration of the
# statistics with many trials, kills and races again and again, and everything that can go wrong with a boot.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
fuzz_s=600
rounds=10
jobs=$(nproc)

usage() {
	cat <<TEXT
usage: tests/long.sh [--fuzz SECONDS] [--rounds N] [fuzz] [calibration] [kill] [lab] [month] [hostile] [memcheck] [coverage]

  --fuzz SECONDS  for each fuzzer (600)
  --rounds N      of the tests that kill and race (10)

Without a name all parts are done. Calls for what tests/run.sh installs.
TEXT
}

parts=
while [ $# -gt 0 ]; do
	case $1 in
	--fuzz | --rounds)
		[ $# -gt 1 ] || { usage >&2; exit 2; }
		if [ "$1" = --fuzz ]; then fuzz_s=$2; else rounds=$2; fi
		shift
		;;
	fuzz | calibration | kill | lab | month | hostile | memcheck | coverage) parts="$parts $1" ;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
	shift
done
: "${parts:=fuzz calibration kill lab month hostile memcheck coverage}"
cd "$root"
status=0

say() { printf 'long.sh: %s\n' "$*"; }
failed() { say "FAILED: $*"; status=1; }

fuzz() {
	tests/fuzz/fuzz.sh --each "$fuzz_s"
}

release() {
	mkdir -p build
	{ cmake --preset release -DKAB_TESTS=ON && cmake --build --preset release -- -j "$jobs"; } >build/long.log 2>&1 ||
		{ tail build/long.log; return 1; }
}

calibration() {
	release || return 1
	build/release/tests/unit/stats/calibration --long
}

kill_() {
	release || return 1
	ctest --test-dir build/release --output-on-failure -R 'detach|lease|stop|resume|kill|readers|faults' -E '^fault_' \
		--repeat "until-fail:$rounds" --timeout 3600 || return 1
	KAB_TEST_KILLS=200 KAB_TEST_LINKS=40 KAB_TEST_HOSTS=40 ctest --test-dir build/release --verbose -R '^fault_' \
		--timeout 7200 || return 1
	KAB_TEST_HOSTS=200 ctest --test-dir build/release --verbose -R '^hosts_many'
}

lab() {
	release || return 1
	lab_failed=
	for test in three smt faults target methods; do
		# shellcheck disable=SC2046 # a word or none
		LABTEST_TRIALS=20 tests/lab/test_$test.py build/release/kab $([ $test != faults ] || echo --long) || lab_failed=1
	done
	[ -z "$lab_failed" ]
}

hostile() {
	release || return 1
	KAB_TEST_OUTPUT_MB=2000 KAB_TEST_CASES=10000 ctest --test-dir build/release --verbose -R '^hostile_' --timeout 7200
}

plain() { # FOLDER FLAGS
	{ cmake -S . -B "build/$1" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DKAB_TESTS=ON -DCMAKE_C_FLAGS="$2" &&
		cmake --build "build/$1" -- -j "$jobs"; } >"build/$1.log" 2>&1 || { tail "build/$1.log"; return 1; }
}

memcheck() {
	# Under valgrind posix_spawn() does not tell that a program is missing, which transport_local tries.
	plain memcheck "" && tests/memcheck.sh build/memcheck 'calibration|detach|lease|month|transport_local'
}

coverage() {
	command -v gcovr >/dev/null || { say "skipped: no gcovr"; return 0; }
	plain coverage "--coverage -fprofile-update=atomic" || return 1
	find build/coverage -name '*.gcda' -delete
	ctest --test-dir build/coverage -LE 'lab|calibration|arch|plain' >build/coverage-tests.log 2>&1 ||
		say "tests failed under coverage: see build/coverage-tests.log"
	tests/coverage.py build/coverage
}

month() {
	release || return 1
	build/release/tests/unit/jobs/month --check --hosts 20 --nights 30 --seeds 5
}

mkdir -p build
for part in $parts; do
	say "$part"
	case $part in
	fuzz) fuzz || failed fuzz ;;
	calibration) calibration || failed calibration ;;
	kill) kill_ || failed kill ;;
	lab) lab || failed lab ;;
	month) month || failed month ;;
	hostile) hostile || failed hostile ;;
	memcheck) memcheck || failed memcheck ;;
	coverage) coverage || failed coverage ;;
	esac
done
[ $status -ne 0 ] || say "nothing failed"
exit $status
