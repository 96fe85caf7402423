/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/sequential.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_integration.h>

#include "base/alloc.h"
#include "stats/describe.h"
#include "stats/dist.h"

#define NODES 96 /* 64 and 512 agree to 1e-12 */

/* The part of the Brownian path that has not crossed yet: density f at nodes x with weights w. */
struct density {
	double x[NODES], w[NODES], f[NODES];
	size_t n;
};

static double spent(enum kab_spending kind, double alpha, double t)
{
	if (kind == KAB_SPEND_POCOCK)
		return alpha * log1p((M_E - 1) * t);
	return 4 * gsl_cdf_ugaussian_Q(gsl_cdf_ugaussian_Qinv(alpha / 4) / sqrt(t));
}

/* Probability that a path still inside now lies beyond -+c after another step of this sd. */
static double crossing(const struct density *d, double c, double sd)
{
	double p = 0;

	for (size_t i = 0; i < d->n; i++)
		p += d->w[i] * d->f[i] *
		     (gsl_cdf_ugaussian_Q((c - d->x[i]) / sd) +
		      gsl_cdf_ugaussian_Q((c + d->x[i]) / sd));
	return p;
}

static double solve_bound(const struct density *d, double sd, double target)
{
	double lo = 0, hi = 12;

	for (int i = 0; i < 100 && hi - lo > 1e-14; i++) {
		double mid = 0.5 * (lo + hi);

		if (crossing(d, mid, sd) > target)
			lo = mid;
		else
			hi = mid;
	}
	return 0.5 * (lo + hi);
}

static void advance(const struct density *from, double c, double sd,
		    const gsl_integration_glfixed_table *gl, struct density *to)
{
	to->n = NODES;
	for (size_t k = 0; k < NODES; k++) {
		gsl_integration_glfixed_point(-c, c, k, &to->x[k], &to->w[k], gl);
		double s = 0;

		for (size_t i = 0; i < from->n; i++) {
			double u = (to->x[k] - from->x[i]) / sd;

			s += from->w[i] * from->f[i] * exp(-0.5 * u * u);
		}
		to->f[k] = s / (sd * sqrt(2 * M_PI));
	}
}

int kab_spending_bounds(enum kab_spending kind, size_t looks, const double *t, double alpha,
			struct kab_bounds *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (looks < 1 || looks > KAB_LOOKS_MAX || !(alpha > 0 && alpha < 1))
		return -1;
	for (size_t k = 0; t && k < looks; k++)
		if (!(t[k] > (k ? t[k - 1] : 0)) || t[k] > 1 || (k == looks - 1 && t[k] != 1))
			return -1;
	gsl_integration_glfixed_table *gl = gsl_integration_glfixed_table_alloc(NODES);
	struct density *now = kab_xcalloc(1, sizeof(*now)), *next = kab_xcalloc(1, sizeof(*next));
	double before = 0, used = 0;

	ret->looks = looks;
	/* one point mass at 0 before anything is seen */
	now->n = 1;
	now->w[0] = now->f[0] = 1;
	for (size_t k = 0; k < looks && gl; k++) {
		double at = t ? t[k] : (double)(k + 1) / (double)looks;
		double sd = sqrt(at - before);

		ret->cumulative[k] = spent(kind, alpha, at);
		double c = solve_bound(now, sd, ret->cumulative[k] - used);

		ret->z[k] = c / sqrt(at);
		ret->p[k] = 2 * gsl_cdf_ugaussian_Q(ret->z[k]);
		advance(now, c, sd, gl, next);
		struct density *swap = now;

		now = next;
		next = swap;
		used = ret->cumulative[k];
		before = at;
	}
	free(now);
	free(next);
	if (!gl)
		return -1;
	gsl_integration_glfixed_table_free(gl);
	return 0;
}

double kab_eprocess_log(const double *d, size_t k, double g)
{
	struct kab_moments m = kab_moments_of(d, k);

	if (k < 2 || !(m.sd > 0) || !(g > 0))
		return NAN;
	double nu = (double)(k - 1), kg = 1 + (double)k * g;
	double t = m.mean * sqrt((double)k) / m.sd, t2 = t * t / nu;

	return -0.5 * log(kg) + 0.5 * (nu + 1) * (log1p(t2) - log1p(t2 / kg));
}

bool kab_precision_reached(double half_width, size_t units, double target, size_t min_units)
{
	return units >= (min_units ? min_units : KAB_PRECISION_MIN) && half_width <= target;
}
