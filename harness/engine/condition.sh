# SPDX-License-Identifier: GPL-3.0-or-later
# Conditions of a host: settings that are not the kernel. POSIX sh; needs the rights to write.
#	check NAME...	          exit 0 when each control exists; says what does not
#	apply DIR NAME VALUE ...  note the old values in DIR/undo, set, read back
#	verify DIR NAME VALUE ... exit 1 when a value is not (or no longer) there
#	undo DIR                  restore what DIR/undo notes, newest first, and remove the note
# The last line printed is end=0, or end=1 after a refusal, whose reason stands before it.
# Every value of a group of files (governors, sibling threads) is noted file by file. What is no file
# (a mount's options, a group of CPUs, a hook) is noted as a line of its own kind.
# Hooks: the variables hook_apply, hook_undo and hook_verify hold shell command lines; the value is
# added as the last word.
LC_ALL=C
export LC_ALL
cpu=/sys/devices/system/cpu
newline='
'
usual_ifs=$IFS

# Lists of files are one a line, and their names may have blanks: they are split with IFS=$newline
# and `set -f`, and the body of the loop begins with this.
plain_words() {
	IFS=$usual_ifs
	set +f
}

say() {
	printf '%s\n' "$*"
}

# Why a write may have failed: "refused" leads to advice about root rights.
how() {
	if [ "$(id -u)" = 0 ]; then say 'did not work'; else say 'was refused'; fi
}

# The files behind a condition, one a line; nothing when the host has no such control.
files() {
	case $1 in
	smt)
		if [ -e $cpu/smt/control ] && ! grep -q 'not\(supported\|implemented\)' $cpu/smt/control; then
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
	irq_affinity) ls /proc/irq/[0-9]*/smp_affinity_list 2>/dev/null ;;
	esac
}

cgroup_root() {
	awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts
}

mount_options() {
	awk -v p="$1" '$2 == p { o = $4 } END { print o }' /proc/mounts
}

# Conditions that are no files: does this host have the control?
special_check() {
	case $1 in
	cpuset)
		g=$(cgroup_root)
		[ -n "$g" ] && grep -qw cpuset "$g/cgroup.controllers" 2>/dev/null
		;;
	mount:*) [ -n "$(mount_options "${1#mount:}")" ] ;;
	hook:*) [ -n "$hook_apply" ] && [ -n "$hook_undo" ] ;;
	esac
}

is_special() {
	case $1 in
	cpuset | mount:* | hook:*) return 0 ;;
	esac
	return 1
}

note_line() {
	printf '%s\t%s\n' "$2" "$3" >>"$1/undo" && sync
}

# A group of CPUs that nothing else runs on; the benchmark is started in it (agent.sh looks for it).
cpuset_apply() {
	g=$(cgroup_root)
	note_line "$1" "cgroup:$g" "$(grep -qw cpuset "$g/cgroup.subtree_control" && echo had)" || return 1
	echo +cpuset 2>/dev/null >"$g/cgroup.subtree_control"
	mkdir -p "$g/kab" || return 1
	echo "$2" 2>/dev/null >"$g/kab/cpuset.cpus" || {
		say "cannot set cpuset to '$2': writing to $g/kab/cpuset.cpus $(how)"
		return 1
	}
	for kind in isolated root; do
		echo $kind 2>/dev/null >"$g/kab/cpuset.cpus.partition"
		[ "$(cat "$g/kab/cpuset.cpus.partition" 2>/dev/null)" = $kind ] && return 0
	done
	say "cannot isolate the CPUs '$2': $g/kab/cpuset.cpus.partition reads '$(cat "$g/kab/cpuset.cpus.partition" 2>/dev/null)'"
	return 1
}

cpuset_undo() {
	g=${1#cgroup:}
	[ -d "$g/kab" ] || return 0
	echo member 2>/dev/null >"$g/kab/cpuset.cpus.partition"
	while read -r pid; do
		echo "$pid" 2>/dev/null >"$g/cgroup.procs"
	done <"$g/kab/cgroup.procs"
	rmdir "$g/kab" || return 1
	[ "$2" = had ] || echo -cpuset 2>/dev/null >"$g/cgroup.subtree_control"
	return 0
}

special_apply() {
	case $2 in
	cpuset) cpuset_apply "$1" "$3" ;;
	mount:*)
		note_line "$1" "$2" "$(mount_options "${2#mount:}")" || return 1
		mount -o "remount,$3" "${2#mount:}" 2>&1 || {
			say "cannot remount ${2#mount:} with '$3'"
			return 1
		}
		;;
	hook:*)
		note_line "$1" "$2" "$hook_undo" || return 1
		out=$(eval "$hook_apply \"\$3\"" 2>&1) || {
			say "the hook of $2 failed: $(say "$out" | tail -n 1)"
			return 1
		}
		;;
	esac
	special_verify "$2" "$3"
}

