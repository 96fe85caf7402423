/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the pictures show, as plain data: nothing here knows how it is drawn. Kernel k of a run is
 * kernel k in every picture (0 the baseline), also where kernels in between have no value, so that
 * colour, mark, dash and hatch stay with it.
 *
 * Values are in the metric's unit. Texts may hold any bytes: whoever draws escapes them. NAN is
 * "there is no such number"; why, is said in words (trouble, word).
 */
#ifndef KAB_REPORTS_PLOT_H
#define KAB_REPORTS_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "judge/judge.h"

enum kab_plot_kind {
	KAB_PLOT_STRIP = 0, /* distribution, box and boots on one axis */
	KAB_PLOT_HISTOGRAM,
	KAB_PLOT_ORDER, /* values in the order in which they were measured */
	KAB_PLOT_SWEEP, /* mean and interval over a parameter */
	KAB_PLOT_CDF, /* share of the values that are at most so large */
	KAB_PLOT_BOOTS, /* the values of each boot, and its mean */
	KAB_PLOT_HISTORY, /* over time; made by kab_plot_history_*(), not from a judgement */
	KAB_PLOT_KINDS,
};
/* "strip", "histogram", ..., "history". */
const char *kab_plot_kind_name(enum kab_plot_kind kind);
/* 0 and *ret, or -1 for another word. */
int kab_plot_kind_parse(const char *word, enum kab_plot_kind *ret);

/* One iteration. */
struct kab_plot_value {
	double value;
	size_t boot; /* index into the boots of its set */
	size_t place; /* from 0: order of execution over all sets of the plot */
};

struct kab_plot_boot {
	double mean;
	size_t n; /* values; 0: mean is NAN */
	size_t first, last; /* places of its first and last value */
	int block; /* of the plan, or -1 */
};

/* A point of a sweep or a history. */
struct kab_plot_point {
	double x; /* the parameter, or seconds since 1970 */
	char *text; /* owned: x as the user wrote it, or NULL */
	double value; /* NAN: nothing was measured there */
	double lo, hi; /* interval, NAN when there is none */
	char *word; /* owned: "fail 2/5", "missing", or NULL */
	bool failed; /* history: something was run and failed (else, without a value: a gap) */
};

/* One kernel (a history: one segment, a stretch of nights against the same reference). */
struct kab_plot_set {
	size_t kernel; /* what colour and mark go by */
	char *label; /* owned */
	char *trouble; /* owned: "fail 2/5", "missing"; NULL when all is there */
	struct kab_plot_value *values; /* owned, as executed */
	double *sorted; /* owned: the same, ascending */
	size_t n;
	struct kab_plot_boot *boots; /* owned, in the order of the set */
	size_t n_boots;
	bool unplanned; /* nothing was to be measured: of other rows of the run */
	bool summary; /* only n, mean and spread are known: mean, lo, hi, n_summary */
	size_t n_summary;
	double min, q1, median, q3, max; /* over iterations; NAN without */
	double mean; /* of boot means with two boots or more, else of iterations */
	double lo, hi; /* interval of the mean, NAN when there is none */
	int decimals; /* places that the values as measured have */
	struct kab_plot_point *points; /* owned: sweep and history, ascending x */
	size_t n_points, cap_points;
};

struct kab_plot {
	enum kab_plot_kind kind;
	char *title; /* owned: name of the row, or of the rows of a sweep */
	char *metric, *unit; /* owned; unit "" for a bare count */
	enum kab_direction dir;
	bool restarts; /* boots are restarts within one boot of the machine */
	double confidence; /* of lo and hi, in (0, 1) */
	bool one_boot; /* sweep: an interval is over the iterations of a single boot */
	char *x_name; /* owned: sweep: the parameter ("groups"); else NULL */
	bool x_words; /* sweep: the values are no numbers; x counts them from 0 */
	struct kab_plot_set *sets;
	size_t n_sets;
	size_t n_values; /* of all sets */
};

struct kab_plots {
	struct kab_plot *v;
	size_t n, cap;
};

/* Which rows; NULL: all. Names are compared whole, case_name also with "CASE/KEY=VALUE". */
struct kab_plot_pick {
	const char *host, *case_name, *metric;
};

/*
 * Plots of the rows: one for each row, or one for each sweep (rows that differ in one parameter only).
 * Without a metric in `pick` only rows that carry a verdict, unless there is none at all.
 * The judgement must outlive nothing: all is copied. 0, or -1 NOT_FOUND naming what there is.
 */
int kab_plots_make(const struct kab_judgement *judgement, enum kab_plot_kind kind,
		   const struct kab_plot_pick *pick, struct kab_plots *ret, struct kab_err *err);
void kab_plot_release(struct kab_plot *plot);
void kab_plots_release(struct kab_plots *plots);

/*
 * A history: begin, add points in the order of time, draw with kab_plot_text() or
 * kab_plot_gnuplot(), release. A night without a value is a gap in the line, and is counted.
 */
void kab_plot_history_begin(struct kab_plot *plot, const char *title, const char *metric,
			    const char *unit, enum kab_direction dir, double confidence);
/* segment: a number that chooses colour and mark, label its name (taken when the segment is new).
 * lo, hi may be NAN. */
void kab_plot_history_add(struct kab_plot *plot, size_t segment, const char *label, double time_s,
			  double value, double lo, double hi);
/* A night of that segment without a value; word: why, or NULL. */
void kab_plot_history_gap(struct kab_plot *plot, size_t segment, const char *label, double time_s,
			  bool failed, const char *word);

/* The smallest and the largest number that the plot has to show, intervals included. False: none. */
bool kab_plot_range(const struct kab_plot *plot, double *lo, double *hi);

/* The range of x over all points of a sweep or a history. False: there are none. */
bool kab_plot_range_x(const struct kab_plot *plot, double *lo, double *hi);
/* Boots that have a value. */
size_t kab_plot_boots(const struct kab_plot_set *set);
/* Whether a value of a sweep or a history is there. */
bool kab_plot_any_point(const struct kab_plot_set *set);
/*
 * Where in the order of the run one boot (with restarts: one block of them) ends: ret[i], i from 1, is
 * whether there is a border between places i - 1 and i. Room for n_values. Returns their number.
 */
size_t kab_plot_borders(const struct kab_plot *plot, bool *ret);

/* ---- how kernel k looks, everywhere ---- */

/* Colours that the colour-blind tell apart (Okabe and Ito 2008), as 0xRRGGBB, with a grey in place of
 * their yellow, which is hardly seen on white; the ninth kernel has the first one again, with another
 * mark. */
#define KAB_PLOT_COLOURS 8
unsigned kab_plot_colour(size_t kernel);
/* The letter of kernel k in text: x + * % # @ O, then small letters. */
char kab_plot_letter(size_t kernel);

#endif
