/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Does a verdict keep its promise? Data sets with a known truth go through kab_compare and
 * kab_verdict_decide, the functions behind every mark, and the shares of wrong answers are held
 * against the stated limits.
 *
 * usage: calibration [--long] [--trials N] [--seed N] [--rivals|--dump]
 * --long: 10000 trials per cell, the figures in docs/statistics.md. --rivals: the table of other
 * tools' rules; --dump: the same data as text, for calibration_programs.py. Exit 1 if a limit is exceeded.
 */
#include "calibration.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/dist.h"
#include "stats/multiple.h"
#include "stats/verdict.h"

#define LONG_TRIALS 10000
#define MAX_BOOTS 32

/* Sanitizers make everything some ten times slower: fewer trials, wider limits. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHORT_TRIALS 200
#elif !defined(__OPTIMIZE__)
#define SHORT_TRIALS 500
#else
#define SHORT_TRIALS 3000
#endif

const char *const dist_names[D_COUNT] = { "normal", "log-normal", "t, 2 df",
					  "Pareto", "bimodal",	  "rounded" };

double draw_effect(struct kab_rng *rng, enum dist d)
{
	double u;

	switch (d) {
	case D_LOGNORMAL: /* sigma 0.5 */
		return (exp(0.5 * kab_rng_normal(rng)) - exp(0.125)) /
		       sqrt((exp(0.25) - 1) * exp(0.25));
	case D_T2:
		u = 1 - kab_rng_uniform(rng);
		return kab_rng_normal(rng) / sqrt(-log(u));
	case D_PARETO: /* index 2.5: mean 5/3, variance 20/9 */
		u = 1 - kab_rng_uniform(rng);
		return (pow(u, -1 / 2.5) - 5.0 / 3) / sqrt(20.0 / 9);
	case D_BIMODAL: /* one boot in five lands in the slow state */
		return ((kab_rng_uniform(rng) < 0.2) - 0.2) / 0.4;
	default:
		return kab_rng_normal(rng);
	}
}

void draw_boot_means(struct kab_rng *rng, const struct design *d, double factor, double *out)
{
	double noise = d->sd / sqrt((double)d->iterations), effect = d->ratio * d->sd;
	/* a clock or counter as coarse as the spread that it measures */
	double grid = d->dist == D_ROUNDED ? hypot(noise, effect) : 0;

	for (size_t i = 0; i < d->boots; i++) {
		double v = d->mean * factor + noise * kab_rng_normal(rng);

		if (effect > 0)
			v += effect * draw_effect(rng, d->dist);
		out[i] = grid > 0 ? grid * round(v / grid) : v;
	}
}

void draw_iterations(struct kab_rng *rng, const struct design *d, double factor, double *out)
{
	for (size_t i = 0; i < d->boots; i++) {
		double level = d->mean * factor + d->ratio * d->sd * draw_effect(rng, d->dist);

		for (size_t j = 0; j < d->iterations; j++)
			out[i * d->iterations + j] = level + d->sd * kab_rng_normal(rng);
	}
}

double four_se(double p, size_t n)
{
	return 4 * sqrt(p * (1 - p) / (double)n);
}

void gate(struct calibration *c, bool at_least, double seen, double limit, const char *fmt, ...)
{
	va_list ap;

	c->gates++;
	if (at_least ? seen >= limit : seen <= limit)
		return;
	c->failures++;
	printf("FAILED ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf(": %.2f %%, limit %s %.2f %%\n", 100 * seen, at_least ? "at least" : "at most",
	       100 * limit);
}

struct tally {
	double improved, regressed, equivalent, inconclusive; /* at S = 2 % */
	double flagged; /* improved or regressed with S = 0: the test alone */
	double covered; /* ratio_ci95 holds the true ratio */
	double intervals; /* data sets that had such an interval */
};

static void run_cell(struct calibration *c, const struct design *d, double factor, size_t trials,
		     struct tally *t)
{
	struct kab_compare_opts with = KAB_COMPARE_OPTS_INIT, without = KAB_COMPARE_OPTS_INIT;
	double a[MAX_BOOTS], b[MAX_BOOTS];
	struct kab_comparison r;

