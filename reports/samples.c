/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reports/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "stats/multiple.h"
#include "stats/quantile.h"
#include "stats/sort.h"

char kab_samples_letter(size_t i)
{
	static const char letters[] = "x+*%#@O";

	return letters[i % (sizeof(letters) - 1)];
}

static void boot_means(struct kab_sample_report *set, const size_t *boot, size_t n_boots)
{
	double *of_boot = kab_xreallocarray(NULL, set->n + 1, sizeof(double));
	size_t *start = kab_xcalloc(n_boots + 2, sizeof(*start));

	/* Values of one boot side by side, in their order. */
	for (size_t i = 0; i < set->n; i++)
		start[boot[i] + 2]++;
	for (size_t b = 2; b < n_boots + 2; b++)
		start[b] += start[b - 1];
	for (size_t i = 0; i < set->n; i++)
		of_boot[start[boot[i] + 1]++] = set->values[i];
	set->units = kab_xreallocarray(NULL, n_boots + 1, sizeof(double));
	set->n_units = n_boots;
	for (size_t b = 0; b < n_boots; b++)
		set->units[b] = kab_mean(of_boot + start[b], start[b + 1] - start[b]);
	free(start);
	free(of_boot);
}

void kab_sample_report_init(struct kab_sample_report *set, const char *name, const double *values,
			    const size_t *boot, size_t n, size_t n_boots, double confidence)
{
	memset(set, 0, sizeof(*set));
	set->name = name;
	set->values = values;
	set->n = n;
	set->sorted = kab_sorted_copy(values, n);
	kab_describe_sorted(values, set->sorted, n, confidence, &set->all);
	set->over = set->all;
	set->n_units = n;
	if (!boot)
		return;
	boot_means(set, boot, n_boots);
	kab_describe(set->units, set->n_units, confidence, &set->over);
}

static const double *units(const struct kab_sample_report *set)
{
	return set->units ? set->units : set->values;
}

void kab_samples_report_compare(struct kab_samples_report *report)
{
	struct kab_compare_opts raised = report->opts;
	double *p = kab_xreallocarray(NULL, report->n + 1, sizeof(*p));

	raised.dir = 1;
	for (size_t i = 1; i < report->n; i++) {
		struct kab_sample_report *base = &report->v[0], *set = &report->v[i];

		/* Boot means are few; only the values themselves are there in order already. */
		kab_compare_sorted(units(base), base->units ? NULL : base->sorted, base->n_units,
				   units(set), set->units ? NULL : set->sorted, set->n_units,
				   &report->opts, &set->cmp);
		set->raised = set->cmp;
		p[i - 1] = set->cmp.p;
	}
	if (report->n > 1)
		kab_adjust_p(report->n > 2 ? KAB_ADJUST_HOLM : KAB_ADJUST_NONE, p, report->n - 1,
			     p);
	for (size_t i = 1; i < report->n; i++) {
		kab_verdict_decide(&report->v[i].cmp, p[i - 1], &report->opts);
		kab_verdict_decide(&report->v[i].raised, p[i - 1], &raised);
	}
	free(p);
}

void kab_samples_report_release(struct kab_samples_report *report)
{
	for (size_t i = 0; i < report->n; i++) {
		free(report->v[i].sorted);
		free(report->v[i].units);
	}
	free(report->v);
	memset(report, 0, sizeof(*report));
}
