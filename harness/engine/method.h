/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Boot methods: how the kernel of the next boot is chosen, once, and how the host is restarted.
 * grub, systemd-boot and kexec run a script on the host; command is a hook on the controller.
 * The default entry of a host is never changed.
 */
#ifndef KAB_ENGINE_METHOD_H
#define KAB_ENGINE_METHOD_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strv.h"
#include "model/facts.h"
#include "model/lab.h"
#include "transport/transport.h"

/* Where the method works: a session to the host and its description. Borrowed. */
struct kab_method_host {
	const struct kab_lab_host *host;
	struct kab_session *session;
};

/* Does it put our nonce on the command line? */
bool kab_method_has_nonce(enum kab_boot_method method);

/* Nothing is changed. *facts: what was found ("boot_device=/dev/vda1"); *refusals: reasons why it
 * cannot work there, one a line; none means it can. Errors are those of the transport. */
int kab_method_preflight(const struct kab_method_host *mh, const struct kab_wait *wait,
			 struct kab_strv *facts, struct kab_strv *refusals, struct kab_err *err);

/* Is that kernel there to be booted? *ret_entry (caller frees) is the entry or image found. REMOTE when
 * there is none, or two. */
int kab_method_lookup(const struct kab_method_host *mh, const char *release,
		      const struct kab_wait *wait, char **ret_entry, struct kab_err *err);

/* Choose `release` for the next boot only, with args added to its command line; read back.
 * REMOTE when it cannot be done: then nothing is left chosen. Method command: remembers only. */
int kab_method_select(const struct kab_method_host *mh, const char *release, const char *args,
		      const struct kab_wait *wait, struct kab_err *err);

/* Restart the host (for command: run the hook with release and args). Returns before it is down. */
int kab_method_restart(const struct kab_method_host *mh, const char *release, const char *args,
		       const struct kab_wait *wait, struct kab_err *err);

/* Forget a selection that was not used; not an error when there is none. */
int kab_method_clear(const struct kab_method_host *mh, const struct kab_wait *wait,
		     struct kab_err *err);
/* Remove the one file that is kab's. *ret_text (caller frees): what was removed, or "". */
int kab_method_remove(const struct kab_method_host *mh, const struct kab_wait *wait,
		      char **ret_text, struct kab_err *err);
/* Append what pstore and the journal of the previous boot kept; at most 64 KiB. */
int kab_method_evidence(const struct kab_method_host *mh, const struct kab_wait *wait,
			struct kab_buf *ret, struct kab_err *err);

#endif
