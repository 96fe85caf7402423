/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The typed table between views and renderers. A view (judgement -> table) decides once per cell
 * how many decimals are shown and which word stands where a number is missing; a renderer (table ->
 * bytes) decides where they stand and knows nothing of kernels. CSV and JSON print the full value of
 * the same cell.
 */
#ifndef KAB_REPORTS_TABLE_H
#define KAB_REPORTS_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/strv.h"

enum kab_role {
	KAB_ROLE_LABEL, /* names the row: case, sweep value, condition, host */
	KAB_ROLE_VALUE, /* mean, or the statistic named by the row */
	KAB_ROLE_SPREAD, /* what stands behind +/- */
	KAB_ROLE_GAIN, /* percent, + is better */
	KAB_ROLE_DIFF, /* percent, raw (test-base)/base */
	KAB_ROLE_INTERVAL, /* of the gain or the difference */
	KAB_ROLE_MARK, /* I R = ? */
	KAB_ROLE_STAT, /* min, max, percentiles, counts ... */
	KAB_ROLE_NOTE, /* "fail 2/5", text */
};

struct kab_column {
	char *name; /* owned; key of CSV and JSON, unique in the table */
	char *head; /* owned; as printed */
	char *group; /* owned; printed over all neighbours of the same group, or NULL */
	enum kab_role role;
	int kernel; /* position of the kernel, 0 the baseline; -1: none */
	bool left; /* alignment of text and head; numbers always stand on their points */
	bool glue; /* one blank, not two, before it where columns are blank-separated */
	int drop; /* 0: never; else columns go in ascending order when the table is too wide */
};

enum kab_cell_kind {
	KAB_CELL_EMPTY,
	KAB_CELL_TEXT, /* label or sentence */
	KAB_CELL_WORD, /* why a number is missing: "missing", "fail 5/5", "n/a" */
	KAB_CELL_NUMBER,
	KAB_CELL_PERCENT,
	KAB_CELL_INTERVAL, /* lo, hi; percent unless the column says otherwise */
	KAB_CELL_FLAG, /* true or false, from a file */
};

struct kab_cell {
	enum kab_cell_kind kind;
	double value, lo, hi;
	int decimals; /* of number, percent and interval; -1: the shortest that reads back */
	bool plus; /* + before positive numbers */
	bool whole; /* came as an integer from a file */
	char *text; /* owned; TEXT and WORD; or a number that was given as text */
};

struct kab_table {
	char *title; /* owned; the first line of the head; may be NULL */
	struct kab_strv legend; /* lines below the title */
	struct kab_column *cols;
	size_t n_cols, cap_cols;
	struct kab_cell *cells; /* n_rows * n_cols, row by row */
	size_t n_rows, cap_cells;
	struct kab_strv notes; /* lines below the rows */
	/* Tables from a file bring their own lines above and below the rows. */
	struct kab_strv header, footer;
	bool two_heads; /* the heads of grouped columns matter, too */
	bool literal; /* header and footer are to be printed as they stand */
	bool higher; /* higher is better */
	bool directed; /* `higher` means something */
	char *benchmark, *unit, *statistic; /* owned, for heads that have such lines; or NULL */
};

void kab_table_release(struct kab_table *t);
/* All columns must be added before the first row. Copies its strings; head NULL: as name. */
struct kab_column *kab_table_column(struct kab_table *t, enum kab_role role, int kernel,
				    const char *name, const char *head, const char *group);
/* The cells of a new row, all empty; valid until the next row. */
struct kab_cell *kab_table_row(struct kab_table *t);
static inline struct kab_cell *kab_table_cell(const struct kab_table *t, size_t row, size_t col)
{
	return &t->cells[row * t->n_cols + col];
}
/* The column of that role and kernel, or -1. */
int kab_table_find(const struct kab_table *t, enum kab_role role, int kernel);
/* How many kernels the columns name. */
int kab_table_kernels(const struct kab_table *t);

void kab_cell_text(struct kab_cell *cell, const char *text); /* copies */
void kab_cell_word(struct kab_cell *cell, const char *word); /* copies */
/* A value that is not finite becomes the word "n/a". */
void kab_cell_number(struct kab_cell *cell, double value, int decimals);
void kab_cell_percent(struct kab_cell *cell, double value, int decimals, bool plus);
void kab_cell_interval(struct kab_cell *cell, double lo, double hi, int decimals);
/* As printed in clean mode, without padding. */
void kab_cell_print(const struct kab_cell *cell, struct kab_buf *buf);

/* Break text at blanks into lines of at most `width`, later ones indented by `indent`. */
void kab_wrap(struct kab_strv *lines, const char *text, size_t width, size_t indent);
/* The widest line of a text, in characters (UTF-8 sequences count once, tabs go to 8). */
size_t kab_text_width(const char *text);

/*
 * Columns of equal width: every cell as text, escaped, padded to width[col]; numbers stand on
 * their decimal points.
 */
struct kab_layout {
	size_t n_rows, n_cols;
	char **cells; /* n_rows * n_cols, owned */
	char **heads; /* n_cols, owned, escaped, padded likewise */
	size_t *width;
};
typedef void kab_escape_fn(struct kab_buf *buf, const char *text);
enum kab_heads {
	KAB_HEADS_NONE, /* columns are as wide as their cells */
	KAB_HEADS_GROUPED, /* heads count, and a group head widens the first of its columns */
	KAB_HEADS_FLAT, /* one line of heads: a VALUE column bears the name of its group */
};
struct kab_layout_opts {
	kab_escape_fn *escape; /* NULL: text as it stands */
	const char *prefix; /* goes before every SPREAD cell ("+/- "), or NULL */
	enum kab_heads heads;
	size_t gap, glue_gap; /* characters between two columns, and before a glued one */
};
void kab_layout_make(const struct kab_table *t, const struct kab_layout_opts *opts,
		     struct kab_layout *ret);
void kab_layout_release(struct kab_layout *layout);

#endif
