# SPDX-License-Identifier: GPL-3.0-or-later
# What boot.sh and install.sh share; sent before either. POSIX sh (dash, bash, busybox).
# Kernels of kab's lie in /boot/kab: no menu generator looks there, so a test kernel can never
# become the default entry, whatever regenerates the menu.
# shellcheck disable=SC2034 # used by the others
LC_ALL=C
export LC_ALL
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
export PATH
# Tests look at another root and at other mounts; empty on a host.
root=$KAB_BOOT_ROOT
mounts=${KAB_BOOT_MOUNTS:-/proc/mounts}
kabdir=$root/boot/kab
tab=$(printf '\t')

say() {
	printf '%s\n' "$*"
}
die() {
	say "error=$*"
	exit 1
}
have() {
	command -v "$1" >/dev/null 2>&1
}

# First of the named files that is not empty.
first_of() {
	for f in "$@"; do
		[ -s "$f" ] && say "$f" && return
	done
	return 1
}
# The distribution's files of a release.
image_of() {
	first_of "$root/boot/vmlinuz-$1" "$root/boot/vmlinux-$1" "$root/boot/kernel-$1" "$root/boot/Image-$1"
}
initrd_of() {
	first_of "$root/boot/initrd.img-$1" "$root/boot/initrd-$1" "$root/boot/initramfs-$1.img"
}

# The file system that holds a path: "DEVICE TYPE".
holder() {
	awk -v p="$1" '{ m = $2; if (m == "/" || index(p "/", m "/") == 1) if (length(m) >= best) {
		best = length(m); line = $1 " " $3 } } END { print line }' "$mounts"
}

grub_find() {
	grub=
	for d in /boot/grub /boot/grub2; do
		[ -f "$root$d/grub.cfg" ] && grub=$root$d && break
	done
	cfg=$grub/grub.cfg
	env=$grub/grubenv
	editenv=
	for t in grub-editenv grub2-editenv; do
		have $t && editenv=$t && break
	done
	entries=$root/boot/loader/entries
	bls=
	[ -n "$grub" ] && grep -q '^[[:space:]]*blscfg' "$cfg" 2>/dev/null && [ -d "$entries" ] && bls=1
	return 0
}

grub_env() {
	[ -n "$editenv" ] && "$editenv" "$env" list 2>/dev/null | sed -n "s/^$1=//p"
}

# What grub.cfg, else grubenv, names as the default: a number, a title or an id, ">" between levels.
grub_wanted() {
	w=$(sed -n 's/^[[:space:]]*set default="\{0,1\}\([^"]*\)"\{0,1\}[[:space:]]*$/\1/p' "$cfg" | grep -v next_entry | head -n 1)
	case $w in
	*saved_entry*) w=$(grub_env saved_entry) ;;
	esac
	say "${w:-0}"
}

# Menu entries that start a Linux: NUMBER, "d" for the default or "r" for a recovery entry or "-",
# RELEASE, PATH OF IDS, TITLE; one a line, tabs between.
grub_entries() {
	awk -v want="$(grub_wanted)" '
	function quoted(s) {
		sub(/^[ \t]*(menuentry|submenu)[ \t]+/, "", s)
		if (substr(s, 1, 1) == "'\''" || substr(s, 1, 1) == "\"") {
			q = substr(s, 1, 1); s = substr(s, 2)
			return substr(s, 1, index(s, q) - 1)
		}
		sub(/[ \t{].*/, "", s)
		return s
	}
	function ident(s, h, m, i, r) {
		m = split(s, h, /[ \t]+/)
		for (i = 1; i < m; i++)
			if (h[i] == "--id" || h[i] == "$menuentry_id_option" || h[i] == "${menuentry_id_option}") r = h[i + 1]
		gsub(/['\''"]/, "", r)
		return r
	}
	function is(w, i, id, title) { return w == i "" || (id != "" && w == id) || w == title }
	BEGIN { parts = split(want, p, ">"); top = -1; OFS = "\t" }
	/^[ \t]*submenu[ \t]/ { top++; in_sub = 1; low = -1; sub_id = ident($0); sub_title = quoted($0); next }
	/^[ \t]*menuentry[ \t]/ {
		if (in_sub) low++; else top++
		number++; inside = 1; line = ""; id = ident($0); title = quoted($0)
		next
	}
	inside && /^[ \t]*linux(16|efi)?[ \t]/ { line = $0 }
	/^[ \t]*}/ {
		if (!inside) { in_sub = 0; next }
		inside = 0
		if (line == "") next
		n = split(line, w, /[ \t]+/)
		base = w[w[1] == "" ? 3 : 2]
		sub(/.*\//, "", base)
		if (base !~ /^(vmlinu[xz]|kernel|Image)-./) next
		sub(/^[A-Za-z]+-/, "", base)
		flag = "-"
		if (line ~ /[ \t](single|recovery|rescue)([ \t]|$)/) flag = "r"
		else if (!found) {
			if (in_sub) hit = is(p[1], top, sub_id, sub_title) && (parts > 1 ? is(p[2], low, id, title) : low == 0)
			else hit = is(p[1], top, id, title)
			if (hit) { flag = "d"; found = 1 }
		}
		print number, flag, base, (in_sub && sub_id != "" ? sub_id ">" : "") (id == "" ? "-" : id), title
	}' "$cfg"
}

# Of the loader entries in $1: found = the one whose file or "id" is meant by the default $2.
bls_named() {
	found=$1/$2.conf
	[ -n "$2" ] && [ -r "$found" ] && return
	found=
	return 1
}
bls_release() {
	v=$(sed -n 's/^version[[:space:]]*//p' "$1" | head -n 1)
	l=$(sed -n 's/^linux[[:space:]]*//p' "$1" | head -n 1)
	case $l in
	*/vmlinuz-* | */vmlinux-*) say "${l##*/vmlinu?-}" ;;
	*/linux)
		l=${l%/linux}
		say "${l##*/}"
		;;
	*) say "$v" ;;
	esac
}

sd_find() {
	esp=
	for d in $(bootctl -x 2>/dev/null) $(bootctl -p 2>/dev/null) /boot /efi /boot/efi; do
		[ -d "$root$d/loader/entries" ] && esp=$root$d && break
	done
	return 0
}

# The release that the boot loader starts when nothing was chosen; "" when that is not known.
default_release() {
	grub_find
	if [ -n "$bls" ]; then
		bls_named "$entries" "$(grub_env saved_entry)" && bls_release "$found"
		return
	fi
	if [ -n "$grub" ]; then
		grub_entries | awk -F "$tab" '$2 == "d" { print $3; exit }'
		return
	fi
	sd_find
	[ -n "$esp" ] || return
	d=$(sed -n 's/^default[[:space:]]*//p' "$esp/loader/loader.conf" 2>/dev/null | head -n 1)
	# The default may be a pattern.
	for f in "$esp/loader/entries/"$d "$esp/loader/entries/"$d.conf; do
		[ -f "$f" ] && bls_release "$f" && return
	done
}
