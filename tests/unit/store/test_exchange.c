/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CSV files and logs to runs, and stored output read again: through a real database. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "exchange/csv.h"
#include "exchange/import.h"
#include "exchange/reparse.h"
#include "fixture.h"
#include "runners/runner.h"

static void test_csv(void **state)
{
	static const char text[] = "\xef\xbb\xbf"
				   "a,\"b \"\"q\"\"\",c\r\n"
				   "\r\n"
				   "1,\"two\nlines, and a comma\",\n"
				   "\n"
				   ",,";
	struct fixture *f = *state;
	struct kab_csv csv;

	OK(f, kab_csv_parse("f.csv", text, sizeof(text) - 1, &csv, &f->err));
	assert_int_equal(csv.n, 3);
	assert_string_equal(csv.v[0].v[0], "a");
	assert_string_equal(csv.v[0].v[1], "b \"q\"");
	assert_int_equal(csv.v[1].line, 3);
	assert_string_equal(csv.v[1].v[1], "two\nlines, and a comma");
	assert_string_equal(csv.v[1].v[2], "");
	assert_int_equal(csv.v[2].line, 6);
	assert_int_equal(csv.v[2].n, 3);
	kab_csv_release(&csv);
}

static void test_csv_errors(void **state)
{
	static const struct {
		const char *text, *want;
	} bad[] = {
		{ "", "f.csv: empty" },
		{ "a,b\n1,\"x\n\n", "f.csv:2: column 'b': the quote that begins here" },
		{ "a,b\n1,\"x\"y\n", "f.csv:2: column 'b': text behind the closing quote" },
		{ "a,b\n1\"2,3\n", "f.csv:2: column 'a': a quote inside" },
		{ "a,b\n1,2,3\n", "f.csv:2: 3 fields, but the header has 2" },
		{ "a,b\n\"x\ny\",1\n1\n", "f.csv:4: 1 fields, but the header has 2" },
		{ "a,b\rc,d\n", "f.csv:1: column 2: a carriage return" },
	};
	struct fixture *f = *state;
	struct kab_csv csv;

	for (size_t i = 0; i < KAB_ARRAY_SIZE(bad); i++) {
		assert_int_equal(
			kab_csv_parse("f.csv", bad[i].text, strlen(bad[i].text), &csv, &f->err),
			-1);
		assert_int_equal(f->err.code, KAB_ERR_PARSE);
		assert_contains(f->err.text, bad[i].want);
		kab_csv_release(&csv);
	}
	assert_int_equal(kab_csv_parse("f.csv", "a,b\n1,\0\n", 8, &csv, &f->err), -1);
	assert_contains(f->err.text, "NUL");
	kab_csv_release(&csv);
}

static void import_csv(struct fixture *f, const char *text, const char *baseline,
		       struct kab_row_list *rows)
{
	struct kab_import_opts opts = { .name = "i", .margin_pct = 5, .source = "csv" };
	struct kab_import import;
	char *name;
	int64_t id;

	OK(f, kab_import_csv("f.csv", text, strlen(text), baseline, &import, &f->err));
	OK(f, kab_import_store(f->store, &import, &opts, &id, &name, &f->err));
	OK(f, kab_store_load_rows(f->store, &id, 1, rows, &f->err));
	kab_import_release(&import);
	free(name);
}

/* Times 1.0, 1.1, 0.2, 1.0 of which the third one failed: it is not in the figures. */
static void test_import_failed(void **state)
{
	struct fixture *f = *state;
	struct kab_row_list rows;
	const struct kab_sample_set *set;
	double sum = 0;

	import_csv(f,
		   "kernel,case,boot,iteration,metric,value,unit,direction\n"
		   "base,c,1,1,time,1.0,s,lower\nbase,c,1,2,time,1.1,s,lower\n"
		   "base,c,1,3,time,fail,s,lower\nbase,c,1,4,time,1.0,s,lower\n"
		   "patched,c,1,1,time,,s,lower\n",
		   NULL, &rows);
	assert_int_equal(rows.n, 1);
	assert_true(rows.v[0].primary);
	assert_true(rows.v[0].margin_pct == 5);
	assert_int_equal(rows.v[0].dir, KAB_DIR_LOWER);
	set = &rows.v[0].sets[0];
	assert_string_equal(set->kernel, "base");
	assert_int_equal(set->n_planned, 4);
	assert_int_equal(set->n_done, 3);
	assert_int_equal(set->n_failed, 1);
	for (size_t i = 0; i < 3; i++)
		sum += set->boots[0].v[i].value;
	assert_true(fabs(sum / 3 - 1.0333333333333334) < 1e-12);
	assert_int_equal(rows.v[0].sets[1].n_failed, 1);
	assert_int_equal(rows.v[0].sets[1].n_done, 0);
	kab_row_list_release(&rows);
}

