/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What can be known before anything starts: better refused now than failed in the night. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "engine/bind.h"
#include "engine/conditions.h"
#include "engine/engine.h"
#include "engine/probe.h"
#include "model/expr.h"

static void check_kernels(const struct kab_engine_new *what, size_t h, struct kab_strv *problems)
{
	const struct kab_facts *facts = &what->facts[h];
	const struct kab_kernel *first = NULL;
	struct kab_strv kab_autostrv labels = KAB_STRV_INIT;

	for (size_t k = 0; k < what->kernels->n; k++) {
		const struct kab_kernel *kernel = &what->kernels->v[k];

		kab_strv_addf(&labels, "%s=%s", kernel->label, kernel->spec);
		if (!kab_kernel_matches(kernel, facts, NULL))
			continue;
		if (first && !kab_kernel_same_spec(first, kernel))
			kab_strv_addf(problems,
				      "host '%s': kernels '%s' and '%s' are both the one that runs (%s); "
				      "for an A/A run give both the same SPEC",
				      what->hosts[h]->name, first->label, kernel->label,
				      kab_facts_get(facts, "release"));
		if (!first)
			first = kernel;
	}
	if (!first && what->hosts[h]->boot == KAB_BOOT_NONE) {
		char *all kab_autofree = kab_strv_join(&labels, ", ");

		kab_strv_addf(problems,
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
			kab_strv_addf(problems,
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
			char *line kab_autofree =
				kab_xasprintf("host '%s', case '%s': %s", what->hosts[h]->name,
					      c->name, reason);

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

static int check_conditions(const struct kab_engine_new *what, size_t h, const struct kab_log *log,
			    int cancel_fd, struct kab_strv *problems)
{
	struct kab_endpoint ep = kab_probe_endpoint(what->hosts[h], log);
	struct kab_wait wait = { .deadline_ns = kab_deadline_s(60), .cancel_fd = cancel_fd };
	struct kab_session *s = NULL;
	struct kab_err err = KAB_ERR_INIT;

	if (!what->suite->conditions.n)
		return 0;
	if (kab_probe_open(&ep, &wait, &s, &err) == 0)
		kab_conditions_check(s, what->hosts[h]->become, &what->plan->conditions[0], &wait,
				     &err);
	if (err.code == KAB_ERR_REMOTE)
		kab_strv_addf(problems, "host '%s': %s", what->hosts[h]->name, err.text);
	else if (err.code)
		kab_strv_addf(problems, "host '%s': cannot check its conditions: %s",
			      what->hosts[h]->name, err.text);
	if (s)
		s->ops->close(s);
	return 0;
}

int kab_engine_preflight(const struct kab_engine_new *what, const struct kab_log *log, int cancel_fd,
			 struct kab_strv *problems, struct kab_strv *warnings, struct kab_err *err)
{
	for (size_t h = 0; h < what->n_hosts; h++) {
		check_kernels(what, h, problems);
		check_same_machine(what, h, problems);
		check_cases(what, h, problems, warnings);
		if (check_conditions(what, h, log, cancel_fd, problems) < 0)
			return -1;
	}
	(void)err;
	return 0;
}
