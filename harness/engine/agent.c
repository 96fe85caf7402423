/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* More than this is not an answer of ours. */
#define ANSWER_MAX ((size_t)256 << 10)

void kab_answer_release(struct kab_answer *a)
{
	kab_strv_release(&a->lines);
}

const char *kab_answer_get(const struct kab_answer *a, const char *key)
{
	size_t n = strlen(key);

	for (size_t i = 0; i < a->lines.n; i++)
		if (strncmp(a->lines.v[i], key, n) == 0 && a->lines.v[i][n] == '=')
			return a->lines.v[i] + n + 1;
	return NULL;
}

int64_t kab_answer_int(const struct kab_answer *a, const char *key, int64_t missing)
{
	const char *s = kab_answer_get(a, key);
	char *end;
	long long v;

	if (!s || !*s)
		return missing;
	errno = 0;
	v = strtoll(s, &end, 10);
	return *end || errno ? missing : v;
}

/* The first line of what a command complained, for the error text. */
static const char *complaint(struct kab_exec_result *res)
{
	kab_buf_rtrim(&res->err, "\r\n\t ");
	if (!res->err.len)
		return "no message";
	res->err.data[strcspn(res->err.data, "\n")] = '\0';
	return res->err.data;
}

int kab_agent_call(struct kab_session *s, const struct kab_strv *prefix, const char *path,
		   const struct kab_strv *args, const void *in, size_t in_len,
		   const struct kab_wait *wait, struct kab_answer *ret, struct kab_err *err)
{
	struct kab_strv argv kab_autostrv = KAB_STRV_INIT;
	struct kab_exec_result res;
	const char *said;
	int rc = -1;

	*ret = (struct kab_answer){ 0 };
	if (prefix)
		kab_strv_copy(&argv, prefix);
	kab_strv_add(&argv, "sh");
	if (path) {
		kab_strv_add(&argv, path);
	} else {
		kab_strv_add(&argv, "-s");
		kab_strv_add(&argv, "--");
		in = kab_agent_sh;
		in_len = kab_agent_sh_len;
	}
	kab_strv_copy(&argv, args);
	struct kab_exec req = {
		.argv = (const char *const *)argv.v,
		.in = in,
		.in_len = in_len,
		.out_max = ANSWER_MAX,
		.err_max = 64 << 10,
	};
	if (s->ops->exec(s, &req, wait, &res, err) < 0)
		return -1;
	kab_buf_rtrim(&res.out, "\n");
	kab_strv_split(&ret->lines, kab_buf_str(&res.out), '\n');
	if (!ret->lines.n || strcmp(ret->lines.v[ret->lines.n - 1], "end") != 0) {
		kab_err_set(err, KAB_ERR_REMOTE,
			    "host '%s': the answer to '%s' is incomplete (exit status %d: %s)",
			    s->ep->name, args->v[0], res.exit_status, complaint(&res));
	} else if ((said = kab_answer_get(ret, "error"))) {
		kab_err_set(err, strcmp(said, "busy") == 0 ? KAB_ERR_BUSY : KAB_ERR_REMOTE,
			    "host '%s': %s: %s%s%s", s->ep->name, args->v[0], said,
			    res.err.len ? ": " : "", res.err.len ? complaint(&res) : "");
	} else {
		rc = 0;
	}
	if (rc < 0)
		kab_answer_release(ret);
	kab_exec_result_release(&res);
	return rc;
}
