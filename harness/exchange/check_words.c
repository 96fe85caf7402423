/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "exchange/check_internal.h"
#include "exchange/tables_internal.h"

#define ROWS_NAMED_MAX 8

/* ---- percentages ---- */

static void count_percents(const struct kab_mail_table *t, size_t ti, struct kab_check *ret)
{
	static const char *const formulas[] = { "(base-test)/base", "base/test - 1",
						"(test-base)/base", "test-base" };
	size_t by[KAB_CHECK_NOT_RECOMPUTABLE + 1] = { 0 }, n = 0, conventions[4] = { 0 };
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;

	for (size_t i = 0; i < ret->percents.n; i++) {
		const struct kab_check_percent *p = &ret->percents.v[i];

		if (p->table != ti)
			continue;
		n++;
		by[p->verdict]++;
		if (p->convention)
			conventions[p->convention - 'A']++;
	}
	if (!n)
		return;
	if (by[KAB_CHECK_NOT_RECOMPUTABLE] == n) {
		kab_check_add(
			ret, KAB_CHECK_LIMIT, (int)ti,
			"none of the %zu percentages can be recomputed: the values that they "
			"were made from are not printed%s",
			n,
			t->style == KAB_MAIL_TABLE_SCHEDTESTS
				? " (the base is 1.00 by definition; -100 % means twice the time)"
				: "");
		return;
	}
	kab_buf_addf(&text, "%zu percentages:", n);
	for (int v = 0; v <= KAB_CHECK_NOT_RECOMPUTABLE; v++)
		if (by[v])
			kab_buf_addf(&text, " %zu %s,", by[v],
				     kab_check_verdict_name((enum kab_check_verdict)v));
	kab_buf_rtrim(&text, ",");
	for (int k = 0; k < 4; k++)
		if (conventions[k])
			kab_buf_addf(&text, "; counted as %s, so that %s", formulas[k],
				     k == 3 ? "they are in the unit of the metric"
				     : k == 1 || (k == 0 && t->direction < 0) ||
						     (k == 2 && t->direction > 0)
					     ? "+ is better"
				     : t->direction ? "+ is worse"
				     : k == 2	    ? "+ is more"
						    : "+ is less");
	kab_check_add(ret, KAB_CHECK_NOTE, (int)ti, "%s", kab_buf_str(&text));
	if (conventions[0] && conventions[2])
		kab_check_add(ret, KAB_CHECK_NOTE, (int)ti,
			      "rows with metrics of both directions share the percent column");
}

static void name_wrong_percents(size_t ti, struct kab_check *ret)
{
	for (size_t i = 0; i < ret->percents.n; i++) {
		const struct kab_check_percent p = ret->percents.v[i];

		if (p.table != ti)
			continue;
		if (p.verdict == KAB_CHECK_TRUNCATED)
			kab_check_add(
				ret, KAB_CHECK_ERROR, (int)ti,
				"row '%s': %s was truncated, not rounded: the cells give %+.4g %%",
				p.row_label, p.printed, p.recomputed);
		if (p.verdict != KAB_CHECK_INCONSISTENT)
			continue;
		if (fabs(strtod(p.printed, NULL) + p.recomputed) <
		    fabs(strtod(p.printed, NULL)) * 0.01)
			kab_check_add(
				ret, KAB_CHECK_ERROR, (int)ti,
				"row '%s': %s has the wrong sign for this table: %g and %g give "
				"%+.4g %% as the other rows count",
				p.row_label, p.printed, p.base, p.test, p.recomputed);
		else
			kab_check_add(
				ret, KAB_CHECK_ERROR, (int)ti,
				"row '%s': %s does not follow from %g and %g, which give %+.4g %% "
				"(%+.4g to %+.4g with unrounded cells)%s",
				p.row_label, p.printed, p.base, p.test, p.recomputed, p.lo, p.hi,
				fabs(strtod(p.printed, NULL) - p.recomputed) < 0.1
					? "; the difference is below 0.1 point"
					: "");
	}
}

/* ---- statistics ---- */

