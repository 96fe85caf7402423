/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"

#define HEARTBEAT_S 60

/* Running mean of one row under one kernel. */
struct mean {
	char *key;
	double sum;
	size_t n;
};

struct host {
	char *name;
	char *now; /* what it does */
	int64_t since_ns; /* when that began; 0: idle */
	int64_t said_ns; /* last plain line about it */
	int64_t start_ns;
	size_t done, total, first_done;
	bool ended;
};

struct kab_progress {
	struct kab_cli *cli;
	struct host *v;
	size_t n, cap;
	struct {
		struct mean *v;
		size_t n, cap;
	} means;
	size_t drawn; /* lines on the screen */
	int64_t drawn_ns;
};

struct kab_progress *kab_progress_new(struct kab_cli *cli)
{
	struct kab_progress *p = kab_xcalloc(1, sizeof(*p));

	p->cli = cli;
	return p;
}

static struct host *host_of(struct kab_progress *p, const char *name)
{
	struct host *h;

	for (size_t i = 0; i < p->n; i++)
		if (!strcmp(p->v[i].name, name))
			return &p->v[i];
	h = KAB_PUSH(p);
	h->name = kab_xstrdup(name);
	h->now = kab_xstrdup("");
	h->start_ns = kab_now_mono_ns();
	return h;
}

static struct mean *mean_of(struct kab_progress *p, const struct kab_event *e)
{
	char *key kab_autofree = kab_xasprintf("%s|%s|%s|%s|%s", e->host, e->kernel, e->condition,
					       e->case_name, e->row_key);
	struct mean *m;

	for (size_t i = 0; i < p->means.n; i++)
		if (!strcmp(p->means.v[i].key, key))
			return &p->means.v[i];
	m = KAB_PUSH(&p->means);
	m->key = kab_xstrdup(key);
	return m;
}

static char *label(const struct kab_event *e)
{
	return kab_xasprintf("%s%s%s%s%s %s %s%d", e->case_name, *e->row_key ? " " : "", e->row_key,
			     *e->condition ? " " : "", e->condition, e->kernel,
			     e->warmup ? "warm-up " : "#", e->iteration);
}

static char *left(const struct host *h, int64_t now_ns)
{
	size_t did = h->done - h->first_done;

	if (!did || h->done >= h->total)
		return kab_xstrdup("");
	return kab_text_duration((double)(now_ns - h->start_ns) / 1e9 / (double)did *
				 (double)(h->total - h->done));
}

static void erase(struct kab_progress *p)
{
	if (p->drawn)
		fprintf(stderr, "\033[%zuA\033[J", p->drawn);
	p->drawn = 0;
}

static void draw(struct kab_progress *p)
{
	struct winsize ws = { .ws_col = 80 };
	int64_t now = kab_now_mono_ns();

	ioctl(STDERR_FILENO, TIOCGWINSZ, &ws);
	if (ws.ws_col < 20)
		ws.ws_col = 80;
	erase(p);
	for (size_t i = 0; i < p->n; i++) {
		struct host *h = &p->v[i];
		char *eta kab_autofree = left(h, now);
		char *since kab_autofree =
			h->since_ns ? kab_text_duration(floor((double)(now - h->since_ns) / 1e9))
				    : kab_xstrdup("");
		struct kab_buf kab_autobuf line = KAB_BUF_INIT;
		char *plain kab_autofree = kab_xasprintf(
			"%-10s %zu/%zu  %s%s%s%s%s%s", h->name, h->done, h->total, h->now,
			*since ? "  (" : "", since, *since ? ")" : "", *eta ? "  left: " : "", eta);

		kab_text_escape(&line, plain, strlen(plain));
		fprintf(stderr, "%.*s\n", ws.ws_col - 1, kab_buf_str(&line));
		p->drawn++;
	}
	p->drawn_ns = now;
}

/* A line that stays: above the redrawn ones on a terminal. */
static void say(struct kab_progress *p, const char *text)
{
	if (p->cli->terminal)
		erase(p);
	kab_cli_say(p->cli, "%s", text);
	if (p->cli->terminal && p->cli->verbosity >= 0)
		draw(p);
}

