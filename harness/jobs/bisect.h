/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which commit changed a figure: kernels are built by a hook, measured in blocks together with the
 * good end, and the search ends with a fresh comparison of the culprit with its parent. All that is
 * known is in the store, so that a search which was stopped or killed goes on where it was.
 */
#ifndef KAB_JOBS_BISECT_H
#define KAB_JOBS_BISECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strv.h"
#include "jobs/measure.h"
#include "store/history.h"

struct kab_bisect_setup {
	char *name; /* label of the search */
	char *suite, *host; /* for kab_measure */
	char *repo; /* where git and the hook run; NULL: here */
	struct kab_strv hook; /* argv; the revision is appended */
	char *good, *bad; /* as given */
	char *case_name, *metric; /* what is looked at; NULL: what changed most clearly */
	int boots; /* of each end point, and of the last comparison; at least 4 */
	int max_boots; /* of one commit; then it is skipped */
	uint64_t seed;
	bool steps; /* git does the search: only steps are asked for */
};
void kab_bisect_setup_release(struct kab_bisect_setup *setup);
/* As stored; caller frees. */
char *kab_bisect_setup_json(const struct kab_bisect_setup *setup);
int kab_bisect_setup_from_json(const char *json, struct kab_bisect_setup *ret, struct kab_err *err);

struct kab_bisect_env {
	struct kab_store *store; /* WRITE */
	struct kab_measurer measurer;
	int cancel_fd; /* -1: never; ends the hook */
	/* A line for the user about what is going on. May be NULL. */
	void (*say)(void *ctx, const char *text);
	/* Build a revision. NULL: the hook. 0: *ret_spec; 1: it cannot be built, *ret_why. */
	int (*build)(void *ctx, const char *revision, char **ret_spec, char **ret_why,
		     struct kab_err *err);
	void *ctx;
};

enum kab_bisect_end {
	KAB_BISECT_FOUND, /* and confirmed against its parent */
	KAB_BISECT_STUCK, /* narrowed down, but not further, or not confirmed */
	KAB_BISECT_REFUSED, /* the end points show no verdict */
	KAB_BISECT_STOPPED, /* by the user; goes on with the next call */
};
struct kab_bisect_result {
	enum kab_bisect_end end;
	char *text; /* for people, several lines; caller frees */
	char *culprit; /* revision; NULL unless FOUND; caller frees */
	double probability;
};

/* Begin: the commits from good (first) to bad (last). */
int kab_bisect_begin(struct kab_store *store, const struct kab_bisect_setup *setup,
		     const struct kab_bisect_commits *commits, int64_t now_ns, struct kab_err *err);
/* The search of that name, or with NULL the newest. NOT_FOUND names those that there are. Caller
 * releases. */
int kab_bisect_find(struct kab_store *store, const char *name, struct kab_bisect_row *ret,
		    struct kab_err *err);
/* From now on another hook: `program` (NULL: as before) with `words` (none: as before). *ret_hook is
 * the whole of it, appended. CONFIG when the search has ended. */
int kab_bisect_set_hook(struct kab_store *store, const char *name, const char *program,
			const struct kab_strv *words, struct kab_strv *ret_hook,
			struct kab_err *err);
/* Go on until the end. -1: it is paused (host, lab, hook, too many failures), and may be gone on with. */
int kab_bisect_go(const struct kab_bisect_env *env, const char *name, struct kab_bisect_result *ret,
		  struct kab_err *err);

enum kab_bisect_answer {
	KAB_BISECT_ANSWER_GOOD,
	KAB_BISECT_ANSWER_BAD,
	KAB_BISECT_ANSWER_SKIP, /* cannot tell, does not build, does not boot */
};
/* One revision, for `git bisect run`. -1: the lab is broken, or the end points show no verdict. */
int kab_bisect_step(const struct kab_bisect_env *env, const char *name, const char *revision,
		    enum kab_bisect_answer *ret, char **ret_why, struct kab_err *err);

/* ---- bisect_git.c ---- */
/* The commits of a first-parent line from good to bad, both included. CONFIG when good is no ancestor. */
int kab_bisect_git(const char *repo, const char *good, const char *bad,
		   struct kab_bisect_commits *ret, struct kab_err *err);
/* The full name of a revision. Caller frees. */
int kab_bisect_rev_parse(const char *repo, const char *revision, char **ret, struct kab_err *err);
/* "REVISION [SUBJECT]" a line, the good one first. */
int kab_bisect_list_file(const char *file, struct kab_bisect_commits *ret, struct kab_err *err);
/* What is executed for a hook that was given here and is to work everywhere: a path with a slash made
 * absolute, or a name that PATH knows. CONFIG when it is not there or no program. Caller frees. */
int kab_bisect_hook_path(const char *given, char **ret, struct kab_err *err);
/* Run the hook: it prints {"spec": "..."}. Exit status 125 says that the revision cannot be built: 1
 * and *ret_why. Any other failure is an error of the lab. */
int kab_bisect_hook(const struct kab_strv *hook, const char *repo, const char *revision,
		    int cancel_fd, char **ret_spec, char **ret_why, struct kab_err *err);

#endif
