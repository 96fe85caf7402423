/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sysbench: the command line of its two syntaxes. Up to 0.5 it is --test=cpu --num-threads
 * --max-requests --max-time, from 1.0 on it is cpu --threads --events --time.
 */
#include "runners/sysbench.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "runners/options.h"
#include "runners/scan.h"

static const struct kab_param_def params_table[] = {
	{ "test", "string", "cpu",
	  "cpu, threads, mutex, memory, fileio, oltp_read_write ..., or the path of a script" },
	{ "threads", "int", NULL, "worker threads" },
	{ "time", "int", NULL, "seconds to run; fixes the time, so that events count" },
	{ "events", "int", NULL, "events to run; fixes the work, so that the time counts" },
	{ "rate", "int", NULL, "events per second to aim at; 1.0 on" },
	{ "percentile", "int", NULL, "percentile of the latency to print; 0 is none" },
	{ "warmup_time", "int", NULL, "seconds before counting starts; 1.1 on" },
	{ "rand_seed", "int", NULL, "seed of its random numbers; 0 takes the time; 1.0 on" },
	{ "cpu_max_prime", "int", NULL, "cpu: largest prime number to look for" },
	{ "thread_yields", "int", NULL, "threads: yields per event" },
	{ "thread_locks", "int", NULL, "threads: locks per thread" },
	{ "mutex_num", "int", NULL, "mutex: size of the array of mutexes" },
	{ "mutex_locks", "int", NULL, "mutex: locks per thread" },
	{ "mutex_loops", "int", NULL, "mutex: empty loops between locks" },
	{ "memory_block_size", "string", NULL, "memory: size of a block" },
	{ "memory_total_size", "string", NULL, "memory: bytes to transfer" },
	{ "memory_scope", "string", NULL, "memory: global or local" },
	{ "memory_oper", "string", NULL, "memory: read, write, or none" },
	{ "memory_access_mode", "string", NULL, "memory: seq or rnd" },
	{ "file_num", "int", NULL, "fileio: number of files" },
	{ "file_block_size", "string", NULL, "fileio: size of a block" },
	{ "file_total_size", "string", NULL, "fileio: size of all files" },
	{ "file_test_mode", "string", NULL,
	  "fileio: seqwr, seqrewr, seqrd, rndrd, rndwr, or rndrw" },
	{ "file_io_mode", "string", NULL, "fileio: sync, async, or mmap" },
	{ "file_extra_flags", "string", NULL, "fileio: sync, dsync, or direct" },
	{ "file_fsync_freq", "int", NULL, "fileio: requests between two fsync" },
	{ "file_fsync_mode", "string", NULL, "fileio: fsync or fdatasync" },
	{ "file_rw_ratio", "string", NULL, "fileio: reads per write" },
	{ "db_driver", "string", NULL, "oltp: mysql or pgsql" },
	{ "mysql_host", "string", NULL, "oltp: host of the server" },
	{ "mysql_socket", "string", NULL, "oltp: socket of the server" },
	{ "mysql_user", "string", NULL, "oltp: user" },
	{ "mysql_db", "string", NULL, "oltp: database" },
	{ "pgsql_host", "string", NULL, "oltp: host of the server" },
	{ "pgsql_user", "string", NULL, "oltp: user" },
	{ "pgsql_db", "string", NULL, "oltp: database" },
	{ "tables", "int", NULL, "oltp: number of tables" },
	{ "table_size", "int", NULL, "oltp: rows of a table" },
	{ "prepare", "bool", NULL, "run prepare before and cleanup after; true for fileio" },
	{ "args", "string", NULL, "further arguments, as in sh or as a JSON list" },
	{ "program", "string", NULL, "path of sysbench, when it is not on the PATH" },
};

