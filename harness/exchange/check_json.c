/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "exchange/check_internal.h"

static json_t *number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *text(const char *s)
{
	json_t *j = json_string(s);

	/* What is not UTF-8 cannot be a JSON string. */
	return j ? j : json_string("?");
}

static json_t *range(double lo, double hi)
{
	return isfinite(lo) && isfinite(hi) ? json_pack("[f,f]", lo, hi) : json_null();
}

static json_t *percents(const struct kab_check *check, size_t table)
{
	json_t *list = json_array();

	for (size_t i = 0; i < check->percents.n; i++) {
		const struct kab_check_percent *p = &check->percents.v[i];
		char convention[2] = { p->convention, '\0' };
		json_t *o;

		if (p->table != table)
			continue;
		o = json_object();
		json_object_set_new(o, "row", text(p->row_label));
		json_object_set_new(o, "column", text(p->column_label));
		json_object_set_new(o, "printed", text(p->printed));
		json_object_set_new(o, "base", number(p->base));
		json_object_set_new(o, "test", number(p->test));
		json_object_set_new(o, "recomputed", number(p->recomputed));
		json_object_set_new(o, "range", range(p->lo, p->hi));
		json_object_set_new(o, "convention",
				    p->convention ? json_string(convention) : json_null());
		json_object_set_new(o, "verdict", text(kab_check_verdict_name(p->verdict)));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *statistics(const struct kab_check *check, size_t table)
{
	static const char *const names[] = { "welch", "mean", "stddev", "gain" };
	json_t *list = json_array();

	for (size_t i = 0; i < check->statistics.n; i++) {
		const struct kab_check_statistic *s = &check->statistics.v[i];
		json_t *o;

		if (s->table != table)
			continue;
		o = json_object();
		json_object_set_new(o, "kind", text(names[s->kind]));
		json_object_set_new(o, "row", text(s->row));
		json_object_set_new(o, "column", text(s->column));
		if (s->kind == KAB_CHECK_MEAN || s->kind == KAB_CHECK_STDDEV) {
			json_object_set_new(o, "n", json_integer((json_int_t)s->n_test));
			json_object_set_new(o, "printed", number(s->printed));
			json_object_set_new(o, "recomputed", number(s->recomputed));
			json_object_set_new(o, "verdict", text(kab_check_verdict_name(s->verdict)));
			json_object_set_new(o, "formula",
					    s->formula ? text(s->formula) : json_null());
			json_array_append_new(list, o);
			continue;
		}
		json_object_set_new(o, "base", text(s->base));
		json_object_set_new(o, "mean_base", number(s->mean_base));
		json_object_set_new(o, "mean_test", number(s->mean_test));
		json_object_set_new(o, "diff", number(s->diff));
		json_object_set_new(o, "diff_pct", number(s->diff_pct));
		json_object_set_new(o, "gain_pct", number(s->gain_pct));
		if (s->kind == KAB_CHECK_WELCH) {
			json_object_set_new(o, "n_base", json_integer((json_int_t)s->n_base));
			json_object_set_new(o, "n_test", json_integer((json_int_t)s->n_test));
			json_object_set_new(o, "sd_base", number(s->sd_base));
			json_object_set_new(o, "sd_test", number(s->sd_test));
			json_object_set_new(o, "t", number(s->t));
			json_object_set_new(o, "t_base_minus_test", number(-s->t));
			json_object_set_new(o, "df", number(s->df));
			json_object_set_new(o, "p", number(s->p));
			json_object_set_new(o, "p_holm", number(s->p_holm));
			json_object_set_new(o, "ci95", range(s->ci_lo, s->ci_hi));
			json_object_set_new(o, "significant_0_05",
					    isfinite(s->p_holm) ? json_boolean(s->significant)
								: json_null());
		}
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *one_table(const struct kab_mail_table *t, const struct kab_check *check, size_t i)
{
	json_t *o = json_object(), *columns = json_array(), *rows = json_array();

	for (size_t c = 0; c < t->n_cols; c++)
		json_array_append_new(columns, text(t->cols[c].head));
	for (size_t r = 0; r < t->n_rows; r++) {
		json_t *cells = json_array();

		for (size_t c = 0; c < t->n_cols; c++) {
			const struct kab_item *item = &t->rows[r].items[c];

			if (!item->present) {
				json_array_append_new(cells, json_null());
				continue;
			}
			if (*item->shown_unit && strcmp(item->shown_unit, "m s") != 0) {
				char *both kab_autofree =
					kab_xasprintf("%s %s", item->printed, item->shown_unit);

				json_array_append_new(cells, text(both));
			} else {
				json_array_append_new(cells, text(item->printed));
			}
		}
		json_array_append_new(rows, json_pack("{s:o,s:o}", "label", text(t->rows[r].label),
						      "cells", cells));
	}
	json_object_set_new(o, "style", text(kab_mail_table_style_name(t->style)));
	json_object_set_new(o, "title", text(t->title));
	json_object_set_new(o, "depth", json_integer(t->depth));
	json_object_set_new(o, "direction",
			    t->direction ? text(t->direction < 0 ? "lower" : "higher")
					 : json_null());
	json_object_set_new(o, "direction_stated", json_boolean(t->direction_stated));
	json_object_set_new(o, "n", t->n_stated ? json_integer(t->n_stated) : json_null());
	json_object_set_new(o, "columns", columns);
	json_object_set_new(o, "rows", rows);
	json_object_set_new(o, "percents", percents(check, i));
	json_object_set_new(o, "statistics", statistics(check, i));
	return o;
}

void kab_check_json(const struct kab_mail_tables *tables, const struct kab_check *check,
		    struct kab_buf *out)
{
	static const char *const severity[] = { "note", "limit", "error" };
	json_t *root = json_object(), *list = json_array(), *findings = json_array();
	char *dump;

	for (size_t i = 0; i < tables->n; i++)
		json_array_append_new(list, one_table(&tables->v[i], check, i));
	for (size_t i = 0; i < check->findings.n; i++) {
		const struct kab_check_finding *f = &check->findings.v[i];
		json_t *o = json_object();

		json_object_set_new(o, "table",
				    f->table >= 0 ? json_integer(f->table) : json_null());
		json_object_set_new(o, "severity", text(severity[f->severity]));
		json_object_set_new(o, "text", text(f->text));
		json_array_append_new(findings, o);
	}
	json_object_set_new(root, "tables", list);
	json_object_set_new(root, "findings", findings);
	dump = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	kab_buf_adds(out, dump ? dump : "{}");
	kab_buf_addc(out, '\n');
	free(dump);
	json_decref(root);
}
