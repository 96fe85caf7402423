/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One mail of an archive of the kind of lore.kernel.org: BASE/MESSAGE-ID/raw. */
#ifndef KAB_PUBLISH_ARCHIVE_H
#define KAB_PUBLISH_ARCHIVE_H

#include "publish/fetch.h"

#define KAB_ARCHIVE_DEFAULT "https://lore.kernel.org/r/"

/* "<id@host>" or "id@host", not a path. */
bool kab_archive_is_id(const char *text);
/* The URL of the raw mail: what is not allowed in a path is escaped. Caller frees. */
char *kab_archive_url(const char *base, const char *id);

#endif
