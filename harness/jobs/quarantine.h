/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hosts in quarantine: those that failed in several nights in a row. They come back when somebody has
 * looked at them and they answer.
 */
#ifndef KAB_JOBS_QUARANTINE_H
#define KAB_JOBS_QUARANTINE_H

#include <stddef.h>

#include "base/err.h"
#include "base/log.h"
#include "base/strv.h"
#include "model/lab.h"
#include "store/store.h"

enum kab_recheck_answer {
	KAB_RECHECK_BACK, /* it answers, and is released */
	KAB_RECHECK_STILL, /* it does not: err says why */
	KAB_RECHECK_FREE, /* it was not in quarantine */
	KAB_RECHECK_UNKNOWN, /* it is in quarantine, and not in this lab file */
};
struct kab_recheck {
	char *host, *since, *reason; /* of the quarantine; since and reason "" when FREE */
	enum kab_recheck_answer answer;
	struct kab_err err;
};
struct kab_recheck_list {
	struct kab_recheck *v;
	size_t n, cap;
};
void kab_recheck_list_release(struct kab_recheck_list *list);

/* Connect to the hosts named (none: all that are in quarantine) and release those that answer. Blocks,
 * a minute at most. who: for the record. */
int kab_quarantine_recheck(struct kab_store *store, const struct kab_lab *lab,
			   const struct kab_strv *names, const char *who, int cancel_fd,
			   const struct kab_log *log, struct kab_recheck_list *ret,
			   struct kab_err *err);

#endif
