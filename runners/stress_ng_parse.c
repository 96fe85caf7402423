/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A log of stress-ng. Its exit status is 0 when it was interrupted and when it skipped everything,
 * and it says "successful run" in both cases: the run time against the requested one, the list of
 * what was dispatched and the bogo operations tell.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "runners/outcome.h"
#include "runners/stress_ng.h"

/* Enough for every stressor that there is; a hostile log cannot make the look-ups slow. */
#define NAMES_MAX 512
#define ROWS_CHECKED_MAX 8192
/* Of a name; other bytes never get into messages or names of metrics. */
#define NAME_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

struct run {
	double requested_s; /* below 0: not said */
	double completed_s; /* below 0: not seen */
	bool dispatched;
	bool header;
	bool misc; /* below "miscellaneous metrics:" */
	bool class_run;
	bool ops_bound;
	struct kab_stress_columns columns;
	struct kab_strv names; /* of the stressors dispatched */
	bool *has_row; /* names.n flags */
	size_t rows, zero_rows;
	double longest_s; /* real time of the rows */
	size_t first_sample; /* of this run in ret->samples */
	char zero_name[KAB_STRESS_NAME_MAX];
	struct kab_strv skipped; /* names or sentences, in order, at most 16 */
	bool all_untrusted;
	struct kab_strv untrusted;
};

struct state {
	struct kab_outcome outcome;
	struct kab_parse_result *ret;
	struct run run;
	struct kab_stress_yaml yaml;
	double echo_timeout_s; /* of a command line in the log, else of the parameters; -1 */
	bool echo_ops, echo_class;
	bool params_ops, params_named;
	bool brief; /* --log-brief: lines without a tag */
	bool any_skip;
	bool started;
};

static void run_release(struct run *run)
{
	kab_strv_release(&run->names);
	kab_strv_release(&run->skipped);
	kab_strv_release(&run->untrusted);
	free(run->has_row);
	*run = (struct run){ .requested_s = -1, .completed_s = -1 };
}

/* ---- end of a run ---- */

/* Drop the samples of `name` ("" for all) from `first` on; returns how many went. */
static size_t drop_samples(struct kab_samples *samples, size_t first, const char *name)
{
	size_t kept = first, len = strlen(name);

	for (size_t i = first; i < samples->n; i++) {
		struct kab_sample *s = &samples->v[i];

		if (!len || (!strncmp(s->metric, name, len) && s->metric[len] == '.')) {
			free(s->metric);
			free(s->unit);
			continue;
		}
		samples->v[kept++] = *s;
	}
	len = samples->n - kept;
	samples->n = kept;
	return len;
}

static bool was_interrupted(const struct state *st, const struct run *run)
{
	double wanted = run->requested_s >= 0 ? run->requested_s : st->echo_timeout_s;

	double ran = run->completed_s >= 0 ? run->completed_s : run->longest_s;

	if (ran <= 0 || wanted < 0 || run->ops_bound)
		return false;
	/* A day is its default: what ends earlier ended by its number of operations. */
	if (wanted >= 86400)
		return false;
	return ran < wanted - 0.05 - 0.005 * wanted;
}

static void check_untrusted(struct state *st, struct run *run)
{
	struct kab_samples *samples = &st->ret->samples;

	if (run->all_untrusted) {
		drop_samples(samples, run->first_sample, "");
		run->rows = 0;
		kab_outcome_nothing(&st->outcome,
				    kab_xstrdup("stress-ng calls its own metrics untrustworthy"));
		kab_outcome_missing(
			&st->outcome,
			kab_xstrdup("stress-ng calls the metrics of one run untrustworthy"));
		return;
	}
	for (size_t i = 0; i < run->untrusted.n; i++) {
		const char *name = run->untrusted.v[i];

		if (drop_samples(samples, run->first_sample, name) && run->rows)
			run->rows--;
		kab_outcome_nothing(
			&st->outcome,
			kab_xasprintf("stress-ng calls the metrics of %s untrustworthy", name));
		kab_outcome_missing(
			&st->outcome,
			kab_xasprintf("stress-ng calls the metrics of %s untrustworthy", name));
	}
}

static void explain_skips(struct state *st, struct run *run)
{
	char *names kab_autofree = NULL;

	if (!run->skipped.n)
		return;
	names = kab_strv_join(&run->skipped, ", ");
	st->any_skip = true;
	kab_outcome_nothing(&st->outcome, kab_xasprintf("everything was skipped: %s", names));
	if (!run->class_run)
		kab_outcome_missing(&st->outcome, kab_xasprintf("skipped: %s", names));
}

