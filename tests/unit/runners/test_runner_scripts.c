/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The scripts that runners place on a target, run for real: as command() places them, in the shells
 * that are here, and what they print through parse().
 */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "support.h"

extern char **environ;

static char folder[] = "/tmp/kab-scripts-XXXXXX";

static int make_folder(void **state)
{
	char *iteration kab_autofree = NULL;

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	iteration = kab_xasprintf("%s/it", folder);
	return mkdir(iteration, 0700) || chdir(iteration);
}

static int run_argv(char *const *argv)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int status;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "out.txt", O_CREAT | O_TRUNC | O_WRONLY,
					 0600);
	posix_spawn_file_actions_adddup2(&actions, 1, 2);
	if (posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ))
		return 127;
	posix_spawn_file_actions_destroy(&actions);
	if (waitpid(pid, &status, 0) != pid)
		return 127;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int remove_folder(void **state)
{
	struct kab_strv argv kab_autostrv = KAB_STRV_INIT;

	(void)state;
	kab_strv_add(&argv, "rm");
	kab_strv_add(&argv, "-rf");
	kab_strv_add(&argv, folder);
	return run_argv(kab_strv_argv(&argv)) || chdir("/");
}

/* One iteration of `runner` in the present folder; `shell` replaces sh ("busybox": busybox sh). */
static void iterate(const char *runner, const char *text, const char *shell,
		    struct kab_parse_result *ret)
{
	const struct kab_runner *r = kab_runner_find(runner);
	struct kab_strv pairs kab_autostrv = KAB_STRV_INIT;
	struct kab_strv argv kab_autostrv = KAB_STRV_INIT;
	struct kab_params params = { 0 };
	struct kab_facts facts = { 0 };
	struct kab_command cmd = { 0 };
	struct kab_err err = KAB_ERR_INIT;
	size_t len;
	char *out;
	int status;

	kab_strv_split(&pairs, text, '|');
	for (size_t i = 0; i < pairs.n; i++) {
		char *equals = strchr(pairs.v[i], '=');

		*equals = '\0';
		kab_params_set(&params, pairs.v[i], equals + 1);
	}
	assert_int_equal(kab_runner_check_params(r, &params, &err), 0);
	assert_int_equal(r->command(&params, &facts, &cmd, &err), 0);
	for (size_t i = 0; i < cmd.place_n; i++) {
		FILE *f = fopen(cmd.place[i].name, "w");

		assert_non_null(f);
		assert_int_equal(fwrite(cmd.place[i].data, 1, cmd.place[i].len, f),
				 cmd.place[i].len);
		assert_int_equal(fclose(f), 0);
	}
	kab_strv_add(&argv, shell);
	if (!strcmp(shell, "busybox"))
		kab_strv_add(&argv, "sh");
	for (size_t i = 1; i < cmd.argv.n; i++)
		kab_strv_add(&argv, cmd.argv.v[i]);
	status = run_argv(kab_strv_argv(&argv));
	out = slurp("out.txt", &len);
	parse_bytes(runner, out, len, status, &params, ret);
	free(out);
	kab_command_release(&cmd);
	kab_params_release(&params);
	kab_facts_release(&facts);
}

static double one_value(const char *params, const char *shell)
{
	struct kab_parse_result result;
	double value;

	iterate("synthetic", params, shell, &result);
	assert_int_equal(result.status, KAB_PARSE_OK);
	assert_int_equal(result.samples.n, 1);
	value = result.samples.v[0].value;
	kab_parse_result_release(&result);
	return value;
}