static void name_statistics(const struct kab_mail_tables *tables, size_t ti, struct kab_check *ret)
{
	bool known_n = false;
	size_t tests = 0;

	for (size_t i = 0; i < ret->statistics.n; i++) {
		struct kab_check_statistic s = ret->statistics.v[i];

		if (s.table != ti)
			continue;
		if (s.kind == KAB_CHECK_MEAN && s.verdict == KAB_CHECK_INCONSISTENT)
			kab_check_add(ret, KAB_CHECK_ERROR, (int)ti,
				      "%s of '%s': printed %.9g, the %zu runs give %.9g", s.row,
				      s.column, s.printed, s.n_test, s.recomputed);
		if (s.kind == KAB_CHECK_STDDEV && s.verdict == KAB_CHECK_INCONSISTENT)
			kab_check_add(ret, KAB_CHECK_ERROR, (int)ti,
				      "%s of '%s': printed %.9g, the %zu runs give %.9g (factor "
				      "%.4g)%s%s",
				      s.row, s.column, s.printed, s.n_test, s.recomputed,
				      s.printed / s.recomputed, s.formula ? ": it is the " : "",
				      s.formula ? s.formula : "");
		known_n = known_n || s.kind == KAB_CHECK_MEAN || s.kind == KAB_CHECK_STDDEV;
		if (s.kind == KAB_CHECK_WELCH) {
			char corrected[48] = "";

			tests++;
			if (isfinite(s.p_holm) && s.p_holm > s.p)
				snprintf(corrected, sizeof(corrected), " (%.3g by Holm)", s.p_holm);
			kab_check_add(ret, KAB_CHECK_NOTE, (int)ti,
				      "'%s' against '%s'%s%s: %+.4g %%%s, Welch t=%.3f df=%.1f "
				      "p=%.3g%s: %s",
				      s.row, s.base, *s.column ? ", " : "", s.column, s.diff_pct,
				      !isfinite(s.gain_pct) ? ""
				      : s.gain_pct > 0	    ? " (better)"
				      : s.gain_pct < 0	    ? " (worse)"
							    : "",
				      s.t, s.df, s.p, corrected,
				      !isfinite(s.p)  ? "no test possible"
				      : s.significant ? "significant at 0.05"
						      : "not significant");
			if (s.n_base != s.n_test)
				kab_check_add(ret, KAB_CHECK_NOTE, (int)ti,
					      "unequal numbers of runs: %zu of '%s', %zu of '%s'",
					      s.n_base, s.base, s.n_test, s.row);
		}
		if (s.kind == KAB_CHECK_GAIN) {
			char factor[32] = "";

			if (s.diff_pct > 100 || (s.diff_pct < -50 && s.mean_test > 0))
				snprintf(factor, sizeof(factor), ", a factor of %.4g",
					 fmax(s.mean_base, s.mean_test) /
						 fmin(s.mean_base, s.mean_test));
			if (!*s.shown_base) {
				snprintf(s.shown_base, sizeof(s.shown_base), "%.6g", s.mean_base);
				snprintf(s.shown_test, sizeof(s.shown_test), "%.6g", s.mean_test);
			}
			kab_check_add(ret, KAB_CHECK_NOTE, (int)ti,
				      "'%s', '%s' against '%s': %s -> %s is %+.4g %%%s%s", s.row,
				      s.column, s.base, s.shown_base, s.shown_test, s.diff_pct,
				      factor,
				      !isfinite(s.gain_pct) ? ""
				      : s.gain_pct > 0	    ? " (better)"
				      : s.gain_pct < 0	    ? " (worse)"
							    : "");
		}
	}
	if (known_n)
		return;
	if (!tests && !tables->v[ti].n_stated)
		kab_check_add(ret, KAB_CHECK_LIMIT, (int)ti,
			      "the number of runs is not stated: no test is possible, "
			      "whatever the sizes "
			      "of the changes");
	else if (!tests)
		kab_check_add(ret, KAB_CHECK_LIMIT, (int)ti,
			      "n=%d is stated, but no spread: no test is possible",
			      tables->v[ti].n_stated);
}

/* The spread in percent of its mean that cell c of a row states; NAN when it states none. */
static double spread_of(const struct kab_mail_table *t, size_t r, size_t c)
{
	const struct kab_item *item = &t->rows[r].items[c];
	bool spread = t->cols[c].role == KAB_MAIL_COLUMN_SPREAD;

	if (!item->present || t->rows[r].summary)
		return NAN;
	if (item->kind == KAB_ITEM_PM_PCT ||
	    (t->style == KAB_MAIL_TABLE_NORM && item->kind == KAB_ITEM_ROUND) ||
	    (spread && item->kind != KAB_ITEM_VALUE && item->kind != KAB_ITEM_PM))
		return item->value;
	/* A standard deviation beside its mean. */
	for (size_t k = c; spread && k-- > 0;)
		if (kab_check_is_value(t, k) && t->rows[r].items[k].present)
			return 100 * item->value / fabs(t->rows[r].items[k].value);
	return NAN;
}

