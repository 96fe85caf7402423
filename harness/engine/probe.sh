# SPDX-License-Identifier: GPL-3.0-or-later
# Facts of a host as key=value lines, for any POSIX shell (dash, bash, busybox). Reads only.
# Arguments: names of programs to look for. Nothing here may fail the whole: what cannot be read is
# left out.
LC_ALL=C
export LC_ALL
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
export PATH

fact() {
	[ -n "$2" ] && printf '%s=%s\n' "$1" "$2"
}
first() {
	[ -r "$1" ] && head -n 1 "$1" 2>/dev/null | tr -d '\000'
}
limited() {
	if command -v timeout >/dev/null 2>&1; then
		timeout 5 "$@"
	else
		"$@"
	fi
}

sys=/sys/devices/system
fact arch "$(uname -m)"
# What the kernel says of itself, not a program; but under a personality (setarch --uname-2.6) that
# gives another name to it, that name is meant.
release=$(first /proc/sys/kernel/osrelease)
case $(first /proc/self/personality) in
???[2367abef]????) release= ;;
esac
fact release "${release:-$(uname -r)}"
fact kernel_version "$(uname -v)"
fact hostname "$(uname -n)"
fact boot_id "$(first /proc/sys/kernel/random/boot_id)"
fact cmdline "$(first /proc/cmdline)"
fact tainted "$(first /proc/sys/kernel/tainted)"
fact uid "$(id -u)"
fact date "$(date +%s)"
fact uptime_s "$(cut -d. -f1 /proc/uptime 2>/dev/null)"
fact page_size "$(getconf PAGESIZE 2>/dev/null)"
fact load1 "$(cut -d' ' -f1 /proc/loadavg 2>/dev/null)"
fact users "$(who 2>/dev/null | wc -l | tr -d ' ')"

for f in /etc/machine-id /var/lib/dbus/machine-id /sys/class/dmi/id/product_uuid; do
	id=$(first $f)
	[ -n "$id" ] && break
done
[ -n "$id" ] || id=$(uname -n)-$(cat /sys/class/net/*/address 2>/dev/null | sort | head -n 1)
fact machine_id "$id"

# The GNU build id: an ELF note of type 3 named GNU, either byte order.
if [ -r /sys/kernel/notes ] && command -v od >/dev/null 2>&1; then
	hex=$(od -An -v -tx1 /sys/kernel/notes 2>/dev/null | tr -d ' \n')
	for mark in 040000001400000003000000474e5500 000000040000001400000003474e5500; do
		case $hex in
		*$mark*)
			rest=${hex#*"$mark"}
			fact build_id "$(printf '%.40s' "$rest")"
			;;
		esac
	done
fi
for f in "/boot/config-$(uname -r)" "/lib/modules/$(uname -r)/config"; do
	if [ -r "$f" ] && command -v sha256sum >/dev/null 2>&1; then
		fact config_hash "$(sha256sum <"$f" | cut -d' ' -f1)"
		break
	fi
done

fact cpus "$(grep -c '^processor' /proc/cpuinfo 2>/dev/null)"
cores=$(for c in $sys/cpu/cpu[0-9]*; do
	[ -r "$c/topology/core_id" ] && echo "$(cat "$c/topology/physical_package_id") $(cat "$c/topology/core_id")"
done 2>/dev/null | sort -u)
if [ -n "$cores" ]; then
	fact cores "$(echo "$cores" | wc -l | tr -d ' ')"
	fact sockets "$(echo "$cores" | cut -d' ' -f1 | sort -u | wc -l | tr -d ' ')"
fi
siblings=$(first $sys/cpu/cpu0/topology/thread_siblings_list)
if [ -n "$siblings" ]; then
	fact threads_per_core "$(echo "$siblings" | tr ',' '\n' | awk -F- '{ n += NF == 2 ? $2 - $1 + 1 : 1 } END { print n }')"
fi
nodes=$(ls -d $sys/node/node[0-9]* 2>/dev/null | wc -l | tr -d ' ')
[ "$nodes" = 0 ] && nodes=1
fact nodes "$nodes"
for n in $sys/node/node[0-9]*; do
	[ "$nodes" -gt 1 ] && fact "node_cpus.${n##*/node}" "$(first "$n/cpulist")"
