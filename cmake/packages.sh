# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2154
# To be sourced by scripts: which of the packages in cmake/packages.txt are missing. Needs $root.

package_is_there() { # CHECK
	case $1 in
	cmd:*) command -v "${1#cmd:}" >/dev/null 2>&1 || command -v "/usr/sbin/${1#cmd:}" >/dev/null 2>&1 ;;
	pc:*) pkg-config --exists "${1#pc:}" 2>/dev/null ;;
	header:*) [ -e "/usr/include/${1#header:}" ] || [ -e "/usr/local/include/${1#header:}" ] ;;
	file:*) for file in ${1#file:}; do [ -e "$file" ] && return 0; done; return 1 ;;
	py:*) /usr/bin/python3 -c "import ${1#py:}" 2>/dev/null || python3 -c "import ${1#py:}" 2>/dev/null ;;
	esac
}

packages_missing() { # USE...: names on one line
	for use; do
		while read -r kind package check; do
			[ "$kind" = "$use" ] || continue
			package_is_there "$check" || printf '%s ' "$package"
		done <"$root/cmake/packages.txt"
	done | sed 's/ $//'
}

# Install with apt where that needs no password. Returns 1 when it is not possible.
packages_install() { # PACKAGE...
	become=
	command -v apt-get >/dev/null || return 1
	if [ "$(id -u)" -ne 0 ]; then
		sudo -n true 2>/dev/null || return 1
		become="sudo -n"
	fi
	# Downloaded lists may be old or, in a fresh container, not there at all.
	$become apt-get -q update >&2 || return 1
	$become env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "$@" >&2
}