	with.dir = without.dir = -1;
	without.margin = 0;
	memset(t, 0, sizeof(*t));
	for (size_t i = 0; i < trials; i++) {
		draw_boot_means(&c->rng, d, 1, a);
		draw_boot_means(&c->rng, d, factor, b);
		kab_compare(a, d->boots, b, d->boots, &with, &r);
		t->improved += r.verdict == KAB_VERDICT_IMPROVED;
		t->regressed += r.verdict == KAB_VERDICT_REGRESSED;
		t->equivalent += r.verdict == KAB_VERDICT_EQUIVALENT;
		t->inconclusive += r.verdict == KAB_VERDICT_INCONCLUSIVE;
		if (!isnan(r.ratio_ci95.lo)) {
			t->intervals++;
			t->covered += r.ratio_ci95.lo <= factor && factor <= r.ratio_ci95.hi;
		}
		kab_verdict_decide(&r, r.p, &without);
		t->flagged +=
			r.verdict == KAB_VERDICT_IMPROVED || r.verdict == KAB_VERDICT_REGRESSED;
	}
	double n = (double)trials;

	t->improved /= n;
	t->regressed /= n;
	t->equivalent /= n;
	t->inconclusive /= n;
	t->flagged /= n;
	t->covered /= t->intervals > 0 ? t->intervals : 1;
}

static void grid(struct calibration *c)
{
	static const size_t boots[] = { 2, 3, 5, 10 }, iterations[] = { 1, 10, 30 };
	static const double ratios[] = { 0, 0.25, 0.5, 1, 2 };
	/* [distribution][boots]: worst share over iterations and ratios */
	double worst[D_COUNT][4] = { { 0 } }, cover[D_COUNT][4], band[D_COUNT][4] = { { 0 } };
	double sum = 0, sum_s = 0, cells = 0, up = 0, down = 0;
	size_t T = c->trials;
	double limit = 0.05 + four_se(0.05, T);
	double limit2 = 0.07 + four_se(0.05, T) - four_se(0.05, LONG_TRIALS);

	for (int d = 0; d < D_COUNT; d++)
		for (int k = 0; k < 4; k++)
			cover[d][k] = 1;
	for (int d = 0; d < D_COUNT; d++) {
		for (size_t k = 0; k < 4; k++) {
			for (size_t it = 0; it < 3; it++) {
				for (size_t r = 0; r < 5; r++) {
					struct design cell = {
						(enum dist)d, boots[k], iterations[it],
						ratios[r],    100,	1
					};
					struct tally t, e;
					double fp;

					run_cell(c, &cell, 1, T, &t);
					/* both edges of the band, half of the trials each */
					run_cell(c, &cell, 1.02, T / 2, &e);
					double false_eq = e.equivalent, covered = e.covered;

					run_cell(c, &cell, 0.98, T - T / 2, &e);
					false_eq = (false_eq + e.equivalent) / 2;
					covered = (covered + e.covered) / 2;
					fp = t.improved + t.regressed;
					gate(c, false, t.flagged, k == 0 ? limit2 : limit,
					     "false positives, %s, %zu boots x %zu, sd ratio %g",
					     dist_names[d], boots[k], iterations[it], ratios[r]);
					gate(c, false, fp, k == 0 ? limit2 : limit,
					     "false marks at S = 2 %%, %s, %zu boots x %zu, sd "
					     "ratio %g",
					     dist_names[d], boots[k], iterations[it], ratios[r]);
					gate(c, false, false_eq, k == 0 ? limit2 : limit,
					     "false 'equivalent' at a true change of S, %s, %zu "
					     "boots x "
					     "%zu, sd ratio %g",
					     dist_names[d], boots[k], iterations[it], ratios[r]);
					if (k > 0)
						gate(c, true, covered, 0.95 - four_se(0.05, T),
						     "coverage, %s, %zu boots x %zu, sd ratio %g",
						     dist_names[d], boots[k], iterations[it],
						     ratios[r]);
					worst[d][k] = fmax(worst[d][k], t.flagged);
					cover[d][k] = fmin(cover[d][k], covered);
					band[d][k] = fmax(band[d][k], false_eq);
					sum += t.flagged;
					sum_s += fp;
					cells++;
					up += t.improved;
					down += t.regressed;
				}
			}
		}
	}
	printf("## Worst of 15 cells (iterations 1, 10, 30 x sd ratio 0, 0.25, 0.5, 1, 2), %zu "
	       "trials\n\n",
	       T);
	printf("| boot effects | false positives, %% at 2 / 3 / 5 / 10 boots | false equivalent, "
	       "%% | "
	       "coverage, %% |\n|---|---|---|---|\n");
	for (int d = 0; d < D_COUNT; d++)
		printf("| %s | %.1f / %.1f / %.1f / %.1f | %.1f / %.1f / %.1f / %.1f | %.1f / %.1f "
		       "/ "
		       "%.1f / %.1f |\n",
		       dist_names[d], 100 * worst[d][0], 100 * worst[d][1], 100 * worst[d][2],
		       100 * worst[d][3], 100 * band[d][0], 100 * band[d][1], 100 * band[d][2],
		       100 * band[d][3], 100 * cover[d][0], 100 * cover[d][1], 100 * cover[d][2],
		       100 * cover[d][3]);
	printf("\nAverage over %.0f cells: %.2f %% false positives, %.2f %% false marks at S = 2 "
	       "%% "
	       "(improved %.2f, regressed %.2f)\n\n",
	       cells, 100 * sum / cells, 100 * sum_s / cells, 100 * up / cells, 100 * down / cells);
	gate(c, false, sum / cells, 0.052, "average false positives");
	gate(c, false, fabs(up - down) / cells, four_se(0.05, (size_t)(cells * (double)T)),
	     "imbalance of improved and regressed");
}

