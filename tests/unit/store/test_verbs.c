/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each verb of the store against a real database, read back through the verbs and through SQL. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fixture.h"

static int64_t sql_int(struct fixture *f, const char *sql)
{
	int64_t v = -1;

	KAB_STORE_GUARD(f->store);
	OK(f, kab_sql_int(f->store, &f->err, &v, sql, ""));
	return v;
}

static void test_create_run(void **state)
{
	struct fixture *f = *state;
	struct mini m;
	struct kab_run_info info;
	char *note = NULL;
	struct kab_boot_info *boots;
	struct kab_step_info *steps;
	size_t n;

	mini_create(f, &m, "x", MINI_PLAN);
	assert_string_equal(m.name, "x");
	OK(f, kab_store_find_run(f->store, "x", &info, &note, &f->err));
	assert_null(note);
	assert_int_equal(info.id, m.run.id);
	assert_string_equal(info.suite_name, "s");
	assert_string_equal(info.plan_json, MINI_PLAN);
	assert_null(info.lab_json);
	assert_int_equal(info.state, KAB_RUN_PLANNED);
	assert_int_equal(info.created_wall_ns, 1000);
	assert_int_equal(info.n_iterations, 8); /* without the four warm-ups */
	assert_int_equal(info.n_pending, 8);
	kab_run_info_release(&info);

	OK(f, kab_store_list_boots(f->store, m.run.id, &boots, &n, &f->err));
	assert_int_equal(n, 4);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(boots[i].id, m.boot[i].id);
		assert_string_equal(boots[i].kernel, i % 2 ? "patched" : "base");
		assert_string_equal(boots[i].state, "planned");
		assert_int_equal(boots[i].block, i / 2);
		assert_int_equal(boots[i].sequence, i + 1);
		kab_boot_info_release(&boots[i]);
	}
	free(boots);

	OK(f, kab_store_list_steps(f->store, m.run.id, m.boot[1].id, &steps, &n, &f->err));
	assert_int_equal(n, 3);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(steps[i].id, m.step[3 + i].id);
		assert_int_equal(steps[i].sequence, 4 + i);
		assert_int_equal(steps[i].warmup, i == 0);
		assert_int_equal(steps[i].state, KAB_ITER_PENDING);
		assert_int_equal(steps[i].exit_status, -1);
		assert_true(isnan(steps[i].elapsed_s));
		kab_step_info_release(&steps[i]);
	}
	free(steps);
	mini_release(&m);
}

/* Two runs wished as x are two runs, and who asks for x is told of the second. */
static void test_names(void **state)
{
	struct fixture *f = *state;
	struct mini a, b, c, d;
	struct kab_run_info info, *list;
	char *note = NULL;
	size_t n;

	mini_create(f, &a, "x", MINI_PLAN);
	mini_create(f, &b, "x", MINI_PLAN);
	mini_create(f, &c, "x", MINI_PLAN);
	mini_create(f, &d, "latest", MINI_PLAN);
	assert_string_equal(b.name, "x-2");
	assert_string_equal(c.name, "x-3");
	assert_string_equal(d.name, "latest-2");
	OK(f, kab_store_set_run_state(f->store, b.run.id, KAB_RUN_INTERRUPTED, &f->err));

	OK(f, kab_store_find_run(f->store, "x", &info, &note, &f->err));
	assert_int_equal(info.id, a.run.id);
	assert_contains(note, "x-2' (interrupted)");
	assert_contains(note, "x-3");
	free(note);
	kab_run_info_release(&info);

	OK(f, kab_store_find_run(f->store, NULL, &info, &note, &f->err));
	assert_int_equal(info.id, d.run.id);
	assert_contains(note, "latest-2");
	free(note);
	kab_run_info_release(&info);

	OK(f, kab_store_find_run(f->store, "2", &info, &note, &f->err));
	assert_int_equal(info.id, b.run.id);
	assert_contains(note, "'x-2' (2, interrupted, 0 of 8 iterations)");
	free(note);
	kab_run_info_release(&info);

	assert_int_equal(kab_store_find_run(f->store, "nope", &info, &note, &f->err), 1);
	assert_int_equal(kab_store_find_run(f->store, "99", &info, &note, &f->err), 1);

	OK(f, kab_store_list_runs(f->store, 3, &list, &n, &f->err));
	assert_int_equal(n, 3);
	assert_int_equal(list[0].id, d.run.id);
	assert_int_equal(list[2].id, b.run.id);
	assert_true(list[2].finished_wall_ns > 0);
	for (size_t i = 0; i < n; i++)
		kab_run_info_release(&list[i]);
	free(list);
	mini_release(&a);
	mini_release(&b);
	mini_release(&c);
	mini_release(&d);
}

