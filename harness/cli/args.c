/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cli/cli.h"

struct value {
	const struct kab_opt *opt;
	char *text; /* NULL for a flag */
};

struct kab_args {
	struct value *v;
	size_t n, cap;
	struct kab_strv pos;
};

size_t kab_args_n(const struct kab_args *args)
{
	return args->pos.n;
}

const char *kab_args_at(const struct kab_args *args, size_t i)
{
	return i < args->pos.n ? args->pos.v[i] : NULL;
}

bool kab_args_flag(const struct kab_args *args, const char *name)
{
	for (size_t i = 0; i < args->n; i++)
		if (!strcmp(args->v[i].opt->name, name))
			return true;
	return false;
}

const char *kab_args_nth(const struct kab_args *args, const char *name, size_t nth)
{
	for (size_t i = 0; i < args->n; i++)
		if (!strcmp(args->v[i].opt->name, name) && nth-- == 0)
			return args->v[i].text;
	return NULL;
}

int kab_args_params(const struct kab_args *args, struct kab_params *params, struct kab_err *err)
{
	const char *text;

	for (size_t i = 0; (text = kab_args_nth(args, "param", i)); i++) {
		const char *equals = strchr(text, '=');
		char *name kab_autofree = NULL;

		if (!equals || equals == text)
			return kab_err_set(err, KAB_ERR_USAGE,
					   "option '--param' takes NAME=VALUE, not '%s'", text);
		name = kab_xstrndup(text, (size_t)(equals - text));
		kab_params_set(params, name, equals + 1);
	}
	return 0;
}

const char *kab_args_get(const struct kab_args *args, const char *name)
{
	for (size_t i = args->n; i > 0; i--)
		if (!strcmp(args->v[i - 1].opt->name, name))
			return args->v[i - 1].text;
	return NULL;
}

int kab_args_int(const struct kab_args *args, const char *name, int64_t min, int64_t max,
		 int64_t missing, int64_t *ret, struct kab_err *err)
{
	const char *text = kab_args_get(args, name);
	int64_t n;

	if (!text) {
		*ret = missing;
		return 0;
	}
	if (kab_text_int(text, &n) < 0 || n < min || n > max)
		return kab_err_set(err, KAB_ERR_USAGE,
				   "option '--%s' takes an integer from %lld to %lld, not '%s'",
				   name, (long long)min, (long long)max, text);
	*ret = n;
	return 0;
}

int kab_args_num(const struct kab_args *args, const char *name, double min, double max,
		 double missing, double *ret, struct kab_err *err)
{
	const char *text = kab_args_get(args, name);
	char *number kab_autofree = kab_xstrdup(text);
	double x;
	size_t len;

	if (!text) {
		*ret = missing;
		return 0;
	}
	len = strlen(number);
	if (len > 1 && number[len - 1] == '%')
		number[len - 1] = '\0';
	if (kab_text_double(number, &x) < 0 || x < min || x > max)
		return kab_err_set(err, KAB_ERR_USAGE,
				   "option '--%s' takes a number from %g to %g, not '%s'", name,
				   min, max, text);
	*ret = x;
	return 0;
}

static const struct kab_opt *find(const struct kab_opt *opts, const char *name, size_t len,
				  char letter)
{
	for (; opts && opts->name; opts++) {
		if (letter ? opts->letter == letter
			   : strlen(opts->name) == len && !strncmp(opts->name, name, len))
			return opts;
	}
	return NULL;
}

static int unknown_option(const struct kab_cmd *cmd, const char *given, struct kab_err *err)
{
	struct kab_strv kab_autostrv names = KAB_STRV_INIT;
	char *bare kab_autofree = kab_xstrdup(given + strspn(given, "-"));
	const char *near;

	bare[strcspn(bare, "=")] = '\0';
	for (const struct kab_opt *o = cmd ? cmd->opts : NULL; o && o->name; o++)
		kab_strv_add(&names, o->name);
	for (const struct kab_opt *o = kab_global_opts; o->name; o++)
		kab_strv_add(&names, o->name);
	near = kab_text_nearest(bare, (const char *const *)kab_strv_argv(&names));
	if (near)
		return kab_err_set(err, KAB_ERR_USAGE, "unknown option '%s'; did you mean '--%s'?",
				   given, near);
	return kab_err_set(err, KAB_ERR_USAGE, "unknown option '%s'; see 'kab %s%s'", given,
			   cmd && strcmp(cmd->name, "help") ? cmd->name : "help",
			   cmd && strcmp(cmd->name, "help") ? " --help" : "");
}

