/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kernels that kab puts on a host: packages, tarballs, images. The files are uploaded in pieces over
 * exec channels (no SFTP is needed), continued after a lost link, verified by hash on the host, and
 * unpacked there by install.sh into /boot/kab and /lib/modules/RELEASE. No menu, no default entry and
 * no file of the distribution's is changed. An artefact that is there already is not sent again.
 */
#ifndef KAB_ENGINE_INSTALL_H
#define KAB_ENGINE_INSTALL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strv.h"
#include "model/kernel.h"
#include "model/lab.h"
#include "transport/transport.h"

/* Is it of a kind that is installed from files? */
bool kab_install_has_files(const struct kab_kernel *kernel);

/*
 * Read the files of such a kernel: fills in kernel->key, makes their paths absolute, checks
 * ;sha256=, and finds the release of an uncompressed image when none was given. Blocks on disk. CONFIG errors
 * name the file. Other kinds pass.
 */
int kab_install_identify(struct kab_kernel *kernel, struct kab_err *err);

/* Two kernels that are different artefacts of one release, as far as that shows without a host: CONFIG error. */
int kab_install_conflicts(const struct kab_kernel_list *kernels, struct kab_err *err);

/* Can it be installed there? *problems and *touches get lines for the user; *ret_release (caller
 * frees) is set when it is installed already, else NULL. Changes nothing. */
int kab_install_check(const struct kab_lab_host *host, struct kab_session *s,
		      const struct kab_kernel *kernel, const struct kab_wait *wait,
		      struct kab_strv *problems, struct kab_strv *touches, char **ret_release,
		      struct kab_err *err);

struct kab_install {
	const struct kab_lab_host *host;
	struct kab_session *session; /* replaced when `reconnect` gives another */
	int cancel_fd; /* -1: never */
	/* The link is lost: another session in place of the dead one. NULL: then we give up. */
	int (*reconnect)(void *ctx, struct kab_session **ret, struct kab_err *err);
	/* Called now and then: we shall need the host for `seconds` more. May be NULL. */
	int (*alive)(void *ctx, int64_t seconds, struct kab_err *err);
	void (*note)(void *ctx, const char *text); /* progress, for people; may be NULL */
	void *ctx;
};

/*
 * Install an identified kernel. *ret_release (caller frees): its release. *ret_new: false when it was
 * there already. *warnings: what the host said ("the modules are of ..."). Blocks for minutes; REMOTE when the host
 * refuses (the text has the remedy; nothing is left of it there), CONFIG when a file has changed or
 * gone.
 */
int kab_install_kernel(struct kab_install *in, const struct kab_kernel *kernel, char **ret_release,
		       bool *ret_new, struct kab_strv *warnings, struct kab_err *err);

/* Remove what uploads left. */
int kab_install_tidy(const struct kab_lab_host *host, struct kab_session *s,
		     const struct kab_wait *wait, struct kab_err *err);

/* ---- what is there ---- */

struct kab_installed {
	char *release, *kind, *date; /* kind and date: "" unless kab installed it */
	bool ours, running, is_default, no_modules;
	int64_t kib; /* that ours takes; 0 unknown */
};
/* Caller frees *ret with kab_installed_free. */
int kab_install_list(const struct kab_lab_host *host, struct kab_session *s,
		     const struct kab_wait *wait, struct kab_installed **ret, size_t *ret_n,
		     struct kab_err *err);
void kab_installed_free(struct kab_installed *list, size_t n);

/* Remove a kernel that kab installed. REMOTE when it is not ours, runs, or is the default. *ret_last: no other is left. */
int kab_install_remove(const struct kab_lab_host *host, struct kab_session *s, const char *release,
		       const struct kab_wait *wait, bool *ret_last, struct kab_err *err);

#endif
