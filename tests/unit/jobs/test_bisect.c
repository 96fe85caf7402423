/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Searches through the 64 commits of a real repository: one of them changes the number that a
 * benchmark gives, and hosts are only numbers. What git bisect cannot tell apart is told apart here:
 * a commit that does not boot, a lab that fails, a step that is not clear.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "jobs/bisect.h"
#include "jobs/bisect_rule.h"
#include "lab.h"

#define COMMITS 64 /* after the good one */
#define CULPRIT 41

struct search {
	char dir[40], *path;
	struct kab_store *store;
	struct kab_suite suite;
	struct kab_lab lab;
	struct lab_world world;
	struct kab_rng rng;
	struct kab_bisect_env env;
	struct kab_bisect_setup setup;
	struct kab_bisect_commits commits;
	struct kab_err err;
	uint64_t seed;
	double effect; /* ln, of the culprit */
	double sd; /* of a boot */
	int no_build, no_boot; /* positions; 0: none */
	int middle; /* a commit half way, and only it; 0: none */
	int fail_after, kill_after; /* executions */
	int lose_third; /* so many runs lose a third of the good end's boots */
	int executions, builds;
	char said[8192];
};

/* "c12-abcdef123456": where in the line that revision is. */
static int position_of(const struct search *s, const char *label)
{
	const char *revision = strchr(label, '-');

	for (size_t i = 0; revision && i < s->commits.n; i++)
		if (!strncmp(revision + 1, s->commits.v[i].revision, 12))
			return (int)i;
	fail_msg("'%s' is no commit", label);
	return -1;
}

static double value(void *ctx, const struct lab_question *q)
{
	struct search *s = ctx;
	int at = position_of(s, q->kernel);
	double x = at >= CULPRIT ? s->effect : 0;
	struct kab_rng boot;

	if (s->lose_third > 0 && at == 0 && q->block % 3 == 0)
		return NAN;
	if (at == s->middle && at)
		x = s->effect / 2;
	kab_rng_seed(&boot, s->seed * 7919 + (uint64_t)q->boot);
	return 100 * exp(x + s->sd * kab_rng_normal(&boot) + 0.0005 * kab_rng_normal(&s->rng));
}

static bool boots(void *ctx, const char *host, const char *kernel)
{
	const struct search *s = ctx;

	(void)host;
	return !s->no_boot || position_of(s, kernel) != s->no_boot;
}

static int create(void *ctx, const struct kab_measure *what, int64_t *ret_run_id, char **ret_name,
		  struct kab_err *err)
{
	struct search *s = ctx;

	(void)err;
	*ret_run_id = lab_make(s->store, &s->suite, &s->lab, &s->world, what->name, "h1",
			       (const char *const *)what->kernels->v, what->boots, what->seed);
	*ret_name = kab_xstrdup(what->name);
	return 0;
}

static int execute(void *ctx, int64_t run_id, const char *name, struct kab_err *err)
{
	struct search *s = ctx;

	s->executions++;
	if (s->kill_after && s->executions > s->kill_after)
		return 1;
	if (s->fail_after && s->executions == s->fail_after)
		return kab_err_set(err, KAB_ERR_CONNECT, "run '%s': host unreachable", name);
	lab_fill(s->store, run_id, &s->world);
	if (s->lose_third > 0)
		s->lose_third--;
	return 0;
}

static int build(void *ctx, const char *revision, char **ret_spec, char **ret_why,
		 struct kab_err *err)
{
	struct search *s = ctx;

	(void)err;
	s->builds++;
	if (s->no_build && !strcmp(revision, s->commits.v[s->no_build].revision)) {
		*ret_why = kab_xstrdup("cannot be built: missing symbol");
		return 1;
	}
	*ret_spec = kab_xasprintf("release:%.12s", revision);
	return 0;
}

static void say(void *ctx, const char *text)
{
	struct search *s = ctx;
	size_t n = strlen(s->said);

	snprintf(s->said + n, sizeof(s->said) - n, "%s\n", text);
	if (getenv("KAB_BISECT_TALK"))
		print_message("%s\n", text);
}

