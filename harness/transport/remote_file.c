/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "transport/remote_file.h"

#include "base/alloc.h"

#define GET_MISSING 66

int kab_remote_put(struct kab_session *s, const char *path, const void *data, size_t len,
		   unsigned mode, const struct kab_wait *wait, struct kab_err *err)
{
	/* The length is checked: a link that dies half way looks like the end of the input. */
	static const char script[] =
		"t=$1.new.$$; trap 'rm -f \"$t\"' EXIT; cat >\"$t\" || exit 1; "
		"if [ \"$(wc -c <\"$t\")\" -ne \"$2\" ]; then echo incomplete >&2; exit 1; fi; "
		"chmod \"$3\" \"$t\" && mv -f \"$t\" \"$1\"";
	char *length kab_autofree = kab_xasprintf("%zu", len);
	char *bits kab_autofree = kab_xasprintf("%o", mode & 07777);
	const char *argv[] = { "sh", "-c", script, "sh", path, length, bits, NULL };
	struct kab_exec req = { .argv = argv, .in = data, .in_len = len };
	struct kab_exec_result res;
	int rc = 0;

	if (s->ops->exec(s, &req, wait, &res, err) < 0)
		return -1;
	if (res.exit_status != 0) {
		kab_buf_rtrim(&res.err, "\r\n");
		rc = kab_err_set(err, KAB_ERR_REMOTE, "host '%s': cannot write '%s': %s",
				 s->ep->name, path, kab_buf_str(&res.err));
	}
	kab_exec_result_release(&res);
	return rc;
}

int kab_remote_get(struct kab_session *s, const char *path, uint64_t offset, size_t max,
		   const struct kab_wait *wait, struct kab_buf *ret, struct kab_err *err)
{
	static const char script[] =
		"[ -e \"$1\" ] || exit 66; [ -r \"$1\" ] && [ ! -d \"$1\" ] || "
		"{ echo 'not a readable file' >&2; exit 1; }; tail -c \"+$2\" \"$1\" | head -c "
		"\"$3\"";
	char *from kab_autofree = kab_xasprintf("%llu", (unsigned long long)offset + 1);
	/* One byte more than wanted, which the cap drops, tells that there is more. */
	char *bytes kab_autofree = kab_xasprintf("%zu", max + 1);
	const char *argv[] = { "sh", "-c", script, "sh", path, from, bytes, NULL };
	struct kab_exec req = { .argv = argv, .out_max = max ? max : 1 };
	struct kab_exec_result res;
	int rc = 0;

	if (s->ops->exec(s, &req, wait, &res, err) < 0)
		return -1;
	if (res.exit_status == GET_MISSING) {
		rc = 1;
	} else if (res.exit_status != 0) {
		kab_buf_rtrim(&res.err, "\r\n");
		rc = kab_err_set(err, KAB_ERR_REMOTE, "host '%s': cannot read '%s': %s",
				 s->ep->name, path, kab_buf_str(&res.err));
	} else {
		kab_buf_add(ret, kab_buf_str(&res.out), res.out.len < max ? res.out.len : max);
		ret->cut = ret->cut || res.out.cut;
	}
	kab_exec_result_release(&res);
	return rc;
}
