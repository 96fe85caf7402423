/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perf stat -x (value, unit, event, [deviation in percent with -r], run time, percent, metric ...) and
 * -j (one object per line, values as strings). Each file is one iteration; with -r it is a summary:
 * then the percentage is the standard error of the mean over the mean, so that the standard deviation
 * is percent/100 * mean * sqrt(repeats) (tools/perf/util/stat.c), and how often was repeated is not in
 * the file. What is not a total (-I, -A, --per-core and their like) is refused: such lines are parts
 * of one measurement, no measurements.
 */
#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "exchange/import_log.h"

#define RUNNER "perf-stat"
#define FIELDS_MAX 16

struct counter {
	char *event, *unit;
	double value; /* NAN: a word */
	char *word; /* "not counted", or NULL */
	double error_pct; /* of -r; NAN without */
	double running_pct; /* NAN unknown */
};

struct file {
	const char *shown;
	size_t line;
	struct {
		struct counter *v;
		size_t n, cap;
	} counters;
	size_t strange, first_strange; /* lines that are none of perf stat */
	size_t metrics; /* lines with a derived metric only */
	bool decimal_comma;
	bool kept; /* its bytes are with an iteration already */
	struct kab_err *err;
};

struct reader {
	const struct kab_import_from *from;
	const char *case_name;
};

__attribute__((format(printf, 2, 3))) static int fail(const struct file *f, const char *fmt, ...)
{
	char *where kab_autofree = kab_xasprintf("%s:%zu", f->shown, f->line);
	char *text kab_autofree = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = kab_xvasprintf(fmt, ap);
	va_end(ap);
	return kab_err_set_at(f->err, KAB_ERR_PARSE, where, "%s: %s", where, text);
}

static bool is_word(const char *s)
{
	return !strcmp(s, "<not counted>") || !strcmp(s, "<not supported>");
}

static bool is_number(const char *s)
{
	double value;

	return !kab_text_double(s, &value);
}

static bool is_digits(const char *s)
{
	return *s && !s[strspn(s, "0123456789")];
}

/* A number, also one with a decimal comma where that cannot be a separator. */
static int value_of(struct file *f, const char *text, bool comma_is_free, double *ret)
{
	char *copy kab_autofree = NULL, *comma;

	if (!kab_text_double(text, ret))
		return 0;
	copy = kab_xstrdup(text);
	comma = strchr(copy, ',');
	if (!comma_is_free || !comma || strchr(comma + 1, ','))
		return -1;
	*comma = '.';
	if (kab_text_double(copy, ret))
		return -1;
	f->decimal_comma = true;
	return 0;
}

static struct counter *add_counter(struct file *f, const char *event, const char *unit)
{
	struct counter *c = KAB_PUSH(&f->counters);

	c->event = kab_import_shown(event);
	/* The unit of the clocks is the millisecond. */
	c->unit = !strcmp(unit, "msec") ? kab_xstrdup("ms") : kab_import_shown(unit);
	c->value = c->error_pct = c->running_pct = NAN;
	return c;
}

static int set_value(struct file *f, struct counter *c, const char *text, bool comma_is_free)
{
	if (is_word(text)) {
		c->word = kab_xstrndup(text + 1, strlen(text) - 2);
		return 0;
	}
	if (value_of(f, text, comma_is_free, &c->value))
		return fail(f, "'%s' is no value of counter '%s'", text, c->event);
	return 0;
}

/* Splits at sep; blanks around a field are not part of it. Returns the number of fields. */
static size_t split(char *line, char sep, char *fields[FIELDS_MAX])
{
	size_t n = 0;

	for (char *p = line, *next; p && n < FIELDS_MAX; p = next) {
		char *end;

		next = strchr(p, sep);
		if (next)
			*next++ = '\0';
		while (*p == ' ')
			p++;
		end = p + strlen(p);
		while (end > p && end[-1] == ' ')
			*--end = '\0';
		fields[n++] = p;
	}
	return n;
}

/* "CPU0", "S0-D0-C0", "N1", "comm-123": what the line is a part of. */
static bool is_prefix(const char *s)
{
	const char *dash = strrchr(s, '-');

	if (!strncmp(s, "CPU", 3) && is_digits(s + 3))
		return true;
	if (*s && strchr("SDCNLG", *s) && isdigit((unsigned char)s[1]))
		return true;
	return dash && dash > s && is_digits(dash + 1);
}

