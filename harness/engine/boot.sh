# SPDX-License-Identifier: GPL-3.0-or-later
# Choosing the kernel of the next boot, once; boot_common.sh is sent before it. Needs root rights.
#	preflight METHOD            "fact=value" lines; "refuse=REASON" lines say why it cannot work
#	lookup METHOD RELEASE       entry= of an installed kernel, or error=
#	select METHOD RELEASE ARGS  one-shot selection, with ARGS added to the command line; prints
#	                            entry=, or "error=" and exit 1: then nothing is chosen
#	reboot METHOD               restart in one second, detached from this shell
#	clear METHOD                forget a selection that was not used
#	remove METHOD               remove the files of ours that make a kernel bootable
#	evidence                    what pstore and the journal of the previous boot kept
# The distribution's entries are never edited. Ours is one file, told by its first line. A kernel
# without an entry (one that kab installed) is booted after the pattern of the default entry.
# shellcheck disable=SC2154 # some variables are set in boot_common.sh
mark='# Owned by kab; removed by: kab kernels --remove'
id=kab-oneshot

refuse() {
	say "refuse=$*"
	refused=1
}
is_ours() {
	[ ! -e "$1" ] || [ "$(head -n 1 "$1")" = "$mark" ]
}
write_own() {
	tmp=$own.kab-new
	if cat >"$tmp" && sync && mv "$tmp" "$own" && sync; then
		return 0
	fi
	rm -f "$tmp"
	return 1
}

grub_files() {
	grub_find
	own=$grub/custom.cfg
	[ -n "$bls" ] && own=$entries/$id.conf
	return 0
}

grub_preflight() {
	grub_files
	if [ -z "$grub" ]; then
		refuse 'no grub.cfg in /boot/grub or /boot/grub2; is this host booted by GRUB?'
		return
	fi
	say "grub=$grub"
	say "layout=$(if [ -n "$bls" ]; then say bls; else say debian; fi)"
	[ -n "$editenv" ] || refuse 'neither grub-editenv nor grub2-editenv is installed (Debian package grub-common)'
	if [ ! -f "$env" ]; then
		refuse "there is no $env; create it with: grub-editenv create"
	elif [ "$(wc -c <"$env" | tr -d ' ')" != 1024 ]; then
		refuse "$env is not 1024 bytes long; GRUB would not write to it"
	elif [ ! -w "$env" ]; then
		refuse "$env cannot be written"
	fi
	missing=
	grep -q '^[^#]*load_env' "$cfg" || missing="$missing load_env;"
	grep -q '^[^#]*set default=.*next_entry' "$cfg" || missing="$missing set default=\"\${next_entry}\";"
	grep -q '^[^#]*save_env.* next_entry' "$cfg" || missing="$missing save_env next_entry;"
	[ -z "$missing" ] || refuse "$cfg never clears next_entry, so a test kernel would stay: it lacks$missing run update-grub, or write these lines"
	[ -n "$bls" ] || grep -q '^[^#]*custom\.cfg' "$cfg" || refuse "$cfg does not source custom.cfg (Debian's 41_custom does)"
	is_ours "$own" || refuse "$own exists and is not kab's; move it away"
	[ -w "$(dirname "$own")" ] || refuse "$(dirname "$own") cannot be written"
	h=$(holder "$grub")
	say "boot_device=${h% *}"
	say "boot_fs=${h#* }"
	# GRUB writes its environment through the block list of a plain file: not on these.
	case $h in
	*' btrfs' | *' zfs' | *' f2fs') refuse "$env lies on ${h#* }, where GRUB cannot clear next_entry" ;;
	/dev/mapper/* | /dev/dm-*) refuse "$env lies on ${h% *} (LVM or encrypted), where GRUB cannot clear next_entry" ;;
	/dev/md*) refuse "$env lies on ${h% *} (RAID), where GRUB cannot clear next_entry" ;;
	esac
	# One of ours that was never used is no choice of anybody else's.
	pending=$(grub_env next_entry)
	[ "$pending" = "$id" ] || say "pending=$pending"
	say "default=$(default_release)"
}

# Entries that start $1; what only recovers is left out.
grub_candidates() {
	grub_entries | awk -F "$tab" -v rel="$1" '$2 != "r" && $3 == rel'
}

# number= of the entry to follow, image= and initrd= (file names; "" when as they are) for kernel $1.
grub_resolve() {
	image=
	initrd=
	pattern=
	list=$(grub_candidates "$1")
	if [ -n "$list" ]; then
		dup=$(say "$list" | cut -f4 | grep -v '\(^\|>\)-$' | sort | uniq -d | head -n 1)
		[ -z "$dup" ] || die "the entry id '$dup' is there twice: $(say "$list" | awk -F "$tab" -v d="$dup" '$4 == d { printf "%s\047%s\047", n++ ? " and " : "", $5 }')"
		number=$(say "$list" | head -n 1 | cut -f1)
		entry=$(say "$list" | head -n 1 | cut -f4,5 | tr '\t' ' ')
		return
	fi
	if [ -s "$kabdir/vmlinuz-$1" ]; then
		image=kab/vmlinuz-$1
		[ -s "$kabdir/initrd.img-$1" ] && initrd=kab/initrd.img-$1
	elif f=$(image_of "$1"); then
		image=${f##*/}
		f=$(initrd_of "$1") && initrd=${f##*/}
	else
		die "no entry of $cfg starts kernel $1, and /boot has none; is it installed?"
	fi
	all=$(grub_entries | awk -F "$tab" '$2 != "r"')
	line=$(say "$all" | awk -F "$tab" '$2 == "d"')
	[ -n "$line" ] || line=$(say "$all" | awk -F "$tab" -v rel="$(uname -r)" '$3 == rel')
	[ -n "$line" ] || line=$all
	line=$(say "$line" | head -n 1)
	[ -n "$line" ] || die "$cfg has no entry of a Linux that could serve as the pattern for kernel $1"
	number=$(say "$line" | cut -f1)
	pattern=$(say "$line" | cut -f3)
	entry="/boot/$image after the pattern of $pattern"
}