static void test_import_shapes(void **state)
{
	struct fixture *f = *state;
	struct kab_row_list rows;

	/* No iteration column: the n-th line of each metric; the header's case and order are free. */
	import_csv(
		f,
		"Value,KERNEL,metric,boot,condition,row\n"
		"1,b,m,x,smt=on,g=1\n2,b,m,x,smt=on,g=1\n10,b,k,x,smt=on,g=1\n20,b,k,x,smt=on,g=1\n"
		"3,a,m,y,smt=on,g=1\n30, a "
		",k,y,smt=on,g=1\n4,a,m,z,smt=on,g=1\n40,a,k,z,smt=on,g=1\n",
		"a", &rows);
	assert_int_equal(rows.n, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct kab_row_data *r = &rows.v[i];
		double scale = strcmp(r->metric, "m") ? 10 : 1;

		assert_string_equal(r->condition, "smt=on");
		assert_string_equal(r->row_key, "g=1");
		assert_int_equal(r->dir, KAB_DIR_NONE);
		assert_string_equal(r->sets[0].kernel, "a");
		assert_int_equal(r->sets[0].n_boots, 2);
		assert_int_equal(r->sets[0].n_missing + r->sets[1].n_missing, 0);
		assert_true(r->sets[0].boots[0].v[0].value == 3 * scale);
		assert_true(r->sets[0].boots[1].v[0].value == 4 * scale);
		assert_int_equal(r->sets[1].n_boots, 1);
		assert_int_equal(r->sets[1].boots[0].n, 2);
		assert_true(r->sets[1].boots[0].v[1].value == 2 * scale);
	}
	kab_row_list_release(&rows);
	/* Two lines of one metric in one iteration are repeated samples; an empty value beside
	 * another metric lacks only that one. Lines of an iteration may stand apart. */
	import_csv(f,
		   "kernel,iteration,metric,value,direction\na,1,m,1,lower\na,2,m,7,lower\n"
		   "a,1,m,3,lower\na,1,k,5,higher\na,2,k,,higher\n",
		   NULL, &rows);
	assert_int_equal(rows.n, 2);
	assert_string_equal(rows.v[0].metric, "m");
	assert_true(rows.v[0].sets[0].boots[0].v[0].value == 2);
	assert_int_equal(rows.v[0].sets[0].boots[0].v[0].repeats, 2);
	assert_int_equal(rows.v[0].sets[0].n_done, 2);
	assert_int_equal(rows.v[1].sets[0].n_done, 1);
	assert_int_equal(rows.v[1].sets[0].n_missing, 1);
	kab_row_list_release(&rows);
}

static void test_import_errors(void **state)
{
	static const struct {
		const char *text, *want;
	} bad[] = {
		{ "kernel,valu\na,1\n", "unknown column 'valu' (did you mean 'value'?)" },
		{ "kernel,value,value\na,1,1\n", "'value' stands there twice" },
		{ "kernel,metric\na,1\n", "no column 'value'" },
		{ "kernel;value\na;1\n", "not separated by commas" },
		{ "kernel,value\na,1\nb,1.2.3\n", "f.csv:3: column 'value'" },
		{ "kernel,value\na,inf\n", "f.csv:2: column 'value'" },
		{ "kernel,value\na,\"1,5\"\n", "decimal point" },
		{ "kernel,value\n,1\n", "f.csv:2: column 'kernel'" },
		{ "kernel,value,direction\na,1,down\n", "f.csv:2: column 'direction'" },
		{ "kernel,value,iteration\na,1,x\n", "f.csv:2: column 'iteration'" },
		{ "kernel,value\n", "no line below the header" },
		{ "kernel,value\na,1\n", "the baseline" },
	};
	struct fixture *f = *state;
	struct kab_import import;

	for (size_t i = 0; i < KAB_ARRAY_SIZE(bad); i++) {
		assert_int_equal(kab_import_csv("f.csv", bad[i].text, strlen(bad[i].text), "zz",
						&import, &f->err),
				 -1);
		assert_contains(f->err.text, bad[i].want);
		kab_import_release(&import);
	}
}

