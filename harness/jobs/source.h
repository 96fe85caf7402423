/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where kernels come from. Looking gives candidates, the newest last; one that is chosen is adopted: its
 * files are fetched, checked and copied, so that it can still be booted when a change is confirmed
 * nights later and the source has long thrown it away.
 *
 * Everything blocks. Errors are those of files (NOT_FOUND, ENV), of the network (CONNECT, TIMEOUT, ...)
 * and CONFIG for what a source says that cannot be used.
 */
#ifndef KAB_JOBS_SOURCE_H
#define KAB_JOBS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "model/nightly.h"
#include "store/nightly.h"

struct kab_candidate {
	char *label; /* a label for a kernel, made from what the source calls it */
	char *spec; /* as behind LABEL= of `kab run`; may hold URLs */
	char *identity; /* what makes it another kernel; NULL: its files, or its spec */
	char *sha256; /* of its first file; NULL: not given */
	char *commit, *describe; /* NULL: unknown */
	bool is_release;
};
struct kab_candidates {
	struct kab_candidate *v;
	size_t n, cap;
};
void kab_candidate_release(struct kab_candidate *c);
void kab_candidates_release(struct kab_candidates *list);

struct kab_source_env {
	const char *cache; /* folder for downloads; made when missing */
	const char *keep; /* folder for the files of adopted kernels; made when missing */
	int cancel_fd;
	const struct kab_log *log;
};

/* What the source has now, appended to *ret. Errors do not name the source: who asks several does. */
int kab_source_look(const struct kab_source_def *def, const struct kab_source_env *env,
		    struct kab_candidates *ret, struct kab_err *err);

/*
 * Fetch and keep the files of a candidate, and say who it is: identity, and a spec that lasts, which
 * names local files with their hash. *ret: strings are owned by the caller; source is not filled.
 */
int kab_source_adopt(const struct kab_candidate *c, const struct kab_source_env *env,
		     struct kab_night_kernel *ret, struct kab_err *err);

/* ---- its parts ---- */
int kab_source_look_folder(const struct kab_source_def *def, const struct kab_source_env *env,
			   struct kab_candidates *ret, struct kab_err *err);
int kab_source_look_index(const struct kab_source_def *def, const struct kab_source_env *env,
			  struct kab_candidates *ret, struct kab_err *err);
int kab_source_look_feed(const struct kab_source_def *def, const struct kab_source_env *env,
			 struct kab_candidates *ret, struct kab_err *err);
int kab_source_look_hook(const struct kab_source_def *def, const struct kab_source_env *env,
			 struct kab_candidates *ret, struct kab_err *err);

/* Kernels as JSON, as a hook prints them. `place` names the text in messages. */
int kab_source_read_kernels(const char *place, const char *bytes, size_t n,
			    struct kab_candidates *ret, struct kab_err *err);
/* Versions of a releases.json, in order of time, those of the monikers (empty: mainline). */
struct kab_feed_entry {
	char *version, *moniker;
	int64_t time_s;
};
struct kab_feed {
	struct kab_feed_entry *v;
	size_t n, cap;
};
int kab_source_read_feed(const char *place, const char *bytes, size_t n,
			 const struct kab_strv *monikers, struct kab_feed *ret,
			 struct kab_err *err);
void kab_feed_release(struct kab_feed *feed);
/* The file names that a page links to in its own folder, in order, each once. */
void kab_source_read_page(const char *html, size_t n, struct kab_strv *ret);
/* The hash of a file in the text of a SHA256SUMS or FILE.sha256, into hex; false: it is not there. */
bool kab_source_find_sum(const char *text, const char *file, char hex[65]);

/* "linux-image-6.12.0-rc3_6.12.0-7_amd64.deb" -> "6.12.0-rc3". Caller frees; NULL when it is no kernel
 * that kab can install. *ret_prefix: "deb", "tar" or "image"; a constant. */
char *kab_source_label_of(const char *file, const char **ret_prefix);
/* Versions in order, 6.12-rc7 before 6.12 and that before 6.12.1: as strcmp. */
int kab_source_version_cmp(const char *a, const char *b);
/* Does a version count as a release? releases NULL: numbers and points only. */
bool kab_source_is_release(const char *releases, const char *version);
/* A download into the cache as bytes. */
int kab_source_fetch(const char *url, const struct kab_source_env *env, double timeout_s,
		     struct kab_buf *ret, struct kab_err *err);

#endif
