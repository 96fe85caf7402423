/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "publish/smtp.h"

#include <curl/curl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"

struct upload {
	const struct kab_smtp *smtp;
	struct kab_buf data; /* with CR LF */
	size_t at;
	struct kab_buf answer; /* the server's last answers */
	bool cancelled;
};

static size_t on_read(char *to, size_t size, size_t n, void *ctx)
{
	struct upload *u = ctx;
	size_t room = size * n, left = u->data.len - u->at;

	if (left > room)
		left = room;
	memcpy(to, u->data.data + u->at, left);
	u->at += left;
	return left;
}

/* What the server answers: the reason for a refusal is in its own words. */
static int on_debug(CURL *easy, curl_infotype type, char *text, size_t n, void *ctx)
{
	struct upload *u = ctx;

	(void)easy;
	if (type == CURLINFO_HEADER_IN && n > 3 && (text[0] == '4' || text[0] == '5')) {
		kab_buf_clear(&u->answer);
		kab_buf_add(&u->answer, text, n < 300 ? n : 300);
		kab_buf_rtrim(&u->answer, "\r\n ");
	}
	return 0;
}

static int on_progress(void *ctx, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	struct upload *u = ctx;
	struct pollfd fd = { .fd = u->smtp->cancel_fd, .events = POLLIN };

	(void)a, (void)b, (void)c, (void)d;
	u->cancelled = fd.fd >= 0 && poll(&fd, 1, 0) > 0;
	return u->cancelled;
}

static int check(const struct kab_smtp *smtp, const char *message, struct kab_err *err)
{
	const char *bad = NULL;

	if (strpbrk(smtp->from, "<> \r\n") || !*smtp->from)
		bad = smtp->from;
	for (size_t i = 0; i < smtp->to->n; i++)
		if (strpbrk(smtp->to->v[i], "<> \r\n") || !strchr(smtp->to->v[i], '@'))
			bad = smtp->to->v[i];
	if (bad)
		return kab_err_set(err, KAB_ERR_CONFIG, "'%s' is not a mail address", bad);
	if (!smtp->to->n)
		return kab_err_set(err, KAB_ERR_CONFIG, "the mail has no recipients");
	if (strchr(message, '\r'))
		return kab_err_set(err, KAB_ERR_CONFIG, "the mail has carriage returns in it");
	for (const char *p = message; *p; p += strcspn(p, "\n"), p += *p == '\n')
		if (strcspn(p, "\n") > 998)
			return kab_err_set(err, KAB_ERR_CONFIG,
					   "the mail has a line of more than 998 characters");
	return 0;
}

static int explain(const struct upload *u, CURLcode code, long status, struct kab_err *err)
{
	const struct kab_smtp *s = u->smtp;
	const char *words = kab_buf_str(&u->answer);

	if (u->cancelled)
		return kab_err_set(err, KAB_ERR_CANCELLED, "interrupted");
	switch (code) {
	case CURLE_OPERATION_TIMEDOUT:
		return kab_err_set(err, KAB_ERR_TIMEOUT, "'%s' did not take the mail in time",
				   s->server);
	case CURLE_LOGIN_DENIED:
		return kab_err_set(err, KAB_ERR_AUTH,
				   "'%s' refuses user '%s': %s; is the password right?", s->server,
				   s->user ? s->user : "", words);
	case CURLE_USE_SSL_FAILED:
		return kab_err_set(err, KAB_ERR_CONNECT,
				   "'%s' does not offer STARTTLS; nothing was sent", s->server);
	case CURLE_PEER_FAILED_VERIFICATION:
		return kab_err_set(err, KAB_ERR_CONNECT,
				   "the certificate of '%s' is not trusted; nothing was sent",
				   s->server);
	case CURLE_SEND_ERROR:
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_RECV_ERROR:
	default:
		break;
	}
	if (status >= 400 || *words)
		return kab_err_set(err, KAB_ERR_REMOTE, "'%s' refuses the mail: %s", s->server,
				   *words ? words : curl_easy_strerror(code));
	return kab_err_set(err, KAB_ERR_CONNECT, "cannot send through '%s': %s", s->server,
			   curl_easy_strerror(code));
}

int kab_smtp_send(const struct kab_smtp *smtp, const char *message, struct kab_err *err)
{
	static const int ports[] = { 25, 587, 465 };
	struct upload u = { .smtp = smtp };
	char *url kab_autofree = NULL, *from kab_autofree = NULL;
	struct curl_slist *to = NULL;
	int64_t left_ms;
	CURLcode code;
	long status = 0;
	CURL *e;

	if (check(smtp, message, err) < 0)
		return -1;
	e = curl_easy_init();
	if (!e)
		return kab_err_set(err, KAB_ERR_ENV, "cannot start sending");
	for (const char *p = message; *p; p++) {
		if (*p == '\n')
			kab_buf_addc(&u.data, '\r');
		kab_buf_addc(&u.data, *p);
	}
	url = kab_xasprintf("%s://%s:%d", smtp->security == KAB_SMTP_TLS ? "smtps" : "smtp",
			    smtp->server, smtp->port ? smtp->port : ports[smtp->security]);
	from = kab_xasprintf("<%s>", smtp->from);
	for (size_t i = 0; i < smtp->to->n; i++) {
		char *one kab_autofree = kab_xasprintf("<%s>", smtp->to->v[i]);

		to = curl_slist_append(to, one);
	}
	left_ms = (smtp->deadline_ns - kab_now_mono_ns()) / KAB_NS_PER_MS;
	curl_easy_setopt(e, CURLOPT_URL, url);
#if LIBCURL_VERSION_NUM >= 0x075500
	curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
#else
	curl_easy_setopt(e, CURLOPT_PROTOCOLS, (long)(CURLPROTO_SMTP | CURLPROTO_SMTPS));
#endif
	curl_easy_setopt(
		e, CURLOPT_USE_SSL,
		(long)(smtp->security == KAB_SMTP_PLAIN ? CURLUSESSL_NONE : CURLUSESSL_ALL));
	if (smtp->ca_file)
		curl_easy_setopt(e, CURLOPT_CAINFO, smtp->ca_file);
	if (smtp->user && smtp->password) {
		curl_easy_setopt(e, CURLOPT_USERNAME, smtp->user);
		curl_easy_setopt(e, CURLOPT_PASSWORD, smtp->password);
	}
	curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT, 30L);
	curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)(left_ms > 0 ? left_ms : 1));
	curl_easy_setopt(e, CURLOPT_MAIL_FROM, from);
	curl_easy_setopt(e, CURLOPT_MAIL_RCPT, to);
	curl_easy_setopt(e, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(e, CURLOPT_READFUNCTION, on_read);
	curl_easy_setopt(e, CURLOPT_READDATA, &u);
	curl_easy_setopt(e, CURLOPT_DEBUGFUNCTION, on_debug);
	curl_easy_setopt(e, CURLOPT_DEBUGDATA, &u);
	curl_easy_setopt(e, CURLOPT_VERBOSE, 1L);
	curl_easy_setopt(e, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(e, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(e, CURLOPT_XFERINFODATA, &u);
	code = curl_easy_perform(e);
	curl_easy_getinfo(e, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_cleanup(e);
	curl_slist_free_all(to);
	if (code != CURLE_OK)
		explain(&u, code, status, err);
	kab_buf_release(&u.data);
	kab_buf_release(&u.answer);
	return code == CURLE_OK ? 0 : -1;
}
