/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/find_run.h"

#define DAY_S 86400.0

struct victim {
	struct kab_run_info run;
	int64_t streams, bytes;
};
struct victims {
	struct victim *v;
	size_t n, cap;
};

/* "90d", "12w", "2y" in seconds; a bare number has no unit and is refused. */
static int parse_age(const char *text, double *ret_s, struct kab_err *err)
{
	static const struct {
		char unit;
		double days;
	} units[] = { { 'd', 1 }, { 'w', 7 }, { 'y', 365.25 } };
	char *end;
	double n = strtod(text, &end);

	for (size_t i = 0; i < KAB_ARRAY_SIZE(units); i++) {
		if (*end != units[i].unit || end[1] || end == text || !(n >= 0 && n < 1e5))
			continue;
		*ret_s = n * units[i].days * DAY_S;
		return 0;
	}
	return kab_err_set(err, KAB_ERR_USAGE,
			   "--older-than '%s': a number of days, weeks or years is wanted, such as "
			   "90d, 12w or 2y",
			   text);
}

/* What `resume` may still go on with is only taken when it is named. */
static bool takes(const struct kab_run_info *run, bool named)
{
	return run->state == KAB_RUN_COMPLETE ||
	       (named && run->state != KAB_RUN_RUNNING && run->state != KAB_RUN_WAITING);
}

static int add(struct kab_store *store, struct victims *list, struct kab_run_info *run,
	       struct kab_err *err)
{
	struct victim *v = KAB_PUSH(list);

	v->run = *run;
	*run = (struct kab_run_info){ 0 };
	return kab_store_output_bytes(store, v->run.id, &v->streams, &v->bytes, err);
}

static int choose_named(struct kab_cli *cli, struct kab_store *store, const struct kab_args *args,
			struct victims *list, struct kab_err *err)
{
	for (size_t i = 0; i < kab_args_n(args); i++) {
		struct kab_run_info run = { 0 };
		int rc;

		if (kab_cli_find_run(cli, store, kab_args_at(args, i), &run, err) < 0)
			return -1;
		if (!takes(&run, true)) {
			rc = kab_err_set(err, KAB_ERR_BUSY,
					 "run '%s' is %s; end it, or go on with: kab resume %s",
					 run.name, kab_run_state_name(run.state), run.name);
		} else {
			bool twice = false;

			for (size_t k = 0; k < list->n; k++)
				twice |= list->v[k].run.id == run.id;
			rc = twice ? 0 : add(store, list, &run, err);
		}
		kab_run_info_release(&run);
		if (rc)
			return -1;
	}
	return 0;
}

static int choose_old(struct kab_store *store, double age_s, int64_t keep, struct victims *list,
		      struct kab_err *err)
{
	int64_t limit = kab_now_wall_ns() - (int64_t)(age_s * (double)KAB_NS_PER_S);
	struct kab_run_info *runs;
	size_t n;
	int rc = 0;

	if (kab_store_list_runs(store, 0, &runs, &n, err))
		return -1;
	for (size_t i = (size_t)keep; !rc && i < n; i++)
		if (runs[i].created_wall_ns < limit && takes(&runs[i], false))
			rc = add(store, list, &runs[i], err);
	for (size_t i = 0; i < n; i++)
		kab_run_info_release(&runs[i]);
	free(runs);
	return rc;
}

static bool confirmed(const struct kab_args *args, const struct victims *list, bool whole)
{
	char answer[16] = "";

	if (kab_args_flag(args, "yes"))
		return true;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return false;
	fprintf(stderr, "kab: delete %s of %s? It cannot be taken back. [y/N] ",
		whole ? "all" : "the raw output", list->n == 1 ? "this run" : "these runs");
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static void print(struct kab_cli *cli, const struct victims *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct victim *v = &list->v[i];
		char created[24];

		kab_format_utc(v->run.created_wall_ns, created);
		fprintf(cli->out, "%s (%lld), %s, %zu iterations, raw output %.1f MB\n",
			v->run.name, (long long)v->run.id, created, v->run.n_iterations,
			(double)v->bytes / 1e6);
	}
}

