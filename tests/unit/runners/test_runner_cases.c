/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Outputs that are known to mislead, written from the formats of the tools: each with the status
 * that is right and the figures that may be taken.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "support.h"

#define HB "Running in process mode with 2 groups using 40 file descriptors each (== 80 tasks)\n"
#define HB4 "Running in process mode with 4 groups using 40 file descriptors each (== 160 tasks)\n"
#define HB_SENDER "Each sender will pass 500 messages of 100 bytes\n"
#define SB_HEAD \
	"Running the test with following options:\nNumber of threads: 2\n\nThreads started!\n\n"
#define SB_TIMES(t, n)                                                           \
	"General statistics:\n    total time:                          " t "s\n" \
	"    total number of events:              " n "\n\n"
#define SB_LAT                                                                   \
	"Latency (ms):\n         min:                                    0.39\n" \
	"         avg:                                    2.37\n"                \
	"         max:                                   48.50\n"                \
	"         95th percentile:                       16.41\n"                \
	"         sum:                                 4001.79\n\n"              \
	"Threads fairness:\n    events (avg/stddev):           843.0000/7.00\n"
#define NG "stress-ng: info:  [77] "
#define NG_M "stress-ng: metrc: [77] "
#define NG_TABLE                                                                            \
	NG_M "stressor       bogo ops real time  usr time  sys time   bogo ops/s     bogo " \
	     "ops/s\n" NG_M                                                                 \
	     "                         (secs)    (secs)    (secs)   (real time) (usr+sys time)\n"
#define NG_CPU \
	NG_M "cpu                1874      2.00      1.56      0.00       935.86        1198.38\n"

struct want {
	const char *what;
	const char *runner;
	const char *text;
	int exit_status;
	const char *params; /* "a=b c=d" */
	const char *status;
	const char *metric; /* the samples of this one ... */
	const char *values; /* ... are these, blank separated; "" for none; NULL: do not look */
	const char *direction; /* of them, or NULL */
	const char *message; /* part of it, or NULL */
};

