/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/quiet.h"

#include <string.h>

#include "base/alloc.h"
#include "base/strv.h"
#include "base/text.h"
#include "engine/scripts.h"

void kab_quiet_look_release(struct kab_quiet_look *look)
{
	free(look->busy);
	*look = (struct kab_quiet_look){ .throttle = -1 };
}

int kab_quiet_look(struct kab_session *s, double cpus, const struct kab_wait *wait,
		   struct kab_quiet_look *ret, struct kab_err *err)
{
	char *limit kab_autofree = kab_xasprintf("%.0f", cpus * 100);
	const char *const argv[] = { "sh", "-s", "--", limit, NULL };
	struct kab_exec req = { .argv = argv,
				.in = kab_script_quiet,
				.in_len = kab_script_quiet_len,
				.out_max = 16384,
				.err_max = 4096 };
	struct kab_strv kab_autostrv lines = KAB_STRV_INIT, busy = KAB_STRV_INIT;
	struct kab_exec_result res = { 0 };

	*ret = (struct kab_quiet_look){ .throttle = -1 };
	if (s->ops->exec(s, &req, wait, &res, err) < 0)
		return -1;
	kab_strv_split(&lines, kab_buf_str(&res.out), '\n');
	for (size_t i = 0; i < lines.n; i++) {
		if (!strncmp(lines.v[i], "busy=", 5))
			kab_strv_add(&busy, lines.v[i] + 5);
		else if (!strncmp(lines.v[i], "throttle=", 9))
			kab_text_int(lines.v[i] + 9, &ret->throttle);
	}
	if (busy.n)
		ret->busy = kab_strv_join(&busy, "; ");
	kab_exec_result_release(&res);
	return 0;
}
