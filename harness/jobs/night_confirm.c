/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A fresh comparison of the two kernels between which a figure seems to have changed. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "jobs/history.h"
#include "jobs/night.h"

int kab_night_open_regressions(struct kab_night *night, size_t *ret_n, char **ret_why,
			       struct kab_err *err)
{
	struct kab_change_list list = { 0 };
	const struct kab_change *first = NULL;

	*ret_n = 0;
	*ret_why = NULL;
	if (kab_history_open_changes(night->env->store, night->c->name, &list, err) < 0)
		return -1;
	for (size_t i = 0; i < list.n; i++) {
		if (!list.v[i].regressed || list.v[i].recovered)
			continue;
		if (!first)
			first = &list.v[i];
		++*ret_n;
	}
	if (first) {
		char *name kab_autofree = kab_series_id_name(&first->series);

		*ret_why =
			*ret_n == 1
				? kab_xasprintf("%s regressed and is open since %s (change %lld)",
						name, first->since, (long long)first->id)
				: kab_xasprintf("%zu regressions are open, the first since %s "
						"(change %lld)",
						*ret_n, first->since, (long long)first->id);
	}
	kab_change_list_release(&list);
	return 0;
}

/* Ids of nominations that this night has a run for. */
static int tried_tonight(struct kab_night *night, struct kab_strv *ret, struct kab_err *err)
{
	struct kab_night_run_row *rows = NULL;
	size_t n = 0;

	if (kab_store_night_runs(night->env->store, night->row.id, &rows, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(rows[i].purpose, "confirm"))
			kab_strv_split(ret, rows[i].note, ',');
		kab_night_run_row_release(&rows[i]);
	}
	free(rows);
	return 0;
}

static bool together(const struct kab_change *a, const struct kab_change *b)
{
	return !strcmp(a->series.host, b->series.host) &&
	       !strcmp(a->before.label, b->before.label) && !strcmp(a->after.label, b->after.label);
}

struct group {
	struct kab_night_host *host;
	const struct kab_change *first;
	bool *cases; /* of the suite */
	struct kab_strv ids, names;
};

static void group_release(struct group *g)
{
	free(g->cases);
	kab_strv_release(&g->ids);
	kab_strv_release(&g->names);
}

/* How many boots of both kernels the window has room for; 0: not enough for a verdict. */
static int room_for(struct kab_night *night, const struct group *g,
		    const struct kab_kernel_list *kernels, int *ret, struct kab_err *err)
{
	size_t n = night->env->suite->cases_n, m = 0;
	struct kab_night_case *all kab_autofree = kab_xcalloc(n + 1, sizeof(*all));
	struct kab_night_case *mine kab_autofree = kab_xcalloc(n + 1, sizeof(*mine));
	bool *take kab_autofree = kab_xcalloc(n + 1, sizeof(*take));
	struct kab_night_fit fit = { .budget_s = kab_night_budget_s(night, g->host),
				     .reboot_s = kab_night_reboot_s(night, g->host),
				     .kernels = 2,
				     .boots = night->c->confirm_boots,
				     .min_boots = night->c->min_boots < night->c->confirm_boots
							  ? night->c->min_boots
							  : night->c->confirm_boots };
	double seconds = 0;

	if (kab_night_costs(night, g->host, kernels, all, err) < 0)
		return -1;
	for (size_t c = 0; c < n; c++)
		if (g->cases[c])
			mine[m++] = all[c];
	kab_night_fit(&fit, mine, m, ret, take, &seconds);
	/* All of them or none: what was nominated together is judged together. */
	for (size_t i = 0; i < m; i++)
		if (!take[i])
			*ret = 0;
	return 0;
}

static int make_one(struct kab_night *night, const struct group *g, size_t number, size_t *ret_n,
		    struct kab_err *err)
{
	const struct kab_kernel_ref *sides[] = { &g->first->before, &g->first->after };
	char *ids kab_autofree = kab_strv_join(&g->ids, ",");
	char *names kab_autofree = kab_strv_join(&g->names, ", ");
	char *suffix kab_autofree =
		number ? kab_xasprintf("-confirm-%zu", number + 1) : kab_xstrdup("-confirm");
	struct kab_kernel_list kernels = { 0 };
	struct kab_night_order order = { .host = g->host,
					 .purpose = "confirm",
					 .note = ids,
					 .name_suffix = suffix,
					 .kernels = &kernels,
					 .cases = g->cases };
	struct kab_err why = KAB_ERR_INIT;
	int status = 0;

