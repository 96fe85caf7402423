/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/conditions.h"

#include <string.h>

#include "base/alloc.h"
#include "base/strv.h"
#include "engine/scripts.h"

static int call(struct kab_session *s, const char *become, const struct kab_strv *args,
		const struct kab_wait *wait, struct kab_err *err)
{
	struct kab_strv kab_autostrv argv = KAB_STRV_INIT;
	struct kab_exec req = { .in = kab_script_condition, .in_len = kab_script_condition_len };
	struct kab_exec_result res = { 0 };
	int status;

	if (become) {
		kab_strv_add(&argv, become);
		kab_strv_add(&argv, "-n");
	}
	kab_strv_add(&argv, "sh");
	kab_strv_add(&argv, "-s");
	kab_strv_add(&argv, "--");
	kab_strv_copy(&argv, args);
	req.argv = (const char *const *)kab_strv_argv(&argv);
	status = s->ops->exec(s, &req, wait, &res, err);
	if (status == 0 && res.exit_status != 0) {
		struct kab_buf *said = res.out.len ? &res.out : &res.err;

		kab_buf_rtrim(said, "\r\n ");
		status = kab_err_set(err, KAB_ERR_REMOTE, "%s",
				     said->len ? kab_buf_str(said)
					       : "the script for conditions failed and said nothing");
		if (strstr(kab_buf_str(said), "refused") && !become)
			kab_err_prefix(err, "without root rights (set \"become\": \"sudo\" in the "
					    "lab file)");
	}
	kab_exec_result_release(&res);
	return status;
}

static void add_settings(struct kab_strv *args, const struct kab_setting_list *set, bool values)
{
	for (size_t i = 0; i < set->n; i++) {
		kab_strv_add(args, set->v[i].name);
		if (values)
			kab_strv_add(args, set->v[i].value);
	}
}

int kab_conditions_check(struct kab_session *s, const char *become, const struct kab_setting_list *set,
			 const struct kab_wait *wait, struct kab_err *err)
{
	struct kab_strv kab_autostrv args = KAB_STRV_INIT;

	if (!set->n)
		return 0;
	kab_strv_add(&args, "check");
	add_settings(&args, set, false);
	return call(s, become, &args, wait, err);
}

int kab_conditions_apply(struct kab_session *s, const char *become, const char *dir,
			 const struct kab_setting_list *set, const struct kab_wait *wait,
			 struct kab_err *err)
{
	struct kab_strv kab_autostrv args = KAB_STRV_INIT;

	if (!set->n)
		return 0;
	kab_strv_add(&args, "apply");
	kab_strv_add(&args, dir);
	add_settings(&args, set, true);
	return call(s, become, &args, wait, err);
}

int kab_conditions_verify(struct kab_session *s, const char *become,
			  const struct kab_setting_list *set, const struct kab_wait *wait,
			  struct kab_err *err)
{
	struct kab_strv kab_autostrv args = KAB_STRV_INIT;

	if (!set->n)
		return 0;
	kab_strv_add(&args, "verify");
	add_settings(&args, set, true);
	return call(s, become, &args, wait, err);
}

int kab_conditions_undo(struct kab_session *s, const char *become, const char *dir,
			const struct kab_wait *wait, struct kab_err *err)
{
	struct kab_strv kab_autostrv args = KAB_STRV_INIT;

	kab_strv_add(&args, "undo");
	kab_strv_add(&args, dir);
	return call(s, become, &args, wait, err);
}