static int prune(struct kab_cli *cli, struct kab_store *store, const struct victims *list,
		 bool whole, struct kab_err *err)
{
	struct kab_err why = KAB_ERR_INIT;
	int64_t freed = 0;

	for (size_t i = 0; i < list->n; i++)
		if ((whole ? kab_store_delete_run
			   : kab_store_delete_output)(store, list->v[i].run.id, err))
			return -1;
	if (kab_store_shrink(store, &freed, &why))
		kab_cli_warn(cli,
			     "%s of %zu run%s deleted, but the file keeps its size (%s); what is "
			     "stored next uses the room",
			     whole ? "all" : "the raw output", list->n, list->n == 1 ? "" : "s",
			     why.text);
	else
		kab_cli_say(cli, "%s of %zu run%s deleted; '%s' is %.1f MB smaller",
			    whole ? "all" : "the raw output", list->n, list->n == 1 ? "" : "s",
			    kab_store_path(store), (double)freed / 1e6);
	return 0;
}

static int choose(struct kab_cli *cli, struct kab_store *store, const struct kab_args *args,
		  struct victims *list, struct kab_err *err)
{
	const char *age = kab_args_get(args, "older-than");
	double age_s = 0;
	int64_t keep;

	if (kab_args_int(args, "keep", 0, 1000000, 0, &keep, err))
		return -1;
	if (age && parse_age(age, &age_s, err))
		return -1;
	if (kab_args_n(args) && (age || kab_args_get(args, "keep")))
		return kab_err_set(err, KAB_ERR_USAGE,
				   "name runs, or give --older-than and --keep: not both");
	if (!kab_args_n(args) && !age && !kab_args_get(args, "keep"))
		return kab_err_set(err, KAB_ERR_USAGE,
				   "which runs? name them, or give --older-than AGE or --keep N");
	return kab_args_n(args) ? choose_named(cli, store, args, list, err)
				: choose_old(store, age_s, keep, list, err);
}

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	bool whole = kab_args_flag(args, "runs"), dry = kab_args_flag(args, "dry-run");
	struct kab_err err = KAB_ERR_INIT;
	struct victims list = { 0 };
	struct kab_store *store = NULL;
	int status = KAB_EXIT_OK;

	if (whole && kab_args_flag(args, "output"))
		kab_err_set(&err, KAB_ERR_USAGE, "--output and --runs exclude each other");
	else if (!whole && !kab_args_flag(args, "output"))
		kab_err_set(&err, KAB_ERR_USAGE,
			    "say what is to go: --output (the raw output; figures stay) or --runs "
			    "(all that is stored of them)");
	else if (!kab_cli_open_store(cli, dry ? KAB_STORE_READ : KAB_STORE_CHANGE, &store, &err) &&
		 !choose(cli, store, args, &list, &err)) {
		print(cli, &list);
		if (!list.n)
			kab_cli_say(cli, "no run is to be pruned");
		else if (dry)
			kab_cli_say(cli, "nothing was changed (--dry-run)");
		else if (!confirmed(args, &list, whole))
			kab_err_set(&err, KAB_ERR_USAGE,
				    "nothing was changed: prune wants a 'y' or --yes");
		else
			prune(cli, store, &list, whole, &err);
	}
	if (err.code)
		status = kab_cli_fail(cli, &err);
	for (size_t i = 0; i < list.n; i++)
		kab_run_info_release(&list.v[i].run);
	free(list.v);
	if (store)
		kab_store_close(store);
	return status ? status : kab_cli_finish(cli, KAB_EXIT_OK);
}

static const struct kab_opt opts[] = {
	{ "output", '\0', NULL, "delete the raw output of the benchmarks; all figures stay", NULL },
	{ "runs", '\0', NULL, "delete the runs with all that they measured", NULL },
	{ "older-than", '\0', "AGE", "complete runs begun longer ago: 90d, 12w, 2y", NULL },
	{ "keep", '\0', "N", "but not the N newest runs", NULL },
	{ "dry-run", '\0', NULL, "only say what would go", NULL },
	{ "yes", '\0', NULL, "do not ask", NULL },
	{ 0 },
};

const struct kab_cmd kab_cmd_prune = {
	.name = "prune",
	.summary = "delete raw output or whole runs that are no longer needed",
	.synopsis = "--output | --runs [RUN]... [--older-than AGE] [--keep N]",
	.description =
		"With --output reports stay as they are; what cannot be done any more is to\n"
		"look at the output (kab show --raw) and to read it again (kab reparse).\n"
		"With --runs noise floors and durations that the runs brought go with them;\n"
		"what the history keeps of them stays. A run that can be resumed is deleted\n"
		"only by its name, and one that goes on never. Prints the runs and asks.",
	.example = "  kab prune --output --older-than 90d --keep 20 --dry-run\n"
		   "  kab prune --runs try-3 --yes",
	.completes = "run",
	.opts = opts,
	.min_pos = 0,
	.max_pos = -1,
	.run = run,
};
