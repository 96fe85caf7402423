/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/find_run.h"

#include <stdlib.h>
#include <string.h>

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

static bool is_measured(const struct kab_run_info *run)
{
	return run->n_done || run->n_failed || run->n_summaries;
}

/* Replaces *run, which measured nothing, by the newest before it that did; not when there is none. */
static int go_back(struct kab_cli *cli, struct kab_store *store, struct kab_run_info *run,
		   struct kab_err *err)
{
	struct kab_run_info *runs;
	struct kab_run_info empty = *run;
	size_t n, at = 0;

	if (kab_store_list_runs(store, 1000, &runs, &n, err))
		return -1;
	while (at < n && !is_measured(&runs[at]))
		at++;
	if (at < n) {
		*run = runs[at];
		runs[at] = empty;
		kab_cli_say(cli,
			    "kab: note: latest is run '%s' (%lld): '%s' after it measured "
			    "nothing; 'kab show %s' says why",
			    run->name, (long long)run->id, empty.name, empty.name);
	}
	for (size_t i = 0; i < n; i++)
		kab_run_info_release(&runs[i]);
	free(runs);
	return 0;
}

static int find(struct kab_cli *cli, struct kab_store *store, const char *name, bool measured,
		struct kab_run_info *ret, struct kab_err *err)
{
	bool newest = !name || !strcmp(name, "latest");
	char *note kab_autofree = NULL;
	int rc = kab_store_find_run(store, name, ret, &note, err);

	if (rc < 0)
		return -1;
	if (rc)
		return not_found(store, name, err);
	if (measured && newest && !is_measured(ret))
		return go_back(cli, store, ret, err);
	if (note)
		kab_cli_say(cli, "kab: note: %s", note);
	return 0;
}

int kab_cli_find_run(struct kab_cli *cli, struct kab_store *store, const char *name,
		     struct kab_run_info *ret, struct kab_err *err)
{
	return find(cli, store, name, false, ret, err);
}

int kab_cli_find_measured(struct kab_cli *cli, struct kab_store *store, const char *name,
			  struct kab_run_info *ret, struct kab_err *err)
{
	return find(cli, store, name, true, ret, err);
}
