/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/paired.h"

#include <math.h>

#include "base/alloc.h"
#include "stats/describe.h"
#include "stats/dist.h"
#include "stats/welch.h"

static void undefined(struct kab_paired *r)
{
	*r = (struct kab_paired){ NAN, NAN, NAN, { NAN, NAN, NAN }, { NAN, NAN } };
}

int kab_one_sample_t(const double *d, size_t n, double confidence, struct kab_paired *ret)
{
	undefined(ret);
	if (n == 0 || !(confidence > 0 && confidence < 1))
		return -1;
	struct kab_moments m = kab_moments_of(d, n);

	ret->estimate = m.mean;
	if (n < 2)
		return 0;
	ret->sd = m.sd;
	ret->se = m.sd / sqrt((double)n);
	if (!(ret->se > 0))
		return 0;
	ret->test.t = ret->estimate / ret->se;
	ret->test.df = (double)(n - 1);
	ret->test.p = kab_t_two_sided_p(ret->test.t, ret->test.df);
	double h = kab_t_quantile(confidence, ret->test.df) * ret->se;

	ret->ci = (struct kab_interval){ ret->estimate - h, ret->estimate + h };
	return 0;
}

int kab_paired_log_ratio(const double *base, const double *test, size_t n, double confidence,
			 struct kab_paired *ret)
{
	undefined(ret);
	if (n == 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (!(base[i] > 0) || !(test[i] > 0))
			return 1;
	double *d = kab_xreallocarray(NULL, n, sizeof(*d));

	for (size_t i = 0; i < n; i++)
		d[i] = kab_log_ratio(base[i], test[i]);
	int rc = kab_one_sample_t(d, n, confidence, ret);

	free(d);
	return rc;
}

int kab_paired_difference(const double *base, const double *test, size_t n, double confidence,
			  struct kab_paired *ret)
{
	undefined(ret);
	if (n == 0)
		return -1;
	double *d = kab_xreallocarray(NULL, n, sizeof(*d));

	for (size_t i = 0; i < n; i++)
		d[i] = test[i] - base[i];
	int rc = kab_one_sample_t(d, n, confidence, ret);

	free(d);
	return rc;
}
