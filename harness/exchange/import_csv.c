/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of a CSV file to iterations. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/text.h"
#include "exchange/csv.h"
#include "exchange/import_build.h"

enum column {
	KERNEL,
	HOST,
	CONDITION,
	CASE,
	ROW,
	RUNNER,
	RUN, /* of our export, which may hold several */
	BOOT,
	ITERATION,
	METRIC,
	VALUE,
	UNIT,
	DIRECTION,
	REASON,
	SEQUENCE, /* of our export: in which order the iterations were run */
	BLOCK, /* of our export: which boots are pairs */
	COLUMNS
};

static const char *const column_name[COLUMNS + 1] = {
	"kernel",    "host",   "condition", "case", "row",	 "runner", "run",      "boot",
	"iteration", "metric", "value",	    "unit", "direction", "reason", "sequence", "block",
};
/* What `kab export` writes beside them: nothing of it is needed here. */
static const char *const passed_over[] = { "release", "params", "sample", "attempts", "state" };

/* What stands for a column that is missing, or for an empty field of it. */
static const char *const missing[COLUMNS] = { NULL,   "import", "", "import", "", "import",
					      "",     "1",	"", "value",  "", "",
					      "none", "",	"", "" };

/* A line of data. */
struct line {
	size_t number;
	const char *v[COLUMNS]; /* borrowed from the csv, or a constant */
	enum kab_direction dir;
	double value;
	int block; /* 0: none */
	bool empty, failed; /* instead of a value */
	size_t ordinal; /* without an iteration column: which of the lines of that metric */
};

struct import_csv {
	const char *file;
	struct kab_csv csv;
	struct line *lines;
	size_t n;
	bool has_iteration;
	size_t with_boot, with_block; /* lines that name one */
	struct kab_err *err;
};

static int fail(const struct import_csv *c, size_t number, enum column column, const char *what,
		const char *found)
{
	kab_autofree char *where = kab_xasprintf("%s:%zu", c->file, number);

	return kab_err_set_at(c->err, KAB_ERR_PARSE, where, "%s: column '%s': %s%s%s%s", where,
			      column_name[column], what, found ? ", not '" : "", found ? found : "",
			      found ? "'" : "");
}

/* Blanks around a field are not part of it. */
static char *trim(char *s)
{
	size_t n;

	s += strspn(s, " \t");
	n = strlen(s);
	while (n && (s[n - 1] == ' ' || s[n - 1] == '\t'))
		s[--n] = '\0';
	return s;
}

static bool is_passed_over(const char *name)
{
	for (size_t i = 0; i < KAB_ARRAY_SIZE(passed_over); i++)
		if (!strcasecmp(passed_over[i], name))
			return true;
	return false;
}

/* The apostrophe that `kab export` puts before what a spreadsheet would take for a formula. */
static char *without_apostrophe(char *s)
{
	return s[0] == '\'' && s[1] && strchr("=+-@'\t\r", s[1]) ? s + 1 : s;
}

static int read_header(struct import_csv *c, size_t at[COLUMNS])
{
	const struct kab_csv_row *header = &c->csv.v[0];
	kab_autofree char *where = kab_xasprintf("%s:%zu", c->file, header->line);

	for (size_t k = 0; k < COLUMNS; k++)
		at[k] = SIZE_MAX;
	for (size_t i = 0; i < header->n; i++) {
		const char *name = trim(header->v[i]), *near;
		size_t k = 0;

		while (k < COLUMNS && strcasecmp(column_name[k], name))
			k++;
		if (k < COLUMNS && at[k] != SIZE_MAX)
			return kab_err_set_at(c->err, KAB_ERR_PARSE, where,
					      "%s: column '%s' stands there twice", where, name);
		if (k < COLUMNS) {
			at[k] = i;
			continue;
		}
		if (is_passed_over(name))
			continue;
		if (header->n == 1 && strpbrk(name, ";\t"))
			return kab_err_set_at(c->err, KAB_ERR_PARSE, where,
					      "%s: the columns are not separated by commas", where);
		near = kab_text_nearest(name, column_name);
		return kab_err_set_at(
			c->err, KAB_ERR_PARSE, where,
			"%s: unknown column '%s'%s%s%s; known are kernel, host, "
			"condition, case, row, runner, boot, iteration, metric, value, "
			"unit, direction and reason",
			where, name, near ? " (did you mean '" : "", near ? near : "",
			near ? "'?)" : "");
	}
	for (size_t k = 0; k < 2; k++) {
		enum column needed = k ? VALUE : KERNEL;

		if (at[needed] == SIZE_MAX)
			return kab_err_set_at(c->err, KAB_ERR_PARSE, where,
					      "%s: there is no column '%s'", where,
					      column_name[needed]);
	}
	/* In a file of somebody else it may count anything: iterations of one boot, for one. */
	if (at[SEQUENCE] == SIZE_MAX)
		at[RUN] = SIZE_MAX;
	c->has_iteration = at[ITERATION] != SIZE_MAX;
	return 0;
}