/* The largest change that the row prints in percent; NAN without one. */
static double change_in_row(const struct kab_check *check, size_t ti, size_t r)
{
	double most = NAN;

	for (size_t i = 0; i < check->percents.n; i++) {
		const struct kab_check_percent *p = &check->percents.v[i];

		if (p->table == ti && p->row == r)
			most = fmax(isfinite(most) ? most : 0, fabs(strtod(p->printed, NULL)));
	}
	return most;
}

static void add_name(struct kab_buf *buf, size_t *n, const char *label)
{
	if (++*n <= ROWS_NAMED_MAX)
		kab_buf_addf(buf, "%s%s", *n > 1 ? ", " : "", label);
	else if (*n == ROWS_NAMED_MAX + 1)
		kab_buf_adds(buf, ", ...");
}

static void name_spread(const struct kab_mail_table *t, size_t ti, struct kab_check *ret)
{
	struct kab_buf kab_autobuf noisy = KAB_BUF_INIT, inside = KAB_BUF_INIT;
	size_t n_noisy = 0, n_inside = 0, fractions = 0, squares = 0;

	for (size_t r = 0; r < t->n_rows; r++) {
		double most = NAN;

		for (size_t c = 0; c < t->n_cols; c++) {
			double v = spread_of(t, r, c);

			if (isfinite(v))
				most = fmax(isfinite(most) ? most : 0, v);
			if (t->cols[c].kind == KAB_ITEM_SQUARE && t->rows[r].items[c].present) {
				squares++;
				fractions += t->rows[r].items[c].value >= 0 &&
					     t->rows[r].items[c].value < 1;
			}
		}
		if (most > 10)
			add_name(&noisy, &n_noisy, t->rows[r].label);
		if (isfinite(most) && change_in_row(ret, ti, r) <= most)
			add_name(&inside, &n_inside, t->rows[r].label);
	}
	if (n_noisy)
		kab_check_add(ret, KAB_CHECK_LIMIT, (int)ti,
			      "%zu of %zu rows vary by more than 10 %% on a side (%s): unstable",
			      n_noisy, t->n_rows, kab_buf_str(&noisy));
	if (n_inside)
		kab_check_add(ret, KAB_CHECK_LIMIT, (int)ti,
			      "%zu of %zu changes are not larger than the spread that their row "
			      "states, they are inside the noise of single runs (%s)",
			      n_inside, t->n_rows, kab_buf_str(&inside));
	if (squares && fractions == squares && t->style != KAB_MAIL_TABLE_NORM)
		kab_check_add(
			ret, KAB_CHECK_NOTE, (int)ti,
			"the numbers in [ ] are fractions of the mean (0.05 is 5 %%) with two "
			"decimals: they are known to 0.5 %% of the mean only");
}

static void name_marks(const struct kab_mail_table *t, size_t ti, struct kab_check *ret)
{
	size_t improved = 0, regressed = 0, star = 0, plain = 0, agree = 0;

	for (size_t r = 0; r < t->n_rows; r++) {
		char mark = 0;
		double v = 0;

		for (size_t c = 0; c < t->n_cols; c++)
			if (t->rows[r].items[c].present && t->rows[r].items[c].mark) {
				mark = t->rows[r].items[c].mark;
				v = t->rows[r].items[c].value;
			}
		improved += mark == 'I';
		regressed += mark == 'R';
		star += mark == '*';
		plain += !mark;
		agree += (mark == 'I' && v < 0) || (mark == 'R' && v > 0);
	}
	if (improved + regressed)
		kab_check_add(ret, KAB_CHECK_NOTE, (int)ti,
			      "marks: %zu (I), %zu (R), %zu without; the percentages are "
			      "the raw change "
			      "(test-base)/base%s; rows without a mark support nothing",
			      improved, regressed, plain,
			      agree == improved + regressed
				      ? ", and negative is better in every marked row"
				      : "");
	if (star)
		kab_check_add(ret, KAB_CHECK_NOTE, (int)ti,
			      "%zu row%s marked * (called significant by the tool); the "
			      "other %zu %s not",
			      star, star == 1 ? " is" : "s are", plain, plain == 1 ? "is" : "are");
}

