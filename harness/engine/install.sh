# SPDX-License-Identifier: GPL-3.0-or-later
# Kernels that kab puts on a host; boot_common.sh is sent before it. Needs root rights.
#	size FILE [HASH]                size= bytes that are there (0 when none); with HASH sha256=
#	check KEY KIND RELEASE NAME..   can it be installed here? "refuse=REASON" lines, free_kib=
#	have KEY                        release= when that artefact is installed and its files are there
#	install KEY KIND RELEASE FILE.. KIND deb, tar, image (then FILE: image, initrd or -, modules or
#	                                -). RELEASE "-": found in the artefact. Prints release=
#	list                            "kernel=RELEASE", then what is known of it, one a line
#	remove RELEASE                  only what kab installed; never the running or the default kernel
#	tidy                            remove what an upload or a broken installation left
# All that kab keeps of a kernel is in /boot/kab, in /lib/modules/RELEASE, and in a note of what it is:
# /var/lib/kab/kernels/KEY. Nothing else on the host is changed, and no menu is regenerated.
# shellcheck disable=SC2154 # some variables are set in boot_common.sh
state=$root/var/lib/kab
notes=$state/kernels
upload=$state/upload
modules=$root/lib/modules
umask 022

refuse() {
	say "refuse=$*"
	refused=1
}

release_of_key() {
	[ -f "$notes/$1/release" ] && cat "$notes/$1/release"
}
key_of_release() {
	for n in "$notes"/*/release; do
		[ -f "$n" ] && [ "$(cat "$n")" = "$1" ] || continue
		n=${n%/release}
		say "${n##*/}"
		return
	done
	return 1
}

installed() {
	r=$(release_of_key "$1") || return 1
	[ -s "$kabdir/vmlinuz-$r" ] && [ -d "$modules/$r" ] && say "release=$r"
}

valid_release() {
	case $1 in
	'' | .* | -* | *[!A-Za-z0-9._+~-]*) return 1 ;;
	esac
	[ ${#1} -le 64 ]
}

# Two artefacts of one release would overwrite each other's files.
must_be_free() {
	valid_release "$1" || die "'$1' is not a kernel release"
	other=$(key_of_release "$1")
	if [ -n "$other" ] && [ "$other" != "$2" ]; then
		die "kab has installed another kernel of the release '$1' here; they would overwrite each other: build with another CONFIG_LOCALVERSION, or first: kab kernels HOST --remove $1"
	fi
	[ -z "$other" ] || return 0
	if image_of "$1" >/dev/null || { [ -d "$modules/$1" ] && [ ! -f "$modules/$1/.kab" ]; }; then
		die "this host has a kernel '$1' that kab did not install; it is not overwritten: build with another CONFIG_LOCALVERSION, or name the installed one as release:$1"
	fi
}

# The decompressor that a file name needs.
packer() {
	case $1 in
	*.xz | *.txz) say xz ;;
	*.gz | *.tgz) say gzip ;;
	*.zst) say zstd ;;
	*.bz2) say bzip2 ;;
	*.lzma) say xz ;;
	esac
}
unpack() {
	p=$(packer "$1")
	if [ -n "$p" ]; then "$p" -dc; else cat; fi
}
# busybox has a program of that name that cannot give the archive.
dpkg_deb() {
	dpkg-deb --version 2>/dev/null </dev/null | grep -q Debian
}
tar_stream() {
	if [ "$kind" != deb ]; then
		unpack "$1" <"$1"
	elif dpkg_deb; then
		dpkg-deb --fsys-tarfile "$1"
	else
		member=$(ar t "$1" | grep '^data\.tar' | head -n 1)
		[ -n "$member" ] && ar p "$1" "$member" | unpack "$member"
	fi
}

# A whole archive into the empty folder $2; what tar or a decompressor said is in the folder's log.
extract() {
	mkdir -p "$2" || return 1
	# The status of a pipe is that of its last command: the first reports through a file.
	rm -f "$2.broken"
	{ tar_stream "$1" || : >"$2.broken"; } 2>>"$2.log" | (cd "$2" && tar xf - 2>>"$2.log") && [ ! -e "$2.broken" ]
}

why_not() {
	if [ "$(df -Pk "$modules" | awk 'NR == 2 { print $4 }')" -lt 1024 ]; then
		say "the file system of $modules is full"
	else
		tail -n 1 "$stage.log" 2>/dev/null | tr -d '\000'
	fi
}

