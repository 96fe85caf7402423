/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A labelled kernel as the user names it: LABEL=SPEC, where SPEC is
 *   running | release:R | deb:PATH|URL[,...] | tar:PATH|URL |
 *   image:PATH[,initrd=PATH][,modules=PATH] | @FILE.json
 * and may go on with ;cmdline=... ;sha256=...
 * A @FILE.json has one of the keys "running": true, "release", "deb" (list), "tar", "image" (with
 * "initrd", "modules"), and may have "cmdline", "sha256", "commit", "build_id", "describe". Beside
 * "deb", "tar" or "image", "release" says what the artefact has to be. Or it has "hosts": an object of
 * such objects by host name, which take "cmdline", "commit" and "describe" from beside it where they
 * have none.
 */
#ifndef KAB_MODEL_KERNEL_H
#define KAB_MODEL_KERNEL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strv.h"
#include "model/facts.h"

enum kab_kernel_kind {
	KAB_KERNEL_RUNNING,
	KAB_KERNEL_RELEASE,
	KAB_KERNEL_DEB,
	KAB_KERNEL_TAR,
	KAB_KERNEL_IMAGE,
	KAB_KERNEL_BY_HOST, /* another one on each host */
};

struct kab_kernel_list;

struct kab_kernel {
	char *label;
	char *spec; /* as typed, without the label */
	enum kab_kernel_kind kind;
	char *release; /* for RELEASE; else NULL until known, or what the artefact has to be */
	struct kab_strv sources; /* DEB: one or more; TAR, IMAGE: one */
	char *initrd, *modules; /* IMAGE; may be NULL */
	char *cmdline; /* extra command line; NULL: none */
	char *sha256; /* of the (first) source; NULL: not given */
	char *key; /* DEB, TAR, IMAGE: hash over what the files hold; NULL until they were read */
	char *commit, *build_id, *describe; /* from @FILE.json; NULL: unknown */
	char *host; /* one of by_host: its host; else NULL */
	struct kab_kernel_list *by_host; /* BY_HOST; else NULL */
};

struct kab_kernel_list {
	struct kab_kernel *v;
	size_t n, cap;
};

/* Add "LABEL=SPEC"; a label that is there already is an error. USAGE or CONFIG errors. */
int kab_kernel_add(struct kab_kernel_list *list, const char *text, struct kab_err *err);
/* The kernel that the label means on that host: itself, or one of its by_host; NULL: none there. */
const struct kab_kernel *kab_kernel_for_host(const struct kab_kernel *kernel, const char *host);
/* Same kernel by what was typed (kind, sources, command line), labels apart. */
bool kab_kernel_same_spec(const struct kab_kernel *a, const struct kab_kernel *b);
/*
 * Is the kernel that runs on a host (facts) this one? 1 yes, 0 no; *ret_why (may be NULL; caller
 * frees) is a phrase for the reader: "runs 6.1.0-50, needs 6.12.95". RUNNING is always yes. Not for
 * BY_HOST: ask kab_kernel_for_host() first.
 */
int kab_kernel_matches(const struct kab_kernel *kernel, const struct kab_facts *facts,
		       char **ret_why);
/* For the stored plan: a kernel as an object, and back; files are not read again. */
json_t *kab_kernel_to_json(const struct kab_kernel *kernel);
int kab_kernel_from_json(struct kab_kernel_list *list, json_t *object, struct kab_err *err);
void kab_kernel_list_release(struct kab_kernel_list *list);

#endif
