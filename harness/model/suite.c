/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/suite.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/text.h"

const char *const kab_suite_keys[] = { "name",	"summary", "repeat", "margin_pct", "conditions",
				       "hooks", "quiet",   "cases",  NULL };
const char *const kab_case_keys[] = { "name",	   "summary",	 "runner",     "params", "metrics",
				      "timeout_s", "margin_pct", "background", NULL };
static const char *const background_keys[] = { "argv", "settle_s", NULL };
static const char *const repeat_keys[] = { "boots", "iterations", "warmup", "retry", NULL };

/* The shortest text that reads back as the same number: 0.2, not 0.20000000000000001. */
static char *number_text(double x)
{
	char text[40];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, x);
		if (strtod(text, NULL) == x)
			break;
	}
	return kab_xstrdup(text);
}

/* A scalar parameter as text; returns -1 when it is not a scalar. */
static int scalar_text(json_t *value, char **ret)
{
	if (json_is_string(value))
		*ret = kab_xstrdup(json_string_value(value));
	else if (json_is_integer(value))
		*ret = kab_xasprintf("%lld", (long long)json_integer_value(value));
	else if (json_is_real(value))
		*ret = number_text(json_real_value(value));
	else if (json_is_boolean(value))
		*ret = kab_xstrdup(json_is_true(value) ? "true" : "false");
	else
		return -1;
	return 0;
}

static bool is_param_name(const char *s)
{
	if (!islower((unsigned char)*s))
		return false;
	for (; *s; s++)
		if (!islower((unsigned char)*s) && !isdigit((unsigned char)*s) && *s != '_' &&
		    *s != '-')
			return false;
	return true;
}

/* A value that is there twice would give two rows of one name. */
static int check_twice(const struct kab_json *list, struct kab_err *err)
{
	struct kab_strv kab_autostrv seen = KAB_STRV_INIT;
	json_t *one;
	size_t i;

	json_array_foreach (list->value, i, one) {
		char *text kab_autofree = NULL;

		if (scalar_text(one, &text) < 0)
			continue;
		if (kab_strv_has(&seen, text))
			return kab_json_fail(list, err, "value %s is there twice", text);
		kab_strv_add(&seen, text);
	}
	return 0;
}

static int by_row_key(const void *a, const void *b)
{
	const struct kab_instance *const *x = a, *const *y = b;

	return strcmp((*x)->row_key, (*y)->row_key);
}

/* Texts with blanks and '=' in them can spell the same row in two ways. */
static int check_rows(const struct kab_suite *suite, size_t first, const struct kab_json *params,
		      struct kab_err *err)
{
	size_t n = suite->instances_n - first;
	const struct kab_instance **sorted kab_autofree =
		kab_xcalloc(n + 1, sizeof(struct kab_instance *));

	for (size_t i = 0; i < n; i++)
		sorted[i] = &suite->instances[first + i];
	qsort(sorted, n, sizeof(*sorted), by_row_key);
	for (size_t i = 1; i < n; i++)
		if (!strcmp(sorted[i - 1]->row_key, sorted[i]->row_key))
			return kab_json_fail(params, err,
					     "two points of the sweep give the row '%s'",
					     sorted[i]->row_key);
	return 0;
}

/* One instance for each point of the product of the swept parameters. */
static int expand(struct kab_suite *suite, struct kab_case *c, const struct kab_json *params,
		  struct kab_err *err)
{
	size_t points = 1, first = suite->instances_n;
	const char *key;
	json_t *value;

