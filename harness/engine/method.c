/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/method.h"

#include <string.h>

#include "base/alloc.h"
#include "engine/hostscript.h"
#include "transport/child.h"

bool kab_method_has_nonce(enum kab_boot_method method)
{
	return method == KAB_BOOT_GRUB || method == KAB_BOOT_SYSTEMD || method == KAB_BOOT_KEXEC;
}

static int script(const struct kab_method_host *mh, const char *verb, const char *release,
		  const char *args, const struct kab_wait *wait, struct kab_exec_result *res,
		  struct kab_err *err)
{
	struct kab_strv kab_autostrv words = KAB_STRV_INIT;

	kab_strv_add(&words, verb);
	kab_strv_add(&words, kab_boot_method_name(mh->host->boot));
	if (release)
		kab_strv_add(&words, release);
	if (args)
		kab_strv_add(&words, args);
	return kab_hostscript_run(mh->host, mh->session, KAB_HOSTSCRIPT_BOOT, &words, wait, res,
				  err);
}

int kab_method_preflight(const struct kab_method_host *mh, const struct kab_wait *wait,
			 struct kab_strv *facts, struct kab_strv *refusals, struct kab_err *err)
{
	struct kab_exec_result res = { 0 };
	struct kab_strv kab_autostrv lines = KAB_STRV_INIT;
	int status;

	if (mh->host->boot == KAB_BOOT_NONE || mh->host->boot == KAB_BOOT_COMMAND)
		return 0;
	status = script(mh, "preflight", NULL, NULL, wait, &res, err);
	if (status == 0) {
		kab_hostscript_lines(&res, "refuse", refusals);
		kab_strv_split(&lines, kab_buf_str(&res.out), '\n');
		for (size_t i = 0; i < lines.n; i++)
			if (*lines.v[i] && strncmp(lines.v[i], "refuse=", 7))
				kab_strv_add(facts, lines.v[i]);
		if (res.exit_status != 0 && !refusals->n)
			status = kab_hostscript_error(&res, "the check of the boot method", err);
	}
	kab_exec_result_release(&res);
	return status;
}

int kab_method_lookup(const struct kab_method_host *mh, const char *release,
		      const struct kab_wait *wait, char **ret_entry, struct kab_err *err)
{
	struct kab_exec_result res = { 0 };
	struct kab_strv kab_autostrv entries = KAB_STRV_INIT;
	int status;

	if (!kab_method_has_nonce(mh->host->boot)) {
		*ret_entry = kab_xstrdup(release);
		return 0;
	}
	status = script(mh, "lookup", release, NULL, wait, &res, err);
	if (status == 0 && res.exit_status != 0)
		status = kab_hostscript_error(&res, "looking the kernel up", err);
	if (status == 0) {
		kab_hostscript_lines(&res, "entry", &entries);
		*ret_entry = kab_strv_join(&entries, ", ");
	}
	kab_exec_result_release(&res);
	return status;
}

static int simple(const struct kab_method_host *mh, const char *verb, const char *release,
		  const char *args, const char *what, const struct kab_wait *wait,
		  struct kab_err *err)
{
	struct kab_exec_result res = { 0 };
	int status = script(mh, verb, release, args, wait, &res, err);

	if (status == 0 && res.exit_status != 0)
		status = kab_hostscript_error(&res, what, err);
	kab_exec_result_release(&res);
	return status;
}

int kab_method_select(const struct kab_method_host *mh, const char *release, const char *args,
		      const struct kab_wait *wait, struct kab_err *err)
{
	if (mh->host->boot == KAB_BOOT_COMMAND)
		return 0;
	return simple(mh, "select", release, args, "choosing the kernel", wait, err);
}

/* The hook: argv of the lab file, then host, release and arguments. */
static int hook(const struct kab_method_host *mh, const char *release, const char *args,
		const struct kab_wait *wait, struct kab_err *err)
{
	struct kab_strv kab_autostrv argv = KAB_STRV_INIT;
	struct kab_exec req = { .out_max = 65536, .err_max = 65536 };
	struct kab_exec_result res = { 0 };
	int status;

	kab_strv_copy(&argv, &mh->host->boot_command);
	kab_strv_add(&argv, mh->host->name);
	kab_strv_add(&argv, release);
	kab_strv_add(&argv, args);
	req.argv = (const char *const *)kab_strv_argv(&argv);
	status = kab_child_run(&req, wait, &res, err);
	if (status == 0 && res.exit_status != 0)
		status = kab_err_set(err, KAB_ERR_ENV,
				     "the boot command '%s' failed with exit status %d: %.300s",
				     argv.v[0], res.exit_status,
				     kab_buf_str(res.err.len ? &res.err : &res.out));
	kab_exec_result_release(&res);
	return status;
}

int kab_method_restart(const struct kab_method_host *mh, const char *release, const char *args,
		       const struct kab_wait *wait, struct kab_err *err)
{
	if (mh->host->boot == KAB_BOOT_COMMAND)
		return hook(mh, release, args, wait, err);
	return simple(mh, "reboot", NULL, NULL, "restarting", wait, err);
}

int kab_method_clear(const struct kab_method_host *mh, const struct kab_wait *wait,
		     struct kab_err *err)
{
	if (!kab_method_has_nonce(mh->host->boot))
		return 0;
	return simple(mh, "clear", NULL, NULL, "clearing the selection", wait, err);
}

int kab_method_remove(const struct kab_method_host *mh, const struct kab_wait *wait,
		      char **ret_text, struct kab_err *err)
{
	struct kab_exec_result res = { 0 };
	struct kab_strv kab_autostrv removed = KAB_STRV_INIT;
	int status;

	if (!kab_method_has_nonce(mh->host->boot)) {
		*ret_text = kab_xstrdup("");
		return 0;
	}
	status = script(mh, "remove", NULL, NULL, wait, &res, err);
	if (status == 0 && res.exit_status != 0)
		status = kab_hostscript_error(&res, "removing kab's boot entry", err);
	if (status == 0) {
		kab_hostscript_lines(&res, "removed", &removed);
		*ret_text = kab_strv_join(&removed, ", ");
	}
	kab_exec_result_release(&res);
	return status;
}

int kab_method_evidence(const struct kab_method_host *mh, const struct kab_wait *wait,
			struct kab_buf *ret, struct kab_err *err)
{
	struct kab_exec_result res = { 0 };
	int status = script(mh, "evidence", NULL, NULL, wait, &res, err);

	if (status == 0)
		kab_buf_add(ret, kab_buf_str(&res.out), res.out.len);
	kab_exec_result_release(&res);
	return status;
}