static void test_bad_plans(void **state)
{
	struct fixture *f = *state;
	struct mini m;
	struct kab_run_info *list;
	char *name;
	size_t n;

	mini_create(f, &m, "x", MINI_PLAN);
	m.step[11].sequence = 1; /* twice */
	assert_int_equal(kab_store_create_run(f->store, &m.run, m.host, 1, m.kernel, 2, m.boot, 4,
					      m.step, 12, &name, &f->err),
			 -1);
	assert_null(name);
	assert_int_equal(f->err.code, KAB_ERR_STORE);
	assert_contains(f->err.text, "cannot store the plan of run 'x'");
	m.step[11].sequence = 12;
	m.step[11].boot = 4;
	assert_int_equal(kab_store_create_run(f->store, &m.run, m.host, 1, m.kernel, 2, m.boot, 4,
					      m.step, 12, &name, &f->err),
			 -1);
	m.step[11].boot = 3;
	m.run.plan_json = "{";
	assert_int_equal(kab_store_create_run(f->store, &m.run, m.host, 1, m.kernel, 2, m.boot, 4,
					      m.step, 12, &name, &f->err),
			 -1);
	/* Nothing of them is left. */
	OK(f, kab_store_list_runs(f->store, 0, &list, &n, &f->err));
	assert_int_equal(n, 1);
	kab_run_info_release(&list[0]);
	free(list);
	assert_int_equal(sql_int(f, "SELECT count(*) FROM iteration"), 12);
	mini_release(&m);
}

static void test_boots(void **state)
{
	struct fixture *f = *state;
	struct mini m;
	struct kab_boot_info *boots;
	struct kab_step_info *steps;
	struct kab_facts facts;
	char release[] = "6.1.0", build[] = "aa11", other[] = "bb22", empty[] = "";
	struct kab_kernel_id id = { release, build, empty, empty };
	int64_t again = 0;
	size_t n;
	double v = 1;

	mini_create(f, &m, "x", MINI_PLAN);
	prove(f, m.boot[0].id, build, "boot-1");
	prove(f, m.boot[0].id, build, "boot-1"); /* a resume proves it again */
	OK(f, kab_store_boot_facts(f->store, m.boot[0].id, &facts, &f->err));
	assert_int_equal(facts.n, 2);
	assert_string_equal(kab_facts_get(&facts, "cpus"), "8");
	kab_facts_release(&facts);
	/* Another kernel or another boot of the machine is not that boot. */
	assert_int_equal(kab_store_boot_proven(f->store, m.boot[0].id, &id, "abcd", "boot-2", NULL,
					       1, &f->err),
			 -1);
	assert_contains(f->err.text, "two boots");
	id.build_id = other;
	assert_int_equal(kab_store_boot_proven(f->store, m.boot[0].id, &id, "abcd", "boot-1", NULL,
					       1, &f->err),
			 -1);
	assert_int_equal(sql_int(f, "SELECT count(*) FROM kernel"), 1);

	/* One iteration done, one running: the machine reboots. */
	OK(f, kab_store_iteration_started(f->store, m.step[0].id, "r0", 7, &f->err));
	commit_done(f, m.step[0].id, &v, 1);
	OK(f, kab_store_iteration_started(f->store, m.step[1].id, "r1", 8, &f->err));
	OK(f, kab_store_boot_again(f->store, m.boot[0].id, &again, &f->err));
	OK(f, kab_store_list_boots(f->store, m.run.id, &boots, &n, &f->err));
	assert_int_equal(n, 5);
	assert_string_equal(boots[0].state, "broken");
	assert_string_equal(boots[0].release, "6.1.0");
	assert_string_equal(boots[0].build_id, "aa11");
	assert_string_equal(boots[0].machine_hash, "abcd");
	assert_string_equal(boots[0].os_boot_id, "boot-1");
	assert_int_equal(boots[0].proven_wall_ns, 5000);
	assert_int_equal(boots[1].id, again); /* takes the place of the broken one */
	assert_string_equal(boots[1].state, "planned");
	assert_int_equal(boots[1].sequence, 1);
	for (size_t i = 0; i < n; i++)
		kab_boot_info_release(&boots[i]);
	free(boots);
	OK(f, kab_store_list_steps(f->store, m.run.id, again, &steps, &n, &f->err));
	assert_int_equal(n, 2);
	assert_int_equal(steps[0].id, m.step[1].id);
	assert_int_equal(steps[0].state, KAB_ITER_PENDING);
	assert_null(steps[0].remote_id);
	for (size_t i = 0; i < n; i++)
		kab_step_info_release(&steps[i]);
	free(steps);

	OK(f, kab_store_boot_state(f->store, again, "failed", "does not boot", &f->err));
	assert_int_equal(kab_store_boot_state(f->store, again, "nonsense", NULL, &f->err), -1);
	assert_int_equal(kab_store_boot_state(f->store, 999, "done", NULL, &f->err), -1);
	assert_contains(f->err.text, "no boot 999");
	mini_release(&m);
}

