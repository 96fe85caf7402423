/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/welch.h"

#include <math.h>

#include "base/alloc.h"
#include "stats/describe.h"
#include "stats/dist.h"

static const struct kab_interval no_interval = { NAN, NAN };
static const struct kab_test no_test = { NAN, NAN, NAN };

/*
 * df of the sum of two independent variance estimates. The terms are scaled by their sum first:
 * squares of tiny or huge variances leave the range of doubles.
 */
static double satterthwaite(double va, size_t na, double vb, size_t nb)
{
	double wa = va / (va + vb), wb = vb / (va + vb);

	return 1 / (wa * wa / (double)(na - 1) + wb * wb / (double)(nb - 1));
}

static bool testable(const struct kab_moments *a, const struct kab_moments *b)
{
	return a->n >= 2 && b->n >= 2 && (a->sd > 0 || b->sd > 0);
}

int kab_welch_moments(const struct kab_moments *base, const struct kab_moments *test,
		      double confidence, struct kab_welch *ret)
{
	*ret = (struct kab_welch){ NAN, NAN, no_test, no_interval };
	if (base->n == 0 || test->n == 0 || !(confidence > 0 && confidence < 1))
		return -1;
	ret->diff = test->mean - base->mean;
	if (base->n < 2 || test->n < 2)
		return 0;
	double ea = base->sd / sqrt((double)base->n), eb = test->sd / sqrt((double)test->n);

	ret->se = hypot(ea, eb);
	if (!testable(base, test))
		return 0;
	double ra = ea / ret->se, rb = eb / ret->se;

	ret->test.t = ret->diff / ret->se;
	ret->test.df = satterthwaite(ra * ra, base->n, rb * rb, test->n);
	ret->test.p = kab_t_two_sided_p(ret->test.t, ret->test.df);
	double h = kab_t_quantile(confidence, ret->test.df) * ret->se;

	ret->ci = (struct kab_interval){ ret->diff - h, ret->diff + h };
	return 0;
}

int kab_welch(const double *base, size_t nb, const double *test, size_t nt, double confidence,
	      struct kab_welch *ret)
{
	struct kab_moments a = kab_moments_of(base, nb), b = kab_moments_of(test, nt);

	return kab_welch_moments(&a, &b, confidence, ret);
}

int kab_student_moments(const struct kab_moments *base, const struct kab_moments *test,
			double confidence, struct kab_welch *ret)
{
	*ret = (struct kab_welch){ NAN, NAN, no_test, no_interval };
	if (base->n == 0 || test->n == 0 || !(confidence > 0 && confidence < 1))
		return -1;
	ret->diff = test->mean - base->mean;
	if (!testable(base, test))
		return 0;
	double na = (double)base->n, nb = (double)test->n, df = na + nb - 2;
	double pooled =
		sqrt(((na - 1) * base->sd * base->sd + (nb - 1) * test->sd * test->sd) / df);

	ret->se = pooled * sqrt(1 / na + 1 / nb);
	ret->test.t = ret->diff / ret->se;
	ret->test.df = df;
	ret->test.p = kab_t_two_sided_p(ret->test.t, df);
	double h = kab_t_quantile(confidence, df) * ret->se;

	ret->ci = (struct kab_interval){ ret->diff - h, ret->diff + h };
	return 0;
}

double kab_log_ratio(double base, double test)
{
	double r = (test - base) / base;

	return fabs(r) < 0.5 ? log1p(r) : log(test) - log(base);
}

int kab_ratio_log_delta_df(const struct kab_moments *base, const struct kab_moments *test,
			   double df, double confidence, struct kab_ratio *ret)
{
	*ret = (struct kab_ratio){ NAN, NAN, no_test, no_interval, false };
	if (base->n == 0 || test->n == 0 || !(confidence > 0 && confidence < 1))
		return -1;
	if (!(base->mean > 0) || !(test->mean > 0))
		return 0;
	ret->ratio = test->mean / base->mean;
	if (!testable(base, test))
		return 0;
	double ca = base->sd / base->mean, cb = test->sd / test->mean;
	double va = ca * ca / (double)base->n, vb = cb * cb / (double)test->n;
	double d = kab_log_ratio(base->mean, test->mean);

	ret->log_se = sqrt(va + vb);
	ret->test.t = d / ret->log_se;
	ret->test.df = df > 0 ? df : satterthwaite(va, base->n, vb, test->n);
	ret->test.p = kab_t_two_sided_p(ret->test.t, ret->test.df);
	double h = kab_t_quantile(confidence, ret->test.df) * ret->log_se;

	ret->ci = (struct kab_interval){ exp(d - h), exp(d + h) };
	return 0;
}

int kab_ratio_log_delta(const struct kab_moments *base, const struct kab_moments *test,
			double confidence, struct kab_ratio *ret)
{
	return kab_ratio_log_delta_df(base, test, NAN, confidence, ret);
}

int kab_ratio_fieller(const struct kab_moments *base, const struct kab_moments *test,
		      double confidence, struct kab_ratio *ret)
{
	struct kab_welch w;

	*ret = (struct kab_ratio){ NAN, NAN, no_test, no_interval, false };
	if (kab_welch_moments(base, test, confidence, &w))
		return -1;
	if (!(base->mean > 0))
		return 0;
	ret->ratio = test->mean / base->mean;
	ret->test = w.test;
	if (!testable(base, test))
		return 0;
	double q = kab_t_quantile(confidence, w.test.df), r = ret->ratio;
	double ca = base->sd / base->mean, cb = test->sd / base->mean;
	double va = ca * ca / (double)base->n, vb = cb * cb / (double)test->n;
	double g = q * q * va;

	ret->unbounded = !(g < 1);
	if (ret->unbounded)
		return 0;
	double root = q * sqrt(fmax(0, vb * (1 - g) + r * r * va));

	ret->ci = (struct kab_interval){ (r - root) / (1 - g), (r + root) / (1 - g) };
	return 0;
}

int kab_ratio_geometric(const double *base, size_t nb, const double *test, size_t nt,
			double confidence, struct kab_ratio *ret)
{
	struct kab_welch w = { NAN, NAN, no_test, no_interval };
	bool positive = true;

	*ret = (struct kab_ratio){ NAN, NAN, no_test, no_interval, false };
	if (nb == 0 || nt == 0 || !(confidence > 0 && confidence < 1))
		return -1;
	for (size_t i = 0; i < nb; i++)
		positive = positive && base[i] > 0;
	for (size_t i = 0; i < nt; i++)
		positive = positive && test[i] > 0;
	if (!positive)
		return 0;
	double *l = kab_xreallocarray(NULL, nb + nt, sizeof(*l));

	for (size_t i = 0; i < nb; i++)
		l[i] = log(base[i]);
	for (size_t i = 0; i < nt; i++)
		l[nb + i] = log(test[i]);
	kab_welch(l, nb, l + nb, nt, confidence, &w);
	free(l);
	ret->ratio = exp(w.diff);
	ret->log_se = w.se;
	ret->test = w.test;
	ret->ci = (struct kab_interval){ exp(w.ci.lo), exp(w.ci.hi) };
	return 0;
}

double kab_tost_p(const struct kab_moments *base, const struct kab_moments *test, double margin)
{
	struct kab_welch w;

	if (!(margin > 0) || kab_welch_moments(base, test, 0.95, &w) || isnan(w.test.t))
		return NAN;
	double above_low = kab_t_upper_p((w.diff + margin) / w.se, w.test.df);
	double below_high = kab_t_upper_p((margin - w.diff) / w.se, w.test.df);

	return fmax(above_low, below_high);
}