/* What is no total of a whole run is named, so that nobody takes the parts for values. */
static int refuse_parts(struct file *f, char **v, size_t n, char sep)
{
	bool value1 = n > 1 && (is_number(v[1]) || is_word(v[1]));
	bool value2 = n > 2 && (is_number(v[2]) || is_word(v[2]));

	if (n < 6)
		return 0;
	if (sep == ',' && is_digits(v[0]) && is_digits(v[1]) && !is_number(v[2]) && *v[3] &&
	    !is_number(v[3]))
		return fail(f,
			    "'%s,%s' is a value with a decimal comma, and the comma separates the "
			    "fields too: measure under LC_ALL=C, or with perf stat -x ';'",
			    v[0], v[1]);
	if ((is_number(v[0]) || !strcmp(v[0], "summary")) && value1 && *v[3] && !is_number(v[3]))
		return fail(f, "lines of intervals (-I) are parts of one run, no runs: measure "
			       "without -I");
	if (is_prefix(v[0]) && (value1 || value2))
		return fail(f,
			    "'%s': counts of parts of the machine (-A, --per-core, --per-socket, "
			    "--per-thread ...) are not imported: measure the total",
			    v[0]);
	return 0;
}

/* 1: it is a counter; 0: it is not; -1. */
static int read_fields(struct file *f, char **v, size_t n, char sep)
{
	size_t at = 3;
	struct counter *c;
	double number;
	bool plain, error;

	if (n < 5)
		return 0;
	plain = is_word(v[0]) || !value_of(f, v[0], sep != ',', &number);
	error = strchr(v[3], '%') != NULL;
	if (error)
		at = 4;
	if (!plain || !*v[2] || is_number(v[2]) || n < at + 2 || !is_digits(v[at]))
		return refuse_parts(f, v, n, sep);
	c = add_counter(f, v[2], v[1]);
	if (error) {
		*strchr(v[3], '%') = '\0';
		if (value_of(f, v[3], sep != ',', &c->error_pct))
			return fail(f, "'%s' is no percentage", v[3]);
	}
	if (value_of(f, v[at + 1], sep != ',', &c->running_pct))
		c->running_pct = NAN;
	return set_value(f, c, v[0], sep != ',') ? -1 : 1;
}

static int read_csv_line(struct file *f, const char *line)
{
	static const char separators[] = ",;\t|";

	for (const char *sep = separators; *sep; sep++) {
		char *copy kab_autofree = kab_xstrdup(line), *v[FIELDS_MAX] = { 0 };
		size_t n = split(copy, *sep, v);
		int rc = read_fields(f, v, n, *sep);

		if (rc)
			return rc < 0 ? -1 : 0;
		if (n >= 5 && !*v[0] && !*v[1] && !*v[2]) {
			f->metrics++;
			return 0;
		}
	}
	if (!f->strange++)
		f->first_strange = f->line;
	return 0;
}

static int read_object(struct file *f, const json_t *o)
{
	static const char *const parts[] = { "interval", "cpu",	   "core",  "die",     "socket",
					     "node",	 "thread", "cache", "cluster", NULL };
	const char *event = json_string_value(json_object_get(o, "event"));
	const json_t *value = json_object_get(o, "counter-value"), *number;
	const char *unit = json_string_value(json_object_get(o, "unit"));
	struct counter *c;

	for (size_t i = 0; parts[i]; i++)
		if (json_object_get(o, parts[i]))
			return fail(f,
				    "'%s': counts of parts of the machine or of the time are not "
				    "imported: measure the total",
				    parts[i]);
	if (!event || !value) {
		f->metrics++;
		return 0;
	}
	c = add_counter(f, event, unit ? unit : "");
	if ((number = json_object_get(o, "variance")))
		c->error_pct = json_number_value(number);
	if ((number = json_object_get(o, "pcnt-running")))
		c->running_pct = json_number_value(number);
	if (json_is_number(value))
		c->value = json_number_value(value);
	else
		return set_value(f, c, json_is_string(value) ? json_string_value(value) : "", true);
	return 0;
}

