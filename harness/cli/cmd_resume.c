/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "cli/setup.h"

/* --lab, else the file that the run was begun with, else as always. */
static int lab_of_run(struct kab_cli *cli, const struct kab_run_info *info, struct kab_lab *ret,
		      struct kab_err *err)
{
	json_t *doc = NULL;
	const char *file = NULL;
	int status;

	if (!cli->lab_path && info->lab_json &&
	    kab_json_load_bytes("stored lab", info->lab_json, strlen(info->lab_json), &doc, NULL) ==
		    0)
		file = json_string_value(json_object_get(doc, "file"));
	status = file ? kab_lab_load(file, ret, err) : kab_setup_lab(cli, ret, err);
	if (status == 0)
		kab_setup_share(cli, ret);
	json_decref(doc);
	return status;
}

/* A run that came in a bundle belongs to hosts that are known elsewhere by the same names. */
static int check_home(struct kab_store *store, const struct kab_run_info *info, struct kab_err *err)
{
	struct kab_event_info *events = NULL;
	bool foreign = false;
	size_t n = 0;

	if (kab_store_list_events(store, info->id, &events, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		foreign |= !strcmp(events[i].kind, "bundle");
		kab_event_info_release(&events[i]);
	}
	free(events);
	return foreign ? kab_err_set(err, KAB_ERR_CONFIG,
				     "run '%s' came in a bundle; it goes on where it was begun",
				     info->name)
		       : 0;
}

static int resume(struct kab_cli *cli, const struct kab_args *args, struct kab_err *err,
		  int *ret_status)
{
	struct kab_execute_opts execute = { .gate = kab_args_flag(args, "gate"), .report = true };
	struct kab_interrupt *interrupt = NULL;
	struct kab_run_info info = { 0 };
	struct kab_store *store = NULL;
	char *note kab_autofree = NULL;
	struct kab_lab lab = { 0 };
	int status = -1, found;

	if (kab_args_num(args, "wait", 0, 1e9, 0, &execute.lease_wait_s, err) < 0 ||
	    kab_events_open(cli, kab_args_get(args, "events"), &execute.events, err) < 0)
		return -1;
	if (kab_cli_open_store(cli, KAB_STORE_CHANGE, &store, err) < 0)
		goto out;
	found = kab_store_find_run(store, kab_args_at(args, 0), &info, &note, err);
	if (found > 0)
		kab_err_set(err, KAB_ERR_NOT_FOUND, "there is no run '%s'; see 'kab list'",
			    kab_args_at(args, 0) ? kab_args_at(args, 0) : "latest");
	if (found != 0)
		goto out;
	if (note)
		kab_cli_say(cli, "kab: %s", note);
	if (info.state == KAB_RUN_COMPLETE) {
		kab_cli_say(cli, "kab: run '%s' is complete; nothing is left to do", info.name);
		*ret_status = KAB_EXIT_OK;
		status = 0;
		goto out;
	}
	if (check_home(store, &info, err) < 0 || lab_of_run(cli, &info, &lab, err) < 0 ||
	    kab_interrupt_start(cli, &interrupt, err) < 0)
		goto out;
	*ret_status = kab_setup_execute(cli, store, info.id, info.name, &lab, interrupt, &execute);
	status = 0;
out:
	kab_interrupt_end(interrupt);
	kab_lab_release(&lab);
	kab_run_info_release(&info);
	kab_store_close(store);
	kab_events_close(execute.events);
	return status;
}

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	struct kab_err err = KAB_ERR_INIT;
	int status = KAB_EXIT_OK;

	if (resume(cli, args, &err, &status) < 0)
		status = kab_cli_fail(cli, &err);
	return status;
}

static const struct kab_opt opts[] = {
	{ "wait", '\0', "SECONDS", "wait for a host that somebody else has leased", NULL },
	KAB_EVENTS_OPT,
	{ "gate", '\0', NULL, "exit with 1 when something regressed", NULL },
	{ 0 },
};

const struct kab_cmd kab_cmd_resume = {
	.name = "resume",
	.summary = "go on with a run that was stopped, interrupted or waits for a boot",
	.synopsis = "[RUN]",
	.description =
		"Does what the run has not done yet: after an interruption, a lost host, a crash\n"
		"of kab, or after the user has booted the kernel that kab asked for. Iterations\n"
		"that are finished are not done again; one that still runs on a host is waited\n"
		"for. RUN is a name or a number; without it the newest run.",
	.example = "  kab resume hackbench-groups-20260105-2210",
	.completes = "run",
	.opts = opts,
	.min_pos = 0,
	.max_pos = 1,
	.run = run,
};