static const struct want wants[] = {
	/* ---- hackbench ---- */
	{ "decimal comma", "hackbench", HB HB_SENDER "Time: 0,764\n", 0, "", "ok", "time",
	  "0.764" },
	{ "old threaded header", "hackbench",
	  "Running in threaded mode with 1 groups using 40 file descriptors each (== 40 tasks)\n"
	  "Each sender will pass 100 messages of 100 bytes\nTime: 12.345\n",
	  0, "", "ok", "time", "12.345", "lower" },
	{ "only the Time lines were kept", "hackbench", "Time: 0.394\nTime: 0.342\n",
	  KAB_EXIT_UNKNOWN, "", "ok", "time", "0.394 0.342" },
	{ "another tool's time", "hackbench", HB HB_SENDER "Elapsed Time: 3.123\n",
	  KAB_EXIT_UNKNOWN, "", "truncated", "time", "" },
	{ "prompt behind the figure", "hackbench", "RX> " HB "RX> Time: 0.764RX> \n", 0, "",
	  "no-result", "time", "", NULL, "0.764RX>" },
	{ "prompt inside the figure", "hackbench", "RX> " HB "RX> Time: 0.7RX> 64\n", 0, "",
	  "no-result", "time", "" },
	{ "prompt before the figure", "hackbench", "RX> " HB "RX> RX> Time: 0.764 \v\b\n", 0, "",
	  "ok", "time", "0.764" },
	{ "backspace inside the figure", "hackbench", HB "Time: 0.7\b\b64\n", 0, "", "no-result",
	  "time", "", NULL, "\\x01" },
	{ "kernel message inside the line", "hackbench",
	  HB "Time: [  99.123456] usb 1-1: reset\n0.764\n", 0, "", "no-result", "time", "" },
	{ "kernel message inside the figure", "hackbench",
	  HB "Time: 0.7[  99.123456] usb 1-1: reset\n64\n", 0, "", "no-result", "time", "" },
	{ "figure with lost digits", "hackbench", HB HB_SENDER "Time: 0.7\n", 0, "", "no-result",
	  "time", "" },
	{ "headers only", "hackbench", HB HB_SENDER, 0, "", "truncated", "time", "" },
	{ "interrupted, status 0", "hackbench",
	  HB "Signal 15 caught, longjmp'ing out!\nlongjmp'ed out, reaping children\nTime: 0.960\n",
	  0, "", "tool-failed", "time", "", NULL, "signal" },
	{ "fork failed", "hackbench", HB "fork() (error: Resource temporarily unavailable)\n", 1,
	  "", "tool-failed", "time", "", NULL, "Resource temporarily unavailable" },
	{ "one of three killed", "hackbench", HB "Time: 0.394\n" HB "Killed\n" HB "Time: 0.472\n",
	  0, "", "tool-failed", "time", "" },
	{ "one of three without a time", "hackbench", HB "Time: 0.394\n" HB HB "Time: 0.472\n",
	  KAB_EXIT_UNKNOWN, "", "partial", "time", "0.394 0.472" },
	{ "two different ones at once", "hackbench",
	  HB HB4 HB_SENDER HB_SENDER "Time: 0.394\nTime: 0.472\n", 0, "", "partial", "time", NULL,
	  NULL, "cannot be told" },
	{ "empty", "hackbench", "", 0, "", "no-result", "time", "" },
	{ "not found", "hackbench", "sh: 1: hackbench: not found\n", 127, "", "tool-failed", "time",
	  "", NULL, "not found" },
	{ "perf bench, quoted", "hackbench",
	  "# Running sched/messaging benchmark...\n# 20 sender and receiver processes per group\n"
	  "# 10 groups == 400 processes run\n\n     Total time: 0.274 [sec]\n",
	  0, "", "ok", "time", "0.274" },
	{ "perf bench, several benchmarks", "hackbench",
	  "# Running 'sched/messaging' benchmark:\n# 10 groups == 400 processes run\n\n"
	  "     Total time: 0,274 [sec]\n\n# Running 'sched/pipe' benchmark:\n"
	  "# Executed 1000000 pipe operations between two processes\n\n"
	  "     Total time: 7.777 [sec]\n\n       7.777000 usecs/op\n",
	  0, "", "ok", "time", "0.274" },
	{ "bare number of something else", "hackbench", "0.151\n", 0, "", "no-result", "time", "" },

	/* ---- sysbench ---- */
	{ "time fixed by parameter", "sysbench", SB_HEAD SB_TIMES("10.0119", "1686") SB_LAT, 0,
	  "test=cpu time=10", "ok", "total_events", "1686", "higher" },
	{ "and then the time says nothing", "sysbench", SB_HEAD SB_TIMES("10.0119", "1686") SB_LAT,
	  0, "test=cpu time=10", "ok", "total_time", "10.0119", "none" },
	{ "events fixed by parameter", "sysbench", SB_HEAD SB_TIMES("10.0119", "1000") SB_LAT, 0,
	  "test=cpu events=1000", "ok", "total_time", "10.0119", "lower" },
	{ "both given, the time came first", "sysbench", SB_HEAD SB_TIMES("10.0119", "900") SB_LAT,
	  0, "events=1000 time=10", "ok", "total_events", "900", "higher" },
	{ "mutex has one event per thread", "sysbench", SB_HEAD SB_TIMES("1.0023", "2") SB_LAT, 0,
	  "test=mutex threads=2", "ok", "total_time", "1.0023", "lower" },
	{ "rate where none is printed", "sysbench", SB_HEAD SB_TIMES("2.0000", "1708") SB_LAT, 0,
	  "test=cpu time=2", "ok", "events_per_second", "854" },
	{ "ends within the latencies", "sysbench",
	  SB_HEAD SB_TIMES("2.0000", "1708") "Latency (ms):\n         min:      0.39\n",
	  KAB_EXIT_UNKNOWN, "", "partial", "latency_avg", "" },
	{ "zero events", "sysbench",
	  SB_HEAD SB_TIMES(
		  "0.0001",
		  "0") "    response time:\n         min:             18446744073709.55ms\n"
		       "         avg:                              0.00ms\n"
		       "         max:                              0.00ms\n",
	  0, "", "no-result", "total_time", "", NULL, "no event" },
	{ "percentile out of the histogram", "sysbench",
	  "Test execution summary:\n    total time:  1.4348s\n    total number of events:  1500\n"
	  "    per-request statistics:\n         min:   0.39ms\n         avg:  1.90ms\n"
	  "         max:  48.52ms\n         approx.  95 percentile:  10000000.00ms\n\n"
	  "Threads fairness:\n",
	  0, "", "partial", "latency_p95", "", NULL, "latency_p95" },
	{ "percentile above the maximum by rounding", "sysbench",
	  "sysbench 1.0.20\n" SB_HEAD SB_TIMES("2.0000",
					       "17") "Latency (ms):\n min: 1.00\n avg: 1.00\n max: "
						     "48.50\n 95th percentile: 49.21\n sum: 9.00\n",
	  0, "", "ok", "latency_p95", "49.21" },
	{ "seconds of 0.4.8", "sysbench",
	  "sysbench v0.4.8:  multi-threaded system evaluation benchmark\n"
	  "Test execution summary:\n    total time:  1.4348s\n    total number of events:  1500\n"
	  "    per-request statistics:\n         min:   0.0004s\n         avg:  0.0019s\n"
	  "         max:  0.0485s\n         approx.  95 percentile:  0.0124s\n\nThreads "
	  "fairness:\n",
	  0, "", "ok", "latency_max", "48.5" },
	{ "1.1 calls its totals throughput", "sysbench",
	  "sysbench 1.1.0-bbee5d5 (using bundled LuaJIT 2.1.0-beta3)\n" SB_HEAD
	  "CPU speed:\n    events per second:   114.08\n\nThroughput:\n"
	  "    events/s (eps):                      114.0750\n"
	  "    time elapsed:                        10.0022s\n"
	  "    total number of events:              1141\n\n" SB_LAT,
	  0, "", "ok", "events_per_second", "114.08" },
	{ "1.1 without a rate of its own", "sysbench",
	  "sysbench 1.1.0 (using bundled LuaJIT 2.1.0-beta3)\n" SB_HEAD
	  "Throughput:\n    events/s (eps):  7268.3045\n    time elapsed:  600.5472s\n"
	  "    total number of events:  4364960\n\n" SB_LAT,
	  0, "", "ok", "events_per_second", "7268.3045" },
	{ "1.1 fileio", "sysbench",
	  "sysbench 1.1.0 (using bundled LuaJIT 2.1.0-beta3)\n" SB_HEAD
	  "Throughput:\n         read:  IOPS=3126.26 48.85 MiB/s (51.22 MB/s)\n"
	  "         write: IOPS=2084.17 32.57 MiB/s (34.15 MB/s)\n         fsync: IOPS=6678.69\n\n"
	  "Throughput:\n    events/s (eps):  11889.12\n    time elapsed:  10.0010s\n"
	  "    total number of events:  118900\n\n" SB_LAT,
	  0, "", "ok", "write_throughput", "32.57" },
	{ "0.5 memory has a blank in its bracket", "sysbench",
	  "sysbench 0.5:  multi-threaded system evaluation benchmark\n" SB_HEAD
	  "Operations performed: 262144 ( 862858.64 ops/sec)\n\n"
	  "2048.00 MB transferred (6741.08 MB/sec)\n\n"
	  "General statistics:\n    total time:  0.3038s\n    total number of events:  262144\n"
	  "    total time taken by event execution: 0.4320s\n    response time:\n"
	  "         min:  0.00ms\n         avg:  0.00ms\n         max:  56.02ms\n"
	  "         approx.  95 percentile:  0.00ms\n\nThreads fairness:\n",
	  0, "", "ok", "operations_per_second", "862858.64" },
	{ "0.4 fileio scales its unit", "sysbench",
	  "sysbench 0.4.12:  multi-threaded system evaluation benchmark\n"
	  "Read 1.2Gb  Written 800Mb  Total transferred 1.9531Gb  (1.5Gb/sec)\n"
	  " 6076.12 Requests/sec executed\n\n"
	  "Test execution summary:\n    total time:  1.3021s\n    total number of events:  10000\n"
	  "    per-request statistics:\n min:  0.00ms\n avg:  0.00ms\n max:  0.03ms\n"
	  " approx.  95 percentile:   0.00ms\n\nThreads fairness:\n",
	  0, "", "ok", "throughput", "1536" },
	{ "0.4 oltp", "sysbench",
	  "OLTP test statistics:\n    queries performed:\n        read:      140000\n"
	  "    transactions:                        10000  (347.34 per sec.)\n"
	  "    deadlocks:                           3      (0.10 per sec.)\n"
	  "    read/write requests:                 190000 (6599.51 per sec.)\n"
	  "    other operations:                    20000  (694.69 per sec.)\n\n"
	  "Test execution summary:\n    total time:  28.7901s\n    total number of events:  10000\n"
	  "    per-request statistics:\n min:  0.00ms\n avg:  0.00ms\n max:  0.03ms\n"
	  " approx.  95 percentile:   0.00ms\n\nThreads fairness:\n",
	  0, "", "ok", "deadlocks_per_second", "0.1", "lower" },
	{ "an error that kab must show", "sysbench",
	  SB_HEAD "SQL statistics:\n    transactions:   1399   (348.20 per sec.)\n"
		  "    ignored errors:   9000   (2250.75 per sec.)\n\n" SB_TIMES("4.0153", "1399")
			  SB_LAT,
	  0, "", "ok", "errors_per_second", "2250.75", "lower" },
	{ "interval lines alone", "sysbench",
	  SB_HEAD "[ 1s ] thds: 2 eps: 762.69 lat (ms,95%): 20.37\n"
		  "[ 2s ] thds: 2 tps: 5.00 qps: 9.00 err/s 1.00 reconn/s: 0.00\n",
	  143, "", "truncated", "events_per_second", "" },
	{ "fatal", "sysbench", SB_HEAD "FATAL: Thread initialization failed!\n", KAB_EXIT_UNKNOWN,
	  "", "tool-failed", "total_time", "", NULL, "Thread initialization failed" },
	{ "silent with --verbosity=0", "sysbench", "", 0, "", "no-result", "total_time", "" },
	{ "below the resolution is still printed", "sysbench",
	  "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n" SB_HEAD
	  "Total operations: 104857600 (13000000.00 per second)\n\n" SB_TIMES(
		  "8.0663", "104857600") "Latency (ms):\n min: 0.00\n avg: 0.00\n max: 0.15\n 95th "
					 "percentile: 0.00\n sum: 0.00\n",
	  0, "", "ok", "latency_p95", "0" },

	/* ---- stress-ng ---- */
	{ "a row of zeros", "stress-ng",
	  NG "setting to a 1 day run per stressor\n" NG "dispatching hogs: 4 vm\n"
	     "stress-ng: warn:  [77] metrics-check: all bogo-op counters are zero, data may be "
	     "incorrect\n" NG_TABLE NG_M "vm 0 7200.10 0.00 0.00 0.00 0.00\n" NG
	     "successful run completed in 7200.10s (2 hours, 0.10 secs)\n",
	  0, "", "no-result", "vm.bogo_ops", "", NULL, "did no work" },
	{ "everything skipped", "stress-ng",
	  NG "disabled 'oom-pipe' as it may hang or reboot the machine (enable it with the "
	     "--pathological option)\n" NG "setting to a 30 secs run per stressor\n" NG
	     "dispatching hogs:\n"
	     "stress-ng: warn:  [77] metrics-check: all bogo-op counters are zero, data may be "
	     "incorrect\n" NG "skipped: 16: oom-pipe (16)\n" NG "passed: 0\n" NG "failed: 0\n" NG
	     "metrics untrustworthy: 0\n" NG "successful run completed in 0.00 secs\n",
	  0, "", "no-result", "oom-pipe.bogo_ops", "", NULL, "skipped" },
	{ "0.15 with nothing to do", "stress-ng",
	  NG "apparmor stressor will be skipped, AppArmor is not enabled\n"
	     "stress-ng: error: [77] No stress workers invoked\n",
	  1, "", "tool-failed", "apparmor.bogo_ops", "" },
	{ "one of two did no work", "stress-ng",
	  NG "dispatching hogs: 2 cpu, 1 vm\n" NG_TABLE NG_CPU NG_M
	     "vm 0 2.00 0.00 0.00 0.00 0.00\n" NG "successful run completed in 2.00s\n",
	  0, "", "partial", "cpu.bogo_ops", "1874", "higher", "vm did no work" },
	{ "0.07 lists all stressors with --metrics", "stress-ng",
	  NG "dispatching hogs: 2 cpu\n" NG "successful run completed in 2.24s\n" NG
	     "stressor       bogo ops real time  usr time  sys time   bogo ops/s   bogo ops/s\n" NG
	     "affinity              0      0.00      0.00      0.00         0.00         0.00\n" NG
	     "cpu                   7      2.12      0.67      0.00         3.30        10.45\n",
	  0, "", "ok", "cpu.bogo_ops", "7" },
	{ "interrupted, status 0", "stress-ng",
	  NG "setting to a 1 min, 0 secs run per stressor\n" NG
	     "dispatching hogs: 2 cpu\n" NG_TABLE NG_CPU NG "passed: 2: cpu (2)\n" NG
	     "failed: 0\n" NG "successful run completed in 1.98 secs\n",
	  0, "", "tool-failed", "cpu.bogo_ops", "", NULL, "interrupted" },
	{ "interrupted, an old version, by parameter", "stress-ng",
	  NG "dispatching hogs: 2 cpu\n" NG "successful run completed in 2.24s\n" NG
	     "stressor       bogo ops real time  usr time  sys time   bogo ops/s   bogo ops/s\n" NG
	     "cpu                   7      2.12      0.67      0.00         3.30        10.45\n",
	  0, "timeout_s=30", "tool-failed", "cpu.bogo_ops", "", NULL, "interrupted" },
	{ "the number of operations ends it earlier", "stress-ng",
	  NG "setting to a 30 second run per stressor\n" NG
	     "dispatching hogs: 2 cpu\n" NG_TABLE NG_CPU NG "successful run completed in 2.00s\n",
	  0, "timeout_s=30 ops=937", "ok", "cpu.real_time", "2", "lower" },
	{ "the default of a day is no request", "stress-ng",
	  NG "setting to a 1 day, 0 secs run per stressor\n" NG
	     "dispatching hogs: 2 cpu\n" NG_TABLE NG_CPU NG
	     "successful run completed in 2.00 secs\n",
	  0, "", "ok", "cpu.bogo_ops", "1874", "none" },
	{ "untrustworthy row", "stress-ng",
	  NG "dispatching hogs: 2 cpu, 1 vm\n" NG_TABLE NG_CPU NG_M
	     "vm 100 2.00 1.00 0.00 50.00 100.00\n" NG "metrics untrustworthy: 1: vm (1)\n" NG
	     "successful run completed in 2.00s\n",
	  0, "", "partial", "vm.bogo_ops", "", NULL, "vm" },
	{ "corrupted metrics", "stress-ng",
	  NG "dispatching hogs: 2 cpu\n" NG_TABLE NG_CPU
	     "stress-ng: fail:  [77] metrics-check: stressor metrics corrupted, data is "
	     "compromised\n" NG "successful run completed in 2.00s\n",
	  0, "", "tool-failed", "cpu.bogo_ops", "" },
	{ "unsuccessful", "stress-ng",
	  NG "dispatching hogs: 2 cpu\n" NG_TABLE NG_CPU NG "unsuccessful run completed in 2.00s\n",
	  KAB_EXIT_UNKNOWN, "", "tool-failed", "cpu.bogo_ops", "" },
	{ "columns of 0.12", "stress-ng",
	  NG "dispatching hogs: 2 cpu\n" NG "stressor       bogo ops real time  usr time  sys time "
	     "  bogo ops/s     bogo ops/s CPU used per\n" NG
	     "cpu 1874 2.00 1.56 0.00 935.86 1198.38 39.00\n" NG
	     "successful run completed in 2.00s\n",
	  0, "", "ok", "cpu.cpu_used_per_instance", "39", "none" },
	{ "wide figures leave one blank", "stress-ng",
	  NG "dispatching hogs: 640 cpu\n" NG_TABLE NG_M
	     "cpu 123456789012 3600.00 230400.00 1234567.00 34293552.50 535846.10\n" NG
	     "successful run completed in 3600.00 secs\n",
	  0, "", "ok", "cpu.bogo_ops", "123456789012" },
	{ "no table was asked for", "stress-ng",
	  NG "dispatching hogs: 2 cpu\n" NG "successful run completed in 2.00s\n", 0, "",
	  "no-result", "cpu.bogo_ops", "", NULL, "--metrics-brief" },
	{ "two runs", "stress-ng",
	  NG "setting to a 2 second run per stressor\n" NG
	     "dispatching hogs: 2 cpu\n" NG_TABLE NG_CPU NG "successful run completed in 2.00s\n" NG
	     "setting to a 2 second run per stressor\n" NG "dispatching hogs: 2 cpu\n" NG_TABLE NG_M
	     "cpu 1900 2.00 1.56 0.00 950.00 1217.95\n" NG "successful run completed in 2.00s\n",
	  0, "", "ok", "cpu.bogo_ops", "1874 1900" },
	{ "lower is better for nanoseconds", "stress-ng",
	  NG "dispatching hogs: 1 switch\n" NG_TABLE NG_M
	     "switch 177135 2.00 0.07 0.82 88547.21 200105.96\n" NG_M
	     "miscellaneous metrics:\n" NG_M "switch 11266.66 nanosecs per context switch (pipe "
	     "method) (harmonic mean of 1 instance)\n" NG "successful run completed in 2.00s\n",
	  0, "", "ok", "switch.misc[nanosecs per context switch (pipe method)]", "11266.66",
	  "lower" },
	{ "brief log without tags", "stress-ng",
	  "setting to a 2 secs run per stressor\ndispatching hogs: 2 cpu\n"
	  "stressor       bogo ops real time  usr time  sys time   bogo ops/s     bogo ops/s\n"
	  "                         (secs)    (secs)    (secs)   (real time) (usr+sys time)\n"
	  "cpu                1874      2.00      1.56      0.00       935.86        1198.38\n"
	  "successful run completed in 2.00 secs\n",
	  0, "", "ok", "cpu.bogo_ops", "1874" },
	{ "brief log, interrupted", "stress-ng",
	  "setting to a 30 secs run per stressor\ndispatching hogs: 2 cpu\n"
	  "stressor       bogo ops real time  usr time  sys time   bogo ops/s     bogo ops/s\n"
	  "cpu                1874      2.00      1.56      0.00       935.86        1198.38\n"
	  "successful run completed in 2.00 secs\n",
	  0, "", "tool-failed", "cpu.bogo_ops", "" },
	{ "operations fixed, the default of a day", "stress-ng",
	  NG "defaulting to a 86400 second (1 day, 0.00 secs) run per stressor\n" NG
	     "dispatching hogs: 2 cpu\n" NG_TABLE NG_CPU NG "successful run completed in 2.00s\n",
	  0, "", "ok", "cpu.real_time", "2", "lower" },
	{ "a stressor that was named has no row", "stress-ng",
	  NG "dispatching hogs: 2 cpu, 1 vm\n" NG_TABLE NG_CPU NG
	     "successful run completed in 2.00s\n",
	  0, "", "partial", "cpu.bogo_ops", "1874", NULL, "no metrics of vm" },
	{ "a stressor's own line is no row", "stress-ng",
	  NG "dispatching hogs: 2 cpu\n" NG_TABLE NG_CPU NG
	     "cpu 3 something else happened here\n" NG "successful run completed in 2.00s\n",
	  0, "", "ok", "cpu.bogo_ops", "1874" },
	{ "the vm stressor lives by being killed", "stress-ng",
	  NG "dispatching hogs: 2 cpu\n"
	     "[ 1234.5] Out of memory: Killed process 4711 (stress-ng-vm) total-vm:1kB\n" NG_TABLE
		     NG_CPU NG "successful run completed in 2.00s\n",
	  0, "", "ok", "cpu.bogo_ops", "1874" },

	/* ---- SPECjbb ---- */
	{ "behind the name of a log", "specjbb2015",
	  "<Tue Mar 01 06:25:58 UTC 2022> org.spec.jbb.controller: RUN RESULT: hbIR (max "
	  "attempted) "
	  "= 5, hbIR (settled) = 4, max-jOPS = 3, critical-jOPS = 2\n",
	  0, "", "ok", "critical_jops", "2", "higher" },
	{ "critical was not measured", "specjbb2015",
	  "RUN RESULT: hbIR (max attempted) = 5, hbIR (settled) = 4, max-jOPS = 3, critical-jOPS = "
	  "N/A\n",
	  0, "", "partial", "max_jops", "3", NULL, "critical_jops" },
	{ "provisional figures", "specjbb2015",
	  "  1s: Binary log file is ./a.data.gz\n  9s: high-bound for max-jOPS is measured to be "
	  "70\n"
	  "  9s: max-jOPS is presumably 60\n",
	  KAB_EXIT_UNKNOWN, "", "truncated", "max_jops", "" },
	{ "killed", "specjbb2015", "  1s: Binary log file is ./a.data.gz\n  9s: (81%) .\nKilled\n",
	  KAB_EXIT_UNKNOWN, "", "tool-failed", "max_jops", "" },
	{ "out of memory", "specjbb2015",
	  "  1s: Binary log file is ./a.data.gz\njava.lang.OutOfMemoryError: Java heap space\n", 0,
	  "", "tool-failed", "max_jops", "", NULL, "OutOfMemoryError" },
	{ "a stack trace of the reporter voids nothing", "specjbb2015",
	  "RUN RESULT: hbIR (max attempted) = 5, hbIR (settled) = 4, max-jOPS = 3, critical-jOPS = "
	  "2\nException in thread \"main\" java.lang.NullPointerException\n\tat org.spec.X\n"
	  "    9 msec: [FAILED] Render RT\n",
	  0, "", "ok", "max_jops", "3" },
	{ "template of a raw file", "specjbb2015",
	  "jbb2015.test.date=Apr 25, 2005\njbb2015.result.metric.max-jOPS = <set by reporter>\n", 0,
	  "", "no-result", "max_jops", "", NULL, "template" },
	{ "title of the HTML report", "specjbb2015",
	  "<html><head><title>SPECjbb2015-Composite: 4103 max-jOPS ; 1628 critical-jOPS</title>\n",
	  0, "", "ok", "critical_jops", "1628" },
	{ "invalid HTML report", "specjbb2015",
	  "<title>SPECjbb2015-MultiJVM: 4103 max-jOPS ; 1628 critical-jOPS</title>\n"
	  "<h1>INVALID RESULT</h1>\n",
	  0, "", "partial", "max_jops", "4103", NULL, "invalid" },
	{ "one JVM has no figure", "specjbb2005",
	  "spec1.txt:   throughput =     181204.77 SPECjbb2005 bops\nspec2.txt:   throughput =\n",
	  0, "", "truncated", "bops", "" },
	{ "no sum is printed", "specjbb2005",
	  "spec1.txt:   throughput =     100.50 SPECjbb2005 bops\n"
	  "spec2.txt:   throughput =     200.25 SPECjbb2005 bops\n",
	  0, "", "ok", "bops", "300.75", "higher" },
	{ "blanks have become tabs", "specjbb2005",
	  "spec1.txt:\tthroughput =\t100.50 SPECjbb2005 bops\n"
	  "spec2.txt:\tthroughput =\t200.25 SPECjbb2005 bops\n"
	  "\tSUM:\tthroughput =\t300.75 SPECjbb2005 bops\n",
	  0, "", "ok", "bops", "300.75", "higher" },
	{ "fewer JVMs than announced", "specjbb2005",
	  "# 4 JVM instances, 240 seconds\n"
	  "spec1.txt:   throughput =     181204.77 SPECjbb2005 bops\n",
	  KAB_EXIT_UNKNOWN, "", "truncated", "bops", "" },
	{ "report of a single JVM", "specjbb2005", "Throughput      62229\n", 0, "", "ok", "bops",
	  "62229" },

	/* ---- synthetic ---- */
	{ "negative value", "synthetic", "synthetic 1\nvalue = -1.500000 s\nend\n", 0, "", "ok",
	  "value", "-1.5", "lower" },
	{ "told its direction", "synthetic", "synthetic 1\nvalue = 1.500000 MB/s\nend\n", 0,
	  "direction=higher", "ok", "value", "1.5", "higher" },
};

