/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hosts of a night: which there are, which answer, and who goes into quarantine. */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "engine/probe.h"
#include "jobs/night.h"

#define PROBE_S 60

void kab_night_hosts_release(struct kab_night *night)
{
	for (size_t i = 0; i < night->n_hosts; i++) {
		kab_facts_release(&night->hosts[i].facts);
		free(night->hosts[i].reason);
		free(night->hosts[i].cases);
	}
	free(night->hosts);
	night->hosts = NULL;
	night->n_hosts = 0;
}

struct kab_night_host *kab_night_host(struct kab_night *night, const char *name)
{
	for (size_t i = 0; i < night->n_hosts; i++)
		if (!strcmp(night->hosts[i].host->name, name))
			return &night->hosts[i];
	return NULL;
}

/*
 * Most hosts have the window of the night. One with times of its own has them in the same night; when
 * that was begun by hand they are as far from its begin as they are in an ordinary night.
 */
static void set_window(struct kab_night *night, struct kab_night_host *h)
{
	const struct kab_window_def *def = kab_nightly_window(night->c, h->host->name);
	const int64_t day = 24 * 3600 * KAB_NS_PER_S;
	struct kab_window usual;

	h->window = night->window;
	if (def == &night->c->window)
		return;
	kab_window_of(&night->c->window, night->window.date, &usual);
	kab_window_of(def, night->window.date, &h->window);
	/* A window that begins after midnight belongs to the night that began the day before. */
	if (h->window.to_ns <= usual.from_ns) {
		h->window.from_ns += day;
		h->window.to_ns += day;
	}
	h->window.from_ns += night->window.from_ns - usual.from_ns;
	h->window.to_ns += night->window.from_ns - usual.from_ns;
}

static int add_host(struct kab_night *night, const struct kab_lab_host *host,
		    const struct kab_quarantine_row *q, size_t n_q, struct kab_err *err)
{
	struct kab_night_host *h;

	for (size_t i = 0; i < n_q; i++)
		if (!strcmp(q[i].host, host->name))
			return kab_night_remark(night, "quarantine", host->name, err,
						"in quarantine since %s: %s", q[i].date,
						q[i].reason);
	h = &night->hosts[night->n_hosts++];
	h->host = host;
	set_window(night, h);
	return 0;
}

int kab_night_find_hosts(struct kab_night *night, struct kab_err *err)
{
	const struct kab_lab *lab = night->env->lab;
	struct kab_quarantine_row *q = NULL;
	size_t n_q = 0, known = 0;
	int status;

	night->hosts = kab_xcalloc(lab->n + night->c->hosts.n + 1, sizeof(*night->hosts));
	if (kab_store_quarantined(night->env->store, &q, &n_q, err) < 0)
		return -1;
	status = 0;
	for (size_t i = 0; status == 0 && i < night->c->hosts.n; i++) {
		const struct kab_lab_host *host;

		status = kab_lab_need(lab, night->c->hosts.v[i], &host, err);
		if (status == 0)
			status = add_host(night, host, q, n_q, err);
		known++;
	}
	for (size_t i = 0; status == 0 && night->c->class_name && i < lab->n; i++) {
		if (strcmp(lab->v[i].class_name, night->c->class_name) != 0)
			continue;
		status = add_host(night, &lab->v[i], q, n_q, err);
		known++;
	}
	for (size_t i = 0; i < n_q; i++)
		kab_quarantine_row_release(&q[i]);
	free(q);
	if (status == 0 && !known)
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "no host of the lab has the class '%s'; see 'kab hosts'",
				   night->c->class_name);
	return status;
}

static void failed(struct kab_night *night, struct kab_night_host *h, const char *reason)
{
	night->failures = true;
	h->tried = true;
	h->failed = true;
	free(h->reason);
	h->reason = kab_xstrdup(reason);
}

static int probe_given(struct kab_night *night, struct kab_err *err)
{
	const struct kab_nightly_env *env = night->env;

	for (size_t i = 0; i < night->n_hosts; i++) {
		struct kab_night_host *h = &night->hosts[i];
		struct kab_err why = KAB_ERR_INIT;

		if (h->probed || h->failed)
			continue;
		if (env->probe(env->ctx, h->host, &h->facts, &why) == 0) {
			h->probed = true;
			continue;
		}
		failed(night, h, why.text);
		if (kab_night_remark(night, "host", h->host->name, err, "%s", why.text) < 0)
			return -1;
	}
	return 0;
}

int kab_night_probe(struct kab_night *night, struct kab_err *err)
{
	struct kab_probe_host *list;
	size_t n = 0;
	int status = 0;

	if (night->env->probe)
		return probe_given(night, err);
	list = kab_xcalloc(night->n_hosts + 1, sizeof(*list));
	for (size_t i = 0; i < night->n_hosts; i++)
		if (!night->hosts[i].probed && !night->hosts[i].failed)
			list[n++].host = night->hosts[i].host;
	kab_probe_all(list, n, PROBE_S, night->env->stop_fd, night->env->log);
	for (size_t i = 0; i < n; i++) {
		struct kab_night_host *h = kab_night_host(night, list[i].host->name);

		if (!list[i].failed) {
			h->facts = list[i].facts;
			h->probed = true;
			continue;
		}
		kab_facts_release(&list[i].facts);
		if (list[i].err.code == KAB_ERR_CANCELLED || kab_night_stopping(night)) {
			night->stopped = true;
			continue;
		}
		failed(night, h, list[i].err.text);
		if (status == 0)
			status = kab_night_remark(night, "host", h->host->name, err, "%s",
						  list[i].err.text);
	}
	free(list);
	return status;
}

int kab_night_settle_hosts(struct kab_night *night, struct kab_err *err)
{
	const char *tree = night->c->name, *date = night->window.date;

	for (size_t i = 0; i < night->n_hosts; i++) {
		struct kab_night_host *h = &night->hosts[i];
		char *reason kab_autofree = NULL;
		int in_row = 0;

		/* Leased by somebody else, cut off by its window: nothing is known of it. */
		if (!h->tried || h->busy || (h->cut && !h->failed))
			continue;
		if (kab_store_host_night(night->env->store, h->host->name, tree, date, h->failed,
					 h->reason, &in_row, err) < 0)
			return -1;
		if (!h->failed || in_row < night->c->quarantine_after)
			continue;
		reason = kab_xasprintf("failed in %d night%s in a row; last: %s", in_row,
				       in_row == 1 ? "" : "s", h->reason);
		if (kab_store_quarantine(night->env->store, h->host->name, tree, date, reason,
					 kab_night_now(night), err) < 0 ||
		    kab_night_remark(night, "quarantined", h->host->name, err, "%s", reason) < 0)
			return -1;
	}
	return 0;
}
