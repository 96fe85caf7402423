/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables with bars between the cells: grids, org mode, markdown. */
#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "exchange/tables_internal.h"

#define CELLS_MAX 40
#define CELL_ITEMS_MAX 6

struct cells {
	struct kab_piece v[CELLS_MAX]; /* between the bars, blanks included */
	size_t n;
	struct kab_piece trail; /* behind the last bar */
};

static size_t first_char(const struct kab_mail_line *line)
{
	size_t i = 0;

	while (i < line->len && isspace((unsigned char)line->text[i]))
		i++;
	return i;
}

/* +---+, x---x, |---+---| */
static bool is_rule_line(const struct kab_mail_line *line)
{
	size_t i = first_char(line);

	return i < line->len && strchr("+x|", line->text[i]) &&
	       kab_line_is_rule(line->text, line->len) &&
	       (memchr(line->text, '-', line->len) || memchr(line->text, '=', line->len));
}

static bool is_bar_line(const struct kab_mail_line *line)
{
	size_t i = first_char(line);
	const char *bar = i < line->len ? memchr(line->text + i + 1, '|', line->len - i - 1) : NULL;

	return i < line->len && line->text[i] == '|' && bar;
}

static void split(const struct kab_mail_line *line, struct cells *ret)
{
	size_t from = first_char(line) + 1;

	ret->n = 0;
	for (size_t i = from; i < line->len && ret->n < CELLS_MAX; i++) {
		/* Corners of a partial rule end cells, too. */
		if (line->text[i] != '|' &&
		    !(line->text[i] == '+' && ((i && line->text[i - 1] == '-') ||
					       (i + 1 < line->len && line->text[i + 1] == '-'))))
			continue;
		ret->v[ret->n++] = (struct kab_piece){ from, i };
		from = i + 1;
	}
	ret->trail = (struct kab_piece){ from < line->len ? from : line->len, line->len };
}

/* The items of a cell, when it consists of nothing else. */
static size_t cell_items(const struct kab_mail_line *line, struct kab_piece cell, bool comma,
			 struct kab_item items[CELL_ITEMS_MAX])
{
	size_t i = cell.from, n = 0;

	while (i < cell.to) {
		size_t e;

		if (isspace((unsigned char)line->text[i])) {
			i++;
			continue;
		}
		if (n == CELL_ITEMS_MAX)
			return 0;
		e = kab_item_scan(line->text, cell.to, i, comma, &items[n]);
		if (!e)
			return 0;
		n++;
		i = e;
	}
	return n;
}

/* "50%", "99%" in a head name a percentile. */
static bool is_percentile_name(const struct kab_item *item)
{
	return item->kind == KAB_ITEM_PERCENT && isdigit((unsigned char)item->printed[0]) &&
	       (!item->decimals || item->value > 99) && item->value >= 1 && item->value < 100;
}

static bool overlaps(struct kab_piece a, struct kab_piece b)
{
	return a.from < b.to && b.from < a.to;
}

/* What the lines of heads say about body cell c. */
static char *head_of(const struct kab_mail_lines *lines, size_t from, size_t to, size_t n_cells,
		     size_t c, struct kab_piece place)
{
	struct kab_buf kab_autobuf head = KAB_BUF_INIT;

	for (size_t i = from; i < to; i++) {
		const struct kab_mail_line *line = &lines->v[i];
		struct cells cells;

		if (is_rule_line(line) || !is_bar_line(line))
			continue;
		split(line, &cells);
		for (size_t k = 0; k < cells.n; k++) {
			char *text;

			if (cells.n == n_cells ? k != c : !overlaps(cells.v[k], place))
				continue;
			text = kab_line_trimmed(line->text + cells.v[k].from,
						cells.v[k].to - cells.v[k].from);
			if (*text && strspn(text, "-=+") < strlen(text))
				kab_buf_addf(&head, "%s%s", head.len ? " " : "", text);
			free(text);
			break;
		}
	}
	return kab_xstrdup(kab_buf_str(&head));
}

struct body {
	size_t *line; /* rows with the full number of cells and a number */
	size_t n;
	size_t n_cells;
	size_t head_to; /* first line that is no head */
};

