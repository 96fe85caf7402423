/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/measurer.h"
#include "engine/bind.h"
#include "jobs/bisect.h"
#include "transport/transport.h"

#define BOOTS 8
#define MAX_BOOTS 24
#define LISTED 20 /* names in an error */

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

/* "no case 'q' in suite 's'; did you mean 'p'? There is: p, r" */
static int no_such(const char *kind, const char *word, const char *suite, struct kab_strv *names,
		   struct kab_err *err)
{
	struct kab_strv kab_autostrv listed = KAB_STRV_INIT;
	const char *near = kab_text_nearest(word, (const char *const *)kab_strv_argv(names));
	kab_autofree char *all = NULL;

	for (size_t i = 0; i < names->n && i < LISTED; i++)
		kab_strv_add(&listed, names->v[i]);
	if (names->n > LISTED)
		kab_strv_addf(&listed, "and %zu more", names->n - LISTED);
	all = kab_strv_join(&listed, ", ");
	return kab_err_set(err, KAB_ERR_CONFIG, "no %s '%s' in suite '%s'%s%s%s; there is: %s",
			   kind, word, suite, near ? "; did you mean '" : "", near ? near : "",
			   near ? "'?" : "", all);
}

static void add_new(struct kab_strv *names, const char *name)
{
	if (!kab_strv_has(names, name))
		kab_strv_add(names, name);
}

/* An instance will print the metric; what it has instead goes to *names. */
static bool has_metric(const struct kab_instance *in, const struct kab_runner *runner,
		       const char *metric, struct kab_strv *names)
{
	const struct kab_metric_def *def = kab_runner_metric(runner, metric);
	const char *instead;
	bool found = false;

	for (size_t i = 0; i < kab_invocation_metrics_n; i++)
		found |= !strcmp(kab_invocation_metrics[i].name, metric);
	if (def && !kab_metric_is_of_logs(def, &instead)) {
		kab_autofree char *why = NULL;

		found |= !runner->unprinted || !runner->unprinted(metric, &in->params, &why);
	}
	for (size_t i = 0; i < runner->metrics_n; i++) {
		const char *name = runner->metrics[i].name;
		kab_autofree char *why = NULL;

		if (!kab_metric_is_of_logs(&runner->metrics[i], &instead) &&
		    (!runner->unprinted || !runner->unprinted(name, &in->params, &why)))
			add_new(names, name);
	}
	return found;
}

/* What is to be looked at is in the suite: said before kernels are built and hosts are booted. */
static int check_looked_at(struct kab_bisect_setup *s, struct kab_err *err)
{
	struct kab_strv kab_autostrv cases = KAB_STRV_INIT, metrics = KAB_STRV_INIT;
	struct kab_suite suite = { 0 };
	bool case_there = false, metric_there = !s->metric;
	int rc = kab_setup_suite(s->suite, &suite, err);

	for (size_t i = 0; !rc && i < suite.instances_n; i++) {
		const struct kab_instance *in = &suite.instances[i];
		const struct kab_case *c = &suite.cases[in->case_index];
		kab_autofree char *whole = kab_xasprintf("%s/%s", c->name, in->row_key);

		add_new(&cases, c->name);
		if (s->case_name && strchr(s->case_name, '/') && *in->row_key)
			add_new(&cases, whole);
		if (s->case_name && strcmp(s->case_name, c->name) != 0 &&
		    strcmp(s->case_name, whole) != 0)
			continue;
		case_there = true;
		if (s->metric && has_metric(in, kab_case_runner(c), s->metric, &metrics))
			metric_there = true;
	}
	for (size_t i = 0; i < kab_invocation_metrics_n; i++)
		add_new(&metrics, kab_invocation_metrics[i].name);
	if (!rc && s->case_name && !case_there)
		rc = no_such("case", s->case_name, suite.name, &cases, err);
	else if (!rc && !metric_there)
		rc = no_such("metric", s->metric, suite.name, &metrics, err);
	/* It may be gone on with from another folder. */
	free(s->suite);
	s->suite = kab_file_absolute(suite.file);
	kab_suite_release(&suite);
	return rc;
}

