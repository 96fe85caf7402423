/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/events_json.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"

struct kab_events {
	struct kab_cli *cli;
	int fd;
	bool failed;
	char *run;
};

static int open_place(const char *place, struct kab_err *err)
{
	int64_t n;
	int fd;

	if (strncmp(place, "fd:", 3) == 0) {
		if (kab_text_int(place + 3, &n) < 0 || n < 0 || n > 65535)
			return kab_err_set(err, KAB_ERR_USAGE, "--events: '%s' is no descriptor",
					   place);
		fd = fcntl((int)n, F_DUPFD_CLOEXEC, 3);
		return fd >= 0 ? fd
			       : kab_err_errno(err, KAB_ERR_USAGE, "--events: descriptor %d",
					       (int)n);
	}
	/* NONBLOCK for opening only: a FIFO without a reader is an error, not a wait. */
	fd = open(place, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
	if (fd < 0)
		return kab_err_errno(err, KAB_ERR_ENV, "--events: cannot write '%s'%s", place,
				     errno == ENXIO ? " (nobody reads this FIFO)" : "");
	fcntl(fd, F_SETFL, O_APPEND);
	return fd;
}

int kab_events_open(struct kab_cli *cli, const char *text, struct kab_events **ret,
		    struct kab_err *err)
{
	struct kab_events *ev;
	int fd;

	*ret = NULL;
	if (!text)
		return 0;
	if (strcmp(text, "json") && (strncmp(text, "json:", 5) || !text[5]))
		return kab_err_set(err, KAB_ERR_USAGE,
				   "--events is json, json:FILE or json:fd:N, not '%s'", text);
	fd = text[4] ? open_place(text + 5, err) : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return text[4] ? -1 : kab_err_errno(err, KAB_ERR_ENV, "--events: stderr");
	ev = kab_xcalloc(1, sizeof(*ev));
	ev->cli = cli;
	ev->fd = fd;
	/* Progress for people would stand between the lines. */
	if (!text[4])
		cli->verbosity = -1;
	*ret = ev;
	return 0;
}

void kab_events_close(struct kab_events *ev)
{
	if (!ev)
		return;
	close(ev->fd);
	free(ev->run);
	free(ev);
}

static json_t *text_or_null(const char *text)
{
	json_t *value;

	if (!text)
		return json_null();
	value = json_string(text);
	if (!value) {
		/* Not UTF-8: readable rather than lost. */
		struct kab_buf kab_autobuf safe = KAB_BUF_INIT;

		kab_text_escape(&safe, text, strlen(text));
		value = json_string(kab_buf_str(&safe));
	}
	return value ? value : json_string("?");
}

static json_t *number_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *now(void)
{
	int64_t ns = kab_now_wall_ns();
	time_t s = (time_t)(ns / KAB_NS_PER_S);
	char day[32], text[48];
	struct tm tm;

	gmtime_r(&s, &tm);
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text, sizeof(text), "%s.%03dZ", day, (int)(ns % KAB_NS_PER_S / KAB_NS_PER_MS));
	return json_string(text);
}

static void put(struct kab_events *ev, json_t *object)
{
	char *line = json_dumps(object, JSON_COMPACT | JSON_PRESERVE_ORDER);
	struct kab_buf kab_autobuf out = KAB_BUF_INIT;
	const char *p;
	size_t left;

	json_decref(object);
	if (line)
		kab_buf_addf(&out, "%s\n", line);
	free(line);
	/* One write for a line, so that several writers of one file do not mix theirs. */
	for (p = kab_buf_str(&out), left = out.len; left && !ev->failed;) {
		ssize_t n = write(ev->fd, p, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			ev->failed = true;
			kab_cli_warn(ev->cli, "no more events are written: %s", strerror(errno));
			break;
		}
		p += n;
		left -= (size_t)n;
	}
}

static json_t *object(struct kab_events *ev, const char *kind, const struct kab_event *e,
		      const char *state)
{
	json_t *o = json_object();
	bool step = e->kind == KAB_EVENT_STEP_BEGIN || e->kind == KAB_EVENT_STEP_END;
	bool end = e->kind == KAB_EVENT_STEP_END;

	json_object_set_new(o, "time", now());
	json_object_set_new(o, "run", text_or_null(ev->run));
	json_object_set_new(o, "event", json_string(kind));
	json_object_set_new(o, "host", text_or_null(e->host));
	json_object_set_new(o, "kernel", text_or_null(e->kernel));
	json_object_set_new(o, "boot", e->boot ? json_integer(e->boot) : json_null());
	json_object_set_new(o, "condition", step ? text_or_null(e->condition) : json_null());
	json_object_set_new(o, "case", text_or_null(e->case_name));
	json_object_set_new(o, "row", step ? text_or_null(e->row_key) : json_null());
	json_object_set_new(o, "iteration", step ? json_integer(e->iteration) : json_null());
	json_object_set_new(o, "attempt", step ? json_integer(e->attempt) : json_null());
	json_object_set_new(o, "warmup", step ? json_boolean(e->warmup) : json_null());
	json_object_set_new(o, "state", text_or_null(state));
	json_object_set_new(o, "metric",
			    end && isfinite(e->value) ? text_or_null(e->metric) : json_null());
	json_object_set_new(o, "value", end ? number_or_null(e->value) : json_null());
	json_object_set_new(o, "unit",
			    end && isfinite(e->value) ? text_or_null(e->unit) : json_null());
	json_object_set_new(o, "elapsed_s", end ? number_or_null(e->elapsed_s) : json_null());
	json_object_set_new(o, "reason", text_or_null(e->text));
	json_object_set_new(o, "done", e->host ? json_integer((json_int_t)e->done) : json_null());
	json_object_set_new(o, "total", e->host ? json_integer((json_int_t)e->total) : json_null());
	return o;
}

void kab_events_run(struct kab_events *ev, const char *run, enum kab_run_state state)
{
	struct kab_event none = { .kind = KAB_EVENT_NOTE };

	if (!ev)
		return;
	free(ev->run);
	ev->run = kab_xstrdup(run);
	put(ev, object(ev, "run", &none, kab_run_state_name(state)));
}

void kab_events_engine(struct kab_events *ev, const struct kab_event *e)
{
	static const char *const outcomes[] = {
		[KAB_LANE_DONE] = "done",
		[KAB_LANE_NEEDS_BOOT] = "needs-boot",
		[KAB_LANE_STOPPED] = "stopped",
		[KAB_LANE_FAILED] = "failed",
	};
	struct kab_event copy = *e;

	if (!ev)
		return;
	switch (e->kind) {
	case KAB_EVENT_NOTE:
		put(ev, object(ev, "note", e, NULL));
		break;
	case KAB_EVENT_HOST:
		copy.text = NULL;
		put(ev, object(ev, "host", &copy, e->text));
		break;
	case KAB_EVENT_BOOT:
		copy.boot = e->iteration;
		copy.text = NULL;
		put(ev, object(ev, "boot", &copy, "proven"));
		break;
	case KAB_EVENT_STEP_BEGIN:
		put(ev, object(ev, "iteration", e, kab_iter_state_name(KAB_ITER_RUNNING)));
		break;
	case KAB_EVENT_STEP_END:
		put(ev, object(ev, "iteration", e, kab_iter_state_name(e->state)));
		break;
	case KAB_EVENT_LANE_END:
		put(ev, object(ev, "host", e, outcomes[e->outcome]));
		break;
	}
}
