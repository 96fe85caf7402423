# SPDX-License-Identifier: GPL-3.0-or-later
# kab's side on the target. POSIX sh: dash, bash and busybox; needs nothing but /proc.
#
#   sh agent.sh COMMAND BASE RUN ARGUMENTS...
#
# A run is the folder BASE/RUN:
#   boot       id of the boot in which it was started
#   job        what to do: a shell file of settings and functions; it appears by link(2), complete
#   fifo       the supervisor holds its writing end for as long as it lives
#   pid        "PID STARTTIME BOOT" of the supervisor, made by link(2): the one gate. Who cannot
#              make it does nothing, so a run is executed at most once
#   w.*        the working folder
#   out err steps bg    output of benchmark, untimed steps and load
#   current, load, last "PID STARTTIME" of the group of the running step, the load, the cleanup step
#   killed, timed_out   marks
#   result     appears by rename when everything is over
# Answers are lines of KEY=VALUE, closed by "end": an answer without it was cut off.
#
# Shells differ in what they do with a failing redirection, with traps during `wait` and with
# `set -m`; what looks roundabout below is there because one of the three needs it.

# What the caller's environment exports under one of our names would change for the benchmark.
unset COMMAND BASE RUN DIR AGENT SETSID DEFSIG BOOT UP START GROUP LEASE GEN OWNER LBOOT LUP TTL \
	PERSIST LEFT RUNNING WORK TIMEOUT STEP_TIMEOUT SETTLE N_PREPARE N_CLEANUP HAS_LOAD TOKEN \
	stat noted n p f w rc pid start boot path tmp tries same mine type uid state alive child dog \
	up0 up1 got timer record allowed failed n_step load_pid line was_timed_out mystart mark opt
LC_ALL=C
PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL PATH
umask 022
AGENT=$0
COMMAND=$1
BASE=$2
RUN=$3
DIR=$BASE/$RUN
SETSID=
command -v setsid >/dev/null 2>&1 && SETSID=setsid

fail() {
	echo "error=$*"
	echo end
	exit 1
}

read_boot() {
	BOOT=unknown
	{ read -r BOOT </proc/sys/kernel/random/boot_id; } 2>/dev/null
}

read_uptime() {
	UP=
	{ read -r UP _ </proc/uptime; } 2>/dev/null
}