/* What is asked for, into j->setup. */
static int read_setup(struct job *j, struct kab_err *err)
{
	const struct kab_args *a = j->args;
	struct kab_bisect_setup *s = &j->setup;
	const char *arg, *name = kab_args_get(a, "name"), *suite = kab_args_at(a, 0);
	/* The hook of a list without a repository works wherever kab is. */
	const char *repo =
		kab_args_get(a, "repo") || kab_args_get(a, "list") ? kab_args_get(a, "repo") : ".";
	char *hook = NULL;
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
		.repo = kab_file_absolute(repo),
		.good = kab_xstrdup(kab_args_get(a, "good")),
		.bad = kab_xstrdup(kab_args_get(a, "bad")),
		.case_name = kab_xstrdup(kab_args_get(a, "case")),
		.metric = kab_xstrdup(kab_args_get(a, "metric")),
		.boots = (int)boots,
		.max_boots = (int)max_boots,
		.seed = (uint64_t)seed,
		.steps = kab_args_flag(a, "step"),
	};
	if (kab_bisect_hook_path(kab_args_get(a, "build"), &hook, err))
		return -1;
	kab_strv_take(&s->hook, hook);
	for (size_t i = 0; (arg = kab_args_nth(a, "build-arg", i)); i++)
		kab_strv_add(&s->hook, arg);
	return check_looked_at(s, err);
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
			kab_cli_say(j->cli, "kab: stopped; go on with: kab bisect --resume %s",
				    name);
		*ret_status = statuses[result.end];
	} else if (!strstr(err->text, "--resume")) {
		kab_cli_say(j->cli, "kab: paused; go on with: kab bisect --resume %s", name);
	}
	free(result.text);
	free(result.culprit);
	return rc;
}

static void say_hook(const struct job *j, const char *name, struct kab_strv *hook)
{
	kab_autofree char *shown = kab_quote_argv((const char *const *)kab_strv_argv(hook));

	kab_cli_say(j->cli, "kab: bisection '%s': the hook is now: %s", name, shown);
}

/* The hook that is given from now on, for the search of that name. */
static int set_hook(struct job *j, const char *name, struct kab_err *err)
{
	struct kab_strv kab_autostrv words = KAB_STRV_INIT, hook = KAB_STRV_INIT;
	const char *given = kab_args_get(j->args, "build"), *arg;
	kab_autofree char *program = NULL;

	for (size_t i = 0; (arg = kab_args_nth(j->args, "build-arg", i)); i++)
		kab_strv_add(&words, arg);
	if (given && kab_bisect_hook_path(given, &program, err))
		return -1;
	if (kab_bisect_set_hook(j->store, name, program, &words, &hook, err))
		return -1;
	say_hook(j, name, &hook);
	return 0;
}

/* A step names the whole hook: also no words are what it is called with. */
static int take_hook(struct job *j, int64_t id, struct kab_bisect_setup *old, struct kab_err *err)
{
	kab_autofree char *json = NULL;

	if (kab_strv_equal(&old->hook, &j->setup.hook))
		return 0;
	kab_strv_release(&old->hook);
	kab_strv_copy(&old->hook, &j->setup.hook);
	json = kab_bisect_setup_json(old);
	if (kab_store_bisect_setup(j->store, id, json, err))
		return -1;
	say_hook(j, old->name, &old->hook);
	return 0;
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
					 "the stored bisection '%s' has other end points; give "
					 "this one another name (--name), or delete that one "
					 "(kab bisect --delete %s)",
					 j->setup.name, j->setup.name);
		if (!rc)
			rc = take_hook(j, row.id, &old, err);
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

/* A search that is stored already: what it looks for cannot be changed. */
static int refuse_others(const struct job *j, const char *with, const char *const *taken,
			 struct kab_err *err)
{
	static const char *const all[] = { "good", "bad",	"build", "build-arg", "repo",
					   "list", "host",	"case",	 "metric",    "boots",
					   "seed", "max-boots", "name",	 "wait",      "resume",
					   "step", "delete",	"yes" };
	const char *stray = NULL;

