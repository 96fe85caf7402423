/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parameters in, argv out; and the reasons why a host cannot run it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "runners/runner.h"

struct want {
	const char *runner;
	const char *params; /* "a=b|c=d" */
	const char *version; /* of the tool on the host; "" unknown */
	const char *argv; /* in brackets; NULL: a configuration error ... */
	const char *more; /* ... that names this; else prepare, also in brackets, or NULL */
};

static const struct want wants[] = {
	{ "hackbench", "groups=4|loops=64000|pipe=true", "", "[hackbench][-p][-g][4][-l][64000]",
	  NULL },
	{ "hackbench", "threads=true|fds=5|size=512|groups=1", "",
	  "[hackbench][-T][-g][1][-f][5][-s][512]", NULL },
	{ "hackbench", "variant=ltp|groups=4|loops=200", "", "[hackbench][4][process][200]", NULL },
	{ "hackbench", "variant=ltp|groups=4|threads=true|pipe=true", "",
	  "[hackbench][-pipe][4][thread]", NULL },
	{ "hackbench", "variant=perf|groups=2|loops=9|threads=true", "",
	  "[perf][bench][sched][messaging][-t][-g][2][-l][9]", NULL },
	{ "hackbench", "variant=perf|fds=2", "", NULL, "'fds'" },
	{ "hackbench", "variant=other", "", NULL, "rt-tests, ltp or perf" },
	{ "hackbench", "groups=0", "", NULL, "'groups'" },
	{ "hackbench", "groups=2|args=-A 'x y' \"it's\" $HOME", "",
	  "[hackbench][-g][2][-A][x y][it's][$HOME]", NULL },
	{ "hackbench", "groups=2|args=[\"a b\", \"\", \"*\"]", "", "[hackbench][-g][2][a b][][*]",
	  NULL },
	{ "hackbench", "args='open", "", NULL, "not closed" },
	{ "hackbench", "args=[1.5]", "", NULL, "'args'" },
	{ "hackbench", "program=/opt/hb", "", "[/opt/hb]", NULL },
	{ "sysbench", "test=cpu|threads=8|events=1000", "sysbench 1.0.20",
	  "[sysbench][cpu][--threads=8][--events=1000][--time=0][run]", NULL },
	{ "sysbench", "test=cpu|threads=8|events=1000", "sysbench 0.4.12",
	  "[sysbench][--test=cpu][--num-threads=8][--max-requests=1000][run]", NULL },
	{ "sysbench", "test=cpu|time=10", "0.5",
	  "[sysbench][--test=cpu][--max-time=10][--max-requests=2147483647][run]", NULL },
	{ "sysbench", "time=10|cpu_max_prime=20000|percentile=99", "",
	  "[sysbench][cpu][--time=10][--percentile=99][--cpu-max-prime=20000][run]", NULL },
	{ "sysbench", "test=memory|memory_block_size=8K", "sysbench 1.1.0-bbee5d5",
	  "[sysbench][memory][--memory-block-size=8K][run]", NULL },
	{ "sysbench", "test=fileio|file_num=4|time=2", "sysbench 1.0.20",
	  "[sysbench][fileio][--time=2][--file-num=4][run]",
	  "[sysbench][fileio][--time=2][--file-num=4][prepare]" },
	{ "sysbench", "test=--help", "", NULL, "'test'" },
	{ "sysbench", "threads=-1", "", NULL, "'threads'" },
	{ "stress-ng", "stressors=cpu|instances=24|timeout_s=60", "",
	  "[stress-ng][--cpu][24][--timeout][60][--metrics-brief][--times]", NULL },
	{ "stress-ng", "stressors=cpu, pipe|instances=1|ops=50|metrics=full|times=false", "",
	  "[stress-ng][--cpu][1][--cpu-ops][50][--pipe][1][--pipe-ops][50][--metrics]", NULL },
	{ "stress-ng", "stressors=cpu", "", NULL, "'timeout_s' or 'ops'" },
	{ "stress-ng", "stressors=cpu --exec|timeout_s=1", "", NULL, "'stressors'" },
	{ "specjbb2015", "command=./run_composite.sh -x 'a b'", "", "[./run_composite.sh][-x][a b]",
	  NULL },
	{ "specjbb2015", "mode=reporter|data=a.gz|jvm_options=-Xmx2g", "",
	  "[java][-Xmx2g][-jar][specjbb2015.jar][-m][REPORTER][-s][a.gz]", NULL },
	{ "specjbb2015", "dir=/opt/jbb|mode=multi|groups=2|jvm_options=-Xmx2g -Xms2g", "",
	  "[sh][./specjbb.sh][/opt/jbb][multi][2][java][specjbb2015.jar][-Xmx2g][-Xms2g]", NULL },
	{ "specjbb2015", "", "", NULL, "'dir'" },
	{ "specjbb2015", "dir=/x|mode=quick", "", NULL, "'mode'" },
	{ "specjbb2005", "jvm_options=-Xmx2g", "",
	  "[java][-Xmx2g][-cp][jbb.jar:check.jar][spec.jbb.JBBmain][-propfile][SPECjbb.props]",
	  NULL },
	{ "specjbb2005", "command=", "", NULL, "'command'" },
	{ "synthetic", "sd=5|mean=10|direction=higher", "", "[sh][./synthetic.sh][mean=10][sd=5]",
	  NULL },
	{ "synthetic", "dist=cauchy", "", NULL, "'dist'" },
};

