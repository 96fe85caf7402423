/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "cli/setup.h"
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

static void check_host(struct findings *f, struct kab_probe_host *h)
{
	char *what kab_autofree = kab_xasprintf("host %s", h->host->name);

	if (h->failed) {
		bad(f, what, h->err.text, "");
		return;
	}
	good(f, what, kab_facts_get(&h->facts, "release"));
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

	(void)args;
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
	if (f.bad)
		fprintf(cli->out, "%zu thing%s to fix.\n", f.bad, f.bad == 1 ? "" : "s");
	else
		fprintf(cli->out, "Nothing to fix.\n");
	return f.bad ? KAB_EXIT_HOST : KAB_EXIT_OK;
}

const struct kab_cmd kab_cmd_doctor = {
	.name = "doctor",
	.summary = "check this machine, the database and the lab, and say what to fix",
	.synopsis = "",
	.description =
		"Looks at the database, the programs that kab calls, the lab file and each of its\n"
		"hosts. Lines begin with ok, note (something optional is not there) or FIX.\n"
		"Exits with 4 when something is to be fixed.",
	.example = "  kab doctor --lab lab.json",
	.run = run,
};
