/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recomputing the tables of a mail. Pure.
 *
 * Conventions of percentages: 'A' (base-test)/base, 'B' base/test - 1, 'C' (test-base)/base,
 * 'D' test-base in the unit of the metric. Which one an author uses is decided over a whole table: a
 * row may not choose its own, except where rows are of metrics with opposite directions.
 */
#ifndef KAB_EXCHANGE_CHECK_H
#define KAB_EXCHANGE_CHECK_H

#include "exchange/tables.h"

enum kab_check_verdict {
	KAB_CHECK_EXACT, /* follows from the printed cells */
	KAB_CHECK_WITHIN_ROUNDING, /* some unrounded cells give it */
	KAB_CHECK_TRUNCATED_OR_ROUNDING, /* the same, and it is the truncation of the recomputed value */
	KAB_CHECK_TRUNCATED, /* only truncation explains it */
	KAB_CHECK_INCONSISTENT, /* no rounding of the cells explains it */
	KAB_CHECK_NOT_RECOMPUTABLE, /* the cells it was made from are not there */
};
/* "exact", "within-rounding", "truncated-or-rounding", ... */
const char *kab_check_verdict_name(enum kab_check_verdict verdict);

struct kab_check_percent {
	size_t table, row, column; /* indices */
	char *row_label, *column_label; /* owned */
	char printed[32];
	double base, test; /* NAN: unknown */
	double recomputed, lo, hi; /* from the printed cells, and over all unrounded ones; NAN */
	char convention; /* 'A'..'D', or 0 */
	enum kab_check_verdict verdict;
};

enum kab_check_kind {
	KAB_CHECK_WELCH, /* n, mean and sd on both sides, or the runs */
	KAB_CHECK_MEAN, /* a printed mean against its runs */
	KAB_CHECK_STDDEV, /* a printed standard deviation against its runs */
	KAB_CHECK_GAIN, /* no percentage was printed: this is what it would be */
};

struct kab_check_statistic {
	enum kab_check_kind kind;
	size_t table;
	char *row, *base, *column; /* owned: what is compared with what, in which column */
	/* WELCH and GAIN; t and diff are of test - base */
	size_t n_base, n_test;
	double mean_base, mean_test, sd_base, sd_test;
	char shown_base[52], shown_test[52]; /* GAIN: as printed in the mail */
	double t, df, p, p_holm, diff, ci_lo, ci_hi;
	bool significant; /* p_holm < 0.05 */
	double diff_pct; /* (test-base)/base */
	double gain_pct; /* + is better; NAN when the direction is unknown */
	/* MEAN and STDDEV */
	double printed, recomputed;
	enum kab_check_verdict verdict;
	const char *formula; /* static: which formula gives the printed value, or NULL */
};

enum kab_check_severity {
	KAB_CHECK_NOTE, /* what a reader should know */
	KAB_CHECK_LIMIT, /* what the numbers cannot support */
	KAB_CHECK_ERROR, /* what does not add up */
};
struct kab_check_finding {
	enum kab_check_severity severity;
	int table; /* -1: of the whole mail */
	char *text; /* owned: a sentence */
};

struct kab_check {
	struct {
		struct kab_check_percent *v;
		size_t n, cap;
	} percents;
	struct {
		struct kab_check_statistic *v;
		size_t n, cap;
	} statistics;
	struct {
		struct kab_check_finding *v;
		size_t n, cap;
	} findings;
};

/* lines and tables are of one mail; they must outlive *ret. */
void kab_check_tables(const struct kab_mail_lines *lines, const struct kab_mail_tables *tables,
		      struct kab_check *ret);
void kab_check_release(struct kab_check *check);

/* One strict JSON object with a line end. n: mails; each has its tables and findings. */
void kab_check_json(const struct kab_mail_tables *tables, const struct kab_check *check,
		    struct kab_buf *out);
/* For people. */
void kab_check_text(const struct kab_mail_tables *tables, const struct kab_check *check,
		    struct kab_buf *out);

/* The verdict over a printed percentage with these cells; fills recomputed, lo and hi. */
enum kab_check_verdict kab_check_percent(const struct kab_item *printed,
					 const struct kab_item *base, const struct kab_item *test,
					 char convention, double *recomputed, double *lo,
					 double *hi);

#endif