static void command(const char *const *argv)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		fprintf(stderr, "%s failed\n", argv[0]);
		abort();
	}
}

static char repo[40];

/* A repository of 65 commits, by git itself. */
static int make_repo(void **state)
{
	static const char script[] =
		"cd \"$1\" && git init -q . && git config user.name t && git config user.email t@t "
		"&& "
		"i=0; while [ $i -le 64 ]; do echo $i >number; git add number; "
		"git commit -q -m \"number $i\" || exit 1; i=$((i + 1)); done";
	const char *const argv[] = { "sh", "-c", script, "sh", repo, NULL };

	(void)state;
	snprintf(repo, sizeof(repo), "/tmp/kab-bisect-repo-XXXXXX");
	if (!mkdtemp(repo))
		return -1;
	command(argv);
	return 0;
}

static void remove_dir(const char *dir)
{
	const char *const argv[] = { "rm", "-rf", dir, NULL };

	command(argv);
}

static int drop_repo(void **state)
{
	(void)state;
	remove_dir(repo);
	return 0;
}

static int setup(void **state)
{
	static const char *const cases[] = { "pipe", NULL };
	struct search *s = kab_xcalloc(1, sizeof(*s));

	snprintf(s->dir, sizeof(s->dir), "%s/kab-bisect-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(s->dir))
		return -1;
	s->path = kab_xasprintf("%s/kab.db", s->dir);
	if (kab_store_open(s->path, KAB_STORE_WRITE, &s->store, &s->err))
		return -1;
	lab_suite(&s->suite, cases, 8, 1, 1);
	lab_hosts(&s->lab, 1);
	s->world = (struct lab_world){ .value = value, .boots = boots, .ctx = s };
	s->env = (struct kab_bisect_env){
		.store = s->store,
		.measurer = { .ctx = s, .create = create, .execute = execute },
		.cancel_fd = -1,
		.say = say,
		.build = build,
		.ctx = s,
	};
	s->effect = log(1.04);
	s->sd = 0.01;
	s->seed = 3;
	kab_rng_seed(&s->rng, 5);
	s->setup = (struct kab_bisect_setup){ .name = kab_xstrdup("b"),
					      .suite = kab_xstrdup("night"),
					      .host = kab_xstrdup("h1"),
					      .repo = kab_xstrdup(repo),
					      .good = kab_xstrdup("HEAD~64"),
					      .bad = kab_xstrdup("HEAD"),
					      .boots = 8,
					      .max_boots = 12,
					      .seed = 1 };
	if (kab_bisect_git(repo, s->setup.good, s->setup.bad, &s->commits, &s->err)) {
		fprintf(stderr, "%s\n", s->err.text);
		return -1;
	}
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct search *s = *state;

	kab_store_close(s->store);
	remove_dir(s->dir);
	kab_bisect_setup_release(&s->setup);
	kab_bisect_commits_release(&s->commits);
	kab_suite_release(&s->suite);
	kab_lab_release(&s->lab);
	free(s->path);
	free(s);
	return 0;
}

static void begin(struct search *s)
{
	if (kab_bisect_begin(s->store, &s->setup, &s->commits, 1, &s->err))
		fail_msg("%s", s->err.text);
}

static void go(struct search *s, struct kab_bisect_result *ret)
{
	if (kab_bisect_go(&s->env, "b", ret, &s->err))
		fail_msg("%s", s->err.text);
}

static void drop(struct kab_bisect_result *r)
{
	free(r->text);
	free(r->culprit);
}

static void finds(void **state)
{
	struct search *s = *state;
	struct kab_bisect_result r, again;

	assert_int_equal(s->commits.n, COMMITS + 1);
	assert_string_equal(s->commits.v[CULPRIT].subject, "number 41");
	begin(s);
	go(s, &r);
	assert_int_equal(r.end, KAB_BISECT_FOUND);
	assert_string_equal(r.culprit, s->commits.v[CULPRIT].revision);
	assert_non_null(strstr(r.text, "against its parent"));
	assert_non_null(strstr(r.text, "number 41"));
	assert_true(r.probability >= KAB_BISECT_ENOUGH);
	/* The end is kept: nothing is measured again. */
	s->executions = 0;
	go(s, &again);
	assert_string_equal(again.text, r.text);
	assert_int_equal(s->executions, 0);
	drop(&r);
	drop(&again);
}

/* Stopped after every execution: the same end, and every run is carried out once. */
static void goes_on(void **state)
{
	struct search *s = *state;
	struct kab_bisect_result r;
	int stops = 0, total;

	begin(s);
	for (;;) {
		s->executions = 0;
		s->kill_after = 1;
		go(s, &r);
		if (r.end != KAB_BISECT_STOPPED)
			break;
		stops++;
		assert_true(stops < 60);
		drop(&r);
	}
	assert_int_equal(r.end, KAB_BISECT_FOUND);
	assert_string_equal(r.culprit, s->commits.v[CULPRIT].revision);
	total = s->builds;
	assert_true(total <= 20); /* no revision is built twice */
	drop(&r);
}

/* The lab fails in the third run: a pause, no verdict; then it goes on and finds. */
static void lab_fails(void **state)
{
	struct search *s = *state;
	struct kab_bisect_result r;

	begin(s);
	s->fail_after = 3;
	assert_int_equal(kab_bisect_go(&s->env, "b", &r, &s->err), -1);
	assert_non_null(strstr(s->err.text, "host unreachable"));
	go(s, &r);
	assert_int_equal(r.end, KAB_BISECT_FOUND);
	assert_string_equal(r.culprit, s->commits.v[CULPRIT].revision);
	drop(&r);
}

/* A third of the good end's boots fail in a run: it does not vote, the search pauses, and another run
 * is made. */
static void lost_boots(void **state)
{
	struct search *s = *state;
	struct kab_bisect_result r;

	begin(s);
	s->kill_after = 2;
	go(s, &r); /* end points and one step */
	assert_int_equal(r.end, KAB_BISECT_STOPPED);
	s->kill_after = 0;
	s->lose_third = 1;
	assert_int_equal(kab_bisect_go(&s->env, "b", &r, &s->err), -1);
	assert_non_null(strstr(s->err.text, "lost too many boots of the good end"));
	go(s, &r);
	assert_int_equal(r.end, KAB_BISECT_FOUND);
	assert_string_equal(r.culprit, s->commits.v[CULPRIT].revision);
	drop(&r);
}

/* The commit before the culprit does not build, the one in the middle does not boot. */
static void skips(void **state)
{
	struct search *s = *state;
	struct kab_bisect_result r;

	s->no_build = CULPRIT - 1;
	s->no_boot = COMMITS / 2;
	begin(s);
	go(s, &r);
	assert_non_null(strstr(s->said, "skipped: does not boot"));
	/* The two cannot be told apart: both are named, neither is called the culprit. */
	assert_int_equal(r.end, KAB_BISECT_STUCK);
	assert_null(r.culprit);
	assert_non_null(strstr(r.text, "one of these 2 commits"));
	assert_non_null(strstr(r.text, "number 40 (cannot be built: missing symbol)"));
	assert_non_null(strstr(r.text, "number 41"));
	drop(&r);
}

static void refuses(void **state)
{
	struct search *s = *state;
	struct kab_bisect_result r;

	s->effect = 0;
	begin(s);
	go(s, &r);
	assert_int_equal(r.end, KAB_BISECT_REFUSED);
	assert_non_null(strstr(r.text, "end points show no change"));
	assert_int_equal(s->executions, 1);
	drop(&r);
}

static void git_says_no(void **state)
{
	struct search *s = *state;
	struct kab_bisect_commits c;

	assert_int_equal(kab_bisect_git(repo, "HEAD", "HEAD~3", &c, &s->err), -1);
	assert_non_null(strstr(s->err.text, "no ancestor"));
	assert_int_equal(kab_bisect_git(repo, "--output=kab-bisect-x", "HEAD", &c, &s->err), -1);
	assert_non_null(strstr(s->err.text, "is no commit"));
	assert_int_not_equal(access("kab-bisect-x", F_OK), 0);
}

/* One answer for each revision, as git asks: good, bad, does not boot, lies between. */
static void steps(void **state)
{
	static const struct {
		int at;
		enum kab_bisect_answer answer;
	} asked[] = { { 20, KAB_BISECT_ANSWER_GOOD },
		      { 50, KAB_BISECT_ANSWER_BAD },
		      { 30, KAB_BISECT_ANSWER_SKIP },
		      { 0, KAB_BISECT_ANSWER_GOOD },
		      { 64, KAB_BISECT_ANSWER_BAD } };
	struct search *s = *state;
	struct kab_bisect_commits ends = { .n = 2, .v = kab_xcalloc(2, sizeof(*ends.v)) };

	ends.v[0].revision = s->commits.v[0].revision;
	ends.v[1].revision = s->commits.v[COMMITS].revision;
	ends.v[0].subject = ends.v[1].subject = (char *)"";
	s->setup.steps = true;
	s->no_boot = 30;
	assert_int_equal(kab_bisect_begin(s->store, &s->setup, &ends, 1, &s->err), 0);
	free(ends.v);
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		enum kab_bisect_answer answer;
		char *why;

		if (kab_bisect_step(&s->env, "b", s->commits.v[asked[i].at].revision, &answer, &why,
				    &s->err))
			fail_msg("%s", s->err.text);
		assert_int_equal(answer, asked[i].answer);
		assert_non_null(why);
		free(why);
	}
}

