/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A nightly file: one tree of kernels that is measured every night. Loaded from JSON; pure apart from
 * reading the file. Relative paths in it are taken from the folder of the file.
 */
#ifndef KAB_MODEL_NIGHTLY_H
#define KAB_MODEL_NIGHTLY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"
#include "base/strv.h"

/* Where kernels come from. */
enum kab_source_kind {
	KAB_SOURCE_FOLDER, /* files of a folder */
	KAB_SOURCE_INDEX, /* links of a web page */
	KAB_SOURCE_FEED, /* a JSON document like kernel.org's releases.json */
	KAB_SOURCE_HOOK, /* a program that prints kernels as JSON */
};
const char *kab_source_kind_name(enum kab_source_kind kind);

struct kab_source_def {
	char *name;
	enum kab_source_kind kind;
	char *path; /* FOLDER */
	char *url; /* INDEX, FEED */
	char *pattern; /* FOLDER, INDEX: glob of file names; NULL: what kab can install */
	char *releases; /* glob of versions that count as a release; NULL: see jobs/source.h */
	struct kab_strv command; /* HOOK; FEED: prints the artefact of a version, appended */
	struct kab_strv monikers; /* FEED: which entries; empty: mainline */
	char *spec; /* FEED: SPEC with {version} in it; NULL: the command says */
	double timeout_s; /* of a command or download */
};

/* What the newest kernel is compared with. */
enum kab_baseline_policy {
	KAB_BASELINE_FIXED,
	KAB_BASELINE_RELEASE, /* the last release that was measured */
	KAB_BASELINE_GOOD, /* the last kernel without a confirmed change that is open */
	KAB_BASELINE_PREVIOUS, /* that of the night before */
};
const char *kab_baseline_policy_name(enum kab_baseline_policy policy);

/* What a night without a new kernel is used for. */
enum kab_unchanged_policy {
	KAB_UNCHANGED_SKIP,
	KAB_UNCHANGED_AA, /* the reference kernel twice: the noise of each host */
	KAB_UNCHANGED_MORE, /* more boots where intervals are widest */
};
const char *kab_unchanged_policy_name(enum kab_unchanged_policy policy);

/* Local time of the controller. end_min <= start_min: it ends the day after. */
struct kab_window_def {
	int start_min, end_min; /* minutes since midnight */
	unsigned days; /* bit 0 is Sunday: days on which it starts */
};

struct kab_host_window {
	char *host;
	struct kab_window_def window; /* days as the common window */
};

enum kab_mail_when {
	KAB_MAIL_NEWS, /* confirmed changes, kernels that do not boot, hosts in quarantine */
	KAB_MAIL_ALWAYS, /* every measured night */
	KAB_MAIL_NEVER,
};

struct kab_mail_account {
	char *server; /* NULL: no mail is sent */
	int port; /* 0: by encryption */
	char *encryption; /* "tls" (STARTTLS), "ssl", "none" */
	char *user, *password_file, *ca_file; /* NULL: none */
};

/* Default of min_boots: with fewer boots a verdict has little to go on. */
#define KAB_NIGHTLY_MIN_BOOTS 5

struct kab_nightly {
	char *name; /* the tree */
	char *file; /* where it was read, absolute */
	char *dir; /* its folder, absolute */
	char *lab; /* path; NULL: as for other commands */
	char *suite; /* path or name */
	struct kab_strv hosts; /* names; empty: by class */
	char *class_name; /* NULL: by hosts */
	bool spread; /* each case on one host of them; else every case on every host */
	struct kab_source_def *sources;
	size_t n_sources;
	char *reference; /* "LABEL=SPEC": measured in every night */
	enum kab_baseline_policy baseline;
	char *baseline_kernel; /* FIXED: "LABEL=SPEC" */
	enum kab_unchanged_policy unchanged;
	struct kab_window_def window;
	struct kab_host_window *host_windows;
	size_t n_host_windows;
	double margin_s; /* nothing is planned into the last seconds of a window */
	int boots; /* per kernel; 0: as the suite says */
	int min_boots; /* cutting stops here */
	bool min_boots_lowered; /* from its default, to boots */
	int confirm_boots;
	int quarantine_after; /* failed nights in a row */
	int keep_kernels; /* of earlier nights that stay on a host and in the state folder */
	struct {
		char *from; /* NULL: no mail */
		struct kab_strv to, cc;
		enum kab_mail_when when;
		int digest; /* 0 Sunday .. 6 Saturday; -1: none */
		struct kab_mail_account account;
	} mail;
	char *state; /* folder of lock, logs and heartbeat; NULL: below XDG_STATE_HOME */
	char *archive; /* folder that gets a folder a night; NULL: none */
	struct kab_strv publish; /* command that gets that folder appended; empty: none */
	int logs; /* that are kept */
};

int kab_nightly_load(const char *file, struct kab_nightly *ret, struct kab_err *err);
/* file: for messages and for relative paths. */
int kab_nightly_load_json(json_t *doc, const char *file, struct kab_nightly *ret,
			  struct kab_err *err);
void kab_nightly_release(struct kab_nightly *nightly);
/* The window of a host; borrowed. */
const struct kab_window_def *kab_nightly_window(const struct kab_nightly *n, const char *host);

/* ---- nightly_source.c ---- */
int kab_source_def_load(const struct kab_json *node, const char *dir, struct kab_source_def *ret,
			struct kab_err *err);
void kab_source_def_release(struct kab_source_def *def);

#endif