static void name_direction(const struct kab_mail_table *t, size_t ti, struct kab_check *ret)
{
	if (t->direction_stated)
		return;
	kab_check_add(ret, KAB_CHECK_LIMIT, (int)ti,
		      t->direction ? "which direction is better is not stated; %s is "
				     "inferred from the "
				     "words and units"
				   : "which direction is better is not stated%s",
		      t->direction < 0	 ? "lower"
		      : t->direction > 0 ? "higher"
					 : "");
}

/* ---- prose ---- */

/* "+-3% fluctuation", "< 1%" with a word for noise near it; the percentage or 0. */
static double stated_noise(const char *text)
{
	static const char *const words[] = { "fluctuation", "fluctuations", "noise",
					     "swing",	    "swings",	    "deviation",
					     "variance",    "variation",    "jitter",
					     "run-to-run",  "variability" };
	bool about = false;
	double v;

	for (size_t i = 0; i < KAB_ARRAY_SIZE(words); i++)
		about = about || kab_words_have(text, words[i]);
	if (!about)
		return 0;
	for (const char *p = text; *p; p++) {
		size_t n = !strncmp(p, "+/-", 3)      ? 3
			   : !strncmp(p, "+-", 2)     ? 2
			   : !strncmp(p, "\u00b1", 2) ? 2
			   : *p == '<' || *p == '~'   ? 1
						      : 0;
		const char *q = p + n;
		char *end;

		if (!n)
			continue;
		q += strspn(q, " ");
		v = isdigit((unsigned char)*q) ? strtod(q, &end) : 0;
		if (v > 0 && v < 50 && end[strspn(end, " ")] == '%')
			return v;
	}
	return 0;
}

static double change_of(const struct kab_check *check, size_t i)
{
	const struct kab_check_percent *p = &check->percents.v[i];

	return strtod(p->printed, NULL);
}

static void apply_noise(size_t ti, double noise, struct kab_check *ret)
{
	struct kab_buf kab_autobuf out = KAB_BUF_INIT;
	size_t n = 0, beyond = 0;

	for (size_t i = 0; i < ret->percents.n; i++) {
		if (ret->percents.v[i].table != ti)
			continue;
		n++;
		if (fabs(change_of(ret, i)) > noise) {
			beyond++;
			kab_buf_addf(&out, "%s%s (%s)", beyond > 1 ? ", " : "",
				     ret->percents.v[i].row_label, ret->percents.v[i].printed);
		}
	}
	for (size_t i = 0; i < ret->statistics.n; i++) {
		const struct kab_check_statistic *s = &ret->statistics.v[i];

		if (s->table != ti || s->kind != KAB_CHECK_GAIN)
			continue;
		n++;
		if (fabs(s->diff_pct) > noise) {
			beyond++;
			kab_buf_addf(&out, "%s%s (%+.2f%%)", beyond > 1 ? ", " : "", s->row,
				     s->diff_pct);
		}
	}
	if (!n)
		return;
	kab_check_add(ret, KAB_CHECK_LIMIT, (int)ti,
		      "the mail itself says that %g %% is noise: %zu of %zu changes are "
		      "within it%s%s",
		      noise, n - beyond, n, beyond ? "; beyond it: " : "", kab_buf_str(&out));
}

/* A sentence about noise belongs to the table that it names, else to the nth one, else to the nearest. */
static void prose_noise(const struct kab_mail_lines *lines, const struct kab_mail_tables *tables,
			struct kab_check *ret)
{
	bool *has = kab_xcalloc(tables->n + 1, sizeof(*has));

	for (size_t i = 0; i < lines->n; i++) {
		struct kab_buf kab_autobuf two = KAB_BUF_INIT;
		size_t best = tables->n;
		double noise;

		for (size_t t = 0; t < tables->n; t++)
			if (i >= tables->v[t].first_line && i <= tables->v[t].last_line)
				best = SIZE_MAX;
		if (best == SIZE_MAX)
			continue;
		kab_buf_add(&two, lines->v[i].text, lines->v[i].len);
		noise = stated_noise(kab_buf_str(&two));
		if (noise <= 0)
			continue;
		/* The first table above that has none yet; of several, the earliest. */
		for (size_t t = 0; t < tables->n && best == tables->n; t++)
			if (tables->v[t].last_line < i && !has[t] &&
			    tables->v[t].depth == lines->v[i].depth)
				best = t;
		if (best == tables->n)
			continue;
		has[best] = true;
		apply_noise(best, noise, ret);
	}
	free(has);
}