static void test_commit(void **state)
{
	struct fixture *f = *state;
	struct mini m;
	struct kab_samples samples = { 0 };
	struct kab_step_info *steps;
	static const char out[] = "Time: 0.5\n\0binary\xff";
	struct kab_store_stream streams[] = {
		{ .name = "stdout", .data = out, .len = sizeof(out) },
		{ .name = "stderr", .data = NULL, .len = 0, .cut = true },
	};
	struct kab_store_result r = {
		.state = KAB_ITER_DONE,
		.parse_status = "partial",
		.reason = "one figure is missing",
		.exit_status = 0,
		.started_wall_ns = 10,
		.finished_wall_ns = 20,
		.elapsed_s = 0.75,
		.user_s = 0.5,
		.system_s = NAN,
		.max_rss_kb = 1024,
		.argv_json = "[\"synthetic\"]",
		.params_resolved = "mean=2",
		.runner_version = "1.2",
		.parser_version = "7",
		.streams = streams,
		.n_streams = 2,
	};
	char *data, **names;
	size_t len, n;
	bool cut;

	mini_create(f, &m, "x", MINI_PLAN);
	kab_samples_add(&samples, "time", "s", KAB_DIR_LOWER, 0.5);
	kab_samples_add(&samples, "time", "s", KAB_DIR_LOWER, 0.1);
	kab_samples_add(&samples, "rate", "1/s", KAB_DIR_HIGHER, 3);
	r.samples = samples.v;
	r.n_samples = samples.n;
	r.iteration_id = m.step[1].id;
	OK(f, kab_store_iteration_started(f->store, r.iteration_id, "r1", 5, &f->err));
	OK(f, kab_store_list_steps(f->store, m.run.id, 0, &steps, &n, &f->err));
	assert_int_equal(n, 12);
	assert_int_equal(steps[1].state, KAB_ITER_RUNNING);
	assert_string_equal(steps[1].remote_id, "r1");
	assert_int_equal(steps[1].started_wall_ns, 5);
	for (size_t i = 0; i < n; i++)
		kab_step_info_release(&steps[i]);
	free(steps);

	OK(f, kab_store_commit_iteration(f->store, &r, &f->err));
	/* Nothing is counted twice. */
	assert_int_equal(kab_store_commit_iteration(f->store, &r, &f->err), 1);
	assert_int_equal(sql_int(f, "SELECT count(*) FROM sample"), 3);
	assert_int_equal(sql_int(f, "SELECT count(*) FROM extraction"), 1);
	assert_int_equal(sql_int(f, "SELECT count(*) FROM series"), 2);
	assert_int_equal(sql_int(f, "SELECT count(*) FROM output"), 2);
	assert_int_equal(kab_store_iteration_started(f->store, r.iteration_id, "r9", 6, &f->err),
			 -1);
	assert_contains(f->err.text, "done already");

	OK(f, kab_store_list_steps(f->store, m.run.id, 0, &steps, &n, &f->err));
	assert_int_equal(steps[1].state, KAB_ITER_DONE);
	assert_string_equal(steps[1].reason, "one figure is missing");
	assert_string_equal(steps[1].parse_status, "partial");
	assert_string_equal(steps[1].params_resolved, "mean=2");
	assert_string_equal(steps[1].argv_json, "[\"synthetic\"]");
	assert_string_equal(steps[1].runner_version, "1.2");
	assert_int_equal(steps[1].exit_status, 0);
	assert_int_equal(steps[1].started_wall_ns, 10);
	assert_int_equal(steps[1].finished_wall_ns, 20);
	assert_true(steps[1].elapsed_s == 0.75 && steps[1].user_s == 0.5);
	assert_true(isnan(steps[1].system_s) && steps[1].max_rss_kb == 1024);
	for (size_t i = 0; i < n; i++)
		kab_step_info_release(&steps[i]);
	free(steps);

	OK(f, kab_store_output(f->store, r.iteration_id, "stdout", &data, &len, &cut, &f->err));
	assert_int_equal(len, sizeof(out));
	assert_memory_equal(data, out, len);
	assert_false(cut);
	free(data);
	OK(f, kab_store_output(f->store, r.iteration_id, "stderr", &data, &len, &cut, &f->err));
	assert_int_equal(len, 0);
	assert_true(cut);
	free(data);
	assert_int_equal(
		kab_store_output(f->store, r.iteration_id, "x", &data, &len, &cut, &f->err), 1);
	OK(f, kab_store_output_names(f->store, r.iteration_id, &names, &n, &f->err));
	assert_int_equal(n, 2);
	assert_string_equal(names[0], "stdout");
	assert_string_equal(names[1], "stderr");
	free(names[0]);
	free(names[1]);
	free(names);

	/* A commit that cannot be stored whole is not stored at all. */
	r.iteration_id = m.step[2].id;
	samples.v[2].value = INFINITY;
	assert_int_equal(kab_store_commit_iteration(f->store, &r, &f->err), -1);
	samples.v[2].value = 3;
	streams[1].name = "stdout";
	assert_int_equal(kab_store_commit_iteration(f->store, &r, &f->err), -1);
	assert_int_equal(sql_int(f, "SELECT count(*) FROM sample"), 3);
	assert_int_equal(sql_int(f, "SELECT count(*) FROM output"), 2);
	streams[1].name = "stderr";
	OK(f, kab_store_commit_iteration(f->store, &r, &f->err));
	r.iteration_id = 4711;
	assert_int_equal(kab_store_commit_iteration(f->store, &r, &f->err), -1);
	assert_contains(f->err.text, "no iteration 4711");
	r.iteration_id = m.step[4].id;
	r.state = KAB_ITER_RUNNING;
	assert_int_equal(kab_store_commit_iteration(f->store, &r, &f->err), -1);
	kab_samples_release(&samples);
	mini_release(&m);
}

