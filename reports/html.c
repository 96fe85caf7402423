/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page around the tables: what it may do, what was measured, how to find one's way. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sha256.h"
#include "reports/html_internal.h"

/* Longer lists of facts are folded away. */
#define LIST_OPEN 12
/* A page with more rows would have half a million elements. */
#define LEAN_ROWS 400

/* ---- Content-Security-Policy ---- */

static unsigned digit(char c)
{
	return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* 'sha256-BASE64': exactly this text may be style or script, and nothing else. */
static void add_hash(struct kab_buf *out, const char *text, size_t n)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char hex[KAB_SHA256_HEX_SIZE];

	kab_sha256_hex(text, n, hex);
	kab_buf_adds(out, "'sha256-");
	/* Three hex digits are two letters; 64 digits leave one, which is filled with zero bits. */
	for (size_t i = 0; i < 63; i += 3) {
		unsigned bits = digit(hex[i]) << 8 | digit(hex[i + 1]) << 4 | digit(hex[i + 2]);

		kab_buf_addc(out, letters[bits >> 6]);
		kab_buf_addc(out, letters[bits & 63]);
	}
	kab_buf_addc(out, letters[digit(hex[63]) << 2]);
	kab_buf_adds(out, "='");
}

static void add_policy(struct kab_buf *out)
{
	kab_buf_adds(out,
		     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		     "base-uri 'none'; form-action 'none'; img-src data:; style-src ");
	add_hash(out, kab_html_css, kab_html_css_len);
	kab_buf_adds(out, "; script-src ");
	add_hash(out, kab_html_js, kab_html_js_len);
	kab_buf_adds(out, "\">\n");
}

static void add_head(struct kab_buf *out, const struct kab_html_about *about, bool broad)
{
	kab_buf_adds(out, "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n");
	add_policy(out);
	kab_buf_adds(out, "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n"
			  "<meta name=color-scheme content=\"light dark\">\n"
			  "<meta name=referrer content=no-referrer>\n"
			  /* Else a browser asks the server of the page for one. */
			  "<link rel=icon href=\"data:,\">\n<title>");
	if (about->title) {
		kab_html_escape(out, about->title);
		kab_buf_adds(out, " - ");
	}
	kab_buf_adds(out, "kab report</title>\n<style>");
	kab_buf_add(out, kab_html_css, kab_html_css_len);
	kab_buf_addf(out, "</style>\n</head>\n<body%s>\n", broad ? " class=broad" : "");
	kab_buf_adds(out, "<a class=skip href=\"#tables\">Skip to the tables</a>\n<header>\n<h1>");
	kab_html_escape(out, about->title ? about->title : "kab report");
	kab_buf_adds(out, "</h1>\n");
	if (about->origin)
		kab_html_element(out, "p", "origin", about->origin);
}

/* ---- what was measured ---- */

static void fact(struct kab_buf *out, const char *name, const char *text)
{
	kab_html_element(out, "dt", NULL, name);
	kab_html_element(out, "dd", NULL, text && *text ? text : "unknown");
}

static void facts(struct kab_buf *out, const char *name, const struct kab_strv *texts)
{
	if (!texts->n) {
		fact(out, name, NULL);
		return;
	}
	kab_html_element(out, "dt", NULL, name);
	kab_buf_adds(out, "<dd>");
	if (texts->n > LIST_OPEN)
		kab_buf_addf(out, "<details><summary>%zu lines</summary>", texts->n);
	kab_buf_adds(out, "<ul>");
	for (size_t i = 0; i < texts->n; i++)
		kab_html_element(out, "li", NULL, texts->v[i]);
	kab_buf_adds(out, "</ul>");
	if (texts->n > LIST_OPEN)
		kab_buf_adds(out, "</details>");
	kab_buf_adds(out, "</dd>\n");
}

