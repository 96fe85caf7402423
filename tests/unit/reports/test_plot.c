/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pictures of fixed values. The files in tests/data/plots were checked by hand; where marks are is
 * computed here once more, from the definition of the axis and not by the code under test.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/rng.h"
#include "judge/judge.h"
#include "reports/plot.h"
#include "reports/plot_axis.h"
#include "reports/plot_bins.h"
#include "reports/plot_gnuplot.h"
#include "reports/plot_text.h"
#include "rows.h"
#include "stats/stats.h"

#define CELLS 70

static const struct kab_plot_pick everything;

struct made {
	struct kab_row_list rows;
	struct kab_judgement judgement;
	struct kab_plots plots;
};

static void make(struct made *m, enum kab_plot_kind kind)
{
	const struct kab_judge_opts opts = KAB_JUDGE_OPTS_INIT;
	struct kab_err err = KAB_ERR_INIT;

	assert_int_equal(kab_judge(&m->rows, &opts, &m->judgement, &err), 0);
	if (kab_plots_make(&m->judgement, kind, &everything, &m->plots, &err) < 0)
		fail_msg("%s", err.text);
}

static void again(struct made *m, enum kab_plot_kind kind)
{
	struct kab_err err = KAB_ERR_INIT;

	kab_plots_release(&m->plots);
	assert_int_equal(kab_plots_make(&m->judgement, kind, &everything, &m->plots, &err), 0);
}

static void done(struct made *m)
{
	kab_plots_release(&m->plots);
	kab_judgement_release(&m->judgement);
	kab_row_list_release(&m->rows);
}

/* Boots of the two kernels in turn, as a run executes them. */
static void interleave(struct kab_row_data *row)
{
	int64_t sequence = 1;

	for (size_t b = 0; b < 16; b++)
		for (size_t k = 0; k < row->n_sets; k++)
			for (size_t i = 0; b < row->sets[k].n_boots && i < row->sets[k].boots[b].n;
			     i++)
				row->sets[k].boots[b].v[i].sequence = sequence++;
}

/*
 * base: 10 11 12 | 11 12 13 | 10 12 17; sorted 10 10 11 11 12 12 12 13 17: quartiles 11 12 12, mean
 * of the boot means 11, 12, 13 is 12. patched: 13 14 15 | 14 15 16; quartiles 14, 14.5, 15; mean 14.5.
 */
static struct kab_row_data *two_kernels(struct kab_row_list *rows)
{
	static const double base[3][3] = { { 10, 11, 12 }, { 11, 12, 13 }, { 10, 12, 17 } };
	static const double patched[2][3] = { { 13, 14, 15 }, { 14, 15, 16 } };
	struct kab_row_data *row = rows_add(rows, "pipe", "", "time", "s", KAB_DIR_LOWER);
	struct kab_sample_set *set = row_kernel(row, "base");

	for (int b = 0; b < 3; b++)
		set_boot(set, b, base[b], 3);
	set = row_kernel(row, "patched");
	for (int b = 0; b < 2; b++)
		set_boot(set, b, patched[b], 3);
	set->n_failed = 3;
	set->n_planned += 3;
	interleave(row);
	return row;
}

static void picture(const struct kab_plot *plot, bool unicode, struct kab_buf *out)
{
	const struct kab_plot_text_opts opts = { .unicode = unicode };

	kab_plot_text(plot, &opts, out);
}

/* Line n of the text, from 0; caller frees. */
static char *line_of(const char *text, size_t n)
{
	while (n-- && strchr(text, '\n'))
		text = strchr(text, '\n') + 1;
	return kab_xstrndup(text, strcspn(text, "\n"));
}

static char at(const char *line, size_t column)
{
	return column < strlen(line) ? line[column] : ' ';
}

static void compare(const char *name, const struct kab_buf *got)
{
	char *path kab_autofree = kab_xasprintf(KAB_SOURCE_DIR "/tests/data/plots/%s.txt", name);
	struct kab_buf kab_autobuf want = KAB_BUF_INIT;
	struct kab_err err = KAB_ERR_INIT;

	if (kab_file_read(path, &want, &err) < 0)
		print_error("%s\n", err.text);
	if (strcmp(kab_buf_str(&want), kab_buf_str(got)) != 0) {
		/* Not through cmocka, which cuts long messages. */
		fprintf(stderr, "drawn was:\n%s--- end\n", kab_buf_str(got));
		fail_msg("%s differs", name);
	}
}