static void explain_gaps(struct state *st, struct run *run)
{
	struct kab_strv gaps kab_autostrv = KAB_STRV_INIT;
	char *names kab_autofree = NULL;

	for (size_t i = 0; i < run->names.n && gaps.n < 8; i++)
		if (!run->has_row[i])
			kab_strv_add(&gaps, run->names.v[i]);
	if (!gaps.n || run->class_run)
		return;
	names = kab_strv_join(&gaps, ", ");
	kab_outcome_missing(&st->outcome, kab_xasprintf("no metrics of %s", names));
}

static void end_run(struct state *st)
{
	struct run *run = &st->run;

	check_untrusted(st, run);
	if (run->dispatched || run->rows)
		st->outcome.begun++;
	/* A row of zeros that took time is the sign of an ops-bound run that was ended; it is
	 * told as that, since "interrupted" would suggest that some figures exist. */
	if (was_interrupted(st, run) && (run->rows || (!run->zero_rows && !run->skipped.n)))
		kab_outcome_fail(
			&st->outcome,
			kab_xasprintf("interrupted: it ran %.2f s of %.0f s",
				      run->completed_s >= 0 ? run->completed_s : run->longest_s,
				      run->requested_s >= 0 ? run->requested_s
							    : st->echo_timeout_s));
	if (run->zero_rows) {
		kab_outcome_nothing(
			&st->outcome,
			kab_xasprintf("%s did no work: its bogo operations are 0", run->zero_name));
		kab_outcome_missing(
			&st->outcome,
			kab_xasprintf("%s did no work: its bogo operations are 0", run->zero_name));
	}
	explain_skips(st, run);
	if (run->rows) {
		st->outcome.finished++;
		explain_gaps(st, run);
		if (run->dispatched && run->completed_s < 0)
			kab_outcome_missing(
				&st->outcome,
				kab_xstrdup("the output stops before the end of the run"));
	} else if (run->completed_s >= 0) {
		kab_outcome_nothing(
			&st->outcome,
			kab_xstrdup(run->header ? "the table of metrics is empty"
						: "it printed no table of metrics; run it with "
						  "--metrics-brief"));
	}
	run_release(run);
	run->first_sample = st->ret->samples.n;
}

/* ---- lines ---- */

static bool run_has_content(const struct run *run)
{
	return run->dispatched || run->header || run->rows || run->completed_s >= 0;
}

/* "2 cpu, 1 vm" or "cpu 2, vm 1". */
static void read_hogs(struct run *run, const char *s)
{
	char name[KAB_STRESS_NAME_MAX];

	run->dispatched = true;
	while (*s && run->names.n < NAMES_MAX) {
		const char *p = kab_scan_blanks(s);
		size_t len;

		p += strspn(p, "0123456789");
		p = kab_scan_blanks(p);
		len = strspn(p, NAME_BYTES);
		if (len && len < sizeof(name) && strchr(", ", p[len])) {
			memcpy(name, p, len);
			name[len] = '\0';
			kab_strv_add(&run->names, name);
		}
		s += strcspn(s, ",");
		if (*s)
			s++;
	}
	free(run->has_row);
	run->has_row = kab_xcalloc(run->names.n ? run->names.n : 1, sizeof(*run->has_row));
	/* Nobody names a dozen by hand: such a run leaves out what does not work there. */
	if (run->names.n >= 12)
		run->class_run = true;
}

static void mark_row(struct run *run, const char *name)
{
	if (run->rows + run->zero_rows > ROWS_CHECKED_MAX)
		return;
	for (size_t i = 0; i < run->names.n; i++)
		if (!strcmp(run->names.v[i], name))
			run->has_row[i] = true;
}

static bool is_dispatched(const struct run *run, const char *name)
{
	for (size_t i = 0; i < run->names.n; i++)
		if (!strcmp(run->names.v[i], name))
			return true;
	return false;
}

static void take_row(struct state *st, const struct kab_stress_row *row)
{
	struct run *run = &st->run;

	if (row->bogo_ops == 0) {
		/* Up to 0.07 --metrics lists every stressor that there is, with zeros. */
		if (row->real_s == 0 && !is_dispatched(run, row->name))
			return;
		mark_row(run, row->name);
		if (!run->zero_rows)
			memcpy(run->zero_name, row->name, sizeof(run->zero_name));
		run->zero_rows++;
		return;
	}
	mark_row(run, row->name);
	if (row->real_s > run->longest_s)
		run->longest_s = row->real_s;
	run->rows++;
	kab_stress_ng_add_row(&st->ret->samples, row, run->ops_bound);
}

