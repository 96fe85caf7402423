/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reports/plot_axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "reports/number.h"

/* A span below this share of the values is rounding noise, and ticks within it would be unreadable. */
#define SPAN_MIN 1e-8

static void choose_time(double most, size_t from, struct kab_axis *a)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	size_t to = 0;
	double seconds = most * pow(10, 3.0 * (double)from - 9);

	while (to < 3 && seconds >= pow(10, 3.0 * (double)(to + 1) - 9))
		to++;
	a->factor = pow(10, 3.0 * ((double)from - (double)to));
	snprintf(a->unit, sizeof(a->unit), "%s", units[to]);
}

static void choose_unit(const char *unit, struct kab_axis *a)
{
	static const char *const times[] = { "ns", "us", "ms", "s" };
	double most = fmax(fabs(a->lo), fabs(a->hi));
	int exponent;

	a->factor = 1;
	snprintf(a->unit, sizeof(a->unit), "%s", unit);
	if (!(most > 1e-290 && most < 1e290))
		return;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(times); i++) {
		if (strcmp(unit, times[i]) != 0)
			continue;
		if (most < 0.1 || (most >= 1e4 && i < 3))
			choose_time(most, i, a);
		/* There is no shorter word than ns, and no longer one than s. */
		most *= a->factor;
		unit = a->unit;
		break;
	}
	if (most >= 1e-3 && most < 1e6)
		return;
	exponent = 3 * (int)floor(log10(most) / 3 + 1e-12);
	a->factor *= pow(10, -exponent);
	if (*unit) {
		char *word kab_autofree = kab_xstrdup(unit);

		snprintf(a->unit, sizeof(a->unit), "10^%d %.40s", exponent, word);
	} else {
		snprintf(a->unit, sizeof(a->unit), "10^%d", exponent);
	}
}

static void linear_ticks(struct kab_axis *a, size_t max)
{
	double lo = a->lo * a->factor, hi = a->hi * a->factor, tiny = (hi - lo) * 1e-9;
	double unit = pow(10, floor(log10((hi - lo) / (double)max)) - 1);
	static const double times[] = { 1, 2, 5 };

	/* At the ends of what a double can hold there are no steps. */
	for (int i = 0; unit > 0 && isfinite(hi - lo); i++) {
		double step = unit * times[i % 3] * pow(10, i / 3);
		double first = ceil((lo - tiny) / step), last = floor((hi + tiny) / step);

		if (last - first + 1 > (double)max)
			continue;
		a->n_ticks = 0;
		for (double t = first; t <= last; t++)
			a->ticks[a->n_ticks++] = t * step / a->factor;
		a->decimals = (int)fmax(0, -floor(log10(step) + 1e-9));
		return;
	}
}

/* Powers of ten, or with few of them 1, 2 and 5 times those. */
static void log_ticks(struct kab_axis *a, size_t max)
{
	static const double times[] = { 1, 2, 5 };
	double lo = a->lo * a->factor, hi = a->hi * a->factor;
	int first = (int)floor(log10(lo)), last = (int)ceil(log10(hi)), stride = 1;
	bool fine = (size_t)(3 * (last - first)) <= max;

	while ((size_t)((last - first) / stride + 1) > max)
		stride++;
	a->n_ticks = 0;
	for (int e = first; e <= last; e += stride) {
		for (size_t i = 0; i < (fine ? 3 : 1); i++) {
			double t = times[i] * pow(10, e);

			if (t >= lo * (1 - 1e-9) && t <= hi * (1 + 1e-9) && a->n_ticks < max)
				a->ticks[a->n_ticks++] = t / a->factor;
		}
	}
	a->decimals = -1;
}

static void make(double lo, double hi, const char *unit, size_t max_ticks, bool may_log,
		 struct kab_axis *ret)
{
	double most = fmax(fabs(lo), fabs(hi));

	memset(ret, 0, sizeof(*ret));
	if (hi - lo <= most * SPAN_MIN) {
		double middle = lo + (hi - lo) / 2;
		double room = middle != 0 ? fabs(middle) / 20 : 1;

		lo = middle - room;
		hi = middle + room;
	}
	ret->lo = lo;
	ret->hi = hi;
	ret->log = may_log && lo > 0 && hi / lo > KAB_AXIS_LOG_RATIO;
	choose_unit(unit, ret);
	if (max_ticks > KAB_AXIS_TICKS_MAX)
		max_ticks = KAB_AXIS_TICKS_MAX;
	if (ret->log)
		log_ticks(ret, max_ticks);
	else
		linear_ticks(ret, max_ticks);
}

void kab_axis_make(double lo, double hi, const char *unit, size_t max_ticks, struct kab_axis *ret)
{
	make(lo, hi, unit, max_ticks, true, ret);
}

void kab_axis_make_linear(double lo, double hi, const char *unit, size_t max_ticks,
			  struct kab_axis *ret)
{
	make(lo, hi, unit, max_ticks, false, ret);
}

double kab_axis_share(const struct kab_axis *a, double value)
{
	if (a->log)
		return log(value / a->lo) / log(a->hi / a->lo);
	return (value - a->lo) / (a->hi - a->lo);
}

size_t kab_axis_cell(const struct kab_axis *axis, double value, size_t n)
{
	double at = floor(kab_axis_share(axis, value) * (double)n);

	/* A value that is not positive has no place on a logarithmic axis: at its lower end. */
	return (size_t)fmin((double)n - 1, at > 0 ? at : 0);
}

void kab_axis_label(const struct kab_axis *axis, double tick, struct kab_buf *out)
{
	double shown = tick * axis->factor;
	char text[32];

	if (axis->decimals >= 0) {
		kab_number_fixed(out, shown, axis->decimals, false);
		return;
	}
	snprintf(text, sizeof(text), "%.6g", shown);
	kab_buf_adds(out, text);
}