static void golden(void **state)
{
	static const struct {
		const char *name;
		enum kab_plot_kind kind;
		bool unicode;
	} cases[] = {
		{ "strip", KAB_PLOT_STRIP, false },
		{ "histogram", KAB_PLOT_HISTOGRAM, false },
		{ "order", KAB_PLOT_ORDER, false },
		{ "cdf", KAB_PLOT_CDF, false },
		{ "boots", KAB_PLOT_BOOTS, false },
		{ "strip-unicode", KAB_PLOT_STRIP, true },
		{ "order-unicode", KAB_PLOT_ORDER, true },
		{ "cdf-unicode", KAB_PLOT_CDF, true },
		{ "histogram-unicode", KAB_PLOT_HISTOGRAM, true },
	};
	struct made m = { 0 };

	(void)state;
	two_kernels(&m.rows);
	make(&m, KAB_PLOT_STRIP);
	for (size_t i = 0; i < KAB_ARRAY_SIZE(cases); i++) {
		struct kab_buf kab_autobuf out = KAB_BUF_INIT;

		again(&m, cases[i].kind);
		picture(&m.plots.v[0], cases[i].unicode, &out);
		compare(cases[i].name, &out);
	}
	done(&m);
}

/* The cell of a value on the axis from 10 to 17. */
static size_t cell(double value)
{
	double share = (value - 10) / 7;

	return value >= 17 ? CELLS - 1 : (size_t)(share * CELLS);
}

static void strip_positions(void **state)
{
	static const double base[] = { 10, 11, 12, 13, 17 }, patched[] = { 13, 14, 15, 16 };
	struct kab_buf kab_autobuf out = KAB_BUF_INIT;
	struct made m = { 0 };
	char *lines[7];

	(void)state;
	two_kernels(&m.rows);
	make(&m, KAB_PLOT_STRIP);
	picture(&m.plots.v[0], false, &out);
	for (size_t i = 0; i < 7; i++)
		lines[i] = line_of(kab_buf_str(&out), 6 + i);
	assert_int_equal(lines[0][0], 'x');
	assert_int_equal(lines[3][0], '+');
	for (size_t i = 0; i < KAB_ARRAY_SIZE(base); i++)
		assert_int_not_equal(at(lines[0], 2 + cell(base[i])), ' ');
	for (size_t i = 0; i < KAB_ARRAY_SIZE(patched); i++)
		assert_int_not_equal(at(lines[3], 2 + cell(patched[i])), ' ');
	/* Three values of 12 are the densest cell, one of 13 the thinnest. */
	assert_int_equal(at(lines[0], 2 + cell(12)), '@');
	assert_int_equal(at(lines[0], 2 + cell(13)), '.');
	assert_int_equal(at(lines[0], 2 + cell(10)), '+');
	/* Whiskers, box from 11 to 12; the mean 12 is drawn over the end of the box and the median. */
	assert_int_equal(at(lines[1], 2 + cell(10)), '|');
	assert_int_equal(at(lines[1], 2 + cell(17)), '|');
	assert_int_equal(at(lines[1], 2 + cell(11)), '[');
	assert_int_equal(at(lines[1], 2 + cell(12)), 'A');
	assert_int_equal(at(lines[1], 2 + cell(11.5)), '=');
	assert_int_equal(at(lines[1], 2 + cell(15)), '-');
	for (double mean = 11; mean <= 13; mean++)
		assert_int_equal(at(lines[2], 2 + cell(mean)), 'o');
	/* Its interval: 12 -+ t(0.95, 2) * 1/sqrt(3) = 4.30265 * 0.57735 = 2.48414. */
	assert_int_equal(at(lines[2], 2 + cell(12 + 2.48414)), ')');
	assert_int_equal(at(lines[2], 2), '<');
	assert_int_equal(at(lines[4], 2 + cell(14)), '[');
	assert_int_equal(at(lines[4], 2 + cell(15)), ']');
	assert_int_equal(at(lines[4], 2 + cell(14.5)), 'A');
	/* Ticks at every whole number. */
	for (double tick = 10; tick <= 17; tick++)
		assert_int_equal(at(lines[6], 2 + cell(tick)), '+');
	for (size_t i = 0; i < 7; i++)
		free(lines[i]);
	done(&m);
}

