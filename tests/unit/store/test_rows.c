/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What load_rows makes of runs: every bucket, every rule of counting. Values are exact in binary. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fixture.h"

static void load(struct fixture *f, struct kab_row_list *rows, const int64_t *ids, size_t n)
{
	OK(f, kab_store_load_rows(f->store, ids, n, rows, &f->err));
}

static const struct kab_row_data *row_of(const struct kab_row_list *rows, const char *metric)
{
	for (size_t i = 0; i < rows->n; i++)
		if (!strcmp(rows->v[i].metric, metric))
			return &rows->v[i];
	print_error("no row of metric '%s'\n", metric);
	fail();
	return NULL;
}

static void done(struct fixture *f, int64_t id, double a)
{
	commit_done(f, id, &a, 1);
}

/* All DONE: base 1, 2 | 5, 6, patched 3, 4 | 7, 8; warm-ups are 100. */
static void fill(struct fixture *f, struct mini *m)
{
	for (size_t s = 0; s < 12; s++)
		done(f, m->step[s].id, s % 3 ? (double)(s / 3 * 2 + s % 3) : 100);
}

static void test_plain(void **state)
{
	struct fixture *f = *state;
	struct mini m;
	struct kab_row_list rows;
	const struct kab_row_data *r;

	mini_create(f, &m, "x", MINI_PLAN);
	fill(f, &m);
	load(f, &rows, &m.run.id, 1);
	assert_int_equal(rows.n, 2); /* time, and the elapsed time of the invocations */
	r = &rows.v[0];
	assert_string_equal(r->metric, "time");
	assert_string_equal(r->unit, "s");
	assert_string_equal(r->host, "h");
	assert_string_equal(r->case_name, "c");
	assert_string_equal(r->runner, "synthetic");
	assert_int_equal(r->dir, KAB_DIR_LOWER);
	assert_true(r->primary);
	assert_true(r->margin_pct == 3.5);
	assert_false(r->restarts);
	assert_false(r->paired);
	assert_int_equal(r->n_sets, 2);
	for (size_t k = 0; k < 2; k++) {
		const struct kab_sample_set *set = &r->sets[k];

		assert_string_equal(set->kernel, k ? "patched" : "base");
		assert_int_equal(set->n_planned, 4);
		assert_int_equal(set->n_done, 4);
		assert_int_equal(set->n_failed + set->n_missing + set->n_retried, 0);
		assert_null(set->first_failure);
		assert_string_equal(set->argv_text, "mean=1");
		assert_string_equal(set->runner_version, "1");
		assert_int_equal(set->n_boots, 2);
		for (size_t b = 0; b < 2; b++) {
			const struct kab_boot_obs *obs = &set->boots[b];

			assert_int_equal(obs->boot_id, m.boot[2 * b + k].id);
			assert_int_equal(obs->block, b);
			assert_int_equal(obs->n, 2);
			for (size_t i = 0; i < 2; i++) {
				size_t step = 3 * (2 * b + k) + 1 + i;

				assert_true(obs->v[i].value == (double)(4 * b + 2 * k + i + 1));
				assert_int_equal(obs->v[i].repeats, 1);
				assert_int_equal(obs->v[i].sequence, step + 1);
				assert_int_equal(obs->v[i].iteration_id, m.step[step].id);
			}
		}
	}
	r = &rows.v[1];
	assert_string_equal(r->metric, "invocation_elapsed");
	assert_string_equal(r->unit, "s");
	assert_int_equal(r->dir, KAB_DIR_NONE);
	assert_false(r->primary);
	assert_int_equal(r->sets[0].n_done, 4);
	assert_true(r->sets[1].boots[1].v[1].value == 1.5);
	kab_row_list_release(&rows);
	mini_release(&m);
}

