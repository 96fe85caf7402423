/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All rows of a report: describe, compare, adjust over the family, decide, count. */
#include "judge/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "judge/internal.h"
#include "model/plan.h"
#include "stats/describe.h"
#include "stats/multiple.h"
#include "stats/sequential.h"

static const char *const corrections[] = { "holm", "bh", "none" };

const char *kab_correction_name(enum kab_correction correction)
{
	return corrections[correction];
}

int kab_correction_parse(const char *word, enum kab_correction *ret)
{
	for (size_t i = 0; i < KAB_ARRAY_SIZE(corrections); i++) {
		if (!strcmp(word, corrections[i])) {
			*ret = (enum kab_correction)i;
			return 0;
		}
	}
	return -1;
}

/* Blocks of which a value is there; the numbers of blocks are dense, so the last one tells. */
static int blocks_seen(const struct kab_row_data *data)
{
	int n = 0;

	for (size_t s = 0; s < data->n_sets; s++)
		for (size_t b = 0; b < data->sets[s].n_boots; b++)
			if (data->sets[s].boots[b].n && data->sets[s].boots[b].block >= n)
				n = data->sets[s].boots[b].block + 1;
	return n;
}

/*
 * A run that may end at a look has spent its error by the bounds, whenever it ended. Data between
 * two looks (an interrupted run) get the bound of the earlier one, which is the smaller.
 */
static void set_level(struct kab_judged_row *row, const struct kab_judge_opts *opts)
{
	const struct kab_row_data *data = row->data;
	struct kab_bounds bounds;
	int look = 0, seen;

	/* 0.05 and not 1 - 0.95, which is a little more: a p of exactly 0.05 is not significant */
	row->alpha = (100 - 100 * opts->confidence) / 100;
	if (data->looks < 2 || data->looks > KAB_LOOKS_MAX || data->max_blocks < data->looks ||
	    kab_spending_bounds(KAB_SPEND_OBRIEN_FLEMING, (size_t)data->looks, NULL, row->alpha,
				&bounds) < 0)
		return;
	seen = blocks_seen(data);
	while (look + 1 < data->looks && kab_stop_look_blocks(look + 1, data->max_blocks) <= seen)
		look++;
	row->alpha = bounds.p[look];
	row->look = look + 1;
}

static void judge_row(const struct kab_row_data *data, const struct kab_judge_opts *opts,
		      struct kab_judged_row *row)
{
	row->data = data;
	row->n_sets = data->n_sets;
	row->verdict = data->primary && data->dir != KAB_DIR_NONE;
	set_level(row, opts);
	row->sets = kab_xcalloc(data->n_sets + 1, sizeof(*row->sets));
	for (size_t i = 0; i < data->n_sets; i++)
		kab_set_summarise(&data->sets[i], opts->confidence, &row->sets[i]);
	row->n_pairs = data->n_sets ? data->n_sets - 1 : 0;
	row->pairs = kab_xcalloc(row->n_pairs + 1, sizeof(*row->pairs));
	for (size_t i = 0; i < row->n_pairs; i++) {
		row->pairs[i].base = &row->sets[0];
		row->pairs[i].test = &row->sets[i + 1];
		kab_pair_compare(row, &row->pairs[i], opts);
	}
}

static void adjust_family(struct kab_judgement *ret)
{
	static const enum kab_adjust methods[] = {
		[KAB_CORRECT_HOLM] = KAB_ADJUST_HOLM,
		[KAB_CORRECT_BH] = KAB_ADJUST_BH,
		[KAB_CORRECT_NONE] = KAB_ADJUST_NONE,
	};
	double *p = NULL, *adjusted;
	size_t n = 0, k = 0;

	for (size_t r = 0; r < ret->n; r++)
		for (size_t i = 0; i < ret->v[r].n_pairs; i++)
			n += ret->v[r].pairs[i].in_family;
	ret->family = n;
	if (!n)
		return;
	p = kab_xreallocarray(NULL, n, sizeof(*p));
	adjusted = kab_xreallocarray(NULL, n, sizeof(*adjusted));
	for (size_t r = 0; r < ret->n; r++)
		for (size_t i = 0; i < ret->v[r].n_pairs; i++)
			if (ret->v[r].pairs[i].in_family)
				p[k++] = ret->v[r].pairs[i].cmp.p;
	kab_adjust_p(methods[ret->opts.correction], p, n, adjusted);
	k = 0;
	for (size_t r = 0; r < ret->n; r++)
		for (size_t i = 0; i < ret->v[r].n_pairs; i++)
			if (ret->v[r].pairs[i].in_family)
				kab_pair_decide(&ret->v[r], &ret->v[r].pairs[i], adjusted[k++],
						&ret->opts);
	free(p);
	free(adjusted);
}

static void note_exit_facts(struct kab_judgement *ret)
{
	for (size_t r = 0; r < ret->n; r++) {
		const struct kab_judged_row *row = &ret->v[r];

		if (row->n_sets > ret->n_kernels)
			ret->n_kernels = row->n_sets;
		for (size_t i = 0; i < row->n_sets; i++) {
			const struct kab_sample_set *set = row->sets[i].data;

			size_t seen = set->n_done + set->n_failed + set->n_missing;

			/* A secondary metric that a benchmark does not print is no failure. */
			if (set->n_failed ||
			    (row->data->primary && (set->n_missing || set->n_planned > seen ||
						    !kab_set_any(&row->sets[i]))))
				ret->any_failed = true;
		}
		for (size_t i = 0; i < row->n_pairs; i++)
			if (row->pairs[i].gate)
				ret->any_regressed = true;
	}
}

