/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The store: every run, boot, iteration, sample and raw output, in one SQLite database. Verbs here,
 * SQL nowhere else. One handle may be used from several threads: a mutex inside serialises them
 * (one writer). Every verb returns 0 or -1 (STORE error with the remedy); "not found" is 1. A
 * missing database is NOT_FOUND.
 * Nothing is updated in place but states. Blocks on disk; busy waits are bounded (30 s).
 */
#ifndef KAB_STORE_STORE_H
#define KAB_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/facts.h"
#include "model/metric.h"
#include "model/record.h"

struct kab_store;

enum kab_store_mode {
	KAB_STORE_WRITE, /* created when missing (folders too), migrated after a copy is kept */
	KAB_STORE_CHANGE, /* the same, but must exist */
	KAB_STORE_READ, /* must exist; a newer schema is refused; an older one asks for a write */
};

/* path NULL: $KAB_DB, else $XDG_DATA_HOME/kab/kab.db, else ~/.local/share/kab/kab.db. */
int kab_store_open(const char *path, enum kab_store_mode mode, struct kab_store **ret,
		   struct kab_err *err);
void kab_store_close(struct kab_store *store); /* NULL is fine */
const char *kab_store_path(const struct kab_store *store);
/* A sentence for the user about how the database is kept ("network file system: WAL not used"),
 * or NULL. Borrowed. */
const char *kab_store_notice(const struct kab_store *store);

/* ---- collecting ---- */

struct kab_store_run {
	int64_t id; /* out */
	const char *name; /* wished; made unique by the store ("x", then "x-2") and returned */
	const char *suite_name;
	const char *suite_json; /* as loaded, whole */
	const char *lab_json; /* of the hosts used, without secrets; NULL without a lab */
	const char *plan_json; /* seed, order, analysis: everything that resume needs */
	const char *command_line; /* how the user called kab */
	const char *kab_version;
	int64_t created_wall_ns;
};
/* Store a run and all its planned steps in one transaction; ids are filled in. *ret_name is the
 * name it got (caller frees). */
struct kab_store_kernel {
	int64_t id; /* out */
	const char *label;
	const char *spec; /* as given on the command line */
	int position; /* 0 is the baseline */
};
struct kab_store_host {
	int64_t id; /* out */
	const char *label;
	int position;
};
struct kab_store_boot {
	int64_t id; /* out */
	size_t host, kernel; /* indices into the arrays */
	int block; /* of the plan, from 0 */
	int sequence; /* on that host, from 1 */
	bool restart; /* a fresh start within one boot of the machine */
};
struct kab_store_step {
	int64_t id; /* out: iteration id */
	size_t boot;
	const char *condition; /* "" without */
	const char *case_name;
	const char *row_key;
	const char *runner;
	const char *params_text; /* canonical, unresolved */
	int case_order;
	int iteration; /* within (boot, condition, case), from 1; warm-ups count on their own */
	bool warmup;
	int64_t sequence; /* within the run, from 1 */
};
int kab_store_create_run(struct kab_store *store, struct kab_store_run *run,
			 struct kab_store_host *hosts, size_t n_hosts,
			 struct kab_store_kernel *kernels, size_t n_kernels,
			 struct kab_store_boot *boots, size_t n_boots, struct kab_store_step *steps,
			 size_t n_steps, char **ret_name, struct kab_err *err);

/* More boots and steps for a stored run (adaptive length). boots[].host and .kernel are the positions
 * that the run's hosts and kernels have; ids are filled in. One transaction. */
int kab_store_extend_run(struct kab_store *store, int64_t run_id, struct kab_store_boot *boots,
			 size_t n_boots, struct kab_store_step *steps, size_t n_steps,
			 struct kab_err *err);
int kab_store_set_run_state(struct kab_store *store, int64_t run_id, enum kab_run_state state,
			    struct kab_err *err);
/* A boot was proven: who it is and its environment (all facts are kept). */
int kab_store_boot_proven(struct kab_store *store, int64_t boot_id,
			  const struct kab_kernel_id *kernel, const char *machine_hash,
			  const char *os_boot_id, const struct kab_facts *facts, int64_t wall_ns,
			  struct kab_err *err);