/* ---- the rule alone ---- */

static double spread_of(const struct kab_bisect_node *n)
{
	return n->blocks ? n->sum_sq - n->sum * n->sum / (double)n->blocks : 0;
}

/* A block: the difference of two boots, each with sd 1. */
static void draw(struct kab_bisect_node *n, size_t blocks, double level, struct kab_rng *rng)
{
	for (size_t i = 0; i < blocks; i++) {
		double x = level + sqrt(2) * kab_rng_normal(rng);

		n->sum += x;
		n->sum_sq += x * x;
	}
	n->blocks += blocks;
}

static struct kab_bisect_levels levels_of(const struct kab_bisect_node *ends,
					  const struct kab_bisect_node *nodes)
{
	struct kab_bisect_levels l = { .blocks = ends->blocks,
				       .delta = ends->sum / (double)ends->blocks,
				       .df = (double)ends->blocks - 1 };
	double spread = spread_of(ends);

	for (size_t i = 1; i < COMMITS; i++)
		if (nodes[i].blocks) {
			spread += spread_of(&nodes[i]);
			l.df += (double)nodes[i].blocks - 1;
		}
	l.sd = sqrt(spread / l.df);
	return l;
}

/* The share of searches that point at the right commit; the boots (of both sides, without the last
 * comparison) that they took. */