static const struct kab_metric_def metrics_table[] = {
	{ "events_per_second", "events/s", KAB_DIR_HIGHER, true,
	  "printed, or events / total time where this version or test prints no rate" },
	{ "total_time", "s", KAB_DIR_NONE, false, "lower is better when the events are fixed" },
	{ "total_events", "events", KAB_DIR_NONE, false,
	  "higher is better when the time is fixed" },
	{ "latency_min", "ms", KAB_DIR_LOWER, false, "shortest event" },
	{ "latency_avg", "ms", KAB_DIR_LOWER, false, "mean event" },
	{ "latency_max", "ms", KAB_DIR_LOWER, false, "longest event" },
	{ "latency_p*", "ms", KAB_DIR_LOWER, false, "percentile of the events" },
	{ "latency_sum", "ms", KAB_DIR_NONE, false, "time of all events" },
	{ "operations_per_second", "ops/s", KAB_DIR_HIGHER, false, "memory" },
	{ "throughput", "MiB/s", KAB_DIR_HIGHER, false,
	  "memory (MB/s up to 0.5), fileio up to 0.5" },
	{ "requests_per_second", "requests/s", KAB_DIR_HIGHER, false, "fileio up to 0.5" },
	{ "reads_per_second", "ops/s", KAB_DIR_HIGHER, false, "fileio" },
	{ "writes_per_second", "ops/s", KAB_DIR_HIGHER, false, "fileio" },
	{ "fsyncs_per_second", "ops/s", KAB_DIR_HIGHER, false, "fileio" },
	{ "read_throughput", "MiB/s", KAB_DIR_HIGHER, false, "fileio" },
	{ "write_throughput", "MiB/s", KAB_DIR_HIGHER, false, "fileio" },
	{ "transactions_per_second", "tps", KAB_DIR_HIGHER, false, "oltp" },
	{ "queries_per_second", "qps", KAB_DIR_HIGHER, false, "oltp" },
	{ "rw_requests_per_second", "requests/s", KAB_DIR_HIGHER, false, "oltp up to 0.5" },
	{ "other_per_second", "ops/s", KAB_DIR_NONE, false, "oltp up to 0.5" },
	{ "errors_per_second", "1/s", KAB_DIR_LOWER, false, "oltp: ignored errors" },
	{ "reconnects_per_second", "1/s", KAB_DIR_LOWER, false, "oltp" },
	{ "deadlocks_per_second", "1/s", KAB_DIR_LOWER, false, "oltp 0.4" },
	KAB_GNU_TIME_METRICS,
};

static const char *const tools_table[] = { "sysbench", NULL };

static int sysbench_unsupported(const struct kab_facts *facts, const struct kab_params *params,
				char **ret_reason)
{
	return kab_option_needs_tool(facts, params, "sysbench", "sysbench", ret_reason);
}

/* True for 0.x. An unknown version is taken for a present one. */
static bool old_syntax(const struct kab_facts *facts)
{
	const char *text = kab_facts_tool_version(facts, "sysbench");

	text += strcspn(text, "0123456789");
	return text[0] == '0' && text[1] == '.';
}

/* --NAME=VALUE of every parameter that is passed as it is: "cpu_max_prime" is --cpu-max-prime. */
static void pass_through(struct kab_strv *argv, const struct kab_params *params)
{
	static const char *const own[] = { "test",	 "threads", "time",    "events",
					   "percentile", "prepare", "program", "args" };

	for (size_t i = 0; i < KAB_ARRAY_SIZE(params_table); i++) {
		const char *name = params_table[i].name;
		const char *value = kab_params_get(params, name, NULL);
		char *option kab_autofree = NULL;
		bool is_own = false;

		for (size_t j = 0; j < KAB_ARRAY_SIZE(own); j++)
			is_own = is_own || !strcmp(own[j], name);
		if (is_own || !value)
			continue;
		option = kab_xstrdup(name);
		for (char *p = option; *p; p++)
			if (*p == '_')
				*p = '-';
		kab_strv_addf(argv, "--%s=%s", option, value);
	}
}

