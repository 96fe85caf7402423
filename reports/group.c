/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which rows share a table, and what tells them apart in it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "reports/view_internal.h"

const char *kab_metric_base(const char *metric)
{
	const char *dot = strchr(metric, '.');

	return dot && dot != metric && dot[1] ? dot + 1 : metric;
}

/* "cpu" of "cpu.bogo_ops", "" without a part. Caller frees. */
static char *part_of(const char *metric)
{
	const char *base = kab_metric_base(metric);

	return kab_xstrndup(metric, base > metric ? (size_t)(base - metric) - 1 : 0);
}

static bool same_group(const struct kab_row_data *a, const struct kab_row_data *b)
{
	return !strcmp(a->runner, b->runner) &&
	       !strcmp(kab_metric_base(a->metric), kab_metric_base(b->metric)) &&
	       !strcmp(a->unit, b->unit) && a->dir == b->dir;
}

static double effect(const struct kab_judged_row *row)
{
	double worst = INFINITY;

	for (size_t i = 0; i < row->n_pairs; i++)
		if (isfinite(row->pairs[i].gain_pct) && row->pairs[i].gain_pct < worst)
			worst = row->pairs[i].gain_pct;
	return worst;
}

static int by_effect(const void *a, const void *b, void *judgement)
{
	const struct kab_judgement *j = judgement;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	double ex = effect(&j->v[x]), ey = effect(&j->v[y]);

	if (ex != ey)
		return ex < ey ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void add(struct kab_group *g, size_t row)
{
	g->rows = kab_xreallocarray(g->rows, g->n + 1, sizeof(*g->rows));
	g->rows[g->n++] = row;
}

void kab_groups_make(const struct kab_judgement *judgement, const char *metric, enum kab_sort sort,
		     struct kab_groups *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->other.judgement = judgement;
	for (size_t r = 0; r < judgement->n; r++) {
		const struct kab_judged_row *row = &judgement->v[r];
		struct kab_group *g = NULL;

		if (metric && strcmp(metric, row->data->metric) != 0)
			continue;
		if (!metric && !row->verdict) {
			add(&ret->other, r);
			continue;
		}
		for (size_t i = 0; i < ret->n && !g; i++)
			if (same_group(kab_group_row(&ret->v[i], 0)->data, row->data))
				g = &ret->v[i];
		if (!g) {
			g = KAB_PUSH(ret);
			g->judgement = judgement;
		}
		add(g, r);
	}
	if (sort == KAB_SORT_EFFECT)
		for (size_t i = 0; i < ret->n; i++)
			qsort_r(ret->v[i].rows, ret->v[i].n, sizeof(size_t), by_effect,
				(void *)judgement);
}

void kab_groups_release(struct kab_groups *groups)
{
	for (size_t i = 0; i < groups->n; i++)
		free(groups->v[i].rows);
	free(groups->v);
	free(groups->other.rows);
	memset(groups, 0, sizeof(*groups));
}

size_t kab_group_kernels(const struct kab_group *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++)
		if (kab_group_row(g, i)->n_sets > n)
			n = kab_group_row(g, i)->n_sets;
	return n;
}

const char *kab_group_kernel(const struct kab_group *g, size_t k)
{
	for (size_t i = 0; i < g->n; i++)
		if (k < kab_group_row(g, i)->n_sets)
			return kab_group_row(g, i)->sets[k].data->kernel;
	return "?";
}

const char *kab_view_kernel(const struct kab_group *g, const struct kab_view_opts *opts, size_t k,
			    char buf[32])
{
	if (!opts->short_labels)
		return kab_group_kernel(g, k);
	if (k == 0)
		return "base";
	if (kab_group_kernels(g) == 2)
		return "test";
	snprintf(buf, 32, "test%zu", k);
	return buf;
}

bool kab_group_mixed(const struct kab_group *g)
{
	for (size_t i = 1; i < g->n; i++)
		if (strcmp(kab_metric_base(kab_group_row(g, i)->data->metric),
			   kab_metric_base(kab_group_row(g, 0)->data->metric)))
			return true;
	return false;
}

