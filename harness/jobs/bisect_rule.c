/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobs/bisect_rule.h"

#include <math.h>

#include "stats/dist.h"

#define LOG_ODDS_MAX 7.0
#define BETWEEN_P 0.001
#define POWER_Z 1.2816 /* 90 % */
/* A commit that is on one side of the culprit with so much certainty has nothing to say. */
#define SETTLED ((1 - KAB_BISECT_ENOUGH) / 2)

const char *kab_bisect_call_name(enum kab_bisect_call call)
{
	static const char *const names[] = { "good", "bad", "inconclusive" };

	return names[call];
}

/* ln of Student's density, up to what does not depend on t. */
static double log_t(double t, double df)
{
	return -(df + 1) / 2 * log1p(t * t / df);
}

struct scores {
	double good_t, bad_t; /* distances from the levels in standard errors */
	double good_se, bad_se;
};

static struct scores scores_of(const struct kab_bisect_levels *l, const struct kab_bisect_node *n)
{
	double k = (double)n->blocks, mean = n->sum / k;
	struct scores s;

	s.good_se = l->sd / sqrt(k);
	/* Where the level of the bad side lies is known only so well. */
	s.bad_se = l->sd * sqrt(1 / k + 1 / (double)l->blocks);
	s.good_t = mean / s.good_se;
	s.bad_t = (mean - l->delta) / s.bad_se;
	return s;
}

double kab_bisect_log_odds(const struct kab_bisect_levels *l, const struct kab_bisect_node *n)
{
	struct scores s;
	double odds;

	if (!n->blocks)
		return 0;
	s = scores_of(l, n);
	odds = log_t(s.bad_t, l->df) - log(s.bad_se) - log_t(s.good_t, l->df) + log(s.good_se);
	return fmin(fmax(odds, -LOG_ODDS_MAX), LOG_ODDS_MAX);
}

enum kab_bisect_call kab_bisect_call(const struct kab_bisect_levels *l,
				     const struct kab_bisect_node *n)
{
	double odds = kab_bisect_log_odds(l, n);

	if (fabs(odds) < log(KAB_BISECT_ODDS) || kab_bisect_between(l, n))
		return KAB_BISECT_UNSURE;
	return odds > 0 ? KAB_BISECT_BAD : KAB_BISECT_GOOD;
}

bool kab_bisect_between(const struct kab_bisect_levels *l, const struct kab_bisect_node *n)
{
	struct scores s;

	if (!n->blocks)
		return false;
	s = scores_of(l, n);
	return kab_t_two_sided_p(s.good_t, l->df) < BETWEEN_P &&
	       kab_t_two_sided_p(s.bad_t, l->df) < BETWEEN_P;
}

void kab_bisect_posterior(const struct kab_bisect_levels *l, const struct kab_bisect_node *nodes,
			  size_t last, double *post)
{
	double best = -INFINITY, sum = 0, odds = 0;

	/* ln L(c) = sum over i >= c of the odds, up to a constant */
	for (size_t c = last; c >= 1; c--) {
		if (c < last && !nodes[c].skipped)
			odds += kab_bisect_log_odds(l, &nodes[c]);
		post[c] = odds;
		best = fmax(best, odds);
	}
	post[0] = 0;
	for (size_t c = 1; c <= last; c++) {
		post[c] = exp(post[c] - best);
		sum += post[c];
	}
	for (size_t c = 1; c <= last; c++)
		post[c] /= sum;
}

double kab_bisect_best(const struct kab_bisect_node *nodes, size_t last, const double *post,
		       size_t *first, size_t *end)
{
	double most = -1;

	for (size_t c = 1, to; c <= last; c = to) {
		double sum = post[c];

		/* Candidates c and c + 1 differ in what commit c is. */
		for (to = c + 1; to <= last && nodes[to - 1].skipped; to++)
			sum += post[to];
		if (sum > most) {
			most = sum;
			*first = c;
			*end = to;
		}
	}
	return most;
}

size_t kab_bisect_next(const struct kab_bisect_node *nodes, size_t last, const double *post,
		       size_t max_blocks)
{
	double sum = 0, nearest = INFINITY;
	size_t best = 0;

	for (size_t i = 1; i < last; i++) {
		double off;

		sum += post[i]; /* i has the new level */
		off = fabs(sum - 0.5);
		if (nodes[i].skipped || nodes[i].blocks >= max_blocks || off > 0.5 - SETTLED)
			continue;
		/* Of two that halve it alike the one that was measured less. */
		if (off < nearest - 1e-9 ||
		    (off < nearest + 1e-9 && nodes[i].blocks < nodes[best].blocks)) {
			nearest = off;
			best = i;
		}
	}
	return best;
}

size_t kab_bisect_blocks(const struct kab_bisect_levels *l, size_t min, size_t max)
{
	double d = fabs(l->delta) / l->sd;

	for (size_t k = min; k < max; k++) {
		/* The log odds of k blocks are about N(k d^2/2, k d^2). */
		double mean = (double)k * d * d / 2, sd = sqrt((double)k) * d;

		if (mean - POWER_Z * sd >= log(KAB_BISECT_ODDS))
			return k;
	}
	return max;
}
