/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Conditions: settings that are not the kernel. A condition has a name and one or more values
 * (a sweep). Names: "smt" (on, off), "governor", "thp", "turbo" (on, off), "irq_affinity" and
 * "cpuset" (lists of CPUs), "sysctl.KEY", "file:/PATH", "mount:/PATH" (mount options) and
 * "hook:NAME" (commands that the suite defines). Applied before, read back, undone after.
 */
#ifndef KAB_MODEL_CONDITION_H
#define KAB_MODEL_CONDITION_H

#include <stddef.h>

#include "base/err.h"
#include "base/json.h"
#include "base/strv.h"

/* The command lines of a hook, on the target; the value is added as the last word. */
enum { KAB_HOOK_APPLY, KAB_HOOK_UNDO, KAB_HOOK_VERIFY, KAB_HOOK_VERBS };

struct kab_hook {
	char *name; /* without "hook:" */
	struct kab_strv verbs[KAB_HOOK_VERBS]; /* VERIFY may be empty */
};

struct kab_condition {
	char *name;
	struct kab_strv values;
};

struct kab_condition_list {
	struct kab_condition *v;
	size_t n, cap;
};

/* One combination of values, e.g. { "smt", "off" }, { "governor", "performance" }. */
struct kab_setting {
	char *name, *value;
	/* For "hook:NAME": borrowed from the suite, which outlives it; NULL where there is none. */
	const struct kab_strv *hook[KAB_HOOK_VERBS];
};
struct kab_setting_list {
	struct kab_setting *v;
	size_t n, cap;
	char *text; /* "smt=off governor=performance"; "" for none */
};

/* "NAME=V[,V]" of --condition: replaces a condition of that name. */
int kab_condition_add_text(struct kab_condition_list *list, const char *text, struct kab_err *err);
int kab_condition_load(struct kab_condition_list *list, const struct kab_json *node,
		       struct kab_err *err);
/* The product of all values; at least one (empty) combination. Caller releases each and frees. */
int kab_condition_product(const struct kab_condition_list *list, struct kab_setting_list **ret,
			  size_t *ret_n, struct kab_err *err);
/* Give the settings named "hook:NAME" their command lines; CONFIG error for an unknown hook. */
int kab_setting_bind_hooks(struct kab_setting_list *list, const struct kab_hook *hooks, size_t n,
			   struct kab_err *err);
void kab_setting_list_release(struct kab_setting_list *list);
void kab_condition_list_release(struct kab_condition_list *list);

#endif
