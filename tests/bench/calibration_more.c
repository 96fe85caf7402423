/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calibration of the stopping rules and of the history detector. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibration.h"
#include "stats/change.h"
#include "stats/describe.h"
#include "stats/sequential.h"
#include "stats/verdict.h"

enum rule { R_PEEK, R_SPENDING, R_PRECISION, R_EPROCESS, R_COUNT };
enum { MAX = 20 };

struct outcome {
	double rejected, covered, boots;
};

/* One experiment of at most MAX boots per side under a rule. */
static void stop_by(enum rule rule, const struct kab_bounds *bounds, const double *a,
		    const double *b, double truth, struct outcome *o)
{
	struct kab_compare_opts opts = KAB_COMPARE_OPTS_INIT;
	struct kab_comparison r;
	double d[MAX];

	opts.dir = -1;
	opts.margin = 0;
	for (size_t k = 1; k <= MAX; k++) {
		bool stop = k == MAX, rejected = false;

		d[k - 1] = log(b[k - 1] / a[k - 1]);
		if (k < 3 || (rule == R_SPENDING && k % 4))
			continue;
		kab_compare(a, k, b, k, &opts, &r);
		switch (rule) {
		case R_PEEK:
			rejected = r.significant;
			stop = stop || rejected;
			break;
		case R_SPENDING:
			rejected = r.p < bounds->p[k / 4 - 1];
			stop = stop || rejected;
			break;
		case R_PRECISION:
			stop = stop ||
			       kab_precision_reached(0.5 * log(r.ratio_ci95.hi / r.ratio_ci95.lo),
						     k, 0.01, 0);
			rejected = r.significant;
			break;
		default:
			rejected = kab_eprocess_log(d, k, 1) >= log(20);
			stop = stop || rejected;
			break;
		}
		if (stop) {
			o->rejected += rejected;
			o->covered += r.ratio_ci95.lo <= truth && truth <= r.ratio_ci95.hi;
			o->boots += (double)k;
			return;
		}
	}
}

void calibrate_stopping(struct calibration *c)
{
	static const char *const names[R_COUNT] = { "test after every boot (never used)",
						    "five looks, spending bounds",
						    "half width <= 1 %, at least 8 boots",
						    "t e-process, every pair" };
	struct kab_bounds bounds;
	size_t T = c->trials;

	kab_spending_bounds(KAB_SPEND_OBRIEN_FLEMING, 5, NULL, 0.05, &bounds);
	printf("## Stopping rules, at most %d boots a side, %zu trials\n\n"
	       "| rule | false positives, %% | coverage, %% | power at 1 / 2 %% | mean boots at 0 "
	       "/ 1 / 2 %% "
	       "|\n|---|---|---|---|---|\n",
	       MAX, T);
	for (int rule = 0; rule < R_COUNT; rule++) {
		struct outcome o[3] = { { 0 } };

		for (int e = 0; e < 3; e++) {
			struct design d = { D_NORMAL, MAX, 10, 1, 100, 1 };
			double a[MAX], b[MAX], n = (double)T;

			for (size_t t = 0; t < T; t++) {
				draw_boot_means(&c->rng, &d, 1, a);
				draw_boot_means(&c->rng, &d, 1 + e / 100.0, b);
				stop_by((enum rule)rule, &bounds, a, b, 1 + e / 100.0, &o[e]);
			}
			o[e].rejected /= n;
			o[e].covered /= n;
			o[e].boots /= n;
		}
		printf("| %s | %.1f | %.1f | %.0f / %.0f | %.1f / %.1f / %.1f |\n", names[rule],
		       100 * o[0].rejected, 100 * o[0].covered, 100 * o[1].rejected,
		       100 * o[2].rejected, o[0].boots, o[1].boots, o[2].boots);
		if (rule != R_PEEK)
			gate(c, false, o[0].rejected, 0.05 + four_se(0.05, T), "%s", names[rule]);
		if (rule == R_PRECISION)
			gate(c, true, o[0].covered, 0.95 - four_se(0.05, T), "coverage, %s",
			     names[rule]);
	}
	printf("\n");
}