bool kab_group_any(const struct kab_group *g, bool (*is)(const struct kab_pair *))
{
	for (size_t i = 0; i < g->n; i++)
		for (size_t p = 0; p < kab_group_row(g, i)->n_pairs; p++)
			if (is(&kab_group_row(g, i)->pairs[p]))
				return true;
	return false;
}

/* Keys of "groups=4,fds=2": their names, in order. False when a part has no "=". */
static bool keys_of(const char *row_key, struct kab_strv *keys)
{
	struct kab_strv kab_autostrv parts = KAB_STRV_INIT;

	kab_strv_split(&parts, row_key, ',');
	for (size_t i = 0; i < parts.n; i++) {
		const char *eq = strchr(parts.v[i], '=');

		if (!eq || eq == parts.v[i])
			return false;
		kab_strv_add_n(keys, parts.v[i], (size_t)(eq - parts.v[i]));
	}
	return true;
}

static char *value_of(const char *row_key, size_t i)
{
	struct kab_strv kab_autostrv parts = KAB_STRV_INIT;

	kab_strv_split(&parts, row_key, ',');
	if (i >= parts.n)
		return kab_xstrdup("");
	return kab_xstrdup(strchr(parts.v[i], '=') ? strchr(parts.v[i], '=') + 1 : parts.v[i]);
}

/* A key with one value tells no rows apart; it is said once, in the title. */
static void hide_fixed(const struct kab_group *g, struct kab_labels *l)
{
	l->hide = kab_xcalloc(l->keys.n + 1, sizeof(*l->hide));
	for (size_t k = 0; k < l->keys.n && g->n > 1; k++) {
		char *first kab_autofree = value_of(kab_group_row(g, 0)->data->row_key, k);

		l->hide[k] = true;
		for (size_t i = 1; i < g->n && l->hide[k]; i++) {
			char *value kab_autofree = value_of(kab_group_row(g, i)->data->row_key, k);

			l->hide[k] = !strcmp(value, first);
		}
		if (l->hide[k])
			kab_strv_addf(&l->fixed, "%s=%s", l->keys.v[k], first);
	}
}

void kab_labels_find(const struct kab_group *g, bool with_metric, struct kab_labels *ret)
{
	const struct kab_row_data *first = kab_group_row(g, 0)->data;
	bool keyed = keys_of(first->row_key, &ret->keys);

	ret->host = ret->condition = ret->case_name = ret->whole_key = ret->part = false;
	ret->metric = with_metric;
	for (size_t i = 0; i < g->n; i++) {
		const struct kab_row_data *row = kab_group_row(g, i)->data;
		struct kab_strv kab_autostrv keys = KAB_STRV_INIT;

		ret->host |= strcmp(row->host, first->host) != 0;
		ret->condition |= *row->condition != '\0';
		ret->case_name |= strcmp(row->case_name, first->case_name) != 0;
		ret->whole_key |= *row->row_key != '\0';
		ret->part |= !with_metric && strcmp(row->metric, first->metric) != 0;
		keyed = keyed && keys_of(row->row_key, &keys) && kab_strv_equal(&keys, &ret->keys);
	}
	if (keyed)
		ret->whole_key = false;
	else
		kab_strv_release(&ret->keys);
	hide_fixed(g, ret);
	if (!ret->host && !ret->condition && ret->keys.n == ret->fixed.n && !ret->whole_key &&
	    !ret->metric && !ret->part)
		ret->case_name = true;
}

void kab_labels_columns(const struct kab_labels *l, struct kab_table *t)
{
	if (l->host)
		kab_table_column(t, KAB_ROLE_LABEL, -1, "host", NULL, NULL)->left = true;
	if (l->condition)
		kab_table_column(t, KAB_ROLE_LABEL, -1, "condition", NULL, NULL)->left = true;
	if (l->case_name)
		kab_table_column(t, KAB_ROLE_LABEL, -1, "case", NULL, NULL)->left = true;
	if (l->part)
		kab_table_column(t, KAB_ROLE_LABEL, -1, "part", NULL, NULL)->left = true;
	for (size_t i = 0; i < l->keys.n; i++)
		if (!l->hide[i])
			kab_table_column(t, KAB_ROLE_LABEL, -1, l->keys.v[i], NULL, NULL)->left =
				false;
	if (l->whole_key)
		kab_table_column(t, KAB_ROLE_LABEL, -1, "row", NULL, NULL)->left = true;
	if (l->metric)
		kab_table_column(t, KAB_ROLE_LABEL, -1, "metric", NULL, NULL)->left = true;
}