# Nothing is left of an installation that failed.
drop_stage() {
	rm -rf "$stage" "$stage.log" "$stage.broken"
}
fail() {
	drop_stage
	if [ -n "$placed" ]; then
		rm -rf "${modules:?}/$placed" "$kabdir/vmlinuz-$placed" "$kabdir/initrd.img-$placed"
		rmdir "$kabdir" 2>/dev/null
	fi
	rm -rf "$lock"
	die "$*"
}

# This shell reads its script from stdin: no program may take from that.
make_initrd() {
	have depmod && [ -z "$root" ] && depmod "$1" </dev/null 2>/dev/null
	new=$kabdir/initrd.img-$1
	if have mkinitramfs; then
		mkinitramfs -o "$new" "$1" </dev/null >"$stage.log" 2>&1 || fail "mkinitramfs failed for $1: $(why_not)"
	elif have dracut; then
		dracut --force --kver "$1" "$new" </dev/null >"$stage.log" 2>&1 || fail "dracut failed for $1: $(why_not)"
	elif have update-initramfs && ! initrd_of "$1" >/dev/null; then
		update-initramfs -c -k "$1" </dev/null >"$stage.log" 2>&1 || {
			rm -f "$root/boot/initrd.img-$1"
			fail "update-initramfs failed for $1: $(why_not)"
		}
		mv "$root/boot/initrd.img-$1" "$new" || fail "cannot write $new"
	else
		say 'warning=this host has neither mkinitramfs nor dracut: the kernel boots without an initrd'
	fi
}

