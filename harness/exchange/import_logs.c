/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Logs of a benchmark to iterations, through its runner. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "exchange/import.h"
#include "model/expr.h"
#include "runners/runner.h"

static const struct kab_runner *find_runner(const char *name, struct kab_err *err)
{
	const struct kab_runner *runner = kab_runner_find(name);
	struct kab_strv names kab_autostrv = KAB_STRV_INIT;
	const char *near;

	if (runner)
		return runner;
	for (size_t i = 0; i < kab_runners_n; i++)
		kab_strv_add(&names, kab_runners[i]->name);
	near = kab_text_nearest(name, (const char *const *)kab_strv_argv(&names));
	kab_err_set(err, KAB_ERR_NOT_FOUND, "no runner '%s'%s%s%s", name,
		    near ? "; did you mean '" : "; 'kab runners' lists them", near ? near : "",
		    near ? "'?" : "");
	return NULL;
}

static void add_log(const struct kab_runner *runner, const struct kab_import_log *log,
		    const struct kab_import_logs_opts *opts, size_t number, struct kab_import *ret)
{
	struct kab_stream stream = { "merged", log->bytes, log->len, log->cut };
	struct kab_outputs outputs = { &stream, 1 };
	struct kab_parse_result parsed = { 0 };
	struct kab_import_iter *it = KAB_PUSH(ret);

	runner->parse(&outputs, opts->exit_status, opts->params, &parsed);
	it->kernel = kab_xstrdup(log->kernel);
	it->host = kab_xstrdup(opts->host ? opts->host : "import");
	it->condition = kab_xstrdup("");
	it->case_name = kab_xstrdup(opts->case_name ? opts->case_name : runner->name);
	it->row_key = kab_xstrdup("");
	it->runner = kab_xstrdup(runner->name);
	it->boot = opts->boots ? kab_xasprintf("%zu", number) : kab_xstrdup("1");
	it->params = kab_params_canonical(opts->params, 1);
	it->parse_status = kab_xstrdup(kab_parse_status_name(parsed.status));
	it->parser_version = kab_xstrdup(runner->parser_version);
	it->runner_version = kab_xstrdup(parsed.version);
	it->exit_status = opts->exit_status;
	it->log = kab_xmemdup(log->len ? log->bytes : "", log->len ? log->len : 1);
	it->log_len = log->len;
	it->log_cut = log->cut;
	it->reason = kab_xstrdup(parsed.message);
	if (parsed.status == KAB_PARSE_OK || parsed.status == KAB_PARSE_PARTIAL) {
		it->state = KAB_ITER_DONE;
		it->samples = parsed.samples;
		parsed.samples = (struct kab_samples){ 0 };
	} else {
		it->state = KAB_ITER_FAILED;
		ret->n_failed++;
		if (!it->reason)
			it->reason = kab_xstrdup(it->parse_status);
	}
	kab_parse_result_release(&parsed);
}

int kab_import_logs(const struct kab_import_log *logs, size_t n,
		    const struct kab_import_logs_opts *opts, struct kab_import *ret,
		    struct kab_err *err)
{
	const struct kab_runner *runner = find_runner(opts->runner, err);
	const struct kab_metric_def *primary;
	struct kab_import_verdict *v;

	*ret = (struct kab_import){ 0 };
	if (!runner || kab_runner_check_params(runner, opts->params, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (!kab_text_is_label(logs[i].kernel))
			return kab_err_set(
				err, KAB_ERR_USAGE,
				"'%s' is no label of a kernel: letters, digits and . _ + - "
				"are",
				logs[i].kernel);
		if (!kab_strv_has(&ret->kernels, logs[i].kernel))
			kab_strv_add(&ret->kernels, logs[i].kernel);
		add_log(runner, &logs[i], opts, i + 1, ret);
	}
	if (!n)
		return kab_err_set(err, KAB_ERR_USAGE, "no log was named");
	kab_strv_add(&ret->hosts, ret->v[0].host);
	kab_strv_add(&ret->cases, ret->v[0].case_name);
	primary = kab_runner_primary(runner);
	v = KAB_PUSH(&ret->verdicts);
	v->case_name = kab_xstrdup(ret->v[0].case_name);
	v->runner = kab_xstrdup(runner->name);
	v->metric = kab_xstrdup(primary->name);
	v->unit = kab_xstrdup(primary->unit);
	v->dir = primary->dir;
	return 0;
}
