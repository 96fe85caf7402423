/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/dist.h"

#include <math.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>

#include "stats/stats.h"

void kab_stats_init(void)
{
	gsl_set_error_handler_off();
}

/* Below this |t| GSL's upper tail and R agree to 1e-14; df above 1e10 is normal for every use here. */
#define DF_NORMAL 1e10

double kab_t_upper_p(double t, double df)
{
	if (isnan(t) || !(df > 0))
		return NAN;
	if (isinf(t))
		return t > 0 ? 0 : 1;
	if (df > DF_NORMAL)
		return gsl_cdf_ugaussian_Q(t);
	return gsl_cdf_tdist_Q(t, df);
}

double kab_t_two_sided_p(double t, double df)
{
	double p = 2 * kab_t_upper_p(fabs(t), df);

	return p > 1 ? 1 : p;
}

double kab_t_quantile(double confidence, double df)
{
	if (!(confidence > 0 && confidence < 1) || !(df > 0))
		return NAN;
	double tail = 0.5 * (1 - confidence);
	double q = df > DF_NORMAL ? gsl_cdf_ugaussian_Qinv(tail) : gsl_cdf_tdist_Qinv(tail, df);

	/* One Newton step: GSL's inverse stops at about 1e-9 relative for some fractional df. */
	if (isfinite(q) && df <= DF_NORMAL) {
		double pdf = exp(lgamma(0.5 * (df + 1)) - lgamma(0.5 * df) - 0.5 * log(df * M_PI) -
				 0.5 * (df + 1) * log1p(q * q / df));
		double step = (gsl_cdf_tdist_Q(q, df) - tail) / pdf;

		if (isfinite(step) && fabs(step) < 1e-4 * fabs(q))
			q += step;
	}
	return isfinite(q) ? q : NAN;
}

double kab_norm_cdf(double z)
{
	return gsl_cdf_ugaussian_P(z);
}

double kab_norm_upper(double z)
{
	return gsl_cdf_ugaussian_Q(z);
}

double kab_norm_quantile(double p)
{
	if (!(p > 0 && p < 1))
		return NAN;
	return gsl_cdf_ugaussian_Pinv(p);
}

/*
 * Given the estimated scale s = sqrt(chi2/df), the test rejects where |Z + ncp| > q s; integrated over
 * the probability scale of s.
 */
void kab_t_scales(double df, double alpha, struct kab_t_scales *ret)
{
	gsl_integration_glfixed_table *gl = gsl_integration_glfixed_table_alloc(KAB_T_POWER_NODES);

	ret->q = gl ? kab_t_quantile(1 - alpha, df) : NAN;
	for (size_t i = 0; !isnan(ret->q) && i < KAB_T_POWER_NODES; i++) {
		double u;

		gsl_integration_glfixed_point(0, 1, i, &u, &ret->w[i], gl);
		ret->s[i] = df > 1e7 ? 1 : sqrt(gsl_cdf_chisq_Pinv(u, df) / df);
	}
	gsl_integration_glfixed_table_free(gl);
}

double kab_t_power_at(const struct kab_t_scales *at, double delta, double se)
{
	double ncp = fabs(delta) / se, sum = 0;

	if (isnan(at->q) || !(se > 0) || isnan(delta))
		return NAN;
	for (size_t i = 0; i < KAB_T_POWER_NODES; i++)
		sum += at->w[i] * (gsl_cdf_ugaussian_Q(at->q * at->s[i] - ncp) +
				   gsl_cdf_ugaussian_P(-at->q * at->s[i] - ncp));
	return sum;
}

double kab_t_power(double delta, double se, double df, double alpha)
{
	struct kab_t_scales at;

	kab_t_scales(df, alpha, &at);
	return kab_t_power_at(&at, delta, se);
}