# What lies where in the unpacked archives: image, release, tree of modules.
look_around() {
	found=
	for f in "$stage"/boot/vmlinuz-* "$stage"/boot/vmlinux-* "$stage"/boot/Image-*; do
		[ -s "$f" ] || continue
		r=${f##*/}
		r=${r#vmlinuz-}
		r=${r#vmlinux-}
		r=${r#Image-}
		# `make tar-pkg` brings the uncompressed one besides.
		[ "$r" = "$found" ] && continue
		[ -z "$found" ] || fail "the artefact has two kernels, $found and $r"
		found=$r
		image=$f
	done
	# Debian's own packages of late, and kernel-install layouts.
	for f in "$stage"/lib/modules/*/vmlinuz "$stage"/usr/lib/modules/*/vmlinuz; do
		[ -z "$found" ] && [ -s "$f" ] || continue
		image=$f
		f=${f%/vmlinuz}
		found=${f##*/}
	done
	[ -n "$found" ] || fail 'the artefact has no boot/vmlinuz-RELEASE; is it a package or tarball of a kernel image?'
	[ -z "$release" ] || [ "$release" = "$found" ] || fail "the artefact is $found, not $release"
}

unpack_archives() {
	for f in "$@"; do
		extract "$f" "$stage" || fail "cannot unpack ${f##*/}: $(why_not)"
	done
	if [ "$kind" = tar ]; then
		odd=$(cd "$stage" && for f in * .[!.]* lib/* usr/* usr/lib/*; do
			[ -e "$f" ] || [ -h "$f" ] || continue
			case $f in
			boot | lib | usr | lib/modules | lib/firmware | usr/lib | usr/lib/modules | usr/lib/firmware) ;;
			*) say "$f" ;;
			esac
		done | head -n 3 | tr '\n' ' ')
		[ -z "$odd" ] || fail "the archive has members that are not of a kernel: $odd"
	fi
	look_around
	must_be_free_or_fail "$found" "$key"
	release=$found
	initrd=$(first_of "$stage/boot/initrd.img-$release" "$stage/boot/initrd-$release" "$stage/boot/initramfs-$release.img")
	tree_of_modules
}

must_be_free_or_fail() {
	free=$(must_be_free "$1" "$2") || fail "${free#error=}"
}

tree_of_modules() {
	tree=
	for f in "$stage/lib/modules/$release" "$stage/usr/lib/modules/$release"; do
		[ -d "$f" ] && tree=$f
	done
	[ -z "$tree" ] || return
	for f in "$stage"/lib/modules/* "$stage"/usr/lib/modules/*; do
		[ -d "$f" ] && say "warning=the modules are of ${f##*/}, not of $release; they are not installed"
	done
}

# Version text inside an image, plain or compressed with gzip.
release_in() {
	for p in cat 'gzip -dc'; do
		r=$($p <"$1" 2>/dev/null | tr -c ' -~' '\n' | sed -n 's/^.*Linux version \([^ ]*\) .*/\1/p' | head -n 1)
		[ -n "$r" ] && say "$r" && return
	done
}

take_image() {
	image=$1
	initrd=
	mkdir -p "$stage"
	[ "$2" = - ] || initrd=$2
	[ "$3" = - ] || extract "$3" "$stage" || fail "cannot unpack ${3##*/}: $(why_not)"
	# A tree that begins with the release, as of `tar -C /lib/modules`, is fine, too.
	if [ "$3" != - ] && [ ! -d "$stage/lib" ] && [ ! -d "$stage/usr" ]; then
		mkdir -p "$stage.tree" && mv "$stage" "$stage.tree/modules" && mkdir "$stage" && mv "$stage.tree" "$stage/lib"
	fi
	found=$release
	[ -n "$found" ] || found=$(release_in "$image")
	for f in "$stage"/lib/modules/* "$stage"/usr/lib/modules/*; do
		[ -z "$found" ] && [ -d "$f" ] && found=${f##*/}
	done
	[ -n "$found" ] || fail 'the release of the image is not known; give "release" in an @FILE.json, or modules='
	must_be_free_or_fail "$found" "$key"
	release=$found
	tree_of_modules
}

# KiB that the files take.
kib() {
	du -k "$@" 2>/dev/null | awk '{ n += $1 } END { print n + 0 }'
}

place() {
	mkdir -p "$kabdir" || fail "cannot make $kabdir"
	need=$(kib "$image")
	if [ -n "$initrd" ]; then
		need=$((need + $(kib "$initrd")))
	else
		other=$(ls -S "$root"/boot/initrd* "$root"/boot/initramfs* 2>/dev/null | head -n 1)
		[ -z "$other" ] || need=$((need + $(kib "$other")))
	fi
	free=$(df -Pk "$kabdir" | awk 'NR == 2 { print $4 }')
	[ "$((need + 1024))" -le "$free" ] || fail "/boot has $((free / 1024)) MiB free, kernel and initrd need about $((need / 1024 + 1)) MiB"
	placed=$release
	rm -rf "${modules:?}/$release"
	if [ -n "$tree" ]; then
		mv "$tree" "$modules/$release" || fail "cannot write $modules/$release"
	else
		mkdir -p "$modules/$release"
	fi
	: >"$modules/$release/.kab" || fail "cannot write $modules/$release: $(why_not)"
	for f in config System.map; do
		[ -s "$stage/boot/$f-$release" ] && [ ! -e "$modules/$release/$f" ] && cp "$stage/boot/$f-$release" "$modules/$release/$f"
	done
	cp "$image" "$kabdir/vmlinuz-$release" || fail 'cannot copy the image to /boot; is it full?'
	if [ -n "$initrd" ]; then
		cp "$initrd" "$kabdir/initrd.img-$release" || fail 'cannot copy the initrd to /boot; is it full?'
	elif [ "$kind" != image ] || [ -n "$tree" ]; then
		make_initrd "$release"
	fi
}

# One installation at a time; one whose process is gone does not count.
take_lock() {
	lock=$state/installing
	mkdir -p "$state" || die "cannot make $state; are these root rights?"
	i=0
	until mkdir "$lock" 2>/dev/null; do
		kill -0 "$(cat "$lock/pid" 2>/dev/null)" 2>/dev/null || {
			[ $i -gt 2 ] && rm -rf "$lock"
		}
		i=$((i + 1))
		[ $i -lt 300 ] || die 'another installation goes on on this host'
		sleep 2
	done
	say $$ >"$lock/pid"
}

install_kernel() {
	key=$1
	kind=$2
	release=$3
	shift 3
	[ "$release" = - ] && release=
	take_lock
	r=$(installed "$key") && {
		rm -rf "$lock"
		say "$r"
		say 'already=1'
		return
	}
	mkdir -p "$modules" "$notes" || fail "cannot write $modules"
	# On the file system of the modules, so that they are moved and not copied.
	stage=$modules/.kab-$key
	drop_stage
	placed=
	case $kind in
	deb | tar) unpack_archives "$@" ;;
	image) take_image "$@" ;;
	*) fail "unknown kind '$kind'" ;;
	esac
	place
	[ -s "$kabdir/vmlinuz-$release" ] || fail "$kabdir/vmlinuz-$release is empty"
	mkdir -p "$notes/$key" &&
		say "$kind" >"$notes/$key/kind" &&
		date -u '+%Y-%m-%d' >"$notes/$key/date" &&
		say "$release" >"$notes/$key/release.new" && sync &&
		mv "$notes/$key/release.new" "$notes/$key/release" || fail "cannot write $notes/$key"
	drop_stage
	rm -rf "$lock"
	sync
	say "release=$release"
}

check() {
	kind=$1
	release=$2
	shift 2
	[ "$(id -u)" = 0 ] || [ -n "$root" ] || refuse 'no root rights (set "become": "sudo" in the lab file)'
	for t in tar sha256sum awk df du; do
		have $t || refuse "'$t' is not installed"
	done
	[ "$kind" != deb ] || dpkg_deb || have ar || refuse 'neither dpkg-deb nor ar is installed (Debian package binutils)'
	for f in "$@"; do
		p=$(packer "$f")
		[ -z "$p" ] || have "$p" || refuse "'$p' is not installed, and $f needs it"
	done
	if [ "$release" != - ]; then
		free=$(must_be_free "$release" "$key") || refuse "${free#error=}"
	fi
	d=$state
	while [ ! -d "$d" ]; do d=$(dirname "$d"); done
	[ -w "$d" ] || refuse "$d cannot be written"
	say "free_kib=$(df -Pk "$d" | awk 'NR == 2 { print $4 }')"
	say "boot_free_kib=$(df -Pk "$root/boot" | awk 'NR == 2 { print $4 }')"
	say "upload=$upload"
}

list() {
	def=$(default_release)
	sd_find
	{
		for f in "$root"/boot/vmlinuz-* "$root"/boot/vmlinux-* "$kabdir"/vmlinuz-*; do
			[ -f "$f" ] && say "${f##*/vmlinu?-}"
		done
		for f in ${esp:+"$esp"/*/*/linux}; do
			[ -f "$f" ] && f=${f%/linux} && say "${f##*/}"
		done
		uname -r
	} | sort -u | while read -r r; do
		say "kernel=$r"
		[ "$r" = "$(uname -r)" ] && say 'running=yes'
		[ "$r" = "$def" ] && say 'default=yes'
		[ -d "$modules/$r" ] || say 'modules=none'
		key=$(key_of_release "$r") || continue
		say "key=$key"
		say "kind=$(cat "$notes/$key/kind")"
		say "date=$(cat "$notes/$key/date")"
		say "kib=$(kib "$kabdir/vmlinuz-$r" "$kabdir/initrd.img-$r" "$modules/$r")"
	done
}

remove() {
	r=$1
	valid_release "$r" || die "'$r' is not a kernel release"
	key=$(key_of_release "$r") || die "kernel '$r' was not installed by kab; it is not touched"
	[ "$r" != "$(uname -r)" ] || die "kernel '$r' is running; boot another one first"
	[ "$r" != "$(default_release)" ] || die "kernel '$r' is the default of the boot loader; choose another default first"
	rm -f "$kabdir/vmlinuz-$r" "$kabdir/initrd.img-$r"
	rmdir "$kabdir" 2>/dev/null
	[ ! -f "$modules/$r/.kab" ] || rm -rf "${modules:?}/$r"
	rm -rf "${notes:?}/$key"
	sync
	say "removed=$r"
	for n in "$notes"/*/release; do
		[ -f "$n" ] && return
	done
	say 'last=1'
}

tidy() {
	rm -rf "$upload" "$modules"/.kab-*
	rmdir "$notes" "$state" 2>/dev/null
	return 0
}

verb=$1
shift
refused=
case $verb in
size)
	if [ -f "$1" ]; then
		say "size=$(wc -c <"$1" | tr -d ' ')"
		[ -z "$2" ] || say "sha256=$(sha256sum <"$1" | cut -d' ' -f1)"
	else
		say 'size=0'
	fi
	;;
have) installed "$1" || : ;;
check)
	key=$1
	shift
	check "$@"
	;;
install) install_kernel "$@" ;;
list) list ;;
remove) remove "$1" ;;
tidy) tidy ;;
*) die "unknown verb '$verb'" ;;
esac
[ -z "$refused" ]
