#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Emulated test hosts with real kernels and a real GRUB. See README.md beside this file.
set -u
umask 077

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
self=$here/lab.sh
cache=${XDG_CACHE_HOME:-$HOME/.cache}/kab-lab
all_arches="amd64 arm64 ppc64le"
packages="qemu-system-x86 qemu-system-arm qemu-system-ppc qemu-efi-aarch64 python3 binutils e2fsprogs
openssh-client util-linux debian-archive-keyring"
efi=/usr/share/qemu-efi-aarch64/QEMU_EFI.fd

say() { printf 'lab: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
usage() { sed -n '/^    lab.sh/p' "$here/README.md" >&2; exit 2; }
is_arch() { case " $all_arches " in *" $1 "*) return 0 ;; esac; return 1; }

deps() {
	local p missing=""
	for p in $packages; do
		dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' ||
			missing="$missing $p"
	done
	[ -n "$missing" ] || return 0
	if [ "$(id -u)" != 0 ]; then
		echo "sudo apt-get install --no-install-recommends$missing"
		return 1
	fi
	# shellcheck disable=SC2086  # a list of words
	DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=500 install -y \
		--no-install-recommends $missing >&2
}

# build [--refresh] [arch...]: prints one image folder per architecture.
build() {
	local refresh="" arches="" a began=$SECONDS
	for a in "$@"; do
		case $a in
		--refresh) refresh=--refresh ;;
		*) is_arch "$a" || die "no such architecture: $a (known: $all_arches)"; arches="$arches $a" ;;
		esac
	done
	for a in ${arches:-$all_arches}; do
		# shellcheck disable=SC2086
		python3 -B "$here/build.py" "$cache" "$a" $refresh || return 1
	done
	say "images ready in $((SECONDS - began)) s; cache $cache: $(du -sh "$cache" | cut -f1)"
}

start_time() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }

# True if the supervisor recorded in RUNDIR runs: same pid and same start time.
supervised() {
	local pid ticks
	read -r pid ticks 2>/dev/null <"$1/supervisor.pid" || return 1
	[ -n "$ticks" ] && [ "$(start_time "$pid")" = "$ticks" ]
}

stop() {
	local dir=$1 pid i
	[ -d "$dir" ] || die "no such folder: $dir"
	for i in $(seq 100); do
		supervised "$dir" || { rm -f "$dir/supervisor.pid" "$dir"/*/disk.img; return 0; }
		read -r pid _ <"$dir/supervisor.pid"
		[ "$i" = 1 ] && kill -TERM "$pid"
		[ "$i" = 60 ] && kill -KILL "$pid" # the guests follow: they die with their parent
		sleep 0.1
	done
	die "supervisor $pid does not end"
}

comma() { printf '%s' "${1//,/,,}"; }

# Emulated SMT on POWER came with QEMU 8.1; Debian 12 has 7.2, so take the one from backports then.
qemu_ppc64() {
	local major
	case $1 in *threads=[2-9]*) ;; *) echo qemu-system-ppc64; return ;; esac
	major=$(qemu-system-ppc64 --version | sed -n 's/^QEMU emulator version \([0-9]*\).*/\1/p')
	if [ "${major:-0}" -ge 9 ]; then
		echo qemu-system-ppc64
	else
		python3 -B "$here/build.py" "$cache" qemu-ppc || echo qemu-system-ppc64
	fi
}

# Print the qemu command line of one guest, one argument a line.
qemu_command() {
	local dir=$1 arch=$2 port=$3 smp=$4 mem=$5 cpu
	case $arch in
	amd64)
		# cmpxchg16b is left out: emulated, it makes 6.12 oops under load. Sibling threads
		# show only with Intel's topology leaves.
		cpu=max,-cx16
		case $smp in *threads*) cpu=$cpu,vendor=GenuineIntel ;; esac
		printf '%s\n' qemu-system-x86_64 -machine q35,accel=tcg -cpu $cpu ;;
	arm64)
		printf '%s\n' qemu-system-aarch64 -machine virt,accel=tcg -cpu cortex-a72 -bios "$efi" ;;
	ppc64le)
		printf '%s\n' "$(qemu_ppc64 "$smp")" -cpu power9 -machine \
			pseries,accel=tcg,cap-cfpc=broken,cap-sbbc=broken,cap-ibs=broken,cap-ccf-assist=off ;;
	esac
	printf '%s\n' -smp "$smp" -m "$mem" -display none -nodefaults -no-user-config \
		-serial "file:$dir/console.log" -monitor none \
		-qmp "unix:$(comma "$dir")/qmp.sock,server=on,wait=off" \
		-netdev "user,id=n0,restrict=on,hostfwd=tcp:127.0.0.1:$port-:22" \
		-device virtio-net-pci,netdev=n0,romfile= -device virtio-rng-pci \
		-drive "file=$(comma "$dir")/disk.img,format=raw,if=none,id=d0" \
		-device virtio-blk-pci,drive=d0,serial=root,bootindex=1 \
		-drive "file=$(comma "$dir")/options.img,format=raw,if=none,id=d1,readonly=on" \
		-device virtio-blk-pci,drive=d1,serial=lab \
		-action panic=none -no-shutdown
}

