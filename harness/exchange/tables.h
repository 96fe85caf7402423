/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finding tables of numbers in the text of a mail. Pure.
 *
 * A table is found by the form of its rows (a label, then numbers with what is attached to them), not by
 * its columns on the screen, because mailers move columns. Heads are assigned afterwards.
 */
#ifndef KAB_EXCHANGE_TABLES_H
#define KAB_EXCHANGE_TABLES_H

#include "exchange/mail.h"

/* How a number stands in its cell. */
enum kab_item_kind {
	KAB_ITEM_VALUE, /* by itself */
	KAB_ITEM_PERCENT, /* by itself, with a percent sign */
	KAB_ITEM_ROUND, /* (1.5) */
	KAB_ITEM_ROUND_PCT, /* (1.5%), * 1.5%* */
	KAB_ITEM_SQUARE, /* [1.5] */
	KAB_ITEM_SQUARE_PCT, /* [1.5%] */
	KAB_ITEM_PM, /* +/- 1.5 */
	KAB_ITEM_PM_PCT, /* +/- 1.5%, (+/- 1.5%) */
};

struct kab_item {
	enum kab_item_kind kind;
	double value; /* in the base unit: "1m40.5s" is 100.5, "55k" is 55000 */
	double half; /* half a unit of the last place printed */
	int decimals; /* as printed */
	char printed[32]; /* sign and digits as printed, with "%" where it stood */
	char unit[16]; /* "s" after conversion of ms and the like; "" none */
	char shown_unit[16]; /* as printed */
	char mark; /* '*', 'I', 'R', or 0 */
	bool present;
	size_t at; /* where it stands in its line */
};

/*
 * Read one item at s[at] (not a blank). Returns where it ends, or 0 when there is none. decimal_comma:
 * commas are decimal points, else they separate thousands.
 */
size_t kab_item_scan(const char *s, size_t len, size_t at, bool decimal_comma,
		     struct kab_item *ret);
/* Is the comma of a number in this text a decimal one? True when a number only makes sense so. */
bool kab_item_comma_is_decimal(const char *s, size_t len);

enum kab_mail_table_style {
	KAB_MAIL_TABLE_ALIGNED, /* blanks and tabs */
	KAB_MAIL_TABLE_GRID, /* +---+ or x---x rules */
	KAB_MAIL_TABLE_ORG, /* |---+---| */
	KAB_MAIL_TABLE_MARKDOWN, /* |---|---| */
	KAB_MAIL_TABLE_MMTESTS,
	KAB_MAIL_TABLE_NORM,
	KAB_MAIL_TABLE_SCHEDTESTS,
	KAB_MAIL_TABLE_FASTPATH,
	KAB_MAIL_TABLE_DESCRIBE, /* a statistic per line, one block per kernel */
	KAB_MAIL_TABLE_RUNS, /* repeated output, a value per line; one block per kernel */
};
/* "aligned", "grid", ... */
const char *kab_mail_table_style_name(enum kab_mail_table_style style);

/* What a column of numbers is. */
enum kab_mail_column_role {
	KAB_MAIL_COLUMN_VALUE,
	KAB_MAIL_COLUMN_ATTACHED, /* belongs to the value column `owner` */
	KAB_MAIL_COLUMN_SPREAD, /* standard deviation and the like, by its head or its sign */
	KAB_MAIL_COLUMN_COUNT, /* number of runs */
	KAB_MAIL_COLUMN_STAT, /* min, max, a percentile */
};

struct kab_mail_column {
	enum kab_mail_column_role role;
	enum kab_item_kind kind;
	int owner; /* value column that it is attached to; -1 none */
	int cell; /* in ruled tables: which cell of the row */
	char *head; /* owned; "" when unknown */
};

struct kab_mail_row {
	char *label; /* owned; "" without one */
	struct kab_item *items; /* owned: one per column, perhaps not present */
	size_t line; /* of the body */
	char summary; /* 'm' a row of means, 's' of standard deviations, 'x' other statistics, 0 */
};

struct kab_mail_table {
	enum kab_mail_table_style style;
	char *title; /* owned; what stands above, or "" */
	char *context; /* owned: the lines between the table before and this one, and its heads */
	struct kab_mail_column *cols;
	size_t n_cols, cap_cols;
	struct kab_mail_row *rows;
	size_t n_rows, cap_rows;
	size_t first_line, last_line; /* of the body, with heads and rules */
	int depth; /* quote marks */
	bool decimal_comma;
	int n_stated; /* runs per value as its own heads say, 0 unknown */
	int direction; /* -1 lower is better, 1 higher, 0 unknown */
	bool direction_stated; /* in words; else inferred */
};

struct kab_mail_tables {
	struct kab_mail_table *v;
	size_t n, cap;
};

void kab_mail_tables_find(const struct kab_mail_lines *lines, struct kab_mail_tables *ret);
void kab_mail_tables_release(struct kab_mail_tables *tables);

/* -1 the words speak of something that should be low (time, latency), 1 high, 0 neither. */
int kab_words_direction(const char *text);
/* The number of runs that a text states ("10 runs", "n=5", "average of 4 iterations"); 0: none. */
int kab_words_runs(const char *text);
/* Does the word (or head) name a spread: stdev, CV, +/- ...? */
bool kab_words_spread(const char *text);
/* Does the head of a column say that it names the row (groups, threads, size ...)? */
bool kab_words_is_label(const char *head);
/* Does the text contain the word, in any case, not within another word? */
bool kab_words_have(const char *text, const char *word);

#endif
