/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/options.h"

#include <inttypes.h>
#include <string.h>

#include <jansson.h>

#include "base/alloc.h"

const char *kab_option_program(const struct kab_params *params, const char *name)
{
	const char *program = kab_params_get(params, "program", "");

	return *program ? program : name;
}

int kab_option_int(struct kab_strv *argv, const char *flag, const struct kab_params *params,
		   const char *name, int64_t min, struct kab_err *err)
{
	int64_t n;

	if (!kab_params_get(params, name, NULL))
		return 0;
	if (kab_params_int(params, name, 0, &n, err))
		return -1;
	if (n < min)
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "parameter '%s': expected at least %" PRId64 ", found %" PRId64,
				   name, min, n);
	kab_strv_add(argv, flag);
	kab_strv_addf(argv, "%" PRId64, n);
	return 0;
}

void kab_option_flag(struct kab_strv *argv, const char *flag, const struct kab_params *params,
		     const char *name)
{
	if (kab_params_bool(params, name, false))
		kab_strv_add(argv, flag);
}

static int json_words(struct kab_strv *argv, const char *text, const char *name,
		      struct kab_err *err)
{
	json_error_t where;
	json_t *list = json_loads(text, 0, &where), *item;
	size_t i;
	int rc = 0;

	if (!json_is_array(list)) {
		json_decref(list);
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "parameter '%s': expected a JSON list of strings, found '%s'",
				   name, text);
	}
	json_array_foreach (list, i, item) {
		if (json_is_string(item))
			kab_strv_add(argv, json_string_value(item));
		else if (json_is_integer(item))
			kab_strv_addf(argv, "%" JSON_INTEGER_FORMAT, json_integer_value(item));
		else
			rc = kab_err_set(err, KAB_ERR_CONFIG,
					 "parameter '%s': item %zu of the list is not a string",
					 name, i);
	}
	json_decref(list);
	return rc;
}

static int shell_words(struct kab_strv *argv, const char *s, const char *name, struct kab_err *err)
{
	struct kab_buf word kab_autobuf = KAB_BUF_INIT;

	for (;;) {
		char quote = '\0';

		s += strspn(s, " \t\n");
		if (!*s)
			return 0;
		kab_buf_clear(&word);
		for (; *s && (quote || !strchr(" \t\n", *s)); s++) {
			if (quote && *s == quote) {
				quote = '\0';
			} else if (!quote && (*s == '\'' || *s == '"')) {
				quote = *s;
			} else if (*s == '\\' && quote != '\'' && s[1]) {
				kab_buf_addc(&word, *++s);
			} else {
				kab_buf_addc(&word, *s);
			}
		}
		if (quote)
			return kab_err_set(err, KAB_ERR_CONFIG,
					   "parameter '%s': the quote %c is not closed", name,
					   quote);
		kab_strv_add(argv, kab_buf_str(&word));
	}
}

int kab_option_words(struct kab_strv *argv, const struct kab_params *params, const char *name,
		     struct kab_err *err)
{
	const char *text = kab_params_get(params, name, NULL);

	if (!text)
		return 0;
	if (text[strspn(text, " \t\n")] == '[')
		return json_words(argv, text, name, err);
	return shell_words(argv, text, name, err);
}

int kab_option_needs_tool(const struct kab_facts *facts, const struct kab_params *params,
			  const char *tool, const char *package, char **ret_reason)
{
	const char *program = kab_params_get(params, "program", NULL);

	if ((program && *program) || kab_facts_tool(facts, tool))
		return 0;
	*ret_reason =
		kab_xasprintf("%s is not installed; on Debian: apt-get install %s", tool, package);
	return 1;
}

void kab_option_place(struct kab_command *cmd, const char *name, const char *data, bool executable)
{
	struct kab_place_file *file;

	if (cmd->place_n == cmd->place_cap) {
		cmd->place_cap = cmd->place_cap ? 2 * cmd->place_cap : 4;
		cmd->place = kab_xreallocarray(cmd->place, cmd->place_cap, sizeof(*cmd->place));
	}
	file = &cmd->place[cmd->place_n++];
	file->name = kab_xstrdup(name);
	file->len = strlen(data);
	file->data = kab_xmemdup(data, file->len ? file->len : 1);
	file->executable = executable;
}