static int limit(struct kab_strv *argv, const char *option, const struct kab_params *params,
		 const char *name, int64_t *ret, struct kab_err *err)
{
	if (kab_params_int(params, name, -1, ret, err))
		return -1;
	if (!kab_params_get(params, name, NULL))
		return 0;
	if (*ret < 0)
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "parameter '%s': expected at least 0, found %" PRId64, name,
				   *ret);
	kab_strv_addf(argv, "%s=%" PRId64, option, *ret);
	return 0;
}

/* The options that all of prepare, run and cleanup get. */
static int build(struct kab_strv *argv, const struct kab_params *params, bool old, const char *verb,
		 int64_t *ret_time, struct kab_err *err)
{
	const char *test = kab_params_get(params, "test", "cpu");
	int64_t events, ignored;

	kab_strv_add(argv, kab_option_program(params, "sysbench"));
	if (old)
		kab_strv_addf(argv, "--test=%s", test);
	else
		kab_strv_add(argv, test);
	if (limit(argv, old ? "--num-threads" : "--threads", params, "threads", &ignored, err) ||
	    limit(argv, old ? "--max-time" : "--time", params, "time", ret_time, err) ||
	    limit(argv, old ? "--max-requests" : "--events", params, "events", &events, err) ||
	    limit(argv, "--percentile", params, "percentile", &ignored, err))
		return -1;
	/* What is not asked for must not end the run: 0.x stops at 10000 events (and one branch
	 * takes 0 for none at all), 1.x stops after 10 seconds. */
	if (old && *ret_time > 0 && events < 0)
		kab_strv_addf(argv, "--max-requests=%d", INT32_MAX);
	if (!old && events > 0 && *ret_time < 0)
		kab_strv_add(argv, "--time=0");
	pass_through(argv, params);
	if (kab_option_words(argv, params, "args", err))
		return -1;
	kab_strv_add(argv, verb);
	return 0;
}

static int sysbench_command(const struct kab_params *params, const struct kab_facts *facts,
			    struct kab_command *ret, struct kab_err *err)
{
	const char *test = kab_params_get(params, "test", "cpu");
	bool prepare = kab_params_bool(params, "prepare", !strcmp(test, "fileio"));
	bool old = old_syntax(facts);
	int64_t time_s;

	if (!*test || *test == '-')
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "parameter 'test': expected the name of a test, found '%s'",
				   test);
	if (build(&ret->argv, params, old, "run", &time_s, err))
		return -1;
	if (time_s > 0)
		ret->expected_s = (double)time_s;
	if (prepare && (build(&ret->prepare, params, old, "prepare", &time_s, err) ||
			build(&ret->cleanup, params, old, "cleanup", &time_s, err)))
		return -1;
	return 0;
}

/* Of the percentiles it prints the one that is asked for: 95 unless told otherwise, 0 is none. */
static int sysbench_unprinted(const char *metric, const struct kab_params *params, char **ret_why)
{
	const struct kab_param *p = kab_params_find(params, "percentile");
	const char *asked = p ? p->value : "95";

	/* An expression has no value yet, and further arguments are not looked into. */
	if (!asked || strncmp(metric, "latency_p", 9) || kab_params_find(params, "args"))
		return 0;
	if (strcmp(asked, "0") && !strcmp(metric + 9, asked))
		return 0;
	*ret_why = kab_xasprintf("it prints only the percentile that is asked for; set the "
				 "parameter percentile to %s (here it is %s)",
				 metric + 9, asked);
	return 1;
}

const struct kab_runner kab_runner_sysbench = {
	.name = "sysbench",
	.summary = "CPU, threads, mutex, memory, file I/O and databases (0.4 to 1.1)",
	.parser_version = "1",
	.params = params_table,
	.params_n = KAB_ARRAY_SIZE(params_table),
	.metrics = metrics_table,
	.metrics_n = KAB_ARRAY_SIZE(metrics_table),
	.tools = tools_table,
	.unsupported = sysbench_unsupported,
	.command = sysbench_command,
	.unprinted = sysbench_unprinted,
	.parse = kab_sysbench_parse,
};