static void step_end(struct kab_progress *p, struct host *h, const struct kab_event *e)
{
	char *what kab_autofree = label(e), *eta kab_autofree = left(h, kab_now_mono_ns());
	char *line kab_autofree = NULL;

	if (e->state != KAB_ITER_DONE) {
		line = kab_xasprintf("%s %zu/%zu  %s, boot %d: %s: %s", h->name, h->done, h->total,
				     what, e->boot, kab_iter_state_name(e->state),
				     e->text ? e->text : "");
		say(p, line);
		return;
	}
	if (!isnan(e->value) && !e->warmup) {
		struct mean *m = mean_of(p, e);

		m->sum += e->value;
		m->n++;
		line = kab_xasprintf("%s %zu/%zu  %s: %.6g %s (mean %.6g of %zu)%s%s%s", h->name,
				     h->done, h->total, what, e->value, e->unit,
				     m->sum / (double)m->n, m->n, *eta ? ", left: " : "", eta,
				     e->text ? " [partial]" : "");
	} else {
		line = kab_xasprintf("%s %zu/%zu  %s: done%s%s", h->name, h->done, h->total, what,
				     *eta ? ", left: " : "", eta);
	}
	if (!p->cli->terminal || p->cli->verbosity > 0)
		say(p, line);
	else
		free(h->now), h->now = kab_xstrdup(line + strlen(h->name) + 1);
}

void kab_progress_event(void *ctx, const struct kab_event *e)
{
	struct kab_progress *p = ctx;
	struct host *h = host_of(p, e->host);
	char *line kab_autofree = NULL;

	if (!h->total)
		h->first_done = e->done;
	h->done = e->done;
	h->total = e->total;
	switch (e->kind) {
	case KAB_EVENT_NOTE:
		line = kab_xasprintf("%s: %s", h->name, e->text);
		say(p, line);
		break;
	case KAB_EVENT_BOOT:
		/* The kernels of a block of restarts are one: they take turns in it. */
		if (e->warmup)
			line = kab_xasprintf("%s: block %d of %d (%s)", h->name, e->block,
					     e->blocks, e->text);
		else
			line = kab_xasprintf("%s: boot %d, kernel '%s' (%s)", h->name, e->iteration,
					     e->kernel, e->text);
		say(p, line);
		break;
	case KAB_EVENT_STEP_BEGIN:
		free(h->now);
		h->now = label(e);
		h->since_ns = h->said_ns = kab_now_mono_ns();
		break;
	case KAB_EVENT_STEP_END:
		h->since_ns = 0;
		step_end(p, h, e);
		break;
	case KAB_EVENT_HOST:
		break;
	case KAB_EVENT_LANE_END:
		h->ended = true;
		h->since_ns = 0;
		free(h->now);
		h->now = kab_xstrdup(e->text ? "stopped" : "ended");
		break;
	}
}

void kab_progress_tick(void *ctx)
{
	struct kab_progress *p = ctx;
	int64_t now = kab_now_mono_ns();

	if (p->cli->verbosity < 0)
		return;
	if (p->cli->terminal) {
		if (now - p->drawn_ns > 200 * KAB_NS_PER_MS)
			draw(p);
		return;
	}
	for (size_t i = 0; i < p->n; i++) {
		struct host *h = &p->v[i];
		char *since kab_autofree = NULL;

		if (!h->since_ns || now - h->said_ns < HEARTBEAT_S * KAB_NS_PER_S)
			continue;
		since = kab_text_duration(floor((double)(now - h->since_ns) / 1e9));
		kab_cli_say(p->cli, "%s %zu/%zu  %s: running for %s", h->name, h->done, h->total,
			    h->now, since);
		h->said_ns = now;
	}
}

void kab_progress_end(struct kab_progress *p)
{
	if (p->cli->terminal && p->cli->verbosity >= 0 && p->n)
		draw(p);
	for (size_t i = 0; i < p->n; i++) {
		free(p->v[i].name);
		free(p->v[i].now);
	}
	for (size_t i = 0; i < p->means.n; i++)
		free(p->means.v[i].key);
	free(p->means.v);
	free(p->v);
	free(p);
}