/* The facts of kab_preamble_print(), none of them broken into lines. */
static void add_facts(struct kab_buf *out, const struct kab_preamble *p)
{
	kab_buf_adds(out, "<details class=facts open><summary>What was measured</summary>\n<dl>\n");
	if (!p->machine && !p->power && !p->kernels.n && !p->bench.n) {
		fact(out, "Facts", "machine, kernels and command lines are not recorded");
	} else {
		fact(out, "Machine", p->machine);
		if (p->nodes.n)
			facts(out, "Nodes", &p->nodes);
		fact(out, "Power", p->power);
		fact(out, "Virt", p->virt);
		facts(out, "Kernels", &p->kernels);
		fact(out, "Config", p->config);
		facts(out, "Bench", &p->bench);
	}
	fact(out, "Runs", p->runs);
	fact(out, "Stats", p->stats);
	if (p->quiet)
		fact(out, "Quiet", p->quiet);
	if (p->noise)
		fact(out, "Noise", p->noise);
	if (p->differs.n)
		facts(out, "Differs", &p->differs);
	kab_buf_adds(out, "</dl>\n</details>\n");
}

/* ---- summary ---- */

static const char *kernel_label(const struct kab_judgement *j, size_t k)
{
	for (size_t r = 0; r < j->n; r++)
		if (k < j->v[r].n_sets)
			return j->v[r].sets[k].data->kernel;
	return "unknown";
}

static void add_summary(struct kab_buf *out, const struct kab_judgement *j)
{
	if (!j->n_kernels)
		return;
	kab_buf_adds(out, "<ul class=summary>\n<li>");
	kab_html_swatch(out, 0);
	kab_html_element(out, "strong", NULL, kernel_label(j, 0));
	kab_buf_adds(out, " is the baseline</li>\n");
	for (size_t p = 0; p + 1 < j->n_kernels; p++) {
		struct kab_tally tally;
		char *text;

		kab_judge_tally(j, p, &tally);
		text = kab_tally_text(&tally);
		kab_buf_adds(out, "<li>");
		kab_html_swatch(out, p + 1);
		kab_buf_adds(out, "<strong>");
		kab_html_escape(out, kernel_label(j, p + 1));
		kab_buf_adds(out, "</strong>: ");
		kab_html_escape(out, text);
		kab_buf_adds(out, "</li>\n");
		free(text);
	}
	kab_buf_adds(out, "</ul>\n");
}

/* ---- tables ---- */

/* What is not judged: a table per case, as in the text. */
static void add_other(struct kab_html *page, const struct kab_group *other)
{
	bool *done = kab_xcalloc(other->n + 1, sizeof(*done));

	for (size_t r = 0; r < other->n; r++) {
		const struct kab_row_data *first = kab_group_row(other, r)->data;
		struct kab_group g = { other->judgement, NULL, 0 };
		bool any = false;

		if (done[r])
			continue;
		g.rows = kab_xreallocarray(NULL, other->n, sizeof(*g.rows));
		for (size_t i = r; i < other->n; i++) {
			const struct kab_judged_row *row = kab_group_row(other, i);

			if (strcmp(row->data->case_name, first->case_name) ||
			    strcmp(row->data->runner, first->runner))
				continue;
			done[i] = true;
			g.rows[g.n++] = other->rows[i];
			for (size_t k = 0; k < row->n_sets; k++)
				any |= kab_set_any(&row->sets[k]);
		}
		if (any)
			kab_html_table(page, &g, false);
		free(g.rows);
	}
	free(done);
}

static void add_tables(struct kab_html *page)
{
	const struct kab_report_opts *opts = page->opts;
	struct kab_groups groups;

	kab_groups_make(page->judgement, opts->metric, opts->sort, &groups);
	for (size_t i = 0; i < groups.n; i++)
		kab_html_table(page, &groups.v[i], true);
	/* A run that has nothing to judge still has something to show. */
	if (!opts->metric && (!opts->only_judged || !groups.n))
		add_other(page, &groups.other);
	else if (!opts->metric && groups.other.n)
		kab_buf_addf(page->out,
			     "<p class=rest>%zu row%s of other metrics stored, not judged: "
			     "<code>--all</code> shows %s</p>\n",
			     groups.other.n, groups.other.n == 1 ? "" : "s",
			     groups.other.n == 1 ? "it" : "them");
	kab_groups_release(&groups);
}

