/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Expressions in parameters: integers, + - * / ( ), truncating towards zero, names. Names are the
 * facts `cpus`, `nodes`, `cores`, `memory_mb` and the case's own parameters. 64-bit; overflow,
 * division by zero, an unknown name and a circle are CONFIG errors that quote the expression.
 */
#ifndef KAB_MODEL_EXPR_H
#define KAB_MODEL_EXPR_H

#include <stdint.h>

#include "base/err.h"
#include "model/facts.h"
#include "model/params.h"

/* Names of facts that an expression may use, NULL-terminated. */
extern const char *const kab_expr_facts[];

/* Only the form: names are not looked up. */
int kab_expr_check(const char *text, struct kab_err *err);
/* As far as it can be told without a host: names are parameters or facts, no circle, no division
 * by a constant zero. */
int kab_expr_check_names(const char *text, const struct kab_params *params, struct kab_err *err);
int kab_expr_eval(const char *text, const struct kab_facts *facts, const struct kab_params *params,
		  int64_t *ret, struct kab_err *err);
/* Give every expression of params its value. */
int kab_params_resolve(struct kab_params *params, const struct kab_facts *facts,
		       struct kab_err *err);
/* Canonical text "name=text;name=text" sorted by name, of `text` or of `value`; bytes ; = \ are
 * escaped with a backslash. Caller frees. */
char *kab_params_canonical(const struct kab_params *params, int resolved);

#endif
