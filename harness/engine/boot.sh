# Choosing the kernel of the next boot, once. POSIX sh (dash, bash, busybox); needs root rights.
#	preflight METHOD            "fact=value" lines; "refuse=REASON" lines say why it cannot work
#	lookup METHOD RELEASE       entry= of an installed kernel, or error=
#	select METHOD RELEASE ARGS  one-shot selection, with ARGS added to the command line; prints
#	                            entry=, kernel=, initrd=, or "error=" and exit 1: nothing is changed then
#	reboot METHOD               restart in one second, detached from this shell
#	clear METHOD                forget a selection that was not used
#	remove METHOD               remove the one file that is ours
#	evidence                    what pstore and the journal of the previous boot kept
# The distribution's entries are never edited. Ours is one file, told by its first line.
LC_ALL=C
export LC_ALL
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
export PATH
mark='# Owned by kab; removed by: kab kernels --remove'
id=kab-oneshot
# Tests look at another root; empty on a host.
root=$KAB_BOOT_ROOT

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
refuse() {
	say "refuse=$*"
	refused=1
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
	own=$grub/custom.cfg
	[ -n "$bls" ] && own=$entries/$id.conf
}

is_ours() {
	[ ! -e "$1" ] || [ "$(head -n 1 "$1")" = "$mark" ]
}

# The file system that holds a path: "DEVICE TYPE".
holder() {
	awk -v p="$1" '{ m = $2; if (m == "/" || index(p "/", m "/") == 1) if (length(m) >= best) {
		best = length(m); line = $1 " " $3 } } END { print line }' /proc/mounts
}

grub_preflight() {
	grub_find
	if [ -z "$grub" ]; then
		refuse 'no grub.cfg in /boot/grub or /boot/grub2; is this host booted by GRUB?'
		return
	fi
	say "grub=$grub"
	say "layout=${bls:+bls}${bls:-debian}"
	[ -n "$editenv" ] || refuse 'neither grub-editenv nor grub2-editenv is installed (Debian package grub-common)'
	if [ ! -f "$env" ]; then
		refuse "there is no $env; create it with: grub-editenv create"
	elif [ "$(wc -c <"$env" | tr -d ' ')" != 1024 ]; then
		refuse "$env is not 1024 bytes long; GRUB would not write to it"
	elif [ ! -w "$env" ]; then
		refuse "$env cannot be written"
	fi
	missing=
	grep -q 'load_env' "$cfg" || missing="$missing load_env;"
	grep -q 'next_entry' "$cfg" || missing="$missing set default=\"\${next_entry}\";"
	grep -q 'save_env.* next_entry' "$cfg" || missing="$missing save_env next_entry;"
	[ -n "$missing" ] && refuse "$cfg never clears next_entry, so a test kernel would stay: it lacks$missing run update-grub, or write these lines"
	[ -z "$bls" ] && { grep -q 'custom\.cfg' "$cfg" || refuse "$cfg does not source custom.cfg (Debian's 41_custom does)"; }
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
	[ -n "$editenv" ] && say "pending=$("$editenv" "$env" list 2>/dev/null | sed -n 's/^next_entry=//p')"
	[ -n "$editenv" ] && say "default=$("$editenv" "$env" list 2>/dev/null | sed -n 's/^saved_entry=//p')"
}