static char *fault_of(const struct want *w)
{
	struct kab_strv pairs kab_autostrv = KAB_STRV_INIT;
	struct kab_strv values kab_autostrv = KAB_STRV_INIT;
	struct kab_parse_result result;
	struct kab_params params = { 0 };
	const char *status;
	char *fault = NULL;
	size_t seen = 0;

	kab_strv_split(&pairs, w->params, ' ');
	for (size_t i = 0; i < pairs.n; i++) {
		char *equals = strchr(pairs.v[i], '=');

		*equals = '\0';
		kab_params_set(&params, pairs.v[i], equals + 1);
	}
	parse_bytes(w->runner, w->text, strlen(w->text), w->exit_status, &params, &result);
	status = kab_parse_status_name(result.status);
	if (w->values)
		kab_strv_split(&values, w->values, ' ');
	if (strcmp(status, w->status))
		fault = kab_xasprintf("status %s", status);
	else if (w->message && (!result.message || !strstr(result.message, w->message)))
		fault = kab_xstrdup("another message");
	for (size_t i = 0; !fault && w->values && i < result.samples.n; i++) {
		const struct kab_sample *s = &result.samples.v[i];

		if (strcmp(s->metric, w->metric))
			continue;
		if (seen >= values.n || fabs(s->value - strtod(values.v[seen], NULL)) > 1e-9)
			fault = kab_xasprintf("sample %zu is %.10g", seen, s->value);
		else if (w->direction && strcmp(w->direction, kab_direction_name(s->dir)))
			fault = kab_xasprintf("direction %s", kab_direction_name(s->dir));
		seen++;
	}
	if (!fault && w->values && seen != values.n)
		fault = kab_xasprintf("%zu samples", seen);
	if (fault) {
		char *more = kab_xasprintf("%s, message: %s", fault,
					   result.message ? result.message : "none");

		free(fault);
		fault = more;
	}
	kab_parse_result_release(&result);
	kab_params_release(&params);
	return fault;
}

static void outputs_that_mislead(void **state)
{
	size_t wrong = 0;

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(wants); i++) {
		char *fault = fault_of(&wants[i]);

		if (fault) {
			print_error("%s, %s: %s\n", wants[i].runner, wants[i].what, fault);
			wrong++;
		}
		free(fault);
	}
	assert_int_equal(wrong, 0);
}

/* A power cut leaves holes of NUL bytes: what stands around one is never joined. */
static void nul_bytes(void **state)
{
	static const char inside[] = HB "Time: 0.7\0\0\0"
					"64\n";
	static const char behind[] = HB "Time: 0.764\0\0\0\0\n\0\0\0";
	struct kab_parse_result result;

	(void)state;
	parse_bytes("hackbench", inside, sizeof(inside) - 1, 0, NULL, &result);
	assert_int_equal(result.status, KAB_PARSE_NO_RESULT);
	kab_parse_result_release(&result);
	parse_bytes("hackbench", behind, sizeof(behind) - 1, 0, NULL, &result);
	assert_int_equal(result.status, KAB_PARSE_OK);
	assert_true(fabs(result.samples.v[0].value - 0.764) < 1e-12);
	kab_parse_result_release(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outputs_that_mislead),
		cmocka_unit_test(nul_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
