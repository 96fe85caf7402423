/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "reports/number.h"

/* Expected texts are the exact decimal expansions rounded half away from zero (Python's Decimal of
 * the double, quantize with ROUND_HALF_UP). */
static void fixed(void **state)
{
	static const struct {
		double value;
		int decimals;
		bool plus;
		const char *text;
	} cases[] = {
		{ 0.125, 2, false, "0.13" },	{ -0.125, 2, false, "-0.13" },
		{ 2.5, 0, false, "3" },		{ 1.5, 0, false, "2" },
		{ 0.15, 1, false, "0.1" },	{ 0.45, 1, false, "0.5" },
		{ 2.675, 2, false, "2.67" },	{ 30.767, 2, true, "+30.77" },
		{ -0.001, 2, false, "0.00" },	{ -0.001, 2, true, "+0.00" },
		{ -0.0, 2, true, "+0.00" },	{ 999.9995, 3, false, "1000.000" },
		{ 9.5, 0, false, "10" },	{ 1e15, 1, false, "1000000000000000.0" },
		{ 0.0625, 3, false, "0.063" },	{ -992.58, 1, true, "-992.6" },
		{ NAN, 2, false, "n/a" },	{ INFINITY, 0, true, "n/a" },
		{ 99.995, 2, false, "100.00" }, { 1.005, 2, false, "1.00" },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(cases); i++) {
		struct kab_buf kab_autobuf buf = KAB_BUF_INIT;

		kab_number_fixed(&buf, cases[i].value, cases[i].decimals, cases[i].plus);
		assert_string_equal(kab_buf_str(&buf), cases[i].text);
	}
}

static void shortest(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{ 0.1, "0.1" },
		{ 19961.133333, "19961.133333" },
		{ 1e6, "1000000" },
		{ 256000, "256000" },
		{ 1e22, "1e+22" },
		{ 3e-7, "3e-07" },
		{ 0, "0" },
		{ -0.0, "0" },
		{ 1.0 / 3, "0.3333333333333333" },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(cases); i++) {
		struct kab_buf kab_autobuf buf = KAB_BUF_INIT;

		kab_number_shortest(&buf, cases[i].value);
		assert_string_equal(kab_buf_str(&buf), cases[i].text);
	}
}

static void decimals(void **state)
{
	(void)state;
	assert_int_equal(kab_number_supported(0.0219, 9), 3);
	assert_int_equal(kab_number_supported(1.8, 9), 1);
	assert_int_equal(kab_number_supported(240, 9), 0);
	assert_int_equal(kab_number_supported(0.0001, 2), 2);
	assert_int_equal(kab_number_supported(0, 9), -1);
	assert_int_equal(kab_number_supported(NAN, 9), -1);
	assert_int_equal(kab_number_decimals(20427.5, 6), 1);
	assert_int_equal(kab_number_decimals(20903.42, 6), 2);
	assert_int_equal(kab_number_decimals(19058, 6), 0);
	assert_int_equal(kab_number_decimals(1.0 / 3, 6), 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixed),
		cmocka_unit_test(shortest),
		cmocka_unit_test(decimals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