static int read_line(struct file *f, char *line)
{
	size_t n = strlen(line);
	json_error_t why;
	json_t *o;
	int rc;

	while (n && strchr("\r\n ", line[n - 1]))
		line[--n] = '\0';
	if (!n || *line == '#')
		return 0;
	if (strstr(line, "Performance counter stats for"))
		return fail(f, "this is the table for people; what perf stat -x ';' or -j writes "
			       "is read");
	if (*line != '{' || !strstr(line, "\"event\""))
		return read_csv_line(f, line);
	o = json_loads(line, 0, &why);
	if (!o)
		return fail(f, "no JSON: %s%s", why.text,
			    strstr(line, "pcnt-running")
				    ? "; under another locale than C perf writes "
				      "decimal commas there"
				    : "");
	rc = read_object(f, o);
	json_decref(o);
	return rc;
}

static void note_file(const struct file *f, struct kab_import *ret)
{
	if (f->strange)
		kab_import_note(
			ret,
			"%s: %zu line%s (the first is %zu) are not of perf stat and were not "
			"read",
			f->shown, f->strange, f->strange == 1 ? "" : "s", f->first_strange);
	if (f->metrics)
		kab_import_note(ret, "%s: %zu line%s with a derived metric only: not read",
				f->shown, f->metrics, f->metrics == 1 ? "" : "s");
	if (f->decimal_comma)
		kab_import_note(ret, "%s: decimal commas were read as points", f->shown);
}

/* What a number alone does not tell of a run. */
static void note_counters(const struct file *f, struct kab_import *ret)
{
	for (size_t i = 0; i < f->counters.n; i++) {
		const struct counter *c = &f->counters.v[i];
		size_t before = 0;

		if (c->running_pct < 99.995 && !c->word)
			kab_import_note(ret, "%s: %s was counted %.4g %% of the time and scaled",
					f->shown, c->event, c->running_pct);
		for (size_t k = 0; k < i; k++)
			before += !strcmp(f->counters.v[k].event, c->event);
		if (before == 1)
			kab_import_note(
				ret,
				"%s: %s stands there more than once: repeated values of one "
				"run",
				f->shown, c->event);
	}
}

static int add_summaries(const struct reader *r, const struct file *f,
			 const struct kab_import_place *place, struct kab_import *ret)
{
	char *where kab_autofree = kab_xstrdup(f->shown);

	if (r->from->repeat < 2)
		return kab_err_set_at(f->err, KAB_ERR_USAGE, where,
				      "%s: perf stat -r writes means and how much they vary, not "
				      "how often it repeated: say it with --repeat N",
				      where);
	for (size_t i = 0; i < f->counters.n; i++) {
		const struct counter *c = &f->counters.v[i];
		double n = (double)r->from->repeat;

		if (c->word) {
			kab_import_note(ret, "%s: %s was %s: no summary of it", f->shown, c->event,
					c->word);
			continue;
		}
		if (kab_import_add_summary(
			    ret, place, c->event, c->unit, KAB_DIR_NONE, r->from->repeat, c->value,
			    isnan(c->error_pct) ? NAN
						: c->error_pct / 100 * fabs(c->value) * sqrt(n),
			    where, f->err))
			return -1;
	}
	kab_import_caveat(ret,
			  "standard deviations were computed from the printed errors of the mean, "
			  "which have two decimals: percent/100 * mean * sqrt(%lld)",
			  (long long)r->from->repeat);
	return 0;
}

static void add_samples(struct file *f, const struct kab_import_log *log,
			const struct kab_import_place *place, struct kab_import *ret)
{
	struct kab_import_iter *it = kab_import_add(ret, place, log->boot);
	struct kab_buf kab_autobuf words = KAB_BUF_INIT;

	for (size_t i = 0; i < f->counters.n; i++) {
		const struct counter *c = &f->counters.v[i];

		if (c->word)
			kab_buf_addf(&words, "%s%s was %s", words.len ? ", " : "", c->event,
				     c->word);
		else
			kab_samples_add(&it->samples, c->event, c->unit, KAB_DIR_NONE, c->value);
	}
	if (!f->kept) {
		it->log = kab_xmemdup(log->len ? log->bytes : "", log->len ? log->len : 1);
		it->log_len = log->len;
	}
	f->kept = true;
	if (!it->samples.n) {
		kab_import_fail(ret, it,
				words.len ? kab_buf_str(&words) : "no counter of perf stat in it");
	} else if (words.len) {
		it->reason = kab_xstrdup(kab_buf_str(&words));
		free(it->parse_status);
		it->parse_status = kab_xstrdup("partial");
	}
}