/* state: "proven" is set above; "done", "broken", "failed" with a reason. */
int kab_store_boot_state(struct kab_store *store, int64_t boot_id, const char *state,
			 const char *reason, struct kab_err *err);
/* A boot had to be repeated (broken): add another one like it; its not yet final steps move there. */
int kab_store_boot_again(struct kab_store *store, int64_t boot_id, int64_t *ret_boot_id,
			 struct kab_err *err);

/* The iteration has a run id on the target and is about to be started there. */
int kab_store_iteration_started(struct kab_store *store, int64_t iteration_id,
				const char *remote_id, int64_t wall_ns, struct kab_err *err);
/* It was ended and nothing of it is left on the target: it is to be done from its beginning. */
int kab_store_iteration_abandoned(struct kab_store *store, int64_t iteration_id,
				  struct kab_err *err);

struct kab_store_stream {
	const char *name; /* "stdout", "stderr", or a declared file */
	const void *data;
	size_t len;
	bool cut;
};
struct kab_store_result {
	int64_t iteration_id;
	enum kab_iter_state state; /* DONE, FAILED or MISSING */
	const char *reason; /* a sentence when not DONE or when partial; else NULL */
	const char *parse_status; /* "ok", "partial", ...; NULL when nothing was parsed */
	int exit_status; /* 0..255, 128+signal, -1 unknown */
	int64_t started_wall_ns, finished_wall_ns; /* controller's clock, 0 unknown */
	double elapsed_s, user_s, system_s; /* on the target; NAN unknown */
	double max_rss_kb; /* NAN unknown */
	const char *argv_json; /* exact argv, JSON array */
	const char *params_resolved; /* canonical, resolved */
	const char *runner_version; /* of the tool */
	const char *parser_version;
	const struct kab_sample *samples;
	size_t n_samples;
	const struct kab_store_stream *streams;
	size_t n_streams;
};
/* The atom: iteration state, samples, raw output, in one transaction. An iteration that is already
 * final is refused with 1 (nothing is counted twice). */
int kab_store_commit_iteration(struct kab_store *store, const struct kab_store_result *result,
			       struct kab_err *err);
/* --retry: a further attempt of a failed iteration; the failed one stays, *ret_id is new. */
int kab_store_retry_iteration(struct kab_store *store, int64_t iteration_id, int64_t *ret_id,
			      struct kab_err *err);
/* A new extraction of an old iteration (reparse). */
int kab_store_add_extraction(struct kab_store *store, int64_t iteration_id, const char *runner,
			     const char *parser_version, const char *parse_status,
			     const char *message, const struct kab_sample *samples, size_t n,
			     struct kab_err *err);
/* Anything worth telling later: condition changed, host lost, user interrupted ... host_id or
 * boot_id 0: none. */
int kab_store_event(struct kab_store *store, int64_t run_id, int64_t boot_id, const char *kind,
		    const char *text, struct kab_err *err);
/* Many verbs as one transaction of one thread (an import): all of it is kept, or nothing. Verbs
 * between work as ever. kab_store_bulk_end(keep = false) takes everything back. */
int kab_store_bulk_begin(struct kab_store *store, struct kab_err *err);
int kab_store_bulk_end(struct kab_store *store, bool keep, struct kab_err *err);
/* A consistent copy of the whole database, one file, while it is in use. The path must not exist. */
int kab_store_backup(struct kab_store *store, const char *path, struct kab_err *err);
/* Is the file whole (pages, references, states, packed output)? A sentence for each problem is
 * appended, with what to do. Reads all of it; changes nothing. -1: it could not be looked at. */
struct kab_strv;
int kab_store_check(struct kab_store *store, struct kab_strv *problems, struct kab_err *err);
/* How changes are kept safe, and what is in the log now, as a sentence; caller frees. */
int kab_store_journal(struct kab_store *store, char **ret, struct kab_err *err);
/* Longest stored elapsed time of DONE iterations of that runner + unresolved parameters on the
 * machine, for the default timeout. 1 when there is none. */
