/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/measurer.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "cli/kernel_files.h"
#include "transport/transport.h"

#define PROBE_S 60

struct making {
	struct kab_suite suite;
	struct kab_kernel_list kernels;
	struct kab_plan plan;
	struct kab_probe_host *hosts;
	size_t n_hosts;
};

static void making_release(struct making *k)
{
	kab_suite_release(&k->suite);
	kab_kernel_list_release(&k->kernels);
	kab_plan_release(&k->plan);
	kab_setup_hosts_free(k->hosts, k->n_hosts);
}

static int load(struct kab_cli_measurer *m, const struct kab_measure *what, struct making *k,
		struct kab_err *err)
{
	struct kab_plan_opts opts = { .seed = what->seed & 0xffffffff,
				      .boots = what->boots,
				      .iterations = -1,
				      .warmup = -1,
				      .retry = -1 };
	int stop_fd = kab_interrupt_stop_fd(m->interrupt);

	for (size_t i = 0; i < what->kernels->n; i++)
		if (kab_kernel_add(&k->kernels, what->kernels->v[i], err))
			return -1;
	if (kab_setup_suite(what->suite, &k->suite, err) ||
	    kab_setup_hosts(m->lab, what->host, &k->hosts, &k->n_hosts, err) ||
	    kab_kernel_files(m->cli, &k->kernels, false, stop_fd, err))
		return -1;
	if (k->n_hosts != 1)
		return kab_err_set(err, KAB_ERR_USAGE, "one host at a time, not '%s'", what->host);
	opts.booting = k->hosts[0].host->boot != KAB_BOOT_NONE;
	return kab_plan_make(&k->suite, &k->kernels, 1, &opts, &k->plan, err);
}

static int preflight(struct kab_cli_measurer *m, const struct kab_engine_new *what,
		     struct kab_err *err)
{
	struct kab_strv kab_autostrv problems = KAB_STRV_INIT, warnings = KAB_STRV_INIT;
	struct kab_strv kab_autostrv touches = KAB_STRV_INIT;

	if (kab_engine_preflight(what, &m->cli->log, kab_interrupt_stop_fd(m->interrupt), &problems,
				 &warnings, &touches, err))
		return -1;
	if (problems.n) {
		kab_autofree char *all = kab_strv_join(&problems, "; ");

		return kab_err_set(err, KAB_ERR_ENV, "%s", all);
	}
	return 0;
}

static int create(void *ctx, const struct kab_measure *what, int64_t *ret_run_id, char **ret_name,
		  struct kab_err *err)
{
	struct kab_cli_measurer *m = ctx;
	kab_autofree char *command_line =
		kab_quote_argv((const char *const *)kab_strv_argv(&m->cli->command_line));
	struct making k = { 0 };
	int rc = load(m, what, &k, err);

	if (!rc) {
		kab_probe_all(k.hosts, 1, PROBE_S, kab_interrupt_stop_fd(m->interrupt),
			      &m->cli->log);
		if (k.hosts[0].failed) {
			*err = k.hosts[0].err;
			rc = kab_err_prefix(err, "host '%s'", k.hosts[0].host->name);
		}
	}
	if (!rc) {
		const struct kab_engine_new new = { .suite = &k.suite,
						    .kernels = &k.kernels,
						    .plan = &k.plan,
						    .lab = m->lab,
						    .hosts = &k.hosts[0].host,
						    .facts = &k.hosts[0].facts,
						    .n_hosts = 1,
						    .name = what->name,
						    .command_line = command_line,
						    .version = KAB_VERSION };

		rc = preflight(m, &new, err);
		if (!rc)
			rc = kab_engine_create(m->store, &new, ret_run_id, ret_name, err);
	}
	making_release(&k);
	return rc;
}

static int execute(void *ctx, int64_t run_id, const char *name, struct kab_err *err)
{
	struct kab_cli_measurer *m = ctx;
	const struct kab_execute_opts opts = { .lease_wait_s = m->lease_wait_s };
	int status = kab_setup_execute(m->cli, m->store, run_id, name, m->lab, m->interrupt, &opts);

	switch (status) {
	case KAB_EXIT_OK:
	case KAB_EXIT_RESULTS: /* the store says what failed */
		return 0;
	case KAB_EXIT_INTERRUPTED:
		return 1;
	default:
		return kab_err_set(err, KAB_ERR_ENV, "run '%s' could not be carried out", name);
	}
}

void kab_cli_measurer(struct kab_cli_measurer *m, struct kab_measurer *ret)
{
	*ret = (struct kab_measurer){ .ctx = m, .create = create, .execute = execute };
}