special_verify() {
	case $1 in
	cpuset)
		g=$(cgroup_root)
		case $(cat "$g/kab/cpuset.cpus.partition" 2>/dev/null) in
		isolated | root) ;;
		*)
			say "the CPUs '$2' are no longer isolated"
			return 1
			;;
		esac
		;;
	mount:*)
		o=,$(mount_options "${1#mount:}"),
		for w in $(say "$2" | tr ',' ' '); do
			case $o in
			*,"$w",*) ;;
			*)
				say "${1#mount:} should be mounted with '$w' but has '$o'"
				return 1
				;;
			esac
		done
		;;
	hook:*)
		[ -n "$hook_verify" ] || return 0
		out=$(eval "$hook_verify \"\$2\"" 2>&1) || {
			say "the check of $1 says no: $(say "$out" | tail -n 1)"
			return 1
		}
		;;
	esac
}

special_undo() {
	case $1 in
	cgroup:*) cpuset_undo "$1" "$2" ;;
	mount:*) mount -o "remount,$2" "${1#mount:}" 2>/dev/null ;;
	hook:*) eval "$2" >/dev/null 2>&1 ;;
	*) return 2 ;;
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
		if is_special "$name"; then
			special_check "$name" && continue
			say "no such control: $name"
			bad=1
		elif [ -z "$(files "$name")" ]; then
			say "no such control: $name"
			bad=1
		fi
	done
	return $bad
}

verify() {
	dir=$1
	shift
	while [ $# -gt 1 ]; do
		if is_special "$1"; then
			special_verify "$1" "$2" || return 1
			shift 2
			continue
		fi
		list=$(files "$1")
		# Some interrupts cannot be moved; those that were are noted.
		[ "$1" = irq_affinity ] && list=$(sed -n 's|^\(/proc/irq/[^	]*\)	.*|\1|p' "$dir/undo" 2>/dev/null)
		[ -n "$list" ] || {
			case $1:$2 in
			smt:off | irq_affinity:*) ;;
			*)
				say "no such control: $1"
				return 1
				;;
			esac
		}
		IFS=$newline
		set -f
		for f in $list; do
			plain_words
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
		plain_words
		shift 2
	done
}

apply() {
	dir=$1
	shift
	mkdir -p "$dir" || return 1
	all="$*"
	while [ $# -gt 1 ]; do
		if is_special "$1"; then
			special_check "$1" || {
				say "no such control: $1"
				return 1
			}
			special_apply "$dir" "$1" "$2" || return 1
			shift 2
			continue
		fi
		list=$(files "$1")
		if [ -z "$list" ]; then
			say "no such control: $1"
			return 1
		fi
		IFS=$newline
		set -f
		for f in $list; do
			plain_words
			w=$(wanted "$1" "$f" "$2")
			old=$(current "$f")
			same "$old" "$w" && continue
			if [ "$1" = irq_affinity ]; then
				printf '%s\n' "$w" 2>/dev/null >"$f" || continue
				note_line "$dir" "$f" "$old" || return 1
				continue
			fi
			# The note comes first: a crash between the two lines undoes too much, never too little.
			if ! cut -f1 "$dir/undo" 2>/dev/null | grep -qxF -e "$f"; then
				printf '%s\t%s\n' "$f" "$old" >>"$dir/undo" || return 1
				sync
			fi
			if ! printf '%s\n' "$w" 2>/dev/null >"$f"; then
				say "cannot set $1 to '$2': writing '$w' to $f $(how)"
				return 1
			fi
			new=$(current "$f")
			if ! same "$new" "$w"; then
				say "$1 was set to '$2' but $f reads '$new'"
				return 1
			fi
		done
		plain_words
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
		case $f in
		/*) ;;
		*)
			special_undo "$f" "$old" || {
				say "cannot take back $f"
				bad=1
			}
			continue
			;;
		esac
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
check | apply | verify | undo)
	"$verb" "$@"
	rc=$?
	say "end=$((rc != 0))"
	exit $rc
	;;
*)
	say "unknown verb '$verb'"
	exit 64
	;;
esac
