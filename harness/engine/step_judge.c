/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What became of an iteration: failure or samples, the reason in words, and its commit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "engine/conditions.h"
#include "engine/step.h"

/* How much of a failed benchmark's output goes into the message. */
#define LAST_WORDS_LINES 3
#define LAST_WORDS_BYTES 400

void kab_step_event(struct kab_attempt *a, enum kab_event_kind kind, double value, const char *unit,
		    const char *reason)
{
	struct kab_event e = {
		.kind = kind,
		.host = a->lane->host->name,
		.kernel = a->boot->kernel,
		.condition = a->step->condition,
		.case_name = a->step->case_name,
		.row_key = a->step->row_key,
		.metric = (char *)kab_runner_primary(a->runner)->name,
		.unit = (char *)unit,
		.text = (char *)reason,
		.boot = a->boot->sequence,
		.iteration = a->step->iteration,
		.attempt = a->step->attempt,
		.warmup = a->step->warmup,
		.state = a->step->state,
		.iteration_id = a->step->id,
		.value = value,
		.elapsed_s = a->run.elapsed_s,
		.done = a->lane->done,
		.total = a->lane->n_steps,
	};

	kab_queue_push(a->lane->queue, &e);
}

static double primary_value(const struct kab_attempt *a, const struct kab_samples *samples,
			    const char **ret_unit)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < samples->n; i++) {
		if (kab_runner_metric(a->runner, samples->v[i].metric) !=
		    kab_runner_primary(a->runner))
			continue;
		sum += samples->v[i].value;
		*ret_unit = samples->v[i].unit;
		n++;
	}
	return n ? sum / (double)n : NAN;
}

int kab_step_commit(struct kab_attempt *a, enum kab_iter_state state, const char *reason,
		    const struct kab_parse_result *parsed, struct kab_err *err)
{
	struct kab_store_stream streams[KAB_ARRAY_SIZE(a->streams)];
	const char *tool_version =
		a->runner->tools && a->runner->tools[0]
			? kab_facts_tool_version(&a->lane->facts, a->runner->tools[0])
			: "";
	bool usable = state == KAB_ITER_DONE;
	const char *unit = "";
	double value = NAN;
	struct kab_store_result result = {
		.iteration_id = a->step->id,
		.state = state,
		.reason = reason,
		.parse_status = parsed ? kab_parse_status_name(parsed->status) : NULL,
		.exit_status = a->run.state == KAB_DETACH_DONE ? a->run.exit_status : -1,
		.started_wall_ns = a->started_wall_ns,
		.finished_wall_ns = kab_now_wall_ns(),
		.elapsed_s = a->run.elapsed_s,
		.user_s = a->run.user_s,
		.system_s = a->run.system_s,
		.max_rss_kb = a->run.max_rss_kb >= 0 ? (double)a->run.max_rss_kb : NAN,
		.argv_json = a->argv_json,
		.params_resolved = a->resolved,
		.runner_version = parsed && parsed->version ? parsed->version : tool_version,
		.parser_version = a->runner->parser_version,
		.samples = usable && parsed ? parsed->samples.v : NULL,
		.n_samples = usable && parsed ? parsed->samples.n : 0,
		.streams = streams,
		.n_streams = a->n_streams,
	};

	if (a->run.state != KAB_DETACH_DONE)
		result.elapsed_s = result.user_s = result.system_s = result.max_rss_kb = NAN;
	for (size_t i = 0; i < a->n_streams; i++)
		streams[i] =
			(struct kab_store_stream){ a->stream_names[i], kab_buf_str(&a->streams[i]),
						   a->streams[i].len, a->streams[i].cut };
	if (kab_store_commit_iteration(a->lane->opts->store, &result, err) < 0)
		return -1;
	a->step->state = state;
	a->lane->done++;
	if (usable && parsed)
		value = primary_value(a, &parsed->samples, &unit);
	kab_step_event(a, KAB_EVENT_STEP_END, value, unit, reason);
	return 0;
}

/* Why the run is a failure whatever it printed, or NULL. Caller frees. */
static char *run_failure(const struct kab_attempt *a)
{
	const struct kab_detach_result *r = &a->run;

	if (r->state == KAB_DETACH_REBOOTED)
		return kab_xstrdup(a->lane->cycled ? "host stopped answering during the iteration; "
						     "its power was cycled"
						   : "host rebooted during the iteration");
	if (r->state == KAB_DETACH_ABORTED || r->killed)
		return kab_xstrdup("killed before its end");
	if (r->state != KAB_DETACH_DONE)
		return kab_xasprintf("the run was lost on the host (%s): its supervisor died",
				     kab_detach_state_name(r->state));
	if (r->exit_status < 0)
		return kab_xstrdup(
			"the record of the run on the host has no exit status that can be");
	if (r->timed_out)
		return kab_xasprintf("timeout: not finished after %.4g s", a->timeout_s);
	if (r->signal)
		return kab_xasprintf("killed by signal %d (SIG%s)%s", r->signal,
				     sigabbrev_np(r->signal) ? sigabbrev_np(r->signal) : "?",
				     r->oom_known && r->oom ? ", out of memory says the kernel"
							    : "");
	if (strcmp(r->step, "benchmark") && *r->step)
		return kab_xasprintf("step '%s' failed with exit status %d", r->step,
				     r->exit_status);
	if (r->background_died)
		return kab_xstrdup("the background load ended before the benchmark did");
	if (strcmp(r->boot_id, a->boot->os_boot_id))
		return kab_xstrdup("ran in another boot than the one that was proven");
	return NULL;
}