static void forget_counters(struct file *f)
{
	for (size_t i = 0; i < f->counters.n; i++) {
		free(f->counters.v[i].event);
		free(f->counters.v[i].unit);
		free(f->counters.v[i].word);
	}
	free(f->counters.v);
	f->counters.v = NULL;
	f->counters.n = f->counters.cap = 0;
}

/* What was read so far is one run of perf stat. */
static int end_run(struct reader *r, struct file *f, const struct kab_import_log *log,
		   struct kab_import *ret)
{
	struct kab_import_place place = { .kernel = log->kernel,
					  .host = r->from->host,
					  .case_name = r->case_name,
					  .runner = RUNNER };
	bool repeated = false;
	int rc = 0;

	for (size_t i = 0; i < f->counters.n; i++)
		repeated |= !isnan(f->counters.v[i].error_pct);
	for (size_t i = 0; !rc && i < f->counters.n; i++)
		if (!f->counters.v[i].word)
			rc = kab_import_judge(ret, r->case_name, RUNNER, f->counters.v[i].event,
					      f->counters.v[i].unit, KAB_DIR_NONE, f->shown,
					      f->err);
	if (!rc && repeated)
		rc = add_summaries(r, f, &place, ret);
	else if (!rc)
		add_samples(f, log, &place, ret);
	note_counters(f, ret);
	forget_counters(f);
	return rc;
}

/* With -o FILE --append a file has several runs, each below such a line. */
static bool begins_run(const char *line)
{
	return !strncmp(line, "# started on", 12);
}

static int read_lines(struct reader *r, struct file *f, const struct kab_import_log *log,
		      struct kab_import *ret)
{
	const char *p = log->bytes, *end = log->bytes + log->len;
	int rc = 0;

	while (!rc && p < end) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));
		size_t n = eol ? (size_t)(eol - p) : (size_t)(end - p);

		f->line++;
		/* The longest line of perf is a few hundred bytes; what is longer is not from it. */
		if (n > 65536) {
			if (!f->strange++)
				f->first_strange = f->line;
		} else {
			char *line kab_autofree = kab_xstrndup(p, n);

			if (begins_run(line) && f->counters.n)
				rc = end_run(r, f, log, ret);
			if (!rc)
				rc = read_line(f, line);
		}
		p += n + 1;
	}
	return rc;
}

static int read_one(void *ctx, const struct kab_import_log *log, struct kab_import *ret,
		    struct kab_err *err)
{
	char *shown kab_autofree = kab_import_shown(log->file);
	struct file f = { .shown = shown, .err = err };
	int rc;

	if (log->cut)
		return kab_err_set(err, KAB_ERR_PARSE, "%s: longer than %zu bytes", shown,
				   log->len);
	rc = read_lines(ctx, &f, log, ret);
	if (!rc)
		rc = end_run(ctx, &f, log, ret);
	if (!rc)
		note_file(&f, ret);
	forget_counters(&f);
	return rc;
}

int kab_import_perf_stat(const struct kab_import_source *sources, size_t n,
			 const struct kab_import_from *from, struct kab_import *ret,
			 struct kab_err *err)
{
	struct reader reader = { from, from->case_name ? from->case_name : RUNNER };

	*ret = (struct kab_import){ 0 };
	if (kab_import_each_file(sources, n, from, read_one, &reader, ret, err))
		return -1;
	/* Means of runs that perf has repeated say nothing of boots, wherever the files lie. */
	if (ret->summaries.n && !ret->n) {
		free(ret->boots_text);
		ret->boots_known = false;
		ret->boots_text =
			kab_xstrdup("unknown: of what perf stat -r repeated there are only "
				    "means and how they vary");
	}
	if (from->repeat && !ret->summaries.n)
		kab_import_note(ret, "--repeat says nothing here: no file is of perf stat -r");
	kab_import_note(ret, "perf does not say which counters are better lower or higher: --lower "
			     "and --higher do");
	return 0;
}