/* What cannot be stored leaves nothing behind. */
static void test_import_whole(void **state)
{
	struct fixture *f = *state;
	struct kab_import_opts opts = { .name = "i", .source = "csv" };
	struct kab_run_info *runs;
	struct kab_import import;
	char *name;
	int64_t id;
	size_t n;

	OK(f, kab_import_csv("f.csv", "kernel,value\na,1\na,2\n", 21, NULL, &import, &f->err));
	import.v[1].samples.v[0].value = INFINITY;
	assert_int_equal(kab_import_store(f->store, &import, &opts, &id, &name, &f->err), -1);
	assert_null(name);
	assert_contains(f->err.text, "finite");
	import.v[1].samples.v[0].value = 2;
	OK(f, kab_import_store(f->store, &import, &opts, &id, &name, &f->err));
	assert_string_equal(name, "i");
	free(name);
	kab_import_release(&import);
	/* A name that is no text at all: neither from a file, nor from elsewhere. */
	assert_int_equal(kab_import_csv("f.csv", "kernel,value,metric\na,1,\xff\n", 26, NULL,
					&import, &f->err),
			 -1);
	assert_contains(f->err.text, "UTF-8");
	kab_import_release(&import);
	OK(f, kab_import_csv("f.csv", "kernel,value,metric\na,1,m\n", 26, NULL, &import, &f->err));
	import.verdicts.v[0].metric[0] = '\xff';
	assert_int_equal(kab_import_store(f->store, &import, &opts, &id, &name, &f->err), -1);
	assert_contains(f->err.text, "UTF-8");
	kab_import_release(&import);
	OK(f, kab_store_list_runs(f->store, 0, &runs, &n, &f->err));
	assert_int_equal(n, 1);
	assert_int_equal(runs[0].n_done, 2);
	assert_int_equal(runs[0].state, KAB_RUN_COMPLETE);
	kab_run_info_release(&runs[0]);
	free(runs);
}

/* A class run of which one side lacks rows: they are missing there, not equal, not zero. */
static void test_import_logs(void **state)
{
	static const char full[] =
		"stress-ng: info:  [1] dispatching hogs: 1 cpu, 1 pipe\n"
		"stress-ng: info:  [1] stressor       bogo ops real time  usr time  sys time   "
		"bogo "
		"ops/s     bogo ops/s\n"
		"stress-ng: info:  [1]                           (secs)    (secs)    (secs)   "
		"(real "
		"time) (usr+sys time)\n"
		"stress-ng: info:  [1] cpu                1000     10.00      9.90      0.00       "
		"100.00         101.01\n"
		"stress-ng: info:  [1] pipe               2000     10.00      1.00      8.90       "
		"200.00         202.02\n"
		"stress-ng: info:  [1] successful run completed in 10.00s\n";
	static const char less[] =
		"stress-ng: info:  [1] dispatching hogs: 1 cpu, 1 pipe\n"
		"stress-ng: info:  [1] stressor       bogo ops real time  usr time  sys time   "
		"bogo "
		"ops/s     bogo ops/s\n"
		"stress-ng: info:  [1]                           (secs)    (secs)    (secs)   "
		"(real "
		"time) (usr+sys time)\n"
		"stress-ng: info:  [1] cpu                1000     10.00      9.90      0.00       "
		"100.00         101.01\n"
		"stress-ng: info:  [1] successful run completed in 10.00s\n";
	struct fixture *f = *state;
	struct kab_import_log logs[] = {
		{ .kernel = "base", .file = "a", .bytes = full, .len = sizeof(full) - 1 },
		{ .kernel = "patched", .file = "b", .bytes = less, .len = sizeof(less) - 1 }
	};
	struct kab_params params = { 0 };
	struct kab_import_logs_opts how = {
		.runner = "stress-ng", .params = &params, .exit_status = -1, .boots = true
	};
	struct kab_import_opts opts = { .name = "i", .margin_pct = 2, .source = "stress-ng" };
	struct kab_import import;
	struct kab_row_list rows;
	char *name, *data;
	size_t found = 0, len;
	int64_t id;
	bool cut;

	OK(f, kab_import_logs(logs, 2, &how, &import, &f->err));
	OK(f, kab_import_store(f->store, &import, &opts, &id, &name, &f->err));
	OK(f, kab_store_load_rows(f->store, &id, 1, &rows, &f->err));
	for (size_t i = 0; i < rows.n; i++) {
		const struct kab_row_data *r = &rows.v[i];
		bool pipe = !strncmp(r->metric, "pipe.", 5);

		if (!r->primary)
			continue;
		found++;
		assert_int_equal(r->dir, KAB_DIR_HIGHER);
		assert_int_equal(r->sets[0].n_done, 1);
		assert_true(r->sets[0].boots[0].v[0].value == (pipe ? 200 : 100));
		assert_int_equal(r->sets[1].n_done, !pipe);
		assert_int_equal(r->sets[1].n_missing, pipe);
	}
	assert_int_equal(found, 2);
	kab_row_list_release(&rows);
	OK(f, kab_store_output(f->store, 1, "merged", &data, &len, &cut, &f->err));
	assert_string_equal(data, full);
	free(data);
	free(name);
	kab_import_release(&import);
	how.runner = "stres-ng";
	assert_int_equal(kab_import_logs(logs, 2, &how, &import, &f->err), -1);
	assert_contains(f->err.text, "did you mean 'stress-ng'");
	kab_import_release(&import);
}

struct seen {
	int n[4];
	char text[256];
};

