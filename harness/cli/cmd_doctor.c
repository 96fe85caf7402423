/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "cli/setup.h"
#include "engine/detach.h"
#include "runners/runner.h"

struct findings {
	struct kab_cli *cli;
	size_t bad;
};

static void good(struct findings *f, const char *what, const char *detail)
{
	fprintf(f->cli->out, "ok    %s%s%s\n", what, *detail ? ": " : "", detail);
}

static void bad(struct findings *f, const char *what, const char *detail, const char *remedy)
{
	fprintf(f->cli->out, "FIX   %s: %s\n", what, detail);
	if (*remedy)
		fprintf(f->cli->out, "      %s\n", remedy);
	f->bad++;
}

static bool on_path(const char *name)
{
	struct kab_strv kab_autostrv dirs = KAB_STRV_INIT;
	const char *path = getenv("PATH");

	kab_strv_split(&dirs, path ? path : "", ':');
	for (size_t i = 0; i < dirs.n; i++) {
		char *file kab_autofree = kab_xasprintf("%s/%s", dirs.v[i], name);

		if (access(file, X_OK) == 0)
			return true;
	}
	return false;
}

static void check_store(struct findings *f)
{
	struct kab_store *store = NULL;
	struct kab_err err = KAB_ERR_INIT;

	if (kab_store_open(f->cli->db_path, KAB_STORE_WRITE, &store, &err) < 0) {
		bad(f, "database", err.text, "");
		return;
	}
	good(f, "database", kab_store_path(store));
	if (kab_store_notice(store))
		bad(f, "database", kab_store_notice(store), "move it with --db or KAB_DB");
	kab_store_close(store);
}

static const char *with_file(const char *text, const char *path, char **ret)
{
	const char *at = strstr(text, "FILE .recover");

	if (!at)
		return text;
	*ret = kab_xasprintf("%.*s%s%s", (int)(at - text), text, path, at + 4);
	return *ret;
}

/* Runs that say they are going on, and iterations that say they are running, although no kab is at
 * it: what a kill leaves behind, and what resume is for. */
static void check_orphans(struct findings *f, struct kab_store *store)
{
	struct kab_run_info *runs = NULL;
	struct kab_err err = KAB_ERR_INIT;
	size_t n = 0, before = f->bad;

	if (kab_store_list_runs(store, 100000, &runs, &n, &err) < 0) {
		bad(f, "runs", err.text, "");
		return;
	}
	for (size_t i = 0; i < n; i++) {
		char *what kab_autofree = kab_xasprintf("run '%s'", runs[i].name);
		char *next kab_autofree = kab_xasprintf("kab resume %s", runs[i].name);
		struct kab_step_info *steps = NULL;
		size_t n_steps = 0, running = 0;
		bool busy = false;

		if (kab_store_list_steps(store, runs[i].id, 0, &steps, &n_steps, &err) < 0)
			bad(f, what, err.text, "");
		for (size_t k = 0; k < n_steps; k++) {
			running += steps[k].state == KAB_ITER_RUNNING;
			kab_step_info_release(&steps[k]);
		}
		free(steps);
		if ((running || runs[i].state == KAB_RUN_RUNNING) &&
		    kab_engine_is_busy(store, runs[i].id, &busy, &err) < 0) {
			bad(f, what, err.text, "");
		} else if (busy) {
			fprintf(f->cli->out, "note  %s: is being carried out now\n", what);
		} else if (running) {
			char *detail kab_autofree = kab_xasprintf(
				"%zu iteration%s begun and not fetched, and no kab is at it here; "
				"nothing is lost",
				running, running == 1 ? " is" : "s are");

			bad(f, what, detail, next);
		} else if (runs[i].state == KAB_RUN_RUNNING) {
			bad(f, what, "is marked as running, but no kab is at it here", next);
		}
		kab_run_info_release(&runs[i]);
	}
	free(runs);
	if (f->bad == before) {
		char *count kab_autofree = kab_xasprintf("%zu, none left behind", n);

		good(f, "runs", count);
	}
}

static void check_whole_store(struct findings *f)
{
	struct kab_strv kab_autostrv problems = KAB_STRV_INIT;
	struct kab_store *store = NULL;
	struct kab_err err = KAB_ERR_INIT;
	char *journal kab_autofree = NULL;

	if (kab_store_open(f->cli->db_path, KAB_STORE_READ, &store, &err) < 0) {
		bad(f, "database", err.text, "");
		return;
	}
	good(f, "database", kab_store_path(store));
	if (kab_store_notice(store))
		bad(f, "database", kab_store_notice(store), "move it with --db or KAB_DB");
	if (kab_store_journal(store, &journal, &err) < 0)
		bad(f, "journal", err.text, "");
	else
		good(f, "journal", journal);
	if (kab_store_check(store, &problems, &err) < 0)
		kab_strv_add(&problems, err.text);
	for (size_t i = 0; i < problems.n; i++) {
		char *text kab_autofree = NULL;

		bad(f, "content", with_file(problems.v[i], kab_store_path(store), &text), "");
	}
	if (!problems.n) {
		good(f, "content", "pages, references, states and packed output are whole");
		check_orphans(f, store);
	}
	kab_store_close(store);
}

