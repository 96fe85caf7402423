/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "cli/setup.h"
#include "engine/job.h"
#include "engine/lease.h"
#include "jobs/quarantine.h"
#include "runners/runner.h"

static char *topology(const struct kab_facts *f)
{
	int64_t sockets = kab_facts_int(f, "sockets", 0), cores = kab_facts_int(f, "cores", 0);
	int64_t cpus = kab_facts_int(f, "cpus", 0), nodes = kab_facts_int(f, "nodes", 1);
	int64_t threads = kab_facts_int(f, "threads_per_core", 0);

	if (sockets > 0 && cores > 0 && threads > 0)
		return kab_xasprintf("%lld x %lld x SMT%lld = %lld CPUs, %lld node%s",
				     (long long)sockets, (long long)(cores / sockets),
				     (long long)threads, (long long)cpus, (long long)nodes,
				     nodes == 1 ? "" : "s");
	return kab_xasprintf("%lld CPUs, %lld node%s", (long long)cpus, (long long)nodes,
			     nodes == 1 ? "" : "s");
}

static void print_facts(struct kab_cli *cli, const struct kab_probe_host *h)
{
	const struct kab_facts *f = &h->facts;
	char *cpus kab_autofree = topology(f);
	struct kab_strv kab_autostrv found = KAB_STRV_INIT;
	char *tools kab_autofree = NULL;

	for (size_t i = 0; i < kab_runners_n; i++) {
		struct kab_params none = { 0 };
		char *why = NULL;

		if (!kab_runners[i]->unsupported ||
		    kab_runners[i]->unsupported(f, &none, &why) == 0)
			kab_strv_add(&found, kab_runners[i]->name);
		free(why);
	}
	tools = kab_strv_join(&found, " ");
	fprintf(cli->out, "%s: reachable over %s, kernel %s, %s\n", h->host->name,
		h->host->transport, kab_facts_get(f, "release"), kab_facts_get(f, "arch"));
	fprintf(cli->out, "  machine     %s; %s; %lld MB\n",
		*kab_facts_get(f, "model") ? kab_facts_get(f, "model") : "unknown model", cpus,
		(long long)kab_facts_int(f, "memory_mb", 0));
	fprintf(cli->out, "  system      %s\n", kab_facts_get(f, "os"));
	fprintf(cli->out, "  benchmarks  %s\n", *tools ? tools : "none found");
	fprintf(cli->out, "  boot        method %s\n", kab_boot_method_name(h->host->boot));
	if (cli->verbosity > 0)
		for (size_t i = 0; i < f->n; i++)
			fprintf(cli->out, "    %s=%s\n", f->v[i].key, f->v[i].value);
}

/* " (run 'NAME', suite 'NAME')" of a lease that a run in our database holds, or "". */
static char *run_of(struct kab_cli *cli, const char *owner)
{
	struct kab_run_info run = { 0 };
	struct kab_store *store = NULL;
	char *text;

	/* Without a database the owner is all that is known. */
	if (kab_store_open(cli->db_path, KAB_STORE_READ, &store, NULL) < 0)
		return kab_xstrdup("");
	text = kab_job_of_owner(store, owner, &run) == 0
		       ? kab_xasprintf(" (run '%s', suite '%s')", run.name, run.suite_name)
		       : kab_xstrdup("");
	kab_run_info_release(&run);
	kab_store_close(store);
	return text;
}

static int leases(struct kab_cli *cli, const struct kab_lab_host *host, bool break_it,
		  struct kab_err *err)
{
	char *run kab_autofree = NULL;

	struct kab_endpoint ep = kab_probe_endpoint(host, &cli->log);
	struct kab_wait wait = { .deadline_ns = kab_deadline_s(60), .cancel_fd = -1 };
	struct kab_lease_info info = { 0 };
	struct kab_session *s = NULL;
	int status = kab_probe_open(&ep, &wait, &s, err);

	if (status == 0)
		status = break_it ? kab_lease_break(s, NULL, &wait, &info, err)
				  : kab_lease_show(s, NULL, &wait, &info, err);
	if (s)
		s->ops->close(s);
	if (status < 0)
		return kab_err_prefix(err, "host '%s'", host->name);
	run = run_of(cli, info.owner);
	if (break_it)
		fprintf(cli->out, "%s: lease taken away from %s%s\n", host->name,
			*info.owner ? info.owner : "nobody", run);
	else if (info.held)
		fprintf(cli->out, "%s: leased by %s%s for another %lld s%s%s\n", host->name,
			info.owner, run, (long long)info.left_s, info.running ? ", running " : "",
			info.running ? info.run : "");
	else
		fprintf(cli->out, "%s: free\n", host->name);
	return 0;
}

/* Back from quarantine: those that answer. Returns an exit status, or -1. */
static int recheck(struct kab_cli *cli, const struct kab_args *args, const struct kab_lab *lab,
		   struct kab_err *err)
{
	struct kab_strv kab_autostrv names = KAB_STRV_INIT;
	struct kab_recheck_list list = { 0 };
	struct kab_store *store = NULL;
	const char *user = getenv("USER");
	int status = KAB_EXIT_OK;