static void note(void *ctx, const struct kab_step_info *step, enum kab_reparse_change change,
		 const char *text)
{
	struct seen *s = ctx;

	(void)step;
	s->n[change]++;
	if (change == KAB_REPARSE_CHANGED)
		snprintf(s->text, sizeof(s->text), "%s", text);
}

/* Stored as an older parser would have read it. */
static void put(struct fixture *f, int64_t id, const char *log, const char *parser,
		enum kab_iter_state st, double value)
{
	struct kab_samples samples = { 0 };
	struct kab_store_stream stream = { "stdout", log, log ? strlen(log) : 0, false };
	struct kab_store_result r = { .iteration_id = id,
				      .state = st,
				      .reason = st == KAB_ITER_DONE ? NULL : "not understood",
				      .parse_status = st == KAB_ITER_DONE ? "ok" : "no-result",
				      .elapsed_s = NAN,
				      .user_s = NAN,
				      .system_s = NAN,
				      .max_rss_kb = NAN,
				      .params_resolved = "",
				      .finished_wall_ns = 1,
				      .parser_version = parser,
				      .streams = &stream,
				      .n_streams = log ? 1 : 0 };

	if (st == KAB_ITER_DONE)
		kab_samples_add(&samples, "time", "s", KAB_DIR_LOWER, value);
	r.samples = samples.v;
	r.n_samples = samples.n;
	OK(f, kab_store_commit_iteration(f->store, &r, &f->err));
	kab_samples_release(&samples);
}

static void test_reparse(void **state)
{
	static const char log[] = "Running in process mode with 2 groups using 40 file descriptors "
				  "each (== 80 tasks)\nEach sender will pass 500 messages of 100 "
				  "bytes\nTime: 0.764\n";
	struct fixture *f = *state;
	struct kab_store_run run = { .name = "r", .plan_json = "{}" };
	struct kab_store_host host = { .label = "h" };
	struct kab_store_kernel kernel = { .label = "k" };
	struct kab_store_boot boot = { .sequence = 1 };
	struct kab_store_step steps[5];
	struct kab_reparse_counts counts;
	struct kab_extraction_info x;
	struct kab_row_list rows;
	struct seen seen = { 0 };
	const char *now = kab_runner_find("hackbench")->parser_version;
	char *name;

	for (size_t i = 0; i < 5; i++)
		steps[i] = (struct kab_store_step){ .case_name = "c",
						    .runner = "hackbench",
						    .iteration = (int)i + 1,
						    .sequence = (int64_t)i + 1 };
	OK(f, kab_store_create_run(f->store, &run, &host, 1, &kernel, 1, &boot, 1, steps, 5, &name,
				   &f->err));
	put(f, steps[0].id, log, now, KAB_ITER_DONE, 0.764);
	put(f, steps[1].id, log, "old", KAB_ITER_DONE, 0.764);
	put(f, steps[2].id, log, "old", KAB_ITER_DONE, 764);
	put(f, steps[3].id, log, "old", KAB_ITER_FAILED, 0);
	put(f, steps[4].id, NULL, "old", KAB_ITER_DONE, 5);
	OK(f, kab_reparse_run(f->store, run.id, note, &seen, &counts, &f->err));
	assert_int_equal(counts.n[KAB_REPARSE_SAME], 1);
	assert_int_equal(counts.n[KAB_REPARSE_CONFIRMED], 1);
	assert_int_equal(counts.n[KAB_REPARSE_CHANGED], 2);
	assert_int_equal(counts.n[KAB_REPARSE_SKIPPED], 1);
	assert_int_equal(seen.n[KAB_REPARSE_CHANGED], 2);
	assert_contains(seen.text, "no-result -> ok");
	OK(f, kab_store_extraction(f->store, steps[2].id, &x, &f->err));
	assert_string_equal(x.parser_version, now);
	assert_true(x.samples.v[0].value == 0.764);
	kab_extraction_info_release(&x);
	OK(f, kab_store_load_rows(f->store, &run.id, 1, &rows, &f->err));
	assert_int_equal(rows.v[0].sets[0].n_done, 5);
	for (size_t i = 0; i < 5; i++)
		assert_true(rows.v[0].sets[0].boots[0].v[i].value == (i < 4 ? 0.764 : 5));
	kab_row_list_release(&rows);
	/* A second time nothing is left to do. */
	OK(f, kab_reparse_run(f->store, run.id, NULL, NULL, &counts, &f->err));
	assert_int_equal(counts.n[KAB_REPARSE_SAME], 4);
	assert_int_equal(counts.n[KAB_REPARSE_CHANGED], 0);
	free(name);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_csv),	       T(test_csv_errors),    T(test_import_failed),
		T(test_import_shapes), T(test_import_errors), T(test_import_whole),
		T(test_import_logs),   T(test_reparse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