static void order_positions(void **state)
{
	/* In the order in which they are executed: boots of the two kernels in turn. */
	static const double values[] = {
		10, 11, 12, 13, 14, 15, 11, 12, 13, 14, 15, 16, 10, 12, 17
	};
	static const char marks[] = "xxx+++xxx+++xxx";
	struct kab_buf kab_autobuf out = KAB_BUF_INIT;
	struct made m = { 0 };

	(void)state;
	two_kernels(&m.rows);
	make(&m, KAB_PLOT_ORDER);
	picture(&m.plots.v[0], false, &out);
	for (size_t i = 0; i < KAB_ARRAY_SIZE(values); i++) {
		/* Labels "16", a blank, the axis: 68 columns and 16 rows from 10 to 17. */
		size_t column = 4 + (size_t)floor(((double)i + 0.5) / 15 * 68);
		double share = (values[i] - 10) / 7;
		size_t up = share >= 1 ? 15 : (size_t)floor(share * 16);
		char *line kab_autofree = line_of(kab_buf_str(&out), 6 + 15 - up);

		assert_int_equal(at(line, column), marks[i]);
	}
	/* Borders after 3, 6, 9 and 12. */
	for (size_t i = 3; i <= 12; i += 3) {
		char *line kab_autofree = line_of(kab_buf_str(&out), 6 + 15);

		assert_int_equal(at(line, 4 + (size_t)floor((double)i / 15 * 68)), ':');
	}
	done(&m);
}

static void histogram_counts(void **state)
{
	struct kab_bins b;
	struct made m = { 0 };

	(void)state;
	two_kernels(&m.rows);
	make(&m, KAB_PLOT_HISTOGRAM);
	assert_true(kab_bins_make(&m.plots.v[0], &b));
	/* At most ceil(2 * 9^(1/3)) = 5 ticks from 10 to 17: steps of 2, and the class above 16. */
	assert_int_equal(b.n, 4);
	for (size_t i = 0; i <= b.n; i++)
		assert_near(b.edges[i], 10 + 2 * (double)i, 1e-9);
	/* base: 10 10 11 11 | 12 12 12 13 | - | 17; patched: - | 13 | 14 14 15 15 | 16. */
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(b.count[i], ((const size_t[]){ 4, 4, 0, 1, 0, 1, 4, 1 })[i]);
	kab_bins_release(&b);
	done(&m);
}

static void cdf_positions(void **state)
{
	struct kab_buf kab_autobuf out = KAB_BUF_INIT;
	struct made m = { 0 };
	char *line;

	(void)state;
	two_kernels(&m.rows);
	make(&m, KAB_PLOT_CDF);
	picture(&m.plots.v[0], false, &out);
	/* Seven of nine values of base are at most 12: 77.8 %, row floor(0.778 * 16) = 12. Labels
	 * "100", so that 67 columns go from 10 to 17; the column that ends above 12.5. */
	line = line_of(kab_buf_str(&out), 7 + 15 - 12);
	assert_int_equal(at(line, 5 + (size_t)floor((12.5 - 10) / 7 * 67)), 'x');
	free(line);
	/* Half of patched is at most 14: row 8. */
	line = line_of(kab_buf_str(&out), 7 + 15 - 8);
	assert_int_equal(at(line, 5 + (size_t)floor((14.5 - 10) / 7 * 67)), '+');
	free(line);
	done(&m);
}

/* ---- sweeps ---- */

