#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Configure with each outside library hidden in turn: the message names the Debian package. Then one of
# them in another prefix, which PKG_CONFIG_PATH finds. Usage: missing_package.sh SOURCE_DIR
set -u
src=$1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
status=0

command -v dpkg-query >/dev/null || { echo "skipped: dpkg-query not found"; exit 77; }

# The folder of .pc files that the configuration sees.
libdir=$tmp/pc
mkdir "$libdir"
for dir in $(pkg-config --variable pc_path pkg-config | tr : ' '); do
	for pc in "$dir"/*.pc; do
		[ -e "$pc" ] && ln -sf "$pc" "$libdir/"
	done
done

# The first sentence after CMake's own "CMake Error at FILE:LINE".
first_error() { sed -n '/^CMake Error/{n;p;q}' "$1" | sed 's/^ *//'; }

configure() {
	rm -f "$tmp/build/CMakeCache.txt"
	PKG_CONFIG_LIBDIR=$libdir cmake -S "$src" -B "$tmp/build" -G Ninja "$@" >"$tmp/log" 2>&1
}

expect() { # PACKAGE WHAT
	if [ -z "$1" ] || ! first_error "$tmp/log" | grep -q "install the Debian package '$1'"; then
		echo "without $2: expected the package '$1' in the first line, found: $(first_error "$tmp/log")"
		status=1
	fi
}

n=0
# Module names come from the source, their packages from dpkg, which knows who owns the .pc file.
modules=$(sed -n -e 's/^kab_need([A-Z0-9]* \([^ ]*\) .*/\1/p' "$src/cmake/KabDependencies.cmake")
for module in $modules cmocka; do
	file=$(readlink -f "$libdir/$module.pc") || { echo "$module.pc is not installed"; exit 1; }
	# Merged /usr: dpkg may know the file under either path.
	package=$(dpkg-query -S "$file" "*/$module.pc" 2>/dev/null | sed -n 's/[:,].*//p' | head -n 1)
	mv "$libdir/$module.pc" "$tmp/hidden.pc"
	if configure; then
		echo "configured without $module"
		status=1
	fi
	expect "$package" "$module"
	mv "$tmp/hidden.pc" "$libdir/$module.pc"
	n=$((n + 1))
done
[ "$n" -ge 9 ] || { echo "only $n modules were looked at"; status=1; }

# Without tests cmocka is not asked for.
mv "$libdir/cmocka.pc" "$tmp/hidden.pc"
configure -DKAB_TESTS=OFF || { echo "cmocka is needed although no tests are built"; status=1; }
mv "$tmp/hidden.pc" "$libdir/cmocka.pc"

# pkg-config itself; CMake searches the system's folders too, so they are hidden from it.
printf 'set(CMAKE_IGNORE_PATH /usr/bin /bin /usr/local/bin)\nset(CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH OFF)\n' \
	>"$tmp/hide.cmake"
configure "-DCMAKE_PROJECT_INCLUDE=$tmp/hide.cmake" && { echo "configured without pkg-config"; status=1; }
expect pkg-config pkg-config

# One library in another prefix.
mkdir "$tmp/prefix"
mv "$libdir/jansson.pc" "$tmp/prefix/"
if ! PKG_CONFIG_PATH=$tmp/prefix configure; then
	echo "PKG_CONFIG_PATH is not honoured: $(first_error "$tmp/log")"
	status=1
fi
exit $status