# START is field 22 of /proc/PID/stat, empty when there is no such process or it is a zombie.
read_start() {
	START=
	stat=
	{ IFS= read -r stat <"/proc/$1/stat"; } 2>/dev/null
	[ -n "$stat" ] || return 1
	set -- ${stat##*) }
	[ "$1" != Z ] && [ "$1" != X ] || return 1
	START=${20}
}

# Is the process of a "PID STARTTIME BOOT" line alive?
is_alive() {
	[ "$3" = "$BOOT" ] && read_start "$1" && [ "$START" = "$2" ]
}

pause() {
	sleep 0.1 2>/dev/null || sleep 1
}

# GROUP is the group in file $1, if it still belongs to us: its leader is the one noted there, or
# the leader is gone and only its group is left (then the kernel gives the number to nobody else).
read_group() {
	GROUP='' noted=''
	[ -f "$DIR/$1" ] || return 1
	{ read -r GROUP noted <"$DIR/$1"; } 2>/dev/null
	[ -n "$GROUP" ] || return 1
	read_start "$GROUP"
	[ -z "$START" ] || [ "$START" = "$noted" ]
}

# A group of nothing but zombies answers to kill -0; it is over all the same.
group_alive() {
	kill -0 "-$1" 2>/dev/null || return 1
	for p in /proc/[0-9]*; do
		stat=
		{ IFS= read -r stat <"$p/stat"; } 2>/dev/null
		[ -n "$stat" ] || continue
		is_member "$1" ${stat##*) } && return 0
	done
	return 1
}

# is_member GROUP STATE PPID PGRP ...
is_member() {
	[ "$4" = "$1" ] && [ "$2" != Z ] && [ "$2" != X ]
}

# PIDs of everything that carries the run's mark in its environment: also what left its group.
# Not every grep looks behind the first NUL; where none of the two ways works, one is done by hand.
marked() {
	mark=KAB_RUN_DIR=$DIR/
	for opt in -s -sz; do
		if printf 'a\000b=c\000' | grep -q $opt -F b=c 2>/dev/null; then
			grep -l $opt -F "$mark" /proc/[0-9]*/environ 2>/dev/null
			break
		fi
		[ $opt = -sz ] || continue
		for f in /proc/[0-9]*/environ; do
			{ tr '\000' '\n' <"$f"; } 2>/dev/null | grep -q -x -F "$mark" && echo "$f"
		done
	done | while IFS=/ read -r _ _ p _; do
		read_start "$p" && echo "$p"
	done
}

signal_marked() {
	for p in $(marked); do
		kill -"$1" "$p" 2>/dev/null
	done
}

# The leader alone counts too: it may not have reached setsid yet, or there is no setsid.
target_alive() {
	group_alive "$GROUP" || { read_start "$GROUP" && [ "$START" = "$noted" ]; }
}

signal_target() {
	kill -"$1" "-$GROUP" 2>/dev/null ||
		{ read_start "$GROUP" && [ "$START" = "$noted" ] && kill -"$1" "$GROUP" 2>/dev/null; }
}

# TERM to the group in file $1, KILL after two seconds. The file is read once: the supervisor may
# be writing the next step's group meanwhile.
end_group() {
	read_group "$1" && target_alive || return 0
	signal_target TERM
	n=0
	while [ $n -lt 20 ] && target_alive; do
		pause
		n=$((n + 1))
	done
	signal_target KILL
	return 0
}

end_marked() {
	[ -n "$(marked)" ] || return 0
	signal_marked TERM
	n=0
	while [ $n -lt 20 ] && [ -n "$(marked)" ]; do
		pause
		n=$((n + 1))
	done
	signal_marked KILL
}

# ---- the lease: lock.N, one line "OWNER BOOT UPTIME TTL PERSIST" ----

# GEN is the newest generation, 0 if none; OWNER is "-" when it is free; LEFT its seconds to live.
read_lease() {
	tries=0
	while :; do
		GEN=0
		for f in "$LEASE"/lock.*; do
			n=${f##*.}
			case $n in
			'' | *[!0-9]*) continue ;;
			esac
			[ "$n" -gt "$GEN" ] && GEN=$n
		done
		OWNER=- LBOOT=- LUP=0 TTL=0 PERSIST=0 LEFT=0
		[ "$GEN" = 0 ] && return 0
		{ read -r OWNER LBOOT LUP TTL PERSIST <"$LEASE/lock.$GEN"; } 2>/dev/null && break
		tries=$((tries + 1))
		[ $tries -lt 20 ] && continue
		[ -s "$LEASE/lock.$GEN" ] && fail "cannot read $LEASE/lock.$GEN"
		# They appear with their line in them: an empty one is what a power cut left.
		OWNER=-
		return 0
	done
	[ "$OWNER" = - ] && return 0
	read_boot
	read_uptime
	if [ "$LBOOT" = "$BOOT" ]; then
		LEFT=$((LUP + TTL - ${UP%%.*}))
	elif [ "$PERSIST" = 1 ]; then
		LEFT=$((TTL - ${UP%%.*}))
	fi
	[ "$LEFT" -gt 0 ] || LEFT=0
}

# RUNNING is the folder of a run that was started under a lease and is alive.
read_running() {
	RUNNING=
	read_boot
	for f in "$LEASE"/run.*; do
		pid='' start='' boot='' path=''
		{ read -r pid start boot path <"$f"; } 2>/dev/null
		[ -n "$path" ] || continue
		if is_alive "$pid" "$start" "$boot"; then
			RUNNING=$path
			return 0
		fi
		rm -f "$f" 2>/dev/null
	done
	return 1
}

# Make generation GEN+1 with the given line. Fails if somebody else was faster.
next_lease() {
	tmp=$LEASE/tmp.$$.$GEN
	rm -f "$tmp"
	echo "$*" >"$tmp" || fail "cannot write to $LEASE"
	ln "$tmp" "$LEASE/lock.$((GEN + 1))" 2>/dev/null
	rc=$?
	rm -f "$tmp"
	[ $rc = 0 ] || return 1
	GEN=$((GEN + 1))
	for f in "$LEASE"/lock.*; do
		n=${f##*.}
		case $n in
		'' | *[!0-9]*) continue ;;
		esac
		[ "$n" -lt $((GEN - 3)) ] && rm -f "$f" 2>/dev/null
	done
	return 0
}

print_lease() {
	read_running
	echo "token=$GEN"
	echo "owner=$OWNER"
	echo "left=$LEFT"
	echo "persist=$PERSIST"
	echo "running=$RUNNING"
}

# Another user's folder, or one that a stranger prepared, is as good: what is in it is only read.
make_lease_dir() {
	[ -d "$LEASE" ] || mkdir -m 1777 "$LEASE" 2>/dev/null
	[ -d "$LEASE" ] || fail "cannot make $LEASE; every controller looks there, so ${LEASE%/*} has to be writable"
	[ -w "$LEASE" ] || fail "cannot write to $LEASE; every controller looks there, so it has to be writable"
}

lease_busy() {
	print_lease
	echo busy=1
	echo end
	exit 0
}

# lease-acquire DIR OWNER TTL KILL
lease_acquire() {
	make_lease_dir
	tries=0
	while :; do
		read_lease
		same=0
		[ "$OWNER" = "$2" ] && same=1
		if [ $same = 0 ]; then
			[ "$LEFT" -gt 0 ] && lease_busy
			read_running && [ "$4" != 1 ] && lease_busy
		fi
		read_boot
		read_uptime
		next_lease "$2 $BOOT ${UP%%.*} $3 0" && break
		tries=$((tries + 1))
		[ $tries -lt 50 ] || fail "cannot make a lock in $LEASE"
	done
	# A supervisor notes its run and then looks at the lease; here it is the other way round, so
	# at least one of the two sees the other.
	mine=$GEN
	if [ $same = 0 ] && read_running; then
		if [ "$4" = 1 ]; then
			BASE=${RUNNING%/*} RUN=${RUNNING##*/}
			DIR=$RUNNING
			kill_run >/dev/null
		fi
		if read_running; then
			read_lease
			[ "$GEN" = "$mine" ] && next_lease "- - 0 0 0"
			read_lease
			lease_busy
		fi
	fi
	echo "token=$mine"
	echo end
}

# lease-extend DIR OWNER TTL PERSIST TOKEN
lease_extend() {
	read_lease
	[ "$GEN" = "$5" ] && [ "$OWNER" = "$2" ] || lease_busy
	read_boot
	read_uptime
	tmp=$LEASE/tmp.$$.e
	rm -f "$tmp"
	echo "$2 $BOOT ${UP%%.*} $3 $4" >"$tmp" && mv -f "$tmp" "$LEASE/lock.$5" || fail "cannot write to $LEASE"
	read_lease
	[ "$GEN" = "$5" ] || lease_busy
	# Before a reboot of ours the line has to be on the disk.
	[ "$4" = 1 ] && sync
	echo "token=$GEN"
	echo end
}

# lease-release DIR OWNER TOKEN; lease-break DIR; lease-show DIR
lease_release() {
	read_lease
	[ "$GEN" = "$3" ] && [ "$OWNER" = "$2" ] && next_lease "- - 0 0 0"
	echo end
}

lease_break() {
	[ -d "$LEASE" ] || { echo end; exit 0; }
	read_lease
	print_lease
	if [ "$OWNER" != - ]; then
		next_lease "- - 0 0 0" || fail "the lease changed hands meanwhile; try again"
	fi
	echo end
}

lease_show() {
	read_lease
	print_lease
	echo end
}

# ---- where runs can live ----

# usable DIR WHY: writable, ours, on something that outlives a reboot. Makes it.
usable() {
	case $1 in
	/*) ;;
	*)
		echo "refused=$1: not an absolute path"
		return 1
		;;
	esac
	# Only the folder itself holds anything; those above it are as mkdir makes them.
	# shellcheck disable=SC2174
	if [ ! -d "$1" ] && ! mkdir -p -m 700 "$1" 2>/dev/null; then
		echo "refused=$1: cannot be made"
		return 1
	fi
	if [ "$2" != named ] && { [ -L "$1" ] || [ ! -O "$1" ]; }; then
		echo "refused=$1: belongs to somebody else"
		return 1
	fi
	if ! { echo kab >"$1/.probe.$$"; } 2>/dev/null || ! mkfifo "$1/.fifo.$$" 2>/dev/null ||
		! ln "$1/.probe.$$" "$1/.link.$$" 2>/dev/null || [ "$(cat "$1/.link.$$" 2>/dev/null)" != kab ]; then
		rm -f "$1/.probe.$$" "$1/.fifo.$$" "$1/.link.$$" 2>/dev/null
		echo "refused=$1: not writable, full, or without links and fifos"
		return 1
	fi
	rm -f "$1/.probe.$$" "$1/.fifo.$$" "$1/.link.$$"
	type=$(stat -f -c %T "$1" 2>/dev/null)
	case $type in
	tmpfs | ramfs | rootfs)
		if [ "$2" != named ]; then
			echo "refused=$1: in memory ($type), a reboot would empty it"
			return 1
		fi
		;;
	esac
	echo "dir=$1"
}

# probe-dir [DIR]
probe_dir() {
	uid=$(id -u)
	echo "uid=$uid"
	if [ -n "$1" ]; then
		usable "$1" named
	else
		{ [ -n "$XDG_STATE_HOME" ] && usable "$XDG_STATE_HOME/kab" found; } ||
			{ [ -n "$HOME" ] && usable "$HOME/.local/state/kab" found; } ||
			usable "/var/tmp/kab-$uid" found
	fi
	echo end
}

# ---- runs ----

status() {
	read_boot
	alive=0
	if [ -f "$DIR/result" ]; then
		state='done'
	elif [ ! -f "$DIR/job" ]; then
		state=none
	elif [ -f "$DIR/pid" ]; then
		pid='' start='' boot=''
		{ read -r pid start boot <"$DIR/pid"; } 2>/dev/null
		if [ "$boot" = killed ]; then
			state=aborted
		elif [ "$boot" != "$BOOT" ]; then
			state=rebooted
		elif is_alive "$pid" "$start" "$boot"; then
			state=running
		elif [ -f "$DIR/result" ]; then
			state='done' # it ended between the two looks
		else
			state=lost
			for f in current load last; do
				read_group $f && group_alive "$GROUP" && alive=1
			done
			[ -n "$(marked)" ] && alive=1
		fi
	else
		boot=
		{ read -r boot <"$DIR/boot"; } 2>/dev/null
		state=starting
		[ "$boot" = "$BOOT" ] || state=rebooted
	fi
	echo "state=$state"
	echo "alive=$alive"
	[ $state != 'done' ] || cat "$DIR/result"
	echo end
}

# Start a supervisor if none has begun. Descriptor 5 is the fifo: it passes to the supervisor
# without a gap, so that a waiter who opens it later sees either a writer or the end.
ensure_supervisor() {
	[ -f "$DIR/job" ] && [ ! -f "$DIR/pid" ] || return 0
	read_boot
	boot=
	{ read -r boot <"$DIR/boot"; } 2>/dev/null
	[ "$boot" = "$BOOT" ] || return 0
	exec 5<>"$DIR/fifo"
	$SETSID sh "$AGENT" supervise "$BASE" "$RUN" </dev/null >/dev/null 2>&1 &
	exec 5>&-
}

# stage BASE RUN NONCE NAME MODE LENGTH <bytes
stage() {
	w=$BASE/.stage.$RUN.$4
	mkdir -p "$w" || fail "cannot make $w"
	cat >"$w/$5" || fail "cannot write $w/$5"
	[ "$(wc -c <"$w/$5")" -eq "$7" ] || fail "file $5 arrived incomplete"
	chmod "$6" "$w/$5"
	echo end
}

# start BASE RUN NONCE LENGTH TOKEN LEASE <job
start() {
	w=$BASE/.stage.$RUN.$4
	if [ ! -f "$DIR/job" ]; then
		LEASE=$7
		if [ "$6" != 0 ]; then
			read_lease
			if [ "$GEN" != "$6" ]; then
				rm -rf "$w"
				lease_busy
			fi
		fi
		mkdir -p "$w" "$DIR" || fail "cannot make $DIR"
		cat >"$DIR/job.$4" || fail "cannot write $DIR/job"
		[ "$(wc -c <"$DIR/job.$4")" -eq "$5" ] || fail "the description of the run arrived incomplete"
		mv "$w" "$DIR/w.$4" || fail "cannot make $DIR/w.$4"
		[ -p "$DIR/fifo" ] || mkfifo "$DIR/fifo" 2>/dev/null
		read_boot
		echo "$BOOT" >"$DIR/boot.$4" && mv -f "$DIR/boot.$4" "$DIR/boot"
		ln "$DIR/job.$4" "$DIR/job" 2>/dev/null || rm -rf "$DIR/w.$4"
		rm -f "$DIR/job.$4"
	fi
	rm -rf "$w"
	ensure_supervisor
	# The supervisor notes itself within milliseconds; it is only nicer to say "running".
	n=0
	while [ $n -lt 20 ] && [ ! -f "$DIR/pid" ]; do
		pause
		n=$((n + 1))
	done
	status
}

# Sleep until the supervisor is gone. Opened for both first, because opening a fifo without a
# writer blocks; then for reading only, so that the supervisor's death is the end of the file.
wait_run() {
	ensure_supervisor
	if [ -p "$DIR/fifo" ] && [ ! -f "$DIR/result" ]; then
		exec 4<>"$DIR/fifo" 3<"$DIR/fifo"
		exec 4>&-
		[ -f "$DIR/result" ] || read -r _ <&3
		exec 3<&-
	fi
	status
}

# step BASE RUN NAME TIMER: become the program of a step. After job_env our own variables may
# have been replaced by the user's: what is still needed is in the positional parameters.
step() {
	. "$DIR/job"
	cd "$DIR/$WORK" || exit 126
	set -- "argv_$4" "$5" "$DIR/time"
	KAB_RUN_DIR=$DIR/
	export KAB_RUN_DIR
	job_env
	"$1" "$2" "$3"
}

# watchdog BASE RUN SECONDS FILE
watchdog() {
	sleep "$4"
	true >"$DIR/timed_out"
	end_group "$5"
}

# Both: it may not have reached setsid yet when the step was a short one.
kill_watchdog() {
	[ -n "$dog" ] || return 0
	kill -KILL "-$dog" 2>/dev/null
	kill -KILL "$dog" 2>/dev/null
	wait "$dog" 2>/dev/null
	dog=
}

# wait, again after each trapped signal; rc is that of the process, not of the interruption.
wait_for() {
	while :; do
		got=0
		[ -f killed ] && [ "$2" != last ] && end_group "$2"
		wait "$1"
		rc=$?
		[ $got = 1 ] || return 0
	done
}

oom_count() {
	grep '^oom_kill ' /proc/vmstat 2>/dev/null || echo oom_kill none
}

# run_step NAME SECONDS OUT ERR TIMER FILE: sets rc. The watchdog is there before the clock starts.
run_step() {
	rm -f "$6"
	$SETSID sh "$AGENT" watchdog "$BASE" "$RUN" "$2" "$6" </dev/null >/dev/null 2>&1 5>&- &
	dog=$!
	times >cpu.0
	read_uptime
	up0=$UP
	$SETSID $DEFSIG sh "$AGENT" step "$BASE" "$RUN" "$1" "$5" </dev/null >>"$3" 2>>"$4" 5>&- &
	child=$!
	read_start "$child"
	echo "$child $START" >"$6.new"
	mv "$6.new" "$6"
	wait_for "$child" "$6"
	read_uptime
	up1=$UP
	times >cpu.1
	kill_watchdog
}

# The untimed steps of one kind, until one fails; sets failed and rc.
run_steps() {
	n_step=1
	failed=0
	while [ $n_step -le "$2" ]; do
		[ "$1" = prepare ] && [ -f killed ] && failed=1 && rc=143 && return
		run_step "$1_$n_step" "$STEP_TIMEOUT" steps steps '' "$3"
		if [ "$rc" != 0 ]; then
			failed=$((failed + 1))
			[ "$1" = prepare ] && return
		fi
		n_step=$((n_step + 1))
	done
}

start_load() {
	$SETSID $DEFSIG sh "$AGENT" step "$BASE" "$RUN" load '' </dev/null >>./bg 2>&1 5>&- &
	load_pid=$!
	read_start "$load_pid"
	echo "$load_pid $START" >load.new
	mv load.new load
	if [ "$SETTLE" -gt 0 ]; then
		sleep "$SETTLE" 5>&- &
		wait $!
	fi
	read_start "$load_pid"
}

note() {
	echo "$*" >>result.tmp
}

measure() {
	# A condition may have set CPUs aside: what is measured belongs there.
	set_aside=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/kab/cgroup.procs
	[ -w "$set_aside" ] && echo $$ >"$set_aside"
	if [ "$N_PREPARE" -gt 0 ]; then
		run_steps prepare "$N_PREPARE" current
		if [ "$failed" != 0 ]; then
			note "step=prepare $n_step"
			note "rc=$rc"
			return
		fi
	fi
	if [ "$HAS_LOAD" = 1 ] && ! start_load; then
		wait "$load_pid"
		note "rc=$?"
		note "step=background"
		note "background_died=1"
		return
	fi
	timer=
	case $(/usr/bin/time --version 2>&1 | head -n 1) in
	*GNU*) timer=/usr/bin/time ;;
	esac
	note "step=benchmark"
	note "oom0=$(oom_count)"
	if [ -f killed ]; then
		note "rc=143"
		return
	fi
	run_step benchmark "$TIMEOUT" out err "$timer" current
	note "rc=$rc"
	note "up0=$up0"
	note "up1=$up1"
	note "times0=$(tail -n 1 cpu.0)"
	note "times1=$(tail -n 1 cpu.1)"
	note "oom1=$(oom_count)"
	if [ -n "$timer" ] && [ -f time ]; then
		while IFS= read -r line; do
			note "time=$line"
		done <./time
	elif [ -n "$timer" ]; then
		note "rss_missing=GNU time left no record"
	else
		note "rss_missing=GNU time is not installed"
	fi
	[ "$HAS_LOAD" = 1 ] && ! read_start "$load_pid" && note "background_died=1"
	end_group current
}

# supervise BASE RUN
supervise() {
	cd "$DIR" || exit 1
	trap 'got=1' TERM INT HUP
	read_boot
	read_start $$
	mystart=$START
	echo "$$ $mystart $BOOT" >pid.$$
	ln pid.$$ pid 2>/dev/null
	rc=$?
	rm -f pid.$$
	[ $rc = 0 ] || exit 0
	. ./job
	true >out
	true >err
	rm -f result.tmp
	# Without job control the shell starts background commands with INT and QUIT ignored.
	DEFSIG=
	env --default-signal=INT,QUIT true 2>/dev/null && DEFSIG='env --default-signal=INT,QUIT'
	note "boot=$BOOT"
	record=
	allowed=1
	if [ "$TOKEN" != 0 ]; then
		record=$LEASE/run.$$.$mystart
		echo "$$ $mystart $BOOT $DIR" >"$record" || allowed=0
		read_lease
		[ "$GEN" = "$TOKEN" ] || allowed=0
	fi
	if [ $allowed = 1 ]; then
		measure
		was_timed_out=0
		[ -f timed_out ] && was_timed_out=1
		[ "$HAS_LOAD" = 1 ] && end_group load
		run_steps cleanup "$N_CLEANUP" last
		note "cleanup_failed=$failed"
		note "timed_out=$was_timed_out"
		[ -f killed ] && note "killed=1"
		end_marked
	else
		note "step=lease"
		note "rc=1"
	fi
	[ -z "$record" ] || rm -f "$record"
	sync result.tmp out err 2>/dev/null || sync
	mv result.tmp result
}

# The run in DIR is over when this returns, unless it belongs to another user.
kill_run() {
	if [ -f "$DIR/job" ] && [ ! -f "$DIR/result" ]; then
		true >"$DIR/killed"
		echo "0 0 killed" >"$DIR/pid.k$$"
		ln "$DIR/pid.k$$" "$DIR/pid" 2>/dev/null
		rm -f "$DIR/pid.k$$"
		pid='' start='' boot=''
		{ read -r pid start boot <"$DIR/pid"; } 2>/dev/null
		read_boot
		if is_alive "$pid" "$start" "$boot"; then
			# The supervisor goes on with the cleanup steps and writes the result.
			if kill -TERM "$pid" 2>/dev/null; then
				end_group current
				wait_run >/dev/null
			fi
		elif [ "$boot" = "$BOOT" ]; then
			end_group current
			end_group load
			end_group last
			end_marked
		fi
	fi
	status
}

clean() {
	case $(status) in
	*state=running* | *state=starting* | *alive=1*) fail busy ;;
	esac
	if [ -d "$DIR" ]; then
		mv "$DIR" "$BASE/.gone.$RUN.$$" && rm -rf "$BASE/.gone.$RUN.$$" || fail "cannot remove $DIR"
	fi
	rm -rf "$BASE/.stage.$RUN."*
	echo end
}

list() {
	for f in "$BASE"/*/job; do
		[ -f "$f" ] || continue
		f=${f%/job}
		echo "run=${f##*/}"
	done
	echo end
}

# fetch BASE RUN FILE OFFSET BYTES
fetch() {
	case $4 in
	stdout) f=$DIR/out ;;
	stderr) f=$DIR/err ;;
	background) f=$DIR/bg ;;
	steps) f=$DIR/steps ;;
	*)
		WORK=
		[ -f "$DIR/job" ] && . "$DIR/job"
		f=$DIR/$WORK/$4
		;;
	esac
	[ -f "$f" ] || exit 66
	tail -c "+$(($5 + 1))" "$f" | head -c "$6"
}

LEASE=$BASE
case $COMMAND in
probe-dir) probe_dir "$2" ;;
stage) stage "$@" ;;
start) start "$@" ;;
supervise) supervise ;;
step) step "$@" ;;
watchdog) watchdog "$@" ;;
status) status ;;
wait) wait_run ;;
fetch) fetch "$@" ;;
kill) kill_run ;;
clean) clean ;;
list) list ;;
lease-acquire) lease_acquire "$2" "$3" "$4" "$5" ;;
lease-extend) lease_extend "$2" "$3" "$4" "$5" "$6" ;;
lease-release) lease_release "$2" "$3" "$4" ;;
lease-break) lease_break ;;
lease-show) lease_show ;;
*) fail "unknown command $COMMAND" ;;
esac
