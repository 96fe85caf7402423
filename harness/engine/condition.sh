# Conditions of a host: settings that are not the kernel. POSIX sh; needs the rights to write.
#	check NAME...	          exit 0 when each control exists; says what does not
#	apply DIR NAME VALUE ...  note the old values in DIR/undo, set, read back
#	verify NAME VALUE ...     exit 1 when a value is not (or no longer) there
#	undo DIR                  restore what DIR/undo notes, newest first, and remove the note
# Every value of a group of files (governors, sibling threads) is noted file by file.
LC_ALL=C
export LC_ALL
cpu=/sys/devices/system/cpu

say() {
	printf '%s\n' "$*"
}

# The files behind a condition, one a line; nothing when the host has no such control.
files() {
	case $1 in
	smt)
		if [ -e $cpu/smt/control ] && ! grep -q notsupported $cpu/smt/control; then
			say $cpu/smt/control
		else
			# No control file (older kernels): the second and later threads of each core.
			for t in "$cpu"/cpu[0-9]*/topology/thread_siblings_list; do
				[ -r "$t" ] || continue
				c=${t%/topology/*}
				n=${c##*/cpu}
				lowest=$(tr ',-' '\n\n' <"$t" | sort -n | head -n 1)
				[ "$n" != "$lowest" ] && [ -e "$c/online" ] && say "$c/online"
			done
			# Threads that are off have no topology; they were noted when switched off.
			[ -n "$KAB_SMT_OFFLINE" ] && say "$KAB_SMT_OFFLINE"
		fi
		;;
	governor) ls "$cpu"/cpu[0-9]*/cpufreq/scaling_governor 2>/dev/null ;;
	thp) ls /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null ;;
	turbo) ls "$cpu/intel_pstate/no_turbo" 2>/dev/null || ls "$cpu/cpufreq/boost" 2>/dev/null ;;
	sysctl.*) ls -d "/proc/sys/$(say "${1#sysctl.}" | tr . /)" 2>/dev/null ;;
	file:*) [ -e "${1#file:}" ] && say "${1#file:}" ;;
	esac
}

# What to write into FILE so that condition NAME has VALUE.
wanted() {
	case $1:$2:$3 in
	smt:*/online:on | turbo:*/boost:on | turbo:*/no_turbo:off) say 1 ;;
	smt:*/online:off | turbo:*/boost:off | turbo:*/no_turbo:on) say 0 ;;
	*) say "$3" ;;
	esac
}

current() {
	case $1 in
	*/transparent_hugepage/*) sed -n 's/.*\[\(.*\)\].*/\1/p' "$1" ;;
	*) head -n 1 "$1" ;;
	esac
}

# Kernels print numbers in their own way (tabs between fields): compare word by word.
same() {
	# shellcheck disable=SC2086
	[ "$(set -f; set -- $1; say "$*")" = "$(set -f; set -- $2; say "$*")" ]
}

check() {
	bad=0
	for name in "$@"; do
		if [ -z "$(files "$name")" ]; then
			say "no such control: $name"
			bad=1
		fi
	done
	return $bad
}

verify() {
	while [ $# -gt 1 ]; do
		list=$(files "$1")
		[ -n "$list" ] || {
			case $1:$2 in
			smt:off) ;;
			*)
				say "no such control: $1"
				return 1
				;;
			esac
		}
		for f in $list; do
			w=$(wanted "$1" "$f" "$2")
			c=$(current "$f" 2>/dev/null)
			# "forceoff" and "notimplemented" are off as well.
			case $f:$w:$c in
			*/smt/control:off:forceoff) continue ;;
			esac
			if ! same "$c" "$w"; then
				say "$1 should be '$2' but $f reads '$c'"
				return 1
			fi
		done
		shift 2
	done
}

apply() {
	dir=$1
	shift
	mkdir -p "$dir" || return 1
	all="$*"
	while [ $# -gt 1 ]; do
		list=$(files "$1")
		if [ -z "$list" ]; then
			say "no such control: $1"
			return 1
		fi
		for f in $list; do
			w=$(wanted "$1" "$f" "$2")
			old=$(current "$f")
			same "$old" "$w" && continue
			# The note comes first: a crash between the two lines undoes too much, never too little.
			if ! grep -q "^$f	" "$dir/undo" 2>/dev/null; then
				printf '%s\t%s\n' "$f" "$old" >>"$dir/undo" || return 1
				sync
			fi
			if ! printf '%s\n' "$w" 2>/dev/null >"$f"; then
				say "cannot set $1 to '$2': writing '$w' to $f was refused"
				return 1
			fi
			new=$(current "$f")
			if ! same "$new" "$w"; then
				say "$1 was set to '$2' but $f reads '$new'"
				return 1
			fi
		done
		shift 2
	done
	say "applied: $all"
}

undo() {
	[ -f "$1/undo" ] || return 0
	bad=0
	lines=$(awk '{ line[NR] = $0 } END { for (i = NR; i > 0; i--) print line[i] }' "$1/undo")
	tab=$(printf '\t')
	while IFS=$tab read -r f old; do
		[ -e "$f" ] || continue
		if ! printf '%s\n' "$old" 2>/dev/null >"$f"; then
			say "cannot restore $f to '$old'"
			bad=1
		fi
	done <<EOF
$lines
EOF
	[ $bad = 0 ] && rm -f "$1/undo"
	return $bad
}

verb=$1
shift
case $verb in
check | apply | verify | undo) "$verb" "$@" ;;
*)
	say "unknown verb '$verb'"
	exit 64
	;;
esac
