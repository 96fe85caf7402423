/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/conditions.h"

#include <string.h>

#include "base/alloc.h"
#include "base/strv.h"
#include "engine/hostscript.h"
#include "engine/scripts.h"

/*
 * `set` may be NULL. Its hooks (at most one kind of command line each) go to the script as shell
 * variables before its first line: on stdin, where no other user of the host sees them.
 */
/* The last line is "end=0" or "end=1": an exit status of 0 can also mean that the link was cut. */
static int read_answer(struct kab_exec_result *res, const char *become, struct kab_err *err)
{
	const char *out = kab_buf_str(&res->out), *end;

	kab_buf_rtrim(&res->out, "\r\n ");
	kab_buf_rtrim(&res->err, "\r\n ");
	end = strrchr(out, '\n');
	end = end ? end + 1 : out;
	if (!strcmp(end, "end=0"))
		return 0;
	if (strcmp(end, "end=1"))
		return kab_err_set(err, KAB_ERR_REMOTE,
				   "the script for conditions did not come to its end: %s",
				   res->err.len ? kab_buf_str(&res->err) : "it said nothing");
	res->out.len -= strlen(end);
	kab_buf_rtrim(&res->out, "\r\n ");
	kab_err_set(err, KAB_ERR_UNSUPPORTED, "%s",
		    res->out.len ? kab_buf_str(&res->out) : kab_buf_str(&res->err));
	if (strstr(kab_buf_str(&res->out), "refused") && !become)
		kab_err_prefix(err,
			       "without root rights (set \"become\": \"sudo\" in the lab file)");
	return -1;
}

static int call(struct kab_session *s, const char *become, const struct kab_strv *args,
		const struct kab_setting *hook, const struct kab_wait *wait, struct kab_err *err)
{
	struct kab_strv kab_autostrv argv = KAB_STRV_INIT;
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;
	struct kab_exec_result res = { 0 };
	struct kab_exec req = { 0 };
	int status;

	kab_hostscript_become(&argv, become);
	kab_strv_add(&argv, "sh");
	kab_strv_add(&argv, "-s");
	kab_strv_add(&argv, "--");
	kab_strv_copy(&argv, args);
	for (size_t i = 0; hook && i < KAB_HOOK_VERBS; i++) {
		static const char *const names[] = { "hook_apply=", "hook_undo=", "hook_verify=" };
		char *line kab_autofree =
			hook->hook[i] ? kab_quote_argv((const char *const *)kab_strv_argv(
						(struct kab_strv *)hook->hook[i]))
				      : kab_xstrdup("");

		kab_buf_adds(&text, names[i]);
		kab_quote_sh(&text, line);
		kab_buf_addc(&text, '\n');
	}
	kab_buf_add(&text, kab_script_condition, kab_script_condition_len);
	req.in = text.data;
	req.in_len = text.len;
	req.argv = (const char *const *)kab_strv_argv(&argv);
	status = s->ops->exec(s, &req, wait, &res, err);
	if (status == 0)
		status = read_answer(&res, become, err);
	kab_exec_result_release(&res);
	return status;
}

/* One setting at a time: the script knows one hook. */
static int each(struct kab_session *s, const char *become, const char *verb, const char *dir,
		const struct kab_setting_list *set, const struct kab_wait *wait,
		struct kab_err *err)
{
	for (size_t i = 0; i < set->n; i++) {
		struct kab_strv kab_autostrv args = KAB_STRV_INIT;

		kab_strv_add(&args, verb);
		if (dir)
			kab_strv_add(&args, dir);
		kab_strv_add(&args, set->v[i].name);
		if (dir)
			kab_strv_add(&args, set->v[i].value);
		if (call(s, become, &args, &set->v[i], wait, err) < 0)
			return -1;
	}
	return 0;
}

int kab_conditions_check(struct kab_session *s, const char *become,
			 const struct kab_setting_list *set, const struct kab_wait *wait,
			 struct kab_err *err)
{
	return each(s, become, "check", NULL, set, wait, err);
}

int kab_conditions_apply(struct kab_session *s, const char *become, const char *dir,
			 const struct kab_setting_list *set, const struct kab_wait *wait,
			 struct kab_err *err)
{
	return each(s, become, "apply", dir, set, wait, err);
}

int kab_conditions_verify(struct kab_session *s, const char *become, const char *dir,
			  const struct kab_setting_list *set, const struct kab_wait *wait,
			  struct kab_err *err)
{
	return each(s, become, "verify", dir, set, wait, err);
}

int kab_conditions_undo(struct kab_session *s, const char *become, const char *dir,
			const struct kab_wait *wait, struct kab_err *err)
{
	struct kab_strv kab_autostrv args = KAB_STRV_INIT;

	kab_strv_add(&args, "undo");
	kab_strv_add(&args, dir);
	return call(s, become, &args, NULL, wait, err);
}

static int mark(struct kab_session *s, const char *become, const char *script, const char *dir,
		const char *run_id, const struct kab_wait *wait, bool *ret, struct kab_err *err)
{
	struct kab_strv kab_autostrv argv = KAB_STRV_INIT;
	struct kab_exec_result res = { 0 };
	struct kab_exec req = { 0 };
	int status;

	kab_hostscript_become(&argv, become);
	kab_strv_add(&argv, "sh");
	kab_strv_add(&argv, "-c");
	kab_strv_add(&argv, script);
	kab_strv_add(&argv, "sh");
	kab_strv_addf(&argv, "%s/%s/held", dir, run_id);
	req.argv = (const char *const *)kab_strv_argv(&argv);
	status = s->ops->exec(s, &req, wait, &res, err);
	if (status == 0) {
		kab_buf_rtrim(&res.out, "\r\n");
		*ret = !strcmp(kab_buf_str(&res.out), "yes");
		if (!*ret && strcmp(kab_buf_str(&res.out), "no"))
			status = kab_err_set(err, KAB_ERR_REMOTE,
					     "the host did not say whether '%s' has its mark",
					     run_id);
	}
	kab_exec_result_release(&res);
	return status;
}

int kab_conditions_mark(struct kab_session *s, const char *become, const char *dir,
			const char *run_id, const struct kab_wait *wait, struct kab_err *err)
{
	bool done;

	return mark(s, become, ": >\"$1\" && echo yes || echo no", dir, run_id, wait, &done, err);
}

int kab_conditions_marked(struct kab_session *s, const char *become, const char *dir,
			  const char *run_id, bool *ret, const struct kab_wait *wait,
			  struct kab_err *err)
{
	return mark(s, become, "[ -e \"$1\" ] && echo yes || echo no", dir, run_id, wait, ret, err);
}
