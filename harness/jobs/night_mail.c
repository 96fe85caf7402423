/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mail of a night: one at most, and only when a person should know. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "exchange/mail_reply.h"
#include "exchange/mime.h"
#include "jobs/history.h"
#include "jobs/mail_send.h"
#include "jobs/night.h"
#include "jobs/night_text.h"

#define DIGEST_NIGHTS 7

/* What there is to tell. */
struct news {
	struct kab_change_list open; /* confirmed, not acknowledged */
	struct kab_strv noboot, quarantined;
	size_t confirmed, recovered; /* tonight, of open */
	bool digest;
};

static void news_release(struct news *n)
{
	kab_change_list_release(&n->open);
	kab_strv_release(&n->noboot);
	kab_strv_release(&n->quarantined);
}

static bool is(const char *date, const struct kab_night *night)
{
	return date && !strcmp(date, night->window.date);
}

static int gather(struct kab_night *night, struct news *ret, struct kab_err *err)
{
	struct kab_night_remark *v = NULL;
	size_t n = 0;

	if (kab_history_open_changes(night->env->store, night->c->name, &ret->open, err) < 0 ||
	    kab_store_night_remarks(night->env->store, night->row.id, &v, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(v[i].kind, "noboot"))
			kab_strv_add(&ret->noboot, v[i].text);
		if (!strcmp(v[i].kind, "quarantined"))
			kab_strv_add(&ret->quarantined, v[i].host);
		kab_night_remark_release(&v[i]);
	}
	free(v);
	for (size_t i = 0; i < ret->open.n; i++) {
		ret->confirmed += is(ret->open.v[i].confirmed, night);
		ret->recovered += is(ret->open.v[i].recovered, night);
	}
	ret->digest = night->c->mail.digest >= 0 &&
		      kab_window_weekday(night->window.date) == night->c->mail.digest;
	return 0;
}

static const char *kind_of(const struct kab_night *night, const struct news *news)
{
	if (news->confirmed || news->recovered)
		return "change";
	if (news->noboot.n)
		return "noboot";
	if (news->quarantined.n)
		return "quarantine";
	if (news->digest)
		return "digest";
	return night->c->mail.when == KAB_MAIL_ALWAYS || night->env->mail_always ? "report" : NULL;
}

/* ---- subject ---- */

static void part(struct kab_buf *out, const char *fmt, size_t n, const char *one, const char *many)
{
	if (out->len)
		kab_buf_adds(out, ", ");
	kab_buf_addf(out, "%zu %s %s", n, n == 1 ? one : many, fmt);
}

static char *subject_of(struct kab_night *night, const struct news *news, const char *kind)
{
	struct kab_buf kab_autobuf what = KAB_BUF_INIT;
	size_t regressed = 0, improved = 0;
	const struct kab_change *worst = NULL;

	for (size_t i = 0; i < news->open.n; i++) {
		const struct kab_change *c = &news->open.v[i];

		if (!is(c->confirmed, night))
			continue;
		regressed += c->regressed;
		improved += !c->regressed;
		if (!worst || (c->regressed && !worst->regressed) ||
		    (c->regressed == worst->regressed &&
		     fabs(c->confirmed_gain_pct) > fabs(worst->confirmed_gain_pct)))
			worst = c;
	}
	if (regressed)
		part(&what, "confirmed", regressed, "regression", "regressions");
	if (improved)
		part(&what, "confirmed", improved, "improvement", "improvements");
	if (worst)
		kab_buf_addf(&what, " (%s%s%s %+.1f%%)", worst->series.case_name,
			     *worst->series.row_key ? "/" : "", worst->series.row_key,
			     worst->confirmed_gain_pct);
	if (news->recovered)
		part(&what, "recovered", news->recovered, "regression", "regressions");
	if (news->noboot.n)
		part(&what, "not boot", news->noboot.n, "kernel does", "kernels do");
	if (news->quarantined.n)
		part(&what, "into quarantine", news->quarantined.n, "host", "hosts");
	if (!strcmp(kind, "digest"))
		kab_buf_adds(&what, "the week");
	if (!what.len)
		kab_buf_adds(&what, night->k.test.label ? night->k.test.label : "report");
	return kab_xasprintf("[kab] %s %s: %s", night->c->name, night->window.date,
			     kab_buf_str(&what));
}

