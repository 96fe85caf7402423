/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobs/nightly.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "jobs/history.h"
#include "jobs/night.h"

#define MISSED_MAX 400

void kab_nightly_result_release(struct kab_nightly_result *result)
{
	free(result->summary);
	*result = (struct kab_nightly_result){ 0 };
}

int64_t kab_night_now(const struct kab_night *night)
{
	return night->env->now_ns ? night->env->now_ns(night->env->ctx) : kab_now_wall_ns();
}

bool kab_night_stopping(const struct kab_night *night)
{
	/* A deadline in the past: only the descriptor is looked at. */
	return night->env->stop_fd >= 0 && kab_wait_until(0, night->env->stop_fd, NULL) < 0;
}

int kab_night_remark(struct kab_night *night, const char *kind, const char *host,
		     struct kab_err *err, const char *fmt, ...)
{
	char *text kab_autofree = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = kab_xvasprintf(fmt, ap);
	va_end(ap);
	kab_log(night->env->log, KAB_LOG_WARN, "%s%s%s: %s", kind, *host ? " " : "", host, text);
	if (night->env->dry_run) {
		if (night->env->plan_text)
			kab_buf_addf(night->env->plan_text, "  %s%s%s\n", host, *host ? ": " : "",
				     text);
		return 0;
	}
	return kab_store_night_remark(night->env->store, night->row.id, kind, host, text, err);
}

int kab_nightly_state_dir(const struct kab_nightly *config, char **ret, struct kab_err *err)
{
	char *base kab_autofree = NULL, *dir = NULL;

	if (config->state) {
		dir = kab_xstrdup(config->state);
	} else {
		if (kab_file_xdg("STATE", &base, err) < 0)
			return -1;
		dir = kab_xasprintf("%s/nightly/%s", base, config->name);
	}
	if (kab_file_mkdirs(dir, 0700, err) < 0) {
		free(dir);
		return -1;
	}
	*ret = dir;
	return 0;
}

/* ---- which night is it ---- */

/* Windows that nobody was there for. */
static int record_missed(struct kab_night *night, int64_t now_ns, size_t *ret_n,
			 struct kab_strv *dates, struct kab_err *err)
{
	const char *tree = night->c->name;
	struct kab_night_row *rows = NULL;
	struct kab_window w;
	int64_t after;
	size_t n = 0;

	/* Who starts a night by hand asks for that one. */
	if (night->env->now)
		return 0;
	if (kab_store_night_list(night->env->store, tree, 1, &rows, &n, err) < 0)
		return -1;
	if (!n)
		return 0; /* before the first night nothing can be missed */
	kab_window_of(&night->c->window, rows[0].date, &w);
	after = w.from_ns;
	kab_night_row_release(&rows[0]);
	free(rows);
	while (*ret_n < MISSED_MAX && kab_window_missed(&night->c->window, after, now_ns, &w)) {
		struct kab_night_row row = { 0 };
		bool fresh = false;

		after = w.from_ns;
		if (night->env->dry_run)
			continue;
		if (kab_store_night_begin(night->env->store, tree, w.date, "missed", w.from_ns,
					  w.to_ns, now_ns, &row, &fresh, err) < 0)
			return -1;
		if (fresh) {
			++*ret_n;
			kab_strv_add(dates, w.date);
			kab_log(night->env->log, KAB_LOG_WARN, "the night of %s was missed",
				w.date);
			if (kab_store_night_end(night->env->store, row.id, "missed",
						"nobody started it in its window", 0, now_ns,
						err) < 0) {
				kab_night_row_release(&row);
				return -1;
			}
		}
		kab_night_row_release(&row);
	}
	return 0;
}

static void window_of_row(struct kab_night *night, const struct kab_night_row *row)
{
	night->window.from_ns = row->begin_wall_ns;
	night->window.to_ns = row->end_wall_ns;
	snprintf(night->window.date, sizeof(night->window.date), "%s", row->date);
}

