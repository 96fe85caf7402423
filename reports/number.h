/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers as text: decided once per cell, the same everywhere. The C locale's point always; never
 * "-0.00"; halves are rounded away from zero on the exact value of the double (0.125 is 0.13 and
 * 0.15, which is a little less than it looks, is 0.1).
 */
#ifndef KAB_REPORTS_NUMBER_H
#define KAB_REPORTS_NUMBER_H

#include "base/buf.h"

/* No value needs more than this many decimals in a table. */
#define KAB_DECIMALS_MAX 9

/* Fixed notation with 0..17 decimals; "n/a" when not finite. `plus` puts a + before positive
 * numbers (zero included: "+0.00"). */
void kab_number_fixed(struct kab_buf *buf, double value, int decimals, bool plus);
/* The shortest text that reads back as the same double ("0.1", "12.5", "3e-07"). */
void kab_number_shortest(struct kab_buf *buf, double value);
/* How many decimals the shortest fixed notation of the value has, at most `max`. */
int kab_number_decimals(double value, int max);
/*
 * The decimals that an uncertainty supports: two significant digits of the half width (0.0219
 * supports 3, 1.8 supports 1, 240 supports 0), at most `max`. Half width 0 or not finite: -1, the
 * caller decides by the value.
 */
int kab_number_supported(double half_width, int max);
/* Decimals that show `digits` significant digits of the value, 0..KAB_DECIMALS_MAX. */
int kab_number_significant(double value, int digits);

#endif
