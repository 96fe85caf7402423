/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading a series of nights: where a new comparison has to begin (other hardware, another reference,
 * another benchmark, a reset), the levels between, and what looks like a change. Pure.
 *
 * Everything here works on ln(ratio to the reference kernel). It only nominates: the split is chosen
 * from the data, so that its p is no verdict.
 */
#ifndef KAB_JUDGE_HISTORY_H
#define KAB_JUDGE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/history.h"

/* Why values on both sides of a place cannot be compared. */
enum kab_break {
	KAB_BREAK_NONE, /* a change of level, see p */
	KAB_BREAK_START, /* the first night */
	KAB_BREAK_MACHINE, /* another machine under the name */
	KAB_BREAK_HARDWARE, /* another CPU model or number of CPUs */
	KAB_BREAK_REFERENCE, /* another reference kernel */
	KAB_BREAK_BENCHMARK, /* another version or other parameters */
	KAB_BREAK_RESET, /* by a person */
};
/* "hardware changed", ...; "" for NONE and START. */
const char *kab_break_name(enum kab_break why);

struct kab_segment {
	size_t first, end; /* indices of points, end excluded */
	enum kab_break why; /* it begins here */
	size_t n; /* values that were used */
	double level; /* geometric mean of the ratios; NAN without values */
	double sd_pct; /* of ln(ratio), percent; NAN below two */
	double p; /* of the split at its begin; NAN where there is none, or a confirmed change */
	double gain_pct; /* against the segment before, + is better; NAN after a break */
	double phi; /* autocorrelation of the part between two breaks */
};
struct kab_segments {
	struct kab_segment *v;
	size_t n, cap;
};
void kab_segments_release(struct kab_segments *segments);

struct kab_history_opts {
	double p; /* of a split; 0: 0.01 */
	double fast_p; /* of the last nights; 0: 0.001 */
	uint64_t draws; /* 0: 999 */
	uint64_t seed;
};

/* Whether the value of a night takes part: there is a ratio, and it is of at least half of the
 * iterations that were planned. */
bool kab_point_counts(const struct kab_point *point);

/* points: one series, oldest first. notes, changes: all; those that do not concern the series do no
 * harm (NULL: none). A confirmed change begins a level, as a split does; a split within a few nights of
 * it is the same. */
void kab_history_segments(const struct kab_point *points, size_t n,
			  const struct kab_note_list *notes, const struct kab_change_list *changes,
			  const struct kab_history_opts *opts, struct kab_segments *ret);

/* Something that looks like a change, by indices of points. */
struct kab_candidate_change {
	bool fast; /* else E-divisive */
	size_t since; /* first night of the new level */
	size_t before, after; /* the nights whose kernels are to be compared */
	size_t nights; /* values that were looked at */
	double gain_pct, p, phi;
};
struct kab_candidate_changes {
	struct kab_candidate_change *v;
	size_t n, cap;
};

/*
 * What is new in the last part of the series (after its last break) and not among `known`: changes of
 * the same series that were nominated before, whatever became of them. A split is sought in the last
 * 50 values; the fast path looks at the last 1 to 4 against the level before. Where a split may be a
 * night or two off, the kernels to be compared are taken two nights apart from it.
 */
void kab_history_candidates(const struct kab_point *points, size_t n,
			    const struct kab_note_list *notes, const struct kab_change_list *known,
			    const struct kab_history_opts *opts, struct kab_candidate_changes *ret);

/* Gain in percent (+ is better) of a change of ln(ratio). NAN without a direction. */
double kab_history_gain_pct(double log_change, enum kab_direction dir);

#endif