static void add_skip(struct run *run, const char *s, size_t len)
{
	char *name = kab_xstrndup(s, len);
	char *safe = kab_scan_escape(name);

	if (run->skipped.n < 16 && !kab_strv_has(&run->skipped, safe))
		kab_strv_add(&run->skipped, safe);
	free(safe);
	free(name);
}

/* "N: a (1) b (1)" behind "skipped:" or "metrics untrustworthy:". */
static void read_counted(const char *s, struct run *run, struct kab_strv *names, double *ret_count)
{
	struct kab_number n;
	const char *p = kab_scan_number(s, &n);

	*ret_count = p ? n.value : 0;
	if (!p || *p != ':' || n.value == 0)
		return;
	p++;
	for (int i = 0; i < 64; i++) {
		size_t len;

		p = kab_scan_blanks(p);
		len = strspn(p, NAME_BYTES);
		if (!len || !strchr(" (", p[len]))
			return;
		if (names)
			kab_strv_add_n(names, p, len);
		else
			add_skip(run, p, len);
		p += len;
		p += strcspn(p, ")");
		if (*p)
			p++;
	}
}

static void times_line(struct state *st, const char *text)
{
	static const struct {
		const char *words, *metric;
	} table[] = {
		{ "user time", "times_user" },
		{ "system time", "times_system" },
		{ "total time", "times_total" },
	};
	struct kab_number n;
	const char *rest = kab_scan_quantity(text, "s", &n);

	for (size_t i = 0; rest && i < KAB_ARRAY_SIZE(table); i++) {
		const char *bracket = kab_scan_after(rest, table[i].words);

		if (bracket && kab_scan_after(bracket, "("))
			kab_samples_add(&st->ret->samples, table[i].metric, "s",
					st->run.ops_bound ? KAB_DIR_LOWER : KAB_DIR_NONE, n.value);
	}
}

static void begin_part(struct state *st)
{
	if (run_has_content(&st->run))
		end_run(st);
	st->run.ops_bound = st->params_ops || st->echo_ops;
	st->run.class_run = st->echo_class && !st->params_named;
}

/* Sentences of a run as a whole; true when the line was one. */
static bool run_line(struct state *st, const struct kab_scan *scan, const char *text)
{
	struct run *run = &st->run;
	const char *rest, *p;
	double count;

	text = kab_scan_blanks(text);
	if ((rest = kab_scan_after(text, "setting to a ")) ||
	    (rest = kab_scan_after(text, "defaulting to a "))) {
		begin_part(st);
		run->requested_s = kab_stress_ng_duration(rest);
		run->ops_bound = run->ops_bound || run->requested_s >= 86400;
	} else if ((rest = kab_scan_after(text, "dispatching hogs:"))) {
		if (run_has_content(run))
			begin_part(st);
		run->ops_bound = run->ops_bound || st->params_ops || st->echo_ops;
		read_hogs(run, rest);
		run->class_run = (run->class_run || st->echo_class) && !st->params_named;
		st->outcome.started = true;
	} else if ((rest = strstr(text, "successful run completed in "))) {
		if (rest != text && rest - text >= 2 && !strncmp(rest - 2, "un", 2))
			kab_outcome_fail(&st->outcome,
					 kab_xstrdup("stress-ng reports an unsuccessful run"));
		if (scan->terminated || strstr(rest, "s (") || strstr(rest, "sec"))
			run->completed_s = kab_stress_ng_duration(
				rest + strlen("successful run completed in "));
	} else if ((rest = kab_scan_after(text, "skipped:"))) {
		read_counted(rest, run, NULL, &count);
		if (count > 0 && !run->skipped.n)
			add_skip(run, "stressors without names", 23);
	} else if ((rest = kab_scan_after(text, "failed:"))) {
		read_counted(rest, run, NULL, &count);
		if (count > 0)
			kab_outcome_fail(
				&st->outcome,
				kab_xasprintf("stress-ng counts %.0f failed stressors", count));
	} else if ((rest = kab_scan_after(text, "metrics untrustworthy:"))) {
		read_counted(rest, run, &run->untrusted, &count);
		run->all_untrusted = run->all_untrusted || (count > 0 && !run->untrusted.n);
	} else if (strstr(text, "metrics corrupted") ||
		   strstr(text, "corrupted bogo-ops counter")) {
		kab_outcome_fail(&st->outcome,
				 kab_xstrdup("stress-ng found its own metrics corrupted"));
	} else if ((p = strstr(text, "stressor will be skipped"))) {
		while (p > text && p[-1] == ' ')
			p--;
		add_skip(run, text, (size_t)(p - text));
	} else if ((rest = kab_scan_after(text, "disabled '")) && strchr(rest, '\'')) {
		add_skip(run, rest, strcspn(rest, "'"));
	} else if (kab_scan_after(text, "No stress workers invoked") ||
		   kab_scan_after(text, "No stressors invoked")) {
		add_skip(run, "no stress workers invoked", 25);
	} else if (kab_scan_after(text, "miscellaneous metrics:")) {
		run->misc = true;
	} else if (kab_scan_after(text, "stressor ") && strstr(text, "bogo ops")) {
		run->header = true;
		run->misc = false;
		run->columns.known = true;
		run->columns.cpu = strstr(text, "CPU used") != NULL;
		run->columns.rss = strstr(text, "RSS Max") != NULL;
	} else {
		return false;
	}
	return true;
}

