/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The renderers, one file each, and what they share. Listed in style.c. */
#ifndef KAB_REPORTS_RENDERERS_H
#define KAB_REPORTS_RENDERERS_H

#include "reports/style.h"

kab_render_fn kab_render_plain;
kab_render_fn kab_render_grid;
kab_render_fn kab_render_org;
kab_render_fn kab_render_markdown;
kab_render_fn kab_render_describe;
kab_render_fn kab_render_runs;
kab_render_fn kab_render_mmtests;
kab_render_fn kab_render_norm;
kab_render_fn kab_render_schedtests;
kab_render_fn kab_render_fastpath;
kab_render_fn kab_render_lkp;
kab_render_fn kab_render_percentiles;
kab_render_fn kab_render_list; /* a line per kernel below each load: fits where nothing else does */
kab_render_fn kab_render_stacked;
kab_render_fn kab_render_minmax;
kab_render_fn kab_render_gain;
kab_render_fn kab_render_perfstat;
kab_render_fn kab_render_ministat;

/* Title and legend, each line with LF, then a blank line; nothing when there is neither. */
void kab_render_head(const struct kab_table *t, struct kab_buf *out);
/* Notes below the rows. */
void kab_render_notes(const struct kab_table *t, struct kab_buf *out);
/* Lines that a file brought along: as they stand when exact, else without tabs, U+00B1 and trailing
 * blanks. */
void kab_render_given(const struct kab_strv *lines, bool exact, struct kab_buf *out);
void kab_render_lines(const struct kab_strv *lines, struct kab_buf *out);
/* End the line that is being built: trailing blanks go, LF. */
void kab_render_eol(struct kab_buf *line, struct kab_buf *out);

/* printf of a cell's number as in the original tool (sign of zero kept when exact), or its text, or
 * "-", padded to `width` on the left (negative: on the right). */
void kab_render_number(struct kab_buf *buf, const struct kab_cell *cell, int width, int decimals,
		       bool plus, bool exact);

/* The column of that name, or -1. */
int kab_render_col(const struct kab_table *t, const char *name);
/* The cell of row r in the column of that name, as text without padding; "" when there is none. */
void kab_render_named(const struct kab_table *t, size_t r, const char *name, struct kab_buf *buf);
/* Its number, NAN when there is none. */
double kab_render_value(const struct kab_table *t, size_t r, const char *name);
/* Whether row r has the same load as the row above (tables with a kernel per row). */
bool kab_render_goes_on(const struct kab_table *t, size_t r);
/* Plain columns with these names only (NULL-terminated), in this order, without head and notes. */
void kab_render_columns(const struct kab_table *t, const char *const *names, struct kab_buf *out);

#endif
