/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between kcidb_submit.c and kcidb_spool.c. */
#ifndef KAB_PUBLISH_KCIDB_SPOOL_H
#define KAB_PUBLISH_KCIDB_SPOOL_H

#include "publish/kcidb_submit.h"

/* Write down what is known of the entry; its report is dropped once it is DONE. */
int kab_kcidb_write(const struct kab_kcidb_entry *entry, struct kab_err *err);
/* Own the entry until *ret_fd is closed, and read it again: another kab may have been at it. The
 * report is the caller's; NULL when the entry has none any more. BUSY: somebody else owns it. */
int kab_kcidb_lock(struct kab_kcidb_entry *entry, int *ret_fd, char **ret_report,
		   struct kab_err *err);

#endif