static int read_line(struct import_csv *c, const struct kab_csv_row *row, const size_t at[COLUMNS],
		     struct line *line)
{
	int64_t number;

	line->number = row->line;
	c->with_boot += at[BOOT] != SIZE_MAX && *trim(row->v[at[BOOT]]);
	for (size_t k = 0; k < COLUMNS; k++) {
		char *field = at[k] == SIZE_MAX ? NULL : trim(row->v[at[k]]);
		const char *text = !field ? "" : k == VALUE ? field : without_apostrophe(field);

		line->v[k] = *text || !missing[k] ? text : missing[k];
		if (!kab_text_is_line(line->v[k]))
			return fail(c, line->number, (enum column)k,
				    "a control character in a name, or it is not UTF-8", NULL);
	}
	if (!kab_text_is_label(line->v[KERNEL]))
		return fail(c, line->number, KERNEL,
			    "a label of letters, digits and . _ + - is needed", line->v[KERNEL]);
	if (c->has_iteration && (kab_text_int(line->v[ITERATION], &number) || number < 0))
		return fail(c, line->number, ITERATION, "a whole number is needed",
			    line->v[ITERATION]);
	if (*line->v[BLOCK]) {
		if (kab_text_int(line->v[BLOCK], &number) || number < 1 || number > INT_MAX)
			return fail(c, line->number, BLOCK, "a whole number from 1 is needed",
				    line->v[BLOCK]);
		line->block = (int)number;
		c->with_block++;
	}
	if (kab_direction_parse(line->v[DIRECTION], &line->dir))
		return fail(c, line->number, DIRECTION, "'lower', 'higher' or 'none' is needed",
			    line->v[DIRECTION]);
	line->empty = !*line->v[VALUE];
	line->failed = !strcasecmp(line->v[VALUE], "fail");
	if (!line->empty && !line->failed && kab_text_double(line->v[VALUE], &line->value))
		return fail(c, line->number, VALUE,
			    strchr(line->v[VALUE], ',') ? "a number with a decimal point is needed"
							: "a number, nothing, or 'fail' is needed",
			    line->v[VALUE]);
	return 0;
}

static int compare_places(const struct line *a, const struct line *b)
{
	for (size_t k = KERNEL; k < ITERATION; k++) {
		int d = strcmp(a->v[k], b->v[k]);

		if (d)
			return d;
	}
	return 0;
}

static int by_number(const struct line *a, const struct line *b)
{
	return (a->number > b->number) - (a->number < b->number);
}

static int by_metric(const void *pa, const void *pb)
{
	const struct line *a = pa, *b = pb;
	int d = compare_places(a, b);

	if (!d)
		d = strcmp(a->v[METRIC], b->v[METRIC]);
	if (!d)
		d = strcmp(a->v[UNIT], b->v[UNIT]);
	return d ? d : by_number(a, b);
}

static int compare_iterations(const struct line *a, const struct line *b)
{
	int64_t x = (int64_t)a->ordinal, y = (int64_t)b->ordinal;
	int d = compare_places(a, b);

	return d ? d : (x > y) - (x < y);
}

static int by_iteration(const void *pa, const void *pb)
{
	int d = compare_iterations(pa, pb);

	return d ? d : by_number(pa, pb);
}

