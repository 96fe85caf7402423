/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobs/quarantine.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "engine/probe.h"
#include "store/nightly.h"

#define RECHECK_S 60

void kab_recheck_list_release(struct kab_recheck_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->v[i].host);
		free(list->v[i].since);
		free(list->v[i].reason);
	}
	free(list->v);
	*list = (struct kab_recheck_list){ 0 };
}

static struct kab_recheck *add(struct kab_recheck_list *list, const char *host,
			       const struct kab_quarantine_row *q, enum kab_recheck_answer answer)
{
	struct kab_recheck *r = KAB_PUSH(list);

	r->host = kab_xstrdup(host);
	r->since = kab_xstrdup(q ? q->date : "");
	r->reason = kab_xstrdup(q ? q->reason : "");
	r->answer = answer;
	return r;
}

static const struct kab_quarantine_row *find(const struct kab_quarantine_row *q, size_t n,
					     const char *host)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(q[i].host, host))
			return &q[i];
	return NULL;
}

/* Those that answer are released. */
static int settle(struct kab_store *store, const struct kab_probe_host *hosts, size_t n,
		  const struct kab_quarantine_row *q, size_t n_q, const char *who,
		  struct kab_recheck_list *ret, struct kab_err *err)
{
	for (size_t i = 0; i < n; i++) {
		const char *name = hosts[i].host->name;
		struct kab_recheck *r = add(ret, name, find(q, n_q, name),
					    hosts[i].failed ? KAB_RECHECK_STILL : KAB_RECHECK_BACK);

		r->err = hosts[i].err;
		if (!hosts[i].failed &&
		    kab_store_unquarantine(store, name, who, kab_now_wall_ns(), err) < 0)
			return -1;
	}
	return 0;
}

int kab_quarantine_recheck(struct kab_store *store, const struct kab_lab *lab,
			   const struct kab_strv *names, const char *who, int cancel_fd,
			   const struct kab_log *log, struct kab_recheck_list *ret,
			   struct kab_err *err)
{
	struct kab_strv kab_autostrv wanted = KAB_STRV_INIT;
	struct kab_quarantine_row *q = NULL;
	struct kab_probe_host *hosts;
	size_t n = 0, n_q = 0;
	int status = 0;

	if (kab_store_quarantined(store, &q, &n_q, err) < 0)
		return -1;
	kab_strv_copy(&wanted, names);
	for (size_t i = 0; i < n_q && !names->n; i++)
		kab_strv_add(&wanted, q[i].host);
	hosts = kab_xcalloc(wanted.n + 1, sizeof(*hosts));
	for (size_t i = 0; i < wanted.n; i++) {
		const struct kab_lab_host *host = kab_lab_find(lab, wanted.v[i]);
		const struct kab_quarantine_row *row = find(q, n_q, wanted.v[i]);

		if (!row)
			add(ret, wanted.v[i], NULL, KAB_RECHECK_FREE);
		else if (!host)
			add(ret, wanted.v[i], row, KAB_RECHECK_UNKNOWN);
		else
			hosts[n++].host = host;
	}
	kab_probe_all(hosts, n, RECHECK_S, cancel_fd, log);
	status = settle(store, hosts, n, q, n_q, who, ret, err);
	for (size_t i = 0; i < n; i++)
		kab_facts_release(&hosts[i].facts);
	for (size_t i = 0; i < n_q; i++)
		kab_quarantine_row_release(&q[i]);
	free(hosts);
	free(q);
	return status;
}