	for (size_t i = 0; !stray && i < sizeof(all) / sizeof(all[0]); i++) {
		bool fine = !strcmp(all[i], with);

		for (size_t k = 0; taken[k]; k++)
			fine |= !strcmp(all[i], taken[k]);
		if (!fine && kab_args_flag(j->args, all[i]))
			stray = all[i];
	}
	if (!stray)
		return 0;
	if (!strcmp(stray, "name"))
		return kab_err_set(err, KAB_ERR_USAGE, "the name follows --%s: kab bisect --%s %s",
				   with, with, kab_args_get(j->args, "name"));
	if (!strcmp(with, "delete"))
		return kab_err_set(err, KAB_ERR_USAGE, "--%s does not go with --delete", stray);
	return kab_err_set(err, KAB_ERR_USAGE,
			   "--%s does not go with --resume: a search goes on as it was begun, only "
			   "--build, --build-arg and --wait may be given; for another search begin "
			   "one with another --name",
			   stray);
}

static int resume(struct job *j, struct kab_err *err, int *ret_status)
{
	struct kab_bisect_row row;
	int rc = 0;

	if (open_all(j, err) || kab_bisect_find(j->store, kab_args_at(j->args, 0), &row, err))
		return -1;
	if (kab_args_get(j->args, "build") || kab_args_get(j->args, "build-arg"))
		rc = set_hook(j, row.name, err);
	if (!rc)
		rc = go(j, row.name, err, ret_status);
	kab_bisect_row_release(&row);
	return rc;
}

static bool confirmed(const struct job *j, const char *name)
{
	char answer[16] = "";

	if (kab_args_flag(j->args, "yes"))
		return true;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return false;
	fprintf(stderr, "kab: delete bisection '%s'? It cannot be taken back. [y/N] ", name);
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static int delete (struct job *j, struct kab_err *err)
{
	struct kab_bisect_row row;
	int rc;

	if (!kab_args_at(j->args, 0))
		return kab_err_set(err, KAB_ERR_USAGE, "which bisection is to be deleted?");
	if (kab_cli_open_store(j->cli, KAB_STORE_CHANGE, &j->store, err) ||
	    kab_bisect_find(j->store, kab_args_at(j->args, 0), &row, err))
		return -1;
	if (!confirmed(j, row.name))
		rc = kab_err_set(err, KAB_ERR_USAGE, "nothing deleted; add --yes");
	else
		rc = kab_store_bisect_delete(j->store, row.id, err);
	if (!rc)
		kab_cli_say(j->cli, "kab: bisection '%s' deleted; its runs stay", row.name);
	kab_bisect_row_release(&row);
	return rc;
}

static int act(struct job *j, struct kab_err *err, int *ret_status)
{
	static const char *const with_resume[] = { "build", "build-arg", "wait", NULL };
	static const char *const with_delete[] = { "yes", NULL };

	if (kab_args_flag(j->args, "delete"))
		return refuse_others(j, "delete", with_delete, err) ? -1 : delete (j, err);
	if (kab_args_flag(j->args, "resume"))
		return refuse_others(j, "resume", with_resume, err) ? -1
								    : resume(j, err, ret_status);
	if (kab_args_flag(j->args, "yes"))
		return kab_err_set(err, KAB_ERR_USAGE, "--yes is for --delete");
	if (read_setup(j, err) || open_all(j, err))
		return -1;
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
	{ "delete", '\0', NULL, "delete the search of that name; its runs stay", NULL },
	{ "yes", '\0', NULL, "do not ask (with --delete)", NULL },
	{ "step", '\0', NULL, "answer for HEAD, as 'git bisect run' wants it", NULL },
	{ 0 },
};

const struct kab_cmd kab_cmd_bisect = {
	.name = "bisect",
	.summary = "find the commit that changed a figure",
	.synopsis = "SUITE [--step] --good REV --bad REV --build HOOK | --resume [NAME] | "
		    "--delete NAME",
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
		"so does a lab that fails: neither is a bad commit. A path with a slash is one\n"
		"from the current folder. The repository's work tree is not touched by kab.\n\n"
		"All that is known is stored after every step: --resume goes on after Ctrl-C, a\n"
		"kill or a pause; --build and --build-arg then replace the hook and its words.\n\n"
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
