#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# How long kab takes beside R, numpy/scipy and ministat on the same files. Not a test: it fails only when
# a program does not do its work.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build/release
repeats=9
largest=1000000

usage() {
	cat <<TEXT
usage: tests/bench/run.sh [--build FOLDER] [--repeats N] [--largest N]

  --build FOLDER  a build folder of kab with tests (build/release, made when it is not there)
  --repeats N     interleaved repeats, 7 or more (9)
  --largest N     values in each of the largest two files (1000000)

Needs r-base-core, python3-scipy and ministat; what is missing is left out and named.
Prints Markdown. Run it on an idle machine: the load is printed with the figures.
TEXT
}

while [ $# -gt 0 ]; do
	case $1 in
	--build | --repeats | --largest)
		[ $# -gt 1 ] || { usage >&2; exit 2; }
		case $1 in
		--build) build=$2 ;;
		--repeats) repeats=$2 ;;
		--largest) largest=$2 ;;
		esac
		shift
		;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
	shift
done
if [ ! -e "$build/build.ninja" ]; then
	cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DKAB_TESTS=ON >&2
fi
ninja -C "$build" kab bench_bootstrap >&2
python=/usr/bin/python3
[ -x "$python" ] || python=python3
exec "$python" "$root/tests/bench/speed.py" --repeats "$repeats" --largest "$largest" \
	"$build/kab" "$build/tests/unit/stats/bench_bootstrap"
