/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Logs of a benchmark to iterations, through its runner. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "exchange/import_build.h"
#include "exchange/import_files.h"
#include "exchange/import_formats.h"
#include "exchange/import_log.h"
#include "model/expr.h"
#include "runners/runner.h"

struct kab_import_iter *kab_import_add_log(struct kab_import *import,
					   const struct kab_runner *runner,
					   const struct kab_import_place *place,
					   const struct kab_import_log *log,
					   const struct kab_params *params, int exit_status)
{
	struct kab_stream stream = { "merged", log->bytes, log->len, log->cut };
	struct kab_outputs outputs = { &stream, 1 };
	struct kab_parse_result parsed = { 0 };
	struct kab_import_iter *it = kab_import_add(import, place, log->boot);
	bool usable;

	runner->parse(&outputs, exit_status, params, &parsed);
	usable = parsed.status == KAB_PARSE_OK || parsed.status == KAB_PARSE_PARTIAL;
	free(it->params);
	it->params = kab_params_canonical(params, 1);
	free(it->parse_status);
	it->parse_status = kab_xstrdup(kab_parse_status_name(parsed.status));
	it->parser_version = kab_xstrdup(runner->parser_version);
	it->runner_version = kab_xstrdup(parsed.version);
	it->exit_status = exit_status;
	it->log = kab_xmemdup(log->len ? log->bytes : "", log->len ? log->len : 1);
	it->log_len = log->len;
	it->log_cut = log->cut;
	if (usable) {
		it->reason = kab_xstrdup(parsed.message);
		it->samples = parsed.samples;
		parsed.samples = (struct kab_samples){ 0 };
	} else {
		const char *why = parsed.message ? parsed.message : it->parse_status;
		char *named kab_autofree =
			log->shown ? kab_xasprintf("%s: %s", log->shown, why) : kab_xstrdup(why);

		kab_import_fail(import, it, named);
	}
	kab_parse_result_release(&parsed);
	return it;
}

static int check_label(const char *label, struct kab_err *err)
{
	if (kab_text_is_label(label))
		return 0;
	return kab_err_set(err, KAB_ERR_USAGE,
			   "'%s' is no label of a kernel: letters, digits and . _ + - are", label);
}

static int judge_primary(struct kab_import *import, const struct kab_runner *runner,
			 const char *case_name, struct kab_err *err)
{
	const struct kab_metric_def *primary = kab_runner_primary(runner);

	return kab_import_judge(import, case_name, runner->name, primary->name, primary->unit,
				primary->dir, NULL, err);
}

int kab_import_logs(const struct kab_import_log *logs, size_t n,
		    const struct kab_import_logs_opts *opts, struct kab_import *ret,
		    struct kab_err *err)
{
	const struct kab_runner *runner = kab_runner_get(opts->runner, err);
	struct kab_import_place place = { .host = opts->host };

	*ret = (struct kab_import){ 0 };
	if (!runner || kab_runner_check_params(runner, opts->params, err))
		return -1;
	place.runner = runner->name;
	place.case_name = opts->case_name ? opts->case_name : runner->name;
	for (size_t i = 0; i < n; i++) {
		struct kab_import_log log = logs[i];
		char *own kab_autofree = kab_xasprintf("%zu", i + 1);

		if (check_label(log.kernel, err))
			return -1;
		if (opts->boots)
			log.boot = own;
		place.kernel = log.kernel;
		kab_import_digest(ret, log.bytes, log.len);
		kab_import_add_log(ret, runner, &place, &log, opts->params, opts->exit_status);
	}
	if (!n)
		return kab_err_set(err, KAB_ERR_USAGE, "no log was named");
	ret->boots_known = opts->boots;
	return judge_primary(ret, runner, place.case_name, err);
}

bool kab_import_matches(const char *path, const struct kab_import_from *from)
{
	return !from->match || !fnmatch(from->match, kab_import_base(path), 0);
}

