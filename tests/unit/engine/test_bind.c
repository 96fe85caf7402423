/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is wrong in a suite is said when it is loaded, not in the middle of a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/json.h"
#include "engine/bind.h"

#define CASE(runner, rest)                                                                     \
	"{ \"name\": \"x\", \"cases\": [ { \"name\": \"c\", \"runner\": \"" runner "\", " rest \
	" } ] }"
#define HACKBENCH(params) CASE("hackbench", "\"params\": { " params " }")

static int bind_text(const char *text, struct kab_suite *suite, struct kab_err *err)
{
	json_t *doc = NULL;
	int status = kab_json_load_bytes("s.json", text, strlen(text), &doc, err);

	if (status == 0)
		status = kab_suite_load_json(doc, "s.json", suite, err);
	json_decref(doc);
	assert_int_equal(status, 0);
	return kab_suite_bind(suite, err);
}

static void mistakes(void **state)
{
	static const struct {
		const char *text;
		const char *said[3];
	} table[] = {
		{ HACKBENCH("\"groups\": 4, \"loops\": \"4000/group\""),
		  { "s.json: $.cases[0].params.loops", "unknown name 'group'", "'groups'" } },
		{ HACKBENCH("\"groups\": \"2*cpu\""),
		  { "$.cases[0].params.groups", "unknown name 'cpu'", "'cpus'" } },
		{ HACKBENCH("\"loops\": \"4000/0\""),
		  { "$.cases[0].params.loops", "division by zero", "4000/0" } },
		{ HACKBENCH("\"groups\": [4, 0], \"loops\": \"4000/groups\""),
		  { "$.cases[0].params.loops", "division by zero", "4000/groups" } },
		{ HACKBENCH("\"groups\": \"loops+1\", \"loops\": \"groups+1\""),
		  { "$.cases[0].params.groups", "circle", NULL } },
		{ HACKBENCH("\"pipe\": \"yes\""),
		  { "$.cases[0]", "parameter 'pipe': expected true or false", "'yes'" } },
		{ HACKBENCH("\"pipe\": [true, 1]"),
		  { "$.cases[0]", "expected true or false", "'1'" } },
		{ CASE("sysbench", "\"metrics\": [ \"latency_p99\" ]"),
		  { "$.cases[0]", "'latency_p99'", "percentile to 99 (here it is 95)" } },
		{ CASE("sysbench",
		       "\"params\": { \"percentile\": 0 }, \"metrics\": [ \"latency_p0\" ]"),
		  { "$.cases[0]", "'latency_p0'", "percentile" } },
		{ CASE("hackbench", "\"metrics\": [ \"system_time\" ]"),
		  { "$.cases[0]", "GNU time", "a run measures invocation_system" } },
		{ CASE("hackbench", "\"metrics\": [ \"percent_cpu\" ]"),
		  { "$.cases[0]", "GNU time", "no such figure" } },
		{ CASE("hackbench", "\"margin_pct\": { \"max_rss\": 3 }"),
		  { "$.cases[0]", "GNU time", "invocation_max_rss" } },
		{ CASE("hackbench", "\"metrics\": [ \"invocation_sytem\" ]"),
		  { "$.cases[0]", "did you mean 'invocation_system'", NULL } },
		{ CASE("hackbench", "\"metrics\": [ \"zzz\" ]"),
		  { "$.cases[0]", "it has time, invocation_elapsed", NULL } },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(table); i++) {
		struct kab_suite suite = { 0 };
		struct kab_err err = KAB_ERR_INIT;

		if (bind_text(table[i].text, &suite, &err) == 0)
			fail_msg("accepted: %s", table[i].text);
		assert_int_equal(err.code, KAB_ERR_CONFIG);
		for (size_t k = 0; k < 3 && table[i].said[k]; k++)
			if (!strstr(err.text, table[i].said[k]))
				fail_msg("%s: '%s' is not in: %s", table[i].text, table[i].said[k],
					 err.text);
		kab_suite_release(&suite);
	}
}

/* Right somewhere is right: a host decides, or another point of the sweep has it. */
static void no_mistakes(void **state)
{
	static const char *const table[] = {
		HACKBENCH("\"groups\": \"2*cpus\", \"loops\": \"40000/groups\""),
		HACKBENCH("\"groups\": \"cpus\", \"loops\": \"4000/(cpus-1)\""),
		HACKBENCH("\"loops\": \"4000/(memory_mb/4096)\""),
		HACKBENCH("\"pipe\": [true, false]"),
		HACKBENCH("\"pipe\": \"true\""),
		CASE("sysbench", "\"metrics\": [ \"latency_p95\", \"latency_avg\" ]"),
		CASE("sysbench", "\"params\": { \"percentile\": [95, 99] }, "
				 "\"metrics\": [ \"latency_p99\" ]"),
		CASE("sysbench", "\"params\": { \"args\": \"--percentile=50\" }, "
				 "\"metrics\": [ \"latency_p50\" ]"),
		CASE("hackbench", "\"metrics\": [ \"invocation_system\" ]"),
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(table); i++) {
		struct kab_suite suite = { 0 };
		struct kab_err err = KAB_ERR_INIT;

		if (bind_text(table[i], &suite, &err) < 0)
			fail_msg("%s: %s", table[i], err.text);
		kab_suite_release(&suite);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(mistakes),
					    cmocka_unit_test(no_mistakes) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