	json_object_foreach (params->value, key, value) {
		struct kab_json child = kab_json_get(params, key);

		if (*key == '_' || *key == '$')
			continue;
		if (!is_param_name(key))
			return kab_json_fail(
				&child, err,
				"a parameter's name is lower-case letters, digits, '_' "
				"and '-'");
		if (json_is_array(value)) {
			if (!json_array_size(value))
				return kab_json_fail(&child, err,
						     "expected at least one value in the list");
			kab_strv_add(&c->sweep, key);
			points *= json_array_size(value);
			if (points > KAB_SUITE_INSTANCES_MAX)
				return kab_json_fail(&child, err,
						     "the sweep has more than %d points",
						     KAB_SUITE_INSTANCES_MAX);
			if (check_twice(&child, err) < 0)
				return -1;
		}
	}
	for (size_t k = 0; k < points; k++) {
		struct kab_instance *in;
		struct kab_buf row = KAB_BUF_INIT;
		size_t rest = k, step = points;

		if (suite->instances_n >= KAB_SUITE_INSTANCES_MAX)
			return kab_json_fail(params, err, "the suite has more than %d cases",
					     KAB_SUITE_INSTANCES_MAX);
		kab_grow_((void **)&suite->instances, &suite->instances_n, &suite->instances_cap,
			  sizeof(*suite->instances));
		in = &suite->instances[suite->instances_n - 1];
		in->case_index = suite->cases_n - 1;
		in->order = (int)suite->instances_n - 1;
		json_object_foreach (params->value, key, value) {
			struct kab_json child = kab_json_get(params, key);
			char *text kab_autofree = NULL;
			json_t *one = value;

			if (*key == '_' || *key == '$')
				continue;
			if (json_is_array(value)) {
				step /= json_array_size(value);
				one = json_array_get(value, rest / step);
				rest %= step;
			}
			if (scalar_text(one, &text) < 0) {
				kab_buf_release(&row);
				return kab_json_fail(&child, err,
						     "expected a text, a number, true, false, or a "
						     "list of them");
			}
			/* A swept value names a row, and is on one line. */
			if (!kab_text_is_line(text) &&
			    (json_is_array(value) || !kab_text_is_plain(text))) {
				kab_buf_release(&row);
				return kab_json_fail(&child, err,
						     "a value is printable text, and in a list on "
						     "one line");
			}
			kab_params_set(&in->params, key, text);
			if (json_is_array(value))
				kab_buf_addf(&row, "%s%s=%s", row.len ? " " : "", key, text);
		}
		in->row_key = kab_buf_detach(&row);
	}
	return check_rows(suite, first, params, err);
}

static int load_margins(struct kab_case *c, double missing, const struct kab_json *node,
			struct kab_err *err)
{
	struct kab_json margin = kab_json_get(node, "margin_pct");
	const char *key;
	json_t *value;

	if (!json_is_object(margin.value))
		return kab_json_num(node, "margin_pct", 0.001, 99, missing, &c->margin_pct, err);
	c->margin_pct = missing;
	json_object_foreach (margin.value, key, value) {
		struct kab_margin *m;
		double pct;

		if (*key == '_' || *key == '$')
			continue;
		if (kab_json_num(&margin, key, 0.001, 99, missing, &pct, err) < 0)
			return -1;
		kab_grow_((void **)&c->margins, &c->margins_n, &c->margins_cap,
			  sizeof(*c->margins));
		m = &c->margins[c->margins_n - 1];
		m->metric = kab_xstrdup(key);
		m->pct = pct;
	}
	return 0;
}

static int load_background(struct kab_case *c, const struct kab_json *node, struct kab_err *err)
{
	struct kab_json load = kab_json_get(node, "background");
	int64_t settle = 1;

	if (!load.value)
		return 0;
	if (kab_json_object(&load, background_keys, err) < 0 ||
	    kab_json_strv(&load, "argv", &c->background, err) < 0 ||
	    kab_json_int(&load, "settle_s", 0, 3600, 1, &settle, err) < 0)
		return -1;
	if (!c->background.n)
		return kab_json_fail(&load, err, "expected the key 'argv' with a command");
	c->settle_s = (unsigned)settle;
	return 0;
}

static const char *const hook_keys[] = { "apply", "undo", "verify", NULL };

static int load_hooks(struct kab_suite *suite, const struct kab_json *root, struct kab_err *err)
{
	struct kab_json node = kab_json_get(root, "hooks");
	const char *key;
	json_t *value;

	if (!node.value)
		return 0;
	if (kab_json_object(&node, NULL, err) < 0)
		return -1;
	json_object_foreach (node.value, key, value) {
		struct kab_json child = kab_json_get(&node, key);
		struct kab_hook *hook;

		if (*key == '_' || *key == '$')
			continue;
		if (!kab_text_is_label(key))
			return kab_json_fail(
				&child, err,
				"a hook's name is letters, digits and '._+-', not '%s'", key);
		kab_grow_((void **)&suite->hooks, &suite->hooks_n, &suite->hooks_cap,
			  sizeof(*suite->hooks));
		hook = &suite->hooks[suite->hooks_n - 1];
		hook->name = kab_xstrdup(key);
		if (kab_json_object(&child, hook_keys, err) < 0)
			return -1;
		for (size_t v = 0; v < KAB_HOOK_VERBS; v++)
			if (kab_json_strv(&child, hook_keys[v], &hook->verbs[v], err) < 0)
				return -1;
		if (!hook->verbs[KAB_HOOK_APPLY].n || !hook->verbs[KAB_HOOK_UNDO].n)
			return kab_json_fail(
				&child, err,
				"expected the keys 'apply' and 'undo' with commands: what "
				"cannot be undone is not applied");
	}
	return 0;
}