static void find_body(const struct kab_mail_lines *lines, size_t from, size_t to, bool comma,
		      struct body *body)
{
	struct cells cells;

	for (size_t i = from; i < to; i++) {
		if (is_rule_line(&lines->v[i]))
			continue;
		split(&lines->v[i], &cells);
		if (cells.n > body->n_cells)
			body->n_cells = cells.n;
	}
	body->head_to = to;
	for (size_t i = from; i < to; i++) {
		struct kab_item items[CELL_ITEMS_MAX];
		bool number = false, words = true;

		if (is_rule_line(&lines->v[i]))
			continue;
		split(&lines->v[i], &cells);
		if (cells.n != body->n_cells)
			continue;
		for (size_t c = 0; c < cells.n; c++)
			number = number || (cell_items(&lines->v[i], cells.v[c], comma, items) &&
					    (body->n || !is_percentile_name(&items[0])));
		words = !number;
		if (words)
			continue;
		if (!body->n)
			body->head_to = i;
		body->line = kab_xreallocarray(body->line, body->n + 1, sizeof(*body->line));
		body->line[body->n++] = i;
	}
}

/* The columns of body cell c: as many as its richest cell has items; 0: it is a label. */
static void add_columns(const struct kab_mail_lines *lines, const struct body *body, size_t c,
			bool comma, const char *head, struct kab_mail_table *t)
{
	struct kab_item best[CELL_ITEMS_MAX];
	size_t n_best = 0, with = 0, filled = 0;
	int owner = -1, previous = -1;

	for (size_t k = 0; k < t->n_cols; k++)
		if (t->cols[k].kind == KAB_ITEM_VALUE)
			previous = (int)k;
	for (size_t r = 0; r < body->n; r++) {
		const struct kab_mail_line *line = &lines->v[body->line[r]];
		struct kab_item items[CELL_ITEMS_MAX];
		struct cells cells;
		size_t n;

		split(line, &cells);
		n = cell_items(line, cells.v[c], comma, items);
		with += n > 0;
		filled += !kab_line_is_blank(line->text + cells.v[c].from,
					     cells.v[c].to - cells.v[c].from);
		if (n > n_best) {
			n_best = n;
			memcpy(best, items, sizeof(best));
		}
	}
	if (!with || 2 * with < filled)
		return;
	for (size_t i = 0; i < n_best; i++) {
		int at = (int)t->n_cols;
		bool value = best[i].kind == KAB_ITEM_VALUE;

		if (value)
			owner = at;
		kab_table_add_column(t, value ? KAB_MAIL_COLUMN_VALUE : KAB_MAIL_COLUMN_ATTACHED,
				     best[i].kind,
				     value	  ? -1
				     : owner >= 0 ? owner
						  : previous,
				     (int)c, head);
	}
}

static char *label_of(const struct kab_mail_line *line, const struct cells *cells,
		      const bool *label_cell)
{
	struct kab_buf kab_autobuf label = KAB_BUF_INIT;

	for (size_t c = 0; c < cells->n; c++) {
		char *text kab_autofree = NULL;

		if (!label_cell[c])
			continue;
		text = kab_line_trimmed(line->text + cells->v[c].from,
					cells->v[c].to - cells->v[c].from);
		if (*text)
			kab_buf_addf(&label, "%s%s", label.len ? " " : "", text);
	}
	return kab_xstrdup(kab_buf_str(&label));
}

static void add_row(const struct kab_mail_lines *lines, size_t at, bool comma,
		    const bool *label_cell, struct kab_mail_table *t)
{
	const struct kab_mail_line *line = &lines->v[at];
	char *label kab_autofree = NULL, *trail kab_autofree = NULL;
	struct kab_mail_row *row;
	struct cells cells;

	split(line, &cells);
	label = label_of(line, &cells, label_cell);
	trail = kab_line_trimmed(line->text + cells.trail.from, cells.trail.to - cells.trail.from);
	row = kab_table_add_row(t, *trail && !*label ? trail : label, at);
	if (kab_words_have(trail, "average") || kab_words_have(trail, "mean") ||
	    kab_words_have(trail, "avg"))
		row->summary = 'm';
	else if (kab_words_spread(trail))
		row->summary = 's';
	for (size_t c = 0; c < cells.n; c++) {
		struct kab_item items[CELL_ITEMS_MAX];
		size_t n = cell_items(line, cells.v[c], comma, items), k = 0;

		for (size_t i = 0; i < n; i++) {
			while (k < t->n_cols &&
			       (t->cols[k].cell != (int)c || t->cols[k].kind != items[i].kind ||
				row->items[k].present))
				k++;
			if (k == t->n_cols)
				break;
			row->items[k] = items[i];
		}
	}
}