# Runs detached: owns the guests until told to end, until the life time is over, until the owner
# has gone, or until the run folder has.
supervise() {
	local dir=$1 life=$2 owner=$3 arch owner_ticks="" end=$((SECONDS + $2)) why=""
	local -a argv pids=()
	# shellcheck disable=SC2329  # called by the traps
	finish() {
		trap '' TERM INT HUP
		[ "${#pids[@]}" = 0 ] || kill -TERM "${pids[@]}" 2>/dev/null
		for _ in $(seq 30); do
			[ -n "$(jobs -rp)" ] || break
			sleep 0.1
		done
		[ "${#pids[@]}" = 0 ] || kill -KILL "${pids[@]}" 2>/dev/null
		wait
		rm -f "$dir"/*/disk.img
	}
	trap finish EXIT
	trap 'exit 0' TERM INT HUP
	[ "$owner" = 0 ] || owner_ticks=$(start_time "$owner")
	for arch in "$dir"/*/qemu.args; do
		mapfile -t argv <"$arch"
		setpriv --pdeathsig KILL "${argv[@]}" </dev/null >"${arch%/*}/qemu.log" 2>&1 &
		pids+=($!)
		echo $! >"${arch%/*}/qemu.pid"
	done
	echo "$$ $(start_time $$)" >"$dir/supervisor.pid.new"
	mv "$dir/supervisor.pid.new" "$dir/supervisor.pid"
	while [ -z "$why" ]; do
		sleep 1 &
		wait $!
		[ "$SECONDS" -lt "$end" ] || why="life time of $life s is over"
		[ "$owner" = 0 ] || [ "$(start_time "$owner")" = "$owner_ticks" ] || why="owner has gone"
		[ -e "$dir/supervisor.pid" ] || why="run folder has gone"
	done
	echo "$why" >"$dir/stopped" 2>/dev/null
}

# Below the range that the system hands out by itself: nobody takes it before qemu binds it.
free_port() {
	python3 -c '
import random, socket
while True:
    port = random.randrange(20000, 32000)
    with socket.socket() as s:
        try:
            s.bind(("127.0.0.1", port))
        except OSError:
            continue
    print(port)
    break'
}

# Value of option KEY for ARCH: "ARCH.KEY=" wins over "KEY=", then the default.
option() {
	local arch=$1 key=$2 value=$3 o
	for o in "${options[@]}"; do case $o in "$key="*) value=${o#*=} ;; esac; done
	for o in "${options[@]}"; do case $o in "$arch.$key="*) value=${o#*=} ;; esac; done
	printf '%s' "$value"
}

check_options() {
	local o
	for o in "${options[@]}"; do
		case ${o#*.} in
		smp=?* | mem=?* | sh=busybox | sh=dash | sftp=on | sftp=off) ;;
		life=[1-9]* | owner=[0-9]* | wait=[1-9]*)
			case $o in *=*[!0-9]*) die "not a whole number: $o" ;; esac ;;
		*) die "unknown option '$o' (known: smp mem sh sftp life owner wait, or ARCH.smp ...)" ;;
		esac
	done
}

guest() { ssh -F "$1/ssh_config" "$2" "${@:3}"; }

# Wait until a guest answers: wait_ssh RUNDIR ARCH SECONDS
wait_ssh() {
	local end=$((SECONDS + $3))
	until timeout 20 ssh -F "$1/ssh_config" -o ConnectTimeout=4 "$2" true 2>/dev/null; do
		[ "$SECONDS" -lt "$end" ] || return 1
		supervised "$1" || return 1
		kill -0 "$(cat "$1/$2/qemu.pid")" 2>/dev/null || return 1
		! tail -c 400 "$1/$2/console.log" 2>/dev/null | grep -q 'end Kernel panic' || return 1
		sleep 0.5
	done
}