static double simulate(double effect_sd, int trials, size_t end_blocks, size_t max_blocks,
		       double *ret_boots)
{
	struct kab_rng rng;
	size_t right = 0, total = 0;

	kab_rng_seed(&rng, 11);
	for (int t = 0; t < trials; t++) {
		struct kab_bisect_node nodes[COMMITS + 1] = { 0 }, ends = { 0 };
		double post[COMMITS + 1];
		size_t culprit = 1 + kab_rng_below(&rng, COMMITS), first = 0, end = 0, next = 1;

		draw(&ends, end_blocks, effect_sd, &rng);
		total += 2 * end_blocks;
		while (next) {
			struct kab_bisect_levels l = levels_of(&ends, nodes);
			size_t k = kab_bisect_blocks(&l, 2, max_blocks);

			kab_bisect_posterior(&l, nodes, COMMITS, post);
			if (kab_bisect_best(nodes, COMMITS, post, &first, &end) >=
			    KAB_BISECT_ENOUGH)
				break;
			next = kab_bisect_next(nodes, COMMITS, post, max_blocks);
			if (next && nodes[next].blocks)
				k = k / 2 > 1 ? k / 2 : 1;
			if (next && k > max_blocks - nodes[next].blocks)
				k = max_blocks - nodes[next].blocks;
			if (next)
				draw(&nodes[next], k, next >= culprit ? effect_sd : 0, &rng);
			total += next ? 2 * k : 0;
		}
		right += first == culprit && end == culprit + 1;
	}
	*ret_boots = (double)total / trials;
	return (double)right / trials;
}

