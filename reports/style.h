/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Styles: how a table looks. Each is a row of the table in style.c and a short file of its own:
 * render_<name>.c, and the view that makes its table from a judgement.
 *
 * To add one: write render_<name>.c with the function declared in renderers.h, name it in style.c
 * (and CMakeLists.txt). tests/unit/reports/test_style.c fails when a style has no renderer, prints a
 * trailing blank, or loses a failure.
 */
#ifndef KAB_REPORTS_STYLE_H
#define KAB_REPORTS_STYLE_H

#include "base/buf.h"
#include "reports/table.h"
#include "reports/view.h"

/*
 * exact: the byte layout of the tool or mail that the style is named after, header and footer as
 * given. Otherwise clean: spaces, ASCII, LF, no trailing blanks, no "-0.00".
 * Appends to out. Never fails; a missing cell is "-".
 */
typedef void kab_render_fn(const struct kab_table *t, bool exact, struct kab_buf *out);

/* Which rows of a report share one table of a style. */
enum kab_grouping {
	KAB_BY_METRIC, /* all loads of a metric */
	KAB_BY_PAIR, /* the same, but one table per test kernel */
	KAB_BY_ROW, /* one load of a metric */
	KAB_BY_LOAD, /* all metrics of one load, one table per kernel */
};

struct kab_style {
	const char *name;
	const char *summary;
	kab_render_fn *render;
	kab_view_fn *view;
	enum kab_grouping grouping;
};

extern const struct kab_style kab_styles[];
extern const size_t kab_styles_n;
/* NULL when there is none of that name. */
const struct kab_style *kab_style_find(const char *name);
/* "plain, grid, ..." for messages; caller frees. */
char *kab_style_names(void);

#endif
