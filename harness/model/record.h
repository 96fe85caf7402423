/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records: what collecting hands to the store and what judging reads from it. Plain data; strings
 * are owned by the struct unless said otherwise and released by the matching _release().
 */
#ifndef KAB_MODEL_RECORD_H
#define KAB_MODEL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/metric.h"

/* State of an iteration. Only DONE has samples that may be judged. */
enum kab_iter_state {
	KAB_ITER_PENDING = 0, /* planned, not begun */
	KAB_ITER_RUNNING, /* started on the target; the run id is known */
	KAB_ITER_DONE, /* finished with status ok or partial */
	KAB_ITER_FAILED, /* ran and failed: see reason */
	KAB_ITER_MISSING, /* will not be run: runner unsupported, boot failed, dropped ... */
};
const char *kab_iter_state_name(enum kab_iter_state state);
int kab_iter_state_parse(const char *word, enum kab_iter_state *ret);

enum kab_run_state {
	KAB_RUN_PLANNED = 0, /* stored, nothing begun */
	KAB_RUN_RUNNING, /* a controller is (or was) at it */
	KAB_RUN_WAITING, /* needs the user: `kab resume` goes on */
	KAB_RUN_INTERRUPTED, /* stopped; `kab resume` goes on */
	KAB_RUN_COMPLETE, /* every step has a final state; some may have failed */
};
const char *kab_run_state_name(enum kab_run_state state);
int kab_run_state_parse(const char *word, enum kab_run_state *ret);

/* A kernel's identity: build id, else release + commit + config hash. The label belongs to the run. */
struct kab_kernel_id {
	char *release; /* `uname -r`; "" when unknown */
	char *build_id; /* hex of /sys/kernel/notes; "" when unknown */
	char *commit; /* "" when unknown */
	char *config_hash; /* hex sha256; "" when unknown */
};
/* "build:HEX", else "rel:RELEASE:COMMIT:CONFIGHASH"; caller frees. */
char *kab_kernel_identity(const struct kab_kernel_id *id);
void kab_kernel_id_release(struct kab_kernel_id *id);

/* Identity of a series (DESIGN section 1): hash of runner, its version, resolved parameters, metric
 * and unit. `params` is the canonical text of kab_params_canonical(). Caller frees (64 hex). */
char *kab_series_key(const char *runner, const char *runner_version, const char *params,
		     const char *metric, const char *unit);

/* One value of one iteration as judging sees it. */
struct kab_obs {
	double value; /* mean of the repeated samples of this iteration */
	size_t repeats; /* how many samples it is the mean of */
	int64_t sequence; /* order of execution within the run, from 1 */
	int64_t iteration_id;
};

/* All that one boot gave for one series. Only non-warm-up, DONE iterations are in obs. */
struct kab_boot_obs {
	int64_t boot_id; /* row id in the store */
	int block; /* block of the plan, from 0; -1 when the plan has no blocks */
	struct kab_obs *v;
	size_t n, cap;
};

/*
 * A sample set: one metric of one row (host, condition, case) under one kernel.
 * n_planned counts non-warm-up iterations that the plan has for it.
 * Of imported figures there may be a summary instead: then boots is empty. A set never has both.
 */
struct kab_sample_set {
	char *kernel; /* label */
	struct {
		size_t n; /* 0: no summary */
		double mean, sd; /* sd with n - 1; NAN unknown */
	} summary;
	struct kab_boot_obs *boots;
	size_t n_boots, cap_boots;
	size_t n_planned, n_done, n_failed, n_missing, n_retried;
	char *first_failure; /* reason of the first failed or missing iteration, or NULL */
	char *argv_text; /* resolved parameters of the iterations; differs => not comparable */
	char *runner_version;
};

/* A row before judging: what is compared, and one set for each kernel (baseline first). */
struct kab_row_data {
	char *host; /* label of the host in the run */
	char *condition; /* "smt=on" or "" */
	char *case_name; /* name of the case in the suite */
	char *row_key; /* sweep values as text: "groups=4"; "" without a sweep */
	char *runner;
	char *metric;
	char *unit;
	enum kab_direction dir;
	bool primary; /* carries a verdict: the runner's primary metric or named by the suite */
	double margin_pct; /* S of the verdict, percent of the base */
	bool restarts; /* boots are restarts within one boot of the machine, not boots */
	bool boots_unknown; /* imported without a word on boots: all values stand as one boot */
	bool paired; /* analysis fixed by the plan: blocks of random pairs, tested paired */
	int looks; /* the plan may end early at so many looks (kab_stop_look_blocks); 0: fixed length */
	int max_blocks; /* with looks: blocks at the last one */
	int order; /* of the suite */
	struct kab_sample_set *sets;
	size_t n_sets;
};

/* Rows of a run (or of several, pooled), ready for kab_judge(). */
struct kab_row_list {
	struct kab_row_data *v;
	size_t n, cap;
};
void kab_row_list_release(struct kab_row_list *rows);

#endif
