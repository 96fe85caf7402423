/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/multiple.h"

#include <math.h>

#include "base/alloc.h"
#include "stats/sort.h"

static const char *const names[] = { "none", "holm", "bh", "by", "hochberg", "bonferroni" };

const char *kab_adjust_name(enum kab_adjust method)
{
	return (size_t)method < KAB_ARRAY_SIZE(names) ? names[method] : "none";
}

/* Factor on the rank-th smallest (from 0) of m p values. */
static double factor(enum kab_adjust method, size_t rank, size_t m, double harmonic)
{
	switch (method) {
	case KAB_ADJUST_HOLM:
	case KAB_ADJUST_HOCHBERG:
		return (double)(m - rank);
	case KAB_ADJUST_BH:
		return (double)m / (double)(rank + 1);
	case KAB_ADJUST_BY:
		return harmonic * (double)m / (double)(rank + 1);
	case KAB_ADJUST_BONFERRONI:
		return (double)m;
	default:
		return 1;
	}
}

int kab_adjust_p(enum kab_adjust method, const double *p, size_t n, double *out)
{
	double *v = kab_xreallocarray(NULL, n + 1, sizeof(*v));
	size_t *at = kab_xreallocarray(NULL, n + 1, sizeof(*at));
	size_t *order = kab_xreallocarray(NULL, n + 1, sizeof(*order));
	size_t m = 0;
	double harmonic = 0;
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		if (isnan(p[i]))
			continue;
		if (p[i] < 0 || p[i] > 1)
			rc = -1;
		at[m] = i;
		v[m++] = p[i];
		harmonic += 1 / (double)m;
	}
	for (size_t i = 0; i < n; i++)
		out[i] = NAN;
	if (rc == 0) {
		kab_sort_index(v, m, order);
		bool down = method ==
			    KAB_ADJUST_HOLM; /* step-down: running maximum from the smallest */
		double run = down ? 0 : 1;

		for (size_t k = 0; k < m; k++) {
			size_t rank = down ? k : m - 1 - k;
			double a = fmin(1, v[order[rank]] * factor(method, rank, m, harmonic));

			if (method != KAB_ADJUST_NONE && method != KAB_ADJUST_BONFERRONI)
				a = run = down ? fmax(run, a) : fmin(run, a);
			out[at[order[rank]]] = a;
		}
	}
	free(order);
	free(at);
	free(v);
	return rc;
}
