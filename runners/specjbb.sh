#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Starts SPECjbb2015 in the folder of its kit: composite in one JVM, or a controller with GROUPS
# pairs of a transaction injector and a backend, each a JVM of its own.
# usage: specjbb.sh DIR MODE GROUPS JAVA JAR [JVM OPTION...]
set -u
dir=$1 mode=$2 groups=$3 java=$4 jar=$5
shift 5
cd "$dir" || exit 2
if [ "$mode" != multi ]; then
	exec "$java" "$@" -jar "$jar" -m COMPOSITE
fi
children=''
stop() {
	for pid in $children; do
		kill "$pid" 2>/dev/null
	done
}
trap 'stop; exit 143' TERM INT HUP
"$java" "-Dspecjbb.group.count=$groups" "$@" -jar "$jar" -m MULTICONTROLLER &
controller=$!
g=1
while [ "$g" -le "$groups" ]; do
	"$java" "$@" -jar "$jar" -m TXINJECTOR -G "GRP$g" -J JVM1 >"txinjector-$g.log" 2>&1 &
	children="$children $!"
	"$java" "$@" -jar "$jar" -m BACKEND -G "GRP$g" -J JVM2 >"backend-$g.log" 2>&1 &
	children="$children $!"
	g=$((g + 1))
done
wait "$controller"
status=$?
stop
wait
exit "$status"
