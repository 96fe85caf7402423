/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What can be known before anything starts: better refused now than failed in the night. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "engine/bind.h"
#include "engine/conditions.h"
#include "engine/engine.h"
#include "engine/install.h"
#include "engine/method.h"
#include "engine/probe.h"
#include "model/expr.h"

/* Where kab boots, one release with two command lines is two kernels. */
static bool told_apart_by_boot(const struct kab_lab_host *host, const struct kab_kernel *a,
			       const struct kab_kernel *b)
{
	return host->boot != KAB_BOOT_NONE &&
	       strcmp(a->cmdline ? a->cmdline : "", b->cmdline ? b->cmdline : "") != 0;
}

static void check_kernels(const struct kab_engine_new *what, size_t h, struct kab_strv *problems)
{
	const struct kab_facts *facts = &what->facts[h];
	const struct kab_kernel *first = NULL;
	struct kab_strv kab_autostrv labels = KAB_STRV_INIT;

	for (size_t k = 0; k < what->kernels->n; k++) {
		const struct kab_kernel *kernel = &what->kernels->v[k];

		kab_strv_addf(&labels, "%s=%s", kernel->label, kernel->spec);
		kernel = kab_kernel_for_host(kernel, what->hosts[h]->name);
		if (!kernel) {
			kab_strv_addf(problems,
				      "kernel '%s' names no kernel for host '%s'; add it to "
				      "\"hosts\" in %s",
				      what->kernels->v[k].label, what->hosts[h]->name,
				      what->kernels->v[k].spec + 1);
			continue;
		}
		if (what->hosts[h]->boot == KAB_BOOT_NONE && kab_install_has_files(kernel))
			kab_strv_addf(
				problems,
				"host '%s' is not booted by kab (boot method none), so kernel "
				"'%s' is not installed there: install it yourself and name it "
				"as release:R, or give the host a boot method",
				what->hosts[h]->name, kernel->label);
		if (!kab_kernel_matches(kernel, facts, NULL))
			continue;
		if (first && !kab_kernel_same_spec(first, kernel) &&
		    !told_apart_by_boot(what->hosts[h], first, kernel))
			kab_strv_addf(
				problems,
				"host '%s': kernels '%s' and '%s' are both the one that runs (%s); "
				"for an A/A run give both the same SPEC",
				what->hosts[h]->name, first->label, kernel->label,
				kab_facts_get(facts, "release"));
		if (!first)
			first = kernel;
	}
	if (!first && what->hosts[h]->boot == KAB_BOOT_NONE) {
		char *all kab_autofree = kab_strv_join(&labels, ", ");

		kab_strv_addf(
			problems,
			"host '%s' runs %s, which is none of the kernels of this run (%s); boot "
			"it into one of them first",
			what->hosts[h]->name, kab_facts_get(facts, "release"), all);
	}
}

static void check_same_machine(const struct kab_engine_new *what, size_t h,
			       struct kab_strv *problems)
{
	char mine[65], other[65];

	kab_probe_machine_hash(&what->facts[h], mine);
	for (size_t i = 0; i < h; i++) {
		kab_probe_machine_hash(&what->facts[i], other);
		if (!strcmp(mine, other))
			kab_strv_addf(
				problems,
				"hosts '%s' and '%s' are the same machine (one machine id); they "
				"would measure each other",
				what->hosts[i]->name, what->hosts[h]->name);
	}
}

static void check_cases(const struct kab_engine_new *what, size_t h, struct kab_strv *problems,
			struct kab_strv *warnings)
{
	const struct kab_suite *suite = what->suite;
	struct kab_strv kab_autostrv said = KAB_STRV_INIT;
	size_t impossible = 0;

	for (size_t i = 0; i < suite->instances_n; i++) {
		const struct kab_instance *in = &suite->instances[i];
		const struct kab_case *c = &suite->cases[in->case_index];
		const struct kab_runner *runner = kab_case_runner(c);
		struct kab_params params = { 0 };
		struct kab_command cmd = { 0 };
		struct kab_err why = KAB_ERR_INIT;
		char *reason = NULL;

		kab_params_copy(&params, &in->params);
		if (kab_params_resolve(&params, &what->facts[h], &why) < 0 ||
		    (!(runner->unsupported &&
		       runner->unsupported(&what->facts[h], &params, &reason)) &&
		     runner->command(&params, &what->facts[h], &cmd, &why) < 0))
			reason = kab_xstrdup(why.text);
		if (reason) {
			char *line kab_autofree = kab_xasprintf(
				"host '%s', case '%s': %s", what->hosts[h]->name, c->name, reason);

			impossible++;
			if (!kab_strv_has(&said, line))
				kab_strv_add(&said, line);
		}
		free(reason);
		kab_command_release(&cmd);
		kab_params_release(&params);
	}
	kab_strv_copy(impossible && impossible == suite->instances_n ? problems : warnings, &said);
}

