/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bringing a host into a kernel, proving it, and the ladder for a host that stays away. */
#ifndef KAB_ENGINE_REBOOT_H
#define KAB_ENGINE_REBOOT_H

#include "engine/lane.h"

/*
 * Choose, restart, wait, prove. 0: the host runs the kernel of `boot`; lane->session, facts are of
 * the new boot. 1: this kernel does not boot here (after the tries of the lab file); *ret_reason
 * (caller frees) says what was seen, the host is back in its default kernel. -1: the host itself
 * is lost, or we were stopped.
 */
int kab_reboot_into(struct kab_lane *lane, const struct kab_boot_info *boot, char **ret_reason,
		    struct kab_err *err);

/*
 * A host that went silent under an iteration and stays so after its time: what its console says is
 * kept, its power is cycled, and it is waited for in its default kernel. 0: connected again (the
 * iteration is lost with the boot), lane->cycled is set. -1: it stays away, or we were stopped.
 * Only for hosts that kab boots and whose power it can cycle.
 */
bool kab_reboot_can_revive(const struct kab_lab_host *host);
int kab_reboot_revive(struct kab_lane *lane, const struct kab_boot_info *boot, struct kab_err *err);

/*
 * Does the host run what was asked for? 1 yes; 0 no, *ret_why (caller frees) is a phrase. nonce
 * NULL: none was set. build_id NULL or "": unknown.
 */
int kab_reboot_prove(const struct kab_facts *facts, const char *old_boot_id, const char *release,
		     const char *build_id, const char *nonce, char **ret_why);

/* What a console log says of a boot: "panics: LINE", "boots, not reachable" or "hangs or never
 * started". Caller frees. */
char *kab_reboot_diagnose(const char *console, size_t n, const char *release);

#endif