static void draw_nights(struct kab_rng *rng, double phi, double step, size_t quiet, double *x,
			size_t n)
{
	double z = kab_rng_normal(rng);

	for (size_t i = 0; i < n; i++) {
		z = phi * z + sqrt(1 - phi * phi) * kab_rng_normal(rng);
		x[i] = 100 + z + (i >= quiet ? step : 0);
	}
}

/* Share of series in which something is nominated; at (or near) the step when there is one. */
static double nominated(struct calibration *c, double phi, double step, size_t young, size_t series)
{
	enum { QUIET = 40, MOST = 60 };
	double x[MOST], hits = 0;

	for (size_t s = 0; s < series; s++) {
		struct kab_change_opts o = { .draws = 399, .seed = s };
		struct kab_changes ch;
		size_t n = young ? QUIET + young : MOST;

		draw_nights(&c->rng, phi, step, young ? QUIET : MOST, x, n);
		kab_changes_find(x, n, &o, &ch);
		bool hit = !young && ch.n > 0;

		for (size_t i = 0; young && i < ch.n; i++)
			hit = hit || (ch.at[i] + 5 >= QUIET && ch.at[i] <= QUIET + 5);
		hits += hit;
		kab_changes_release(&ch);
	}
	return hits / (double)series;
}

void calibrate_history(struct calibration *c)
{
	static const double phis[] = { 0, 0.5, 0.8 }, quiet[] = { 0.03, 0.06, 0.12 },
			    found[] = { 0.90, 0.50, 0.15 };
	size_t series = c->trials >= 2000 ? 200 : c->trials / 10;

	if (series > c->trials)
		series = c->trials;
	printf("## Nightly history, pre-whitened, %zu series (percent)\n\n"
	       "| autocorrelation | nominated in 60 nights without a change | 3 sd step found "
	       "after 5 / 10 / "
	       "20 nights |\n|---|---|---|\n",
	       series);
	for (int i = 0; i < 3; i++) {
		double none = nominated(c, phis[i], 0, 0, series);
		double n5 = nominated(c, phis[i], 3, 5, series);
		double n10 = nominated(c, phis[i], 3, 10, series);
		double n20 = nominated(c, phis[i], 3, 20, series);

		printf("| %g | %.0f | %.0f / %.0f / %.0f |\n", phis[i], 100 * none, 100 * n5,
		       100 * n10, 100 * n20);
		gate(c, false, none, quiet[i] + four_se(quiet[i], series),
		     "nominations without a change, phi %g", phis[i]);
		gate(c, true, n20, found[i] - four_se(found[i], series),
		     "3 sd step after 20 nights, phi %g", phis[i]);
	}
	printf("\n");

	struct kab_rng *rng = &c->rng;
	size_t T = c->trials;
	double day[2][4] = { { 0 } }, fast = 0;

	for (size_t t = 0; t < T; t++) {
		double x[44];
		struct kab_fast f;

		draw_nights(rng, 0, 0, 44, x, 40);
		kab_change_fast(x, 40, 0, 0, 0, &f);
		fast += f.nights > 0;
		for (int e = 0; e < 2; e++) {
			draw_nights(rng, 0, e ? 5 : 3, 40, x, 44);
			for (size_t k = 1; k <= 4; k++) {
				kab_change_fast(x, 40 + k, 0, 0, 0, &f);
				day[e][k - 1] += f.nights > 0;
			}
		}
	}
	printf("Fast path (40 nights before): false %.2f %%; 3 sd step seen after 1 / 2 / 3 / 4 "
	       "nights "
	       "%.0f / %.0f / %.0f / %.0f %%; 5 sd step %.0f / %.0f / %.0f / %.0f %%\n\n",
	       100 * fast / (double)T, 100 * day[0][0] / (double)T, 100 * day[0][1] / (double)T,
	       100 * day[0][2] / (double)T, 100 * day[0][3] / (double)T,
	       100 * day[1][0] / (double)T, 100 * day[1][1] / (double)T,
	       100 * day[1][2] / (double)T, 100 * day[1][3] / (double)T);
	/* four overlapping looks at 0.001 each */
	gate(c, false, fast / (double)T, 0.004 + four_se(0.004, T), "fast path without a change");
}
