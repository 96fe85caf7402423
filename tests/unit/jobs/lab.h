/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A lab without machines: runs are made by the engine's own function, and their boots and iterations
 * are filled with values of a known truth.
 */
#ifndef KAB_TESTS_JOBS_LAB_H
#define KAB_TESTS_JOBS_LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/kernel.h"
#include "model/lab.h"
#include "model/suite.h"
#include "store/store.h"

/* What the lab is asked for: one iteration. */
struct lab_question {
	const char *host, *kernel, *case_name; /* labels */
	int64_t boot; /* id of the boot */
	int block, iteration;
};

struct lab_world {
	/* The value of an iteration in s, lower is better; NAN: it fails. */
	double (*value)(void *ctx, const struct lab_question *q);
	/* Does the kernel boot on the host? NULL: always. */
	bool (*boots)(void *ctx, const char *host, const char *kernel);
	/* CPU model of the host now. NULL: "Model A". */
	const char *(*model)(void *ctx, const char *host);
	void *ctx;
	/* Times of what is filled in: it begins at now_ns; a boot and an iteration take so long. */
	int64_t now_ns;
	double boot_s, iteration_s;
};

/* The number that a text begins with; 0 without one. */
int lab_number(const char *text);
/* Facts of a host. */
void lab_facts(const struct lab_world *w, const char *host, struct kab_facts *ret);
/* A suite of cases of the synthetic runner, by their names (NULL-terminated), bound. */
void lab_suite(struct kab_suite *suite, const char *const *cases, int boots, int iterations,
	       double margin_pct);
/* A lab of hosts h1..hn that kab boots. */
void lab_hosts(struct kab_lab *lab, size_t n);
/* A run of these kernels ("LABEL=SPEC", NULL-terminated) on one host, stored; its id. */
int64_t lab_make(struct kab_store *store, const struct kab_suite *suite, const struct kab_lab *lab,
		 const struct lab_world *w, const char *name, const char *host,
		 const char *const *kernels, int boots, uint64_t seed);
/* The same, and carried out. */
int64_t lab_run(struct kab_store *store, const struct kab_suite *suite, const struct kab_lab *lab,
		const struct lab_world *w, const char *name, const char *host,
		const char *const *kernels, int boots, uint64_t seed);
/* Carry out a stored run on the host: every step that has none gets its final state. Seconds taken. */
double lab_fill(struct kab_store *store, int64_t run_id, const struct lab_world *w);

#endif
