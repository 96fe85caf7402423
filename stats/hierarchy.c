/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/hierarchy.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "base/alloc.h"
#include "stats/describe.h"
#include "stats/dist.h"

int kab_hierarchy(const double *x, const size_t *dims, size_t levels, double confidence,
		  struct kab_hierarchy *ret)
{
	size_t total = 1;

	memset(ret, 0, sizeof(*ret));
	ret->mean = ret->half_width = ret->ci.lo = ret->ci.hi = NAN;
	for (size_t i = 0; i < KAB_LEVELS_MAX; i++)
		ret->s2[i] = ret->t2[i] = NAN;
	if (levels < 1 || levels > KAB_LEVELS_MAX || !(confidence > 0 && confidence < 1))
		return -1;
	for (size_t i = 0; i < levels; i++)
		total *= dims[i];
	if (total == 0)
		return -1;
	ret->levels = levels;
	double *m = kab_xmemdup(x, total * sizeof(*m));

	/* Inside out: the values of a level are replaced by the means of their groups. */
	for (size_t l = 0; l < levels; l++) {
		size_t n = dims[levels - 1 - l], groups = total / n;
		double *var = kab_xreallocarray(NULL, groups, sizeof(*var));

		for (size_t g = 0; g < groups; g++) {
			struct kab_moments mo = kab_moments_of(m + g * n, n);

			var[g] = mo.sd * mo.sd;
			m[g] = mo.mean;
		}
		ret->s2[l] = kab_mean(var, groups);
		ret->t2[l] = ret->s2[l];
		if (l > 0)
			ret->t2[l] -= ret->s2[l - 1] / (double)dims[levels - l];
		total = groups;
		free(var);
	}
	ret->mean = m[0];
	free(m);
	double k = (double)dims[0];

	if (dims[0] >= 2) {
		ret->half_width = kab_t_quantile(confidence, k - 1) * sqrt(ret->s2[levels - 1] / k);
		ret->ci = (struct kab_interval){ ret->mean - ret->half_width,
						 ret->mean + ret->half_width };
	}
	return 0;
}

int kab_two_level(const double *x, const size_t *sizes, size_t boots, struct kab_two_level *ret)
{
	double within = 0, squares = 0;
	size_t at = 0;

	*ret = (struct kab_two_level){ boots, 0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
	for (size_t i = 0; i < boots; i++) {
		if (sizes[i] == 0)
			return -1;
		ret->values += sizes[i];
		squares += (double)sizes[i] * (double)sizes[i];
	}
	if (boots == 0)
		return -1;
	double k = (double)boots, n = (double)ret->values, grand = kab_mean(x, ret->values);
	double *mean = kab_xreallocarray(NULL, boots, sizeof(*mean));
	double between = 0;

	for (size_t i = 0; i < boots; at += sizes[i++]) {
		struct kab_moments m = kab_moments_of(x + at, sizes[i]);
		double d = m.mean - grand;

		mean[i] = m.mean;
		between += (double)sizes[i] * d * d;
		if (sizes[i] > 1)
			within += m.sd * m.sd * (double)(sizes[i] - 1);
	}
	ret->mean = kab_mean(mean, boots);
	free(mean);
	if (ret->values > boots)
		ret->var_iteration = ret->ms_within = within / (n - k);
	if (boots < 2)
		return 0;
	ret->ms_between = between / (k - 1);
	ret->n0 = (n - squares / n) / (k - 1);
	if (ret->values == boots)
		return 0;
	ret->var_boot = (ret->ms_between - ret->ms_within) / ret->n0;
	if (ret->ms_within > 0) {
		ret->f = ret->ms_between / ret->ms_within;
		ret->p = gsl_cdf_fdist_Q(ret->f, k - 1, n - k);
	}
	double vb = ret->var_boot > 0 ? ret->var_boot : 0;

	if (vb + ret->var_iteration > 0) {
		ret->icc = vb / (vb + ret->var_iteration);
		ret->design_effect = 1 + (ret->n0 - 1) * ret->icc;
	}
	return 0;
}

double kab_optimal_iterations(double var_boot, double var_iteration, double boot_cost_s,
			      double iteration_cost_s)
{
	if (!(var_iteration >= 0) || !(boot_cost_s > 0) || !(iteration_cost_s > 0) ||
	    isnan(var_boot))
		return NAN;
	if (!(var_boot > 0))
		return INFINITY;
	return sqrt(boot_cost_s / iteration_cost_s * (var_iteration / var_boot));
}

int kab_ratio_half_widths(double base, double base_half, double test, double test_half,
			  double *ratio, struct kab_interval *ci)
{
	*ratio = ci->lo = ci->hi = NAN;
	if (!(base > 0) || !(base_half >= 0) || !(test_half >= 0))
		return -1;
	double r = test / base, ga = base_half / base, gb = test_half / base;

	*ratio = r;
	if (ga >= 1)
		return 0;
	double root = sqrt(fmax(0, r * r - (r * r - gb * gb) * (1 - ga * ga)));

	*ci = (struct kab_interval){ (r - root) / (1 - ga * ga), (r + root) / (1 - ga * ga) };
	return 0;
}