static void test_never_changed(void **state)
{
	struct fixture *f = *state;
	struct mini m;
	double v = 1;

	mini_create(f, &m, "x", MINI_PLAN);
	commit_done(f, m.step[1].id, &v, 1);
	assert_int_equal(
		sqlite3_exec(f->store->db, "UPDATE sample SET value = 2", NULL, NULL, NULL),
		SQLITE_CONSTRAINT_TRIGGER);
	assert_int_equal(sqlite3_exec(f->store->db,
				      "UPDATE iteration SET state = 'pending' WHERE state = 'done'",
				      NULL, NULL, NULL),
			 SQLITE_CONSTRAINT_TRIGGER);
	mini_release(&m);
}

static void test_retry(void **state)
{
	struct fixture *f = *state;
	struct mini m;
	struct kab_run_info info;
	struct kab_step_info *steps;
	int64_t second = 0, third = 0;
	double v = 1;
	size_t n;

	mini_create(f, &m, "x", MINI_PLAN);
	assert_int_equal(kab_store_retry_iteration(f->store, m.step[1].id, &second, &f->err), -1);
	assert_contains(f->err.text, "only a failed one");
	commit_state(f, m.step[1].id, KAB_ITER_FAILED, "timeout");
	OK(f, kab_store_retry_iteration(f->store, m.step[1].id, &second, &f->err));
	assert_int_equal(kab_store_retry_iteration(f->store, m.step[1].id, &third, &f->err), -1);
	commit_done(f, second, &v, 1);
	OK(f, kab_store_list_steps(f->store, m.run.id, m.boot[0].id, &steps, &n, &f->err));
	assert_int_equal(n, 4);
	assert_int_equal(steps[2].id, second);
	assert_int_equal(steps[2].attempt, 2);
	assert_int_equal(steps[2].iteration, 1);
	for (size_t i = 0; i < n; i++)
		kab_step_info_release(&steps[i]);
	free(steps);
	OK(f, kab_store_find_run(f->store, "x", &info, NULL, &f->err));
	assert_int_equal(info.n_iterations, 8);
	assert_int_equal(info.n_done, 1);
	assert_int_equal(info.n_failed, 0);
	kab_run_info_release(&info);
	mini_release(&m);
}