/* ---- body ---- */

static void change_lines(struct kab_buf *out, const struct kab_change *c)
{
	char *name kab_autofree = kab_series_id_name(&c->series);
	char *kernels kab_autofree = NULL, *run kab_autofree = NULL;
	struct kab_buf kab_autobuf line = KAB_BUF_INIT;

	kab_buf_addf(&line, "%s: %+.2f %%", name, c->confirmed_gain_pct);
	if (!isnan(c->lo_pct) && !isnan(c->hi_pct))
		kab_buf_addf(&line, " [%+.2f, %+.2f]", c->lo_pct, c->hi_pct);
	kab_night_wrap(out, "  - ", kab_buf_str(&line));
	kernels = kab_xasprintf("from %s%s%.12s%s to %s%s%.12s%s, first seen in the night of %s; "
				"change %lld",
				c->before.label, *c->before.commit ? " (" : "", c->before.commit,
				*c->before.commit ? ")" : "", c->after.label,
				*c->after.commit ? " (" : "", c->after.commit,
				*c->after.commit ? ")" : "", c->since, (long long)c->id);
	kab_night_wrap(out, "    ", kernels);
	if (c->confirm_run) {
		run = kab_xasprintf("confirmed by a fresh comparison of the two, run %s",
				    c->confirm_run);
		kab_night_wrap(out, "    ", run);
	}
	if (c->recovered) {
		char *text kab_autofree = kab_xasprintf("recovered in the night of %s%s%s",
							c->recovered, c->recovered_why ? ": " : "",
							c->recovered_why ? c->recovered_why : "");

		kab_night_wrap(out, "    ", text);
	}
}

/* Those changes for which the function says so, under a head. */
static void changes(struct kab_buf *out, struct kab_night *night, const struct news *news,
		    const char *title,
		    bool (*wanted)(const struct kab_change *, const struct kab_night *))
{
	bool begun = false;

	for (size_t i = 0; i < news->open.n; i++) {
		if (!wanted(&news->open.v[i], night))
			continue;
		if (!begun)
			kab_buf_addf(out, "%s:\n", title);
		begun = true;
		change_lines(out, &news->open.v[i]);
	}
	if (begun)
		kab_buf_addc(out, '\n');
}

static bool regressed_now(const struct kab_change *c, const struct kab_night *night)
{
	return is(c->confirmed, night) && c->regressed && !is(c->recovered, night);
}

static bool improved_now(const struct kab_change *c, const struct kab_night *night)
{
	return is(c->confirmed, night) && !c->regressed && !is(c->recovered, night);
}

static bool recovered_now(const struct kab_change *c, const struct kab_night *night)
{
	return is(c->recovered, night);
}

static bool open_before(const struct kab_change *c, const struct kab_night *night)
{
	return !is(c->confirmed, night) && c->regressed && !c->recovered;
}

static int the_week(struct kab_night *night, struct kab_buf *out, struct kab_err *err)
{
	struct kab_night_row *rows = NULL;
	size_t n = 0;

	if (kab_store_night_list(night->env->store, night->c->name, DIGEST_NIGHTS, &rows, &n, err) <
	    0)
		return -1;
	kab_buf_adds(out, "The last nights:\n");
	for (size_t i = n; i-- > 0;) {
		char *text kab_autofree = NULL, *day kab_autofree = NULL;
		const char *state = rows[i].state;

		if (rows[i].id == night->row.id)
			state = "this one";
		day = kab_xasprintf("  %s  ", rows[i].date);
		if (!strcmp(state, "done"))
			text = kab_xstrdup(rows[i].summary);
		else
			text = kab_xasprintf("%s%s%s", state, *rows[i].summary ? ": " : "",
					     rows[i].summary);
		kab_night_wrap(out, day, text);
	}
	kab_buf_addc(out, '\n');
	for (size_t i = 0; i < n; i++)
		kab_night_row_release(&rows[i]);
	free(rows);
	return 0;
}

static int body(struct kab_night *night, const struct news *news, const char *kind,
		struct kab_buf *out, struct kab_err *err)
{
	bool report = !strcmp(kind, "report"), shown = false;
	const struct kab_change *first = NULL;

