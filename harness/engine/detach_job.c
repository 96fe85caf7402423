/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/detach_job.h"

#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "engine/lease.h"

bool kab_detach_name_ok(const char *name)
{
	size_t n = name ? strlen(name) : 0;

	if (n < 1 || n > 120 || name[0] == '.' || name[0] == '-')
		return false;
	return name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				 "0123456789._-")] == '\0';
}

/* A function that becomes the program; $1 and $2 are GNU time and where it writes, or empty. */
static void add_step(struct kab_buf *b, const char *name, unsigned no, const char *const *argv)
{
	char *words kab_autofree = kab_quote_argv(argv);

	if (no)
		kab_buf_addf(b, "argv_%s_%u() {\n", name, no);
	else
		kab_buf_addf(b, "argv_%s() {\n", name);
	kab_buf_addf(b, "[ -z \"$1\" ] || exec \"$1\" -f rss=%%M -o \"$2\" -- %s\nexec %s\n}\n",
		     words, words);
}

static unsigned add_steps(struct kab_buf *b, const char *name, const char *const *const *list)
{
	unsigned n = 0;

	while (list && list[n]) {
		add_step(b, name, n + 1, list[n]);
		n++;
	}
	return n;
}

static int add_env(struct kab_buf *b, const char *const *env, struct kab_err *err)
{
	kab_buf_adds(b, "job_env() {\n:\n");
	for (; env && *env; env++) {
		size_t n = strcspn(*env, "=");
		char *name kab_autofree = kab_xstrndup(*env, n);
		bool ok = (*env)[n] == '=' && n > 0 && !isdigit((unsigned char)name[0]);

		for (size_t i = 0; i < n; i++)
			ok = ok && (isalnum((unsigned char)name[i]) || name[i] == '_');
		if (!ok)
			return kab_err_set(err, KAB_ERR_CONFIG,
					   "'%s' is not an environment setting: expected "
					   "NAME=VALUE with a name of letters, digits and '_'",
					   *env);
		kab_buf_addf(b, "%s=", name);
		kab_quote_sh(b, *env + n + 1);
		kab_buf_addf(b, "\nexport %s\n", name);
	}
	kab_buf_adds(b, "}\n");
	return 0;
}

static bool lists_are_filled(const char *const *const *list)
{
	for (; list && *list; list++)
		if (!**list)
			return false;
	return true;
}

int kab_detach_job(const struct kab_detach_spec *spec, const char *nonce, struct kab_buf *ret,
		   struct kab_err *err)
{
	unsigned prepare, cleanup;

	if (!kab_detach_name_ok(spec->run_id))
		return kab_err_set(err, KAB_ERR_CONFIG, "'%s' cannot be the name of a run",
				   spec->run_id ? spec->run_id : "");
	if (!spec->argv || !spec->argv[0] || (spec->background && !spec->background[0]) ||
	    !lists_are_filled(spec->prepare) || !lists_are_filled(spec->cleanup))
		return kab_err_set(err, KAB_ERR_CONFIG, "run '%s' has a step without a command",
				   spec->run_id);
	if (!spec->timeout_s)
		return kab_err_set(err, KAB_ERR_CONFIG, "run '%s' has no timeout", spec->run_id);
	kab_buf_addf(ret,
		     "TIMEOUT=%u\nSTEP_TIMEOUT=%u\nSETTLE=%u\nTOKEN=%llu\nLEASE=", spec->timeout_s,
		     spec->step_timeout_s ? spec->step_timeout_s : spec->timeout_s, spec->settle_s,
		     (unsigned long long)spec->token);
	kab_quote_sh(ret, spec->lease_dir ? spec->lease_dir : KAB_LEASE_DIR);
	kab_buf_addf(ret, "\nWORK=w.%s\nHAS_LOAD=%d\n", nonce, spec->background != NULL);
	if (add_env(ret, spec->env, err) < 0)
		return -1;
	add_step(ret, "benchmark", 0, spec->argv);
	if (spec->background)
		add_step(ret, "load", 0, spec->background);
	prepare = add_steps(ret, "prepare", spec->prepare);
	cleanup = add_steps(ret, "cleanup", spec->cleanup);
	kab_buf_addf(ret, "N_PREPARE=%u\nN_CLEANUP=%u\n", prepare, cleanup);
	if (ret->cut)
		return kab_err_set(err, KAB_ERR_CONFIG, "the commands of run '%s' are too long",
				   spec->run_id);
	return 0;
}