static void tagged_line(struct state *st, const struct kab_scan *scan, enum kab_stress_tag tag,
			const char *text)
{
	struct kab_stress_row row;
	struct kab_stress_misc misc;
	char name[KAB_STRESS_NAME_MAX + 200];

	st->started = true;
	if (tag == KAB_STRESS_FAIL) {
		char *quoted kab_autofree = kab_scan_escape(kab_scan_blanks(text));

		kab_outcome_fail(&st->outcome, kab_xasprintf("stress-ng reports '%s'", quoted));
		return;
	}
	if (scan->overlong && !strstr(text, "dispatching hogs:"))
		return;
	if (run_line(st, scan, text))
		return;
	if (tag == KAB_STRESS_INFO && !st->run.header) {
		times_line(st, text);
		return;
	}
	if (kab_stress_ng_row(text, &st->run.columns, scan->terminated, &row)) {
		take_row(st, &row);
	} else if (scan->terminated &&
		   kab_stress_ng_misc(text, tag == KAB_STRESS_METRC && st->run.misc, &misc)) {
		snprintf(name, sizeof(name), "%s.misc[%s]", misc.name, misc.label);
		kab_samples_add(&st->ret->samples, name, misc.unit, misc.dir, misc.value);
	} else {
		times_line(st, text);
	}
}

/* The same figures may stand in the table: then the document adds nothing. */
static void end_yaml(struct state *st)
{
	struct kab_stress_yaml *y = &st->yaml;

	kab_stress_yaml_close(y);
	if (!y->seen || st->outcome.begun || st->outcome.finished) {
		kab_samples_release(&y->samples);
		return;
	}
	st->outcome.begun++;
	for (size_t i = 0; i < y->samples.n; i++)
		kab_samples_add(&st->ret->samples, y->samples.v[i].metric, y->samples.v[i].unit,
				y->samples.v[i].dir, y->samples.v[i].value);
	kab_samples_release(&y->samples);
	if (y->rows)
		st->outcome.finished++;
	if (y->zero_rows) {
		kab_outcome_nothing(&st->outcome,
				    kab_xstrdup("it did no work: its bogo operations are 0"));
		kab_outcome_missing(&st->outcome,
				    kab_xstrdup("one stressor did no work (0 bogo operations)"));
	}
	if (y->ended)
		kab_outcome_nothing(&st->outcome, kab_xstrdup("the YAML document has no metrics"));
	else
		kab_outcome_missing(&st->outcome,
				    kab_xstrdup("the YAML document stops before its end"));
}

/* ---- other lines ---- */

static void echo_line(struct state *st, const char *s)
{
	const char *p = strstr(s, "--timeout"), *rest;
	struct kab_number n;
	static const char *const classes[] = { "--class", "--sequential", "--seq ",
					       "--all",	  "--random",	  "--permute" };

	if (strstr(s, "-ops ") || strstr(s, "-ops="))
		st->echo_ops = true;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(classes); i++)
		if (strstr(s, classes[i]))
			st->echo_class = true;
	if (p)
		p += strlen("--timeout");
	else if ((p = strstr(s, " -t ")))
		p += strlen(" -t");
	if (!p)
		return;
	rest = kab_scan_number(*p == '=' ? p + 1 : p, &n);
	if (!rest)
		return;
	switch (*rest) {
	case 'm':
		n.value *= 60;
		break;
	case 'h':
		n.value *= 3600;
		break;
	case 'd':
		n.value *= 86400;
		break;
	case 'w':
		n.value *= 7 * 86400;
		break;
	}
	st->echo_timeout_s = n.value > 0 ? n.value : -1;
}