static void noisy_metrics(struct calibration *c)
{
	size_t T = c->trials;

	printf("## Spread above 20 %% of the mean (Fieller), true ratio 1 and 1.3, %zu trials\n\n"
	       "| boots | CV, %% | false positives, %% | coverage at 1.3, %% "
	       "|\n|---|---|---|---|\n",
	       T);
	for (size_t k = 3; k <= 10; k += k == 3 ? 2 : 5) {
		struct design d = { D_LOGNORMAL, k, 1, 0.7, 10, 2.5 };
		struct tally t, e;

		run_cell(c, &d, 1, T, &t);
		run_cell(c, &d, 1.3, T, &e);
		printf("| %zu | 31 | %.1f | %.1f |\n", k, 100 * t.flagged, 100 * e.covered);
		gate(c, false, t.flagged, 0.05 + four_se(0.05, T),
		     "false positives, noisy, %zu boots", k);
		gate(c, true, e.covered, 0.95 - four_se(0.05, T), "coverage, noisy, %zu boots", k);
	}
	printf("\n");
}

static void power(struct calibration *c)
{
	static const struct {
		size_t boots;
		double factor, expected; /* Welch on boot means, an independent simulation */
	} cells[] = { { 3, 1.02, 0.33 },
		      { 5, 1.02, 0.73 },
		      { 10, 1.02, 0.98 },
		      { 10, 1.01, 0.50 },
		      { 20, 1.01, 0.84 } };
	size_t T = c->trials;

	printf("## Power of the test alone and shares of the verdicts at S = 2 %%, %zu trials\n\n"
	       "| boots | true change, %% | test alone, %% | expected | improved / regressed / "
	       "equivalent / inconclusive, %% |\n|---|---|---|---|---|\n",
	       T);
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		struct design d = { D_NORMAL, cells[i].boots, 10, 1, 100, 1 };
		struct tally t;
		double slack = 0.02 + four_se(cells[i].expected, T) -
			       four_se(cells[i].expected, LONG_TRIALS);
		/* Student's test, exact by the noncentral t: no valid rule on boot means does better */
		double k = (double)cells[i].boots;
		double best =
			kab_t_power(cells[i].factor - 1, 0.01 * sqrt(1.1 * 2 / k), 2 * k - 2, 0.05);

		run_cell(c, &d, cells[i].factor, T, &t);
		printf("| %zu | %g | %.1f | %.0f | %.1f / %.1f / %.1f / %.1f |\n", cells[i].boots,
		       100 * (cells[i].factor - 1), 100 * t.flagged, 100 * cells[i].expected,
		       100 * t.improved, 100 * t.regressed, 100 * t.equivalent,
		       100 * t.inconclusive);
		gate(c, true, t.flagged, cells[i].expected - slack, "power at %zu boots, %g %%",
		     cells[i].boots, 100 * (cells[i].factor - 1));
		gate(c, false, t.flagged, best + four_se(best, T),
		     "power too good at %zu boots, %g %%", cells[i].boots,
		     100 * (cells[i].factor - 1));
	}
	printf("\n## Verdicts at S = 2 %%, 10 iterations, sd ratio 1, %zu trials\n\n"
	       "| boots | true change, %% | improved / regressed / equivalent / inconclusive, %% "
	       "|\n"
	       "|---|---|---|\n",
	       T);
	for (size_t k = 3; k <= 20; k = k == 3 ? 5 : 2 * k) {
		for (int pct = 0; pct <= 5; pct += pct == 3 ? 2 : 1) {
			struct design d = { D_NORMAL, k, 10, 1, 100, 1 };
			struct tally t;

			run_cell(c, &d, 1 + pct / 100.0, c->trials, &t);
			printf("| %zu | %d | %.1f / %.1f / %.1f / %.1f |\n", k, pct,
			       100 * t.improved, 100 * t.regressed, 100 * t.equivalent,
			       100 * t.inconclusive);
		}
	}
	printf("\n");
}