	kab_night_head_text(night, out);
	changes(out, night, news, "Confirmed regressions (gain, + is better; 95 % interval)",
		regressed_now);
	changes(out, night, news, "Confirmed improvements (gain, + is better; 95 % interval)",
		improved_now);
	changes(out, night, news, "Recovered", recovered_now);
	changes(out, night, news, "Open since earlier nights", open_before);
	if (kab_night_remark_text(night, out, err) < 0)
		return -1;
	if (news->digest && the_week(night, out, err) < 0)
		return -1;
	for (size_t i = 0; i < news->open.n; i++) {
		const struct kab_change *c = &news->open.v[i];
		bool again = !is(c->confirmed, night) || !c->confirm_run;

		for (size_t k = 0; k < i; k++)
			again = again || (news->open.v[k].confirm_run && c->confirm_run &&
					  !strcmp(news->open.v[k].confirm_run, c->confirm_run));
		if (!first && c->regressed && !c->recovered)
			first = c;
		/* The first with all circumstances; the others have most of them in common. */
		if (!again && kab_night_tables(night, c->confirm_run, shown, out, err) < 0)
			return -1;
		shown = shown || !again;
	}
	if (report && kab_night_tables(night, NULL, false, out, err) < 0)
		return -1;
	if (first && night->c->baseline != KAB_BASELINE_FIXED)
		kab_buf_addf(
			out,
			"The baseline stays where it is while a regression is open. What is known "
			"and\naccepted is acknowledged: kab history --acknowledge %lld --why "
			"TEXT\n",
			(long long)first->id);
	while (out->len > 1 && out->data[out->len - 1] == '\n' && out->data[out->len - 2] == '\n')
		out->len--;
	out->data[out->len] = '\0';
	return 0;
}

/* ---- the message ---- */

static char *new_id(const struct kab_night *night, const char *kind)
{
	const char *at = strrchr(night->c->mail.from, '@');
	uint32_t random = 0;
	int n = at ? (int)strcspn(at + 1, "> \t") : 0;

	/* What is not random is at least different every night. */
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = (uint32_t)kab_night_now(night);
	return kab_xasprintf("<kab.%s.%s.%s.%08x@%.*s>", night->c->name, night->window.date, kind,
			     random, n ? n : 9, n ? at + 1 : "localhost");
}

static void addresses(const struct kab_strv *list, struct kab_addresses *ret)
{
	for (size_t i = 0; i < list->n; i++)
		kab_addresses_parse(list->v[i], ret);
}

static int message(struct kab_night *night, const struct kab_night_mail_row *mail,
		   const char *parent, const struct kab_buf *text, struct kab_buf *out)
{
	struct kab_addresses from = { 0 }, to = { 0 }, cc = { 0 };
	struct kab_buf kab_autobuf subject = KAB_BUF_INIT, plain = KAB_BUF_INIT;
	char date[40];

	kab_addresses_parse(night->c->mail.from, &from);
	addresses(&night->c->mail.to, &to);
	addresses(&night->c->mail.cc, &cc);
	kab_mime_encode_header(mail->subject, &subject);
	kab_mail_addresses_print("From", &from, out);
	kab_mail_addresses_print("To", &to, out);
	kab_mail_addresses_print("Cc", &cc, out);
	kab_mail_header_print("Subject", kab_buf_str(&subject), out);
	kab_mail_header_print("Date", kab_night_mail_date(kab_night_now(night), date), out);
	kab_mail_header_print("Message-ID", mail->message_id, out);
	if (parent) {
		kab_mail_header_print("In-Reply-To", parent, out);
		kab_mail_header_print("References", parent, out);
	}
	/* Vacation programs and lists leave such mails alone. */
	kab_buf_adds(out, "Auto-Submitted: auto-generated\n"
			  "MIME-Version: 1.0\n"
			  "Content-Type: text/plain; charset=us-ascii\n"
			  "Content-Transfer-Encoding: 7bit\n\n");
	kab_mime_to_ascii(kab_buf_str(text), &plain);
	kab_buf_add(out, plain.data, plain.len);
	kab_addresses_release(&from);
	kab_addresses_release(&to);
	kab_addresses_release(&cc);
	return 0;
}