static void sweep_row(struct kab_row_list *rows, const char *key, double base, double patched)
{
	struct kab_row_data *row = rows_add(rows, "pipe", key, "time", "s", KAB_DIR_LOWER);
	struct kab_sample_set *set = row_kernel(row, "base");

	for (int b = 0; b < 3; b++)
		set_boot(set, b, (double[]){ base + b - 1 }, 1);
	set = row_kernel(row, "patched");
	if (patched > 0)
		for (int b = 0; b < 3; b++)
			set_boot(set, b, (double[]){ patched + b - 1 }, 1);
	else
		set->n_failed = set->n_planned = 3;
}

static void sweep(void **state)
{
	struct kab_buf kab_autobuf out = KAB_BUF_INIT;
	const struct kab_plot *plot;
	struct made m = { 0 };

	(void)state;
	/* Not in their order, one failed, and a second parameter that makes a second picture. */
	sweep_row(&m.rows, "groups=4,fds=20", 40, 30);
	sweep_row(&m.rows, "groups=1,fds=20", 10, 10);
	sweep_row(&m.rows, "groups=16,fds=20", 80, 70);
	sweep_row(&m.rows, "groups=8,fds=20", 60, 0);
	sweep_row(&m.rows, "groups=1,fds=40", 11, 12);
	make(&m, KAB_PLOT_SWEEP);
	assert_int_equal(m.plots.n, 2);
	plot = &m.plots.v[0];
	assert_string_equal(plot->title, "pipe/fds=20/time");
	assert_string_equal(plot->x_name, "groups");
	assert_false(plot->x_words);
	for (size_t i = 0; i < 4; i++)
		assert_near(plot->sets[0].points[i].x, ((const double[]){ 1, 4, 8, 16 })[i], 0);
	assert_true(isnan(plot->sets[1].points[2].value));
	assert_string_equal(plot->sets[1].points[2].word, "fail 3/3");
	/* 40 -+ 4.30265 * 1/sqrt(3) */
	assert_near(plot->sets[0].points[1].lo, 40 - 2.48414, 1e-4);
	assert_near(plot->sets[0].points[1].hi, 40 + 2.48414, 1e-4);
	picture(plot, false, &out);
	compare("sweep", &out);
	done(&m);
}

static void sweep_words(void **state)
{
	struct made m = { 0 };

	(void)state;
	sweep_row(&m.rows, "mode=pipe", 40, 30);
	sweep_row(&m.rows, "mode=socket", 10, 10);
	make(&m, KAB_PLOT_SWEEP);
	assert_int_equal(m.plots.n, 1);
	assert_true(m.plots.v[0].x_words);
	assert_string_equal(m.plots.v[0].sets[0].points[1].text, "socket");
	done(&m);
}

/* Within one boot there is an interval of the iterations, which is not one of boots: it is said. */
static void one_boot(void **state)
{
	static const double v[] = { 10, 11, 12, 13 };
	struct kab_buf kab_autobuf sweep_out = KAB_BUF_INIT, strip_out = KAB_BUF_INIT;
	struct made m = { 0 };

	(void)state;
	for (int i = 1; i < 3; i++) {
		char *key kab_autofree = kab_xasprintf("groups=%d", i);
		struct kab_row_data *row =
			rows_add(&m.rows, "pipe", key, "time", "s", KAB_DIR_LOWER);

		set_boot(row_kernel(row, "base"), 0, v, 4);
		set_boot(row_kernel(row, "patched"), 0, v, 4);
	}
	make(&m, KAB_PLOT_SWEEP);
	assert_true(m.plots.v[0].one_boot);
	picture(m.plots.v, false, &sweep_out);
	assert_non_null(
		strstr(kab_buf_str(&sweep_out), "(over iterations where there is only one)"));
	again(&m, KAB_PLOT_STRIP);
	picture(m.plots.v, false, &strip_out);
	assert_null(strstr(kab_buf_str(&strip_out), "interval"));
	kab_buf_clear(&strip_out);
	kab_plot_gnuplot(m.plots.v, 1, KAB_PLOT_SVG, &strip_out);
	assert_null(strstr(kab_buf_str(&strip_out), "$ci0_0"));
	done(&m);
}