void kab_import_tell(const struct kab_import_from *from, size_t done, size_t all)
{
	if (from->progress)
		from->progress(from->ctx, done, all);
}

/* "boot1" of "boot1/x/3.log"; NULL for a file that lies in the folder itself. Caller frees. */
static char *first_folder(const char *below)
{
	const char *slash = strchr(below, '/');

	return slash ? kab_xstrndup(below, (size_t)(slash - below)) : NULL;
}

/* Folders below the one that was named are boots, when there are any. */
static int find_boots(const struct kab_import_source *src, size_t folder,
		      const struct kab_import_files *files, size_t first, size_t end,
		      const struct kab_import_from *from, char ***ret, bool *ret_folders,
		      struct kab_err *err)
{
	size_t n = end - first, loose = 0, deep = 0;

	*ret = kab_xcalloc(n + 1, sizeof(**ret));
	for (size_t i = 0; i < n; i++) {
		char *name kab_autofree = first_folder(files->v[first + i].below);

		if (!kab_import_matches(files->v[first + i].path, from))
			continue;
		if (name) {
			(*ret)[i] = kab_xasprintf("%zu/%s", folder, name);
			deep++;
		} else {
			loose++;
		}
	}
	*ret_folders = deep > 0;
	if (loose && deep)
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "'%s' has %zu files beside its sub-folders, which are taken to "
				   "be boots: which boot are those from? move them, or leave them "
				   "out with --match",
				   src->path, loose);
	return 0;
}

/* What the sources have in common: all must say as much of boots. */
struct boots_seen {
	size_t with, without; /* sources whose sub-folders are boots, and others */
};

static int end_boots(struct kab_import *import, const struct kab_import_from *from,
		     const struct boots_seen *seen, struct kab_err *err)
{
	if (from->boots) {
		import->boots_known = true;
		import->boots_text = kab_xstrdup("each file is from a boot of its own (--boots)");
	} else if (seen->with && seen->without) {
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "some folders have sub-folders, which are boots, and other "
				   "files have none: say of all of them which boot they are from, "
				   "by sub-folders or --boots");
	} else if (seen->with) {
		import->boots_known = true;
		import->boots_text = kab_xstrdup("each sub-folder is one");
	}
	return 0;
}

/* By content: an archive of old logs may be called anything. */
static bool is_compressed(const struct kab_buf *bytes)
{
	static const struct {
		const char *magic;
		size_t n;
	} known[] = {
		{ "\x1f\x8b", 2 }, /* gzip, RFC 1952 */
		{ "\xfd"
		  "7zXZ\0",
		  6 },
		{ "\x28\xb5\x2f\xfd", 4 }, /* zstd, RFC 8878 */
		{ "BZh", 3 },
	};

	for (size_t i = 0; i < KAB_ARRAY_SIZE(known); i++)
		if (bytes->len >= known[i].n && !memcmp(bytes->data, known[i].magic, known[i].n))
			return true;
	return false;
}

/* What a failure calls a file: its path below the folder that was named. */
static char *shown_name(const struct kab_import_file *file)
{
	if (!strcmp(file->path, "-"))
		return NULL;
	return kab_import_shown(*file->below ? file->below : kab_import_base(file->path));
}

/* The files of one source, [first, end) of all. */
struct span {
	const struct kab_import_source *src;
	size_t index, first, end;
};

static int read_source(const struct span *span, const struct kab_import_files *files,
		       const struct kab_import_from *from, kab_import_one *one, void *ctx,
		       struct boots_seen *seen, struct kab_import *ret, struct kab_err *err)
{
	char **boots = NULL;
	bool folders = false;
	int rc = 0;