	for (size_t i = 0; i < 2 && status == 0; i++)
		status = kab_night_add_kernel(&kernels, sides[i]->label, sides[i]->spec,
					      sides[i]->commit, NULL, &why);
	if (status < 0) {
		/* A kernel that is gone ends the question, not the night. */
		status = kab_night_remark(night, "unconfirmed", g->host->host->name, err,
					  "%s cannot be confirmed: %s", names, why.text);
		goto out;
	}
	status = room_for(night, g, &kernels, &order.boots, err);
	if (status == 0 && !order.boots) {
		status = kab_night_remark(night, "waits", g->host->host->name, err,
					  "the confirmation of %s waits for the next night: its "
					  "window has no room for it",
					  names);
	} else if (status == 0 && night->env->dry_run) {
		if (night->env->plan_text)
			kab_buf_addf(night->env->plan_text,
				     "  %s: to confirm %s: %d boots of '%s' and '%s'\n",
				     g->host->host->name, names, order.boots, sides[0]->label,
				     sides[1]->label);
	} else if (status == 0) {
		status = kab_night_make_run(night, &order, err);
		if (status == 0)
			++*ret_n;
		status = status < 0 ? -1 : 0;
	}
out:
	kab_kernel_list_release(&kernels);
	return status;
}

/* All nominations that can be settled by the same run as list.v[at]. */
static void gather(struct kab_night *night, const struct kab_change_list *list, size_t at,
		   const struct kab_strv *tried, bool *used, struct group *g)
{
	const struct kab_suite *suite = night->env->suite;

	g->first = &list->v[at];
	g->host = kab_night_host(night, g->first->series.host);
	g->cases = kab_xcalloc(suite->cases_n + 1, sizeof(bool));
	for (size_t i = at; i < list->n; i++) {
		const struct kab_change *c = &list->v[i];
		char *id kab_autofree = kab_xasprintf("%lld", (long long)c->id);
		bool known = false;

		if (used[i] || !together(g->first, c))
			continue;
		used[i] = true;
		if (kab_strv_has(tried, id))
			continue;
		for (size_t k = 0; k < suite->cases_n; k++) {
			if (strcmp(suite->cases[k].name, c->series.case_name) != 0)
				continue;
			g->cases[k] = true;
			known = true;
		}
		if (!known)
			continue; /* the suite has changed */
		kab_strv_add(&g->ids, id);
		kab_strv_take(&g->names, kab_series_id_name(&c->series));
	}
}

int kab_night_make_confirmations(struct kab_night *night, size_t *ret_n, struct kab_err *err)
{
	struct kab_strv kab_autostrv tried = KAB_STRV_INIT;
	struct kab_change_list list = { 0 };
	bool *used = NULL;
	int status = 0;

	*ret_n = 0;
	if (kab_history_confirmations(night->env->store, night->c->name, &list, err) < 0 ||
	    tried_tonight(night, &tried, err) < 0) {
		kab_change_list_release(&list);
		return -1;
	}
	used = kab_xcalloc(list.n + 1, sizeof(*used));
	for (size_t i = 0; i < list.n && status == 0 && !night->stopped; i++) {
		struct group g = { 0 };

		if (used[i])
			continue;
		gather(night, &list, i, &tried, used, &g);
		if (g.ids.n && g.host && g.host->probed && !g.host->failed && !g.host->busy)
			status = make_one(night, &g, tried.n + *ret_n, ret_n, err);
		group_release(&g);
	}
	free(used);
	kab_change_list_release(&list);
	return status;
}

static int settle(struct kab_night *night, const struct kab_night_run_row *row, struct kab_err *err)
{
	static const char *const words[] = {
		[KAB_CONFIRM_REGRESSED] = "regressed, confirmed",
		[KAB_CONFIRM_IMPROVED] = "improved, confirmed",
		[KAB_CONFIRM_REFUTED] = "refuted: no such change",
		[KAB_CONFIRM_OPEN] = "not decided",
	};
	struct kab_strv kab_autostrv ids = KAB_STRV_INIT;

	kab_strv_split(&ids, row->note, ',');
	for (size_t i = 0; i < ids.n; i++) {
		enum kab_confirm_verdict verdict = KAB_CONFIRM_OPEN;
		int64_t id = 0;

		if (kab_text_int(ids.v[i], &id) < 0)
			continue;
		if (kab_history_confirm(night->env->store, id, row->run_id, night->window.date,
					&verdict, err) < 0)
			return -1;
		kab_log(night->env->log, KAB_LOG_INFO, "change %s by run '%s': %s", ids.v[i],
			row->run_name, words[verdict]);
	}
	return 0;
}

int kab_night_settle_confirmations(struct kab_night *night, struct kab_err *err)
{
	struct kab_night_run_row *rows = NULL;
	size_t n = 0;
	int status = 0;

	if (kab_store_night_runs(night->env->store, night->row.id, &rows, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (status == 0 && !strcmp(rows[i].purpose, "confirm") && !rows[i].judged &&
		    rows[i].state == KAB_RUN_COMPLETE) {
			status = settle(night, &rows[i], err);
			if (status == 0)
				status = kab_store_night_judged(night->env->store, rows[i].run_id,
								err);
		}
		kab_night_run_row_release(&rows[i]);
	}
	free(rows);
	return status;
}
