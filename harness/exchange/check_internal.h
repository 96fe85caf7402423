/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files that check tables; nobody else includes this. */
#ifndef KAB_EXCHANGE_CHECK_INTERNAL_H
#define KAB_EXCHANGE_CHECK_INTERNAL_H

#include "exchange/check.h"

void kab_check_add(struct kab_check *check, enum kab_check_severity severity, int table,
		   const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Percentages of table t. */
void kab_check_percents(const struct kab_mail_tables *tables, size_t t, struct kab_check *ret);
/* Means, standard deviations, tests; then what would be percentages where none are printed. */
void kab_check_statistics(const struct kab_mail_tables *tables, struct kab_check *ret);
/* What is said in words: findings of everything above, and of the prose. */
void kab_check_findings(const struct kab_mail_lines *lines, const struct kab_mail_tables *tables,
			struct kab_check *ret);

/* A column of values to be compared (no spread, count or single statistic, nothing attached). */
bool kab_check_is_value(const struct kab_mail_table *t, size_t c);
/* Does a label name the kernel before, or after a change? */
bool kab_check_is_base(const char *label);
bool kab_check_is_test(const char *label);
/* "Old: 1 thread" and "New: 1 thread": which label is the base of label i; -1 none (it is one). */
int kab_check_base_of(char *const *labels, size_t n, size_t i);
/* Direction of a column and row: by their words, else the table's. */
int kab_check_direction(const struct kab_mail_table *t, size_t row, size_t column);

#endif
