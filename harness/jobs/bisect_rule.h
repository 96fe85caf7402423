/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The search for a commit among noisy measurements: which one to measure next, with how many boots, and
 * when enough is known. Pure.
 *
 * Commits have positions 0 (good) .. last (bad); candidate c in 1..last is "c is the first with the new
 * level". A commit is measured as ln(it/good) in blocks that hold both, so that the level of the good
 * side is 0 and that of the bad side is `delta`, which the end points gave. A step has three answers;
 * none of them is final: every block only moves the odds.
 */
#ifndef KAB_JOBS_BISECT_RULE_H
#define KAB_JOBS_BISECT_RULE_H

#include <stdbool.h>
#include <stddef.h>

#define KAB_BISECT_ENOUGH 0.95 /* posterior of a culprit */
/* Where no commit can tell more: enough for the comparison with its parent, which then decides. */
#define KAB_BISECT_LIKELY 0.5
#define KAB_BISECT_ODDS 19.0 /* of a step, to be called good or bad */

/* What is known of one commit. */
struct kab_bisect_node {
	size_t blocks; /* complete ones, with a value */
	double sum, sum_sq; /* of ln(it/good) over them */
	bool skipped; /* does not build, does not boot, fails, or lies between the levels */
};

struct kab_bisect_levels {
	double delta; /* ln(bad/good); not 0 */
	size_t blocks; /* that gave it */
	double sd; /* of one block, pooled over the end points and all steps; > 0 */
	double df;
};

enum kab_bisect_call {
	KAB_BISECT_GOOD,
	KAB_BISECT_BAD,
	KAB_BISECT_UNSURE, /* more boots, never a guess */
};
const char *kab_bisect_call_name(enum kab_bisect_call call); /* "good", "bad", "inconclusive" */

/* ln of likelihood(bad)/likelihood(good) of a commit's blocks, at most 7 either way: no commit may
 * overrule all the others. 0 without blocks. */
double kab_bisect_log_odds(const struct kab_bisect_levels *levels,
			   const struct kab_bisect_node *node);
enum kab_bisect_call kab_bisect_call(const struct kab_bisect_levels *levels,
				     const struct kab_bisect_node *node);
/* Is the mean further from both levels than chance explains (p < 0.001)? Another change lies between. */
bool kab_bisect_between(const struct kab_bisect_levels *levels, const struct kab_bisect_node *node);

/* nodes[0..last]; post[1..last] receives the posterior of each candidate (uniform prior), post[0] 0. */
void kab_bisect_posterior(const struct kab_bisect_levels *levels,
			  const struct kab_bisect_node *nodes, size_t last, double *post);
/* The most probable candidates that no commit which can still be measured tells apart: first..end - 1.
 * Their posterior is returned. */
double kab_bisect_best(const struct kab_bisect_node *nodes, size_t last, const double *post,
		       size_t *first, size_t *end);
/* The commit to measure next: where the posterior is halved best, among those that are not skipped, have
 * fewer than max_blocks, and can still move it. 0: there is none. */
size_t kab_bisect_next(const struct kab_bisect_node *nodes, size_t last, const double *post,
		       size_t max_blocks);
/* Blocks with which a step is called with 90 % probability, min..max. */
size_t kab_bisect_blocks(const struct kab_bisect_levels *levels, size_t min, size_t max);

#endif