int kab_night_mail(struct kab_night *night, struct kab_err *err)
{
	struct kab_buf kab_autobuf text = KAB_BUF_INIT, whole = KAB_BUF_INIT;
	struct kab_night_mail_row mail = { 0 }, first = { 0 };
	struct news news = { 0 };
	const char *kind;
	int status;

	if (!night->c->mail.from || night->c->mail.when == KAB_MAIL_NEVER)
		return 0;
	if (gather(night, &news, err) < 0) {
		news_release(&news);
		return -1;
	}
	kind = kind_of(night, &news);
	if (!kind) {
		news_release(&news);
		return 0;
	}
	mail = (struct kab_night_mail_row){ .date = kab_xstrdup(night->window.date),
					    .kind = kab_xstrdup(kind),
					    .message_id = new_id(night, kind),
					    .subject = subject_of(night, &news, kind) };
	status = kab_store_night_first_mail(night->env->store, night->c->name, kind, &first, err);
	if (status >= 0)
		status = body(night, &news, kind, &text, err);
	if (status == 0) {
		message(night, &mail, first.message_id, &text, &whole);
		mail.message = kab_buf_detach(&whole);
		status = kab_store_night_put_mail(night->env->store, night->c->name, &mail, err);
	}
	kab_night_mail_row_release(&mail);
	kab_night_mail_row_release(&first);
	news_release(&news);
	return status < 0 ? -1 : 0;
}

/* ---- sending ---- */

static int send_one(struct kab_night *night, const struct kab_mail_account *account,
		    const char *text, struct kab_err *err)
{
	struct kab_addresses from = { 0 }, to = { 0 };
	struct kab_strv kab_autostrv bare = KAB_STRV_INIT;
	const struct kab_nightly_env *env = night->env;
	int status;

	kab_addresses_parse(night->c->mail.from, &from);
	addresses(&night->c->mail.to, &to);
	addresses(&night->c->mail.cc, &to);
	for (size_t i = 0; i < to.n; i++)
		if (!kab_strv_has(&bare, to.v[i].addr))
			kab_strv_add(&bare, to.v[i].addr);
	if (!from.n)
		status = kab_err_set(err, KAB_ERR_CONFIG, "'%s' is not a mail address",
				     night->c->mail.from);
	else if (env->send)
		status = env->send(env->ctx, from.v[0].addr, &bare, text, err);
	else
		status = kab_mail_send(account, from.v[0].addr, &bare, text, env->cancel_fd, err);
	kab_addresses_release(&from);
	kab_addresses_release(&to);
	return status;
}

int kab_night_send(struct kab_night *night, struct kab_err *err)
{
	const struct kab_nightly_env *env = night->env;
	struct kab_mail_account account = { 0 };
	struct kab_night_mail_row *v = NULL;
	struct kab_err why = KAB_ERR_INIT;
	size_t n = 0, kept = 0;
	int status = 0;

	if (!night->c->mail.from)
		return 0;
	if (kab_store_night_unsent(env->store, night->c->name, &v, &n, err) < 0)
		return -1;
	if (n && !env->send)
		kab_mail_account_fill(&night->c->mail.account, &account);
	for (size_t i = 0; i < n; i++) {
		if (status == 0 && !kept && send_one(night, &account, v[i].message, &why) < 0)
			kept = n - i;
		else if (status == 0 && !kept)
			status = kab_store_night_mail_sent(env->store, night->c->name, v[i].date,
							   kab_night_now(night), err);
		if (status == 0 && !kept)
			kab_log(env->log, KAB_LOG_INFO, "mail sent: %s", v[i].subject);
		kab_night_mail_row_release(&v[i]);
	}
	free(v);
	kab_mail_account_release(&account);
	if (status == 0 && kept) {
		kab_strv_take(&night->news, kab_xasprintf("%zu mail%s could not be sent (%s)", kept,
							  kept == 1 ? "" : "s", why.text));
		night->failures = true;
		kab_log(env->log, KAB_LOG_WARN, "mail is kept for the next call: %s", why.text);
	}
	return status;
}