void kab_labels_cells(const struct kab_labels *l, const struct kab_judged_row *row,
		      struct kab_cell *cells)
{
	size_t c = 0;

	if (l->host)
		kab_cell_text(&cells[c++], row->data->host);
	if (l->condition)
		kab_cell_text(&cells[c++], row->data->condition);
	if (l->case_name)
		kab_cell_text(&cells[c++], row->data->case_name);
	if (l->part) {
		char *part kab_autofree = part_of(row->data->metric);

		kab_cell_text(&cells[c++], part);
	}
	for (size_t i = 0; i < l->keys.n; i++) {
		char *value;

		if (l->hide[i])
			continue;
		value = value_of(row->data->row_key, i);
		kab_cell_text(&cells[c++], value);
		free(value);
	}
	if (l->whole_key)
		kab_cell_text(&cells[c++], row->data->row_key);
	if (l->metric) {
		char *text = *row->data->unit
				     ? kab_xasprintf("%s (%s)", row->data->metric, row->data->unit)
				     : kab_xstrdup(row->data->metric);

		kab_cell_text(&cells[c++], text);
		free(text);
	}
}

/* How a value of a sweep is written: "groups=4", "4-groups", "4". */
enum label_form { KEY_EQUALS_VALUE, VALUE_KEY, VALUE_ALONE };

static char *label(const struct kab_labels *l, const struct kab_judged_row *row,
		   enum label_form form)
{
	struct kab_strv kab_autostrv parts = KAB_STRV_INIT;

	if (l->host)
		kab_strv_add(&parts, row->data->host);
	if (l->condition && *row->data->condition)
		kab_strv_add(&parts, row->data->condition);
	if (l->case_name)
		kab_strv_add(&parts, row->data->case_name);
	if (l->part)
		kab_strv_take(&parts, part_of(row->data->metric));
	for (size_t i = 0; i < l->keys.n; i++) {
		char *value;

		if (l->hide[i])
			continue;
		value = value_of(row->data->row_key, i);
		if (form == KEY_EQUALS_VALUE)
			kab_strv_addf(&parts, "%s=%s", l->keys.v[i], value);
		else if (form == VALUE_KEY)
			kab_strv_addf(&parts, "%s-%s", value, l->keys.v[i]);
		else
			kab_strv_add(&parts, value);
		free(value);
	}
	if (l->whole_key && *row->data->row_key)
		kab_strv_add(&parts, row->data->row_key);
	if (l->metric && form == KEY_EQUALS_VALUE)
		kab_strv_add(&parts, row->data->metric);
	return kab_strv_join(&parts, form == KEY_EQUALS_VALUE ? " " : "/");
}

char *kab_labels_text(const struct kab_labels *l, const struct kab_judged_row *row)
{
	return label(l, row, KEY_EQUALS_VALUE);
}

char *kab_labels_load(const struct kab_labels *l, const struct kab_judged_row *row, bool with_keys)
{
	return label(l, row, with_keys ? VALUE_KEY : VALUE_ALONE);
}

struct kab_column *kab_view_column(struct kab_table *t, enum kab_role role, size_t k,
				   const char *label, const char *what, const char *head)
{
	char *name = *what ? kab_xasprintf("%s_%s", label, what) : kab_xstrdup(label);
	struct kab_column *col = kab_table_column(t, role, (int)k, name, head, label);

	free(name);
	return col;
}

void kab_labels_release(struct kab_labels *l)
{
	kab_strv_release(&l->keys);
	kab_strv_release(&l->fixed);
	free(l->hide);
}