	if (!from->boots)
		rc = find_boots(span->src, span->index, files, span->first, span->end, from, &boots,
				&folders, err);
	seen->with += folders;
	seen->without += !folders;
	for (size_t i = span->first; !rc && i < span->end; i++) {
		struct kab_buf kab_autobuf bytes = KAB_BUF_INIT;
		char *own kab_autofree = kab_xasprintf("%zu", i + 1);
		char *shown kab_autofree = shown_name(&files->v[i]);
		struct kab_import_log log = { .kernel = span->src->kernel, .shown = shown };

		kab_import_tell(from, i + 1, files->n);
		if (!kab_import_matches(files->v[i].path, from)) {
			kab_import_unread(ret, files->v[i].path, "does not fit --match");
			continue;
		}
		rc = kab_file_read(files->v[i].path, &bytes, err);
		if (!rc && is_compressed(&bytes)) {
			kab_import_unread(ret, files->v[i].path, "compressed; unpack it first");
			continue;
		}
		if (!rc)
			kab_import_digest(ret, bytes.data, bytes.len);
		log.file = files->v[i].path;
		log.bytes = kab_buf_str(&bytes);
		log.len = bytes.len;
		log.cut = bytes.cut;
		log.boot = from->boots ? own : boots ? boots[i - span->first] : NULL;
		if (!rc)
			rc = one(ctx, &log, ret, err);
	}
	for (size_t i = 0; boots && i < span->end - span->first; i++)
		free(boots[i]);
	free(boots);
	return rc;
}

int kab_import_each_file(const struct kab_import_source *sources, size_t n,
			 const struct kab_import_from *from, kab_import_one *one, void *ctx,
			 struct kab_import *ret, struct kab_err *err)
{
	struct span *spans kab_autofree = kab_xcalloc(n + 1, sizeof(*spans));
	struct kab_import_files files = { 0 };
	struct boots_seen seen = { 0 };
	int rc = 0;

	for (size_t s = 0; !rc && s < n; s++) {
		spans[s] = (struct span){ .src = &sources[s], .index = s, .first = files.n };
		if (!sources[s].kernel)
			rc = kab_err_set(err, KAB_ERR_USAGE,
					 "of which kernel is '%s'? write LABEL=%s, or one --kernel "
					 "LABEL for all files",
					 sources[s].path, sources[s].path);
		if (!rc)
			rc = check_label(sources[s].kernel, err);
		if (!rc)
			rc = kab_import_walk(sources[s].path, &files, NULL, ret, err);
		spans[s].end = files.n;
	}
	for (size_t s = 0; !rc && s < n; s++)
		rc = read_source(&spans[s], &files, from, one, ctx, &seen, ret, err);
	kab_import_files_release(&files);
	if (!rc && !ret->n && !ret->summaries.n)
		rc = kab_err_set(err, KAB_ERR_NOT_FOUND, "there is no file to read%s%s",
				 ret->unread.n ? "; left out: " : "",
				 ret->unread.n ? ret->unread.v[0] : "");
	return rc ? rc : end_boots(ret, from, &seen, err);
}

struct log_reader {
	const struct kab_runner *runner;
	struct kab_import_place place;
	const struct kab_import_from *from;
};

static int read_one(void *ctx, const struct kab_import_log *log, struct kab_import *ret,
		    struct kab_err *err)
{
	struct log_reader *r = ctx;

	(void)err;
	r->place.kernel = log->kernel;
	kab_import_add_log(ret, r->runner, &r->place, log, r->from->params, r->from->exit_status);
	return 0;
}

int kab_import_log_files(const struct kab_import_source *sources, size_t n,
			 const struct kab_import_from *from, struct kab_import *ret,
			 struct kab_err *err)
{
	struct log_reader reader = { .runner = kab_runner_get(from->runner, err), .from = from };

	*ret = (struct kab_import){ 0 };
	if (!reader.runner || kab_runner_check_params(reader.runner, from->params, err))
		return -1;
	reader.place.host = from->host;
	reader.place.runner = reader.runner->name;
	reader.place.case_name = from->case_name ? from->case_name : reader.runner->name;
	if (kab_import_each_file(sources, n, from, read_one, &reader, ret, err))
		return -1;
	return judge_primary(ret, reader.runner, reader.place.case_name, err);
}
