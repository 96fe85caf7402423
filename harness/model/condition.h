/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Conditions: settings that are not the kernel. A condition has a name and one or more values
 * (a sweep). Names: "smt" (on, off), "governor", "thp", "turbo" (on, off), "sysctl.KEY",
 * "file:PATH". Applied before, read back, undone after.
 */
#ifndef KAB_MODEL_CONDITION_H
#define KAB_MODEL_CONDITION_H

#include <stddef.h>

#include "base/err.h"
#include "base/json.h"
#include "base/strv.h"

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
void kab_setting_list_release(struct kab_setting_list *list);
void kab_condition_list_release(struct kab_condition_list *list);

#endif