static void means_and_deviations(void **state)
{
	static const char *const dists[] = { "normal",	"lognormal",   "bimodal",
					     "uniform", "exponential", "constant" };

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(dists); i++) {
		char *params kab_autofree = kab_xasprintf(
			"dist=%s|mean=50|sd=5|samples=4000|seed=%zu", dists[i], i + 1);
		double sum = 0, squares = 0, mean, sd;
		struct kab_parse_result r;

		iterate("synthetic", params, "sh", &r);
		assert_int_equal(r.samples.n, 4000);
		for (size_t j = 0; j < r.samples.n; j++)
			sum += r.samples.v[j].value;
		mean = sum / 4000;
		for (size_t j = 0; j < r.samples.n; j++)
			squares += pow(r.samples.v[j].value - mean, 2);
		sd = sqrt(squares / 3999);
		/* Five standard errors of the mean; 10 % of the deviation. */
		if (fabs(mean - 50) > 0.4 || (i < 5 ? fabs(sd - 5) > 0.5 : sd > 0))
			fail_msg("%s: mean %g, deviation %g", dists[i], mean, sd);
		kab_parse_result_release(&r);
	}
}

/* Same seed, same stream in every shell; a new call draws anew. */
static void repeatable_with_a_seed(void **state)
{
	static const char *const shells[] = { "dash", "bash", "busybox" };
	double first[3], second[3];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		static const char params[] = "seed=42|state=count";

		first[i] = one_value(params, shells[i]);
		second[i] = one_value(params, shells[i]);
		assert_int_equal(unlink("count"), 0);
		assert_true(first[i] == first[0] && second[i] == second[0]);
	}
	assert_true(first[0] != second[0]);
	/* Without one they differ. */
	assert_true(one_value("mean=100", "sh") != one_value("mean=100", "sh"));
}

static void fails_when_told(void **state)
{
	static const struct {
		const char *params;
		enum kab_parse_status status;
	} table[] = {
		{ "fail_every=1|exit_status=3", KAB_PARSE_TOOL_FAILED },
		{ "fail_every=1|fail_mode=nothing", KAB_PARSE_NO_RESULT },
		{ "fail_every=1|fail_mode=truncated", KAB_PARSE_TRUNCATED },
		{ "fail_every=1|fail_mode=signal", KAB_PARSE_TRUNCATED },
		{ "fail_every=0|fail_mode=exit", KAB_PARSE_OK },
	};
	struct kab_parse_result r;

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(table); i++) {
		iterate("synthetic", table[i].params, "sh", &r);
		if (r.status != table[i].status)
			fail_msg("%s: %s", table[i].params, kab_parse_status_name(r.status));
		kab_parse_result_release(&r);
	}
	/* The fourth of five, as a user would want to see it. */
	for (int i = 1; i <= 5; i++) {
		iterate("synthetic", "fail_every=4|mean=7", "sh", &r);
		assert_int_equal(r.status, i == 4 ? KAB_PARSE_TOOL_FAILED : KAB_PARSE_OK);
		kab_parse_result_release(&r);
	}
}

static void shifts_when_told(void **state)
{
	(void)state;
	assert_true(one_value("dist=constant|mean=100|shift_if=/|shift_pct=10", "sh") == 110);
	assert_true(one_value("dist=constant|mean=100|shift_if=/no-such|shift_pct=10", "sh") ==
		    100);
}

static void specjbb_with_a_stand_in(void **state)
{
	static const char *const modes[] = { "composite", "multi" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char *params kab_autofree = kab_xasprintf(
			"dir=.|mode=%s|groups=2|java=%s/tests/data/runners/specjbb-stand-in.sh|"
			"jvm_options=-Xmx1g '-Dx=a b'",
			modes[i], KAB_SOURCE_DIR);
		struct kab_parse_result r;
		char *text;

		iterate("specjbb2015", params, "sh", &r);
		text = samples_text(&r);
		assert_string_equal(text, "hbir_max_attempted=5000 jOPS higher;\n"
					  "hbir_settled=4800 jOPS higher;\n"
					  "max_jops=4700 jOPS higher;\n"
					  "critical_jops=2100 jOPS higher;\n");
		assert_int_equal(r.status, KAB_PARSE_OK);
		free(text);
		kab_parse_result_release(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(means_and_deviations),	   cmocka_unit_test(repeatable_with_a_seed),
		cmocka_unit_test(fails_when_told),	   cmocka_unit_test(shifts_when_told),
		cmocka_unit_test(specjbb_with_a_stand_in),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