/* With --now: a window of the usual length that begins at once. */
static void window_now(struct kab_night *night, int64_t now_ns)
{
	struct kab_window usual;
	int64_t length;

	if (!kab_window_now(&night->c->window, now_ns, &usual)) {
		char today[24];

		kab_window_local(now_ns, today);
		today[10] = '\0';
		length = usual.to_ns - usual.from_ns;
		kab_window_of(&night->c->window, today, &usual);
	} else {
		length = usual.to_ns - usual.from_ns;
	}
	night->window = usual;
	if (night->env->date)
		snprintf(night->window.date, sizeof(night->window.date), "%s", night->env->date);
	night->window.from_ns = now_ns;
	night->window.to_ns = now_ns + length;
}

/* A night that is only looked at has no row in the store. */
static void blank_row(struct kab_night *night)
{
	char **texts[] = {
		&night->row.tree,	    &night->row.state,	      &night->row.purpose,
		&night->row.test_label,	    &night->row.test_spec,    &night->row.baseline_label,
		&night->row.baseline_spec,  &night->row.baseline_why, &night->row.reference_label,
		&night->row.reference_spec, &night->row.summary
	};

	for (size_t i = 0; i < KAB_ARRAY_SIZE(texts); i++)
		*texts[i] = kab_xstrdup("");
	night->row.date = kab_xstrdup(night->window.date);
}

enum which { NIGHT_GO, NIGHT_OUTSIDE, NIGHT_DONE };

/* Find or begin the night of now, into night->window and night->row. */
static int which_night(struct kab_night *night, int64_t now_ns, bool *ret_resumed, enum which *ret,
		       struct kab_err *err)
{
	struct kab_night_row running = { 0 };
	bool fresh, inside;
	int status = kab_store_night_running(night->env->store, night->c->name, &running, err);

	*ret = NIGHT_GO;
	if (status < 0)
		return -1;
	if (status == 0 && !night->env->dry_run) {
		window_of_row(night, &running);
		night->row = running;
		night->closing = now_ns >= running.end_wall_ns;
		*ret_resumed = true;
		return 0;
	}
	kab_night_row_release(&running);
	inside = kab_window_now(&night->c->window, now_ns, &night->window);
	if (night->env->now) {
		window_now(night, now_ns);
	} else if (!inside && !night->env->dry_run) {
		*ret = NIGHT_OUTSIDE;
		return 0;
	}
	if (night->env->dry_run) {
		blank_row(night);
		return 0;
	}
	if (kab_store_night_begin(night->env->store, night->c->name, night->window.date, "running",
				  night->window.from_ns, night->window.to_ns, now_ns, &night->row,
				  &fresh, err) < 0)
		return -1;
	if (strcmp(night->row.state, "running") != 0)
		*ret = NIGHT_DONE;
	return 0;
}

/* ---- its steps ---- */

static void keep(char **to, const char *from)
{
	free(*to);
	*to = kab_xstrdup(from ? from : "");
}

static int kernels(struct kab_night *night, struct kab_err *err)
{
	struct kab_night_kernels *k = &night->k;
	struct kab_night_row *r = &night->row;

	if (*r->purpose || *r->test_label)
		return kab_night_chosen(night, err);
	if (kab_night_choose(night, err) < 0)
		return -1;
	keep(&r->purpose, k->purpose);
	keep(&r->test_label, k->test.label);
	keep(&r->test_spec, k->test.spec);
	keep(&r->baseline_label, k->baseline.label);
	keep(&r->baseline_spec, k->baseline.spec);
	keep(&r->baseline_why, k->baseline_why);
	keep(&r->reference_label, k->reference.label);
	keep(&r->reference_spec, k->reference.spec);
	if (night->env->dry_run)
		return 0;
	return kab_store_night_kernels(night->env->store, r, err);
}

