#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Throw-away ssh servers on 127.0.0.1 for tests: own host keys, own user key, a free port.
#
#   sshd.sh start DIR NAME [-s openssh|dropbear] [-k TYPES] [-a ADDRESS] [-p PORT] [OPTION VALUE]...
#       Starts a server called NAME, waits until it listens, and prints its port. Several may share a
#       DIR. TYPES are its host keys (default "ed25519"; also "ecdsa", "rsa", comma separated); OPTION
#       VALUE go into its sshd_config (before the defaults, so they win). dropbear needs root and a mount
#       namespace. With -p PORT that port is tried first; when it is taken another is. ADDRESS is another
#       one of 127.0.0.0/8.
#   sshd.sh stop DIR [NAME]      ends it, its sessions too; without NAME all of them
#   sshd.sh pid DIR NAME         process id of the server
#   sshd.sh sessions DIR NAME    process ids of its running sessions
#
# What there is in DIR afterwards:
#   id, id.pub          the user key that every server accepts (for the calling user)
#   known_hosts         one line for each host key of each server
#   ssh_config          Host NAME: address, port, user, key and known_hosts; `ssh -F DIR/ssh_config NAME`
#                       works, and so does "ssh": "NAME" with "ssh_config": "DIR/ssh_config"
#   NAME/               sshd_config, log, host keys, authorized_keys of that server
# If KAB_SSHD_OWNER is a process id in the environment of start, the server ends with that process.
# Exit status 77: cannot run here (no sshd, no rights); a test should be skipped then.
# Always stop what was started, e.g. with  trap 'sshd.sh stop DIR' EXIT.
set -u
cmd=${1:-} dir=${2:-} name=${3:-}
[ -n "$dir" ] || { sed -n '3,25s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
here=$dir/$name
PATH=$PATH:/usr/sbin:/sbin

skip() {
	echo "$0: $*" >&2
	exit 77
}

# A port to try, outside the range that outgoing connections of this machine take theirs from: one of
# those may hold a port that looks free a moment before.
random_port() {
	read -r low high </proc/sys/net/ipv4/ip_local_port_range
	if [ "$low" -gt 12000 ]; then from=10000 to=$low; else from=$((high + 1)) to=65536; fi
	n=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
	echo $((from + n % (to - from)))
}

server_pid() {
	cat "$dir/$1/pid" 2>/dev/null
}

# A process that nobody has reaped yet is gone, too.
is_gone() {
	! grep '^State:' "/proc/$1/status" 2>/dev/null | grep -qv '[ZX] ('
}

# Sessions are the children of the server.
server_sessions() {
	pid=$(server_pid "$1")
	[ -n "$pid" ] && cat "/proc/$pid/task/$pid/children" 2>/dev/null
}

stop_one() {
	pid=$(server_pid "$1")
	[ -n "$pid" ] || return 0
	for p in $(server_sessions "$1"); do
		# openssh: the privileged half has a child of its own, which goes with it
		kill -CONT "$p" 2>/dev/null
		kill -KILL "$p" 2>/dev/null
	done
	kill -CONT "$pid" 2>/dev/null
	kill "$pid" 2>/dev/null
	n=0
	until is_gone "$pid" || [ $n -ge 50 ]; do
		sleep 0.1
		n=$((n + 1))
	done
	rm -f "$dir/$1/pid"
}

make_keys() {
	if [ ! -f "$dir/id" ]; then
		ssh-keygen -q -t ed25519 -N '' -C kab-test -f "$dir/id.$$" </dev/null || exit 1
		mv "$dir/id.$$.pub" "$dir/id.pub"
		mv "$dir/id.$$" "$dir/id"
	fi
	cp "$dir/id.pub" "$here/authorized_keys"
	for t in $(echo "$types" | tr , ' '); do
		[ -f "$here/host_$t" ] && continue
		if [ "$server" = dropbear ]; then
			dropbearkey -t "$t" -f "$here/host_$t" 2>/dev/null |
				grep '^[a-z0-9-]* AAAA' >"$here/host_$t.pub" || exit 1
		else
			ssh-keygen -q -t "$t" -N '' -C '' -f "$here/host_$t" </dev/null || exit 1
		fi
	done
}

start_openssh() {
	command -v sshd >/dev/null || skip "no sshd (package openssh-server)"
	[ "$(id -u)" != 0 ] || mkdir -p /run/sshd
	{
		echo "$options"
		for t in $(echo "$types" | tr , ' '); do
			echo "HostKey $here/host_$t"
		done
		cat <<-END
			Port $1
			ListenAddress $address
			PidFile $here/pid
			AuthorizedKeysFile $here/authorized_keys
			PasswordAuthentication no
			KbdInteractiveAuthentication no
			PermitRootLogin yes
			StrictModes no
			UsePAM no
			UseDNS no
			LogLevel DEBUG1
		END
	} >"$here/sshd_config"
	touch "$here/log"
	seen=$(wc -c <"$here/log")
	rm -f "$here/pid"
	# Absolute paths: a re-executed child runs in /.
	"$(command -v sshd)" -f "$here/sshd_config" -E "$here/log" || return 1
	# It goes to the background before it binds: its status says nothing of that, its log and pid file do.
	n=0
	until [ -s "$here/pid" ] && ! is_gone "$(cat "$here/pid")"; do
		tail -c "+$((seen + 1))" "$here/log" | grep -q '^Cannot bind any address' && return 1
		if [ $n -ge 600 ]; then
			echo "$0: $name does not listen after a minute" >&2
			return 1
		fi
		sleep 0.1
		n=$((n + 1))
	done
}

# It reads ~/.ssh only, so it gets a passwd file with another home, in a namespace of its own.
start_dropbear() {
	command -v dropbear >/dev/null || skip "no dropbear (package dropbear-bin)"
	[ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null || skip "dropbear needs root and unshare"
	mkdir -p "$here/home/.ssh"
	cp "$here/authorized_keys" "$here/home/.ssh/authorized_keys"
	chmod 700 "$here/home" "$here/home/.ssh"
	chmod 600 "$here/home/.ssh/authorized_keys"
	awk -F: -v OFS=: -v home="$here/home" -v me="$(id -un)" '$1 == me { $6 = home } { print }' \
		/etc/passwd >"$here/passwd"
	keys=
	for t in $(echo "$types" | tr , ' '); do
		keys="$keys -r $here/host_$t"
	done
	rm -f "$here/pid"
	# -F: it would leave its pid to the caller's session otherwise; setsid takes it out of it.
	setsid unshare -m sh -c 'mount --bind "$1/passwd" /etc/passwd || exit 1; shift
		exec "$@"' sh "$here" dropbear -F -E $keys -p "$address:$1" -P "$here/pid" \
		</dev/null >"$here/log" 2>&1 &
	n=0
	while [ $n -lt 50 ]; do
		[ -s "$here/pid" ] && return 0
		grep -q 'Failed\|Early exit' "$here/log" && return 1
		sleep 0.1
		n=$((n + 1))
	done
	return 1
}

case $cmd in
start)
	[ -n "$name" ] || exit 2
	shift 3
	server=openssh types=ed25519 options='' address=127.0.0.1 port=''
	while [ $# -gt 0 ]; do
		case $1 in
		-s) server=$2 ;;
		-k) types=$2 ;;
		-a) address=$2 ;;
		-p) port=$2 ;;
		*) options="$options
