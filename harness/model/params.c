/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/params.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"

static struct kab_param *slot(struct kab_params *p, const char *name)
{
	struct kab_param *param;

	for (size_t i = 0; i < p->n; i++) {
		if (!strcmp(p->v[i].name, name)) {
			param = &p->v[i];
			free(param->text);
			free(param->value);
			return param;
		}
	}
	param = KAB_PUSH(p);
	param->name = kab_xstrdup(name);
	return param;
}

void kab_params_set(struct kab_params *p, const char *name, const char *text)
{
	struct kab_param *param = slot(p, name);

	param->text = kab_xstrdup(text);
	param->value = kab_xstrdup(text);
	param->is_expr = false;
}

void kab_params_set_expr(struct kab_params *p, const char *name, const char *text)
{
	struct kab_param *param = slot(p, name);

	param->text = kab_xstrdup(text);
	param->value = NULL;
	param->is_expr = true;
}

const struct kab_param *kab_params_find(const struct kab_params *p, const char *name)
{
	for (size_t i = 0; p && i < p->n; i++)
		if (!strcmp(p->v[i].name, name))
			return &p->v[i];
	return NULL;
}

const char *kab_params_get(const struct kab_params *p, const char *name, const char *missing)
{
	const struct kab_param *param = kab_params_find(p, name);

	return param && param->value ? param->value : missing;
}

bool kab_params_bool(const struct kab_params *p, const char *name, bool missing)
{
	const char *value = kab_params_get(p, name, NULL);

	if (!value)
		return missing;
	return !strcasecmp(value, "true") || !strcasecmp(value, "yes") || !strcmp(value, "1") ||
	       !strcasecmp(value, "on");
}

int kab_params_int(const struct kab_params *p, const char *name, int64_t missing, int64_t *ret,
		   struct kab_err *err)
{
	const char *value = kab_params_get(p, name, NULL);
	char *end;
	long long n;

	if (!value) {
		*ret = missing;
		return 0;
	}
	errno = 0;
	n = strtoll(value, &end, 10);
	if (errno || end == value || *end)
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "parameter '%s': expected an integer, found '%s'", name, value);
	*ret = n;
	return 0;
}

int kab_params_double(const struct kab_params *p, const char *name, double missing, double *ret,
		      struct kab_err *err)
{
	const char *value = kab_params_get(p, name, NULL);
	char *end;
	double x;

	if (!value) {
		*ret = missing;
		return 0;
	}
	x = strtod(value, &end);
	if (end == value || *end || !isfinite(x))
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "parameter '%s': expected a number, found '%s'", name, value);
	*ret = x;
	return 0;
}

void kab_params_copy(struct kab_params *dst, const struct kab_params *src)
{
	for (size_t i = 0; i < src->n; i++) {
		struct kab_param *param = KAB_PUSH(dst);

		param->name = kab_xstrdup(src->v[i].name);
		param->text = kab_xstrdup(src->v[i].text);
		param->value = kab_xstrdup(src->v[i].value);
		param->is_expr = src->v[i].is_expr;
	}
}

void kab_params_release(struct kab_params *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->v[i].name);
		free(p->v[i].text);
		free(p->v[i].value);
	}
	free(p->v);
	*p = (struct kab_params){ 0 };
}
