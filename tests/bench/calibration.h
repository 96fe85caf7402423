/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the parts of the calibration program: data with a known truth, and the gates. */
#ifndef KAB_TESTS_CALIBRATION_H
#define KAB_TESTS_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/rng.h"

enum dist { D_NORMAL, D_LOGNORMAL, D_T2, D_PARETO, D_BIMODAL, D_ROUNDED, D_COUNT };

struct design {
	enum dist dist; /* of the boot effects */
	size_t boots; /* per side */
	size_t iterations; /* per boot */
	double ratio; /* sd of the boot effects / sd of the iterations */
	double mean; /* of the base; 100 unless the cell says otherwise */
	double sd; /* of the iterations; 1 */
};

struct calibration {
	size_t trials;
	bool full; /* --long */
	size_t gates, failures;
	struct kab_rng rng;
};

extern const char *const dist_names[D_COUNT];

/* A boot effect with standard deviation 1 and mean 0 (t with 2 df: scale 1). */
double draw_effect(struct kab_rng *rng, enum dist d);
/* Boot means of one side: mean * factor + effects + the mean of the iterations' noise. */
void draw_boot_means(struct kab_rng *rng, const struct design *d, double factor, double *out);
/* The iterations themselves, boot after boot. */
void draw_iterations(struct kab_rng *rng, const struct design *d, double factor, double *out);

/* 4 standard errors of a share p in n trials. */
double four_se(double p, size_t n);
/* Records a gate: seen <= limit (or >= when at_least). Prints only failures. */
void gate(struct calibration *c, bool at_least, double seen, double limit, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* Parts in their own files. */
void calibrate_stopping(struct calibration *c);
void calibrate_history(struct calibration *c);
/* The decision rules of other tools on the same data: a table, no gates. */
void compare_rivals(struct calibration *c);
/* The same data as text, for programs: a line "boots iterations ratio effects factor flagged" (flagged:
 * kab's mark), a line of base values, a line of test values. */
void dump_rivals(struct calibration *c);

#endif