/* The midpoint rule with known levels: k boots of one commit a step (36 / 78 / 93 / 99 % for 2 sd at
 * k = 1 / 3 / 5 / 8, 11 / 28 / 43 / 61 % for 1 sd). */
static double midpoint(double effect_sd, int trials, int k)
{
	struct kab_rng rng;
	int right = 0;

	kab_rng_seed(&rng, 12);
	for (int t = 0; t < trials; t++) {
		size_t culprit = 1 + kab_rng_below(&rng, COMMITS), low = 0, high = COMMITS;

		while (high - low > 1) {
			size_t at = (low + high) / 2;
			double sum = 0;

			for (int i = 0; i < k; i++)
				sum += (at >= culprit ? effect_sd : 0) + kab_rng_normal(&rng);
			if (sum / k > effect_sd / 2)
				high = at;
			else
				low = at;
		}
		right += high == culprit;
	}
	return (double)right / trials;
}

static void rule(void **state)
{
	static const struct {
		double effect;
		size_t ends, max;
		double share, boots; /* at least, at most */
	} tried[] = { { 4, 8, 12, 0.93, 120 },
		      { 2, 8, 12, 0.9, 240 },
		      { 2, 8, 24, 0.9, 240 },
		      { 1, 16, 40, 0.85, 1000 } };
	const char *many = getenv("KAB_BISECT_TRIALS");
	int trials = many ? lab_number(many) : 400;

	(void)state;
	for (size_t i = 0; i < sizeof(tried) / sizeof(tried[0]); i++) {
		double boots_of, share = simulate(tried[i].effect, trials, tried[i].ends,
						  tried[i].max, &boots_of);

		print_message("effect %.0f sd, ends %zu, max %zu: right %.1f %%, %.0f boots\n",
			      tried[i].effect, tried[i].ends, tried[i].max, 100 * share, boots_of);
		assert_true(share > tried[i].share);
		assert_true(boots_of < tried[i].boots);
	}
	print_message("midpoint, 2 sd: %.0f %% with 3 boots a step, %.0f %% with 8; 1 sd: %.0f %% "
		      "with 8\n",
		      100 * midpoint(2, trials, 3), 100 * midpoint(2, trials, 8),
		      100 * midpoint(1, trials, 8));
	/* Known figures of the midpoint rule: both are of the same world. */
	assert_true(fabs(midpoint(2, 2000, 3) - 0.78) < 0.05);
	assert_true(fabs(midpoint(1, 2000, 8) - 0.61) < 0.05);
}

/* A value half way between the levels is no answer, however often it is measured. */
static void between(void **state)
{
	const struct kab_bisect_levels l = { .delta = 4, .blocks = 8, .sd = 0.2, .df = 20 };
	struct kab_bisect_node n = { .blocks = 12, .sum = 24 };

	(void)state;
	assert_true(kab_bisect_between(&l, &n));
	assert_int_equal(kab_bisect_call(&l, &n), KAB_BISECT_UNSURE);
	n.sum = 0;
	assert_int_equal(kab_bisect_call(&l, &n), KAB_BISECT_GOOD);
	n.sum = 48;
	assert_int_equal(kab_bisect_call(&l, &n), KAB_BISECT_BAD);
	assert_false(kab_bisect_between(&l, &n));
}

static void file(const char *path, mode_t mode)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs("#!/bin/sh\nexit 125\n", f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, mode), 0);
}

