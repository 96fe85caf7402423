/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "exchange/csv.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

struct reader {
	const char *file, *p, *end;
	size_t line;
	struct kab_csv *csv;
	struct kab_err *err;
};

void kab_csv_release(struct kab_csv *csv)
{
	for (size_t i = 0; i < csv->n; i++) {
		for (size_t k = 0; k < csv->v[i].n; k++)
			free(csv->v[i].v[k]);
		free(csv->v[i].v);
	}
	free(csv->v);
	*csv = (struct kab_csv){ 0 };
}

/* "file:line: column 'x': what", or the number of the column where it has no name yet. */
static int fail(const struct reader *r, size_t line, size_t column, const char *what)
{
	kab_autofree char *where = kab_xasprintf("%s:%zu", r->file, line);
	const struct kab_csv_row *header = r->csv->n > 1 ? &r->csv->v[0] : NULL;

	if (header && column < header->n)
		return kab_err_set_at(r->err, KAB_ERR_PARSE, where, "%s: column '%s': %s", where,
				      header->v[column], what);
	return kab_err_set_at(r->err, KAB_ERR_PARSE, where, "%s: column %zu: %s", where, column + 1,
			      what);
}

static bool at_newline(const struct reader *r)
{
	return *r->p == '\n' || (*r->p == '\r' && r->p + 1 < r->end && r->p[1] == '\n');
}

static int quoted(struct reader *r, struct kab_buf *field, size_t column)
{
	size_t first = r->line;

	for (r->p++; r->p < r->end; r->p++) {
		if (*r->p == '"') {
			if (r->p + 1 == r->end || r->p[1] != '"') {
				r->p++;
				if (r->p < r->end && *r->p != ',' && !at_newline(r))
					return fail(r, r->line, column,
						    "text behind the closing quote; a quote inside "
						    "quotes is written twice");
				return 0;
			}
			r->p++;
		}
		if (!*r->p)
			return fail(r, r->line, column, "a NUL byte; this is not text");
		r->line += *r->p == '\n';
		kab_buf_addc(field, *r->p);
	}
	return fail(r, first, column, "the quote that begins here is never closed");
}

static int plain(struct reader *r, struct kab_buf *field, size_t column)
{
	for (; r->p < r->end && *r->p != ',' && !at_newline(r); r->p++) {
		if (*r->p == '"')
			return fail(r, r->line, column,
				    "a quote inside a field; quote the whole field and write the "
				    "quote twice");
		if (!*r->p || *r->p == '\r')
			return fail(r, r->line, column,
				    *r->p ? "a carriage return without a line feed"
					  : "a NUL byte; this is not text");
		kab_buf_addc(field, *r->p);
	}
	return 0;
}

static int row(struct reader *r)
{
	struct kab_csv_row *row = KAB_PUSH(r->csv);

	row->line = r->line;
	for (;;) {
		kab_autobuf struct kab_buf field = KAB_BUF_INIT;

		if (r->p < r->end && *r->p == '"' ? quoted(r, &field, row->n)
						  : plain(r, &field, row->n))
			return -1;
		*KAB_PUSH(row) = kab_buf_detach(&field);
		if (r->p == r->end)
			return 0;
		if (*r->p != ',')
			break;
		r->p++;
	}
	r->p += *r->p == '\r' ? 2 : 1;
	r->line++;
	return 0;
}

int kab_csv_parse(const char *file, const char *bytes, size_t n, struct kab_csv *ret,
		  struct kab_err *err)
{
	struct reader r = {
		.file = file, .p = bytes, .end = bytes + n, .line = 1, .csv = ret, .err = err
	};

	*ret = (struct kab_csv){ 0 };
	if (n >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3))
		r.p += 3;
	while (r.p < r.end) {
		const struct kab_csv_row *last;

		if (at_newline(&r)) {
			r.p += *r.p == '\r' ? 2 : 1;
			r.line++;
			continue;
		}
		if (row(&r))
			return -1;
		last = &ret->v[ret->n - 1];
		if (last->n != ret->v[0].n) {
			kab_autofree char *where = kab_xasprintf("%s:%zu", file, last->line);

			return kab_err_set_at(
				err, KAB_ERR_PARSE, where,
				"%s: %zu fields, but the header has %zu; first column "
				"without a field or name: '%s'",
				where, last->n, ret->v[0].n,
				last->n < ret->v[0].n ? ret->v[0].v[last->n]
						      : last->v[ret->v[0].n]);
		}
	}
	if (!ret->n)
		return kab_err_set_at(err, KAB_ERR_PARSE, file,
				      "%s: empty; the first line names the columns", file);
	return 0;
}