/* Which lines belong to one iteration: that of the column, or the n-th line of each metric. */
static void number_lines(struct import_csv *c)
{
	qsort(c->lines, c->n, sizeof(*c->lines), by_metric);
	for (size_t i = 0; i < c->n; i++) {
		struct line *l = &c->lines[i], *before = i ? l - 1 : NULL;
		int64_t number = 0;

		if (c->has_iteration) {
			kab_text_int(l->v[ITERATION], &number);
			l->ordinal = (size_t)number;
		} else if (before && !compare_places(before, l) &&
			   !strcmp(before->v[METRIC], l->v[METRIC]) &&
			   !strcmp(before->v[UNIT], l->v[UNIT])) {
			l->ordinal = before->ordinal + 1;
		}
	}
	qsort(c->lines, c->n, sizeof(*c->lines), by_iteration);
}

static int add_verdict(struct import_csv *c, struct kab_import *ret, const struct line *l)
{
	for (size_t i = 0; i < ret->verdicts.n; i++) {
		const struct kab_import_verdict *v = &ret->verdicts.v[i];

		if (strcmp(v->case_name, l->v[CASE]) || strcmp(v->runner, l->v[RUNNER]) ||
		    strcmp(v->metric, l->v[METRIC]) || strcmp(v->unit, l->v[UNIT]))
			continue;
		if (v->dir != l->dir)
			return fail(c, l->number, DIRECTION,
				    "this metric of this case had another direction before",
				    l->v[DIRECTION]);
		return 0;
	}
	return kab_import_judge(ret, l->v[CASE], l->v[RUNNER], l->v[METRIC], l->v[UNIT], l->dir,
				c->file, c->err);
}

/* Lines first[0..n) are one iteration. */
static void add_iteration(struct kab_import *ret, const struct line *first, size_t n)
{
	struct kab_import_place place = { first->v[KERNEL], first->v[HOST], first->v[CONDITION],
					  first->v[CASE],   first->v[ROW],  first->v[RUNNER] };
	kab_autofree char *boot =
		kab_xasprintf("%s%s%s", first->v[RUN], *first->v[RUN] ? ": " : "", first->v[BOOT]);
	struct kab_import_iter *it = kab_import_add(ret, &place, boot);
	bool failed = false, empty = false;

	it->block = first->block;
	for (size_t i = 0; i < n; i++) {
		failed |= first[i].failed;
		empty |= first[i].empty;
	}
	failed |= empty && n == 1;
	for (size_t i = 0; i < n && !failed; i++)
		if (!first[i].empty)
			kab_samples_add(&it->samples, first[i].v[METRIC], first[i].v[UNIT],
					first[i].dir, first[i].value);
	if (failed || !it->samples.n) {
		kab_import_fail(ret, it,
				*first->v[REASON] ? first->v[REASON]
						  : "failed, says the imported file");
	} else if (empty) {
		it->reason = kab_xstrdup("the imported file has no value of it");
		free(it->parse_status);
		it->parse_status = kab_xstrdup("partial");
	}
}

struct placed {
	int64_t sequence; /* 0 where none is told */
	size_t number;
	struct kab_import_iter iter;
};