static char *bracketed(const struct kab_strv *argv)
{
	struct kab_buf out = KAB_BUF_INIT;

	for (size_t i = 0; i < argv->n; i++)
		kab_buf_addf(&out, "[%s]", argv->v[i]);
	return kab_buf_detach(&out);
}

static void set_params(struct kab_params *params, const char *text)
{
	struct kab_strv pairs kab_autostrv = KAB_STRV_INIT;

	kab_strv_split(&pairs, text, '|');
	for (size_t i = 0; i < pairs.n; i++) {
		char *equals = strchr(pairs.v[i], '=');

		*equals = '\0';
		kab_params_set(params, pairs.v[i], equals + 1);
	}
}

static void command_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(wants); i++) {
		const struct want *w = &wants[i];
		const struct kab_runner *runner = kab_runner_find(w->runner);
		char *tool kab_autofree = kab_xasprintf("tool_version.%s", w->runner);
		char *argv kab_autofree = NULL, *prepare kab_autofree = NULL;
		struct kab_command cmd = { 0 };
		struct kab_params params = { 0 };
		struct kab_facts facts = { 0 };
		struct kab_err err = KAB_ERR_INIT;
		int rc;

		set_params(&params, w->params);
		kab_facts_set(&facts, tool, w->version);
		assert_int_equal(kab_runner_check_params(runner, &params, &err), 0);
		rc = runner->command(&params, &facts, &cmd, &err);
		if (!w->argv) {
			if (rc != -1 || err.code != KAB_ERR_CONFIG || !strstr(err.text, w->more))
				fail_msg("%s %s: rc %d, '%s'", w->runner, w->params, rc, err.text);
		} else {
			argv = bracketed(&cmd.argv);
			prepare = bracketed(&cmd.prepare);
			if (rc)
				fail_msg("%s %s: %s", w->runner, w->params, err.text);
			assert_string_equal(argv, w->argv);
			assert_string_equal(prepare, w->more ? w->more : "");
			assert_int_equal(cmd.cleanup.n, cmd.prepare.n);
		}
		kab_command_release(&cmd);
		kab_params_release(&params);
		kab_facts_release(&facts);
	}
}

static void what_a_host_lacks(void **state)
{
	static const struct kab_params none = { 0 };
	struct kab_facts facts = { 0 };
	struct kab_params params = { 0 };
	char *reason = NULL;

	(void)state;
	kab_facts_set(&facts, "cpus", "2");
	for (size_t i = 0; i < kab_runners_n; i++) {
		const struct kab_runner *r = kab_runners[i];
		bool always = !strcmp(r->name, "synthetic");

		reason = NULL;
		assert_int_equal(r->unsupported(&facts, &none, &reason), !always);
		if (!always)
			assert_non_null(strstr(reason, "apt-get install"));
		free(reason);
	}
	kab_facts_set(&facts, "tool.hackbench", "/usr/bin/hackbench");
	assert_int_equal(kab_runner_find("hackbench")->unsupported(&facts, &none, &reason), 0);
	kab_params_set(&params, "variant", "perf");
	assert_int_equal(kab_runner_find("hackbench")->unsupported(&facts, &params, &reason), 1);
	assert_non_null(strstr(reason, "perf"));
	free(reason);
	kab_params_set(&params, "program", "/opt/perf");
	assert_int_equal(kab_runner_find("hackbench")->unsupported(&facts, &params, &reason), 0);
	kab_params_release(&params);
	kab_facts_release(&facts);
}

static void durations_for_the_plan(void **state)
{
	struct kab_params params = { 0 };
	struct kab_facts facts = { 0 };
	struct kab_command cmd = { 0 };
	struct kab_err err = KAB_ERR_INIT;

	(void)state;
	kab_params_set(&params, "timeout_s", "60");
	assert_int_equal(kab_runner_find("stress-ng")->command(&params, &facts, &cmd, &err), 0);
	assert_int_equal((int)cmd.expected_s, 60);
	kab_command_release(&cmd);
	kab_params_release(&params);
	kab_params_set(&params, "time", "7");
	assert_int_equal(kab_runner_find("sysbench")->command(&params, &facts, &cmd, &err), 0);
	assert_int_equal((int)cmd.expected_s, 7);
	kab_command_release(&cmd);
	kab_params_release(&params);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(command_lines),
		cmocka_unit_test(what_a_host_lacks),
		cmocka_unit_test(durations_for_the_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