$1 $2" ;;
		esac
		shift 2
	done
	mkdir -p "$here"
	make_keys
	tries=0
	: "${port:=$(random_port)}"
	until "start_$server" "$port"; do
		tries=$((tries + 1))
		if [ $tries -ge 20 ]; then
			cat "$here/log" >&2
			exit 1
		fi
		port=$(random_port)
	done
	known=$address
	[ "$port" = 22 ] || known="[$address]:$port"
	for t in $(echo "$types" | tr , ' '); do
		echo "$known $(cut -d' ' -f1,2 "$here/host_$t.pub")" >>"$dir/known_hosts"
	done
	cat >>"$dir/ssh_config" <<-END
		Host $name
		  HostName $address
		  Port $port
		  User $(id -un)
		  IdentityFile $dir/id
		  IdentitiesOnly yes
		  IdentityAgent none
		  UserKnownHostsFile $dir/known_hosts
		  GlobalKnownHostsFile none
	END
	if [ -n "${KAB_SSHD_OWNER:-}" ]; then
		{
			until is_gone "$KAB_SSHD_OWNER" || [ ! -s "$here/pid" ]; do
				sleep 2
			done
			stop_one "$name"
		} </dev/null >/dev/null 2>&1 &
	fi
	echo "$port"
	;;
stop)
	if [ -n "$name" ]; then
		stop_one "$name"
	else
		for f in "$dir"/*/pid; do
			[ -f "$f" ] || continue
			f=${f%/pid}
			stop_one "${f##*/}"
		done
	fi
	;;
pid) server_pid "$name" ;;
sessions) server_sessions "$name" ;;
*) exit 2 ;;
esac
