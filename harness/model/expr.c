/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/expr.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/strv.h"
#include "base/text.h"

#define DEPTH_MAX 32
/* Parameters that use others twice each would double the work at every level. */
#define LOOKUPS_MAX 10000

const char *const kab_expr_facts[] = { "cpus", "nodes", "cores", "memory_mb", NULL };

struct parser {
	const char *text; /* whole, for messages */
	const char *p;
	const struct kab_facts *facts;
	const struct kab_params *params;
	enum {
		FORM, /* names are not looked up and are worth 1 */
		NAMES, /* they are, but facts have no value yet and are worth 1 */
		VALUES,
	} mode;
	bool *unknown; /* the value hangs on a fact that is not known yet */
	int nesting; /* of parentheses and signs */
	int depth; /* of parameters that use parameters */
	int *lookups; /* done so far, of the whole evaluation */
	struct kab_err *err;
};

static int sum(struct parser *ps, int64_t *ret);

static int fail(struct parser *ps, const char *why)
{
	return kab_err_set(ps->err, KAB_ERR_CONFIG, "expression '%.300s': %s", ps->text, why);
}

/* With names that are worth something else later, a value that is too large now says nothing. */
static int overflow(struct parser *ps, int64_t *ret)
{
	if (ps->mode == VALUES || !*ps->unknown)
		return fail(ps, "overflow");
	*ret = 1;
	return 0;
}

static void blanks(struct parser *ps)
{
	while (*ps->p == ' ' || *ps->p == '\t')
		ps->p++;
}

static int unknown_name(struct parser *ps, const char *word)
{
	struct kab_strv kab_autostrv names = KAB_STRV_INIT;
	const char *near;

	for (const char *const *f = kab_expr_facts; *f; f++)
		kab_strv_add(&names, *f);
	for (size_t i = 0; ps->params && i < ps->params->n; i++)
		kab_strv_add(&names, ps->params->v[i].name);
	near = kab_text_nearest(word, (const char *const *)kab_strv_argv(&names));
	return kab_err_set(ps->err, KAB_ERR_CONFIG,
			   "expression '%s': unknown name '%s'; %s%s%sknown are the case's "
			   "parameters and cpus, nodes, cores, memory_mb",
			   ps->text, word, near ? "did you mean '" : "", near ? near : "",
			   near ? "'? " : "");
}

static int name(struct parser *ps, int64_t *ret)
{
	char *word kab_autofree = NULL;
	const char *start = ps->p;
	const struct kab_param *param;

	while (isalnum((unsigned char)*ps->p) || *ps->p == '_')
		ps->p++;
	word = kab_xstrndup(start, (size_t)(ps->p - start));
	if (ps->mode == FORM) {
		*ps->unknown = true;
		*ret = 1;
		return 0;
	}
	param = kab_params_find(ps->params, word);
	if (++*ps->lookups > LOOKUPS_MAX)
		return fail(ps, "the parameters refer to each other too much");
	if (param) {
		struct parser inner = *ps;

		if (ps->depth >= DEPTH_MAX)
			return kab_err_set(ps->err, KAB_ERR_CONFIG,
					   "expression '%s': the parameters refer to each other in "
					   "a circle ('%s')",
					   ps->text, word);
		inner.text = inner.p = param->text;
		inner.depth++;
		inner.nesting = 0;
		if (sum(&inner, ret) < 0)
			return -1;
		return *inner.p ? fail(&inner, "not a number") : 0;
	}
	for (const char *const *f = kab_expr_facts; *f; f++) {
		if (strcmp(*f, word))
			continue;
		if (ps->mode == NAMES) {
			*ps->unknown = true;
			*ret = 1;
			return 0;
		}
		*ret = kab_facts_int(ps->facts, word, -1);
		if (*ret < 0)
			return kab_err_set(ps->err, KAB_ERR_CONFIG,
					   "expression '%s': the host does not tell '%s'", ps->text,
					   word);
		return 0;
	}
	return unknown_name(ps, word);
}

static int factor(struct parser *ps, int64_t *ret)
{
	blanks(ps);
	if (ps->nesting >= DEPTH_MAX)
		return fail(ps, "nested too deeply");
	if (*ps->p == '-') {
		ps->p++;
		ps->nesting++;
		if (factor(ps, ret) < 0)
			return -1;
		ps->nesting--;
		if (__builtin_sub_overflow(INT64_C(0), *ret, ret) && overflow(ps, ret) < 0)
			return -1;
	} else if (*ps->p == '(') {
		ps->p++;
		ps->nesting++;
		if (sum(ps, ret) < 0)
			return -1;
		ps->nesting--;
		if (*ps->p != ')')
			return fail(ps, "a ')' is missing");
		ps->p++;
	} else if (isdigit((unsigned char)*ps->p)) {
		*ret = 0;
		for (; isdigit((unsigned char)*ps->p); ps->p++)
			if (__builtin_mul_overflow(*ret, INT64_C(10), ret) ||
			    __builtin_add_overflow(*ret, (int64_t)(*ps->p - '0'), ret))
				return fail(ps, "overflow");
	} else if (isalpha((unsigned char)*ps->p) || *ps->p == '_') {
		if (name(ps, ret) < 0)
			return -1;
	} else {
		return fail(ps, *ps->p ? "expected a number, a name or '('"
				       : "ends where a number or a name is expected");
	}
	blanks(ps);
	return 0;
}