int kab_store_longest_elapsed(struct kab_store *store, const char *machine_hash, const char *runner,
			      const char *params_text, double *ret_s, struct kab_err *err);
/* Same, the median: for the plan's estimate. */
int kab_store_typical_elapsed(struct kab_store *store, const char *runner, const char *params_text,
			      double *ret_s, struct kab_err *err);

/* Figures of which only n, mean and standard deviation (n - 1) are known; `host` and `kernel` are
 * labels that the run has. A second one of the same row, kernel and metric is refused. */
struct kab_store_summary {
	const char *host, *kernel, *condition, *case_name, *row_key, *runner, *metric, *unit;
	enum kab_direction dir;
	int64_t n; /* 1 or more */
	double mean, sd; /* sd NAN: unknown */
};
int kab_store_put_summary(struct kab_store *store, int64_t run_id,
			  const struct kab_store_summary *summary, struct kab_err *err);
/* The newest run that was imported from content with this hash; *ret_name (caller frees). 1: none. */
int kab_store_find_import(struct kab_store *store, const char *sha256, char **ret_name,
			  struct kab_err *err);

/* The noise floor of one series on one machine, from an A/A run. */
struct kab_noise {
	const char *machine_hash, *runner, *params_text, *condition, *metric;
	double cv; /* fraction: sd of boot means over their mean, both labels pooled */
	int64_t units; /* boots (or restarts) per label it comes from */
	bool restarts;
	char *run_name; /* out of kab_store_find_noise; caller frees */
};
int kab_store_put_noise(struct kab_store *store, int64_t run_id, const struct kab_noise *noise,
			struct kab_err *err);
/* Whether any floor is stored at all: most databases have none. */
bool kab_store_any_noise(struct kab_store *store);
/* The newest one; the first five members are the key. machine_hash NULL: of any machine. 1: none. */
int kab_store_find_noise(struct kab_store *store, struct kab_noise *noise, struct kab_err *err);

/* ---- giving room back (prune.c) ---- */
/* Streams of raw output that a run has stored, and their bytes as packed. */
int kab_store_output_bytes(struct kab_store *store, int64_t run_id, int64_t *ret_n,
			   int64_t *ret_bytes, struct kab_err *err);
/* Delete the raw output of a run, or all that is stored of it. BUSY: it is not over. */
int kab_store_delete_output(struct kab_store *store, int64_t run_id, struct kab_err *err);
int kab_store_delete_run(struct kab_store *store, int64_t run_id, struct kab_err *err);
/* Give free pages back to the file system; *ret_freed bytes. Needs as much room as the database,
 * and nobody else who writes. */
int kab_store_shrink(struct kab_store *store, int64_t *ret_freed, struct kab_err *err);

/* ---- reading ---- */

struct kab_run_info {
	int64_t id;
	char *name, *suite_name, *suite_json, *lab_json, *plan_json, *command_line, *kab_version;
	enum kab_run_state state;
	int64_t created_wall_ns, finished_wall_ns;
	size_t n_iterations, n_done, n_failed, n_missing, n_pending; /* without warm-ups */
	size_t n_summaries; /* imported ones: see struct kab_summary_info */
};
void kab_run_info_release(struct kab_run_info *info);
/* NAME, ID, or "latest"/NULL. 1 when there is none; *ret_note (caller frees, may be NULL) says what
 * the name was resolved to when that is not obvious. */
int kab_store_find_run(struct kab_store *store, const char *name, struct kab_run_info *ret,
		       char **ret_note, struct kab_err *err);
/* Newest first; caller releases each and frees the array. */
int kab_store_list_runs(struct kab_store *store, size_t max, struct kab_run_info **ret,
			size_t *ret_n, struct kab_err *err);

