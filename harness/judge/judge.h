/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From sample sets to verdicts: what each set says for itself, how each test kernel compares with
 * the baseline, and what a reader must be told beside the numbers. Pure: no store, no output.
 *
 * The unit of analysis is the boot (or the restart, where the plan has restarts instead). A side
 * with one boot only gives descriptive numbers over its iterations and no verdict.
 */
#ifndef KAB_JUDGE_JUDGE_H
#define KAB_JUDGE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strv.h"
#include "model/record.h"
#include "stats/verdict.h"

enum kab_correction {
	KAB_CORRECT_HOLM = 0, /* family-wise, the default for tables */
	KAB_CORRECT_BH, /* false discovery rate, for dashboards */
	KAB_CORRECT_NONE,
};
/* "holm", "bh", "none". */
const char *kab_correction_name(enum kab_correction correction);
/* 0 and *ret, or -1 for another word. */
int kab_correction_parse(const char *word, enum kab_correction *ret);

struct kab_judge_opts {
	double margin_pct; /* overrides every row's own; negative: the rows' own */
	double confidence; /* in (0, 1): of the intervals shown; the tests run at 1 - confidence */
	enum kab_correction correction;
};
#define KAB_JUDGE_OPTS_INIT                                                          \
	{                                                                            \
		.margin_pct = -1, .confidence = 0.95, .correction = KAB_CORRECT_HOLM \
	}

/* One set by itself. Numbers are in the metric's unit; NAN where undefined. */
struct kab_set_summary {
	const struct kab_sample_set *data; /* borrowed */
	/*
	 * Only n, mean and sd are known (an imported summary): n_units, mean, sd, cv, sem and ci are
	 * of that; there are no values, so n_values, n_boots and the arrays are 0, and what needs
	 * values is NAN.
	 */
	bool summary;
	size_t n_boots; /* boots with at least one value */
	size_t n_values; /* iterations with a value */
	size_t per_boot_min, per_boot_max; /* iterations per boot */
	bool over_boots; /* mean, sd, cv, sem, ci are over boot means (two boots or more) */
	size_t n_units; /* boots, or iterations when !over_boots */
	double *units; /* owned: boot means in order, or the values */
	double mean, sd, cv_pct, sem;
	double ci_lo, ci_hi; /* of the mean, at opts.confidence, t over the units */
	double *values; /* owned: all iterations, sorted */
	double *in_order; /* owned: all iterations, as executed */
	double min, max, median;
	int decimals; /* places that the values as measured have, at most 6 */
};
/* Whether there is a mean: of values or of a summary. */
bool kab_set_any(const struct kab_set_summary *set);
/* Iterations with a value, or the n of a summary. */
size_t kab_set_count(const struct kab_set_summary *set);
/* Type 7 percentile over all iterations, p in percent; NAN without values. */
double kab_set_percentile(const struct kab_set_summary *set, double p);
/* Whether n values can support that percentile: n min(p, 1-p) >= 1. */
bool kab_set_percentile_supported(const struct kab_set_summary *set, double p);

/* What became of a comparison; exactly one holds. */
enum kab_outcome {
	KAB_OUTCOME_IMPROVED,
	KAB_OUTCOME_REGRESSED,
	KAB_OUTCOME_EQUIVALENT,
	KAB_OUTCOME_INCONCLUSIVE,
	KAB_OUTCOME_FAILED, /* no value on a side, and an iteration of it failed */
	KAB_OUTCOME_MISSING, /* no value on a side, nothing was run there */
	KAB_OUTCOME_NOT_COMPARABLE, /* parameters or versions of the benchmark differ */
	KAB_OUTCOME_BELOW_RESOLUTION, /* every time on both sides was printed as 0 */
	KAB_OUTCOME_NO_VERDICT, /* no direction, or neither primary nor named by the suite */
	KAB_OUTCOMES
};
/* "improved" ... "not comparable", "below resolution", "no verdict". */
const char *kab_outcome_name(enum kab_outcome outcome);
/* "I", "R", "=", "?", or "" where no test was made. */
const char *kab_outcome_mark(enum kab_outcome outcome);