/* The last lines of a stream as one: "a | b". Caller frees; NULL when there are none. */
static char *last_words(const struct kab_attempt *a, const char *stream)
{
	struct kab_buf words = KAB_BUF_INIT;

	for (size_t i = 0; i < a->n_streams; i++) {
		struct kab_strv kab_autostrv lines = KAB_STRV_INIT;
		char *text kab_autofree = NULL;
		const char *tail;
		size_t len;

		if (strcmp(a->stream_names[i], stream) || !a->streams[i].len)
			continue;
		tail = kab_text_tail(kab_buf_str(&a->streams[i]), a->streams[i].len,
				     LAST_WORDS_LINES, &len);
		if (len > LAST_WORDS_BYTES) {
			tail += len - LAST_WORDS_BYTES;
			len = LAST_WORDS_BYTES;
		}
		text = kab_xstrndup(tail, len);
		kab_strv_split(&lines, text, '\n');
		for (size_t k = 0; k < lines.n; k++)
			if (lines.v[k][strspn(lines.v[k], " \t\r")]) {
				kab_buf_adds(&words, words.len ? " | " : "");
				kab_text_escape(&words, lines.v[k], strlen(lines.v[k]));
			}
	}
	return words.len ? kab_buf_detach(&words) : NULL;
}

/* A failure says what the benchmark said last: nobody should have to look for it. Takes reason. */
static char *with_last_words(const struct kab_attempt *a, char *reason)
{
	char *words kab_autofree = last_words(a, "stderr");
	char *longer;

	if (!words)
		words = last_words(a, "stdout");
	if (!words || strstr(reason, words))
		return reason;
	longer = kab_xasprintf("%s; it said last: %s", reason, words);
	free(reason);
	return longer;
}

int kab_step_judge(struct kab_attempt *a, struct kab_err *err)
{
	struct kab_wait wait = kab_lane_wait(a->lane, KAB_STEP_CALL_S);
	struct kab_stream named[KAB_ARRAY_SIZE(a->streams)];
	struct kab_outputs outputs = { .v = named };
	struct kab_parse_result parsed = { 0 };
	char *reason kab_autofree = run_failure(a);
	enum kab_iter_state state = KAB_ITER_FAILED;
	struct kab_err why = KAB_ERR_INIT;
	int status;

	for (size_t i = 0; i < a->n_streams; i++) {
		/* What the load or the preparation printed is kept, but is no result. */
		if (!strcmp(a->stream_names[i], "steps") ||
		    !strcmp(a->stream_names[i], "background"))
			continue;
		named[outputs.n++] =
			(struct kab_stream){ a->stream_names[i], kab_buf_str(&a->streams[i]),
					     a->streams[i].len, a->streams[i].cut };
	}
	a->runner->parse(&outputs, a->run.state == KAB_DETACH_DONE ? a->run.exit_status : -1,
			 &a->params, &parsed);
	if (!reason && a->lane->condition &&
	    kab_conditions_verify(a->lane->session, a->lane->host->become,
				  kab_detach_base(a->lane->detach), a->lane->condition, &wait,
				  &why) < 0) {
		if (why.code != KAB_ERR_UNSUPPORTED) {
			*err = why;
			kab_parse_result_release(&parsed);
			return -1;
		}
		reason = kab_xasprintf("the condition did not hold: %s", why.text);
		a->lane->condition_lost = true;
	}
	if (!reason && (parsed.status == KAB_PARSE_OK || parsed.status == KAB_PARSE_PARTIAL)) {
		state = KAB_ITER_DONE;
		reason = kab_xstrdup(parsed.message);
	} else if (!reason) {
		reason = kab_xasprintf("%s: %s", kab_parse_status_name(parsed.status),
				       parsed.message ? parsed.message : "no usable output");
	}
	if (state == KAB_ITER_FAILED)
		reason = with_last_words(a, reason);
	status = kab_step_commit(a, state, reason, &parsed, err);
	kab_parse_result_release(&parsed);
	return status;
}