static void no_sweep(void **state)
{
	const struct kab_judge_opts opts = KAB_JUDGE_OPTS_INIT;
	struct kab_err err = KAB_ERR_INIT;
	struct made m = { 0 };

	(void)state;
	two_kernels(&m.rows);
	assert_int_equal(kab_judge(&m.rows, &opts, &m.judgement, &err), 0);
	assert_int_equal(kab_plots_make(&m.judgement, KAB_PLOT_SWEEP, &everything, &m.plots, &err),
			 -1);
	assert_int_equal(err.code, KAB_ERR_NOT_FOUND);
	done(&m);
}

/* ---- axes ---- */

static bool is_round(double step)
{
	double unit = pow(10, floor(log10(step) + 1e-9)), times = step / unit;

	return fabs(times - 1) < 1e-6 || fabs(times - 2) < 1e-6 || fabs(times - 5) < 1e-6;
}

static void axes(void **state)
{
	struct kab_rng rng;

	(void)state;
	kab_rng_seed(&rng, 11);
	for (int i = 0; i < 20000; i++) {
		double scale = pow(10, 24 * kab_rng_uniform(&rng) - 12);
		double lo = scale * (kab_rng_uniform(&rng) - 0.5);
		double hi = lo + scale * pow(10, -7 * kab_rng_uniform(&rng));
		size_t max = 2 + (size_t)(14 * kab_rng_uniform(&rng));
		static const char *const units[] = { "s", "ns", "us", "1/s", "" };
		struct kab_axis a;

		kab_axis_make(lo, hi, units[i % 5], max, &a);
		assert_true(a.lo <= lo && a.hi >= hi && a.n_ticks <= max);
		for (size_t t = 0; t < a.n_ticks; t++) {
			assert_true(kab_axis_share(&a, a.ticks[t]) > -1e-6);
			assert_true(kab_axis_share(&a, a.ticks[t]) < 1 + 1e-6);
			assert_true(!t || a.ticks[t] > a.ticks[t - 1]);
		}
		if (!a.log && a.n_ticks > 1) {
			double step = (a.ticks[1] - a.ticks[0]) * a.factor;

			/* What is left of the digits of values that are close together. */
			if (hi - lo > 1e-6 * fmax(fabs(lo), fabs(hi)))
				assert_true(is_round(step * (1 + 1e-12)));
		}
		if (!a.log)
			assert_true(a.n_ticks >= (max >= 5 ? 2 : 0));
		assert_int_equal(kab_axis_cell(&a, a.lo, 50), 0);
		assert_int_equal(kab_axis_cell(&a, a.hi, 50), 49);
	}
}

static void units(void **state)
{
	static const struct {
		double lo, hi;
		const char *unit, *want;
		double factor;
	} cases[] = {
		{ 1, 2, "s", "s", 1 },
		{ 0.02, 0.05, "s", "ms", 1e3 },
		{ 3e-7, 3.2e-7, "s", "ns", 1e9 },
		{ 20000, 50000, "us", "ms", 1e-3 },
		{ 200, 5000, "us", "us", 1 },
		{ 1e9, 3e9, "ns", "s", 1e-9 },
		{ 3e9, 4e9, "1/s", "10^9 1/s", 1e-9 },
		{ 3e-5, 4e-5, "J", "10^-6 J", 1e6 },
		{ 100, 999999, "1/s", "1/s", 1 },
		{ 2e6, 5e6, "", "10^6", 1e-6 },
		{ 20000, 50000, "s", "s", 1 },
		{ -4e6, 2, "KB", "10^6 KB", 1e-6 },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(cases); i++) {
		struct kab_axis a;

		kab_axis_make(cases[i].lo, cases[i].hi, cases[i].unit, 8, &a);
		assert_string_equal(a.unit, cases[i].want);
		assert_near(a.factor / cases[i].factor, 1, 1e-9);
	}
}