grub_lookup() {
	grub_files
	if [ -n "$bls" ]; then
		bls_resolve "$1" "$entries"
	else
		grub_resolve "$1"
	fi
	say "entry=$entry"
}

# The body of the entry, with ${kab_args} behind its command line.
grub_body() {
	awk -v number="$number" -v image="$image" -v initrd="$initrd" -v pattern="$pattern" '
	/^[ \t]*menuentry[ \t]/ { inside = ++n == number; next }
	!inside { next }
	/^[ \t]*}/ { exit }
	image != "" && /^[ \t]*echo[ \t]/ { next }
	image != "" && /^[ \t]*initrd/ {
		k = split($0, w, /[ \t]+/)
		first = w[1] == "" ? 2 : 1
		line = ""; left = 0
		for (i = first + 1; i <= k; i++) {
			if (index(w[i], pattern)) {
				if (initrd == "") continue
				sub(/[^\/]*$/, "", w[i]); w[i] = w[i] initrd
			}
			line = line " " w[i]; left++
		}
		if (left) print "\t" w[first] line
		next
	}
	/^[ \t]*linux(16|efi)?[ \t]/ {
		if (image != "") {
			match($0, /^[ \t]*linux[a-z0-9]*[ \t]+[^ \t]*/)
			start = substr($0, 1, RLENGTH); rest = substr($0, RLENGTH + 1)
			sub(/[^\/ \t]*$/, "", start)
			$0 = start image rest
		}
		$0 = $0 " ${kab_args}"
	}
	{ print }' "$cfg"
}

grub_select() {
	grub_files
	[ -n "$grub" ] && [ -n "$editenv" ] || die 'GRUB or its grub-editenv is not there'
	is_ours "$own" || die "$own exists and is not kab's; move it away"
	forget grub
	if [ -n "$bls" ]; then
		bls_resolve "$1" "$entries"
		bls_body "$1" "$2" | write_own || die "cannot write $own"
	else
		grub_resolve "$1"
		{
			say "$mark"
			say "menuentry 'kab: one-shot boot of $1' --id $id {"
			say "	load_env"
			grub_body
			say "}"
		} | write_own || die "cannot write $own"
	fi
	grep -q '^[[:space:]]*linux' "$own" || die "$own has no line that starts a kernel; not rebooting"
	"$editenv" "$env" set "kab_args=$2" && "$editenv" "$env" set "next_entry=$id" || {
		"$editenv" "$env" unset next_entry kab_args 2>/dev/null
		die "cannot write $env"
	}
	sync
	# Something else may rewrite the block: believe only what is read back.
	back=$(grub_env next_entry)
	args=$(grub_env kab_args)
	if [ "$back" != "$id" ] || [ "$args" != "$2" ]; then
		"$editenv" "$env" unset next_entry kab_args
		die "next_entry was set to '$id' but reads '$back'; not rebooting"
	fi
	say "entry=$id"
}