static void test_elapsed(void **state)
{
	struct fixture *f = *state;
	struct mini m;
	double v = 1, s = 0, elapsed[] = { 4, 1, 9 };

	mini_create(f, &m, "x", MINI_PLAN);
	prove(f, m.boot[0].id, "aa", "b");
	assert_int_equal(
		kab_store_longest_elapsed(f->store, "abcd", "synthetic", "mean=1", &s, &f->err), 1);
	assert_int_equal(kab_store_typical_elapsed(f->store, "synthetic", "mean=1", &s, &f->err),
			 1);
	for (size_t i = 0; i < 3; i++) {
		struct kab_store_result r = { .iteration_id = m.step[i].id,
					      .state = KAB_ITER_DONE,
					      .elapsed_s = elapsed[i],
					      .user_s = NAN,
					      .system_s = NAN,
					      .max_rss_kb = NAN };

		OK(f, kab_store_commit_iteration(f->store, &r, &f->err));
	}
	OK(f, kab_store_longest_elapsed(f->store, "abcd", "synthetic", "mean=1", &s, &f->err));
	assert_true(s == 9);
	OK(f, kab_store_typical_elapsed(f->store, "synthetic", "mean=1", &s, &f->err));
	assert_true(s == 4);
	commit_done(f, m.step[4].id, &v, 1); /* 1.5 s: the median of 1, 1.5, 4, 9 is 2.75 */
	OK(f, kab_store_typical_elapsed(f->store, "synthetic", "mean=1", &s, &f->err));
	assert_true(s == 2.75);
	assert_int_equal(
		kab_store_longest_elapsed(f->store, "other", "synthetic", "mean=1", &s, &f->err),
		1);
	assert_int_equal(kab_store_typical_elapsed(f->store, "synthetic", "mean=2", &s, &f->err),
			 1);
	mini_release(&m);
}

static void test_events_and_bulk(void **state)
{
	struct fixture *f = *state;
	struct mini m;
	struct kab_event_info *events;
	size_t n;

	mini_create(f, &m, "x", MINI_PLAN);
	OK(f, kab_store_event(f->store, m.run.id, m.boot[0].id, "host", "it was lost", &f->err));
	OK(f, kab_store_bulk_begin(f->store, &f->err));
	OK(f, kab_store_event(f->store, m.run.id, 0, "a", "b", &f->err));
	assert_int_equal(kab_store_event(f->store, 99, 0, "a", "b", &f->err), -1); /* no such run */
	OK(f, kab_store_event(f->store, m.run.id, 0, "c", "d", &f->err));
	OK(f, kab_store_bulk_end(f->store, true, &f->err));
	OK(f, kab_store_bulk_begin(f->store, &f->err));
	OK(f, kab_store_event(f->store, m.run.id, 0, "e", "f", &f->err));
	OK(f, kab_store_bulk_end(f->store, false, &f->err));
	OK(f, kab_store_list_events(f->store, m.run.id, &events, &n, &f->err));
	assert_int_equal(n, 3);
	assert_int_equal(events[0].boot_id, m.boot[0].id);
	assert_string_equal(events[0].text, "it was lost");
	assert_string_equal(events[2].kind, "c");
	for (size_t i = 0; i < n; i++)
		kab_event_info_release(&events[i]);
	free(events);
	mini_release(&m);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_create_run), T(test_names),   T(test_bad_plans),
		T(test_boots),	    T(test_commit),  T(test_never_changed),
		T(test_retry),	    T(test_elapsed), T(test_events_and_bulk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