static void logarithmic(void **state)
{
	struct kab_axis a;

	(void)state;
	kab_axis_make(1, 100, "s", 8, &a);
	assert_false(a.log);
	kab_axis_make(1, 101, "s", 8, &a);
	assert_true(a.log);
	kab_axis_make(0, 1000, "s", 8, &a);
	assert_false(a.log);
	kab_axis_make(0.5, 5000, "s", 8, &a);
	assert_int_equal(a.n_ticks, 4);
	for (size_t i = 0; i < 4; i++)
		assert_near(a.ticks[i], pow(10, (double)i), 1e-6);
	/* 50 is half of the way from 0.5 to 5000. */
	assert_int_equal(kab_axis_cell(&a, 50.001, 100), 50);
	kab_axis_make_linear(1, 1000, "", 8, &a);
	assert_false(a.log);
}

/* ---- sparklines and histories ---- */

static void sparkline(void **state)
{
	const double v[] = { 1, 2, 3, 4, 5, NAN, 3, NAN, 1 };
	const bool failed[] = { false, false, false, false, false, false, false, true, false };
	const double flat[] = { 7, 7, 7 }, pairs[] = { 0, 2, 4, 6, 8, 10 };
	struct kab_buf kab_autobuf out = KAB_BUF_INIT;

	(void)state;
	/* Five levels from 1 to 5: floor((v - 1)/4 * 5), at most 4. */
	kab_plot_sparkline(v, failed, 9, 40, false, &out);
	assert_string_equal(kab_buf_str(&out), "_.-~^ -!_");
	kab_buf_clear(&out);
	kab_plot_sparkline(flat, NULL, 3, 40, false, &out);
	assert_string_equal(kab_buf_str(&out), "---");
	kab_buf_clear(&out);
	/* Means 1, 5, 9 of pairs between 0 and 10. */
	kab_plot_sparkline(pairs, NULL, 6, 3, false, &out);
	assert_string_equal(kab_buf_str(&out), "_-^");
	kab_buf_clear(&out);
	kab_plot_sparkline(v, failed, 5, 5, true, &out);
	/* Eight levels: floor(0, 2, 4, 6, 8 at most 7). */
	assert_string_equal(kab_buf_str(&out), "\u2581\u2583\u2585\u2587\u2588");
	kab_buf_clear(&out);
	kab_plot_sparkline(v, NULL, 0, 5, false, &out);
	assert_string_equal(kab_buf_str(&out), "");
}

#define DAY 86400.0
/* 2026-01-01 */
#define FIRST 1767225600.0

static void history_plot(struct kab_plot *plot)
{
	kab_plot_history_begin(plot, "hackbench on box", "time", "", KAB_DIR_LOWER, 0.95);
	for (int i = 0; i < 12; i++) {
		double t = FIRST + i * DAY;

		if (i == 4)
			kab_plot_history_gap(plot, 0, "ref 6.12", t, true, NULL);
		else if (i == 5)
			kab_plot_history_gap(plot, 0, "ref 6.12", t, false, NULL);
		else if (i < 8)
			kab_plot_history_add(plot, 0, "ref 6.12", t, 1 + 0.01 * i, 0.99 + 0.01 * i,
					     1.01 + 0.01 * i);
		else
			kab_plot_history_add(plot, 1, "ref 6.13", t, 0.9, NAN, NAN);
	}
}

static void history(void **state)
{
	struct kab_buf kab_autobuf out = KAB_BUF_INIT, script = KAB_BUF_INIT;
	struct kab_plot plot;

	(void)state;
	history_plot(&plot);
	assert_int_equal(plot.n_sets, 2);
	assert_int_equal(plot.n_values, 10);
	picture(&plot, false, &out);
	compare("history", &out);
	kab_plot_gnuplot(&plot, 1, KAB_PLOT_SVG, &script);
	assert_non_null(strstr(kab_buf_str(&script), "title '1 failed'"));
	assert_non_null(strstr(kab_buf_str(&script), "title '1 missing'"));
	/* The curve ends before the gap and begins after it. */
	assert_non_null(strstr(kab_buf_str(&script), "1767484800 1.03 1.02 1.04\n\n\n1767744000 "));
	kab_plot_release(&plot);
}

/* ---- scripts ---- */

