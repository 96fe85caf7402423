/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parameters of a case: ordered name = value pairs. `text` is what the user wrote (it is the row
 * key: "256000/groups"), `value` what it came to on this host (it goes into argv: "64000"). Both
 * are the same string for a plain value. Booleans are "true" and "false".
 */
#ifndef KAB_MODEL_PARAMS_H
#define KAB_MODEL_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct kab_param {
	char *name; /* owned; [a-z][a-z0-9_]* */
	char *text; /* owned */
	char *value; /* owned; NULL until resolved */
	bool is_expr; /* text is an expression: see model/expr.h */
};

struct kab_params {
	struct kab_param *v;
	size_t n, cap;
};

/* Adds or replaces; value = text. */
void kab_params_set(struct kab_params *p, const char *name, const char *text);
/* Adds an expression: value stays NULL until kab_params_resolve(). */
void kab_params_set_expr(struct kab_params *p, const char *name, const char *text);
const struct kab_param *kab_params_find(const struct kab_params *p, const char *name);
/* The resolved value, or `missing` when there is no such parameter (or it is unresolved). */
const char *kab_params_get(const struct kab_params *p, const char *name, const char *missing);
/* "true"/"yes"/"1"/"on" is true; missing or anything else is `missing` / false. */
bool kab_params_bool(const struct kab_params *p, const char *name, bool missing);
/* 0 with *ret = the integer or `missing`; -1 (config error naming the parameter) when not one. */
int kab_params_int(const struct kab_params *p, const char *name, int64_t missing, int64_t *ret,
		   struct kab_err *err);
int kab_params_double(const struct kab_params *p, const char *name, double missing, double *ret,
		      struct kab_err *err);
void kab_params_copy(struct kab_params *dst, const struct kab_params *src); /* dst is empty */
void kab_params_release(struct kab_params *p);

#endif
