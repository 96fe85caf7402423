/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Result roots of lkp-tests: .../TESTCASE/PARAMS/TBOX_GROUP/ROOTFS/KCONFIG/COMPILER/COMMIT/N. Of the
 * test cases hackbench is read: hackbench.json (or stats.json, or matrix.json) has what lkp computed, the file
 * hackbench the output of the benchmark. The lab boots for each N; a local run (job.yaml: local_run)
 * does not. Layout: lib/result.rb, stats/hackbench of lkp-tests, where throughput is bytes >> 10 over
 * seconds.
 */
#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/text.h"
#include "exchange/import_files.h"
#include "exchange/import_log.h"

#define RUNNER "lkp"
#define TESTCASE "hackbench"
#define COMMIT_LENGTH 40
#define LABEL_LENGTH 12

/* Levels of the path above N, from below. */
enum level { COMMIT, COMPILER, KCONFIG, ROOTFS, TBOX, PARAMS, TEST, LEVELS };

static const char *const level_name[LEVELS] = { "commit",     "compiler", "kconfig", "rootfs",
						"tbox_group", "params",	  "testcase" };

/* A folder N. */
struct job {
	char *dir; /* to open it */
	char *kernel; /* label */
	char *level[LEVELS]; /* shown; NULL: the path is shorter */
	bool json, stats, log, yaml, matrix; /* which of the files are there */
};

struct lkp {
	const struct kab_import_from *from;
	struct {
		struct job *v;
		size_t n, cap;
	} jobs;
	bool mixed[LEVELS]; /* jobs of one kernel differ in it */
	bool local_run, throughput;
};

static void lkp_release(struct lkp *l)
{
	for (size_t i = 0; i < l->jobs.n; i++) {
		free(l->jobs.v[i].dir);
		free(l->jobs.v[i].kernel);
		for (size_t k = 0; k < LEVELS; k++)
			free(l->jobs.v[i].level[k]);
	}
	free(l->jobs.v);
}

static bool is_digits(const char *s)
{
	return *s && !s[strspn(s, "0123456789")];
}

static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? kab_xstrndup(path, (size_t)(slash - path)) : kab_xstrdup(".");
}

/* The parts of the real path, as far as it has them: a test case nearer to the root than the layout
 * says is none. */
static void fill_levels(struct job *job)
{
	char *real = realpath(job->dir, NULL);
	struct kab_strv kab_autostrv words = KAB_STRV_INIT;

	if (!real)
		return;
	kab_strv_split(&words, real, '/');
	free(real);
	for (size_t k = 0; k < LEVELS && k + 2 <= words.n; k++)
		if (*words.v[words.n - 2 - k])
			job->level[k] = kab_import_shown(words.v[words.n - 2 - k]);
	if (job->level[TEST] && !strcmp(job->level[TEST], TESTCASE))
		return;
	/* Copied to another place: only what is next to the numbers can be told. */
	for (size_t k = COMPILER; k < LEVELS; k++) {
		free(job->level[k]);
		job->level[k] = NULL;
	}
}

static bool is_commit(const char *s)
{
	return s && strlen(s) == COMMIT_LENGTH && strspn(s, "0123456789abcdef") == COMMIT_LENGTH;
}

static int set_kernel(struct job *job, const char *label, struct kab_import *ret,
		      struct kab_err *err)
{
	const char *commit = job->level[COMMIT];

	if (label)
		job->kernel = kab_xstrdup(label);
	else if (is_commit(commit))
		job->kernel = kab_xstrndup(commit, LABEL_LENGTH);
	else
		job->kernel = kab_xstrdup(commit ? commit : "");
	if (!kab_text_is_label(job->kernel))
		return kab_err_set(err, KAB_ERR_USAGE,
				   "'%s' is no label of a kernel: name the folder as LABEL=%s",
				   job->kernel, job->dir);
	if (is_commit(commit))
		kab_import_note(ret, "%s is commit %s", job->kernel, commit);
	return 0;
}

