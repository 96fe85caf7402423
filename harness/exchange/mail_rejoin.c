/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Some archives store a mail as one line: every line break has become a blank. */
#include <string.h>

#include "exchange/mail.h"

#define PROSE_WIDTH 72

static bool is_word(const char *w, size_t n, const char *set)
{
	return n && strspn(w, set) >= n;
}

/* "+-----+------+", "|---+---|", "x----x": n characters at w. */
static bool is_rule(const char *w, size_t n)
{
	return n >= 5 && strchr("+|x", w[0]) && w[n - 1] == w[0] && is_word(w, n, "+-=|x:") &&
	       (memchr(w, '-', n) || memchr(w, '=', n));
}

/* Columns of a ruled table: the pieces between the corners. */
static size_t columns_of(const char *w, size_t n)
{
	size_t corners = 0;

	for (size_t i = 0; i < n; i++)
		if (strchr("+|x", w[i]))
			corners++;
	return corners - 1;
}

struct rejoin {
	struct kab_buf *out;
	size_t width; /* of the line so far */
	size_t columns; /* of the ruled table that we are in; 0: none */
	size_t pipes; /* in the line so far */
	bool quoted; /* the line begins with a quote mark */
};

static void line_break(struct rejoin *r)
{
	if (r->width)
		kab_buf_addc(r->out, '\n');
	r->width = r->pipes = 0;
	r->quoted = false;
}

static void word(struct rejoin *r, const char *w, size_t n)
{
	if (r->width) {
		kab_buf_addc(r->out, ' ');
		r->width++;
	}
	kab_buf_add(r->out, w, n);
	r->width += n;
}

void kab_mail_rejoin(const char *text, struct kab_buf *out)
{
	struct rejoin r = { .out = out };

	for (const char *p = text + strspn(text, " \t\r\n"); *p;) {
		size_t n = strcspn(p, " \t\r\n");
		bool pipe = n == 1 && *p == '|', had_row = r.pipes >= 2;

		if (is_word(p, n, ">")) {
			line_break(&r);
			word(&r, p, n);
			r.quoted = true;
		} else if (is_rule(p, n)) {
			/* The rule of org tables stands behind the quote mark of its line. */
			if (r.width > 3)
				line_break(&r);
			word(&r, p, n);
			r.columns = columns_of(p, n);
			if (!r.quoted)
				line_break(&r);
		} else if ((n == 5 && !strncmp(p, "[...]", 5)) ||
			   (n == 4 && !strncmp(p, "[..]", 4))) {
			line_break(&r);
			word(&r, p, n);
			line_break(&r);
		} else if (pipe && r.columns && r.pipes == r.columns + 1 && !r.quoted) {
			line_break(&r);
			word(&r, p, n);
			r.pipes = 1;
		} else if (!pipe && !r.quoted && had_row && r.columns && r.pipes == r.columns + 1) {
			/* Text behind the last row. */
			line_break(&r);
			r.columns = 0;
			word(&r, p, n);
		} else {
			if (!r.quoted && !r.pipes && !pipe && r.width + n >= PROSE_WIDTH)
				line_break(&r);
			word(&r, p, n);
			r.pipes += pipe;
		}
		p += n;
		p += strspn(p, " \t\r\n");
	}
	line_break(&r);
}