static enum kab_mail_table_style style_of(const struct kab_mail_lines *lines, size_t from,
					  size_t to)
{
	enum kab_mail_table_style style = KAB_MAIL_TABLE_GRID;

	for (size_t i = from; i < to; i++) {
		const struct kab_mail_line *line = &lines->v[i];
		size_t c = first_char(line);

		if (!is_rule_line(line))
			continue;
		if (line->text[c] != '|')
			return KAB_MAIL_TABLE_GRID;
		style = memchr(line->text, '+', line->len) ? KAB_MAIL_TABLE_ORG
							   : KAB_MAIL_TABLE_MARKDOWN;
	}
	return style;
}

/* A cell of the left that is empty belongs to the same group as the one above. */
static void inherit_labels(const struct kab_mail_lines *lines, const struct body *body,
			   const bool *label_cell, struct kab_mail_table *t)
{
	char *above = NULL;

	if (!body->n_cells || !label_cell[0] || body->n_cells < 2 || !label_cell[1])
		return;
	for (size_t r = 0; r < t->n_rows; r++) {
		const struct kab_mail_line *line = &lines->v[t->rows[r].line];
		struct cells cells;
		char *text, *label;

		split(line, &cells);
		text = kab_line_trimmed(line->text + cells.v[0].from,
					cells.v[0].to - cells.v[0].from);
		if (*text) {
			free(above);
			above = text;
			continue;
		}
		free(text);
		if (!above)
			continue;
		label = kab_xasprintf("%s %s", above, t->rows[r].label);
		free(t->rows[r].label);
		t->rows[r].label = label;
	}
	free(above);
}

size_t kab_find_ruled(const struct kab_mail_lines *lines, size_t at, size_t after,
		      struct kab_mail_table *ret)
{
	bool label_cell[CELLS_MAX] = { false }, comma = false;
	struct body body = { 0 };
	struct cells first;
	size_t end = at, bars = 0;

	while (end < lines->n && lines->v[end].depth == lines->v[at].depth &&
	       (is_rule_line(&lines->v[end]) || is_bar_line(&lines->v[end]))) {
		bars += !is_rule_line(&lines->v[end]);
		comma = comma || kab_item_comma_is_decimal(lines->v[end].text, lines->v[end].len);
		end++;
	}
	if (bars < 2)
		return at;
	find_body(lines, at, end, comma, &body);
	if (!body.n) {
		free(body.line);
		return at;
	}
	ret->depth = lines->v[at].depth;
	ret->decimal_comma = comma;
	split(&lines->v[body.line[0]], &first);
	for (size_t c = 0; c < body.n_cells; c++) {
		char *head kab_autofree =
			head_of(lines, at, body.head_to, body.n_cells, c, first.v[c]);
		size_t before = ret->n_cols;

		add_columns(lines, &body, c, comma, head, ret);
		label_cell[c] = ret->n_cols == before;
		/* Counts of tasks and the like name the row. */
		if (!label_cell[c] && ret->cols[before].kind == KAB_ITEM_VALUE && before == 0 &&
		    ret->n_cols == 1 && kab_words_is_label(head)) {
			kab_table_drop_column(ret, 0);
			label_cell[c] = true;
		}
	}
	for (size_t r = 0; r < body.n; r++)
		add_row(lines, body.line[r], comma, label_cell, ret);
	ret->first_line = at;
	ret->last_line = end - 1;
	ret->style = style_of(lines, at, end);
	inherit_labels(lines, &body, label_cell, ret);
	free(body.line);
	if (ret->n_cols && ret->cols[0].kind == KAB_ITEM_PERCENT)
		ret->style = KAB_MAIL_TABLE_FASTPATH;
	kab_table_describe(lines, after, at, ret);
	return ret->n_cols ? end : at;
}