done
fact memory_mb "$(awk '/^MemTotal:/ { printf "%d", $2 / 1024 }' /proc/meminfo 2>/dev/null)"
fact swap_mb "$(awk '/^SwapTotal:/ { printf "%d", $2 / 1024 }' /proc/meminfo 2>/dev/null)"
model=$(sed -n 's/^model name[[:space:]]*: *//p; s/^cpu[[:space:]]*: *//p' /proc/cpuinfo 2>/dev/null | head -n 1)
[ -n "$model" ] || model=$(lscpu 2>/dev/null | sed -n 's/^Model name: *//p' | head -n 1)
fact model "$model"
fact microcode "$(sed -n 's/^microcode[[:space:]]*: *//p; s/^revision[[:space:]]*: *//p' /proc/cpuinfo 2>/dev/null | head -n 1)"
fact caches "$(for i in $sys/cpu/cpu0/cache/index[0-9]*; do
	[ -r "$i/size" ] && printf 'L%s%s:%s ' "$(cat "$i/level")" "$(cut -c1 <"$i/type" | tr 'DIU' 'di ' | tr -d ' ')" "$(cat "$i/size")"
done 2>/dev/null | sed 's/ $//')"

fact smt "$(first $sys/cpu/smt/control)"
fact governor "$(first $sys/cpu/cpu0/cpufreq/scaling_governor)"
turbo=$(first $sys/cpu/intel_pstate/no_turbo)
case $turbo in
0) fact turbo on ;;
1) fact turbo off ;;
*)
	case $(first $sys/cpu/cpufreq/boost) in
	0) fact turbo off ;;
	1) fact turbo on ;;
	esac
	;;
esac
fact thp "$(sed -n 's/.*\[\(.*\)\].*/\1/p' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null)"
fact clocksource "$(first $sys/clocksource/clocksource0/current_clocksource)"
fact mitigations "$(for v in $sys/cpu/vulnerabilities/*; do
	[ -r "$v" ] && printf '%s:%s; ' "${v##*/}" "$(cat "$v")"
done 2>/dev/null | sed 's/; $//')"
virt=$(systemd-detect-virt 2>/dev/null)
[ -n "$virt" ] || { grep -q '^flags.* hypervisor' /proc/cpuinfo 2>/dev/null && virt=hypervisor; }
fact virt "$virt"
fact cstates "$(first $sys/cpu/cpuidle/current_driver)"
fact os "$(sed -n 's/^PRETTY_NAME="\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' /etc/os-release 2>/dev/null | head -n 1)"
fact libc "$(getconf GNU_LIBC_VERSION 2>/dev/null)"
# A kernel without its own modules runs, but as another machine.
if [ -n "$(ls "/lib/modules/$(uname -r)" 2>/dev/null)" ]; then
	fact modules_tree own
else
	fact modules_tree "none of $(uname -r); there are: $(ls /lib/modules 2>/dev/null | tr '\n' ' ')"
fi
fact modules_hash "$(cut -d' ' -f1 /proc/modules 2>/dev/null | sort | sha256sum 2>/dev/null | cut -d' ' -f1)"

for t in "$@"; do
	case $t in
	*[!A-Za-z0-9._+-]* | '') continue ;;
	esac
	path=$(command -v "$t" 2>/dev/null)
	case $path in
	/*) ;;
	*) continue ;;
	esac
	fact "tool.$t" "$path"
	case $t in
	hackbench) v=$(limited "$path" -h 2>/dev/null </dev/null | sed -n 's/^hackbench \(V [0-9.]*\).*/\1/p' | head -n 1) ;;
	java) v=$(limited "$path" -version 2>&1 </dev/null | head -n 1) ;;
	sh | awk | sudo | time) v= ;;
	*) v=$(limited "$path" --version 2>&1 </dev/null | head -n 1) ;;
	esac
	case $v in
	*[Uu]sage* | *'unrecognized option'* | *'invalid option'*) v= ;;
	esac
	fact "tool_version.$t" "$(printf '%.200s' "$v" | tr -d '\r')"
done
exit 0