static int product(struct parser *ps, int64_t *ret)
{
	bool left_unknown, right_unknown;
	int64_t right;

	if (factor(ps, ret) < 0)
		return -1;
	while (*ps->p == '*' || *ps->p == '/') {
		char op = *ps->p++;

		left_unknown = *ps->unknown;
		*ps->unknown = false;
		if (factor(ps, &right) < 0)
			return -1;
		right_unknown = *ps->unknown;
		*ps->unknown = left_unknown || right_unknown;
		if (op == '*') {
			if (__builtin_mul_overflow(*ret, right, ret) && overflow(ps, ret) < 0)
				return -1;
		} else {
			if (!right && ps->mode != FORM && !right_unknown)
				return fail(ps, "division by zero");
			if (*ret == INT64_MIN && right == -1) {
				if (overflow(ps, ret) < 0)
					return -1;
			} else {
				*ret = right ? *ret / right : 0;
			}
		}
	}
	return 0;
}

static int sum(struct parser *ps, int64_t *ret)
{
	int64_t right;

	if (product(ps, ret) < 0)
		return -1;
	while (*ps->p == '+' || *ps->p == '-') {
		char op = *ps->p++;

		if (product(ps, &right) < 0)
			return -1;
		if ((op == '+' ? __builtin_add_overflow(*ret, right, ret)
			       : __builtin_sub_overflow(*ret, right, ret)) &&
		    overflow(ps, ret) < 0)
			return -1;
	}
	return 0;
}

static int evaluate(struct parser *ps, int64_t *ret)
{
	if (strlen(ps->text) > 1000)
		return fail(ps, "longer than 1000 characters");
	if (sum(ps, ret) < 0)
		return -1;
	if (*ps->p)
		return kab_err_set(ps->err, KAB_ERR_CONFIG, "expression '%s': unexpected '%s'",
				   ps->text, ps->p);
	return 0;
}

static int start(const char *text, int mode, const struct kab_facts *facts,
		 const struct kab_params *params, int64_t *ret, struct kab_err *err)
{
	bool unknown = false;
	int lookups = 0;
	struct parser ps = { .text = text,
			     .p = text,
			     .facts = facts,
			     .params = params,
			     .unknown = &unknown,
			     .lookups = &lookups,
			     .err = err };

	ps.mode = mode;
	return evaluate(&ps, ret);
}

int kab_expr_check(const char *text, struct kab_err *err)
{
	int64_t value;

	return start(text, FORM, NULL, NULL, &value, err);
}

int kab_expr_check_names(const char *text, const struct kab_params *params, struct kab_err *err)
{
	int64_t value;

	return start(text, NAMES, NULL, params, &value, err);
}

int kab_expr_eval(const char *text, const struct kab_facts *facts, const struct kab_params *params,
		  int64_t *ret, struct kab_err *err)
{
	return start(text, VALUES, facts, params, ret, err);
}

int kab_params_resolve(struct kab_params *params, const struct kab_facts *facts,
		       struct kab_err *err)
{
	for (size_t i = 0; i < params->n; i++) {
		struct kab_param *param = &params->v[i];
		int64_t value;

		if (!param->is_expr)
			continue;
		if (kab_expr_eval(param->text, facts, params, &value, err) < 0)
			return kab_err_prefix(err, "parameter '%s'", param->name);
		free(param->value);
		param->value = kab_xasprintf("%lld", (long long)value);
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct kab_param *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static void escaped(struct kab_buf *buf, const char *s)
{
	for (; s && *s; s++) {
		if (strchr(";=\\", *s))
			kab_buf_addc(buf, '\\');
		kab_buf_addc(buf, *s);
	}
}

char *kab_params_canonical(const struct kab_params *params, int resolved)
{
	const struct kab_param **sorted kab_autofree =
		kab_xcalloc(params->n + 1, sizeof(struct kab_param *));
	struct kab_buf buf = KAB_BUF_INIT;

	for (size_t i = 0; i < params->n; i++)
		sorted[i] = &params->v[i];
	qsort(sorted, params->n, sizeof(*sorted), by_name);
	for (size_t i = 0; i < params->n; i++) {
		if (i)
			kab_buf_addc(&buf, ';');
		escaped(&buf, sorted[i]->name);
		kab_buf_addc(&buf, '=');
		escaped(&buf, resolved ? sorted[i]->value : sorted[i]->text);
	}
	return kab_buf_detach(&buf);
}