/* "3.5X faster" against the ratio of the means. */
static void prose_factors(const struct kab_mail_lines *lines, const struct kab_mail_tables *tables,
			  struct kab_check *ret)
{
	for (size_t i = 0; i < ret->statistics.n; i++) {
		const struct kab_check_statistic s = ret->statistics.v[i];
		double ratio = fmax(s.mean_base, s.mean_test) / fmin(s.mean_base, s.mean_test),
		       seen[8];
		size_t n_seen = 0;

		if (s.kind != KAB_CHECK_WELCH || !(ratio > 1.5) || tables->n > 2)
			continue;
		for (size_t l = 0; l < lines->n; l++)
			for (size_t k = 0; k + 2 < lines->v[l].len; k++) {
				const char *p = lines->v[l].text + k;
				char *end;
				bool again = false;
				double v;

				if (!isdigit((unsigned char)*p) ||
				    (k &&
				     (isalnum((unsigned char)p[-1]) || strchr(".,-_/", p[-1]))))
					continue;
				v = strtod(p, &end);
				if ((*end != 'x' && *end != 'X') ||
				    isalnum((unsigned char)end[1]) || v <= 1)
					continue;
				for (size_t k2 = 0; k2 < n_seen; k2++)
					again = again || seen[k2] == v;
				if (again || n_seen == KAB_ARRAY_SIZE(seen)) {
					k += (size_t)(end - p);
					continue;
				}
				seen[n_seen++] = v;
				if (v / ratio > 1.25 || v / ratio < 0.8)
					kab_check_add(ret, KAB_CHECK_ERROR, (int)s.table,
						      "the text says %.*sx; the means %.8g and "
						      "%.8g have the "
						      "ratio %.4g: wrong by a factor of %.4g",
						      (int)(end - p), p, s.mean_base, s.mean_test,
						      ratio, ratio > v ? ratio / v : v / ratio);
				else
					kab_check_add(ret, KAB_CHECK_NOTE, (int)s.table,
						      "the text says %.*sx; the means have the "
						      "ratio %.4g",
						      (int)(end - p), p, ratio);
				k += (size_t)(end - p);
			}
	}
}

static void prose_runs(const struct kab_mail_lines *lines, const struct kab_mail_tables *tables,
		       struct kab_check *ret)
{
	for (size_t i = 0; i < lines->n; i++) {
		char *text kab_autofree = kab_xstrndup(lines->v[i].text, lines->v[i].len);
		int n = kab_words_runs(text);
		bool used = false;

		for (size_t t = 0; t < tables->n; t++)
			used = used || tables->v[t].n_stated == n ||
			       (i >= tables->v[t].first_line && i <= tables->v[t].last_line);
		if (n && !used) {
			char *line kab_autofree = kab_line_trimmed(text, strlen(text));

			kab_check_add(ret, KAB_CHECK_NOTE, -1,
				      "n=%d is stated in the text (\"%.60s\"), not at a table", n,
				      line);
		}
	}
}

/* Tables of equal rows whose bases differ are not of one machine state. */
static void compare_bases(const struct kab_mail_tables *tables, struct kab_check *ret)
{
	for (size_t b = 1; b < tables->n; b++) {
		const struct kab_mail_table *ta = &tables->v[b - 1], *tb = &tables->v[b];
		const struct kab_mail_row *worst = NULL;
		double by = 0;

		if (ta->n_rows != tb->n_rows || ta->n_cols != tb->n_cols || !ta->n_cols ||
		    ta->style != tb->style || !*ta->title || strcmp(ta->title, tb->title) != 0 ||
		    ta->rows[0].summary || !*ta->rows[0].label)
			continue;
		for (size_t r = 0; r < ta->n_rows; r++) {
			const struct kab_item *x = &ta->rows[r].items[0],
					      *y = &tb->rows[r].items[0];

			if (strcmp(ta->rows[r].label, tb->rows[r].label) != 0 || !x->present ||
			    !y->present || x->value <= 0)
				break;
			if (fabs(y->value / x->value - 1) > fabs(by)) {
				by = y->value / x->value - 1;
				worst = &tb->rows[r];
			}
		}
		if (worst && fabs(by) > 0.1)
			kab_check_add(ret, KAB_CHECK_LIMIT, (int)b,
				      "the bases of tables %zu and %zu differ by up to %+.1f %% "
				      "(row '%s'): "
				      "they are of other kernels or conditions, and comparing "
				      "the "
				      "tables says "
				      "nothing about a patch",
				      b, b + 1, 100 * by, worst->label);
	}
}

