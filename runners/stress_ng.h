/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between stress_ng.c (what to run), stress_ng_parse.c (a log) and stress_ng_text.c (one line). */
#ifndef KAB_RUNNERS_STRESS_NG_H
#define KAB_RUNNERS_STRESS_NG_H

#include <stdbool.h>
#include <stddef.h>

#include "runners/runner.h"
#include "runners/scan.h"

void kab_stress_ng_parse(const struct kab_outputs *outputs, int exit_status,
			 const struct kab_params *params, struct kab_parse_result *ret);

enum kab_stress_tag {
	KAB_STRESS_UNTAGGED, /* not a line of stress-ng, or one without a tag */
	KAB_STRESS_INFO, /* info, debug, warn, and others that say nothing bad */
	KAB_STRESS_METRC,
	KAB_STRESS_FAIL, /* fail, error, fatal */
};

/* "... stress-ng: [12:00:01.02] info:  [4711] TEXT": the tag and *ret_text behind it; *ret_at is
 * where "stress-ng:" stands. */
enum kab_stress_tag kab_stress_ng_tag(const char *s, const char **ret_at, const char **ret_text);

/* "2.44s", "1 min, 10.23 secs", "2 second run": seconds at s, or -1. */
double kab_stress_ng_duration(const char *s);

#define KAB_STRESS_NAME_MAX 64

/* A name of a stressor and a blank behind it; NULL when there is none. name is filled. */
const char *kab_stress_ng_name(const char *s, char name[KAB_STRESS_NAME_MAX]);

struct kab_stress_row {
	char name[KAB_STRESS_NAME_MAX];
	double bogo_ops, real_s, usr_s, sys_s, ops_per_s, ops_per_cpu_s;
	double cpu_pct, rss_kb; /* below 0 when not printed */
};

/* What the header of the table announces behind the first six figures. */
struct kab_stress_columns {
	bool known; /* a header was seen */
	bool cpu;
	bool rss;
};

/* A row of the table. `terminated`: the line has an end (else its last figure may be cut). */
bool kab_stress_ng_row(const char *text, const struct kab_stress_columns *columns, bool terminated,
		       struct kab_stress_row *ret);

/* The metrics of a row. With `ops_bound` the operations were fixed: they say nothing, the time does. */
void kab_stress_ng_add_row(struct kab_samples *samples, const struct kab_stress_row *row,
			   bool ops_bound);

struct kab_stress_misc {
	char name[KAB_STRESS_NAME_MAX];
	char label[160];
	const char *unit; /* static */
	enum kab_direction dir;
	double value;
};

/* "matrix  35889.79 add matrix ops per sec (geometic mean of 2 instances)". Without the bracket
 * only when `free_form`: below "miscellaneous metrics:". */
bool kab_stress_ng_misc(const char *text, bool free_form, struct kab_stress_misc *ret);

/* What was read of documents of --yaml; zeroed at first, samples released by the owner. */
struct kab_stress_yaml {
	bool seen; /* a document of stress-ng */
	bool in_metrics;
	bool open; /* an entry is being read */
	bool ended;
	struct kab_stress_row row;
	bool has_ops, has_rate, has_real;
	size_t rows, zero_rows;
	struct kab_samples samples;
};

/* True when the present line belongs to such a document. *version is replaced when it says one. */
bool kab_stress_yaml_line(struct kab_stress_yaml *yaml, struct kab_scan *scan, char **version);
/* The entry that is being read is at its end. */
void kab_stress_yaml_close(struct kab_stress_yaml *yaml);

#endif