# found= the loader entry (a file of $2) that starts kernel $1, or the pattern for it; image= and
# initrd= as for grub_resolve.
bls_resolve() {
	found=
	image=
	initrd=
	any=
	running=
	for f in "$2"/*.conf; do
		case $f in
		"$2/$id.conf" | *rescue*) continue ;;
		esac
		[ -r "$f" ] || continue
		r=$(bls_release "$f")
		any=${any:-$f}
		[ "$r" = "$(uname -r)" ] && running=$f
		[ "$r" = "$1" ] || continue
		[ -z "$found" ] || die "two loader entries start kernel $1: $found and $f"
		found=$f
	done
	entry=$found
	[ -z "$found" ] || return 0
	if [ -s "$kabdir/vmlinuz-$1" ]; then
		image=kab/vmlinuz-$1
		[ -s "$kabdir/initrd.img-$1" ] && initrd=kab/initrd.img-$1
	elif [ "$2" = "$entries" ] && f=$(image_of "$1"); then
		image=${f##*/}
		f=$(initrd_of "$1") && initrd=${f##*/}
	else
		die "no loader entry in $2 starts kernel $1, and kab has not installed it"
	fi
	if [ "$2" = "$entries" ]; then
		bls_named "$2" "$(grub_env saved_entry)" || found=${running:-$any}
	else
		found=${running:-$any}
	fi
	[ -n "$found" ] || die "no loader entry in $2 could serve as the pattern for kernel $1"
	entry="$image after the pattern of ${found##*/}"
}

# The entry found, as ours, for kernel $1 with arguments $2.
bls_body() {
	say "$mark"
	args=$2 awk -v rel="$1" -v image="$image" -v initrd="$initrd" -v place="$place" '
	/^(title|id|sort-key|grub_[a-z]+)[ \t]/ || /^#/ { next }
	/^version[ \t]/ { print "version " rel; next }
	image != "" && /^linux[ \t]/ {
		dir = $2; sub(/[^\/]*$/, "", dir)
		if (place != "") dir = place
		print "linux " dir image
		if (initrd != "") print "initrd " dir initrd
		next
	}
	image != "" && /^initrd[ \t]/ { next }
	# There may be several lines of them, and of a word that comes twice the later one wins: ours.
	/^options([ \t]|$)/ { sub(/^options[ \t]*/, ""); if ($0 != "") line = line " " $0; next }
	{ print }
	END { print "options" line " " ENVIRON["args"] }' "$found"
	say "title kab: one-shot boot of $1"
}

sd_files() {
	sd_find
	own=$esp/loader/entries/$id.conf
	oneshot=/sys/firmware/efi/efivars/LoaderEntryOneShot-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f
}

sd_preflight() {
	sd_files
	have bootctl || refuse 'bootctl is not installed (Debian package systemd-boot)'
	[ -n "$esp" ] || {
		refuse 'no loader/entries folder on the boot or EFI partition'
		return
	}
	say "entries=$esp/loader/entries"
	is_ours "$own" || refuse "$own exists and is not kab's; move it away"
	[ -w "$esp/loader/entries" ] || refuse "$esp/loader/entries cannot be written"
	[ -d /sys/firmware/efi/efivars ] || [ -n "$root" ] || refuse 'EFI variables are not there: the one-shot entry cannot be set'
	say "default=$(default_release)"
}

