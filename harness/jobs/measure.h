/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a job has kernels compared without knowing how: made and carried out by whoever started it, as
 * `kab run` does. Making and carrying out are two steps, so that a job can write down the run in between
 * and go on with it after it was killed.
 */
#ifndef KAB_JOBS_MEASURE_H
#define KAB_JOBS_MEASURE_H

#include <stdint.h>

#include "base/err.h"
#include "base/strv.h"

struct kab_measure {
	const char *name; /* wished name of the run */
	const char *suite, *host; /* as on the command line */
	const struct kab_strv *kernels; /* "LABEL=SPEC", the baseline first */
	int boots; /* blocks */
	uint64_t seed;
};

struct kab_measurer {
	void *ctx;
	/* Make and store the run. 0, or -1. *ret_name: caller frees. */
	int (*create)(void *ctx, const struct kab_measure *what, int64_t *ret_run_id,
		      char **ret_name, struct kab_err *err);
	/* Carry it out, or go on with it. 0: every step has its final state (failures are in the
	 * store); 1: stopped by the user; -1: the host or the lab failed, and it may be gone on with. */
	int (*execute)(void *ctx, int64_t run_id, const char *name, struct kab_err *err);
};

#endif
