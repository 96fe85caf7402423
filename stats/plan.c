/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/plan.h"

#include <math.h>

#include "stats/dist.h"

/* sd * sqrt(groups/k) with groups*(k - 1) degrees of freedom: 2 for two sides, 1 for blocks */
static double half_width(double sd, double k, double groups, double confidence)
{
	return kab_t_quantile(confidence, groups * (k - 1)) * sd * sqrt(groups / k);
}

static size_t smallest(double sd, double target, double groups, double confidence)
{
	size_t lo = 2, hi = 2;

	if (!(sd >= 0) || !isfinite(sd) || !(target > 0) || !(confidence > 0 && confidence < 1))
		return 0;
	while (half_width(sd, (double)hi, groups, confidence) > target) {
		if (hi >= KAB_PLAN_MAX)
			return 0;
		lo = hi + 1;
		hi = hi * 2 > KAB_PLAN_MAX ? KAB_PLAN_MAX : hi * 2;
	}
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (half_width(sd, (double)mid, groups, confidence) <= target)
			hi = mid;
		else
			lo = mid + 1;
	}
	return hi;
}

size_t kab_plan_boots_needed(double sd, double half, double confidence)
{
	return smallest(sd, half, 2, confidence);
}

size_t kab_plan_blocks_needed(double sd, double half, double confidence)
{
	return smallest(sd, half, 1, confidence);
}

double kab_plan_half_width(double sd, size_t k, double confidence)
{
	return k < 2 ? NAN : half_width(sd, (double)k, 2, confidence);
}

double kab_plan_detectable(double se, double df, double alpha, double power)
{
	if (!(se > 0) || !(df > 0) || !(alpha > 0 && alpha < 1) || !(power > alpha && power < 1))
		return NAN;
	struct kab_t_scales at;

	kab_t_scales(df, alpha, &at);
	double lo = 0, hi = (at.q + 3) * se;

	while (kab_t_power_at(&at, hi, se) < power && hi < 1e6 * se)
		hi *= 2;
	for (int i = 0; i < 40; i++) {
		double mid = 0.5 * (lo + hi);

		if (kab_t_power_at(&at, mid, se) < power)
			lo = mid;
		else
			hi = mid;
	}
	return hi;
}

size_t kab_plan_boots_for_power(double sd, double delta, double alpha, double power)
{
	if (!(sd >= 0) || !(delta > 0) || !(alpha > 0 && alpha < 1) ||
	    !(power > alpha && power < 1))
		return 0;
	if (sd == 0)
		return 2;
	size_t lo = 2, hi = 2;
#define POWER_AT(k) kab_t_power(delta, sd *sqrt(2 / (double)(k)), 2 * (double)(k)-2, alpha)

	while (POWER_AT(hi) < power) {
		if (hi >= KAB_PLAN_MAX)
			return 0;
		lo = hi + 1;
		hi = hi * 2 > KAB_PLAN_MAX ? KAB_PLAN_MAX : hi * 2;
	}
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (POWER_AT(mid) >= power)
			hi = mid;
		else
			lo = mid + 1;
	}
#undef POWER_AT
	return hi;
}

double kab_plan_boot_mean_sd(double var_boot, double var_iteration, size_t iterations)
{
	double b = var_boot > 0 ? var_boot : 0, w = var_iteration > 0 ? var_iteration : 0;

	return iterations ? sqrt(b + w / (double)iterations) : NAN;
}