start() {
	local dir=$1 arches="" a image port smp mem life owner wait_s began=$SECONDS ok=1 i
	options=()
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		is_arch "$1" || die "no such architecture: $1 (known: $all_arches)"
		arches="$arches $1"
		shift
	done
	[ $# = 0 ] || shift
	options=("$@")
	check_options
	arches=${arches:-$all_arches}
	mkdir -p "$dir" || die "cannot make $dir"
	dir=$(cd "$dir" && pwd) || die "cannot enter $dir"
	[ ${#dir} -le 80 ] || die "$dir: too long for a unix socket below it (at most 80 characters)"
	case $dir in *[[:space:]]*) die "$dir: white space in the path does not work" ;; esac
	supervised "$dir" && die "$dir: guests are running (lab.sh stop $dir)"
	for a in $all_arches; do rm -rf "${dir:?}/$a"; done
	rm -f "$dir/supervisor.pid" "$dir/stopped"
	life=$(option any life 7200) owner=$(option any owner 0) wait_s=$(option any wait 300)

	# shellcheck disable=SC2064
	trap "stop '$dir'; exit 130" INT
	# shellcheck disable=SC2064
	trap "stop '$dir'; exit 143" TERM HUP
	: >"$dir/ssh_config" && : >"$dir/known_hosts" && : >"$dir/images"
	for a in $arches; do
		mkdir -p "$dir/$a"
		# Twice: a rebuild by someone else may take the image away between build and copy.
		for i in 1 2; do
			image=$(python3 -B "$here/build.py" "$cache" "$a") || die "no image for $a"
			cp --sparse=always "$image/disk.img" "$dir/$a/disk.img" && break
			[ $i = 1 ] || die "cannot copy $image/disk.img"
		done
		cp "$cache/keys/login" "$dir/id_ed25519" || die "no login key"
		printf '%-511s\n' "sh=$(option "$a" sh busybox) sftp=$(option "$a" sftp on)" >"$dir/$a/options.img"
		port=$(free_port)
		smp=$(option "$a" smp 1)
		mem=512
		[ "$a" != ppc64le ] || mem=1024
		mem=$(option "$a" mem $mem)
		qemu_command "$dir/$a" "$a" "$port" "$smp" "$mem" >"$dir/$a/qemu.args"
		cat >>"$dir/ssh_config" <<-END
			Host $a
			  HostName 127.0.0.1
			  Port $port
			  User root
			  IdentityFile $dir/id_ed25519
			  IdentitiesOnly yes
			  UserKnownHostsFile $dir/known_hosts
			  GlobalKnownHostsFile /dev/null
			  StrictHostKeyChecking yes
			  UpdateHostKeys no
			  BatchMode yes
			  ServerAliveInterval 5
			  ServerAliveCountMax 3
		END
		echo "[127.0.0.1]:$port $(cut -d' ' -f1,2 "$cache/keys/host-$a.pub")" >>"$dir/known_hosts"
		echo "$a $image" >>"$dir/images"
	done
	write_json "$dir" || die "cannot write lab.json"
	setsid "$self" _supervise "$dir" "$life" "$owner" </dev/null >"$dir/supervisor.log" 2>&1 &
	for i in $(seq 50); do [ -e "$dir/supervisor.pid" ] && break; sleep 0.1; done
	supervised "$dir" || die "supervisor did not start: $(cat "$dir/supervisor.log")"
	for a in $arches; do
		if wait_ssh "$dir" "$a" $((wait_s - SECONDS + began)); then
			say "$a answers after $((SECONDS - began)) s: ssh -F $dir/ssh_config $a"
		else
			say "$a does not answer after $((SECONDS - began)) s; what qemu and its console say:"
			tail -n 5 "$dir/$a/qemu.log" "$dir/$a/console.log" >&2
			ok=0
		fi
	done
	trap - INT TERM HUP
	[ $ok = 1 ] || { stop "$dir"; return 1; }
}

write_json() {
	python3 -B - "$1" "$here/qmp.py" <<'END'
import json
import sys

run, qmp = sys.argv[1:]
hosts, kernels = {}, {}
with open(run + "/images", encoding="utf-8") as f:
    for line in f:
        arch, image = line.split()
        here = "%s/%s" % (run, arch)
        hosts[arch] = {
            "ssh": arch, "ssh_config": run + "/ssh_config", "boot": {"method": "grub"},
            "power": {"method": "command", "cycle": [qmp, here + "/qmp.sock", "system_reset"]},
            "console": here + "/console.log"}
        with open(image + "/image.json", encoding="utf-8") as g:
            kernels[arch] = json.load(g)
files = [("lab", {"hosts": hosts}), ("kernels", kernels)]
for role in "baseline", "test":
    files.append((role, {"hosts": {arch: {"release": k["release"]} for arch, all in kernels.items()
                                   for k in all["kernels"] if k["role"] == role}}))
for name, value in files:
    with open("%s/%s.json" % (run, name), "w", encoding="utf-8") as f:
        json.dump(value, f, indent=2)
        f.write("\n")
END
}

[ $# -ge 1 ] || usage
verb=$1
shift
case $verb in
deps) deps ;;
build) build "$@" ;;
start) [ $# -ge 1 ] || usage; start "$@" ;;
stop) [ $# = 1 ] || usage; stop "$1" ;;
selftest) exec "$here/selftest.sh" "$@" ;;
_supervise) supervise "$@" ;;
*) usage ;;
esac
