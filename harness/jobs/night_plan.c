/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobs/night_plan.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

/* A host may be a quarter above its share before a case leaves it. */
#define STAY_SLACK 1.25

static double takes(const struct kab_night_fit *in, int boots, double cases_s)
{
	return (double)boots * in->kernels * (in->reboot_s + cases_s);
}

struct ranked {
	const struct kab_night_case *c;
	size_t index;
	bool widest_first;
};

static int by_need(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->c->must != y->c->must)
		return x->c->must ? -1 : 1;
	if (x->widest_first) {
		double p = isnan(x->c->width_pct) ? INFINITY : x->c->width_pct;
		double q = isnan(y->c->width_pct) ? INFINITY : y->c->width_pct;

		if (p > q || p < q)
			return p > q ? -1 : 1;
	}
	if (x->c->last_ns != y->c->last_ns)
		return x->c->last_ns < y->c->last_ns ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

void kab_night_fit(const struct kab_night_fit *in, const struct kab_night_case *cases, size_t n,
		   int *ret_boots, bool *take, double *ret_s)
{
	struct ranked *order kab_autofree = kab_xcalloc(n + 1, sizeof(*order));
	double all_s = 0, taken_s = 0;
	int boots = in->boots;
	size_t taken = 0;

	for (size_t i = 0; i < n; i++) {
		all_s += cases[i].boot_s;
		take[i] = true;
		order[i] = (struct ranked){ &cases[i], i, in->widest_first };
	}
	while (boots > in->min_boots && takes(in, boots, all_s) > in->budget_s)
		boots--;
	if (n && takes(in, boots, all_s) <= in->budget_s) {
		*ret_boots = boots;
		*ret_s = takes(in, boots, all_s);
		return;
	}
	qsort(order, n, sizeof(*order), by_need);
	for (size_t i = 0; i < n; i++) {
		double with = taken_s + order[i].c->boot_s;

		take[order[i].index] = takes(in, boots, with) <= in->budget_s;
		if (!take[order[i].index])
			continue;
		taken_s = with;
		taken++;
	}
	*ret_boots = taken ? boots : 0;
	*ret_s = taken ? takes(in, boots, taken_s) : 0;
	/* The last case that was left out may have made room for more boots. */
	while (taken && *ret_boots < in->boots &&
	       takes(in, *ret_boots + 1, taken_s) <= in->budget_s)
		*ret_s = takes(in, ++*ret_boots, taken_s);
}

struct longest {
	size_t index;
	double cost;
};

static int by_cost(const void *a, const void *b)
{
	const struct longest *x = a, *y = b;

	if (x->cost > y->cost || x->cost < y->cost)
		return x->cost > y->cost ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

void kab_night_spread(const double *cost, const double *budget, const size_t *before,
		      size_t n_cases, size_t n_hosts, size_t *to)
{
	struct longest *order kab_autofree = kab_xcalloc(n_cases + 1, sizeof(*order));
	double *load kab_autofree = kab_xcalloc(n_hosts + 1, sizeof(*load));
	double total = 0, room = 0;

	for (size_t c = 0; c < n_cases; c++) {
		double cheapest = INFINITY;

		for (size_t h = 0; h < n_hosts; h++)
			cheapest = fmin(cheapest, cost[c * n_hosts + h]);
		order[c] = (struct longest){ c, isfinite(cheapest) ? cheapest : 0 };
		total += order[c].cost;
	}
	for (size_t h = 0; h < n_hosts; h++)
		room += budget[h];
	qsort(order, n_cases, sizeof(*order), by_cost);
	for (size_t i = 0; i < n_cases; i++) {
		size_t c = order[i].index, best = n_hosts, home = before ? before[c] : n_hosts;

		for (size_t h = 0; h < n_hosts; h++) {
			/* In parts of its own window: a host with a long one takes more. */
			double done = (load[h] + cost[c * n_hosts + h]) / fmax(budget[h], 1);

			if (!isfinite(cost[c * n_hosts + h]) || budget[h] <= 0)
				continue;
			if (best == n_hosts ||
			    done < (load[best] + cost[c * n_hosts + best]) / fmax(budget[best], 1))
				best = h;
		}
		if (home < n_hosts && budget[home] > 0 && isfinite(cost[c * n_hosts + home])) {
			double share = room > 0 ? total * budget[home] / room : total;

			if (load[home] + cost[c * n_hosts + home] <=
			    fmax(share * STAY_SLACK, cost[c * n_hosts + home]))
				best = home;
		}
		to[c] = best;
		if (best < n_hosts)
			load[best] += cost[c * n_hosts + best];
	}
}