static bool allowed(const char *words, const char *text)
{
	size_t len = strlen(text);

	for (const char *w = words; w; w = strchr(w, '|') ? strchr(w, '|') + 1 : NULL)
		if (strcspn(w, "|") == len && !strncmp(w, text, len))
			return true;
	return false;
}

static int global(struct kab_cli *cli, const struct kab_opt *opt, const char *text)
{
	if (!strcmp(opt->name, "db"))
		cli->db_path = text;
	else if (!strcmp(opt->name, "lab"))
		cli->lab_path = text;
	else if (!strcmp(opt->name, "quiet"))
		cli->verbosity = -1;
	else if (!strcmp(opt->name, "verbose"))
		cli->verbosity = cli->verbosity < 0 ? 1 : cli->verbosity + 1;
	else if (!strcmp(opt->name, "color"))
		cli->color = !strcmp(text, "always") || (!strcmp(text, "auto") && cli->terminal);
	return 0;
}

/* Take one option; *i is moved past its value. */
static int take(const struct kab_cmd *cmd, struct kab_cli *cli, struct kab_args *args, int argc,
		char **argv, int *i, const struct kab_opt *opt, char *inline_text, bool is_global,
		struct kab_err *err)
{
	char *text = inline_text;
	struct value *v;

	if (opt->arg && !text) {
		if (*i + 1 >= argc)
			return kab_err_set(err, KAB_ERR_USAGE, "option '--%s' needs a value (%s)",
					   opt->name, opt->arg);
		text = argv[++*i];
	} else if (!opt->arg && text) {
		return kab_err_set(err, KAB_ERR_USAGE, "option '--%s' takes no value, found '%s'",
				   opt->name, text);
	}
	if (opt->words && text && !allowed(opt->words, text))
		return kab_err_set(err, KAB_ERR_USAGE, "option '--%s' takes one of %s, not '%s'",
				   opt->name, opt->words, text);
	(void)cmd;
	if (is_global)
		return global(cli, opt, text);
	v = KAB_PUSH(args);
	v->opt = opt;
	v->text = kab_xstrdup(text);
	return 0;
}

int kab_args_parse(const struct kab_cmd *cmd, struct kab_cli *cli, int argc, char **argv,
		   struct kab_args **ret, struct kab_err *err)
{
	struct kab_args *args = kab_xcalloc(1, sizeof(*args));
	bool only_pos = false;

	for (int i = 0; i < argc; i++) {
		char *a = argv[i], *text;
		const struct kab_opt *opt;
		bool is_global = false;
		size_t len;

		if (only_pos || a[0] != '-' || !a[1]) {
			kab_strv_add(&args->pos, a);
			continue;
		}
		if (!strcmp(a, "--")) {
			only_pos = true;
			continue;
		}
		text = a[1] == '-' ? strchr(a, '=') : NULL;
		len = a[1] == '-' ? strcspn(a + 2, "=") : 0;
		opt = find(cmd ? cmd->opts : NULL, a + 2, len, a[1] == '-' ? '\0' : a[1]);
		if (!opt) {
			opt = find(kab_global_opts, a + 2, len, a[1] == '-' ? '\0' : a[1]);
			is_global = opt != NULL;
		}
		/* "-n5", and "-vv" for flags. */
		if (opt && a[1] != '-' && a[2]) {
			if (opt->arg) {
				text = a + 1;
			} else {
				for (char *c = a + 2; *c; c++) {
					if (*c != opt->letter)
						opt = NULL;
					else if (take(cmd, cli, args, argc, argv, &i, opt, NULL,
						      is_global, err) < 0)
						goto fail;
					if (!opt)
						break;
				}
			}
		}
		if (!opt) {
			unknown_option(cmd, a, err);
			goto fail;
		}
		if (take(cmd, cli, args, argc, argv, &i, opt, text ? text + 1 : NULL, is_global,
			 err) < 0)
			goto fail;
	}
	if (cmd && (int)args->pos.n < cmd->min_pos) {
		kab_err_set(err, KAB_ERR_USAGE, "missing argument; usage: kab %s %s", cmd->name,
			    cmd->synopsis);
		goto fail;
	}
	if (cmd && cmd->max_pos >= 0 && (int)args->pos.n > cmd->max_pos) {
		kab_err_set(err, KAB_ERR_USAGE, "unexpected argument '%s'; usage: kab %s %s",
			    args->pos.v[cmd->max_pos], cmd->name, cmd->synopsis);
		goto fail;
	}
	*ret = args;
	return 0;
fail:
	kab_args_free(args);
	return -1;
}

void kab_args_free(struct kab_args *args)
{
	if (!args)
		return;
	for (size_t i = 0; i < args->n; i++)
		free(args->v[i].text);
	free(args->v);
	kab_strv_release(&args->pos);
	free(args);
}
