/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a benchmark measures: a metric has a name, a unit and a direction. A sample is one value of
 * one metric of one iteration. Values are as printed by the tool, in the unit stated; conversion is
 * explicit and happens in the runner.
 */
#ifndef KAB_MODEL_METRIC_H
#define KAB_MODEL_METRIC_H

#include <stdbool.h>
#include <stddef.h>

enum kab_direction {
	KAB_DIR_NONE = 0, /* informative only: never a gain, never a verdict */
	KAB_DIR_LOWER, /* lower is better */
	KAB_DIR_HIGHER, /* higher is better */
};

/* "none", "lower", "higher": the words of `kab parse`, CSV and JSON. */
const char *kab_direction_name(enum kab_direction dir);
/* 0 and *ret, or -1 for another word. */
int kab_direction_parse(const char *word, enum kab_direction *ret);

/* A metric that a runner promises; a constant of the runner's table. */
struct kab_metric_def {
	const char *name; /* [a-z0-9_]+; a trailing '*' stands for a family ("latency_p*") */
	const char *unit; /* "s", "ms", "us", "ns", "1/s", "KB", "" for a bare count */
	enum kab_direction dir;
	bool primary; /* exactly one per runner */
	const char *summary; /* one line for `kab runners` */
};

struct kab_sample {
	char *metric; /* owned */
	char *unit; /* owned; "" for a bare count */
	enum kab_direction dir;
	double value; /* finite */
};

/* Samples in the order of printing; the same metric several times is several samples of it. */
struct kab_samples {
	struct kab_sample *v;
	size_t n, cap;
};

void kab_samples_add(struct kab_samples *s, const char *metric, const char *unit,
		     enum kab_direction dir, double value);
void kab_samples_release(struct kab_samples *s);

#endif
