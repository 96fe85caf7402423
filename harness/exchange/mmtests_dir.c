/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Folders that mmtests leaves: work/log/RUN/iter-N/TEST/logs/FILE (older: noprofile in place of logs).
 * Of the tests hackbench is read: TEST is hackbench-process-pipes and so on, FILE hackbench-GROUPS or
 * hackbench-GROUPS-ITERATION, each the output of one or more runs. run-mmtests.sh goes through its
 * iterations without a reboot: all of a RUN is one boot, and whether two RUNs are two boots the
 * folders do not say. Layout: run-mmtests.sh and shellpack_src/src/hackbench of mmtests.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "exchange/import_files.h"
#include "exchange/import_log.h"
#include "model/expr.h"

#define UNAME_MAX 512

/* One file, where it lies: the words of its path. test and profile are NULL for a file that belongs to
 * no test. */
struct parts {
	struct kab_strv words;
	const char *run; /* name of the folder above iter-N */
	char *run_path; /* owned */
	const char *test, *profile, *file;
};

static void parts_release(struct parts *p)
{
	kab_strv_release(&p->words);
	free(p->run_path);
}

struct reader {
	const struct kab_import_from *from;
	const struct kab_runner *runner;
	struct kab_strv kernels, releases; /* which kernel ran which release: pairs */
};

static bool is_iter(const char *name)
{
	return !strncmp(name, "iter-", 5) && isdigit((unsigned char)name[5]) &&
	       !name[5 + strspn(name + 5, "0123456789")];
}

/* The last folder iter-N tells the others, whichever of them the user has named. False when there is
 * none. */
static bool take_apart(const char *top, const char *below, struct parts *ret)
{
	char *whole kab_autofree = kab_xasprintf("%s%s%s", top, *below ? "/" : "", below);
	size_t n, at;

	*ret = (struct parts){ .run = "" };
	kab_strv_split(&ret->words, whole, '/');
	n = ret->words.n;
	ret->file = ret->words.v[n - 1];
	for (at = n - 1; at-- > 1;)
		if (is_iter(ret->words.v[at]))
			break;
	if (at < 1 || at >= n || !is_iter(ret->words.v[at]))
		return false;
	ret->run = ret->words.v[at - 1];
	for (size_t i = 0; i < at; i++) {
		char *longer = kab_xasprintf("%s%s%s", ret->run_path ? ret->run_path : "",
					     i ? "/" : "", ret->words.v[i]);

		free(ret->run_path);
		ret->run_path = longer;
	}
	if (n == at + 4) {
		ret->test = ret->words.v[at + 1];
		ret->profile = ret->words.v[at + 2];
	}
	return true;
}

static const char *known_of(const struct parts *p)
{
	static const char *const of_iter[] = {
		"dmesg",    "kernel.version", "lscpu",	"numactl",	"lstopo",
		"cpupower", "kconfig-",	      "tests-", "cpu-topology", "cpu-vunerabilities",
		"lsscsi",   "cstate-",	      NULL
	};

	for (size_t i = 0; !p->test && of_iter[i]; i++)
		if (!strncmp(p->file, of_iter[i], strlen(of_iter[i])))
			return "a record of mmtests";
	if (p->test && !strncmp(p->file, "mmtests.log", 11))
		return "a record of mmtests";
	return NULL;
}

/* "hackbench-8" or "hackbench-8-3". */
static bool is_result(const char *name, char groups[16])
{
	const char *p = name + 10;
	size_t n;

	if (strncmp(name, "hackbench-", 10))
		return false;
	n = strspn(p, "0123456789");
	if (!n || n > 9)
		return false;
	memcpy(groups, p, n);
	groups[n] = '\0';
	p += n;
	if (*p == '-' && isdigit((unsigned char)p[1]))
		p += 1 + strspn(p + 1, "0123456789");
	return !*p;
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcmp(s + n - m, end);
}

/* Why a file is none of the results, or NULL. */
static const char *refusal(const struct parts *p, char groups[16])
{
	const char *known = known_of(p);

	if (known)
		return known;
	if (!p->test)
		return "no result";
	if (strncmp(p->test, "hackbench", 9))
		return "of a test that is not read; hackbench is";
	if (strcmp(p->profile, "logs") && strcmp(p->profile, "noprofile"))
		return "measured under a profiler";
	if (ends_with(p->file, ".gz") || ends_with(p->file, ".xz"))
		return "compressed; unpack it first";
	if (!is_result(p->file, groups))
		return "no result of hackbench";
	return NULL;
}

/* The release in what uname -a prints: its third word. */
static void note_release(struct reader *r, const char *kernel, const char *path,
			 struct kab_import *ret)
{
	struct kab_buf kab_autobuf bytes = KAB_BUF_INIT;
	struct kab_strv kab_autostrv words = KAB_STRV_INIT;
	char *shown kab_autofree = NULL;

	kab_buf_init(&bytes, UNAME_MAX);
	if (kab_import_read(ret, path, &bytes, NULL))
		return;
	kab_strv_split(&words, kab_buf_str(&bytes), ' ');
	if (words.n < 3)
		return;
	shown = kab_import_shown(words.v[2]);
	for (size_t i = 0; i < r->kernels.n; i++) {
		bool kernel_is = !strcmp(r->kernels.v[i], kernel);
		bool release_is = !strcmp(r->releases.v[i], shown);

		if (kernel_is && release_is)
			return;
		if (kernel_is)
			kab_import_caveat(ret, "%s ran more than one release: %s and %s", kernel,
					  r->releases.v[i], shown);
		else if (release_is)
			kab_import_caveat(ret, "%s and %s ran one and the same release: %s",
					  r->kernels.v[i], kernel, shown);
	}
	kab_strv_add(&r->kernels, kernel);
	kab_strv_add(&r->releases, shown);
	kab_import_note(ret, "%s ran %s (kernel.version)", kernel, shown);
}