/* A hook is looked for where the user is, and found from everywhere. */
static void hook_path(void **state)
{
	struct search *s = *state;
	kab_autofree char *program = kab_xasprintf("%s/build", s->dir);
	kab_autofree char *plain = kab_xasprintf("%s/plain", s->dir), *got = NULL;
	char here[4096];

	file(program, 0755);
	file(plain, 0644);
	assert_non_null(getcwd(here, sizeof(here)));
	assert_int_equal(chdir(s->dir), 0);
	assert_int_equal(kab_bisect_hook_path("./build", &got, &s->err), 0);
	assert_string_equal(got, program);
	free(got);
	assert_int_equal(kab_bisect_hook_path(program, &got, &s->err), 0);
	assert_string_equal(got, program);
	free(got);
	assert_int_equal(kab_bisect_hook_path("env", &got, &s->err), 0);
	assert_string_equal(got, "env");
	assert_int_equal(kab_bisect_hook_path("./plain", &got, &s->err), -1);
	assert_non_null(strstr(s->err.text, plain));
	assert_non_null(strstr(s->err.text, "not executable"));
	assert_int_equal(s->err.code, KAB_ERR_CONFIG);
	assert_int_equal(kab_bisect_hook_path("./nothing", &got, &s->err), -1);
	assert_non_null(strstr(s->err.text, "is not there"));
	assert_int_equal(kab_bisect_hook_path("../", &got, &s->err), -1);
	assert_non_null(strstr(s->err.text, "is no file"));
	/* Not of PATH, although it is here. */
	assert_int_equal(kab_bisect_hook_path("build", &got, &s->err), -1);
	assert_non_null(strstr(s->err.text, "./build"));
	assert_int_equal(chdir(here), 0);
}

/* A wrong hook is no dead end, and a search can be deleted. */
static void other_hook(void **state)
{
	struct search *s = *state;
	struct kab_strv kab_autostrv hook = KAB_STRV_INIT, none = KAB_STRV_INIT;
	struct kab_strv kab_autostrv words = KAB_STRV_INIT, last = KAB_STRV_INIT;
	struct kab_bisect_result r;
	struct kab_bisect_row row;

	kab_strv_add(&s->setup.hook, "/bin/false");
	kab_strv_add(&s->setup.hook, "word");
	begin(s);
	s->env.build = NULL;
	assert_int_equal(kab_bisect_go(&s->env, "b", &r, &s->err), -1);
	assert_non_null(strstr(s->err.text, "hook '/bin/false' ended with status 1"));
	assert_int_equal(kab_bisect_set_hook(s->store, "b", "/bin/true", &none, &hook, &s->err), 0);
	assert_int_equal(hook.n, 2);
	assert_string_equal(hook.v[0], "/bin/true");
	assert_string_equal(hook.v[1], "word");
	kab_strv_add(&words, "other");
	assert_int_equal(kab_bisect_set_hook(s->store, "b", NULL, &words, &last, &s->err), 0);
	assert_int_equal(last.n, 2);
	assert_string_equal(last.v[0], "/bin/true");
	assert_string_equal(last.v[1], "other");
	assert_int_equal(kab_bisect_go(&s->env, "b", &r, &s->err), -1);
	assert_non_null(strstr(s->err.text, "output of '/bin/true'"));
	s->env.build = build;
	go(s, &r);
	assert_int_equal(r.end, KAB_BISECT_FOUND);
	drop(&r);
	assert_int_equal(kab_bisect_set_hook(s->store, "b", "/bin/true", &none, &last, &s->err),
			 -1);
	assert_non_null(strstr(s->err.text, "has ended"));

	assert_int_equal(kab_bisect_find(s->store, "bb", &row, &s->err), -1);
	assert_int_equal(s->err.code, KAB_ERR_NOT_FOUND);
	assert_non_null(strstr(s->err.text, "there is: b"));
	assert_int_equal(kab_bisect_find(s->store, NULL, &row, &s->err), 0);
	assert_int_equal(kab_store_bisect_delete(s->store, row.id, &s->err), 0);
	kab_bisect_row_release(&row);
	assert_int_equal(kab_bisect_find(s->store, NULL, &row, &s->err), -1);
	assert_non_null(strstr(s->err.text, "none was begun"));
	begin(s);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(finds),
		TEST(goes_on),
		TEST(lab_fails),
		TEST(lost_boots),
		TEST(skips),
		TEST(refuses),
		TEST(steps),
		TEST(git_says_no),
		TEST(hook_path),
		TEST(other_hook),
		cmocka_unit_test(rule),
		cmocka_unit_test(between),
	};

	return cmocka_run_group_tests(tests, make_repo, drop_repo);
}
