/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "cli/setup.h"
#include "engine/install.h"
#include "engine/lease.h"
#include "engine/method.h"

#define CALL_S 120.0
/* Removing takes seconds; the lease ends by itself should we not come back. */
#define LEASE_S 300

static void print_one(struct kab_cli *cli, const struct kab_installed *k)
{
	struct kab_strv kab_autostrv words = KAB_STRV_INIT;
	char *text kab_autofree = NULL;

	if (k->running)
		kab_strv_add(&words, "running");
	if (k->is_default)
		kab_strv_add(&words, "default");
	if (k->ours)
		kab_strv_addf(&words, "installed by kab (%s, %s, %lld MB)", k->kind, k->date,
			      (long long)((k->kib + 1023) / 1024));
	if (k->no_modules)
		kab_strv_add(&words, "no modules");
	text = kab_strv_join(&words, ", ");
	fprintf(cli->out, "  %-*s%s%s\n", *text ? 32 : 0, k->release, *text ? "  " : "", text);
}

static int list(struct kab_cli *cli, const struct kab_lab_host *host, struct kab_session *s,
		struct kab_err *err)
{
	struct kab_wait wait = { .deadline_ns = kab_deadline_s(CALL_S), .cancel_fd = -1 };
	struct kab_installed *kernels = NULL;
	size_t n = 0;

	if (kab_install_list(host, s, &wait, &kernels, &n, err) < 0)
		return -1;
	fprintf(cli->out, "%s:\n", host->name);
	for (size_t i = 0; i < n; i++)
		print_one(cli, &kernels[i]);
	kab_installed_free(kernels, n);
	return 0;
}

/* kab's own boot entry, a selection that was not used, and what uploads left. */
static int clean(struct kab_cli *cli, const struct kab_lab_host *host, struct kab_session *s,
		 struct kab_err *err)
{
	struct kab_wait wait = { .deadline_ns = kab_deadline_s(CALL_S), .cancel_fd = -1 };
	struct kab_method_host mh = { .host = host, .session = s };
	char *removed kab_autofree = NULL;

	if (kab_method_remove(&mh, &wait, &removed, err) < 0 ||
	    kab_install_tidy(host, s, &wait, err) < 0)
		return -1;
	if (*removed)
		fprintf(cli->out, "%s: removed %s\n", host->name, removed);
	return 0;
}

static int remove_one(struct kab_cli *cli, const struct kab_lab_host *host, struct kab_session *s,
		      const char *release, struct kab_err *err)
{
	struct kab_wait wait = { .deadline_ns = kab_deadline_s(CALL_S), .cancel_fd = -1 };
	bool last;

	if (kab_install_remove(host, s, release, &wait, &last, err) < 0)
		return -1;
	fprintf(cli->out, "%s: removed kernel %s\n", host->name, release);
	return last ? clean(cli, host, s, err) : 0;
}

/* Under the lease, so that no run loses the kernel that it measures. */
static int change(struct kab_cli *cli, const struct kab_args *args, const struct kab_lab_host *host,
		  struct kab_session *s, struct kab_err *err)
{
	struct kab_wait wait = { .deadline_ns = kab_deadline_s(CALL_S), .cancel_fd = -1 };
	char owner[KAB_LEASE_OWNER_MAX];
	struct kab_lease lease = { 0 };
	const char *release;
	int status = 0;

	snprintf(owner, sizeof(owner), "uid%u@kernels:%d", (unsigned)getuid(), (int)getpid());
	if (kab_lease_acquire(s, NULL, owner, LEASE_S, 0, &wait, &lease, NULL, err) < 0)
		return -1;
	for (size_t i = 0; status == 0 && (release = kab_args_nth(args, "remove", i)); i++)
		status = remove_one(cli, host, s, release, err);
	if (status == 0 && kab_args_flag(args, "clean"))
		status = clean(cli, host, s, err);
	wait.deadline_ns = kab_deadline_s(15);
	kab_lease_release(s, &lease, &wait, NULL);
	return status;
}

static int on_host(struct kab_cli *cli, const struct kab_args *args,
		   const struct kab_lab_host *host, struct kab_err *err)
{
	struct kab_endpoint ep = kab_probe_endpoint(host, &cli->log);
	struct kab_wait wait = { .deadline_ns = kab_deadline_s(60), .cancel_fd = -1 };
	bool changing = kab_args_get(args, "remove") || kab_args_flag(args, "clean");
	struct kab_session *s = NULL;
	int status;

	if (kab_probe_open(&ep, &wait, &s, err) < 0)
		return kab_err_prefix(err, "host '%s'", host->name);
	status = changing ? change(cli, args, host, s, err) : list(cli, host, s, err);
	s->ops->close(s);
	return status < 0 ? kab_err_prefix(err, "host '%s'", host->name) : 0;
}

static int kernels(struct kab_cli *cli, const struct kab_args *args, struct kab_err *err)
{
	bool changing = kab_args_get(args, "remove") || kab_args_flag(args, "clean");
	struct kab_strv kab_autostrv names = KAB_STRV_INIT;
	struct kab_probe_host *hosts = NULL;
	char *joined kab_autofree = NULL;
	struct kab_lab lab = { 0 };
	int worst = KAB_EXIT_OK;
	size_t n = 0;

	if (changing && !kab_args_n(args))
		return kab_err_set(err, KAB_ERR_USAGE,
				   "--remove and --clean need the names of the hosts");
	if (kab_setup_lab(cli, &lab, err) < 0)
		return -1;
	for (size_t i = 0; i < kab_args_n(args); i++)
		kab_strv_add(&names, kab_args_at(args, i));
	for (size_t i = 0; !kab_args_n(args) && i < lab.n; i++)
		kab_strv_add(&names, lab.v[i].name);
	joined = kab_strv_join(&names, ",");
	if (kab_setup_hosts(&lab, joined, &hosts, &n, err) < 0) {
		kab_lab_release(&lab);
		return -1;
	}
	/* One host that is away does not hide the others. */
	for (size_t i = 0; i < n; i++) {
		struct kab_err one = KAB_ERR_INIT;

		if (on_host(cli, args, hosts[i].host, &one) < 0)
			worst = kab_cli_fail(cli, &one);
	}
	kab_setup_hosts_free(hosts, n);
	kab_lab_release(&lab);
	return worst;
}

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	struct kab_err err = KAB_ERR_INIT;
	int status = kernels(cli, args, &err);

	return status < 0 ? kab_cli_fail(cli, &err) : status;
}

static const struct kab_opt opts[] = {
	{ "remove", '\0', "RELEASE", "remove a kernel that kab installed; may be repeated", NULL },
	{ "clean", '\0', NULL, "remove kab's boot entry, and forget a selection that was not used",
	  NULL },
	{ 0 },
};

const struct kab_cmd kab_cmd_kernels = {
	.name = "kernels",
	.summary = "show the kernels of hosts; remove those that kab installed",
	.synopsis = "[HOST]... [--remove RELEASE]... [--clean]",
	.description =
		"Lists what is installed on each host (all of the lab file, or those named), "
		"which\n"
		"kernel runs, which one the boot loader takes by default, and what kab "
		"installed.\n\n"
		"Only what kab installed is ever removed, and neither the kernel that runs nor "
		"the\n"
		"default. With the last one its boot entry goes, too. A host that is leased to a\n"
		"run is left alone.",
	.example = "  kab kernels\n"
		   "  kab kernels tx2 --remove 6.12.0-patched",
	.opts = opts,
	.min_pos = 0,
	.max_pos = -1,
	.run = run,
};