/* Has the night runs that are no confirmations? */
static int has_runs(struct kab_night *night, bool *ret, struct kab_err *err)
{
	struct kab_night_run_row *rows = NULL;
	size_t n = 0;

	*ret = false;
	if (kab_store_night_runs(night->env->store, night->row.id, &rows, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		*ret = *ret || strcmp(rows[i].purpose, "confirm") != 0;
		kab_night_run_row_release(&rows[i]);
	}
	free(rows);
	return 0;
}

static int measure(struct kab_night *night, struct kab_err *err)
{
	size_t confirmations = 0;
	bool planned = false;

	if (kab_night_probe(night, err) < 0)
		return -1;
	if (night->stopped)
		return 0;
	/* What waits from earlier nights comes first. */
	if (kab_night_make_confirmations(night, &confirmations, err) < 0 ||
	    has_runs(night, &planned, err) < 0)
		return -1;
	if (confirmations && !night->stopped) {
		if (kab_night_execute(night, err) < 0)
			return -1;
		if (!night->stopped && kab_night_settle_confirmations(night, err) < 0)
			return -1;
	}
	if (*night->k.purpose && !planned && !night->stopped && kab_night_make_runs(night, err) < 0)
		return -1;
	if (night->env->dry_run || night->stopped)
		return 0;
	return kab_night_execute(night, err);
}

static int judge(struct kab_night *night, struct kab_err *err)
{
	size_t more = 0;

	if (kab_night_judge(night, err) < 0 || kab_night_settle_confirmations(night, err) < 0)
		return -1;
	if (night->closing)
		return 0;
	if (kab_night_make_confirmations(night, &more, err) < 0)
		return -1;
	if (!more || night->stopped)
		return 0;
	if (kab_night_execute(night, err) < 0)
		return -1;
	return night->stopped ? 0 : kab_night_settle_confirmations(night, err);
}

/* What the history says now: counts, and sentences for the summary. */
static int count_changes(struct kab_night *night, struct kab_err *err)
{
	struct kab_change_list list = { 0 };
	size_t recovered = 0;

	if (kab_history_open_changes(night->env->store, night->c->name, &list, err) < 0)
		return -1;
	for (size_t i = 0; i < list.n; i++) {
		const struct kab_change *c = &list.v[i];
		bool tonight = c->confirmed && !strcmp(c->confirmed, night->window.date);

		night->regressed += tonight && c->regressed;
		night->improved += tonight && !c->regressed;
		night->open += c->regressed && !c->recovered;
		recovered += c->recovered && !strcmp(c->recovered, night->window.date);
	}
	kab_change_list_release(&list);
	if (night->regressed)
		kab_strv_addf(&night->news, "%zu regression%s confirmed", night->regressed,
			      night->regressed == 1 ? "" : "s");
	if (night->improved)
		kab_strv_addf(&night->news, "%zu improvement%s confirmed", night->improved,
			      night->improved == 1 ? "" : "s");
	if (recovered)
		kab_strv_addf(&night->news, "%zu regression%s recovered", recovered,
			      recovered == 1 ? "" : "s");
	return 0;
}

/* Remarks of the measured night before this one: what was said then is no news. */
static int remarks_before(struct kab_night *night, struct kab_night_remark **ret, size_t *ret_n,
			  struct kab_err *err)
{
	struct kab_night_row *rows = NULL;
	int64_t id = 0;
	size_t n = 0;

	if (kab_store_night_list(night->env->store, night->c->name, 30, &rows, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (!id && !strcmp(rows[i].state, "done") &&
		    strcmp(rows[i].date, night->window.date) < 0)
			id = rows[i].id;
		kab_night_row_release(&rows[i]);
	}
	free(rows);
	return id ? kab_store_night_remarks(night->env->store, id, ret, ret_n, err) : 0;
}

/* The same case on the same host; the reasons may differ. */
static bool said_before(const struct kab_night_remark *r, const struct kab_night_remark *old,
			size_t n)
{
	size_t name = strcspn(r->text, ":");

	for (size_t i = 0; i < n; i++)
		if (!strcmp(old[i].kind, r->kind) && !strcmp(old[i].host, r->host) &&
		    strcspn(old[i].text, ":") == name && !strncmp(old[i].text, r->text, name))
			return true;
	return false;
}

static bool is_quarantined(const struct kab_night_remark *v, size_t n, const char *host)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(v[i].kind, "quarantined") && !strcmp(v[i].host, host))
			return true;
	return false;
}

