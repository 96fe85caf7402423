#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A stand-in for SPECjbb2015, which is licensed and cannot be part of the tests: it measures
# nothing, prints the lines in which the genuine program gives its result, and says what it is.
# usage: specjbb-stand-in.sh [JVM OPTION...] -jar JAR -m MODE [...]; run it as the parameter 'java'.
set -u
mode=COMPOSITE
while [ $# -gt 0 ]; do
	[ "$1" = -m ] && mode=$2
	shift
done
echo "THIS IS A STAND-IN FOR SPECjbb2015: no benchmark is run, the figures are made up"
case $mode in
TXINJECTOR | BACKEND)
	trap 'exit 0' TERM
	sleep 1
	exit 0
	;;
esac
echo "SPECjbb2015 Java Business Benchmark"
echo
echo "     0s: Ladies and gentlemen, this is your Controller speaking."
echo "     2s: Binary log file is ./specjbb2015-C-20200101-00001.data.gz"
echo "     6s: (validation=FAILED) WARNING: Property settings are NOT COMPLIANT."
echo "  8431s: high-bound for max-jOPS is measured to be 5000"
echo "  8431s: max-jOPS is presumably 4999"
echo "RUN RESULT: hbIR (max attempted) = 5000, hbIR (settled) = 4800, max-jOPS = 4700, critical-jOPS = 2100"
echo "       37 msec: Primary metrics calculation"
