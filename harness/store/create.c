/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run with all its planned steps. */
#include <string.h>

#include "base/alloc.h"
#include "store/internal.h"

/* "x", else "x-2", "x-3" ...: nothing that is stored is ever hidden by a later run. */
static int free_name(struct kab_store *store, const char *wish, char **ret, struct kab_err *err)
{
	for (int i = 1; i < 1000000; i++) {
		char *name = i == 1 ? kab_xstrdup(wish) : kab_xasprintf("%s-%d", wish, i);
		int64_t id;
		/* "latest" is what the newest run is called everywhere. */
		int rc = strcmp(name, "latest")
				 ? kab_sql_int(store, err, &id, "SELECT id FROM run WHERE name = ?",
					       "s", name)
				 : 0;

		if (rc == 1) {
			*ret = name;
			return 0;
		}
		free(name);
		if (rc < 0)
			return -1;
	}
	return kab_err_set(err, KAB_ERR_STORE, "no free name like '%s' is left", wish);
}

static int put_run(struct kab_store *store, struct kab_store_run *run, const char *name,
		   const char *wish, struct kab_err *err)
{
	if (kab_sql_run(store, err,
			"INSERT INTO run (name, wished_name, suite_name, suite_json, lab_json,"
			" plan_json, command_line, kab_version, created_wall_ns)"
			" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			"ssssssssi", name, wish, run->suite_name ? run->suite_name : "",
			run->suite_json ? run->suite_json : "", run->lab_json,
			run->plan_json ? run->plan_json : "{}",
			run->command_line ? run->command_line : "",
			run->kab_version ? run->kab_version : "", run->created_wall_ns))
		return -1;
	run->id = sqlite3_last_insert_rowid(store->db);
	return 0;
}

int kab_store_put_run(struct kab_store *store, struct kab_store_run *run, char **ret_name,
		      struct kab_err *err)
{
	const char *wish = run->name && *run->name		 ? run->name
			   : run->suite_name && *run->suite_name ? run->suite_name
								 : "run";
	char *name = NULL;

	if (free_name(store, wish, &name, err))
		return -1;
	if (put_run(store, run, name, wish, err)) {
		free(name);
		return -1;
	}
	*ret_name = name;
	return 0;
}

static int put_boot(struct kab_store *store, int64_t run_id, struct kab_store_boot *b,
		    const struct kab_store_host *hosts, size_t n_hosts,
		    const struct kab_store_kernel *kernels, size_t n_kernels, struct kab_err *err)
{
	if (b->host >= n_hosts || b->kernel >= n_kernels)
		return kab_err_set(err, KAB_ERR_INTERNAL, "a planned boot has no host or kernel");
	if (kab_sql_run(store, err,
			"INSERT INTO boot (run_id, run_host_id, run_kernel_id, block, sequence, "
			"restart)"
			" VALUES (?, ?, ?, ?, ?, ?)",
			"iiiiii", run_id, hosts[b->host].id, kernels[b->kernel].id,
			(int64_t)b->block, (int64_t)b->sequence, (int64_t)b->restart))
		return -1;
	b->id = sqlite3_last_insert_rowid(store->db);
	return 0;
}

static int put_step(struct kab_store *store, int64_t run_id, struct kab_store_step *s,
		    const struct kab_store_boot *boots, size_t n_boots, struct kab_err *err)
{
	if (s->boot >= n_boots)
		return kab_err_set(err, KAB_ERR_INTERNAL, "a planned step has no boot");
	if (kab_sql_run(
		    store, err,
		    "INSERT INTO iteration (run_id, boot_id, condition, case_name, row_key, runner,"
		    " params_text, case_order, iteration, warmup, sequence)"
		    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		    "iisssssiiii", run_id, boots[s->boot].id, s->condition ? s->condition : "",
		    s->case_name, s->row_key ? s->row_key : "", s->runner,
		    s->params_text ? s->params_text : "", (int64_t)s->case_order,
		    (int64_t)s->iteration, (int64_t)s->warmup, s->sequence))
		return -1;
	s->id = sqlite3_last_insert_rowid(store->db);
	return 0;
}

int kab_store_create_run(struct kab_store *store, struct kab_store_run *run,
			 struct kab_store_host *hosts, size_t n_hosts,
			 struct kab_store_kernel *kernels, size_t n_kernels,
			 struct kab_store_boot *boots, size_t n_boots, struct kab_store_step *steps,
			 size_t n_steps, char **ret_name, struct kab_err *err)
{
	char *name = NULL;
	int rc;

	*ret_name = NULL;
	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_store_put_run(store, run, &name, err);
	for (size_t i = 0; !rc && i < n_hosts; i++) {
		rc = kab_sql_run(store, err,
				 "INSERT INTO run_host (run_id, label, position) VALUES (?, ?, ?)",
				 "isi", run->id, hosts[i].label, (int64_t)hosts[i].position);
		hosts[i].id = sqlite3_last_insert_rowid(store->db);
	}
	for (size_t i = 0; !rc && i < n_kernels; i++) {
		rc = kab_sql_run(store, err,
				 "INSERT INTO run_kernel (run_id, label, spec, position)"
				 " VALUES (?, ?, ?, ?)",
				 "issi", run->id, kernels[i].label,
				 kernels[i].spec ? kernels[i].spec : "",
				 (int64_t)kernels[i].position);
		kernels[i].id = sqlite3_last_insert_rowid(store->db);
	}
	for (size_t i = 0; !rc && i < n_boots; i++)
		rc = put_boot(store, run->id, &boots[i], hosts, n_hosts, kernels, n_kernels, err);
	for (size_t i = 0; !rc && i < n_steps; i++)
		rc = put_step(store, run->id, &steps[i], boots, n_boots, err);
	/* As it was asked for: the name that it would have got is nobody's. */
	rc = kab_tx_end(store, rc, err, "store the plan of run '%s'",
			run->name && *run->name ? run->name
			: name			? name
						: "");
	if (rc) {
		free(name);
		return rc;
	}
	*ret_name = name;
	return 0;
}

static int position_id(struct kab_store *store, int64_t run_id, const char *sql, size_t position,
		       int64_t *ret, struct kab_err *err)
{
	int rc = kab_sql_int(store, err, ret, sql, "ii", run_id, (int64_t)position);

	return rc == 1 ? kab_err_set(err, KAB_ERR_INTERNAL,
				     "the run has no host or kernel at position %zu", position)
		       : rc;
}

int kab_store_extend_run(struct kab_store *store, int64_t run_id, struct kab_store_boot *boots,
			 size_t n_boots, struct kab_store_step *steps, size_t n_steps,
			 struct kab_err *err)
{
	int rc = 0;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	for (size_t i = 0; !rc && i < n_boots; i++) {
		struct kab_store_boot boot = boots[i];
		struct kab_store_host host = { 0 };
		struct kab_store_kernel kernel = { 0 };

		rc = position_id(store, run_id,
				 "SELECT id FROM run_host WHERE run_id = ? AND position = ?",
				 boot.host, &host.id, err);
		if (!rc)
			rc = position_id(
				store, run_id,
				"SELECT id FROM run_kernel WHERE run_id = ? AND position = ?",
				boot.kernel, &kernel.id, err);
		boot.host = boot.kernel = 0;
		if (!rc)
			rc = put_boot(store, run_id, &boot, &host, 1, &kernel, 1, err);
		boots[i].id = boot.id;
	}
	for (size_t i = 0; !rc && i < n_steps; i++)
		rc = put_step(store, run_id, &steps[i], boots, n_boots, err);
	return kab_tx_end(store, rc, err, "extend run %lld", (long long)run_id);
}
