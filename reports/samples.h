/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plain sets of numbers against a baseline: what `kab stats` prints. */
#ifndef KAB_REPORTS_SAMPLES_H
#define KAB_REPORTS_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "stats/describe.h"
#include "stats/verdict.h"

/* One set: values, and with boots the mean of each boot. */
struct kab_sample_report {
	const char *name; /* borrowed */
	const double *values; /* borrowed, n of them, in the order of the file */
	double *sorted; /* owned */
	size_t n;
	double *units; /* owned: boot means, or NULL: the values themselves */
	size_t n_units;
	struct kab_summary over; /* over the units: mean, sd, sem, cv, ci */
	struct kab_summary all; /* over all values: min, max, median, mad */
	struct kab_comparison cmp; /* with the first set; unset for the first set */
	struct kab_comparison
		raised; /* the same as if higher were better: higher or lower, in words */
};

struct kab_samples_report {
	struct kab_sample_report *v;
	size_t n;
	struct kab_compare_opts opts;
	bool boots;
	bool confidence_given;
};

/* boot: index of the boot of each value, NULL without boots. Fills everything but cmp. */
void kab_sample_report_init(struct kab_sample_report *set, const char *name, const double *values,
			    const size_t *boot, size_t n, size_t n_boots, double confidence);
/* Compare every set with the first one; Holm over the comparisons when there are several. */
void kab_samples_report_compare(struct kab_samples_report *report);
void kab_samples_report_release(struct kab_samples_report *report);

/* Picture, table, sentences. picture false: without the picture. */
void kab_samples_report_text(const struct kab_samples_report *report, bool picture,
			     struct kab_buf *out);
/* One strict JSON object; undefined numbers are null. */
void kab_samples_report_json(const struct kab_samples_report *report, struct kab_buf *out);

/* The letter of set i in picture and table. */
char kab_samples_letter(size_t i);
/* All distributions on one axis: for each set its density and, below, its quartiles, median (M) and
 * mean (A). */
void kab_samples_picture(const struct kab_samples_report *report, struct kab_buf *out);

#endif