int kab_judge(const struct kab_row_list *rows, const struct kab_judge_opts *opts,
	      struct kab_judgement *ret, struct kab_err *err)
{
	memset(ret, 0, sizeof(*ret));
	if (!(opts->confidence > 0.5 && opts->confidence < 1))
		return kab_err_set(err, KAB_ERR_USAGE,
				   "confidence must be above 50 and below 100 percent, not %g",
				   100 * opts->confidence);
	if (opts->margin_pct >= 100)
		return kab_err_set(err, KAB_ERR_USAGE, "margin must be below 100 percent, not %g",
				   opts->margin_pct);
	ret->rows_data = rows;
	ret->opts = *opts;
	ret->n = rows->n;
	ret->v = kab_xcalloc(rows->n + 1, sizeof(*ret->v));
	for (size_t i = 0; i < rows->n; i++)
		judge_row(&rows->v[i], opts, &ret->v[i]);
	adjust_family(ret);
	note_exit_facts(ret);
	return 0;
}

void kab_judgement_release(struct kab_judgement *judgement)
{
	for (size_t r = 0; r < judgement->n; r++) {
		struct kab_judged_row *row = &judgement->v[r];

		for (size_t i = 0; i < row->n_pairs; i++)
			kab_pair_release(&row->pairs[i]);
		for (size_t i = 0; i < row->n_sets; i++)
			kab_set_summary_release(&row->sets[i]);
		free(row->pairs);
		free(row->sets);
	}
	free(judgement->v);
	memset(judgement, 0, sizeof(*judgement));
}

void kab_judge_tally(const struct kab_judgement *judgement, size_t pair, struct kab_tally *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (size_t r = 0; r < judgement->n; r++) {
		const struct kab_judged_row *row = &judgement->v[r];
		const struct kab_pair *p;

		if (!row->verdict || pair >= row->n_pairs)
			continue;
		p = &row->pairs[pair];
		ret->rows++;
		ret->by[p->outcome]++;
		ret->restarts |= row->data->restarts;
		if (p->outcome != KAB_OUTCOME_FAILED && p->outcome != KAB_OUTCOME_MISSING &&
		    (p->base->data->n_failed || p->test->data->n_failed))
			ret->with_failures++;
		if (p->outcome == KAB_OUTCOME_INCONCLUSIVE && p->one_boot) {
			ret->one_boot++;
			ret->boots_unknown |= row->data->boots_unknown;
		}
	}
}

char *kab_tally_text(const struct kab_tally *tally)
{
	struct kab_buf buf = KAB_BUF_INIT;

	kab_buf_addf(&buf,
		     "%zu row%s: %zu improved, %zu regressed, %zu equivalent, %zu inconclusive",
		     tally->rows, tally->rows == 1 ? "" : "s", tally->by[KAB_OUTCOME_IMPROVED],
		     tally->by[KAB_OUTCOME_REGRESSED], tally->by[KAB_OUTCOME_EQUIVALENT],
		     tally->by[KAB_OUTCOME_INCONCLUSIVE]);
	if (tally->one_boot && tally->one_boot == tally->by[KAB_OUTCOME_INCONCLUSIVE])
		kab_buf_adds(&buf, tally->boots_unknown ? " (boots unknown)"
				   : tally->restarts	? " (one restart)"
							: " (one boot)");
	for (int o = KAB_OUTCOME_FAILED; o < KAB_OUTCOME_NO_VERDICT; o++)
		if (tally->by[o])
			kab_buf_addf(&buf, ", %zu %s", tally->by[o],
				     kab_outcome_name((enum kab_outcome)o));
	if (tally->with_failures)
		kab_buf_addf(&buf, "; %zu with failed iterations", tally->with_failures);
	return kab_buf_detach(&buf);
}

double kab_judge_geomean(const struct kab_judgement *judgement, const size_t *idx, size_t n,
			 size_t pair, size_t *ret_used)
{
	double *ratios = kab_xreallocarray(NULL, n + 1, sizeof(*ratios));
	double ret;

	*ret_used = 0;
	for (size_t i = 0; i < n; i++) {
		const struct kab_judged_row *row = &judgement->v[idx[i]];

		if (pair < row->n_pairs && row->pairs[pair].compared &&
		    isfinite(row->pairs[pair].cmp.ratio) && row->pairs[pair].cmp.ratio > 0)
			ratios[(*ret_used)++] = row->pairs[pair].cmp.ratio;
	}
	ret = *ret_used ? kab_geomean(ratios, *ret_used) : NAN;
	free(ratios);
	return ret;
}

char *kab_judged_row_name(const struct kab_judged_row *row)
{
	const char *parts[] = { row->data->host, row->data->condition, row->data->case_name,
				row->data->row_key, row->data->metric };
	struct kab_buf buf = KAB_BUF_INIT;

	for (size_t i = 0; i < KAB_ARRAY_SIZE(parts); i++) {
		if (!parts[i] || !*parts[i])
			continue;
		if (buf.len)
			kab_buf_addc(&buf, '/');
		kab_buf_adds(&buf, parts[i]);
	}
	return kab_buf_detach(&buf);
}
