/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much fits into a window, and which host does what. Pure. Times are seconds. */
#ifndef KAB_JOBS_NIGHT_PLAN_H
#define KAB_JOBS_NIGHT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one case costs on a host: all its steps of one boot. */
struct kab_night_case {
	double boot_s;
	bool known; /* from stored durations; else a guess */
	bool must; /* dropped only when nothing else is left: a change of it is open */
	int64_t last_ns; /* when it was measured there last; 0: never */
	double width_pct; /* of its interval when it was judged last; NAN unknown */
};

struct kab_night_fit {
	double budget_s; /* of the host */
	double reboot_s; /* from one kernel to the next */
	int kernels; /* boots of a block */
	int boots, min_boots; /* wanted; the fewest that give a verdict */
	bool widest_first; /* cases with wide intervals before others */
};

/*
 * Fewer boots before fewer cases: *ret_boots is the largest number of boots (min_boots..boots) with which
 * all cases fit, and take[] is all true; else it is min_boots, and take[] marks those that fit, those that
 * were not measured for the longest time first. 0 cases taken: nothing fits, *ret_boots is 0.
 * *ret_s: what it takes.
 */
void kab_night_fit(const struct kab_night_fit *in, const struct kab_night_case *cases, size_t n,
		   int *ret_boots, bool *take, double *ret_s);

/*
 * Give each case to one host, the longest first, always to the host that would be done first with
 * it. A case stays where it was measured before (before[i] < n_hosts) unless that host would then need a
 * quarter more than its share, because only values of one host can be compared over time.
 * cost[c * n_hosts + h]: seconds; INFINITY: it cannot run there. budget[h]: seconds that host h has. to[c]: index of
 * the host, n_hosts when there is none.
 */
void kab_night_spread(const double *cost, const double *budget, const size_t *before,
		      size_t n_cases, size_t n_hosts, size_t *to);

#endif
