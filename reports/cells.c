/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How judged numbers become cells: the one place where decimals are chosen. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "reports/number.h"
#include "reports/view_internal.h"

#define GAIN_DECIMALS_MAX 2

int kab_pm_parse(const char *word, enum kab_pm *ret)
{
	static const char *const words[] = { "cv", "sd", "sem", "ci95" };

	for (size_t i = 0; i < KAB_ARRAY_SIZE(words); i++) {
		if (!strcmp(word, words[i])) {
			*ret = (enum kab_pm)i;
			return 0;
		}
	}
	return -1;
}

void kab_set_trouble(const struct kab_set_summary *set, char buf[64])
{
	const struct kab_sample_set *data = set->data;
	size_t seen = data->n_done + data->n_failed + data->n_missing;
	size_t planned = data->n_planned > seen ? data->n_planned : seen;
	size_t missing = planned - data->n_done - data->n_failed;

	buf[0] = '\0';
	if (data->n_failed)
		snprintf(buf, 64, "fail %zu/%zu", data->n_failed, planned);
	else if (missing && missing < planned)
		snprintf(buf, 64, "missing %zu/%zu", missing, planned);
	else if (!kab_set_any(set))
		snprintf(buf, 64, "missing");
}

int kab_set_mean_decimals(const struct kab_set_summary *set)
{
	int most = set->decimals + 2;
	int d = kab_number_supported((set->ci_hi - set->ci_lo) / 2, KAB_DECIMALS_MAX);

	/* Without an interval (one value, or no spread) the values themselves say how far to go. */
	if (d < 0)
		return set->decimals;
	return d > most ? most : d;
}

void kab_cell_mean(struct kab_cell *cell, const struct kab_set_summary *set)
{
	char trouble[64];

	if (kab_set_any(set)) {
		kab_cell_number(cell, set->mean, kab_set_mean_decimals(set));
		return;
	}
	kab_set_trouble(set, trouble);
	kab_cell_word(cell, trouble);
}

static double scale_of(const struct kab_view_opts *opts)
{
	return opts->scale > 0 ? opts->scale : 1;
}

void kab_cell_mean_scaled(struct kab_cell *cell, const struct kab_set_summary *set,
			  const struct kab_view_opts *opts)
{
	double scale = scale_of(opts);
	int shift = (int)lround(log10(scale)), d, supported;

	kab_cell_mean(cell, set);
	if (cell->kind != KAB_CELL_NUMBER || scale == 1)
		return;
	/* As many digits as before at another place, and still none that the interval denies. */
	d = cell->decimals - shift;
	supported = kab_number_supported(scale * (set->ci_hi - set->ci_lo) / 2, KAB_DECIMALS_MAX);
	if (supported >= 0 && (d < 0 || supported < d))
		d = supported;
	kab_cell_number(cell, set->mean * scale, d < 0 ? 0 : d);
}

void kab_view_choose_unit(const struct kab_group *g, struct kab_view_opts *opts)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double most = 0, least = INFINITY, scale = 1;
	const char *unit = kab_group_row(g, 0)->data->unit;
	size_t at = 0;

	while (at < KAB_ARRAY_SIZE(units) && strcmp(unit, units[at]) != 0)
		at++;
	for (size_t i = 0; i < g->n; i++) {
		for (size_t k = 0; k < kab_group_row(g, i)->n_sets; k++) {
			const struct kab_set_summary *set = &kab_group_row(g, i)->sets[k];

			if (!kab_set_any(set))
				continue;
			most = fmax(most, fabs(set->mean));
			least = fmin(least, fabs(set->mean));
		}
	}
	if (most == 0)
		return;
	if (at < KAB_ARRAY_SIZE(units)) {
		for (; at > 0 && most * scale < 0.1; at--)
			scale *= 1000;
		for (; at + 1 < KAB_ARRAY_SIZE(units) && least * scale >= 100000; at++)
			scale /= 1000;
		if (scale != 1)
			opts->unit = units[at];
	}
	/* No word for it, and too many zeros or digits to read: a power of ten. */
	if (most * scale < 1e-4 || least * scale >= 1e10) {
		opts->exponent = 3 * (int)floor(log10(most * scale) / 3 + 1e-12);
		scale *= pow(10, -opts->exponent);
	}
	if (scale != 1)
		opts->scale = scale;
}

void kab_cell_spread(struct kab_cell *cell, const struct kab_set_summary *set,
		     const struct kab_view_opts *opts)
{
	enum kab_pm pm = opts->pm;
	double value = pm == KAB_PM_SD	   ? set->sd
		       : pm == KAB_PM_SEM  ? set->sem
		       : pm == KAB_PM_CI95 ? (set->ci_hi - set->ci_lo) / 2
					   : set->cv_pct;

	if (!kab_set_any(set))
		return;
	if (!isfinite(value))
		kab_cell_word(cell, "n/a");
	else if (pm == KAB_PM_CV)
		kab_cell_percent(cell, value, value > 0 && value < 0.05 ? 2 : 1, false);
	else
		kab_cell_number(
			cell, value * scale_of(opts),
			value > 0 ? kab_number_supported(value * scale_of(opts), KAB_DECIMALS_MAX)
				  : 0);
}

int kab_pair_gain_decimals(const struct kab_pair *pair)
{
	const struct kab_comparison *cmp = &pair->cmp;
	double half = (pair->gain_hi_pct - pair->gain_lo_pct) / 2;
	int d;

	if (!isfinite(half))
		half = 100 * (cmp->ratio_ci.hi - cmp->ratio_ci.lo) / 2;
	/* Unbounded, or not computed: what two standard errors of either side leave. */
	if (!isfinite(half) && pair->compared)
		half = 2 * fabs(cmp->ratio) *
		       hypot(cmp->cv_base_pct / sqrt((double)cmp->n_base),
			     cmp->cv_test_pct / sqrt((double)cmp->n_test));
	d = kab_number_supported(half, GAIN_DECIMALS_MAX);
	if (d >= 0)
		return d;
	return fabs(pair->diff_pct) > 100 ? 1 : GAIN_DECIMALS_MAX;
}

bool kab_pair_unbounded(const struct kab_pair *pair)
{
	return pair->compared && !pair->one_boot && isfinite(pair->gain_pct) &&
	       !isfinite(pair->gain_lo_pct);
}

void kab_cell_gain_interval(struct kab_cell *cell, const struct kab_pair *pair)
{
	if (kab_pair_unbounded(pair))
		kab_cell_word(cell, "[n/a]");
	else
		kab_cell_interval(cell, pair->gain_lo_pct, pair->gain_hi_pct,
				  kab_pair_gain_decimals(pair));
}

const char *kab_pair_word(const struct kab_pair *pair)
{
	if (pair->outcome == KAB_OUTCOME_FAILED || pair->outcome == KAB_OUTCOME_MISSING)
		return "-";
	return "n/a";
}

void kab_cell_gain(struct kab_cell *cell, const struct kab_pair *pair, bool raw)
{
	double value = raw ? pair->diff_pct : pair->gain_pct;

	if (!pair->compared || !isfinite(value))
		kab_cell_word(cell, kab_pair_word(pair));
	else
		kab_cell_percent(cell, value, kab_pair_gain_decimals(pair), true);
}
