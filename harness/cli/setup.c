/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/setup.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/progress.h"
#include "cli/report_run.h"
#include "engine/bind.h"

/* While it connects a host takes up to eight; of the rest the store and the terminal need some. */
#define FILES_PER_HOST 8
#define FILES_SPARE 64
#define FILES_HOSTS_MIN 20

static int load_lab(const struct kab_cli *cli, struct kab_lab *ret, struct kab_err *err)
{
	char *config kab_autofree = NULL, *file kab_autofree = NULL;

	if (cli->lab_path)
		return kab_lab_load(cli->lab_path, ret, err);
	if (kab_file_xdg("CONFIG", &config, NULL) == 0) {
		file = kab_xasprintf("%s/lab.json", config);
		if (access(file, F_OK) == 0)
			return kab_lab_load(file, ret, err);
	}
	return kab_lab_load(NULL, ret, err);
}

/*
 * Each host needs some descriptors, and a shell allows 1024 as a rule, though more may be had. Only
 * as many as are needed: benchmarks on this machine inherit the limit.
 */
static int allow_files(size_t n_hosts, struct kab_err *err)
{
	rlim_t need = FILES_SPARE + FILES_PER_HOST * (rlim_t)n_hosts;
	struct rlimit limit;

	if (n_hosts < FILES_HOSTS_MIN || getrlimit(RLIMIT_NOFILE, &limit) < 0 ||
	    limit.rlim_cur >= need)
		return 0;
	limit.rlim_cur = limit.rlim_max < need ? limit.rlim_max : need;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		return kab_err_errno(err, KAB_ERR_ENV, "cannot raise the limit of descriptors");
	if (limit.rlim_cur < need)
		return kab_err_set(err, KAB_ERR_ENV,
				   "%zu hosts at once need %llu file descriptors, and this machine "
				   "allows %llu; raise the limit (ulimit -Hn) or take fewer hosts",
				   n_hosts, (unsigned long long)need,
				   (unsigned long long)limit.rlim_max);
	return 0;
}

void kab_setup_share(const struct kab_cli *cli, struct kab_lab *lab)
{
	/* Whether it is enough is seen when the hosts of a run are known. */
	allow_files(lab->n, NULL);
	for (size_t i = 0; i < lab->n; i++)
		lab->v[i].shared = cli->ssh;
}

int kab_setup_lab(const struct kab_cli *cli, struct kab_lab *ret, struct kab_err *err)
{
	if (load_lab(cli, ret, err) < 0)
		return -1;
	kab_setup_share(cli, ret);
	return 0;
}

/* PREFIX of PREFIX/bin/kab: an installation may have been moved, or staged elsewhere. */
static char *own_prefix(void)
{
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;

	if (n <= 0 || (size_t)n >= sizeof(exe) - 1)
		return NULL;
	exe[n] = '\0';
	for (int i = 0; i < 2; i++) {
		slash = strrchr(exe, '/');
		if (!slash)
			return NULL;
		*slash = '\0';
	}
	return kab_xstrdup(exe);
}

void kab_setup_suite_dirs(struct kab_strv *ret)
{
	const char *env = getenv("KAB_SUITES");
	char *config kab_autofree = NULL, *prefix kab_autofree = own_prefix();
	char *beside kab_autofree = NULL;

	if (env)
		kab_strv_split(ret, env, ':');
	kab_strv_add(ret, "suites");
	if (kab_file_xdg("CONFIG", &config, NULL) == 0)
		kab_strv_addf(ret, "%s/suites", config);
	beside = prefix ? kab_xasprintf("%s/share/kab/suites", prefix) : NULL;
	if (beside && access(beside, F_OK) == 0)
		kab_strv_add(ret, beside);
	if (!kab_strv_has(ret, KAB_DATADIR "/suites"))
		kab_strv_add(ret, KAB_DATADIR "/suites");
}