static int by_place(const void *pa, const void *pb)
{
	const struct placed *a = pa, *b = pb;

	if (a->sequence != b->sequence)
		return a->sequence < b->sequence ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

/* Iterations as they were run, or else in the order of their first lines, which is likely to be that. */
static void build(struct import_csv *c, struct kab_import *ret)
{
	struct placed *placed = kab_xcalloc(c->n + 1, sizeof(*placed));

	for (size_t i = 0, end; i < c->n; i = end) {
		for (end = i + 1; end < c->n && !compare_iterations(&c->lines[i], &c->lines[end]);)
			end++;
		add_iteration(ret, &c->lines[i], end - i);
		placed[ret->n - 1].number = c->lines[i].number;
		if (kab_text_int(c->lines[i].v[SEQUENCE], &placed[ret->n - 1].sequence))
			placed[ret->n - 1].sequence = 0;
	}
	for (size_t i = 0; i < ret->n; i++)
		placed[i].iter = ret->v[i];
	qsort(placed, ret->n, sizeof(*placed), by_place);
	for (size_t i = 0; i < ret->n; i++)
		ret->v[i] = placed[i].iter;
	free(placed);
}

static void add_word(struct kab_strv *words, const char *word)
{
	if (!kab_strv_has(words, word))
		kab_strv_add(words, word);
}

static int read_lines(struct import_csv *c, struct kab_import *ret)
{
	size_t at[COLUMNS];

	if (read_header(c, at))
		return -1;
	c->n = c->csv.n - 1;
	c->lines = kab_xcalloc(c->n + 1, sizeof(*c->lines));
	for (size_t i = 0; i < c->n; i++) {
		struct line *l = &c->lines[i];

		if (read_line(c, &c->csv.v[i + 1], at, l) || add_verdict(c, ret, l))
			return -1;
		add_word(&ret->kernels, l->v[KERNEL]);
		add_word(&ret->hosts, l->v[HOST]);
		add_word(&ret->cases, l->v[CASE]);
		add_word(&ret->conditions, l->v[CONDITION]);
	}
	return c->n ? 0
		    : kab_err_set_at(c->err, KAB_ERR_PARSE, c->file,
				     "%s: there is no line below the header", c->file);
}

static bool is_one_run(const struct import_csv *c)
{
	for (size_t i = 1; i < c->n; i++)
		if (strcmp(c->lines[i].v[RUN], c->lines[0].v[RUN]) != 0)
			return false;
	return true;
}

/* A boot is in one block, and a block has one boot of a kernel: or else they are no pairs. */
static int check_blocks(struct import_csv *c)
{
	struct kab_strv kab_autostrv boots = KAB_STRV_INIT, places = KAB_STRV_INIT;
	int rc = 0;

	for (size_t i = 0; i < c->n && !rc; i++) {
		const struct line *l = &c->lines[i];
		kab_autofree char *boot =
			kab_xasprintf("%s\x1f%s\x1f%s", l->v[HOST], l->v[KERNEL], l->v[BOOT]);
		kab_autofree char *place =
			kab_xasprintf("%s\x1f%s\x1f%d", l->v[HOST], l->v[KERNEL], l->block);
		size_t b = 0, p = 0;

		while (b < boots.n && strcmp(boots.v[b], boot))
			b++;
		while (p < places.n && strcmp(places.v[p], place))
			p++;
		if (b != p)
			rc = fail(c, l->number, BLOCK,
				  b < p ? "this boot was in another block before"
					: "this block has another boot of this kernel already",
				  l->v[BLOCK]);
		else if (b == boots.n) {
			kab_strv_add(&boots, boot);
			kab_strv_add(&places, place);
		}
	}
	return rc;
}

int kab_import_csv(const char *file, const char *bytes, size_t n, const char *baseline,
		   struct kab_import *ret, struct kab_err *err)
{
	struct import_csv c = { .file = file, .err = err };
	int rc;

	*ret = (struct kab_import){ 0 };
	rc = kab_csv_parse(file, bytes, n, &c.csv, err);
	if (!rc)
		rc = read_lines(&c, ret);
	if (!rc && baseline && kab_import_choose_baseline(ret, baseline, err))
		rc = kab_err_prefix(err, "%s", file);
	/* Blocks of several runs have the same numbers. */
	if (!rc && c.with_boot == c.n && c.with_block == c.n && is_one_run(&c)) {
		rc = check_blocks(&c);
		ret->paired = true;
	}
	if (!rc) {
		number_lines(&c);
		build(&c, ret);
		kab_import_digest(ret, bytes, n);
		ret->boots_known = c.with_boot > 0;
		if (c.with_boot && c.with_boot < c.n)
			kab_import_caveat(
				ret,
				"%zu of %zu lines name no boot: those of a kernel are taken as one",
				c.n - c.with_boot, c.n);
		if (c.with_boot)
			ret->boots_text = kab_xstrdup("as the column 'boot' says");
		if (c.with_block && !ret->paired)
			kab_import_caveat(ret, "not tested as pairs: %s",
					  c.with_block < c.n ? "some lines name no block"
							     : "blocks of several runs");
	}
	free(c.lines);
	kab_csv_release(&c.csv);
	return rc;
}