/* Only the script can use these, so only the script shows them. */
static void add_tools(const struct kab_html *page, struct kab_buf *out)
{
	bool any = false;

	kab_buf_adds(
		out,
		"<div id=tools role=group aria-label=\"Rows to show, and their order\" hidden>\n"
		"<label for=find>Find</label> <input type=search id=find>\n"
		"<label for=order>Order</label> <select id=order>"
		"<option value=suite>as in the suite<option value=name>by name"
		"<option value=worst>worst gain first<option value=best>best gain first"
		"<option value=col hidden disabled>by a column</select>\n");
	for (int o = 0; o < KAB_OUTCOMES; o++) {
		if (!page->by[o])
			continue;
		if (!any)
			kab_buf_adds(out, "<span role=group aria-label=\"Verdicts to show\">");
		any = true;
		kab_buf_addf(out,
			     "<label><input type=checkbox class=verdict value=%d checked> %s "
			     "(%zu)</label>\n",
			     o, kab_outcome_name((enum kab_outcome)o), page->by[o]);
	}
	kab_buf_adds(out, any ? "</span>\n" : "");
	kab_buf_adds(out,
		     "<button type=button id=all>Open all rows</button>\n"
		     "<output id=shown></output>\n"
		     "<p id=keys>Tab reaches each table; arrows move in it, Enter opens a row, "
		     "Escape closes what hangs over a cell.</p>\n</div>\n");
}

static void add_contents(const struct kab_html *page, struct kab_buf *out)
{
	if (page->titles.n < 3)
		return;
	kab_buf_adds(out, "<nav aria-label=Tables>");
	if (page->titles.n > LIST_OPEN)
		kab_buf_addf(out, "<details><summary>%zu tables</summary>", page->titles.n);
	kab_buf_adds(out, "<ol>\n");
	for (size_t i = 0; i < page->titles.n; i++) {
		kab_buf_addf(out, "<li><a href=\"#t%zu\">", i + 1);
		kab_html_escape(out, page->titles.v[i]);
		kab_buf_adds(out, "</a></li>\n");
	}
	kab_buf_adds(out, page->titles.n > LIST_OPEN ? "</ol></details></nav>\n" : "</ol></nav>\n");
}

static void add_end(struct kab_buf *out, const struct kab_preamble *preamble,
		    const struct kab_html_about *about)
{
	if (preamble && preamble->notices.n) {
		kab_buf_adds(out, "<section><h2>Notices</h2>\n<ul>\n");
		for (size_t i = 0; i < preamble->notices.n; i++)
			kab_html_element(out, "li", NULL, preamble->notices.v[i]);
		kab_buf_adds(out, "</ul>\n</section>\n");
	}
	if (preamble && preamble->reproduce.n) {
		char *lines = kab_strv_join(&preamble->reproduce, "\n");

		kab_buf_adds(out, "<section><h2>Reproduce</h2>\n<pre tabindex=0>");
		kab_html_escape(out, lines);
		kab_buf_adds(out, "</pre>\n</section>\n");
		free(lines);
	}
	kab_buf_adds(out, "</main>\n<footer><p>");
	if (about->version) {
		kab_buf_adds(out, "Made by kab ");
		kab_html_escape(out, about->version);
		kab_buf_adds(out, ". ");
	}
	kab_buf_adds(out, "This page asks for nothing from anywhere. Full precision: "
			  "<code>--format json</code>.</p></footer>\n"
			  "<div id=pop role=tooltip hidden></div>\n<script>");
	kab_buf_add(out, kab_html_js, kab_html_js_len);
	kab_buf_adds(out, "</script>\n</body>\n</html>\n");
}

void kab_report_html(const struct kab_judgement *judgement, const struct kab_report_opts *opts,
		     const struct kab_preamble *preamble, const struct kab_html_about *about,
		     struct kab_buf *out)
{
	struct kab_html page = { .judgement = judgement,
				 .opts = opts,
				 .lean = judgement->n > LEAN_ROWS };
	struct kab_buf kab_autobuf tables = KAB_BUF_INIT;

	kab_buf_init(&tables, out->max);
	page.out = &tables;
	add_tables(&page);
	add_head(out, about, judgement->n_kernels > 2);
	kab_html_symbols(out, judgement->n_kernels);
	add_summary(out, judgement);
	if (preamble)
		add_facts(out, preamble);
	kab_buf_adds(out, "</header>\n<main id=tables tabindex=-1>\n");
	add_tools(&page, out);
	add_contents(&page, out);
	kab_buf_adds(out, kab_buf_str(&tables));
	out->cut |= tables.cut;
	add_end(out, preamble, about);
	kab_strv_release(&page.titles);
}
