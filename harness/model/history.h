/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records of history: what a series was worth night by night, what looked like a change, what a fresh
 * comparison said of it, and what people said. Plain data; strings are owned by the struct (never
 * NULL, "" when unknown, unless said otherwise) and released by the matching _release().
 * Dates are "YYYY-MM-DD": that of the start of the night.
 */
#ifndef KAB_MODEL_HISTORY_H
#define KAB_MODEL_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/metric.h"

/* A series of nights: where a figure was measured. `tree` is the name of the nightly job. */
struct kab_series_id {
	char *tree, *host, *condition, *case_name, *row_key, *runner, *metric, *unit;
	enum kab_direction dir;
};
void kab_series_id_copy(struct kab_series_id *dst, const struct kab_series_id *src);
void kab_series_id_release(struct kab_series_id *id);
/* Same tree, host, condition, case, row and metric (runner and unit included where both are known). */
bool kab_series_id_same(const struct kab_series_id *a, const struct kab_series_id *b);
/* "tx2 hackbench/groups=4/time smt=on", for people; caller frees. */
char *kab_series_id_name(const struct kab_series_id *id);

enum kab_point_state {
	KAB_POINT_OK,
	KAB_POINT_PARTIAL, /* a value, but of fewer iterations than planned */
	KAB_POINT_FAILED, /* no value: something failed */
	KAB_POINT_ABSENT, /* no value: nothing was run */
};
const char *kab_point_state_name(enum kab_point_state state);
int kab_point_state_parse(const char *word, enum kab_point_state *ret);

struct kab_kernel_ref {
	char *label, *spec; /* what `--kernel LABEL=SPEC` takes */
	char *identity; /* as kab_kernel_identity() */
	char *release, *commit;
};
void kab_kernel_ref_copy(struct kab_kernel_ref *dst, const struct kab_kernel_ref *src);
void kab_kernel_ref_release(struct kab_kernel_ref *ref);

/* One night of one series. */
struct kab_point {
	int64_t id;
	struct kab_series_id series;
	char *date;
	int64_t wall_ns; /* when it was measured */
	int64_t run_id; /* 0: the run was deleted */
	char *run_name;
	bool judged; /* the metric carries verdicts */
	double margin_pct;
	char *series_key; /* hash over runner, version and resolved parameters */
	char *machine_hash, *hardware; /* CPU model and number of CPUs */
	struct kab_kernel_ref kernel;
	char *reference, *reference_identity;
	enum kab_point_state state;
	char *reason; /* NULL: none */
	int boots, reference_boots; /* with a value */
	int done, failed, planned; /* iterations of the kernel */
	double ratio; /* kernel/reference; NAN without */
	double log_se, df; /* of ln(ratio); NAN: one boot */
	double value, reference_value; /* means, in the unit; NAN without */
};
void kab_point_release(struct kab_point *point);
struct kab_point_list {
	struct kab_point *v;
	size_t n, cap;
};
void kab_point_list_release(struct kab_point_list *list);

/* What the trials and notes of a nomination add up to. */
enum kab_change_state {
	KAB_CHANGE_NOMINATED, /* waits for a fresh comparison */
	KAB_CHANGE_CONFIRMED, /* by one, and nobody has acknowledged it: open */
	KAB_CHANGE_ACKNOWLEDGED,
	KAB_CHANGE_REFUTED, /* the comparison showed no such change */
	KAB_CHANGE_DROPPED, /* KAB_CHANGE_TRIES comparisons could not tell */
};
#define KAB_CHANGE_TRIES 3
const char *kab_change_state_name(enum kab_change_state state);

struct kab_change {
	int64_t id; /* of the nomination; what the user names */
	struct kab_series_id series;
	char *date; /* nominated in this night */
	char *since; /* first night of the new level */
	char *origin; /* "divisive", "fast" or "ab" */
	double gain_pct, p, phi; /* as nominated; + is better; NAN unknown */
	int nights; /* of the series that were looked at */
	struct kab_kernel_ref before, after; /* identities are "" */

	enum kab_change_state state;
	int tries; /* comparisons that could not tell */
	bool regressed; /* once confirmed: else improved */
	char *confirmed; /* date; NULL: not confirmed */
	char *confirm_run; /* name of the run of the verdict (or of the last try); NULL: none */
	char *confirm_reason; /* NULL: none */
	double confirmed_gain_pct, lo_pct, hi_pct; /* of that comparison, 95 %; NAN without */
	char *acknowledged, *acknowledged_by, *acknowledged_why; /* date, who, why; NULL: not */
	char *recovered, *recovered_why; /* date; NULL: not */
	int64_t wall_ns;
};
void kab_change_release(struct kab_change *change);
struct kab_change_list {
	struct kab_change *v;
	size_t n, cap;
};
void kab_change_list_release(struct kab_change_list *list);

enum kab_note_kind {
	KAB_NOTE_ACKNOWLEDGE, /* of a change: it is known, the baseline may move past it */
	KAB_NOTE_ANNOTATE, /* of a night */
	KAB_NOTE_RESET, /* what comes from this night on is not compared with what came before */
	KAB_NOTE_RECOVERED, /* by kab: the level of before is back */
};
const char *kab_note_kind_name(enum kab_note_kind kind);
int kab_note_kind_parse(const char *word, enum kab_note_kind *ret);
struct kab_note {
	int64_t id;
	enum kab_note_kind kind;
	int64_t change_id; /* 0: none */
	char *tree, *host, *case_name, *metric; /* "": every one */
	char *date, *who, *why;
	int64_t wall_ns;
};
void kab_note_release(struct kab_note *note);
struct kab_note_list {
	struct kab_note *v;
	size_t n, cap;
};
void kab_note_list_release(struct kab_note_list *list);
/* Is the note about (also) this series? */
bool kab_note_concerns(const struct kab_note *note, const struct kab_series_id *series);

#endif