static void test_repeats_and_partial(void **state)
{
	struct fixture *f = *state;
	struct mini m;
	struct kab_row_list rows;
	const struct kab_row_data *r;
	struct kab_samples samples = { 0 };
	double three[] = { 1, 2, 6 }, same[] = { 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1 };
	struct kab_store_result res = { .state = KAB_ITER_DONE,
					.parse_status = "partial",
					.reason = "cut",
					.elapsed_s = NAN,
					.user_s = NAN,
					.system_s = NAN,
					.max_rss_kb = NAN };

	mini_create(f, &m, "x", MINI_PLAN);
	commit_done(f, m.step[1].id, three, 3);
	commit_done(f, m.step[2].id, same, 7);
	/* This one printed another metric only. */
	kab_samples_add(&samples, "rate", "1/s", KAB_DIR_HIGHER, 8);
	res.samples = samples.v;
	res.n_samples = 1;
	res.iteration_id = m.step[4].id;
	OK(f, kab_store_commit_iteration(f->store, &res, &f->err));
	load(f, &rows, &m.run.id, 1);
	r = row_of(&rows, "time");
	assert_int_equal(r->sets[0].boots[0].n, 2);
	assert_true(r->sets[0].boots[0].v[0].value == 3);
	assert_int_equal(r->sets[0].boots[0].v[0].repeats, 3);
	assert_true(r->sets[0].boots[0].v[1].value == 0.1);
	assert_int_equal(r->sets[0].n_done, 2); /* two more are pending: in no bucket */
	assert_int_equal(r->sets[0].n_missing, 0);
	assert_int_equal(r->sets[1].n_planned, 4);
	assert_int_equal(r->sets[1].n_done, 0);
	assert_int_equal(r->sets[1].n_boots, 0);
	assert_int_equal(r->sets[1].n_missing, 1);
	assert_string_equal(r->sets[1].first_failure, "cut");
	r = row_of(&rows, "rate");
	assert_int_equal(r->dir, KAB_DIR_HIGHER);
	assert_false(r->primary);
	assert_int_equal(r->sets[0].n_missing, 2);
	assert_int_equal(r->sets[1].n_done, 1);
	kab_row_list_release(&rows);
	kab_samples_release(&samples);
	mini_release(&m);
}

static void test_failures(void **state)
{
	struct fixture *f = *state;
	struct mini m;
	struct kab_row_list rows;
	const struct kab_row_data *r;
	int64_t again, third;

	mini_create(f, &m, "x", MINI_PLAN);
	/* base: done, failed | failed then done, failed twice. patched: failed, missing | pending. */
	done(f, m.step[1].id, 1);
	commit_state(f, m.step[2].id, KAB_ITER_FAILED, "exit status 1");
	commit_state(f, m.step[7].id, KAB_ITER_FAILED, "first");
	OK(f, kab_store_retry_iteration(f->store, m.step[7].id, &again, &f->err));
	done(f, again, 2);
	commit_state(f, m.step[8].id, KAB_ITER_FAILED, "once");
	OK(f, kab_store_retry_iteration(f->store, m.step[8].id, &again, &f->err));
	commit_state(f, again, KAB_ITER_FAILED, "twice");
	OK(f, kab_store_retry_iteration(f->store, again, &third, &f->err));
	commit_state(f, third, KAB_ITER_FAILED, "thrice");
	commit_state(f, m.step[3].id, KAB_ITER_FAILED, "a warm-up counts nowhere");
	commit_state(f, m.step[4].id, KAB_ITER_MISSING, "not installed");
	commit_state(f, m.step[5].id, KAB_ITER_FAILED, "crashed");
	load(f, &rows, &m.run.id, 1);
	for (size_t i = 0; i < rows.n; i++) { /* of every metric */
		r = &rows.v[i];
		assert_int_equal(r->sets[0].n_planned, 4);
		assert_int_equal(r->sets[0].n_done, 2);
		assert_int_equal(r->sets[0].n_failed, 2);
		assert_int_equal(r->sets[0].n_missing, 0);
		assert_int_equal(r->sets[0].n_retried, 2);
		assert_string_equal(r->sets[0].first_failure, "exit status 1");
		assert_int_equal(r->sets[0].n_boots, 2);
		assert_int_equal(r->sets[1].n_planned, 4);
		assert_int_equal(r->sets[1].n_done, 0);
		assert_int_equal(r->sets[1].n_failed, 1);
		assert_int_equal(r->sets[1].n_missing, 1);
		assert_string_equal(r->sets[1].first_failure, "not installed");
		assert_int_equal(r->sets[1].n_boots, 0);
	}
	kab_row_list_release(&rows);
	mini_release(&m);
}

