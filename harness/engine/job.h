/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A stored run, loaded whole so that it can be executed: shared by the lanes, read-only. */
#ifndef KAB_ENGINE_JOB_H
#define KAB_ENGINE_JOB_H

#include "engine/engine.h"

struct kab_job {
	struct kab_run_info info;
	struct kab_suite suite; /* bound */
	struct kab_kernel_list kernels;
	struct kab_setting_list *conditions;
	size_t n_conditions;
	char uid[17];
	int retry, boots; /* boots: the maximum, with a stopping rule */
	int iterations, warmup;
	uint64_t seed;
	struct kab_stopping stopping;
	bool aa;
	bool restarts, booting;
	struct kab_strv hosts; /* labels, order of the plan */
	struct kab_strv running; /* for each host: release, then build id, of "running" */
};

int kab_job_load(struct kab_store *store, int64_t run_id, struct kab_job *ret, struct kab_err *err);
void kab_job_release(struct kab_job *job);
/* The run of this database that the owner of a lease ("uid0@HOST:UID") is, among the last 500. 0 and
 * *ret filled (caller releases); 1 when it is none of them. */
int kab_job_of_owner(struct kab_store *store, const char *owner, struct kab_run_info *ret);
/* Borrowed; NULL when the stored run names what its suite does not have. */
const struct kab_instance *kab_job_instance(const struct kab_job *job, const char *case_name,
					    const char *row_key);
const struct kab_setting_list *kab_job_condition(const struct kab_job *job, const char *text);
const struct kab_kernel *kab_job_kernel(const struct kab_job *job, const char *label);
/* The one that the label means on that host; NULL: none. */
const struct kab_kernel *kab_job_kernel_on(const struct kab_job *job, const char *host,
					   const char *label);
/* Does `facts` show the kernel `label` of this run on that host? As kab_kernel_matches(), and for
 * "running": the one that ran when the run was made. */
int kab_job_kernel_matches(const struct kab_job *job, const char *host, const char *label,
			   const struct kab_facts *facts, char **ret_why);

#endif