static const char *const quiet_keys[] = { "policy", "cpus", "wait_s", NULL };

/* "quiet": "warn", or an object. */
static int load_quiet(struct kab_suite *suite, const struct kab_json *root, struct kab_err *err)
{
	static const char *const words[] = { "off", "warn", "wait", "refuse" };
	struct kab_json node = kab_json_get(root, "quiet"), at = node;
	const char *policy = "warn";

	suite->quiet_cpus = 0.25;
	suite->quiet_wait_s = 120;
	if (json_is_string(node.value)) {
		policy = json_string_value(node.value);
	} else if (node.value) {
		at = kab_json_get(&node, "policy");
		if (kab_json_object(&node, quiet_keys, err) < 0 ||
		    kab_json_str(&node, "policy", "warn", &policy, err) < 0 ||
		    kab_json_num(&node, "cpus", 0.01, 1024, 0.25, &suite->quiet_cpus, err) < 0 ||
		    kab_json_num(&node, "wait_s", 1, 86400, 120, &suite->quiet_wait_s, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < KAB_ARRAY_SIZE(words); i++) {
		if (!strcmp(words[i], policy)) {
			suite->quiet = (enum kab_quiet_policy)i;
			return 0;
		}
	}
	return kab_json_fail(&at, err, "expected off, warn, wait or refuse, found '%s'", policy);
}

static int load_case(struct kab_suite *suite, const struct kab_json *node, struct kab_err *err)
{
	struct kab_json params = kab_json_get(node, "params");
	const char *name, *runner, *summary;
	struct kab_case *c;
	int status;

	if (kab_json_object(node, kab_case_keys, err) < 0 ||
	    kab_json_need_str(node, "name", &name, err) < 0 ||
	    kab_json_need_str(node, "runner", &runner, err) < 0 ||
	    kab_json_str(node, "summary", "", &summary, err) < 0)
		return -1;
	if (strlen(name) > 64 || !kab_text_is_line(name))
		return kab_json_fail(
			node, err, "a case's name is one line of at most 64 printable characters");
	for (size_t i = 0; i < suite->cases_n; i++)
		if (!strcmp(suite->cases[i].name, name))
			return kab_json_fail(
				node, err,
				"the case name '%s' is already used by %s; rows of two "
				"cases would mix",
				name, suite->cases[i].path);
	kab_grow_((void **)&suite->cases, &suite->cases_n, &suite->cases_cap,
		  sizeof(*suite->cases));
	c = &suite->cases[suite->cases_n - 1];
	c->name = kab_xstrdup(name);
	c->path = kab_xstrdup(node->path);
	c->runner = kab_xstrdup(runner);
	c->summary = kab_xstrdup(summary);
	if (load_margins(c, suite->margin_pct, node, err) < 0 ||
	    kab_json_strv(node, "metrics", &c->metrics, err) < 0 ||
	    load_background(c, node, err) < 0 ||
	    kab_json_num(node, "timeout_s", 0.1, 7 * 86400.0, 0, &c->timeout_s, err) < 0)
		return -1;
	if (params.value && kab_json_object(&params, NULL, err) < 0)
		return -1;
	if (!params.value) {
		json_t *empty = json_object();

		params.value = empty;
		status = expand(suite, c, &params, err);
		json_decref(empty);
		return status;
	}
	return expand(suite, c, &params, err);
}

int kab_suite_load_json(json_t *doc, const char *file, struct kab_suite *ret, struct kab_err *err)
{
	struct kab_json root = kab_json_root(doc, file), cases, repeat, conditions;
	const char *name, *summary;
	int64_t boots = 1, iterations = 3, warmup = 0, retry = 0;
	struct kab_suite suite = { 0 };

	if (kab_json_object(&root, kab_suite_keys, err) < 0 ||
	    kab_json_need_str(&root, "name", &name, err) < 0 ||
	    kab_json_str(&root, "summary", "", &summary, err) < 0)
		return -1;
	if (!kab_text_is_label(name)) {
		root = kab_json_get(&root, "name");
		return kab_json_fail(
			&root, err, "a suite's name is letters, digits and '._+-', not '%s'", name);
	}
	if (kab_json_num(&root, "margin_pct", 0.001, 99, 2, &suite.margin_pct, err) < 0)
		return -1;
	repeat = kab_json_get(&root, "repeat");
	if (repeat.value &&
	    (kab_json_object(&repeat, repeat_keys, err) < 0 ||
	     kab_json_int(&repeat, "boots", 1, 1000, 1, &boots, err) < 0 ||
	     kab_json_int(&repeat, "iterations", 1, 100000, 3, &iterations, err) < 0 ||
	     kab_json_int(&repeat, "warmup", 0, 1000, 0, &warmup, err) < 0 ||
	     kab_json_int(&repeat, "retry", 0, 10, 0, &retry, err) < 0))
		return -1;
	cases = kab_json_get(&root, "cases");
	if (!cases.value)
		return kab_json_fail(&root, err, "expected the key 'cases', found none");
	if (kab_json_array(&cases, err) < 0)
		return -1;
	if (!json_array_size(cases.value))
		return kab_json_fail(&cases, err, "expected at least one case");
	suite.name = kab_xstrdup(name);
	suite.summary = kab_xstrdup(summary);
	suite.file = kab_xstrdup(file);
	suite.boots = (int)boots;
	suite.iterations = (int)iterations;
	suite.warmup = (int)warmup;
	suite.retry = (int)retry;
	if (load_quiet(&suite, &root, err) < 0 || load_hooks(&suite, &root, err) < 0)
		goto fail;
	conditions = kab_json_get(&root, "conditions");
	if (conditions.value && kab_condition_load(&suite.conditions, &conditions, err) < 0)
		goto fail;
	for (size_t i = 0; i < json_array_size(cases.value); i++) {
		struct kab_json node = kab_json_at(&cases, i);

		if (load_case(&suite, &node, err) < 0)
			goto fail;
	}
	suite.json = json_dumps(doc, JSON_COMPACT | JSON_PRESERVE_ORDER);
	*ret = suite;
	return 0;
fail:
	kab_suite_release(&suite);
	return -1;
}

int kab_suite_load(const char *file, struct kab_suite *ret, struct kab_err *err)
{
	json_t *doc;
	int status;

	if (kab_json_load_file(file, &doc, err) < 0)
		return -1;
	status = kab_suite_load_json(doc, file, ret, err);
	json_decref(doc);
	return status;
}

double kab_case_margin(const struct kab_case *c, const char *metric)
{
	for (size_t i = 0; i < c->margins_n; i++)
		if (!strcmp(c->margins[i].metric, metric))
			return c->margins[i].pct;
	return c->margin_pct;
}

void kab_suite_release(struct kab_suite *suite)
{
	for (size_t i = 0; i < suite->cases_n; i++) {
		struct kab_case *c = &suite->cases[i];

		for (size_t j = 0; j < c->margins_n; j++)
			free(c->margins[j].metric);
		free(c->margins);
		free(c->name);
		free(c->path);
		free(c->runner);
		free(c->summary);
		kab_strv_release(&c->metrics);
		kab_strv_release(&c->background);
		kab_strv_release(&c->sweep);
	}
	for (size_t i = 0; i < suite->instances_n; i++) {
		free(suite->instances[i].row_key);
		kab_params_release(&suite->instances[i].params);
	}
	for (size_t i = 0; i < suite->hooks_n; i++) {
		free(suite->hooks[i].name);
		for (size_t v = 0; v < KAB_HOOK_VERBS; v++)
			kab_strv_release(&suite->hooks[i].verbs[v]);
	}
	free(suite->hooks);
	free(suite->cases);
	free(suite->instances);
	free(suite->name);
	free(suite->summary);
	free(suite->file);
	free(suite->json);
	kab_condition_list_release(&suite->conditions);
	*suite = (struct kab_suite){ 0 };
}