/* Neither kernel gave a figure: the row of what was asked for stands there all the same. */
static void test_nothing_at_all(void **state)
{
	struct fixture *f = *state;
	struct mini m;
	struct kab_row_list rows;

	mini_create(f, &m, "x", MINI_PLAN);
	commit_state(f, m.step[1].id, KAB_ITER_FAILED, "crashed");
	load(f, &rows, &m.run.id, 1);
	assert_int_equal(rows.n, 1);
	assert_string_equal(rows.v[0].metric, "time");
	assert_true(rows.v[0].primary);
	assert_true(rows.v[0].margin_pct == 3.5);
	assert_int_equal(rows.v[0].n_sets, 2);
	assert_int_equal(rows.v[0].sets[0].n_failed, 1);
	assert_int_equal(rows.v[0].sets[0].n_planned, 4);
	assert_int_equal(rows.v[0].sets[1].n_planned, 4);
	kab_row_list_release(&rows);
	mini_release(&m);
}

/* A family of metrics of which no member was measured is one row, under a name without pattern. */
static void test_families(void **state)
{
	static const char plan[] = "{\"judge\":{\"cases\":[{\"name\":\"c\",\"verdict\":[{"
				   "\"metric\":\"*.ops\",\"unit\":"
				   "\"1/"
				   "s\",\"direction\":\"higher\"},{\"metric\":\"latency_p*\"},{"
				   "\"metric\":\"*me\"}]}]}}";
	struct fixture *f = *state;
	struct mini m;
	struct kab_row_list rows;

	mini_create(f, &m, "x", plan);
	done(f, m.step[1].id, 1);
	load(f, &rows, &m.run.id, 1);
	assert_int_equal(rows.n, 4);
	assert_string_equal(rows.v[0].metric, "ops");
	assert_string_equal(rows.v[0].unit, "1/s");
	assert_int_equal(rows.v[0].dir, KAB_DIR_HIGHER);
	assert_int_equal(rows.v[0].sets[0].n_missing, 1);
	assert_string_equal(rows.v[1].metric, "latency_p");
	assert_string_equal(rows.v[2].metric, "time");
	assert_int_equal(rows.v[2].sets[0].n_done, 1);
	for (size_t i = 0; i < 3; i++) {
		assert_true(rows.v[i].primary);
		assert_true(rows.v[i].margin_pct == 2); /* when nothing says another */
	}
	assert_false(rows.v[3].primary);
	kab_row_list_release(&rows);
	mini_release(&m);
}

static void test_boot_states(void **state)
{
	struct fixture *f = *state;
	struct mini m;
	struct kab_row_list rows;
	const struct kab_row_data *r;
	struct kab_run_info info;

	mini_create(f, &m, "x", MINI_PLAN);
	fill(f, &m);
	OK(f, kab_store_boot_state(f->store, m.boot[0].id, "broken", "rebooted", &f->err));
	OK(f, kab_store_boot_state(f->store, m.boot[1].id, "failed", "wrong kernel", &f->err));
	load(f, &rows, &m.run.id, 1);
	r = row_of(&rows, "time");
	assert_int_equal(r->sets[0].n_done, 4);
	assert_int_equal(r->sets[1].n_done, 2);
	assert_int_equal(r->sets[1].n_failed, 2);
	assert_int_equal(r->sets[1].n_boots, 1);
	assert_string_equal(r->sets[1].first_failure, "wrong kernel");
	kab_row_list_release(&rows);
	OK(f, kab_store_find_run(f->store, "x", &info, NULL, &f->err));
	assert_int_equal(info.n_done, 6);
	assert_int_equal(info.n_failed, 2);
	kab_run_info_release(&info);
	mini_release(&m);
}

