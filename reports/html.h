/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The whole report as one HTML page that needs nothing else: style, script and pictures are inside, and
 * its Content-Security-Policy forbids every request. Without script all of it is readable; the script
 * sorts, filters, opens rows and shows the numbers behind a cell.
 */
#ifndef KAB_REPORTS_HTML_H
#define KAB_REPORTS_HTML_H

#include "reports/report.h"

/* What the page is called. Borrowed texts, any bytes; NULL: left out. */
struct kab_html_about {
	const char *title; /* "nightly-3", or what was compared */
	const char *origin; /* number of the run, suite, when */
	const char *version; /* of kab */
};

/* Text or the value of a quoted attribute: entities for what HTML reads, \xNN for control
 * characters, for bytes that are no UTF-8 and for marks that turn the direction of text. */
void kab_html_escape(struct kab_buf *out, const char *text);

/*
 * Appends the page, UTF-8. The tables are those of kab_report_text() in the plain style without its
 * limit of columns: --style, --side and --exact do not apply. preamble may be NULL. A page longer
 * than out->max is cut (out->cut).
 */
void kab_report_html(const struct kab_judgement *judgement, const struct kab_report_opts *opts,
		     const struct kab_preamble *preamble, const struct kab_html_about *about,
		     struct kab_buf *out);

#endif