/* Is it there to be booted, or can it be installed? */
static int check_kernel(const struct kab_engine_new *what, size_t h,
			const struct kab_method_host *mh, const struct kab_kernel *kernel,
			const struct kab_wait *wait, struct kab_strv *problems,
			struct kab_strv *touches, struct kab_err *err)
{
	const struct kab_lab_host *host = what->hosts[h];
	const char *release = kernel->kind == KAB_KERNEL_RUNNING
				      ? kab_facts_get(&what->facts[h], "release")
				      : kernel->release;
	char *entry kab_autofree = NULL, *installed kab_autofree = NULL;

	if (kab_install_has_files(kernel)) {
		if (!kernel->key) {
			kab_strv_addf(touches, "host '%s': '%s' is downloaded and installed",
				      host->name, kernel->label);
			return 0;
		}
		if (kab_install_check(host, mh->session, kernel, wait, problems, touches,
				      &installed, err) < 0)
			return -1;
		release = installed;
	}
	if (!release)
		return 0;
	if (kab_method_lookup(mh, release, wait, &entry, err) < 0) {
		if (err->code != KAB_ERR_REMOTE)
			return -1;
		kab_strv_addf(problems, "host '%s', kernel '%s': %s", host->name, kernel->label,
			      err->text);
		kab_err_clear(err);
		return 0;
	}
	kab_strv_addf(touches, "host '%s': '%s' is booted once at a time through %s (%s)",
		      host->name, kernel->label, kab_boot_method_name(host->boot), entry);
	return 0;
}

static int check_boot(const struct kab_engine_new *what, size_t h, struct kab_session *s,
		      const struct kab_wait *wait, struct kab_strv *problems,
		      struct kab_strv *touches, struct kab_err *err)
{
	const struct kab_lab_host *host = what->hosts[h];
	struct kab_method_host mh = { .host = host, .session = s };
	struct kab_strv kab_autostrv facts = KAB_STRV_INIT, refusals = KAB_STRV_INIT;

	if (kab_method_preflight(&mh, wait, &facts, &refusals, err) < 0)
		return -1;
	for (size_t i = 0; i < refusals.n; i++)
		kab_strv_addf(problems, "host '%s', boot method '%s': %s", host->name,
			      kab_boot_method_name(host->boot), refusals.v[i]);
	for (size_t i = 0; i < facts.n; i++)
		if (!strncmp(facts.v[i], "pending=", 8) && facts.v[i][8])
			kab_strv_addf(
				problems,
				"host '%s': its next boot is already chosen ('%s'), not by kab; "
				"clear it with: grub-editenv - unset next_entry",
				host->name, facts.v[i] + 8);
	if (refusals.n)
		return 0;
	for (size_t k = 0; k < what->kernels->n; k++) {
		const struct kab_kernel *kernel =
			kab_kernel_for_host(&what->kernels->v[k], host->name);

		if (kernel && check_kernel(what, h, &mh, kernel, wait, problems, touches, err) < 0)
			return -1;
	}
	if (host->boot == KAB_BOOT_GRUB)
		kab_strv_addf(touches,
			      "host '%s': one file of kab's in GRUB's folder, and next_entry and "
			      "kab_args in its grubenv; the default entry stays as it is",
			      host->name);
	return 0;
}

/* What needs a connection. */
static int check_remote(const struct kab_engine_new *what, size_t h, const struct kab_log *log,
			int cancel_fd, struct kab_strv *problems, struct kab_strv *touches,
			struct kab_err *err)
{
	const struct kab_lab_host *host = what->hosts[h];
	struct kab_endpoint ep = kab_probe_endpoint(host, log);
	struct kab_wait wait = { .deadline_ns = kab_deadline_s(120), .cancel_fd = cancel_fd };
	struct kab_session *s = NULL;
	int status = 0;

	if (!what->suite->conditions.n && host->boot == KAB_BOOT_NONE)
		return 0;
	if (kab_probe_open(&ep, &wait, &s, err) < 0)
		return kab_err_prefix(err, "host '%s'", host->name);
	if (what->suite->conditions.n &&
	    kab_conditions_check(s, host->become, &what->plan->conditions[0], &wait, err) < 0) {
		if (err->code == KAB_ERR_UNSUPPORTED) {
			kab_strv_addf(problems, "host '%s': %s", host->name, err->text);
			kab_err_clear(err);
		} else {
			status = -1;
		}
	}
	if (status == 0 && host->boot != KAB_BOOT_NONE)
		status = check_boot(what, h, s, &wait, problems, touches, err);
	s->ops->close(s);
	return status < 0 ? kab_err_prefix(err, "host '%s'", host->name) : 0;
}

int kab_engine_preflight(const struct kab_engine_new *what, const struct kab_log *log,
			 int cancel_fd, struct kab_strv *problems, struct kab_strv *warnings,
			 struct kab_strv *touches, struct kab_err *err)
{
	for (size_t h = 0; h < what->n_hosts; h++) {
		check_kernels(what, h, problems);
		check_same_machine(what, h, problems);
		check_cases(what, h, problems, warnings);
		if (check_remote(what, h, log, cancel_fd, problems, touches, err) < 0)
			return -1;
	}
	return 0;
}