static void test_newest_extraction(void **state)
{
	struct fixture *f = *state;
	struct mini m;
	struct kab_row_list rows;
	const struct kab_row_data *r;
	struct kab_samples samples = { 0 };
	struct kab_store_result res = { .state = KAB_ITER_FAILED,
					.reason = "no figure",
					.parse_status = "no-result",
					.exit_status = 0,
					.elapsed_s = NAN,
					.user_s = NAN,
					.system_s = NAN,
					.max_rss_kb = NAN };

	mini_create(f, &m, "x", MINI_PLAN);
	done(f, m.step[1].id, 1);
	done(f, m.step[2].id, 2);
	res.iteration_id = m.step[4].id;
	OK(f, kab_store_commit_iteration(f->store, &res, &f->err));
	res.iteration_id = m.step[5].id; /* and this one was killed */
	res.exit_status = 137;
	OK(f, kab_store_commit_iteration(f->store, &res, &f->err));

	kab_samples_add(&samples, "time", "s", KAB_DIR_LOWER, 10);
	/* Another value; a refusal; a figure after all; a figure of a killed one. */
	OK(f, kab_store_add_extraction(f->store, m.step[1].id, "synthetic", "2", "ok", NULL,
				       samples.v, 1, &f->err));
	OK(f, kab_store_add_extraction(f->store, m.step[2].id, "synthetic", "2", "tool-failed",
				       "it was interrupted", samples.v, 1, &f->err));
	OK(f, kab_store_add_extraction(f->store, m.step[4].id, "synthetic", "2", "ok", NULL,
				       samples.v, 1, &f->err));
	OK(f, kab_store_add_extraction(f->store, m.step[5].id, "synthetic", "2", "ok", NULL,
				       samples.v, 1, &f->err));
	assert_int_equal(kab_store_add_extraction(f->store, m.step[7].id, "synthetic", "2", "ok",
						  NULL, samples.v, 1, &f->err),
			 -1);
	assert_contains(f->err.text, "nothing to read yet");
	load(f, &rows, &m.run.id, 1);
	r = row_of(&rows, "time");
	assert_int_equal(r->sets[0].n_done, 1);
	assert_true(r->sets[0].boots[0].v[0].value == 10);
	assert_int_equal(r->sets[0].n_failed, 1);
	assert_string_equal(r->sets[0].first_failure, "it was interrupted");
	assert_int_equal(r->sets[1].n_done, 1);
	assert_int_equal(r->sets[1].n_failed, 1);
	assert_string_equal(r->sets[1].first_failure, "no figure");
	kab_row_list_release(&rows);
	kab_samples_release(&samples);
	mini_release(&m);
}

