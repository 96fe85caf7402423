/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/measurer.h"
#include "jobs/bisect.h"

#define BOOTS 8
#define MAX_BOOTS 24

/* What `git bisect run` understands. */
enum { STEP_GOOD = 0, STEP_BAD = 1, STEP_SKIP = 125, STEP_BROKEN = 128 };

struct job {
	struct kab_cli *cli;
	const struct kab_args *args;
	struct kab_store *store;
	struct kab_lab lab;
	struct kab_interrupt *interrupt;
	struct kab_cli_measurer measurer;
	struct kab_bisect_env env;
	struct kab_bisect_setup setup;
};

static void job_release(struct job *j)
{
	kab_bisect_setup_release(&j->setup);
	kab_lab_release(&j->lab);
	kab_store_close(j->store);
	kab_interrupt_end(j->interrupt);
}

static void say(void *ctx, const char *text)
{
	struct job *j = ctx;

	kab_cli_say(j->cli, "kab: %s", text);
}

static int need(const struct kab_args *args, const char *option, struct kab_err *err)
{
	if (kab_args_get(args, option))
		return 0;
	return kab_err_set(err, KAB_ERR_USAGE, "--%s is needed", option);
}

/* What is asked for, into j->setup. */
static int read_setup(struct job *j, struct kab_err *err)
{
	const struct kab_args *a = j->args;
	struct kab_bisect_setup *s = &j->setup;
	const char *arg, *name = kab_args_get(a, "name"), *suite = kab_args_at(a, 0);
	int64_t boots, max_boots, seed;
	uint32_t random;

	if (!suite)
		return kab_err_set(err, KAB_ERR_USAGE, "which suite? (or --resume)");
	if (need(a, "build", err) ||
	    (!kab_args_get(a, "list") && (need(a, "good", err) || need(a, "bad", err))))
		return -1;
	if (kab_args_get(a, "list") && (kab_args_get(a, "good") || kab_args_get(a, "bad")))
		return kab_err_set(err, KAB_ERR_USAGE,
				   "a list begins with the good one and ends with the bad one; "
				   "--good and --bad are for a repository");
	if (kab_args_int(a, "boots", 4, 1000, BOOTS, &boots, err) ||
	    kab_args_int(a, "max-boots", 2, 1000, MAX_BOOTS, &max_boots, err) ||
	    kab_args_int(a, "seed", 0, UINT32_MAX, -1, &seed, err))
		return -1;
	if (name && !kab_text_is_label(name))
		return kab_err_set(err, KAB_ERR_USAGE, "a name is letters, digits and '._+-'");
	if (seed < 0) {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return kab_err_errno(err, KAB_ERR_ENV, "cannot get random bytes");
		seed = random;
	}
	*s = (struct kab_bisect_setup){
		.name = name ? kab_xstrdup(name) : kab_xstrdup("bisect"),
		.suite = kab_xstrdup(suite),
		.host = kab_xstrdup(kab_args_get(a, "host") ? kab_args_get(a, "host") : "local"),
		.repo = kab_xstrdup(kab_args_get(a, "repo")),
		.good = kab_xstrdup(kab_args_get(a, "good")),
		.bad = kab_xstrdup(kab_args_get(a, "bad")),
		.case_name = kab_xstrdup(kab_args_get(a, "case")),
		.metric = kab_xstrdup(kab_args_get(a, "metric")),
		.boots = (int)boots,
		.max_boots = (int)max_boots,
		.seed = (uint64_t)seed,
		.steps = kab_args_flag(a, "step"),
	};
	kab_strv_add(&s->hook, kab_args_get(a, "build"));
	for (size_t i = 0; (arg = kab_args_nth(a, "build-arg", i)); i++)
		kab_strv_add(&s->hook, arg);
	return 0;
}

static int open_all(struct job *j, struct kab_err *err)
{
	double wait_s;

	if (kab_args_num(j->args, "wait", 0, 1e9, 0, &wait_s, err) ||
	    kab_setup_lab(j->cli, &j->lab, err) ||
	    kab_interrupt_start(j->cli, &j->interrupt, err) ||
	    kab_cli_open_store(j->cli, KAB_STORE_WRITE, &j->store, err))
		return -1;
	j->measurer = (struct kab_cli_measurer){ .cli = j->cli,
						 .store = j->store,
						 .lab = &j->lab,
						 .interrupt = j->interrupt,
						 .lease_wait_s = wait_s };
	j->env = (struct kab_bisect_env){ .store = j->store,
					  .cancel_fd = kab_interrupt_stop_fd(j->interrupt),
					  .say = say,
					  .ctx = j };
	kab_cli_measurer(&j->measurer, &j->env.measurer);
	return 0;
}

