/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/condition.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/text.h"

#define COMBINATIONS_MAX 64

static const char *const plain_names[] = { "smt",	   "governor", "thp", "turbo",
					   "irq_affinity", "cpuset",   NULL };

static int check_name(const char *name, struct kab_err *err)
{
	for (const char *const *p = plain_names; *p; p++)
		if (!strcmp(*p, name))
			return 0;
	if (!strncmp(name, "sysctl.", 7) && name[7] && !strchr(name, '/') && !strstr(name, ".."))
		return 0;
	if (!strncmp(name, "file:/", 6) && !strstr(name, "/../") && !strpbrk(name, "\t\n\r"))
		return 0;
	if (!strncmp(name, "mount:/", 7) && !strstr(name, "/../"))
		return 0;
	if (!strncmp(name, "hook:", 5) && kab_text_is_label(name + 5))
		return 0;
	return kab_err_set(
		err, KAB_ERR_CONFIG,
		"unknown condition '%s'; known are smt, governor, thp, turbo, irq_affinity, "
		"cpuset, sysctl.KEY, file:/PATH, mount:/PATH and hook:NAME",
		name);
}

static int check_value(const char *name, const char *value, struct kab_err *err)
{
	bool on_off = !strcmp(name, "smt") || !strcmp(name, "turbo");

	if (!*value || !kab_text_is_line(value) || !kab_text_is_line(name))
		return kab_err_set(
			err, KAB_ERR_CONFIG,
			"condition '%s': a value must be one line of printable text that is "
			"not empty",
			name);
	if ((!strcmp(name, "cpuset") || !strcmp(name, "irq_affinity")) &&
	    value[strspn(value, "0123456789,-")])
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "condition '%s' takes a list of CPUs such as '2-5', not '%s'",
				   name, value);
	if (on_off && strcmp(value, "on") && strcmp(value, "off"))
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "condition '%s' takes 'on' or 'off', not '%s'", name, value);
	return 0;
}

static struct kab_condition *slot(struct kab_condition_list *list, const char *name)
{
	struct kab_condition *c;

	for (size_t i = 0; i < list->n; i++) {
		if (!strcmp(list->v[i].name, name)) {
			kab_strv_release(&list->v[i].values);
			return &list->v[i];
		}
	}
	c = KAB_PUSH(list);
	c->name = kab_xstrdup(name);
	return c;
}

static int add_value(struct kab_condition *c, const char *value, struct kab_err *err)
{
	if (check_value(c->name, value, err) < 0)
		return -1;
	if (kab_strv_has(&c->values, value))
		return kab_err_set(err, KAB_ERR_CONFIG, "condition '%s' names the value '%s' twice",
				   c->name, value);
	kab_strv_add(&c->values, value);
	return 0;
}

int kab_condition_add_text(struct kab_condition_list *list, const char *text, struct kab_err *err)
{
	struct kab_strv kab_autostrv values = KAB_STRV_INIT;
	const char *eq = strchr(text, '=');
	char *name kab_autofree = eq ? kab_xstrndup(text, (size_t)(eq - text)) : NULL;
	struct kab_condition *c;

	if (!eq || !eq[1] || eq == text)
		return kab_err_set(err, KAB_ERR_USAGE,
				   "condition '%s': expected NAME=VALUE[,VALUE], e.g. smt=on,off",
				   text);
	if (check_name(name, err) < 0)
		return -1;
	kab_strv_split(&values, eq + 1, ',');
	c = slot(list, name);
	for (size_t i = 0; i < values.n; i++)
		if (add_value(c, values.v[i], err) < 0)
			return -1;
	return 0;
}

int kab_condition_load(struct kab_condition_list *list, const struct kab_json *node,
		       struct kab_err *err)
{
	const char *key;
	json_t *value;

	if (kab_json_object(node, NULL, err) < 0)
		return -1;
	json_object_foreach (node->value, key, value) {
		struct kab_json child = kab_json_get(node, key);
		struct kab_condition *c;
		struct kab_err why = KAB_ERR_INIT;
		size_t n = json_is_array(value) ? json_array_size(value) : 1;

		if (*key == '_' || *key == '$')
			continue;
		if (check_name(key, &why) < 0)
			return kab_json_fail(&child, err, "%s", why.text);
		c = slot(list, key);
		for (size_t i = 0; i < n; i++) {
			json_t *v = json_is_array(value) ? json_array_get(value, i) : value;
			char number[32];
			const char *text = json_string_value(v);

			if (json_is_integer(v)) {
				snprintf(number, sizeof(number), "%lld",
					 (long long)json_integer_value(v));
				text = number;
			}
			if (!text)
				return kab_json_fail(&child, err,
						     "expected a text, an integer, or an array of "
						     "them");
			if (add_value(c, text, &why) < 0)
				return kab_json_fail(&child, err, "%s", why.text);
		}
		if (!n)
			return kab_json_fail(&child, err, "expected at least one value");
	}
	return 0;
}

int kab_condition_product(const struct kab_condition_list *list, struct kab_setting_list **ret,
			  size_t *ret_n, struct kab_err *err)
{
	struct kab_setting_list *all;
	size_t n = 1;

	for (size_t i = 0; i < list->n; i++) {
		n *= list->v[i].values.n;
		if (n > COMBINATIONS_MAX)
			return kab_err_set(
				err, KAB_ERR_CONFIG,
				"the conditions give more than %d combinations; name fewer "
				"values",
				COMBINATIONS_MAX);
	}
	all = kab_xcalloc(n, sizeof(*all));
	for (size_t k = 0; k < n; k++) {
		struct kab_buf text = KAB_BUF_INIT;
		size_t rest = k, step = n;

		for (size_t i = 0; i < list->n; i++) {
			struct kab_setting *s = KAB_PUSH(&all[k]);

			step /= list->v[i].values.n;
			s->name = kab_xstrdup(list->v[i].name);
			s->value = kab_xstrdup(list->v[i].values.v[rest / step]);
			rest %= step;
			kab_buf_addf(&text, "%s%s=%s", i ? " " : "", s->name, s->value);
		}
		all[k].text = kab_buf_detach(&text);
	}
	*ret = all;
	*ret_n = n;
	return 0;
}

int kab_setting_bind_hooks(struct kab_setting_list *list, const struct kab_hook *hooks, size_t n,
			   struct kab_err *err)
{
	for (size_t i = 0; i < list->n; i++) {
		struct kab_setting *s = &list->v[i];
		size_t h = 0;

		if (strncmp(s->name, "hook:", 5))
			continue;
		while (h < n && strcmp(hooks[h].name, s->name + 5))
			h++;
		if (h == n)
			return kab_err_set(
				err, KAB_ERR_CONFIG,
				"condition '%s': the suite has no hook of that name under "
				"\"hooks\"",
				s->name);
		for (size_t v = 0; v < KAB_HOOK_VERBS; v++)
			s->hook[v] = hooks[h].verbs[v].n ? &hooks[h].verbs[v] : NULL;
	}
	return 0;
}

void kab_setting_list_release(struct kab_setting_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->v[i].name);
		free(list->v[i].value);
	}
	free(list->v);
	free(list->text);
	*list = (struct kab_setting_list){ 0 };
}

void kab_condition_list_release(struct kab_condition_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->v[i].name);
		kab_strv_release(&list->v[i].values);
	}
	free(list->v);
	*list = (struct kab_condition_list){ 0 };
}