/* Order, conditions, rows, hosts, verdict metrics, invocation metrics that were asked for. */
static void test_order(void **state)
{
	static const char plan[] =
		"{\"conditions\":[{\"text\":\"smt=on\"},{\"text\":\"smt=off\"}],"
		"\"analysis\":{\"design\":\"paired\"},\"judge\":{\"margin_pct\":4,\"cases\":[{"
		"\"name\":\"b\",\"runner\":\"synthetic\","
		"\"order\":0,"
		"\"verdict\":[{\"metric\":\"invocation_elapsed\"},{\"metric\":\"t*\",\"margin_"
		"pct\":1}]},"
		"{\"name\":\"a\",\"order\":1,\"verdict\":[{\"metric\":\"gone\",\"unit\":\"ms\","
		"\"direction\":\"higher\"}]}]}}";
	static const char *const conditions[] = { "smt=off", "smt=on" };
	static const char *const keys[] = { "groups=16", "groups=4" };
	struct fixture *f = *state;
	struct kab_store_run run = { .name = "o", .suite_name = "s", .plan_json = plan };
	struct kab_store_host hosts[] = { { .label = "h2", .position = 0 },
					  { .label = "h1", .position = 1 } };
	struct kab_store_kernel kernels[] = { { .label = "B", .position = 1 },
					      { .label = "A", .position = 0 } };
	struct kab_store_boot boots[2] = {
		{ .host = 1, .block = 0, .sequence = 1, .restart = true },
		{ .host = 0, .block = 0, .sequence = 1 }
	};
	struct kab_store_step steps[16];
	struct kab_row_list rows;
	size_t n = 0;
	char *name;

	for (size_t b = 0; b < 2; b++)
		for (size_t c = 0; c < 2; c++)
			for (size_t k = 0; k < 2; k++)
				for (size_t which = 0; which < 2; which++, n++)
					steps[n] = (struct kab_store_step){
						.boot = b,
						.condition = conditions[c],
						.case_name = which ? "b" : "a",
						.row_key = keys[k],
						.runner = "synthetic",
						.params_text = "",
						.case_order = which ? 0 : 1,
						.iteration = 1,
						.sequence = (int64_t)n + 1,
					};
	OK(f, kab_store_create_run(f->store, &run, hosts, 2, kernels, 2, boots, 2, steps, 16, &name,
				   &f->err));
	for (size_t i = 0; i < n; i++)
		done(f, steps[i].id, (double)i);
	load(f, &rows, &run.id, 1);
	/* 2 hosts x 2 conditions x 2 cases x 2 rows; b: elapsed, time. a: gone, time, elapsed. */
	assert_int_equal(rows.n, 2 * 2 * (2 * 2 + 2 * 3));
	for (size_t i = 0; i < rows.n; i++) {
		const struct kab_row_data *r = &rows.v[i];
		static const char *const metrics[] = { "invocation_elapsed",
						       "time",
						       "invocation_elapsed",
						       "time",
						       "gone",
						       "time",
						       "invocation_elapsed",
						       "gone",
						       "time",
						       "invocation_elapsed" };
		bool b = i % 10 < 4;

		assert_string_equal(r->host, i < 20 ? "h2" : "h1");
		assert_string_equal(r->condition, i % 20 < 10 ? "smt=on" : "smt=off");
		assert_string_equal(r->case_name, b ? "b" : "a");
		assert_string_equal(r->row_key, i % 10 < 2 || (i % 10 >= 4 && i % 10 < 7)
							? "groups=4"
							: "groups=16");
		assert_string_equal(r->metric, metrics[i % 10]);
		assert_int_equal(r->restarts, i >= 20);
		assert_true(r->paired);
		assert_string_equal(r->sets[0].kernel, "A"); /* by position */
		assert_int_equal(r->sets[0].n_planned, 0);
		assert_int_equal(r->sets[1].n_planned, 1);
		if (b) {
			assert_true(r->primary);
			assert_int_equal(r->dir, KAB_DIR_LOWER);
			assert_true(r->margin_pct == (strcmp(r->metric, "time") ? 4 : 1));
		} else if (!strcmp(r->metric, "gone")) {
			assert_true(r->primary);
			assert_true(r->margin_pct == 4);
			assert_string_equal(r->unit, "ms");
			assert_int_equal(r->dir, KAB_DIR_HIGHER);
			assert_int_equal(r->sets[1].n_missing, 1);
		} else {
			assert_false(r->primary);
		}
	}
	kab_row_list_release(&rows);
	free(name);
}

