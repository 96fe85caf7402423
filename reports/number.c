/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reports/number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A double is half way between two numbers of d decimals only if d + 1 binary places hold it. */
static bool is_tie(double magnitude, int decimals)
{
	double scaled = ldexp(magnitude, decimals + 1);

	return isfinite(scaled) && scaled == floor(scaled);
}

/* Add one unit in the last place of a decimal text; room for one more digit is the caller's. */
static void increment(char *text)
{
	size_t n = strlen(text);

	for (size_t i = n; i-- > 0;) {
		if (text[i] == '.')
			continue;
		if (text[i] != '9') {
			text[i]++;
			return;
		}
		text[i] = '0';
	}
	memmove(text + 1, text, n + 1);
	text[0] = '1';
}

void kab_number_fixed(struct kab_buf *buf, double value, int decimals, bool plus)
{
	char text[DBL_MAX_10_EXP + 64];
	double magnitude = fabs(value);

	if (!isfinite(value)) {
		kab_buf_adds(buf, "n/a");
		return;
	}
	if (decimals < 0)
		decimals = 0;
	if (decimals > 17)
		decimals = 17;
	snprintf(text, sizeof(text), "%.*f", decimals, magnitude);
	if (is_tie(magnitude, decimals)) {
		char exact[sizeof(text)];
		size_t n;

		/* Exact here, because the value has no more places than this. */
		snprintf(exact, sizeof(exact), "%.*f", decimals + 1, magnitude);
		n = strlen(exact);
		if (exact[n - 1] == '5') {
			exact[decimals ? n - 1 : n - 2] = '\0';
			increment(exact);
			memcpy(text, exact, strlen(exact) + 1);
		}
	}
	if (value < 0 && strspn(text, "0.") != strlen(text))
		kab_buf_addc(buf, '-');
	else if (plus)
		kab_buf_addc(buf, '+');
	kab_buf_adds(buf, text);
}

void kab_number_shortest(struct kab_buf *buf, double value)
{
	char text[64];

	if (!isfinite(value)) {
		kab_buf_adds(buf, "n/a");
		return;
	}
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	/* %g turns to exponents early; whole numbers up to 15 digits read better as they are. */
	if (strchr(text, 'e') && fabs(value) < 1e15 && value == floor(value))
		snprintf(text, sizeof(text), "%.0f", value);
	kab_buf_adds(buf, strcmp(text, "-0") == 0 ? "0" : text);
}

int kab_number_decimals(double value, int max)
{
	char text[DBL_MAX_10_EXP + 64];

	if (!isfinite(value))
		return 0;
	for (int d = 0; d < max; d++) {
		snprintf(text, sizeof(text), "%.*f", d, value);
		if (strtod(text, NULL) == value)
			return d;
	}
	return max;
}

int kab_number_supported(double half_width, int max)
{
	int decimals;

	if (!isfinite(half_width) || half_width <= 0)
		return -1;
	decimals = 1 - (int)floor(log10(half_width));
	return decimals < 0 ? 0 : decimals > max ? max : decimals;
}

int kab_number_significant(double value, int digits)
{
	int decimals;

	if (!isfinite(value) || value == 0)
		return 0;
	decimals = digits - 1 - (int)floor(log10(fabs(value)));
	return decimals < 0 ? 0 : decimals > KAB_DECIMALS_MAX ? KAB_DECIMALS_MAX : decimals;
}
