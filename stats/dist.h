/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Distribution functions, on GSL, with every undefined case as NAN instead of an abort. */
#ifndef KAB_STATS_DIST_H
#define KAB_STATS_DIST_H

#define KAB_T_POWER_NODES 48

/* P(|T| >= |t|), Student with df > 0 (need not be whole). NAN if t or df is. */
double kab_t_two_sided_p(double t, double df);
/* P(T >= t). */
double kab_t_upper_p(double t, double df);
/* q with P(|T| <= q) = confidence; NAN outside (0, 1) or for df <= 0. */
double kab_t_quantile(double confidence, double df);
double kab_norm_cdf(double z);
double kab_norm_upper(double z);
double kab_norm_quantile(double p);
/* Power of the two-sided t test at level alpha when the estimate's standard error is se (known up
 * to a chi-square with df) and the true value is delta: the noncentral t, by Gauss-Legendre. */
double kab_t_power(double delta, double se, double df, double alpha);
/* The same in two steps, for many changes at one df and alpha: finding the scales is nearly all of it. */
struct kab_t_scales {
	double q; /* critical value; NAN when df or alpha is out of range */
	double s[KAB_T_POWER_NODES], w[KAB_T_POWER_NODES];
};
void kab_t_scales(double df, double alpha, struct kab_t_scales *ret);
double kab_t_power_at(const struct kab_t_scales *at, double delta, double se);

#endif