/* Errors of the transport begin with the host, and so do our sentences. */
static const char *without_host(const char *text)
{
	const char *rest = strncmp(text, "host '", 6) ? NULL : strstr(text, ": ");

	return rest ? rest + 2 : text;
}

static int remark_news(struct kab_night *night, struct kab_err *err)
{
	struct kab_night_remark *v = NULL, *old = NULL;
	size_t n = 0, n_old = 0;

	if (kab_store_night_remarks(night->env->store, night->row.id, &v, &n, err) < 0 ||
	    remarks_before(night, &old, &n_old, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		const struct kab_night_remark *r = &v[i];

		if (!strcmp(r->kind, "noboot"))
			kab_strv_add(&night->news, r->text);
		else if (!strcmp(r->kind, "quarantined"))
			kab_strv_addf(&night->news, "host '%s' goes into quarantine: %s", r->host,
				      r->text);
		else if (!strcmp(r->kind, "host") && !is_quarantined(v, n, r->host))
			kab_strv_addf(&night->news, "host '%s' failed: %s", r->host,
				      without_host(r->text));
		else if (!strcmp(r->kind, "busy"))
			kab_strv_addf(&night->news, "host '%s' was in use by somebody else",
				      r->host);
		else if (!strcmp(r->kind, "failed"))
			kab_strv_addf(said_before(r, old, n_old) ? &night->known : &night->news,
				      "no result of %.*s on '%s'", (int)strcspn(r->text, ":"),
				      r->text, r->host);
		else if (!strcmp(r->kind, "source"))
			kab_strv_add(&night->news, r->text);
	}
	for (size_t i = 0; i < n; i++)
		kab_night_remark_release(&v[i]);
	for (size_t i = 0; i < n_old; i++)
		kab_night_remark_release(&old[i]);
	free(v);
	free(old);
	return 0;
}

static char *summary_of(struct kab_night *night)
{
	struct kab_buf buf = KAB_BUF_INIT;
	char *news kab_autofree = kab_strv_join(&night->news, "; ");
	size_t measured = 0;

	for (size_t i = 0; i < night->n_hosts; i++)
		measured +=
			night->hosts[i].tried && !night->hosts[i].failed && !night->hosts[i].busy;
	if (night->blind)
		kab_buf_adds(&buf, night->blind);
	else if (night->k.test.label)
		kab_buf_addf(&buf, "%s against %s on %zu of %zu host%s", night->k.test.label,
			     night->k.baseline.label, measured, night->n_hosts,
			     night->n_hosts == 1 ? "" : "s");
	else
		kab_buf_adds(&buf, "no new kernel");
	if (*news)
		kab_buf_addf(&buf, "; %s", news);
	else if (night->k.test.label)
		kab_buf_adds(&buf, "; no change confirmed");
	for (size_t i = 0; i < night->known.n; i++)
		kab_buf_addf(&buf, "; still %s", night->known.v[i]);
	if (night->open)
		kab_buf_addf(&buf, "; %zu regression%s open", night->open,
			     night->open == 1 ? "" : "s");
	return kab_buf_detach(&buf);
}

static bool all_lost(const struct kab_night *night)
{
	for (size_t i = 0; i < night->n_hosts; i++)
		if (!night->hosts[i].failed && !night->hosts[i].busy)
			return false;
	return true;
}

static int finish(struct kab_night *night, struct kab_nightly_result *ret, struct kab_err *err)
{
	const char *state = "done";
	bool lost = !night->closing && (all_lost(night) || night->blind);

	if (kab_night_settle_hosts(night, err) < 0)
		return -1;
	/* A kernel that does not boot was tried; one that no host was there for was not. */
	if (!strcmp(night->k.purpose, "night") && !lost &&
	    kab_store_night_tried(night->env->store, night->c->name, night->k.test.label,
				  night->window.date, night->results, err) < 0)
		return -1;
	if (count_changes(night, err) < 0 || remark_news(night, err) < 0)
		return -1;
	if (lost)
		state = "failed";
	else if (!*night->k.purpose && !night->news.n)
		state = "skipped";
	ret->end = lost			       ? KAB_NIGHT_FAILED
		   : !strcmp(state, "skipped") ? KAB_NIGHT_SKIPPED
					       : KAB_NIGHT_MEASURED;
	ret->exit_status = lost ? 4 : night->failures ? 5 : 0;
	if (kab_night_tidy(night, err) < 0 || kab_night_archive(night, err) < 0 ||
	    kab_night_mail(night, err) < 0 || kab_night_send(night, err) < 0)
		return -1;
	if (night->failures && !ret->exit_status)
		ret->exit_status = 5;
	ret->summary = summary_of(night);
	ret->news = night->news.n > 0;
	ret->regressed = night->regressed;
	ret->improved = night->improved;
	ret->open = night->open;
	return kab_store_night_end(night->env->store, night->row.id, state, ret->summary,
				   ret->exit_status, kab_night_now(night), err);
}

static void plan_head(struct kab_night *night)
{
	struct kab_buf *out = night->env->plan_text;

	if (!out)
		return;
	kab_night_head_text(night, out);
	kab_buf_adds(out, "Plan:\n");
}

/* Few boots were asked for: what that means is said before the night, not found in its intervals. */
static void say_few_boots(struct kab_night *night)
{
	char *text kab_autofree = NULL;

	if (!night->c->min_boots_lowered)
		return;
	text = kab_xasprintf(
		"'boots' is %d, and 'min_boots' with it: fewer than its default of %d, "
		"small changes will not be seen",
		night->c->boots, KAB_NIGHTLY_MIN_BOOTS);
	kab_log(night->env->log, KAB_LOG_INFO, "%s", text);
	if (night->env->dry_run && night->env->plan_text)
		kab_buf_addf(night->env->plan_text, "  %s\n", text);
}

/* All that is done in a window. */
static int go(struct kab_night *night, struct kab_nightly_result *ret, struct kab_err *err)
{
	struct kab_err why = KAB_ERR_INIT;

	/* What is remarked of hosts and sources comes behind the kernels. */
	if (kernels(night, &why) < 0) {
		if (why.code == KAB_ERR_STORE || why.code == KAB_ERR_CONFIG ||
		    why.code == KAB_ERR_USAGE || night->env->dry_run) {
			if (err)
				*err = why;
			return -1;
		}
		if (why.code == KAB_ERR_CANCELLED) {
			night->stopped = true;
			return 0;
		}
		/* Of each source it is remarked already. */
		if (!night->blind && kab_night_remark(night, "source", "", err, "%s", why.text) < 0)
			return -1;
		night->k.purpose = "";
		night->failures = true;
		if (!night->blind)
			night->blind = "no kernel could be chosen";
	}
	if (night->env->dry_run)
		plan_head(night);
	say_few_boots(night);
	if (kab_night_find_hosts(night, err) < 0)
		return -1;
	if (night->env->dry_run)
		return measure(night, err);
	if (!night->closing && measure(night, err) < 0)
		return -1;
	if (!night->stopped && judge(night, err) < 0)
		return -1;
	return night->stopped ? 0 : finish(night, ret, err);
}

static void say_missed(struct kab_nightly_result *ret, const struct kab_strv *dates)
{
	char *list kab_autofree = kab_strv_join(dates, ", ");
	char *with = NULL;

	if (!dates->n)
		return;
	with = kab_xasprintf("%s%smissed: %s", ret->summary ? ret->summary : "",
			     ret->summary ? "; " : "", list);
	free(ret->summary);
	ret->summary = with;
	ret->news = true;
}

/* One night: that which was cut off, else that of now. *ret_closed: its window was over, and it is ended. */
static int one_night(const struct kab_nightly_env *env, struct kab_nightly_result *ret,
		     bool *ret_closed, struct kab_err *err)
{
	struct kab_night night = { .env = env, .c = env->config };
	struct kab_strv kab_autostrv missed = KAB_STRV_INIT;
	int64_t now_ns = kab_night_now(&night);
	enum which which = NIGHT_GO;
	int status;

	*ret = (struct kab_nightly_result){ 0 };
	night.k.purpose = "";
	status = record_missed(&night, now_ns, &ret->missed, &missed, err);
	if (status == 0)
		status = which_night(&night, now_ns, &ret->resumed, &which, err);
	if (status == 0)
		snprintf(ret->date, sizeof(ret->date), "%s", night.window.date);
	if (status == 0 && which == NIGHT_GO && env->begun)
		env->begun(env->ctx, night.window.date);
	if (status == 0 && which == NIGHT_OUTSIDE) {
		char next[24];

		ret->end = KAB_NIGHT_OUTSIDE;
		ret->summary = kab_xasprintf("outside the window, which begins %s",
					     kab_window_local(night.window.from_ns, next));
		status = kab_night_send(&night, err);
	} else if (status == 0 && which == NIGHT_DONE) {
		ret->end = KAB_NIGHT_ALREADY;
		ret->summary = kab_xasprintf("the night of %s is %s already", night.window.date,
					     night.row.state);
		status = kab_night_send(&night, err);
	} else if (status == 0) {
		if (ret->resumed)
			kab_log(env->log, KAB_LOG_INFO, "going on with the night of %s%s",
				night.window.date, night.closing ? ", whose window is over" : "");
		status = go(&night, ret, err);
		if (status == 0 && env->dry_run)
			ret->end = KAB_NIGHT_DRY;
		if (status == 0 && night.stopped) {
			ret->end = KAB_NIGHT_INTERRUPTED;
			ret->exit_status = 130;
			ret->summary = kab_xasprintf("the night of %s was interrupted; start the "
						     "job again to go on",
						     night.window.date);
		}
	}
	if (status == 0)
		say_missed(ret, &missed);
	*ret_closed = night.closing && !night.stopped;
	kab_night_hosts_release(&night);
	kab_night_kernels_release(&night.k);
	kab_night_row_release(&night.row);
	kab_strv_release(&night.news);
	kab_strv_release(&night.known);
	return status;
}

int kab_nightly_night(const struct kab_nightly_env *env, struct kab_nightly_result *ret,
		      struct kab_err *err)
{
	struct kab_nightly_result old = { 0 };
	bool closed = false;

	if (one_night(env, ret, &closed, err) < 0)
		return -1;
	if (!closed)
		return 0;
	/* A night of yesterday that was cut off must not cost tonight's. */
	old = *ret;
	if (one_night(env, ret, &closed, err) < 0) {
		kab_nightly_result_release(&old);
		return -1;
	}
	if (ret->end == KAB_NIGHT_OUTSIDE || ret->end == KAB_NIGHT_ALREADY) {
		kab_nightly_result_release(ret);
		*ret = old;
		return 0;
	}
	if (old.news) {
		char *both = kab_xasprintf("%s; night of %s, cut off: %s", ret->summary, old.date,
					   old.summary);

		free(ret->summary);
		ret->summary = both;
		ret->news = true;
	}
	if (!ret->exit_status)
		ret->exit_status = old.exit_status;
	kab_nightly_result_release(&old);
	return 0;
}
