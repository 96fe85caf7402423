/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A history for readers: one series of nights as a table with a line of dots above it, and as CSV and
 * JSON. Pure. The segments and changes are what judge/history.h and the store make of it.
 */
#ifndef KAB_REPORTS_VIEW_HISTORY_H
#define KAB_REPORTS_VIEW_HISTORY_H

#include "base/buf.h"
#include "judge/history.h"
#include "model/history.h"

struct kab_history_view {
	const struct kab_point *points; /* one series, oldest first */
	size_t n;
	const struct kab_segments *segments; /* of these points */
	const struct kab_change_list *changes; /* of any series */
	const struct kab_note_list *notes;
	const char *tree; /* "": from runs */
	/* Nights of the tree, ascending: those without a point are gaps. NULL: days between. */
	const struct kab_strv *dates;
	const char *since; /* show from this night on; NULL: all. Levels are of all nights */
};

/* Head, dots, table, changes. Appends. */
void kab_history_text(const struct kab_history_view *view, struct kab_buf *out);
/* "host,condition,..." with CR LF, once. */
void kab_history_csv_head(struct kab_buf *out);
void kab_history_csv(const struct kab_history_view *view, struct kab_buf *out);
/* One strict JSON object without a newline. */
void kab_history_json(const struct kab_history_view *view, struct kab_buf *out);

/* The interval of the ratio of a night, 95 %. False where there is none. */
bool kab_point_interval(const struct kab_point *point, double *lo, double *hi);
/* "nominated 3, p 0.002: ...": a line for people. Caller frees. */
char *kab_change_text(const struct kab_change *change);
/*
 * The ratios of a series as one line of ASCII, a character a night: '_' '.' '-' '*' '^' from the lowest to the
 * highest, 'x' failed, ' ' nothing measured; '|' before a night from which on nothing is compared with
 * what came before. At most `width` nights, the newest.
 */
void kab_history_dots(const struct kab_history_view *view, size_t width, struct kab_buf *out);

#endif