/* What of a folder N is read; -1 for other files. */
static int kind_of(const char *name)
{
	static const char *const names[] = { TESTCASE ".json", "stats.json", TESTCASE, "job.yaml",
					     "matrix.json" };

	for (size_t i = 0; i < KAB_ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return (int)i;
	return -1;
}

static struct job *job_of(struct lkp *l, const char *dir)
{
	for (size_t i = l->jobs.n; i-- > 0;)
		if (!strcmp(l->jobs.v[i].dir, dir))
			return &l->jobs.v[i];
	return NULL;
}

static int find_file(struct lkp *l, const struct kab_import_source *src,
		     const struct kab_import_file *file, struct kab_import *ret,
		     struct kab_err *err)
{
	char *dir kab_autofree = folder_of(file->path);
	char *real kab_autofree = realpath(dir, NULL);
	int kind = kind_of(kab_import_base(file->path));
	struct job *job;

	if (kind < 0 || !is_digits(kab_import_base(real ? real : dir))) {
		kab_import_unread(ret, file->path,
				  kind < 0 ? "not one of the files that are read"
					   : "not in a folder N of a job");
		return 0;
	}
	job = job_of(l, dir);
	if (!job) {
		job = KAB_PUSH(&l->jobs);
		job->dir = kab_xstrdup(dir);
		fill_levels(job);
		if (set_kernel(job, src->kernel, ret, err))
			return -1;
	}
	job->json |= kind == 0;
	job->stats |= kind == 1;
	job->log |= kind == 2;
	job->yaml |= kind == 3;
	job->matrix |= kind == 4;
	return 0;
}

static bool same_kernel(const struct job *a, const struct job *b)
{
	return !strcmp(a->kernel, b->kernel);
}

static const char *or_none(const char *text)
{
	return text ? text : "";
}

/* Root file system, configuration and compiler: what differs within a kernel parts the rows, what
 * differs between kernels is said. */
static void compare_levels(struct lkp *l, struct kab_import *ret)
{
	for (size_t k = COMPILER; k <= ROOTFS; k++) {
		struct kab_strv kab_autostrv values = KAB_STRV_INIT;
		char *all kab_autofree = NULL;

		for (size_t i = 0; i < l->jobs.n; i++) {
			const char *value = or_none(l->jobs.v[i].level[k]);

			for (size_t j = 0; j < i; j++)
				l->mixed[k] |= same_kernel(&l->jobs.v[i], &l->jobs.v[j]) &&
					       strcmp(value, or_none(l->jobs.v[j].level[k])) != 0;
			if (!kab_strv_has(&values, value))
				kab_strv_add(&values, value);
		}
		all = kab_strv_join(&values, ", ");
		if (values.n > 1 && !l->mixed[k])
			kab_import_caveat(ret, "%s differs between the kernels: %s", level_name[k],
					  all);
	}
}

static char *condition_of(const struct lkp *l, const struct job *job)
{
	struct kab_buf buf = KAB_BUF_INIT;

	for (size_t k = COMPILER; k <= ROOTFS; k++)
		if (l->mixed[k])
			kab_buf_addf(&buf, "%s%s=%s", buf.len ? " " : "", level_name[k],
				     or_none(job->level[k]));
	return buf.data ? kab_buf_detach(&buf) : kab_xstrdup("");
}

static void add_values(struct lkp *l, struct kab_import_iter *it, const char *key,
		       const json_t *value, struct kab_import *ret)
{
	char *metric kab_autofree = kab_import_shown(key);
	bool rate = !strncmp(metric, "throughput", 10);
	size_t n = json_is_array(value) ? json_array_size(value) : 1;

	for (size_t i = 0; i < n; i++) {
		const json_t *v = json_is_array(value) ? json_array_get(value, i) : value;

		if (!json_is_number(v)) {
			kab_import_note(ret, "'%s' is no number and was not read", metric);
			continue;
		}
		/* lkp fills what is missing with zeros. */
		if (rate && !(json_number_value(v) > 0)) {
			kab_import_note(ret, "a '%s' of 0 is no result and was not read", metric);
			continue;
		}
		kab_samples_add(&it->samples, metric, rate ? "KiB/s" : "",
				rate ? KAB_DIR_HIGHER : KAB_DIR_NONE, json_number_value(v));
	}
	if (rate)
		kab_import_note(ret,
				"throughput is in KiB/s, higher is better: so lkp computes it");
	else
		kab_import_note(ret, "unit and direction of '%s' are not known", metric);
	l->throughput |= !strcmp(metric, "throughput");
}

/* Of figures of all monitors those of the benchmark. */
static void add_own(struct lkp *l, struct kab_import_iter *it, json_t *doc, struct kab_import *ret)
{
	json_t *value;
	const char *key;

	json_object_foreach (doc, key, value)
		if (!strncmp(key, TESTCASE ".", sizeof(TESTCASE)))
			add_values(l, it, key + sizeof(TESTCASE), value, ret);
}

static int load_json(const struct job *job, const char *name, struct kab_import *ret,
		     json_t **ret_doc, struct kab_err *err)
{
	char *path kab_autofree = kab_xasprintf("%s/%s", job->dir, name);
	char *shown kab_autofree = kab_import_shown(path);
	struct kab_buf kab_autobuf bytes = KAB_BUF_INIT;

	if (kab_import_read(ret, path, &bytes, err) ||
	    kab_json_load_bytes(shown, kab_buf_str(&bytes), bytes.len, ret_doc, err))
		return -1;
	if (json_is_object(*ret_doc))
		return 0;
	json_decref(*ret_doc);
	*ret_doc = NULL;
	return kab_err_set_at(err, KAB_ERR_PARSE, shown, "%s: expected an object of metrics",
			      shown);
}

/* What lkp itself says of the job, and its figures where hackbench.json is not there. */
static int read_stats(struct lkp *l, const struct job *job, struct kab_import_iter *it,
		      char **ret_failure, struct kab_import *ret, struct kab_err *err)
{
	static const char *const signs[] = { "last_state.is_incomplete_run", "last_state.exit_fail",
					     "last_state.test." TESTCASE ".exit_code", NULL };
	json_t *doc, *value;

	if (load_json(job, "stats.json", ret, &doc, err))
		return -1;
	for (size_t i = 0; signs[i] && !*ret_failure; i++) {
		value = json_object_get(doc, signs[i]);
		if (json_is_array(value))
			value = json_array_get(value, 0);
		if (json_is_number(value) && json_number_value(value) != 0)
			*ret_failure = kab_xasprintf("lkp says %s", signs[i]);
	}
	if (!job->json)
		add_own(l, it, doc, ret);
	json_decref(doc);
	return 0;
}

/* Only this one is left of what lkp wrote. */
static int read_matrix(struct lkp *l, const struct job *job, struct kab_import_iter *it,
		       struct kab_import *ret, struct kab_err *err)
{
	json_t *doc;

	if (load_json(job, "matrix.json", ret, &doc, err))
		return -1;
	add_own(l, it, doc, ret);
	json_decref(doc);
	return 0;
}

static int read_figures(struct lkp *l, const struct job *job, struct kab_import_iter *it,
			struct kab_import *ret, struct kab_err *err)
{
	json_t *doc, *value;
	const char *key;

	if (load_json(job, TESTCASE ".json", ret, &doc, err))
		return -1;
	json_object_foreach (doc, key, value)
		add_values(l, it,
			   strncmp(key, TESTCASE ".", sizeof(TESTCASE)) ? key
									: key + sizeof(TESTCASE),
			   value, ret);
	json_decref(doc);
	return 0;
}

/* A line "local_run: 1" at the top level of the job. */
static void read_job(struct lkp *l, const struct job *job, struct kab_import *ret)
{
	char *path kab_autofree = kab_xasprintf("%s/job.yaml", job->dir);
	struct kab_buf kab_autobuf bytes = KAB_BUF_INIT;
	struct kab_strv kab_autostrv lines = KAB_STRV_INIT;

	if (kab_import_read(ret, path, &bytes, NULL))
		return;
	kab_strv_split(&lines, kab_buf_str(&bytes), '\n');
	for (size_t i = 0; i < lines.n; i++) {
		const char *v = lines.v[i];

		if (strncmp(v, "local_run:", 10))
			continue;
		v += 10 + strspn(v + 10, " \t'\"");
		l->local_run |= *v == '1' || !strncmp(v, "true", 4);
	}
}

/* The output of the benchmark: its times beside what lkp made of them, and whether it ran to its end.
 */
static int read_log(const struct job *job, struct kab_import_iter *it, char **ret_failure,
		    struct kab_import *ret, struct kab_err *err)
{
	const struct kab_runner *runner = kab_runner_find(TESTCASE);
	char *path kab_autofree = kab_xasprintf("%s/" TESTCASE, job->dir);
	struct kab_buf kab_autobuf bytes = KAB_BUF_INIT;
	struct kab_params params = { 0 };
	struct kab_parse_result parsed = { 0 };
	struct kab_stream stream;
	struct kab_outputs outputs = { &stream, 1 };

	if (kab_import_read(ret, path, &bytes, err))
		return -1;
	stream = (struct kab_stream){ "merged", kab_buf_str(&bytes), bytes.len, bytes.cut };
	runner->parse(&outputs, KAB_EXIT_UNKNOWN, &params, &parsed);
	if (parsed.status == KAB_PARSE_TOOL_FAILED || parsed.status == KAB_PARSE_TRUNCATED)
		*ret_failure = kab_xstrdup(parsed.message ? parsed.message
							  : kab_parse_status_name(parsed.status));
	for (size_t i = 0; i < parsed.samples.n; i++) {
		const struct kab_sample *s = &parsed.samples.v[i];

		kab_samples_add(&it->samples, s->metric, s->unit, s->dir, s->value);
	}
	it->log_len = bytes.len;
	it->log_cut = bytes.cut;
	it->log = bytes.len ? kab_buf_detach(&bytes) : kab_xstrdup("");
	kab_parse_result_release(&parsed);
	return 0;
}

static int read_one(struct lkp *l, const struct job *job, struct kab_import *ret,
		    struct kab_err *err)
{
	char *row kab_autofree = job->level[PARAMS] ? kab_xasprintf("params=%s", job->level[PARAMS])
						    : kab_xstrdup("");
	char *condition kab_autofree = condition_of(l, job), *failure kab_autofree = NULL;
	struct kab_import_place place = {
		.kernel = job->kernel,
		.host = l->from->host ? l->from->host : job->level[TBOX],
		.condition = condition,
		.case_name = l->from->case_name ? l->from->case_name : TESTCASE,
		.row_key = row,
		.runner = RUNNER,
	};
	struct kab_import_iter *it = kab_import_add(ret, &place, job->dir);

	if (job->yaml)
		read_job(l, job, ret);
	if ((job->json && read_figures(l, job, it, ret, err)) ||
	    (job->log && read_log(job, it, &failure, ret, err)) ||
	    (job->stats && read_stats(l, job, it, &failure, ret, err)) ||
	    (job->matrix && !job->json && !job->stats && read_matrix(l, job, it, ret, err)))
		return -1;
	if (job->matrix && (job->json || job->stats)) {
		char *path kab_autofree = kab_xasprintf("%s/matrix.json", job->dir);

		kab_import_unread(ret, path, "its figures are in the files beside it");
	}
	if (!failure && !it->samples.n)
		failure = kab_xstrdup("no figure of hackbench, neither from lkp nor in its output");
	if (failure)
		kab_import_fail(ret, it, failure);
	return 0;
}

static int judge(const struct lkp *l, struct kab_import *ret, struct kab_err *err)
{
	const char *case_name = l->from->case_name ? l->from->case_name : TESTCASE;

	if (l->throughput)
		return kab_import_judge(ret, case_name, RUNNER, "throughput", "KiB/s",
					KAB_DIR_HIGHER, NULL, err);
	return kab_import_judge(ret, case_name, RUNNER, "time", "s", KAB_DIR_LOWER, NULL, err);
}

static void end_boots(const struct lkp *l, struct kab_import *ret)
{
	if (l->local_run && !l->from->boots) {
		kab_import_caveat(ret,
				  "job.yaml says local_run: the machine was not booted for each "
				  "run, so that boots are unknown; --boots says that it was");
		return;
	}
	ret->boots_known = true;
	ret->boots_text = kab_xstrdup(l->from->boots ? "each run is one (--boots)"
						     : "each run is one: lkp boots for every run");
}

int kab_import_lkp(const struct kab_import_source *sources, size_t n,
		   const struct kab_import_from *from, struct kab_import *ret, struct kab_err *err)
{
	struct lkp l = { .from = from };
	int rc = 0;

	*ret = (struct kab_import){ 0 };
	for (size_t s = 0; !rc && s < n; s++) {
		struct kab_import_files files = { 0 };

		rc = kab_import_walk(sources[s].path, &files, NULL, ret, err);
		for (size_t i = 0; !rc && i < files.n; i++)
			rc = find_file(&l, &sources[s], &files.v[i], ret, err);
		kab_import_files_release(&files);
	}
	if (!rc)
		compare_levels(&l, ret);
	for (size_t i = 0; !rc && i < l.jobs.n; i++) {
		const struct job *job = &l.jobs.v[i];

		/* Another test case beside ours: its folders look alike. */
		if (!job->json && !job->log && !job->matrix && !job->level[TEST])
			kab_import_unread(ret, job->dir,
					  "of a test case that is not read; " TESTCASE " is");
		else
			rc = read_one(&l, job, ret, err);
		kab_import_tell(from, i + 1, l.jobs.n);
	}
	if (!rc && !ret->n)
		rc = kab_err_set(err, KAB_ERR_NOT_FOUND,
				 "no result of hackbench: expected .../" TESTCASE
				 "/PARAMS/HOST/ROOTFS/KCONFIG/COMPILER/COMMIT/N%s%s",
				 ret->unread.n ? "; found for example " : "",
				 ret->unread.n ? ret->unread.v[0] : "");
	if (!rc)
		rc = judge(&l, ret, err);
	if (!rc)
		end_boots(&l, ret);
	lkp_release(&l);
	return rc;
}
