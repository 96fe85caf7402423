/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files that find tables; nobody else includes this. */
#ifndef KAB_EXCHANGE_TABLES_INTERNAL_H
#define KAB_EXCHANGE_TABLES_INTERNAL_H

#include "exchange/tables.h"

/* A piece of a line: [from, to). */
struct kab_piece {
	size_t from, to;
};
struct kab_pieces {
	struct kab_piece *v;
	size_t n, cap;
};
/* Pieces between two or more blanks or a tab; `single`: between any blanks. */
void kab_pieces_split(const char *s, size_t len, bool single, struct kab_pieces *ret);

/* A line of rules: only -=~_*.+|x: and blanks, and at least three - or = or the like. */
bool kab_line_is_rule(const char *s, size_t len);
bool kab_line_is_blank(const char *s, size_t len);
char *kab_line_trimmed(const char *s, size_t len); /* caller frees */

/*
 * Finders. Each looks at lines from `at` on and, if a table begins there, fills *ret and returns the
 * line behind it; else it returns `at`. `after`: lines before this one belong to another table.
 */
size_t kab_find_ruled(const struct kab_mail_lines *lines, size_t at, size_t after,
		      struct kab_mail_table *ret);
size_t kab_find_aligned(const struct kab_mail_lines *lines, size_t at, size_t after,
			struct kab_mail_table *ret);
size_t kab_find_describe(const struct kab_mail_lines *lines, size_t at, size_t after,
			 struct kab_mail_table *ret);
size_t kab_find_output(const struct kab_mail_lines *lines, size_t at, size_t after,
		       struct kab_mail_table *ret);

struct kab_mail_column *kab_table_add_column(struct kab_mail_table *t,
					     enum kab_mail_column_role role,
					     enum kab_item_kind kind, int owner, int cell,
					     const char *head);
/* A row with room for one item per column. */
struct kab_mail_row *kab_table_add_row(struct kab_mail_table *t, const char *label, size_t line);
/* Remove column c and its items; owners are renumbered. */
void kab_table_drop_column(struct kab_mail_table *t, size_t c);
/* Title, context, n, direction and the roles of columns, from the lines above and the heads. */
void kab_table_describe(const struct kab_mail_lines *lines, size_t after, size_t head_from,
			struct kab_mail_table *t);
void kab_mail_table_release(struct kab_mail_table *t);

#endif