static void family(struct calibration *c)
{
	enum { ROWS = 20 };
	struct kab_compare_opts o = KAB_COMPARE_OPTS_INIT;
	size_t T = c->trials;

	o.dir = 1;
	o.margin = 0;
	printf("## At least one false mark in a table of %d rows, Holm, 5 boots x 10, %zu "
	       "trials\n\n"
	       "| boot effects | unadjusted, %% | Holm, %% |\n|---|---|---|\n",
	       ROWS, T);
	for (int d = 0; d < D_COUNT; d++) {
		double raw = 0, holm = 0;

		for (size_t i = 0; i < T; i++) {
			struct design cell = { (enum dist)d, 5, 10, 1, 100, 1 };
			struct kab_comparison r[ROWS];
			double a[5], b[5], p[ROWS], adj[ROWS];
			bool any_raw = false, any = false;

			for (int k = 0; k < ROWS; k++) {
				draw_boot_means(&c->rng, &cell, 1, a);
				draw_boot_means(&c->rng, &cell, 1, b);
				kab_compare(a, 5, b, 5, &o, &r[k]);
				any_raw = any_raw || r[k].significant;
				p[k] = r[k].p;
			}
			kab_adjust_p(KAB_ADJUST_HOLM, p, ROWS, adj);
			for (int k = 0; k < ROWS; k++) {
				kab_verdict_decide(&r[k], adj[k], &o);
				any = any || r[k].verdict == KAB_VERDICT_IMPROVED ||
				      r[k].verdict == KAB_VERDICT_REGRESSED;
			}
			raw += any_raw;
			holm += any;
		}
		printf("| %s | %.1f | %.1f |\n", dist_names[d], 100 * raw / (double)T,
		       100 * holm / (double)T);
		gate(c, false, holm / (double)T, 0.05 + four_se(0.05, T), "family rate, %s",
		     dist_names[d]);
	}
	printf("\n");
}

enum process { P_IID, P_AR5, P_AR9, P_DRIFT, P_STEP, P_COUNT };