static void set_params(const char *test, const char *groups, struct kab_params *ret)
{
	kab_params_set(ret, "groups", groups);
	kab_params_set(ret, "threads", strstr(test, "-thread") ? "true" : "false");
	kab_params_set(ret, "pipe", strstr(test, "-pipe") ? "true" : "false");
}

static int read_result(struct reader *r, const struct parts *p, const char *kernel,
		       const char *path, const char *boot, const char *groups,
		       struct kab_import *ret, struct kab_err *err)
{
	struct kab_buf kab_autobuf bytes = KAB_BUF_INIT;
	char *row kab_autofree = kab_xasprintf("groups=%s", groups);
	char *test kab_autofree = kab_import_shown(p->test);
	struct kab_import_place place = { .kernel = kernel,
					  .host = r->from->host,
					  .case_name =
						  r->from->case_name ? r->from->case_name : test,
					  .row_key = row,
					  .runner = r->runner->name };
	struct kab_params params = { 0 };
	struct kab_import_log log = { .kernel = kernel, .file = path, .boot = boot };
	const struct kab_metric_def *primary = kab_runner_primary(r->runner);

	if (kab_import_read(ret, path, &bytes, err))
		return -1;
	log.bytes = kab_buf_str(&bytes);
	log.len = bytes.len;
	log.cut = bytes.cut;
	set_params(p->test, groups, &params);
	kab_import_add_log(ret, r->runner, &place, &log, &params, -1);
	kab_params_release(&params);
	return kab_import_judge(ret, place.case_name, place.runner, primary->name, primary->unit,
				primary->dir, NULL, err);
}

static int read_file(struct reader *r, const struct kab_import_source *src, const char *top,
		     const struct kab_import_file *file, struct kab_import *ret,
		     struct kab_err *err)
{
	const char *kernel = src->kernel, *why;
	char groups[16] = "";
	struct parts p;
	int rc = 0;

	if (!take_apart(top, file->below, &p)) {
		kab_import_unread(ret, file->path,
				  !strncmp(kab_import_base(file->path), "tests-", 6)
					  ? "a record of mmtests"
					  : "not below a folder iter-N");
		parts_release(&p);
		return 0;
	}
	if (!kernel)
		kernel = p.run;
	why = kab_import_matches(file->path, r->from) ? refusal(&p, groups)
						      : "does not fit --match";
	if (!strcmp(p.file, "kernel.version") && !p.test) {
		note_release(r, kernel, file->path, ret);
	} else if (why) {
		kab_import_unread(ret, file->path, why);
	} else if (!kab_text_is_label(kernel)) {
		char *shown kab_autofree = kab_import_shown(p.run_path);

		rc = kab_err_set(err, KAB_ERR_USAGE,
				 "the name of '%s' is no label of a kernel: write LABEL=%s", shown,
				 shown);
	} else {
		rc = read_result(r, &p, kernel, file->path, r->from->boots ? p.run_path : NULL,
				 groups, ret, err);
	}
	parts_release(&p);
	return rc;
}

/* run-mmtests.sh does not reboot: more than that the folders do not say. */
static void end_boots(const struct reader *r, struct kab_import *ret)
{
	if (r->from->boots) {
		ret->boots_known = true;
		ret->boots_text = kab_xstrdup("each folder of a run is one (--boots)");
		return;
	}
	kab_import_caveat(ret,
			  "mmtests repeats its iterations without a reboot, and does not record "
			  "whether there was one between two runs: --boots says that each folder "
			  "of a run is from a boot of its own");
}

int kab_import_mmtests(const struct kab_import_source *sources, size_t n,
		       const struct kab_import_from *from, struct kab_import *ret,
		       struct kab_err *err)
{
	struct reader r = { .from = from, .runner = kab_runner_find("hackbench") };
	struct kab_strv kab_autostrv tops = KAB_STRV_INIT;
	struct kab_import_files files = { 0 };
	size_t *ends = kab_xcalloc(n + 1, sizeof(*ends));
	int rc = 0;

	*ret = (struct kab_import){ 0 };
	for (size_t s = 0; !rc && s < n; s++) {
		char *real = realpath(sources[s].path, NULL);

		rc = kab_import_walk(sources[s].path, &files, NULL, ret, err);
		ends[s] = files.n;
		kab_strv_add(&tops, real ? real : sources[s].path);
		free(real);
	}
	for (size_t s = 0, i = 0; !rc && s < n; s++)
		for (; !rc && i < ends[s]; i++) {
			rc = read_file(&r, &sources[s], tops.v[s], &files.v[i], ret, err);
			kab_import_tell(from, i + 1, files.n);
		}
	if (!rc && !ret->n)
		rc = kab_err_set(err, KAB_ERR_NOT_FOUND,
				 "no result of hackbench: expected RUN/iter-N/hackbench-.../logs/"
				 "hackbench-GROUPS-ITERATION%s%s",
				 ret->unread.n ? "; found for example " : "",
				 ret->unread.n ? ret->unread.v[0] : "");
	if (!rc)
		end_boots(&r, ret);
	kab_import_files_release(&files);
	kab_strv_release(&r.kernels);
	kab_strv_release(&r.releases);
	free(ends);
	return rc;
}