static void quoting(void **state)
{
	static const char *const names[] = {
		"it's", "a\"b\\", "`id`", "$(id)", "@x^2_{3}", "%s %d", "x\ny", "end'\nsystem 'id'",
		"EOD",
	};
	struct kab_buf kab_autobuf out = KAB_BUF_INIT;
	struct made m = { 0 };

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(names); i++) {
		struct kab_row_data *row =
			rows_add(&m.rows, names[i], "", "time", "s", KAB_DIR_LOWER);
		const double v[] = { 1, 2, 3 };

		set_boot(row_kernel(row, names[i]), 0, v, 3);
	}
	make(&m, KAB_PLOT_STRIP);
	kab_plot_gnuplot(m.plots.v, m.plots.n, KAB_PLOT_SVG, &out);
	assert_non_null(strstr(kab_buf_str(&out), "'it''s/time'"));
	assert_non_null(strstr(kab_buf_str(&out), "'a\"b\\/time'"));
	assert_non_null(strstr(kab_buf_str(&out), "('%%s %%d' 1)"));
	/* No line of the script begins outside of what we write: a name never starts one. */
	assert_null(strstr(kab_buf_str(&out), "\nsystem"));
	assert_null(strstr(kab_buf_str(&out), "\ny"));
	assert_non_null(strstr(kab_buf_str(&out), "'end'' system ''id''/time'"));
	done(&m);
}

static void colours_stay(void **state)
{
	struct kab_buf kab_autobuf out = KAB_BUF_INIT, text = KAB_BUF_INIT;
	const double v[] = { 1, 2, 3 };
	struct kab_row_data *row;
	struct made m = { 0 };

	(void)state;
	row = rows_add(&m.rows, "pipe", "", "time", "s", KAB_DIR_LOWER);
	row_kernel(row, "one");
	row_kernel(row, "two")->n_failed = 1;
	set_boot(row_kernel(row, "three"), 0, v, 3);
	make(&m, KAB_PLOT_CDF);
	assert_int_equal(m.plots.v[0].sets[2].kernel, 2);
	picture(&m.plots.v[0], false, &text);
	assert_non_null(strstr(kab_buf_str(&text), "* three  3 in 1 boot"));
	assert_non_null(strstr(kab_buf_str(&text), "+ two    fail 1/1"));
	assert_non_null(strstr(kab_buf_str(&text), "not measured here: 1 other kernel\n"));
	kab_plot_gnuplot(m.plots.v, 1, KAB_PLOT_PNG, &out);
	/* The third of the palette, the third mark, the third dash. */
	assert_non_null(strstr(kab_buf_str(&out), "with steps lw 2 dt 3 lc rgb '#009e73'"));
	assert_non_null(strstr(kab_buf_str(&out), "title 'two: fail 1/1'"));
	done(&m);
}

static void same_bytes(void **state)
{
	(void)state;
	for (int kind = 0; kind < KAB_PLOT_HISTORY; kind++) {
		struct kab_buf kab_autobuf a = KAB_BUF_INIT, b = KAB_BUF_INIT;
		struct made m = { 0 }, n = { 0 };

		if (kind == KAB_PLOT_SWEEP)
			continue;
		two_kernels(&m.rows);
		two_kernels(&n.rows);
		make(&m, (enum kab_plot_kind)kind);
		make(&n, (enum kab_plot_kind)kind);
		picture(m.plots.v, true, &a);
		kab_plot_gnuplot(m.plots.v, 1, KAB_PLOT_SVG, &a);
		picture(n.plots.v, true, &b);
		kab_plot_gnuplot(n.plots.v, 1, KAB_PLOT_SVG, &b);
		assert_string_equal(kab_buf_str(&a), kab_buf_str(&b));
		done(&m);
		done(&n);
	}
}

/* ---- whatever the data ---- */

static void random_name(struct kab_rng *rng, char *text, size_t max)
{
	size_t n = 1 + (size_t)((double)max * kab_rng_uniform(rng));

	for (size_t i = 0; i < n; i++)
		text[i] = (char)(33 + (int)(94 * kab_rng_uniform(rng)));
	text[n] = '\0';
	/* The parts of a row's key. */
	for (char *p = text; *p; p++)
		if (*p == ',' || *p == '=')
			*p = '-';
}