# Menu entries of grub.cfg that start RELEASE: "ID<TAB>TITLE" lines; recovery entries are left out.
grub_candidates() {
	awk -v rel="$1" '
	/^[ \t]*menuentry[ \t]/ { inside = 1; head = $0; linux = ""; next }
	inside && /^[ \t]*linux(16|efi)?[ \t]/ { linux = $0 }
	inside && /^[ \t]*}/ {
		inside = 0
		n = split(linux, w, /[ \t]+/)
		first = w[1] == "" ? 3 : 2
		base = w[first]; sub(/.*\//, "", base)
		if ((base == "vmlinuz-" rel || base == "vmlinux-" rel || base == "kernel-" rel) &&
		    linux !~ /[ \t](single|recovery|rescue)([ \t]|$)/) {
			eid = ""
			m = split(head, h, /[ \t]+/)
			for (i = 1; i <= m; i++)
				if (h[i] == "--id" || h[i] == "$menuentry_id_option") eid = h[i + 1]
			gsub(/['\''"]/, "", eid)
			title = head; sub(/^[ \t]*menuentry[ \t]+/, "", title); sub(/[ \t]*{.*/, "", title)
			print (eid == "" ? "-" : eid) "\t" title
		}
	}' "$cfg"
}

grub_lookup() {
	grub_find
	if [ -n "$bls" ]; then
		bls_entry "$1" "$entries" || exit 1
		say "entry=$found"
		return
	fi
	list=$(grub_candidates "$1")
	[ -n "$list" ] || die "no entry of $cfg starts kernel $1; is it installed, and was update-grub run?"
	dup=$(say "$list" | cut -f1 | grep -v '^-$' | sort | uniq -d | head -n 1)
	[ -z "$dup" ] || die "the entry id '$dup' is there twice: $(say "$list" | cut -f2 | tr '\n' ' ')"
	say "entry=$(say "$list" | head -n 1 | tr '\t' ' ')"
}

# The body of the first such entry, with ${kab_args} behind its command line.
grub_body() {
	awk -v rel="$1" '
	/^[ \t]*menuentry[ \t]/ { inside = 1; n = 0; good = 0; next }
	inside && /^[ \t]*}/ {
		inside = 0
		if (good && !done) { for (i = 1; i <= n; i++) print body[i]; done = 1 }
		next
	}
	inside {
		line = $0
		if (line ~ /^[ \t]*linux(16|efi)?[ \t]/) {
			k = split(line, w, /[ \t]+/)
			base = w[w[1] == "" ? 3 : 2]; sub(/.*\//, "", base)
			good = (base == "vmlinuz-" rel || base == "vmlinux-" rel || base == "kernel-" rel) &&
				line !~ /[ \t](single|recovery|rescue)([ \t]|$)/
			line = line " ${kab_args}"
		}
		body[++n] = line
	}' "$cfg"
}

write_own() {
	tmp=$own.kab-new
	cat >"$tmp" && sync && mv "$tmp" "$own" && sync
}

grub_select() {
	grub_find
	[ -n "$grub" ] && [ -n "$editenv" ] || die 'GRUB or its grub-editenv is not there'
	is_ours "$own" || die "$own exists and is not kab's; move it away"
	if [ -n "$bls" ]; then
		bls_entry "$1" "$entries" || exit 1
		{
			say "$mark"
			sed -e 's/^title .*/title kab one-shot/' -e '/^id /d' -e "s|^options .*|& $2|" "$found"
		} | write_own || die "cannot write $own"
		entry=$id
	else
		grub_lookup "$1" >/dev/null || grub_lookup "$1" || exit 1
		{
			say "$mark"
			say "menuentry 'kab: one-shot boot of $1' --id $id {"
			say "	load_env"
			grub_body "$1"
			say "}"
		} | write_own || die "cannot write $own"
		entry=$id
	fi
	"$editenv" "$env" set "kab_args=$2" && "$editenv" "$env" set "next_entry=$entry" ||
		die "cannot write $env"
	sync
	# Something else may rewrite the block: believe only what is read back.
	back=$("$editenv" "$env" list | sed -n 's/^next_entry=//p')
	args=$("$editenv" "$env" list | sed -n 's/^kab_args=//p')
	if [ "$back" != "$entry" ] || [ "$args" != "$2" ]; then
		"$editenv" "$env" unset next_entry
		die "next_entry was set to '$entry' but reads '$back'; not rebooting"
	fi
	say "entry=$entry"
}

# found = the loader entry (a file of $2) that starts RELEASE.
bls_entry() {
	found=
	for f in "$2"/*.conf; do
		[ "$f" != "$2/$id.conf" ] && [ -r "$f" ] || continue
		v=$(sed -n 's/^version[[:space:]]*//p' "$f" | head -n 1)
		l=$(sed -n 's/^linux[[:space:]]*//p' "$f" | head -n 1)
		case $f in *rescue*) continue ;; esac
		case $l in
		*/vmlinuz-"$1" | */vmlinux-"$1" | */"$1"/linux) ;;
		*) [ "$v" = "$1" ] || continue ;;
		esac
		[ -z "$found" ] || {
			say "error=two loader entries start kernel $1: $found and $f"
			return 1
		}
		found=$f
	done
	[ -n "$found" ] || {
		say "error=no loader entry in $2 starts kernel $1"
		return 1
	}
}

