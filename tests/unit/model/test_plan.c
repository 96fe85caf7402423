/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Properties of plans, whatever the seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/json.h"
#include "model/plan.h"

static struct kab_suite suite(void)
{
	static const char text[] =
		"{ \"name\": \"x\", \"repeat\": { \"boots\": 4, \"iterations\": 3, \"warmup\": 2 "
		"}, "
		"\"conditions\": { \"smt\": [\"on\", \"off\"] }, \"cases\": [ { \"name\": \"c\", "
		"\"runner\": \"r\", \"params\": { \"n\": [1, 2, 3] } }, { \"name\": \"d\", "
		"\"runner\": "
		"\"r\" } ] }";
	struct kab_suite s = { 0 };
	json_t *doc;

	assert_int_equal(kab_json_load_bytes("s", text, sizeof(text) - 1, &doc, NULL), 0);
	assert_int_equal(kab_suite_load_json(doc, "s", &s, NULL), 0);
	json_decref(doc);
	return s;
}

static struct kab_kernel_list kernels(const char *a, const char *b, const char *c)
{
	const char *all[] = { a, b, c };
	struct kab_kernel_list list = { 0 };

	for (size_t i = 0; i < 3; i++)
		if (all[i])
			assert_int_equal(kab_kernel_add(&list, all[i], NULL), 0);
	return list;
}

static struct kab_plan make(const struct kab_suite *s, const struct kab_kernel_list *k,
			    size_t hosts, uint64_t seed, int boots, bool booting)
{
	struct kab_plan_opts opts = { .seed = seed,
				      .boots = boots,
				      .iterations = -1,
				      .warmup = -1,
				      .retry = -1,
				      .booting = booting };
	struct kab_err err = KAB_ERR_INIT;
	struct kab_plan plan;

	if (kab_plan_make(s, k, hosts, &opts, &plan, &err) < 0)
		fail_msg("%s", err.text);
	return plan;
}

/* Every combination exactly once; blocks complete; sequences without gaps. */
static void check_complete(const struct kab_plan *p, const struct kab_suite *s, size_t hosts,
			   size_t n_kernels)
{
	size_t per_boot = p->n_conditions * s->instances_n * (size_t)(p->iterations + p->warmup);
	unsigned char *seen kab_autofree = kab_xcalloc(p->n_steps, 1);
	size_t *next kab_autofree = kab_xcalloc(hosts, sizeof(*next));

	assert_int_equal(p->n_boots, hosts * n_kernels * (size_t)p->boots);
	assert_int_equal(p->n_steps, p->n_boots * per_boot);
	for (size_t b = 0; b < p->n_boots; b += n_kernels) {
		size_t kernels_seen = 0;

		for (size_t k = 0; k < n_kernels; k++) {
			const struct kab_plan_boot *boot = &p->boot_v[b + k];

			assert_int_equal(boot->block, p->boot_v[b].block);
			assert_int_equal(boot->host, p->boot_v[b].host);
			assert_int_equal(boot->sequence, ++next[boot->host]);
			assert_false(kernels_seen & ((size_t)1 << boot->kernel));
			kernels_seen |= (size_t)1 << boot->kernel;
		}
	}
	for (size_t i = 0; i < p->n_steps; i++) {
		const struct kab_plan_step *step = &p->step_v[i];
		int limit = step->warmup ? p->warmup : p->iterations;
		size_t at = (size_t)(step->iteration - 1 + (step->warmup ? p->iterations : 0));

		assert_true(step->iteration >= 1 && step->iteration <= limit);
		assert_int_equal(step->sequence, i + 1);
		at = (step->boot * p->n_conditions + step->condition) * s->instances_n *
			     (size_t)(p->iterations + p->warmup) +
		     step->instance * (size_t)(p->iterations + p->warmup) + at;
		assert_int_equal(seen[at], 0);
		seen[at] = 1;
	}
}

/* Within a boot and a condition all warm-ups come first, and rounds are not mixed. */
static void check_rounds(const struct kab_plan *p)
{
	for (size_t i = 0; i < p->n_steps; i++)
		for (size_t k = i + 1; k < p->n_steps; k++) {
			const struct kab_plan_step *a = &p->step_v[i], *b = &p->step_v[k];

			if (a->boot != b->boot || a->condition != b->condition)
				continue;
			assert_true(a->warmup || !b->warmup);
			if (a->warmup == b->warmup)
				assert_true(a->iteration <= b->iteration);
		}
}

static void complete(void **state)
{
	struct kab_suite s = suite();
	struct kab_kernel_list different = kernels("a=release:1", "b=release:2", "c=release:3");
	struct kab_kernel_list same = kernels("a=running", "b=running", NULL);

	(void)state;
	for (uint64_t seed = 0; seed < 5; seed++) {
		struct kab_plan p = make(&s, &different, 2, seed, -1, true);

		assert_false(p.restarts);
		check_complete(&p, &s, 2, 3);
		check_rounds(&p);
		/* One boot is one stretch of steps. */
		for (size_t i = 1; i < p.n_steps; i++)
			assert_true(p.step_v[i].boot == p.step_v[i - 1].boot ||
				    p.step_v[i].boot == p.step_v[i - 1].boot + 1);
		kab_plan_release(&p);
		p = make(&s, &same, 1, seed, 2, false);
		assert_true(p.restarts);
		check_complete(&p, &s, 1, 2);
		check_rounds(&p);
		/* Interleaved: both kernels of a case stand beside each other. */
		for (size_t i = 0; i < p.n_steps; i += 2) {
			assert_int_equal(p.step_v[i].instance, p.step_v[i + 1].instance);
			assert_int_equal(p.step_v[i].iteration, p.step_v[i + 1].iteration);
			assert_int_not_equal(p.step_v[i].boot, p.step_v[i + 1].boot);
		}
		kab_plan_release(&p);
	}
	/* Booted by kab, two labels of one kernel are two boots, not restarts. */
	{
		struct kab_plan p = make(&s, &same, 1, 1, 2, true);

		assert_false(p.restarts);
		kab_plan_release(&p);
	}
	kab_kernel_list_release(&different);
	kab_kernel_list_release(&same);
	kab_suite_release(&s);
}