static void random_row(struct kab_rng *rng, struct kab_row_list *rows, size_t kernels,
		       const char *metric, int number)
{
	static const char *const units_table[] = { "s", "ns", "1/s", "", "KB" };
	double scale = pow(10, 20 * kab_rng_uniform(rng) - 10);
	double shift = kab_rng_uniform(rng) < 0.3 ? -scale / 2 : 0;
	bool spread = kab_rng_uniform(rng) < 0.2, equal = kab_rng_uniform(rng) < 0.1;
	char *key kab_autofree = kab_xasprintf("n=%d", 1 << number);
	struct kab_row_data *row = rows_add(rows, "case-of-a-long-name", key, metric,
					    units_table[(size_t)(5 * kab_rng_uniform(rng))],
					    (enum kab_direction)(3 * kab_rng_uniform(rng)));

	for (size_t k = 0; k < kernels; k++) {
		char *name kab_autofree = kab_xasprintf("%zu-%s", k, metric);
		struct kab_sample_set *set = row_kernel(row, name);
		size_t boots = (size_t)(8 * kab_rng_uniform(rng));

		if (!boots)
			set->n_failed = set->n_planned = 2;
		for (size_t b = 0; b < boots; b++) {
			double v[12];
			size_t n = (size_t)(13 * kab_rng_uniform(rng));

			for (size_t i = 0; i < n; i++) {
				double r = equal ? 0.5 : kab_rng_uniform(rng);

				v[i] = (spread ? pow(r, 12) : r) * scale + shift;
			}
			set_boot(set, (int)b, v, n);
		}
	}
	interleave(row);
}

static void check_text(const char *text)
{
	for (const char *line = text; *line;) {
		size_t n = strcspn(line, "\n");

		if (n > 76)
			fail_msg("%zu columns: %.*s", n, (int)n, line);
		if (n && line[n - 1] == ' ')
			fail_msg("a blank at the end: '%.*s'", (int)n, line);
		for (size_t i = 0; i < n; i++)
			assert_true(line[i] >= ' ' && line[i] <= '~');
		assert_int_equal(line[n], '\n');
		line += n + 1;
	}
}

static void any_data_fits(void **state)
{
	struct kab_rng rng;

	(void)state;
	kab_rng_seed(&rng, 20261201);
	for (int trial = 0; trial < 60; trial++) {
		size_t kernels = 1 + (size_t)(12 * kab_rng_uniform(&rng));
		char metric[64];
		struct made m = { 0 };

		random_name(&rng, metric, 50);
		for (int i = 0; i < 3; i++)
			random_row(&rng, &m.rows, kernels, metric, i);
		make(&m, KAB_PLOT_STRIP);
		for (int kind = 0; kind < KAB_PLOT_HISTORY; kind++) {
			again(&m, (enum kab_plot_kind)kind);
			for (size_t i = 0; i < m.plots.n; i++) {
				struct kab_buf kab_autobuf out = KAB_BUF_INIT;
				struct kab_buf kab_autobuf other = KAB_BUF_INIT;

				picture(&m.plots.v[i], false, &out);
				check_text(kab_buf_str(&out));
				picture(&m.plots.v[i], true, &other);
				kab_plot_gnuplot(&m.plots.v[i], 1, KAB_PLOT_SVG, &other);
			}
		}
		done(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden),	   cmocka_unit_test(strip_positions),
		cmocka_unit_test(order_positions), cmocka_unit_test(histogram_counts),
		cmocka_unit_test(cdf_positions),   cmocka_unit_test(sweep),
		cmocka_unit_test(sweep_words),	   cmocka_unit_test(no_sweep),
		cmocka_unit_test(one_boot),	   cmocka_unit_test(axes),
		cmocka_unit_test(units),	   cmocka_unit_test(logarithmic),
		cmocka_unit_test(sparkline),	   cmocka_unit_test(history),
		cmocka_unit_test(quoting),	   cmocka_unit_test(colours_stay),
		cmocka_unit_test(same_bytes),	   cmocka_unit_test(any_data_fits),
	};

	kab_stats_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