/* One test kernel of a row against the baseline. */
struct kab_pair {
	const struct kab_set_summary *base, *test; /* borrowed from the row */
	enum kab_outcome outcome;
	char *reason; /* owned, plain words, never NULL */
	bool compared; /* cmp is filled */
	bool tested; /* a test at boot level was made: a mark may be shown */
	bool one_boot; /* cmp is over iterations: within one boot only */
	bool summary; /* a side is a summary: cmp is of n, mean and sd of both sides */
	bool in_family; /* took part in the correction */
	struct kab_comparison cmp;
	double gain_pct; /* + is better; NAN where undefined, see reason */
	double diff_pct; /* (test-base)/base, raw; NAN where undefined */
	double gain_lo_pct, gain_hi_pct; /* interval of the gain at opts.confidence */
	double margin_pct;
	size_t blocks, blocks_left_out; /* complete and incomplete ones, when paired */
	char *warning; /* owned, or NULL: unequal failures, unequal n ... */
	bool gate; /* counts as a regression for --gate */
};

struct kab_judged_row {
	const struct kab_row_data *data; /* borrowed */
	struct kab_set_summary *sets; /* as data->sets */
	size_t n_sets;
	struct kab_pair *pairs; /* n_sets - 1; pairs[i] compares sets[i + 1] with sets[0] */
	size_t n_pairs;
	bool verdict; /* carries verdicts: primary with a direction */
	/*
	 * Level of the tests: 1 - opts.confidence, but the nominal bound of the last look that the
	 * data reach where the plan may end at a look; and the number of that look, else 0.
	 */
	double alpha;
	int look;
};

/* Counts over the rows that carry verdicts. */
struct kab_tally {
	size_t rows;
	size_t by[KAB_OUTCOMES];
	size_t with_failures; /* rows that have a verdict although an iteration failed */
	size_t one_boot; /* of the inconclusive ones */
	bool restarts; /* "boots" are restarts */
	bool boots_unknown; /* of those in one_boot: imported, and the boots are not known */
};

struct kab_judgement {
	const struct kab_row_list *rows_data; /* borrowed; outlives the judgement */
	struct kab_judge_opts opts;
	struct kab_judged_row *v;
	size_t n;
	size_t n_kernels; /* the widest row: baseline and its tests */
	size_t family; /* comparisons in the correction */
	bool any_failed; /* an iteration failed or is missing: exit 5 */
	bool any_regressed; /* for --gate: exit 1 */
};

/* rows is borrowed and must outlive *ret. 0, or -1 (usage) when an option is out of range. */
int kab_judge(const struct kab_row_list *rows, const struct kab_judge_opts *opts,
	      struct kab_judgement *ret, struct kab_err *err);
void kab_judgement_release(struct kab_judgement *judgement);

/* Test kernel `pair` (0 is the first one after the baseline). */
void kab_judge_tally(const struct kab_judgement *judgement, size_t pair, struct kab_tally *ret);
/* "12 rows: 3 improved, 1 regressed, 5 equivalent, 3 inconclusive", and what else there is. Caller
 * frees. */
char *kab_tally_text(const struct kab_tally *tally);

/*
 * Geometric mean of test/base over the rows idx[0..n), from those that have a ratio. *ret_used is
 * their number; NAN when 0.
 */
double kab_judge_geomean(const struct kab_judgement *judgement, const size_t *idx, size_t n,
			 size_t pair, size_t *ret_used);

/* Every number between the samples and the verdict of one row, as lines of text. */
void kab_judge_explain(const struct kab_judgement *judgement, size_t row, struct kab_strv *ret);
/* "hackbench/groups=4/time", with host and condition where there are any: the name of a row for
 * people. Caller frees. */
char *kab_judged_row_name(const struct kab_judged_row *row);

#endif
