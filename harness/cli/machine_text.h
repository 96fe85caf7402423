/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the facts of a machine and of the kernels that were booted on it are called in a report. */
#ifndef KAB_CLI_MACHINE_TEXT_H
#define KAB_CLI_MACHINE_TEXT_H

#include "judge/judge.h"
#include "model/facts.h"
#include "store/store.h"

/* The first proven boot of a kernel. */
struct kab_seen {
	const struct kab_boot_info *boot; /* borrowed */
	const char *label; /* as printed; borrowed */
	size_t place; /* 0: the baseline; those that were not booted have theirs, too */
	struct kab_facts facts;
};
/* In the order of the kernels. */
struct kab_seen_list {
	struct kab_seen *v;
	size_t n, cap;
};

/* All that return text: the caller frees it. */

/* "x86_64, MODEL, 1 x 2 x SMT1 = 2 CPUs, 1 NUMA node, 23.4 GB RAM" */
char *kab_machine_text(const struct kab_facts *facts);
/* "governor ..., turbo ..., ..."; what a condition of the rows sets is "by condition". */
char *kab_power_text(const struct kab_facts *facts, const struct kab_judgement *j);
/* "node0: 0-31", a text for each NUMA node. */
void kab_machine_nodes(const struct kab_facts *facts, struct kab_strv *ret);
/* "base  LABEL = RELEASE, commit C, build id B": of n kernels. */
char *kab_kernel_text(const struct kab_seen *seen, size_t n);
/* What of configuration and command line is the same and what is not; NULL without facts. */
char *kab_config_text(const struct kab_seen_list *list);
/* Settings of the machine that differ between the kernels, "KEY: A on LABEL, B on LABEL". */
void kab_machine_differences(const struct kab_seen_list *list, struct kab_strv *ret);

#endif