static bool same_order(const struct kab_plan *a, const struct kab_plan *b, size_t host)
{
	size_t i = 0, k = 0;

	for (;;) {
		while (i < a->n_steps && a->boot_v[a->step_v[i].boot].host != host)
			i++;
		while (k < b->n_steps && b->boot_v[b->step_v[k].boot].host != host)
			k++;
		if (i == a->n_steps || k == b->n_steps)
			return i == a->n_steps && k == b->n_steps;
		if (a->step_v[i].instance != b->step_v[k].instance ||
		    a->step_v[i].condition != b->step_v[k].condition ||
		    a->step_v[i].iteration != b->step_v[k].iteration ||
		    a->step_v[i].warmup != b->step_v[k].warmup ||
		    a->boot_v[a->step_v[i].boot].kernel != b->boot_v[b->step_v[k].boot].kernel)
			return false;
		i++;
		k++;
	}
}

static void seeds(void **state)
{
	struct kab_suite s = suite();
	struct kab_kernel_list k = kernels("a=release:1", "b=release:2", NULL);
	struct kab_plan one = make(&s, &k, 2, 7, -1, true), again = make(&s, &k, 2, 7, -1, true);
	struct kab_plan other = make(&s, &k, 2, 8, -1, true), more = make(&s, &k, 4, 7, -1, true);

	(void)state;
	assert_true(same_order(&one, &again, 0) && same_order(&one, &again, 1));
	assert_false(same_order(&one, &other, 0));
	/* A further host changes nothing for those that were there. */
	assert_true(same_order(&one, &more, 0) && same_order(&one, &more, 1));
	kab_plan_release(&one);
	kab_plan_release(&again);
	kab_plan_release(&other);
	kab_plan_release(&more);
	kab_kernel_list_release(&k);
	kab_suite_release(&s);
}

static void order_is_uniform(void **state)
{
	struct kab_suite s = suite();
	struct kab_kernel_list k = kernels("a=release:1", "b=release:2", "c=release:3");
	size_t first[3] = { 0 }, instance[4] = { 0 };
	double chi = 0, chi2 = 0;
	const int n = 3000;

	(void)state;
	for (int seed = 0; seed < n; seed++) {
		struct kab_plan p = make(&s, &k, 1, (uint64_t)seed, 1, true);

		first[p.boot_v[0].kernel]++;
		instance[p.step_v[0].instance]++;
		kab_plan_release(&p);
	}
	for (int i = 0; i < 3; i++)
		chi += ((double)first[i] - n / 3.0) * ((double)first[i] - n / 3.0) / (n / 3.0);
	for (int i = 0; i < 4; i++)
		chi2 += ((double)instance[i] - n / 4.0) * ((double)instance[i] - n / 4.0) /
			(n / 4.0);
	/* p = 0.001 with 2 and 3 degrees of freedom. */
	assert_true(chi < 13.8);
	assert_true(chi2 < 16.3);
	kab_kernel_list_release(&k);
	kab_suite_release(&s);
}

static void analysis(void **state)
{
	static const struct {
		int kernels, boots;
		bool booting, same, paired;
		const char *said;
	} table[] = {
		{ 1, 8, true, false, false, "nothing to compare" },
		{ 2, 1, true, false, false, "no test" },
		{ 2, 5, true, false, false, "fewer than six" },
		{ 2, 6, true, false, true, "paired by block" },
		{ 2, 6, false, false, false, "the user boots" },
		{ 2, 6, false, true, true, "paired by block" },
	};
	struct kab_suite s = suite();

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(table); i++) {
		struct kab_kernel_list k = kernels("a=release:1",
						   table[i].kernels < 2 ? NULL
						   : table[i].same	? "b=release:1"
									: "b=release:2",
						   NULL);
		struct kab_plan p = make(&s, &k, 1, 1, table[i].boots, table[i].booting);

		assert_int_equal(p.paired, table[i].paired);
		assert_non_null(strstr(p.analysis, table[i].said));
		kab_plan_release(&p);
		kab_kernel_list_release(&k);
	}
	kab_suite_release(&s);
}

static void limits(void **state)
{
	struct kab_suite s = suite();
	struct kab_kernel_list none = { 0 }, k = kernels("a=running", NULL, NULL);
	struct kab_plan_opts opts = {
		.boots = 1000, .iterations = 100000, .warmup = 0, .retry = 0
	};
	struct kab_err err = KAB_ERR_INIT;
	struct kab_plan plan;

	(void)state;
	assert_int_equal(kab_plan_make(&s, &k, 1, &opts, &plan, &err), -1);
	assert_int_equal(err.code, KAB_ERR_CONFIG);
	assert_int_equal(kab_plan_make(&s, &none, 1, &opts, &plan, &err), -1);
	assert_int_equal(err.code, KAB_ERR_USAGE);
	kab_kernel_list_release(&k);
	kab_suite_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(complete),	    cmocka_unit_test(seeds),
		cmocka_unit_test(order_is_uniform), cmocka_unit_test(analysis),
		cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
