/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adjusted p values for a family of tests. */
#ifndef KAB_STATS_MULTIPLE_H
#define KAB_STATS_MULTIPLE_H

#include "stats/stats.h"

enum kab_adjust {
	KAB_ADJUST_NONE,
	KAB_ADJUST_HOLM, /* family-wise error, any dependence (Holm 1979): marks in one table */
	KAB_ADJUST_BH, /* false discovery rate (Benjamini & Hochberg 1995): dashboards */
	KAB_ADJUST_BY, /* false discovery rate, any dependence (2001) */
	KAB_ADJUST_HOCHBERG, /* family-wise, independent or positively dependent tests (1988) */
	KAB_ADJUST_BONFERRONI,
};

/*
 * out[i] is the adjusted p[i], never below p[i], at most 1. NAN entries (no test) stay NAN and are
 * not counted in the family. out may be p itself. -1 on a p outside [0, 1] (out all NAN).
 */
int kab_adjust_p(enum kab_adjust method, const double *p, size_t n, double *out);
/* "none", "holm", "bh", "by", "hochberg", "bonferroni". */
const char *kab_adjust_name(enum kab_adjust method);

#endif