void kab_setup_suite_names(const char *dir, struct kab_strv *ret)
{
	struct dirent **entries;
	int n = scandir(dir, &entries, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		size_t len = strlen(entries[i]->d_name);

		if (len > 5 && !strcmp(entries[i]->d_name + len - 5, ".json"))
			kab_strv_take(ret, kab_xstrndup(entries[i]->d_name, len - 5));
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

int kab_setup_suite(const char *name, struct kab_suite *ret, struct kab_err *err)
{
	struct kab_strv kab_autostrv dirs = KAB_STRV_INIT, known = KAB_STRV_INIT;
	char *all kab_autofree = NULL;
	const char *near;
	struct stat st;
	bool folder;

	/* A folder of the same name does not hide a suite. */
	folder = stat(name, &st) == 0 && S_ISDIR(st.st_mode);
	if (folder && (strchr(name, '/') || name[0] == '.'))
		return kab_err_set(err, KAB_ERR_NOT_FOUND,
				   "'%s' is a folder; a suite is a file, or the name of one: see "
				   "'kab suites'",
				   name);
	if (!folder && (strchr(name, '/') || access(name, R_OK) == 0))
		return kab_suite_load(name, ret, err) < 0 ? -1 : kab_suite_bind(ret, err);
	kab_setup_suite_dirs(&dirs);
	for (size_t i = 0; i < dirs.n; i++) {
		size_t len = strlen(name);
		const char *suffix = len > 5 && !strcmp(name + len - 5, ".json") ? "" : ".json";
		char *file kab_autofree = kab_xasprintf("%s/%s%s", dirs.v[i], name, suffix);

		if (access(file, R_OK) == 0)
			return kab_suite_load(file, ret, err) < 0 ? -1 : kab_suite_bind(ret, err);
	}
	for (size_t i = 0; i < dirs.n; i++)
		kab_setup_suite_names(dirs.v[i], &known);
	near = kab_text_nearest(name, (const char *const *)kab_strv_argv(&known));
	if (near)
		return kab_err_set(err, KAB_ERR_NOT_FOUND, "no suite '%s'; did you mean '%s'?",
				   name, near);
	all = kab_strv_join(&dirs, ", ");
	return kab_err_set(
		err, KAB_ERR_NOT_FOUND,
		"no suite '%s': looked for a file of that name and in %s; see 'kab suites'", name,
		all);
}

int kab_setup_hosts(const struct kab_lab *lab, const char *names, struct kab_probe_host **ret,
		    size_t *ret_n, struct kab_err *err)
{
	struct kab_strv kab_autostrv list = KAB_STRV_INIT;
	struct kab_probe_host *hosts;

	kab_strv_split(&list, names && *names ? names : "local", ',');
	if (allow_files(list.n, err) < 0)
		return -1;
	hosts = kab_xcalloc(list.n + 1, sizeof(*hosts));
	for (size_t i = 0; i < list.n; i++) {
		for (size_t k = 0; k < i; k++) {
			if (!strcmp(list.v[i], list.v[k])) {
				free(hosts);
				return kab_err_set(err, KAB_ERR_USAGE, "host '%s' is named twice",
						   list.v[i]);
			}
		}
		if (kab_lab_need(lab, list.v[i], &hosts[i].host, err) < 0) {
			free(hosts);
			return -1;
		}
	}
	*ret = hosts;
	*ret_n = list.n;
	return 0;
}

void kab_setup_hosts_free(struct kab_probe_host *hosts, size_t n)
{
	for (size_t i = 0; hosts && i < n; i++)
		kab_facts_release(&hosts[i].facts);
	free(hosts);
}

static int tell(struct kab_cli *cli, const char *run_name, const struct kab_lane_result *r,
		bool measured)
{
	/* Texts that begin with a host's name need no second one. */
	bool named = !strncmp(r->err.text, "host '", 6);
	bool advise = !measured && !strstr(r->err.text, "kab resume ");

	switch (r->outcome) {
	case KAB_LANE_DONE:
		return KAB_EXIT_OK;
	case KAB_LANE_NEEDS_BOOT:
		kab_cli_say(cli, "kab: host '%s': boot kernel '%s' (%s), then: kab resume %s",
			    r->host, r->kernel, r->spec, run_name);
		return KAB_EXIT_HOST;
	case KAB_LANE_STOPPED:
		kab_cli_say(cli, "kab: host '%s': stopped; go on with: kab resume %s", r->host,
			    run_name);
		return KAB_EXIT_INTERRUPTED;
	case KAB_LANE_FAILED:
		break;
	}
	kab_cli_warn(cli, "%s%s%s%s%s%s", named ? "" : "host '", named ? "" : r->host,
		     named ? "" : "': ", r->err.text,
		     advise ? "; nothing was measured; try again with: kab resume " : "",
		     advise ? run_name : "");
	if (measured)
		kab_cli_say(cli, "kab: what is finished is stored; go on with: kab resume %s",
			    run_name);
	return kab_err_exit_code(r->err.code ? r->err.code : KAB_ERR_INTERNAL);
}

/* Whether or not a report is printed: a run with failed or missing results is not fine. */
static int results_status(struct kab_cli *cli, struct kab_store *store, const char *run_name)
{
	struct kab_run_info info = { 0 };
	struct kab_err err = KAB_ERR_INIT;
	int status = KAB_EXIT_OK;

	if (kab_store_find_run(store, run_name, &info, NULL, &err) < 0)
		return kab_cli_fail(cli, &err);
	if (info.n_failed || info.n_missing)
		status = KAB_EXIT_RESULTS;
	kab_run_info_release(&info);
	return status;
}

/* Who hears of a running engine. */
struct listeners {
	struct kab_progress *progress;
	struct kab_events *events;
	bool measured; /* an iteration began */
};

static void hear(void *ctx, const struct kab_event *e)
{
	struct listeners *l = ctx;

	if (e->kind == KAB_EVENT_STEP_BEGIN || e->kind == KAB_EVENT_STEP_END)
		l->measured = true;
	kab_events_engine(l->events, e);
	kab_progress_event(l->progress, e);
}

static void tick(void *ctx)
{
	struct listeners *l = ctx;

	kab_progress_tick(l->progress);
}

/* How it stands with the run now, as a last event. */
static void tell_end(struct kab_events *events, struct kab_store *store, const char *run_name)
{
	struct kab_run_info info = { 0 };

	if (events && kab_store_find_run(store, run_name, &info, NULL, NULL) == 0)
		kab_events_run(events, run_name, info.state);
	kab_run_info_release(&info);
}

int kab_setup_execute(struct kab_cli *cli, struct kab_store *store, int64_t run_id,
		      const char *run_name, const struct kab_lab *lab,
		      const struct kab_interrupt *interrupt, const struct kab_execute_opts *opts)
{
	struct listeners listeners = { .progress = kab_progress_new(cli), .events = opts->events };
	struct kab_engine_opts engine = {
		.store = store,
		.run_id = run_id,
		.lab = lab,
		.stop_fd = kab_interrupt_stop_fd(interrupt),
		.cancel_fd = kab_interrupt_cancel_fd(interrupt),
		.lease_wait_s = opts->lease_wait_s,
		.log = &cli->log,
		.event = hear,
		.tick = tick,
		.ctx = &listeners,
	};
	struct kab_lane_result *results = NULL;
	struct kab_err err = KAB_ERR_INIT;
	int status = KAB_EXIT_OK, executed;
	bool complete = true;
	size_t n = 0;

	kab_events_run(opts->events, run_name, KAB_RUN_RUNNING);
	executed = kab_engine_execute(&engine, &results, &n, &err);
	kab_progress_end(listeners.progress);
	tell_end(opts->events, store, run_name);
	if (executed < 0)
		status = kab_cli_fail(cli, &err);
	for (size_t i = 0; i < n; i++) {
		int one = tell(cli, run_name, &results[i], listeners.measured);

		complete = complete && results[i].outcome == KAB_LANE_DONE;

		/* An interruption by the user outranks what it led to. */
		if (one && status != KAB_EXIT_INTERRUPTED)
			status = one;
	}
	kab_lane_results_free(results, n);
	if (executed == 0 && !status)
		status = results_status(cli, store, run_name);
	if (executed == 0 && !status && kab_engine_store_noise(store, run_id, &err) < 0)
		kab_cli_warn(cli, "the noise floor is not stored: %s", err.text);
	/* Who came to nothing has nothing new to look at. */
	if (executed == 0 && opts->report && (listeners.measured || complete)) {
		int report = kab_report_run(cli, run_name, opts->gate);

		if (!status)
			status = report;
	}
	return status;
}