	for (size_t i = 0; i < kab_args_n(args); i++) {
		const struct kab_lab_host *host;

		if (kab_lab_need(lab, kab_args_at(args, i), &host, err) < 0)
			return -1;
		kab_strv_add(&names, host->name);
	}
	if (kab_cli_open_store(cli, KAB_STORE_CHANGE, &store, err) < 0)
		return -1;
	if (kab_quarantine_recheck(store, lab, &names, user && *user ? user : "somebody",
				   cli->cancel_fd, &cli->log, &list, err) < 0)
		status = -1;
	for (size_t i = 0; i < list.n && status >= 0; i++) {
		const struct kab_recheck *r = &list.v[i];

		switch (r->answer) {
		case KAB_RECHECK_BACK:
			fprintf(cli->out, "%s: back from quarantine (since %s: %s)\n", r->host,
				r->since, r->reason);
			break;
		case KAB_RECHECK_FREE:
			fprintf(cli->out, "%s: not in quarantine\n", r->host);
			break;
		case KAB_RECHECK_STILL:
			fprintf(cli->out, "%s: stays in quarantine: %s\n", r->host, r->err.text);
			status = KAB_EXIT_HOST;
			break;
		case KAB_RECHECK_UNKNOWN:
			fprintf(cli->out, "%s: in quarantine, and not in this lab file\n", r->host);
			break;
		}
	}
	if (!list.n && status == KAB_EXIT_OK)
		fprintf(cli->out, "No host is in quarantine.\n");
	kab_recheck_list_release(&list);
	kab_store_close(store);
	return status;
}

/* Somebody may be measuring there: never by a slip of the hand. */
static bool confirmed(const struct kab_args *args)
{
	char answer[16] = "";

	if (kab_args_flag(args, "yes"))
		return true;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return false;
	fprintf(stderr,
		"kab: take the lease of %s away from its owner? A running measurement is lost. "
		"[y/N] ",
		kab_args_at(args, 0));
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static int show(struct kab_cli *cli, const struct kab_args *args, struct kab_err *err)
{
	struct kab_probe_host *hosts = NULL;
	struct kab_strv kab_autostrv names = KAB_STRV_INIT;
	struct kab_lab lab = { 0 };
	char *joined kab_autofree = NULL;
	int status = KAB_EXIT_OK;
	size_t n = 0;

	if (kab_setup_lab(cli, &lab, err) < 0)
		return -1;
	if (kab_args_flag(args, "recheck")) {
		status = recheck(cli, args, &lab, err);
		kab_lab_release(&lab);
		return status;
	}
	for (size_t i = 0; i < kab_args_n(args); i++)
		kab_strv_add(&names, kab_args_at(args, i));
	for (size_t i = 0; !kab_args_n(args) && i < lab.n; i++)
		kab_strv_add(&names, lab.v[i].name);
	joined = kab_strv_join(&names, ",");
	if (kab_setup_hosts(&lab, joined, &hosts, &n, err) < 0) {
		kab_lab_release(&lab);
		return -1;
	}
	if (kab_args_flag(args, "names")) {
		for (size_t i = 0; i < n; i++)
			fprintf(cli->out, "%s\n", hosts[i].host->name);
	} else if (kab_args_flag(args, "leases") || kab_args_flag(args, "break-lease")) {
		bool break_it = kab_args_flag(args, "break-lease");

		if (break_it && !kab_args_n(args)) {
			status = kab_err_set(err, KAB_ERR_USAGE,
					     "--break-lease needs the host's name");
			n = 0;
		} else if (break_it && !confirmed(args)) {
			status = kab_err_set(
				err, KAB_ERR_USAGE,
				"nothing was changed; --break-lease wants a 'y' or --yes");
			n = 0;
		}
		for (size_t i = 0; i < n && status >= 0; i++)
			status = leases(cli, hosts[i].host, break_it, err);
	} else {
		kab_probe_all(hosts, n, 60, cli->cancel_fd, &cli->log);
		for (size_t i = 0; i < n; i++) {
			if (!hosts[i].failed) {
				print_facts(cli, &hosts[i]);
				continue;
			}
			fprintf(cli->out, "%s: not reachable: %s\n", hosts[i].host->name,
				hosts[i].err.text);
			status = KAB_EXIT_HOST;
		}
	}
	kab_setup_hosts_free(hosts, n);
	kab_lab_release(&lab);
	return status;
}

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	struct kab_err err = KAB_ERR_INIT;
	int status = show(cli, args, &err);

	return status < 0 ? kab_cli_fail(cli, &err) : status;
}

static const struct kab_opt opts[] = {
	{ "leases", '\0', NULL, "who has each host, and for how long", NULL },
	{ "names", '\0', NULL, "only their names, without connecting", NULL },
	{ "recheck", '\0', NULL, "hosts in quarantine that answer come back into the nights",
	  NULL },
	{ "yes", 'y', NULL, "do not ask", NULL },
	{ "break-lease", '\0', NULL, "take the lease of a named host away from its owner", NULL },
	{ 0 },
};

const struct kab_cmd kab_cmd_hosts = {
	.name = "hosts",
	.summary = "show the hosts of the lab: reachable, kernel, CPUs, benchmarks",
	.synopsis = "[HOST]... [--names | --leases | --recheck | --break-lease [--yes]]",
	.description =
		"Connects to each host (all of the lab file, or those named) and shows its state.\n"
		"With -v, every fact that was read. Exits with 4 when one is not reachable.",
	.example = "  kab hosts --lab lab.json",
	.completes = "host",
	.opts = opts,
	.min_pos = 0,
	.max_pos = -1,
	.run = run,
};