/* The state of the machine over 16 boots in time order, standard deviation about 1 %. */
static void draw_process(struct kab_rng *rng, enum process p, double *z, size_t n)
{
	double phi = p == P_AR5 ? 0.5 : p == P_AR9 ? 0.9 : 0;
	double x = kab_rng_normal(rng), at = (double)kab_rng_below(rng, n);

	for (size_t i = 0; i < n; i++) {
		x = phi * x + sqrt(1 - phi * phi) * kab_rng_normal(rng);
		z[i] = 100 + x;
		if (p == P_DRIFT)
			z[i] += 3 * (double)i / (double)(n - 1);
		if (p == P_STEP)
			z[i] += (double)i >= at ? 2 : 0;
	}
}

static void order(struct calibration *c)
{
	static const char *const names[P_COUNT] = { "independent", "AR(1) 0.5", "AR(1) 0.9",
						    "drift of 3 sd", "step of 2 sd" };
	enum { BOOTS = 16 };
	struct kab_compare_opts o = KAB_COMPARE_OPTS_INIT;
	size_t T = c->trials;

	o.dir = -1;
	o.margin = 0;
	printf("## Order of 8 + 8 boots, true difference 0, %% false positives, %zu trials\n\n"
	       "| machine state | A x 8, B x 8, unpaired | random pairs, unpaired | random pairs, "
	       "paired |\n|---|---|---|---|\n",
	       T);
	for (int p = 0; p < P_COUNT; p++) {
		double seen[3] = { 0 };

		for (size_t t = 0; t < T; t++) {
			double z[BOOTS], a[BOOTS / 2], b[BOOTS / 2];
			struct kab_comparison r;

			draw_process(&c->rng, (enum process)p, z, BOOTS);
			o.design = KAB_DESIGN_UNPAIRED;
			kab_compare(z, 8, z + 8, 8, &o, &r);
			seen[0] += r.significant;
			for (size_t i = 0; i < 8; i++) {
				size_t flip = kab_rng_below(&c->rng, 2);

				a[i] = z[2 * i + flip];
				b[i] = z[2 * i + 1 - flip];
			}
			kab_compare(a, 8, b, 8, &o, &r);
			seen[1] += r.significant;
			o.design = KAB_DESIGN_PAIRED;
			kab_compare(a, 8, b, 8, &o, &r);
			seen[2] += r.significant;
		}
		for (int k = 0; k < 3; k++)
			seen[k] /= (double)T;
		printf("| %s | %.1f | %.1f | %.1f |\n", names[p], 100 * seen[0], 100 * seen[1],
		       100 * seen[2]);
		gate(c, false, seen[2], 0.05 + four_se(0.05, T), "paired, %s", names[p]);
		gate(c, false, seen[1], 0.05 + four_se(0.05, T), "interleaved unpaired, %s",
		     names[p]);
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	struct calibration c = { .trials = SHORT_TRIALS };
	uint64_t seed = 20240611;
	bool rivals = false, dump = false;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--long")) {
			c.trials = LONG_TRIALS;
			c.full = true;
		} else if (!strcmp(argv[i], "--trials") && i + 1 < argc) {
			c.trials = strtoul(argv[++i], NULL, 10);
		} else if (!strcmp(argv[i], "--seed") && i + 1 < argc) {
			seed = strtoull(argv[++i], NULL, 10);
		} else if (!strcmp(argv[i], "--rivals")) {
			rivals = true;
		} else if (!strcmp(argv[i], "--dump")) {
			dump = true;
		} else {
			fprintf(stderr, "usage: calibration [--long] [--trials N] [--seed N] "
					"[--rivals|--dump]\n");
			return 2;
		}
	}
	if (c.trials < 10) {
		fprintf(stderr, "calibration: at least 10 trials\n");
		return 2;
	}
	kab_stats_init();
	kab_rng_seed(&c.rng, seed);
	setvbuf(stdout, NULL, dump ? _IOFBF : _IOLBF, 1 << 16);
	if (dump) {
		dump_rivals(&c);
		return 0;
	}
	if (rivals) {
		compare_rivals(&c);
		return 0;
	}
	grid(&c);
	noisy_metrics(&c);
	power(&c);
	family(&c);
	order(&c);
	calibrate_stopping(&c);
	calibrate_history(&c);
	printf("%zu gates, %zu failed\n", c.gates, c.failures);
	return c.failures ? 1 : 0;
}
