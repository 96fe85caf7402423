#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# From a fresh checkout to a first table: install what is missing, build, run three short benchmarks on this
# machine with the same kernel twice, and print how they compare. Outside
# build/ only ~/.local/state/kab is written: the work folder of a host that is measured, here this machine.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build/release

usage() {
	cat <<TEXT
usage: examples/quickstart.sh [--lab]

Installs what is missing (with apt, as root or with a sudo that asks for no password; otherwise it
prints the line to run), builds kab in build/release, and runs the suite 'quick' on this machine with
the running kernel under two names. Takes one to three minutes, and may be called again.

  --lab   on an emulated host instead, which kab boots into two real Debian kernels: the whole way with
          reboots in one command. Takes two to ten minutes, and downloads about 100 MB the first time
          (into ~/.cache/kab-lab).
TEXT
}

lab=
case ${1-} in
'') ;;
--lab) lab=1 ;;
-h | --help) usage; exit 0 ;;
*) usage >&2; exit 2 ;;
esac

say() { printf '%s\n' "$*"; }

# shellcheck source=cmake/packages.sh
. "$root/cmake/packages.sh"
missing=$(packages_missing build bench)
if [ -n "$missing" ]; then
	say "quickstart: installing: $missing" >&2
	# shellcheck disable=SC2086 # a list of words
	if ! packages_install $missing; then
		say "Some packages are missing. Install them, then start this script again:" >&2
		say "  sudo apt-get install $missing" >&2
		exit 4
	fi
	missing=$(packages_missing build bench)
	if [ -n "$missing" ]; then
		say "quickstart: still missing after the installation: $missing" >&2
		exit 4
	fi
fi

mkdir -p "$build" 2>/dev/null || true
if [ ! -w "$build" ]; then
	say "quickstart: cannot write $build; clone the repository as this user" >&2
	exit 4
fi
tests=OFF
pkg-config --exists cmocka && tests=ON
log=$build/quickstart.log
say "quickstart: building in $build" >&2
if ! (cd "$root" && cmake --preset release -DKAB_TESTS=$tests && cmake --build --preset release --target kab) \
	>"$log" 2>&1; then
	tail -n 30 "$log" >&2
	say "quickstart: the build failed; all of its output is in $log" >&2
	exit 4
fi

if [ -n "$lab" ]; then
	"$root/tests/lab/lab.sh" deps || {
		say "Some packages are missing. Install them with the line above, then start this script again." >&2
		exit 4
	}
	run=$(mktemp -d /tmp/kab-quickstart.XXXXXX)
	trap '"$root/tests/lab/lab.sh" stop "$run/lab"; rm -rf "$run"' EXIT
	trap 'exit 130' INT TERM HUP
	say "quickstart: starting an emulated host" >&2
	"$root/tests/lab/lab.sh" start "$run/lab" amd64 -- owner=$$ || exit 4
	cat >"$run/lab-quick.json" <<-JSON
		{ "name": "lab-quick", "summary": "two kernels, two boots each", "quiet": "off",
		  "repeat": { "boots": 2, "iterations": 3 },
		  "cases": [ { "name": "hackbench", "runner": "hackbench",
		               "params": { "groups": 1, "fds": 10, "loops": 100 }, "timeout_s": 300 } ] }
	JSON
	status=0
	"$build/kab" --db "$build/quickstart-lab.db" --lab "$run/lab/lab.json" run "$run/lab-quick.json" --host amd64 \
		--kernel base="@$run/lab/baseline.json" --kernel patched="@$run/lab/test.json" || status=$?
	cat <<TEXT

What this shows: kab booted an emulated host into two real kernels in a random order, proved before each
measurement which one ran, and compared them. Emulated timings prove the flow, not the kernel: one
benchmark spreads by a factor of three here. On a real host the same command says what changed.

  build/release/kab --db build/release/quickstart-lab.db show   every boot with its proof
docs/lab.md says how to add a host, docs/booting.md how kab boots it and how to undo that.
TEXT
	exit $status
fi

# A first look needs no place in the user's own database.
db=$build/quickstart.db
status=0
"$build/kab" --db "$db" run "$root/suites/quick.json" --kernel base=running --kernel same=running || status=$?

cat <<TEXT

What this shows: 'base' and 'same' are one kernel, so nothing was compared. The columns of +/- and the
intervals are the noise of this machine: a change that is smaller cannot be seen here with so few
iterations. A quiet machine, more iterations and several boots make it smaller.

All iterations are kept. Next, in $root:
  build/release/kab --db build/release/quickstart.db list
  build/release/kab --db build/release/quickstart.db report --explain hackbench
  build/release/kab doctor     what to fix on this machine
  build/release/kab suites     other suites
  build/release/kab run hackbench-groups --kernel base=release:A --kernel patched=release:B
                               two installed kernels A and B: kab says when to boot which
docs/lab.md says how to add hosts, docs/reading-reports.md how to read the table.
TEXT
exit $status