static void test_pooled(void **state)
{
	struct fixture *f = *state;
	struct mini a, b, c;
	struct kab_row_list rows;
	const struct kab_row_data *r;
	int64_t ids[3];

	mini_create(f, &a, "x", MINI_PLAN);
	mini_create(f, &b, "x", MINI_PLAN);
	mini_create(f, &c, "x", MINI_PLAN);
	fill(f, &a);
	fill(f, &b);
	fill(f, &c);
	for (size_t i = 0; i < 4; i++) {
		prove(f, a.boot[i].id, i % 2 ? "22" : "11", "boot");
		prove(f, b.boot[i].id, i % 2 ? "22" : "11", "boot");
		prove(f, c.boot[i].id, i % 2 ? "33" : "11", "boot");
	}
	ids[0] = a.run.id;
	ids[1] = b.run.id;
	ids[2] = c.run.id;
	load(f, &rows, ids, 2);
	r = row_of(&rows, "time");
	assert_int_equal(r->n_sets, 2);
	assert_int_equal(r->sets[0].n_planned, 8);
	assert_int_equal(r->sets[0].n_boots, 4);
	/* Blocks and order of the second run come after those of the first. */
	assert_int_equal(r->sets[0].boots[1].block, 1);
	assert_int_equal(r->sets[0].boots[2].block, 2);
	assert_int_equal(r->sets[0].boots[3].block, 3);
	assert_int_equal(r->sets[0].boots[2].v[0].sequence, 12 + 2);
	kab_row_list_release(&rows);

	/* "patched" is another kernel in the third: two columns; "base" is one everywhere. */
	load(f, &rows, ids, 3);
	r = row_of(&rows, "time");
	assert_int_equal(r->n_sets, 3);
	assert_string_equal(r->sets[0].kernel, "base");
	assert_string_equal(r->sets[1].kernel, "patched@x");
	assert_string_equal(r->sets[2].kernel, "patched@x-3");
	assert_int_equal(r->sets[0].n_done, 12);
	assert_int_equal(r->sets[1].n_done, 8);
	assert_int_equal(r->sets[2].n_done, 4);
	kab_row_list_release(&rows);

	ids[1] = ids[0];
	assert_int_equal(kab_store_load_rows(f->store, ids, 2, &rows, &f->err), -1);
	assert_contains(f->err.text, "named twice");
	ids[1] = 999;
	assert_int_equal(kab_store_load_rows(f->store, ids, 2, &rows, &f->err), -1);
	assert_int_equal(f->err.code, KAB_ERR_NOT_FOUND);
	mini_release(&a);
	mini_release(&b);
	mini_release(&c);
}

/* Parameters that came to other values within one kernel are all told, each once. */
static void test_params_differ(void **state)
{
	static const char *const params[] = { "groups=1", "groups=16", "groups=1", "groups=16" };
	struct fixture *f = *state;
	struct mini m;
	struct kab_row_list rows;

	mini_create(f, &m, "x", MINI_PLAN);
	for (size_t i = 0; i < 4; i++) {
		struct kab_store_result r = { .iteration_id = m.step[i / 2 * 6 + i % 2 + 1].id,
					      .state = KAB_ITER_DONE,
					      .elapsed_s = 1,
					      .user_s = 0.25,
					      .system_s = 0.5,
					      .max_rss_kb = 4096,
					      .params_resolved = params[i] };

		OK(f, kab_store_commit_iteration(f->store, &r, &f->err));
	}
	load(f, &rows, &m.run.id, 1);
	assert_string_equal(row_of(&rows, "invocation_elapsed")->sets[0].argv_text,
			    "groups=1; groups=16");
	assert_true(row_of(&rows, "invocation_user")->sets[0].boots[0].v[0].value == 0.25);
	assert_true(row_of(&rows, "invocation_system")->sets[0].boots[0].v[0].value == 0.5);
	assert_string_equal(row_of(&rows, "invocation_max_rss")->unit, "KB");
	kab_row_list_release(&rows);
	mini_release(&m);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_plain),
		T(test_repeats_and_partial),
		T(test_failures),
		T(test_nothing_at_all),
		T(test_families),
		T(test_boot_states),
		T(test_newest_extraction),
		T(test_order),
		T(test_pooled),
		T(test_params_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