# systemd-boot reads only its own partition: the kernel is copied there.
sd_copy() {
	[ "$esp/kab" = "$kabdir" ] && return
	mkdir -p "$esp/kab" && rm -f "$esp/kab"/* &&
		cp "$kabdir/vmlinuz-$1" "$esp/kab/" &&
		{ [ -z "$initrd" ] || cp "$kabdir/initrd.img-$1" "$esp/kab/"; } ||
		{
			rm -rf "$esp/kab"
			die "cannot copy kernel $1 to $esp; is it full?"
		}
}

sd_select() {
	sd_files
	[ -n "$esp" ] || die 'no loader/entries folder'
	is_ours "$own" || die "$own exists and is not kab's; move it away"
	bls_resolve "$1" "$esp/loader/entries"
	[ -z "$image" ] || sd_copy "$1"
	place=/
	bls_body "$1" "$2" | write_own || die "cannot write $own"
	bootctl set-oneshot "$id.conf" >/dev/null 2>&1 || die 'bootctl set-oneshot failed'
	if [ -r "$oneshot" ]; then
		back=$(tail -c +5 "$oneshot" | tr -d '\000')
		[ "$back" = "$id.conf" ] || die "the one-shot entry was set to '$id.conf' but reads '$back'; not rebooting"
	fi
	say "entry=$id.conf"
}

kexec_files() {
	kernel=$(first_of "$kabdir/vmlinuz-$1" "$root/boot/vmlinuz-$1" "$root/boot/vmlinux-$1" "$root/boot/Image-$1" "$root/lib/modules/$1/vmlinuz")
	[ -n "$kernel" ] || die "no kernel image of $1 in /boot"
	initrd=$(first_of "$kabdir/initrd.img-$1" "$root/boot/initrd.img-$1" "$root/boot/initrd-$1" "$root/boot/initramfs-$1.img")
}

kexec_preflight() {
	have kexec || refuse 'kexec is not installed (Debian package kexec-tools)'
	[ -e /sys/kernel/kexec_loaded ] || refuse 'the running kernel has no kexec (CONFIG_KEXEC)'
	[ "$(cat /proc/sys/kernel/kexec_load_disabled 2>/dev/null)" = 1 ] && refuse 'kexec is disabled (kernel.kexec_load_disabled is 1)'
	return 0
}

kexec_select() {
	kexec_files "$1"
	line=
	set -f
	for w in $(cat /proc/cmdline); do
		case $w in
		# From here on it is what kab gave to the kernel that runs, and not for the next one.
		kab.nonce=*) break ;;
		BOOT_IMAGE=* | initrd=*) ;;
		*) line="$line $w" ;;
		esac
	done
	set +f
	if [ -n "$initrd" ]; then
		out=$(kexec -l "$kernel" --initrd="$initrd" --append="${line# } $2" 2>&1)
	else
		out=$(kexec -l "$kernel" --append="${line# } $2" 2>&1)
	fi || die "kexec -l failed: $(say "$out" | tail -n 1)"
	[ "$(cat /sys/kernel/kexec_loaded)" = 1 ] || die 'kexec -l said nothing but no kernel is loaded; not rebooting'
	say "entry=$kernel"
}

restart() {
	sync
	# Away from this shell and its descriptors, so that the answer still gets out.
	if [ "$1" = kexec ]; then
		job='sleep 1; if [ -d /run/systemd/system ]; then systemctl kexec; else sync; kexec -e; fi; sleep 20; reboot'
	else
		job='sleep 1; if [ -d /run/systemd/system ]; then systemctl reboot; else reboot; fi; sleep 60; reboot -f'
	fi
	if have setsid; then
		setsid sh -c "$job" </dev/null >/dev/null 2>&1 &
	else
		(
			trap '' HUP
			sh -c "$job"
		) </dev/null >/dev/null 2>&1 &
	fi
	say "restarting=1"
}

# Another's choice stays.
forget() {
	case $1 in
	grub)
		grub_files
		[ -n "$editenv" ] && [ -f "$env" ] || return 0
		[ "$(grub_env next_entry)" = "$id" ] && "$editenv" "$env" unset next_entry
		[ -n "$(grub_env kab_args)" ] && "$editenv" "$env" unset kab_args
		;;
	systemd-boot)
		sd_files
		[ -r "$oneshot" ] && [ "$(tail -c +5 "$oneshot" | tr -d '\000')" != "$id.conf" ] && return 0
		have bootctl && bootctl set-oneshot '' >/dev/null 2>&1
		;;
	kexec) [ "$(cat /sys/kernel/kexec_loaded 2>/dev/null)" = 1 ] && kexec -u >/dev/null 2>&1 ;;
	esac
	return 0
}

unown() {
	forget "$1"
	case $1 in
	grub) grub_files ;;
	systemd-boot)
		sd_files
		if [ -n "$esp" ] && [ "$esp/kab" != "$kabdir" ] && [ -d "$esp/kab" ]; then
			rm -rf "$esp/kab" && say "removed=$esp/kab"
		fi
		;;
	*) return 0 ;;
	esac
	[ -e "$own" ] || return 0
	is_ours "$own" || die "$own is not kab's"
	rm -f "$own" && say "removed=$own"
}

evidence() {
	for f in /sys/fs/pstore/* /var/lib/systemd/pstore/*; do
		[ -f "$f" ] && {
			say "--- $f"
			tail -n 40 "$f"
		}
	done
	if have journalctl; then
		j=$(journalctl -k -b -1 -n 40 --no-pager 2>/dev/null)
		[ -n "$j" ] && {
			say '--- journal of the previous boot'
			say "$j"
		}
	fi
	return 0
}

verb=$1
method=$2
refused=
case $verb:$method in
preflight:grub) grub_preflight ;;
preflight:systemd-boot) sd_preflight ;;
preflight:kexec) kexec_preflight ;;
lookup:grub) grub_lookup "$3" ;;
lookup:systemd-boot)
	sd_files
	[ -n "$esp" ] || die 'no loader/entries folder'
	bls_resolve "$3" "$esp/loader/entries"
	say "entry=$entry"
	;;
lookup:kexec)
	kexec_files "$3"
	say "entry=$kernel"
	;;
select:grub) grub_select "$3" "$4" ;;
select:systemd-boot) sd_select "$3" "$4" ;;
select:kexec) kexec_select "$3" "$4" ;;
reboot:*) restart "$method" ;;
clear:*) forget "$method" ;;
remove:*) unown "$method" ;;
evidence:*) evidence ;;
*) die "unknown verb '$verb' or method '$method'" ;;
esac
[ -z "$refused" ]