static void compare_heads(const struct kab_mail_tables *tables, struct kab_check *ret)
{
	for (size_t b = 1; b < tables->n; b++) {
		const struct kab_mail_table *t[2] = { &tables->v[b - 1], &tables->v[b] };
		const char *heads[2][8];
		size_t n[2] = { 0, 0 };

		for (int k = 0; k < 2; k++)
			for (size_t c = 0; c < t[k]->n_cols && n[k] < 8; c++)
				if (kab_check_is_value(t[k], c) && *t[k]->cols[c].head)
					heads[k][n[k]++] = t[k]->cols[c].head;
		if (n[0] != n[1] || n[0] < 2 || strcmp(heads[0][0], heads[1][0]) != 0)
			continue;
		for (size_t i = 1; i < n[0]; i++)
			if (strcmp(heads[0][i], heads[1][i]) != 0)
				kab_check_add(ret, KAB_CHECK_NOTE, (int)b,
					      "kernel %zu is called '%s' here and '%s' in the "
					      "table before: "
					      "that they are the same is an assumption",
					      i + 1, heads[1][i], heads[0][i]);
	}
}

void kab_check_findings(const struct kab_mail_lines *lines, const struct kab_mail_tables *tables,
			struct kab_check *ret)
{
	for (size_t t = 0; t < tables->n; t++) {
		const struct kab_mail_table *table = &tables->v[t];

		count_percents(table, t, ret);
		name_wrong_percents(t, ret);
		name_marks(table, t, ret);
		name_statistics(tables, t, ret);
		name_spread(table, t, ret);
		name_direction(table, t, ret);
		if (table->style == KAB_MAIL_TABLE_NORM)
			kab_check_add(ret, KAB_CHECK_NOTE, (int)t,
				      "the base is the left kernel ('%s'): whether it has the "
				      "patch decides "
				      "what the sign says about it",
				      table->cols[0].head);
	}
	compare_bases(tables, ret);
	compare_heads(tables, ret);
	prose_noise(lines, tables, ret);
	prose_factors(lines, tables, ret);
	prose_runs(lines, tables, ret);
	if (!tables->n)
		kab_check_add(ret, KAB_CHECK_LIMIT, -1, "no table of numbers was found");
}

/* ---- for people ---- */

static void wrapped(const char *mark, const char *text, struct kab_buf *out)
{
	size_t width = 4;

	kab_buf_addf(out, "  %s ", mark);
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, " ");

		if (width > 4 && width + 1 + n > 76) {
			kab_buf_adds(out, "\n    ");
			width = 4;
		} else if (width > 4) {
			kab_buf_addc(out, ' ');
			width++;
		}
		kab_buf_add(out, p, n);
		width += n;
		p += n;
		p += strspn(p, " ");
	}
	kab_buf_addc(out, '\n');
}

static void findings_of(const struct kab_check *check, int table, struct kab_buf *out)
{
	static const char *const marks[] = { "-", "?", "!" };

	/* What does not add up comes first. */
	for (int severity = KAB_CHECK_ERROR; severity >= KAB_CHECK_NOTE; severity--)
		for (size_t i = 0; i < check->findings.n; i++)
			if (check->findings.v[i].table == table &&
			    (int)check->findings.v[i].severity == severity)
				wrapped(marks[severity], check->findings.v[i].text, out);
}

void kab_check_text(const struct kab_mail_tables *tables, const struct kab_check *check,
		    struct kab_buf *out)
{
	size_t errors = 0;

	for (size_t t = 0; t < tables->n; t++) {
		const struct kab_mail_table *table = &tables->v[t];

		kab_buf_addf(out, "Table %zu (%s, %zu row%s%s%s):\n", t + 1,
			     kab_mail_table_style_name(table->style), table->n_rows,
			     table->n_rows == 1 ? "" : "s", *table->title ? "; " : "",
			     table->title);
		findings_of(check, (int)t, out);
		kab_buf_addc(out, '\n');
	}
	if (tables->n)
		kab_buf_adds(out, "The mail:\n");
	for (size_t i = 0; i < check->findings.n; i++)
		errors += check->findings.v[i].severity == KAB_CHECK_ERROR;
	findings_of(check, -1, out);
	if (!tables->n)
		return;
	kab_buf_addf(out,
		     errors ? "  %zu thing%s do%s not add up (!); - is a note, ? is what the "
			      "numbers cannot "
			      "support.\n"
			    : "  Nothing is inconsistent beyond rounding.\n",
		     errors, errors == 1 ? "" : "s", errors == 1 ? "es" : "");
}
