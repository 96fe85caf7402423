/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/find_run.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/text.h"

static int not_found(struct kab_store *store, const char *name, struct kab_err *err)
{
	struct kab_strv kab_autostrv names = KAB_STRV_INIT;
	struct kab_run_info *runs;
	const char *near;
	size_t n;

	if (kab_store_list_runs(store, 1000, &runs, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		kab_strv_add(&names, runs[i].name);
		kab_run_info_release(&runs[i]);
	}
	free(runs);
	if (!n)
		return kab_err_set(err, KAB_ERR_NOT_FOUND, "there are no runs in '%s' yet",
				   kab_store_path(store));
	near = name ? kab_text_nearest(name, (const char *const *)kab_strv_argv(&names)) : NULL;
	if (near)
		return kab_err_set(err, KAB_ERR_NOT_FOUND, "no run '%s'; did you mean '%s'?", name,
				   near);
	return kab_err_set(err, KAB_ERR_NOT_FOUND, "no run '%s'; 'kab list' shows them", name);
}

int kab_cli_find_run(struct kab_cli *cli, struct kab_store *store, const char *name,
		     struct kab_run_info *ret, struct kab_err *err)
{
	char *note kab_autofree = NULL;
	int rc = kab_store_find_run(store, name, ret, &note, err);

	if (rc < 0)
		return -1;
	if (rc)
		return not_found(store, name, err);
	if (note)
		kab_cli_say(cli, "kab: note: %s", note);
	return 0;
}