static int conclude(const struct findings *f)
{
	if (f->bad)
		fprintf(f->cli->out, "%zu thing%s to fix.\n", f->bad, f->bad == 1 ? "" : "s");
	else
		fprintf(f->cli->out, "Nothing to fix.\n");
	return f->bad ? KAB_EXIT_HOST : KAB_EXIT_OK;
}

static void check_programs(struct findings *f)
{
	static const struct {
		const char *name, *why, *package;
	} programs[] = {
		{ "ssh", "ssh_config is read through it", "openssh-client" },
		{ "ssh-keygen", "known hosts are matched with it", "openssh-client" },
		{ "getent", "host names are looked up with it", "libc-bin" },
	};

	for (size_t i = 0; i < KAB_ARRAY_SIZE(programs); i++) {
		char *remedy kab_autofree = kab_xasprintf("%s; apt-get install %s", programs[i].why,
							  programs[i].package);

		if (on_path(programs[i].name))
			good(f, programs[i].name, "");
		else
			bad(f, programs[i].name, "not found on PATH", remedy);
	}
}

static void bad_host(struct findings *f, const char *what, const struct kab_err *err)
{
	/* Most texts begin with the host. */
	if (!strncmp(err->text, "host '", 6)) {
		fprintf(f->cli->out, "FIX   %s\n", err->text);
		f->bad++;
	} else {
		bad(f, what, err->text, "");
	}
}

/* What every run begins with: a place to work in, and root where the lab file asks for it. */
static void check_work(struct findings *f, const struct kab_lab_host *host, const char *what)
{
	struct kab_endpoint ep = kab_probe_endpoint(host, &f->cli->log);
	struct kab_wait wait = { .deadline_ns = kab_deadline_s(60),
				 .cancel_fd = f->cli->cancel_fd };
	struct kab_session *s = NULL;
	struct kab_detach *detach = NULL;
	struct kab_err err = KAB_ERR_INIT;

	if (kab_probe_open(&ep, &wait, &s, &err) < 0 ||
	    kab_detach_open(s, host->workdir, host->become, &wait, &detach, &err) < 0)
		bad_host(f, what, &err);
	kab_detach_close(detach);
	if (s)
		s->ops->close(s);
}

static void check_host(struct findings *f, struct kab_probe_host *h)
{
	char *what kab_autofree = kab_xasprintf("host %s", h->host->name);

	if (h->failed) {
		bad_host(f, what, &h->err);
		return;
	}
	good(f, what, kab_facts_get(&h->facts, "release"));
	check_work(f, h->host, what);
	for (size_t i = 0; i < kab_runners_n; i++) {
		char *runner kab_autofree =
			kab_xasprintf("host %s, runner %s", h->host->name, kab_runners[i]->name);
		struct kab_params none = { 0 };
		char *why kab_autofree = NULL;

		if (kab_runners[i]->unsupported &&
		    kab_runners[i]->unsupported(&h->facts, &none, &why))
			fprintf(f->cli->out, "note  %s: %s\n", runner, why);
		else
			good(f, runner, "");
	}
}

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	struct findings f = { .cli = cli };
	struct kab_probe_host *hosts = NULL;
	struct kab_lab lab = { 0 };
	struct kab_err err = KAB_ERR_INIT;
	struct kab_strv kab_autostrv names = KAB_STRV_INIT;
	char *joined kab_autofree = NULL;
	size_t n = 0;

	if (kab_args_flag(args, "store")) {
		check_whole_store(&f);
		return conclude(&f);
	}
	check_store(&f);
	check_programs(&f);
	if (kab_setup_lab(cli, &lab, &err) < 0) {
		bad(&f, "lab", err.text, "");
		return KAB_EXIT_INPUT;
	}
	good(&f, "lab", lab.file ? lab.file : "no lab file; only this machine");
	for (size_t i = 0; i < lab.n; i++)
		kab_strv_add(&names, lab.v[i].name);
	joined = kab_strv_join(&names, ",");
	if (kab_setup_hosts(&lab, joined, &hosts, &n, &err) == 0) {
		kab_probe_all(hosts, n, 60, cli->cancel_fd, &cli->log);
		for (size_t i = 0; i < n; i++)
			check_host(&f, &hosts[i]);
	}
	kab_setup_hosts_free(hosts, n);
	kab_lab_release(&lab);
	return conclude(&f);
}

static const struct kab_opt opts[] = {
	{ "store", '\0', NULL, "read all of the database and look for damage and runs left behind",
	  NULL },
	{ 0 },
};

const struct kab_cmd kab_cmd_doctor = {
	.name = "doctor",
	.summary = "check this machine, the database and the lab, and say what to fix",
	.synopsis = "[--store]",
	.description =
		"Looks at the database, the programs that kab calls, the lab file and each of its\n"
		"hosts. Lines begin with ok, note (something optional is not there) or FIX.\n"
		"Exits with 4 when something is to be fixed.\n\n"
		"--store looks at nothing but the database, and at all of it: pages, references,\n"
		"states, packed output, its journal, and runs that a killed kab left behind, with\n"
		"what to type next. It changes nothing and may be used while a run is going on.",
	.example = "  kab doctor --lab lab.json\n  kab doctor --store",
	.opts = opts,
	.run = run,
};