static int begin(struct job *j, struct kab_err *err)
{
	const char *list = kab_args_get(j->args, "list");
	struct kab_bisect_commits commits = { 0 };
	int rc;

	if (kab_args_get(j->args, "good") &&
	    kab_bisect_git(j->setup.repo, j->setup.good, j->setup.bad, &commits, err))
		return -1;
	if (list && kab_bisect_list_file(list, &commits, err))
		return -1;
	rc = kab_bisect_begin(j->store, &j->setup, &commits, kab_now_wall_ns(), err);
	if (!rc)
		kab_cli_say(j->cli, "kab: bisection '%s': %zu commits", j->setup.name,
			    commits.n - 1);
	kab_bisect_commits_release(&commits);
	return rc;
}

static int go(struct job *j, const char *name, struct kab_err *err, int *ret_status)
{
	static const int statuses[] = { [KAB_BISECT_FOUND] = KAB_EXIT_OK,
					[KAB_BISECT_STUCK] = KAB_EXIT_RESULTS,
					[KAB_BISECT_REFUSED] = KAB_EXIT_INPUT,
					[KAB_BISECT_STOPPED] = KAB_EXIT_INTERRUPTED };
	struct kab_bisect_result result = { 0 };
	int rc = kab_bisect_go(&j->env, name, &result, err);

	if (!rc) {
		if (result.text)
			fprintf(j->cli->out, "%s\n", result.text);
		if (result.end == KAB_BISECT_STOPPED)
			kab_cli_say(j->cli, "kab: stopped; go on with: kab bisect --resume%s%s",
				    name ? " " : "", name ? name : "");
		*ret_status = statuses[result.end];
	} else if (name && err->code != KAB_ERR_NOT_FOUND && !strstr(err->text, "--resume")) {
		kab_cli_say(j->cli, "kab: paused; go on with: kab bisect --resume %s", name);
	}
	free(result.text);
	free(result.culprit);
	return rc;
}

/* A search by git: ours has only the two ends, and the same ones in every step. */
static int begin_steps(struct job *j, struct kab_err *err)
{
	struct kab_bisect_commits commits = { 0 }, known = { 0 };
	struct kab_bisect_setup old = { 0 };
	struct kab_bisect_row row;
	int rc = kab_store_bisect_find(j->store, j->setup.name, &row, err);

	if (rc < 0)
		return -1;
	for (int k = 0; k < 2; k++) {
		struct kab_bisect_commit *c = KAB_PUSH(&commits);

		c->subject = kab_xstrdup("");
		if (kab_bisect_rev_parse(j->setup.repo, k ? j->setup.bad : j->setup.good,
					 &c->revision, err)) {
			kab_bisect_commits_release(&commits);
			return -1;
		}
	}
	if (rc == 1) {
		rc = kab_bisect_begin(j->store, &j->setup, &commits, kab_now_wall_ns(), err);
	} else {
		rc = kab_bisect_setup_from_json(row.setup_json, &old, err);
		if (!rc)
			rc = kab_store_bisect_commits(j->store, row.id, &known, err);
		if (!rc && (!old.steps || known.n < 2 ||
			    strcmp(known.v[0].revision, commits.v[0].revision) != 0 ||
			    strcmp(known.v[1].revision, commits.v[1].revision) != 0))
			rc = kab_err_set(err, KAB_ERR_CONFIG,
					 "the stored bisection '%s' has other end points; name "
					 "this one (--name)",
					 j->setup.name);
		kab_bisect_row_release(&row);
		kab_bisect_setup_release(&old);
		kab_bisect_commits_release(&known);
	}
	kab_bisect_commits_release(&commits);
	return rc;
}

static int step(struct job *j, struct kab_err *err, int *ret_status)
{
	static const int statuses[] = { [KAB_BISECT_ANSWER_GOOD] = STEP_GOOD,
					[KAB_BISECT_ANSWER_BAD] = STEP_BAD,
					[KAB_BISECT_ANSWER_SKIP] = STEP_SKIP };
	static const char *const words[] = { [KAB_BISECT_ANSWER_GOOD] = "good",
					     [KAB_BISECT_ANSWER_BAD] = "bad",
					     [KAB_BISECT_ANSWER_SKIP] = "skip" };
	kab_autofree char *head = NULL, *why = NULL;
	enum kab_bisect_answer answer;

	if (kab_args_get(j->args, "list"))
		return kab_err_set(err, KAB_ERR_USAGE, "--step is for git, which has its own list");
	if (begin_steps(j, err) || kab_bisect_rev_parse(j->setup.repo, "HEAD", &head, err) ||
	    kab_bisect_step(&j->env, j->setup.name, head, &answer, &why, err))
		return -1;
	fprintf(j->cli->out, "%s %.12s: %s\n", words[answer], head, why);
	*ret_status = statuses[answer];
	return 0;
}

