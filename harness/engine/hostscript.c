/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/hostscript.h"

#include <string.h>

#include "base/buf.h"
#include "engine/scripts.h"

#define ANSWER_MAX ((size_t)64 << 10)

void kab_hostscript_become(struct kab_strv *argv, const char *become)
{
	if (!become)
		return;
	kab_strv_add(argv, "sh");
	kab_strv_add(argv, "-c");
	kab_strv_add(argv, "[ \"$(id -u)\" = 0 ] || set -- \"$0\" -n \"$@\"; exec \"$@\"");
	kab_strv_add(argv, become);
}

int kab_hostscript_exec(const struct kab_lab_host *host, struct kab_session *s,
			const char *const *argv, const void *in, size_t in_len,
			const struct kab_wait *wait, struct kab_exec_result *res,
			struct kab_err *err)
{
	struct kab_strv kab_autostrv words = KAB_STRV_INIT;
	struct kab_exec req = {
		.in = in, .in_len = in_len, .out_max = ANSWER_MAX, .err_max = ANSWER_MAX
	};

	kab_hostscript_become(&words, host->become);
	for (; *argv; argv++)
		kab_strv_add(&words, *argv);
	req.argv = (const char *const *)kab_strv_argv(&words);
	return s->ops->exec(s, &req, wait, res, err);
}

int kab_hostscript_run(const struct kab_lab_host *host, struct kab_session *s,
		       enum kab_hostscript which, const struct kab_strv *args,
		       const struct kab_wait *wait, struct kab_exec_result *res,
		       struct kab_err *err)
{
	struct kab_strv kab_autostrv argv = KAB_STRV_INIT;
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;

	kab_strv_add(&argv, "sh");
	kab_strv_add(&argv, "-s");
	kab_strv_add(&argv, "--");
	kab_strv_copy(&argv, args);
	kab_buf_add(&text, kab_script_boot_common, kab_script_boot_common_len);
	if (which == KAB_HOSTSCRIPT_BOOT)
		kab_buf_add(&text, kab_script_boot, kab_script_boot_len);
	else
		kab_buf_add(&text, kab_script_install, kab_script_install_len);
	return kab_hostscript_exec(host, s, (const char *const *)kab_strv_argv(&argv), text.data,
				   text.len, wait, res, err);
}

void kab_hostscript_lines(const struct kab_exec_result *res, const char *key, struct kab_strv *ret)
{
	struct kab_strv kab_autostrv lines = KAB_STRV_INIT;
	size_t len = strlen(key);

	kab_strv_split(&lines, kab_buf_str(&res->out), '\n');
	for (size_t i = 0; i < lines.n; i++)
		if (!strncmp(lines.v[i], key, len) && lines.v[i][len] == '=')
			kab_strv_add(ret, lines.v[i] + len + 1);
}

int kab_hostscript_error(const struct kab_exec_result *res, const char *what, struct kab_err *err)
{
	struct kab_strv kab_autostrv said = KAB_STRV_INIT;

	kab_hostscript_lines(res, "error", &said);
	if (said.n)
		return kab_err_set(err, KAB_ERR_REMOTE, "%s: %s", what, said.v[0]);
	return kab_err_set(err, KAB_ERR_REMOTE, "%s failed with exit status %d: %.300s", what,
			   res->exit_status, kab_buf_str(res->err.len ? &res->err : &res->out));
}
