/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One sample set by itself. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "judge/internal.h"
#include "stats/describe.h"
#include "stats/dist.h"
#include "stats/quantile.h"
#include "stats/sort.h"

#define DECIMALS_MAX 6

/* Places of the value as it was printed by the tool: the shortest that gives the same double. */
static int decimals_of(double value)
{
	double scale = 1;

	for (int d = 0; d < DECIMALS_MAX; d++, scale *= 10) {
		double scaled = value * scale;

		if (fabs(scaled - nearbyint(scaled)) <= 1e-9 * fmax(1, fabs(scaled)))
			return d;
	}
	return DECIMALS_MAX;
}

struct timed {
	int64_t sequence;
	size_t place;
	double value;
};

static int by_sequence(const void *a, const void *b)
{
	const struct timed *x = a, *y = b;

	if (x->sequence != y->sequence)
		return x->sequence < y->sequence ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static void collect(const struct kab_sample_set *data, struct kab_set_summary *ret)
{
	struct timed *all;
	size_t n = 0;

	for (size_t b = 0; b < data->n_boots; b++)
		ret->n_values += data->boots[b].n;
	all = kab_xreallocarray(NULL, ret->n_values + 1, sizeof(*all));
	for (size_t b = 0; b < data->n_boots; b++) {
		for (size_t i = 0; i < data->boots[b].n; i++, n++) {
			all[n].sequence = data->boots[b].v[i].sequence;
			all[n].place = n;
			all[n].value = data->boots[b].v[i].value;
		}
	}
	qsort(all, n, sizeof(*all), by_sequence);
	ret->in_order = kab_xreallocarray(NULL, n + 1, sizeof(double));
	ret->values = kab_xreallocarray(NULL, n + 1, sizeof(double));
	for (size_t i = 0; i < n; i++) {
		int d = decimals_of(all[i].value);

		ret->in_order[i] = ret->values[i] = all[i].value;
		if (d > ret->decimals)
			ret->decimals = d;
	}
	free(all);
}

static void boot_means(const struct kab_sample_set *data, struct kab_set_summary *ret)
{
	ret->units = kab_xreallocarray(NULL, data->n_boots + 1, sizeof(double));
	ret->per_boot_min = SIZE_MAX;
	for (size_t b = 0; b < data->n_boots; b++) {
		const struct kab_boot_obs *boot = &data->boots[b];
		double *values;

		if (!boot->n)
			continue;
		values = kab_xreallocarray(NULL, boot->n, sizeof(double));
		for (size_t i = 0; i < boot->n; i++)
			values[i] = boot->v[i].value;
		ret->units[ret->n_boots++] = kab_mean(values, boot->n);
		free(values);
		if (boot->n < ret->per_boot_min)
			ret->per_boot_min = boot->n;
		if (boot->n > ret->per_boot_max)
			ret->per_boot_max = boot->n;
	}
	if (!ret->n_boots)
		ret->per_boot_min = 0;
}

/* Somebody else's n, mean and standard deviation, as they are. */
static void take_summary(const struct kab_sample_set *data, double confidence,
			 struct kab_set_summary *ret)
{
	double half;

	ret->summary = true;
	ret->n_units = data->summary.n;
	ret->mean = data->summary.mean;
	ret->decimals = decimals_of(ret->mean);
	if (ret->n_units < 2 || !isfinite(data->summary.sd))
		return;
	ret->sd = data->summary.sd;
	ret->sem = ret->sd / sqrt((double)ret->n_units);
	if (ret->mean != 0)
		ret->cv_pct = 100 * ret->sd / fabs(ret->mean);
	half = kab_t_quantile(confidence, (double)(ret->n_units - 1)) * ret->sem;
	ret->ci_lo = ret->mean - half;
	ret->ci_hi = ret->mean + half;
}

bool kab_set_any(const struct kab_set_summary *set)
{
	return set->n_values || set->summary;
}

size_t kab_set_count(const struct kab_set_summary *set)
{
	return set->summary ? set->n_units : set->n_values;
}

void kab_set_summarise(const struct kab_sample_set *data, double confidence,
		       struct kab_set_summary *ret)
{
	struct kab_summary s;

	memset(ret, 0, sizeof(*ret));
	ret->data = data;
	ret->mean = ret->sd = ret->cv_pct = ret->sem = ret->ci_lo = ret->ci_hi = NAN;
	ret->min = ret->max = ret->median = NAN;
	if (data->summary.n) {
		take_summary(data, confidence, ret);
		return;
	}
	collect(data, ret);
	boot_means(data, ret);
	if (!ret->n_values)
		return;
	kab_sort(ret->values, ret->n_values);
	ret->over_boots = ret->n_boots >= 2;
	if (ret->over_boots) {
		ret->n_units = ret->n_boots;
	} else {
		ret->n_units = ret->n_values;
		ret->units = kab_xreallocarray(ret->units, ret->n_units, sizeof(double));
		memcpy(ret->units, ret->in_order, ret->n_units * sizeof(double));
	}
	if (!kab_describe(ret->units, ret->n_units, confidence, &s)) {
		ret->mean = s.mean;
		ret->sd = s.sd;
		ret->cv_pct = s.cv_pct;
		ret->sem = s.sem;
		ret->ci_lo = s.ci.lo;
		ret->ci_hi = s.ci.hi;
	}
	ret->min = ret->values[0];
	ret->max = ret->values[ret->n_values - 1];
	ret->median = kab_set_percentile(ret, 50);
}

void kab_set_summary_release(struct kab_set_summary *set)
{
	free(set->units);
	free(set->values);
	free(set->in_order);
}

/* Percent as a ratio of whole numbers: 99.9 is 999 of 1000. */
static void ratio_of(double p, unsigned *num, unsigned *den)
{
	*den = 100;
	while (*den < 1000000 && fabs(p * *den / 100 - nearbyint(p * *den / 100)) > 1e-9)
		*den *= 10;
	*num = (unsigned)nearbyint(p * *den / 100);
}

double kab_set_percentile(const struct kab_set_summary *set, double p)
{
	unsigned num, den;
	double ret = NAN;

	ratio_of(p, &num, &den);
	if (!set->n_values || kab_quantile_sorted(set->values, set->n_values, 7, num, den, &ret))
		return NAN;
	return ret;
}

bool kab_set_percentile_supported(const struct kab_set_summary *set, double p)
{
	unsigned num, den;

	ratio_of(p, &num, &den);
	return kab_quantile_supported(set->n_values, num, den);
}