struct kab_boot_info {
	int64_t id;
	char *host, *kernel, *spec, *release, *build_id, *os_boot_id, *machine_hash, *state,
		*reason;
	int block, sequence;
	bool restart;
	int64_t proven_wall_ns;
};
struct kab_step_info {
	int64_t id; /* iteration id */
	int64_t boot_id;
	char *condition, *case_name, *row_key, *runner, *params_text, *params_resolved, *argv_json;
	char *remote_id, *reason, *parse_status, *runner_version;
	int iteration, attempt, case_order;
	bool warmup;
	int64_t sequence;
	enum kab_iter_state state;
	int exit_status;
	double elapsed_s, user_s, system_s, max_rss_kb; /* NAN unknown */
	int64_t started_wall_ns, finished_wall_ns;
};
void kab_boot_info_release(struct kab_boot_info *info);
void kab_step_info_release(struct kab_step_info *info);
int kab_store_list_boots(struct kab_store *store, int64_t run_id, struct kab_boot_info **ret,
			 size_t *ret_n, struct kab_err *err);
/* boot_id 0: of the whole run; in order of sequence. */
int kab_store_list_steps(struct kab_store *store, int64_t run_id, int64_t boot_id,
			 struct kab_step_info **ret, size_t *ret_n, struct kab_err *err);
/* Of each case and row the first step that is done and whose argv is known. */
int kab_store_list_invoked(struct kab_store *store, int64_t run_id, struct kab_step_info **ret,
			   size_t *ret_n, struct kab_err *err);
/* The summaries of a run in the order of import. */
struct kab_summary_info {
	char *host, *kernel, *condition, *case_name, *row_key, *runner, *metric, *unit;
	enum kab_direction dir;
	int64_t n;
	double mean, sd; /* sd NAN: unknown */
};
void kab_summary_info_release(struct kab_summary_info *info);
int kab_store_list_summaries(struct kab_store *store, int64_t run_id, struct kab_summary_info **ret,
			     size_t *ret_n, struct kab_err *err);
struct kab_event_info {
	int64_t boot_id; /* 0: none */
	int64_t wall_ns;
	char *kind, *text;
};
void kab_event_info_release(struct kab_event_info *info);
int kab_store_list_events(struct kab_store *store, int64_t run_id, struct kab_event_info **ret,
			  size_t *ret_n, struct kab_err *err);
/* The newest reading of an iteration's output; 1 when there is none. */
struct kab_extraction_info {
	char *parser_version, *parse_status, *message; /* message may be NULL */
	struct kab_samples samples;
};
void kab_extraction_info_release(struct kab_extraction_info *info);
int kab_store_extraction(struct kab_store *store, int64_t iteration_id,
			 struct kab_extraction_info *ret, struct kab_err *err);
/* Raw output of an iteration. Caller frees *ret_data. 1 when there is no such stream. */
int kab_store_output(struct kab_store *store, int64_t iteration_id, const char *stream,
		     char **ret_data, size_t *ret_len, bool *ret_cut, struct kab_err *err);
/* Names of the streams of an iteration; caller frees each and the array. */
int kab_store_output_names(struct kab_store *store, int64_t iteration_id, char ***ret,
			   size_t *ret_n, struct kab_err *err);
/* Facts of a boot as proven. */
int kab_store_boot_facts(struct kab_store *store, int64_t boot_id, struct kab_facts *ret,
			 struct kab_err *err);

/*
 * The sample sets of runs for judging: every metric of the newest extraction of every iteration
 * that is not a warm-up. Rows in suite order, sets in kernel order (baseline first). `metrics` that
 * carry verdicts, margins, and directions come from plan_json's "judge" object. Consistent: one
 * read transaction.
 *
 * Metrics: what was measured, what the plan wants judged although nobody measured it, and
 * invocation_elapsed, _user, _system ("s") and _max_rss ("KB") of DONE iterations, which have a
 * direction only when the plan names them. A DONE iteration without a value of the metric counts in
 * n_missing. n_retried counts iterations, not attempts. Several runs: blocks and sequences of a
 * later run come after those of an earlier one; a label that names different kernels becomes
 * "LABEL@RUN".
 */
int kab_store_load_rows(struct kab_store *store, const int64_t *run_ids, size_t n_runs,
			struct kab_row_list *ret, struct kab_err *err);

#endif