static char *untagged_failure(const char *s)
{
	static const char *const words[] = {
		"unrecognized option",	   "invalid option",   "option requires an argument",
		"Try 'stress-ng --help'",  "Unknown stressor", "unknown stressor",
		"is not a valid stressor", "Invalid number",   "Value "
	};
	const char *own = strstr(s, "stress-ng");
	char *quoted kab_autofree = NULL;

	for (size_t i = 0; i < KAB_ARRAY_SIZE(words); i++) {
		if (!strstr(s, words[i]))
			continue;
		if (!own && !kab_scan_after(s, words[i]))
			continue;
		if (!strcmp(words[i], "Value ") &&
		    !(kab_scan_after(s, "Value ") && strstr(s, " is out of range")))
			continue;
		quoted = kab_scan_escape(kab_scan_blanks(s));
		return kab_xasprintf("stress-ng refused its options: '%s'", quoted);
	}
	return NULL;
}

/* Where a line of --log-brief starts that no other program prints, or NULL. */
static const char *brief_start(const char *s)
{
	const char *at = strstr(s, "setting to a ");

	if (at && kab_stress_ng_duration(at + strlen("setting to a ")) >= 0)
		return at;
	at = strstr(s, "dispatching hogs:");
	if (at)
		return at;
	at = strstr(s, "stressor ");
	return at && kab_scan_after(at + strlen("stressor"), "bogo ops") ? at : NULL;
}

static void one_line(struct state *st, struct kab_scan *scan)
{
	const char *at, *text, *rest;
	enum kab_stress_tag tag = kab_stress_ng_tag(scan->s, &at, &text);
	char *failure;

	if (tag != KAB_STRESS_UNTAGGED) {
		tagged_line(st, scan, tag, text);
		return;
	}
	if (kab_stress_yaml_line(&st->yaml, scan, &st->ret->version))
		return;
	if (kab_scan_gnu_time(scan, &st->ret->samples))
		return;
	rest = strstr(scan->s, "stress-ng -");
	if (rest) {
		echo_line(st, rest);
		return;
	}
	rest = kab_scan_after(scan->s, "stress-ng, version ");
	if (rest && !st->ret->version) {
		char *version kab_autofree = kab_xstrndup(rest, strcspn(rest, " "));

		st->ret->version = kab_scan_escape(version);
	}
	failure = untagged_failure(scan->s);
	if (!failure)
		failure = kab_scan_wrapper_failure(scan->s, "stress-ng");
	if (failure) {
		kab_outcome_fail(&st->outcome, failure);
		return;
	}
	at = brief_start(scan->s);
	if (at) {
		kab_scan_learn(scan, at);
		st->brief = true;
	}
	if (st->brief)
		tagged_line(st, scan, KAB_STRESS_METRC, at ? at : scan->s);
}

void kab_stress_ng_parse(const struct kab_outputs *outputs, int exit_status,
			 const struct kab_params *params, struct kab_parse_result *ret)
{
	struct state st = { .ret = ret, .echo_timeout_s = -1 };
	struct kab_scan scan;
	int64_t n;

	memset(ret, 0, sizeof(*ret));
	if (!kab_params_int(params, "timeout_s", -1, &n, NULL) && n > 0)
		st.echo_timeout_s = (double)n;
	st.params_ops = !kab_params_int(params, "ops", 0, &n, NULL) && n > 0;
	st.params_named = kab_params_find(params, "stressors") != NULL;
	run_release(&st.run);
	st.run.ops_bound = st.params_ops;
	kab_scan_init(&scan, outputs);
	while (kab_scan_next(&scan))
		if (*scan.s)
			one_line(&st, &scan);
	kab_scan_release(&scan);
	if (run_has_content(&st.run) || st.run.skipped.n)
		end_run(&st);
	run_release(&st.run);
	end_yaml(&st);
	/* 3 and 4 say that something was lacking: all skipped, not failed. */
	if ((exit_status == 3 || exit_status == 4) && st.any_skip && !st.outcome.finished)
		exit_status = 0;
	st.outcome.started = st.outcome.started || st.started;
	kab_outcome_finish(&st.outcome, outputs, exit_status, "table of metrics", ret);
}
