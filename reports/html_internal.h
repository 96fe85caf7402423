/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the HTML page share. */
#ifndef KAB_REPORTS_HTML_INTERNAL_H
#define KAB_REPORTS_HTML_INTERNAL_H

#include "reports/html.h"
#include "reports/view_internal.h"

/* Generated from html_page.css and html_page.js; NUL-terminated. */
extern const char kab_html_css[];
extern const size_t kab_html_css_len;
extern const char kab_html_js[];
extern const size_t kab_html_js_len;

struct kab_html {
	struct kab_buf *out; /* borrowed */
	const struct kab_judgement *judgement; /* borrowed */
	const struct kab_report_opts *opts; /* borrowed */
	size_t tables, rows; /* written so far: ids of the page */
	bool lean; /* many rows: what is behind them becomes elements when it is asked for */
	size_t by[KAB_OUTCOMES]; /* comparisons in the tables, by outcome */
	struct kab_strv titles; /* of the tables */
};

/* <p class=CLS>escaped</p> and the like; cls may be NULL. */
void kab_html_element(struct kab_buf *out, const char *tag, const char *cls, const char *text);
/* Lines that kab_wrap() has broken are whole again. Appends to ret. */
void kab_html_unwrap(const struct kab_strv *lines, struct kab_strv *ret);
/* Seven significant digits without trailing zeros, or "n/a". */
void kab_html_number(struct kab_buf *out, double value);
/* The marks of so many kernels, once per page. */
void kab_html_symbols(struct kab_buf *out, size_t kernels);
/* The mark of kernel k (0 the baseline) as a small picture beside its label. */
void kab_html_swatch(struct kab_buf *out, size_t k);
/* "improved" with the letter of its mark before it where a test was made. */
void kab_html_verdict(struct kab_buf *out, const struct kab_pair *pair);

/* The kernels of a row on one axis: a tick per iteration, a mark per boot mean. */
void kab_html_strip(struct kab_buf *out, const struct kab_judged_row *row);
/* All iterations of a row in the order in which they were run, and the mean of each boot. */
void kab_html_run_order(struct kab_buf *out, const struct kab_judged_row *row);
/* All numbers behind a row: what its sets say, its comparisons, its picture. */
void kab_html_details(struct kab_html *page, const struct kab_judged_row *row);

/* One table; judged: with verdicts (kab_view_compare), else kab_view_other. */
void kab_html_table(struct kab_html *page, const struct kab_group *group, bool judged);

#endif