static int act(struct job *j, struct kab_err *err, int *ret_status)
{
	bool resume = kab_args_flag(j->args, "resume");

	if (!resume && read_setup(j, err))
		return -1;
	if (open_all(j, err))
		return -1;
	if (resume)
		return go(j, kab_args_at(j->args, 0), err, ret_status);
	if (j->setup.steps)
		return step(j, err, ret_status);
	return begin(j, err) ? -1 : go(j, j->setup.name, err, ret_status);
}

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	struct job j = { .cli = cli, .args = args };
	struct kab_err err = KAB_ERR_INIT;
	int status = KAB_EXIT_OK, rc = act(&j, &err, &status);

	if (rc)
		status = kab_cli_fail(cli, &err);
	/* To git every small number but 0 and 125 is a bad commit: what failed is the lab. */
	if (rc && kab_args_flag(args, "step") && status < STEP_BROKEN)
		status = STEP_BROKEN;
	job_release(&j);
	return kab_cli_finish(cli, status);
}

static const struct kab_opt opts[] = {
	{ "good", '\0', "REV", "a commit from before the change", NULL },
	{ "bad", '\0', "REV", "a later one of the same line that has it", NULL },
	{ "build", '\0', "HOOK", "program that builds a revision, and prints {\"spec\": \"...\"}",
	  NULL },
	{ "build-arg", '\0', "ARG", "argument of the program, before the revision; may be repeated",
	  NULL },
	{ "repo", '\0', "DIR", "the repository; git and the hook work there (default: here)",
	  NULL },
	{ "list", '\0', "FILE", "revisions of a file, the good one first, in place of a repository",
	  NULL },
	{ "host", '\0', "H", "a host of the lab file, or local (the default)", NULL },
	{ "case", '\0', "CASE", "what is looked at (default: what changed most clearly)", NULL },
	{ "metric", '\0', "METRIC", "and which figure of it", NULL },
	{ "boots", '\0', "N", "of each end point and of the last comparison (8)", NULL },
	{ "max-boots", '\0', "N", "of one commit; one that is not clear then is left (24)", NULL },
	{ "name", '\0', "S", "name of the search and of its runs (bisect)", NULL },
	{ "seed", '\0', "N", "seed of the order (drawn and recorded when not given)", NULL },
	{ "wait", '\0', "SECONDS", "wait for a host that somebody else has leased", NULL },
	{ "resume", '\0', NULL, "go on with the search of that name (default: the newest)", NULL },
	{ "step", '\0', NULL, "answer for HEAD, as 'git bisect run' wants it", NULL },
	{ 0 },
};

const struct kab_cmd kab_cmd_bisect = {
	.name = "bisect",
	.summary = "find the commit that changed a figure",
	.synopsis = "SUITE --good REV --bad REV --build HOOK [OPTIONS] | --resume [NAME] | "
		    "--step ...",
	.description =
		"Measures both ends first, and refuses to search when they show no verdict. Then\n"
		"commits are measured in blocks together with the good end. Each block moves the\n"
		"odds; a commit that is not clear gets more boots, never a guess. At a "
		"probability\n"
		"of 0.95 the culprit is compared with its parent, with fresh boots.\n\n"
		"HOOK is a program. It is run in the repository with --build-arg words and the\n"
		"revision, and prints a JSON object with the SPEC of what it built, as behind\n"
		"LABEL= of 'kab run'. Exit status 125 says that the revision cannot be built: it\n"
		"is skipped, as one that does not boot. Any other failure pauses the search, and\n"
		"so does a lab that fails: neither is a bad commit. The repository's work tree is\n"
		"not touched by kab.\n\n"
		"All that is known is stored after every step: --resume goes on after Ctrl-C, a\n"
		"kill or a pause.\n\n"
		"--step answers for the commit that git has checked out: exit 0 good, 1 bad, 125\n"
		"cannot tell or does not boot, 128 the lab is broken. The ends are measured by "
		"the\n"
		"first step. Otherwise: 0 found and confirmed, 3 refused, 5 narrowed down only.",
	.example = "  kab bisect hackbench-groups --good v6.12 --bad v6.13-rc1 --repo ~/linux \\\n"
		   "      --build ./build-deb --host tx2\n"
		   "  kab bisect --resume\n"
		   "  git bisect run kab bisect hackbench-groups --step --good v6.12 \\\n"
		   "      --bad v6.13-rc1 --build ./build-deb --host tx2 --name pipe",
	.completes = "suite",
	.opts = opts,
	.min_pos = 0,
	.max_pos = 1,
	.run = run,
};