sd_find() {
	esp=
	for d in $(bootctl -x 2>/dev/null) $(bootctl -p 2>/dev/null) /boot /efi /boot/efi; do
		[ -d "$root$d/loader/entries" ] && esp=$root$d && break
	done
	own=$esp/loader/entries/$id.conf
	oneshot=/sys/firmware/efi/efivars/LoaderEntryOneShot-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f
}

sd_preflight() {
	sd_find
	have bootctl || refuse 'bootctl is not installed (Debian package systemd-boot)'
	[ -n "$esp" ] || {
		refuse 'no loader/entries folder on the boot or EFI partition'
		return
	}
	say "entries=$esp/loader/entries"
	is_ours "$own" || refuse "$own exists and is not kab's; move it away"
	[ -w "$esp/loader/entries" ] || refuse "$esp/loader/entries cannot be written"
	[ -d /sys/firmware/efi/efivars ] || [ -n "$root" ] || refuse 'EFI variables are not there: the one-shot entry cannot be set'
}

sd_select() {
	sd_find
	[ -n "$esp" ] || die 'no loader/entries folder'
	is_ours "$own" || die "$own exists and is not kab's; move it away"
	bls_entry "$1" "$esp/loader/entries" || exit 1
	{
		say "$mark"
		if grep -q '^options' "$found"; then
			sed -e 's/^title .*/title kab one-shot/' -e "s|^options .*|& $2|" "$found"
		else
			sed -e 's/^title .*/title kab one-shot/' "$found"
			say "options $2"
		fi
	} | write_own || die "cannot write $own"
	bootctl set-oneshot "$id.conf" >/dev/null 2>&1 || die 'bootctl set-oneshot failed'
	if [ -r "$oneshot" ]; then
		back=$(tail -c +5 "$oneshot" | tr -d '\000')
		[ "$back" = "$id.conf" ] || die "the one-shot entry was set to '$id.conf' but reads '$back'; not rebooting"
	fi
	say "entry=$id.conf"
}

kexec_files() {
	kernel=
	for f in "$root/boot/vmlinuz-$1" "$root/boot/vmlinux-$1" "$root/boot/Image-$1" "$root/lib/modules/$1/vmlinuz"; do
		[ -r "$f" ] && kernel=$f && break
	done
	initrd=
	for f in "$root/boot/initrd.img-$1" "$root/boot/initrd-$1" "$root/boot/initramfs-$1.img"; do
		[ -r "$f" ] && initrd=$f && break
	done
}

kexec_preflight() {
	have kexec || refuse 'kexec is not installed (Debian package kexec-tools)'
	[ -e /sys/kernel/kexec_loaded ] || refuse 'the running kernel has no kexec (CONFIG_KEXEC)'
	[ "$(cat /proc/sys/kernel/kexec_load_disabled 2>/dev/null)" = 1 ] && refuse 'kexec is disabled (kernel.kexec_load_disabled is 1)'
	return 0
}

kexec_select() {
	kexec_files "$1"
	[ -n "$kernel" ] || die "no kernel image of $1 in /boot"
	line=
	for w in $(cat /proc/cmdline); do
		case $w in
		BOOT_IMAGE=* | kab.nonce=* | initrd=*) ;;
		*) line="$line $w" ;;
		esac
	done
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

forget() {
	case $1 in
	grub)
		grub_find
		[ -n "$editenv" ] && [ -f "$env" ] && "$editenv" "$env" unset next_entry kab_args 2>/dev/null
		;;
	systemd-boot) have bootctl && bootctl set-oneshot '' >/dev/null 2>&1 ;;
	kexec) [ "$(cat /sys/kernel/kexec_loaded 2>/dev/null)" = 1 ] && kexec -u >/dev/null 2>&1 ;;
	esac
	return 0
}

unown() {
	forget "$1"
	case $1 in
	grub) grub_find ;;
	systemd-boot) sd_find ;;
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
	sd_find
	bls_entry "$3" "$esp/loader/entries" || exit 1
	say "entry=$found"
	;;
lookup:kexec)
	kexec_files "$3"
	[ -n "$kernel" ] || die "no kernel image of $3 in /boot"
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
