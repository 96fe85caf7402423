/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The network half: one report to its server, and what the server says of it. */
#include "publish/kcidb_submit.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "publish/fetch.h"
#include "publish/kcidb_spool.h"

#define ANSWER_MAX ((size_t)64 << 10)
#define ONE_TRY_S 60
#define PAUSE_FIRST_S 0.5
#define PAUSE_MAX_S 30.0
#define POLLS_MAX 8

struct request {
	const struct kab_kcidb_submit *how;
	struct kab_buf answer;
	bool cancelled;
	long status; /* 0: no answer */
	char *words; /* why it did not work */
	double retry_after_s;
};

static void request_release(struct request *q)
{
	kab_buf_release(&q->answer);
	free(q->words);
}

static size_t on_body(char *data, size_t size, size_t n, void *ctx)
{
	struct request *q = ctx;

	kab_buf_add(&q->answer, data, size * n);
	return size * n;
}

static int on_progress(void *ctx, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	struct request *q = ctx;
	struct pollfd fd = { .fd = q->how->cancel_fd, .events = POLLIN };

	(void)a, (void)b, (void)c, (void)d;
	q->cancelled = fd.fd >= 0 && poll(&fd, 1, 0) > 0;
	return q->cancelled;
}

/* Is the host this machine itself? */
static bool is_loopback(const char *url)
{
	const char *host = strstr(url, "://") + 3, *end = host + strcspn(host, "/?#"), *at = host;

	for (const char *p = host; p < end; p++)
		if (*p == '@')
			at = p + 1;
	return !strncmp(at, "127.", 4) || !strncmp(at, "[::1]", 5) ||
	       (!strncmp(at, "localhost", 9) && (at[9] == ':' || at + 9 == end));
}

/* body NULL: GET. What came back is in q. -1: it could not even begin. */
static int talk(const char *url, const char *body, size_t n, struct request *q, struct kab_err *err)
{
	char *shown kab_autofree = kab_fetch_show_url(url);
	struct curl_slist *headers = NULL;
	curl_off_t retry_after = 0;
	CURL *e = curl_easy_init();
	CURLcode code;

	if (!e)
		return kab_err_set(err, KAB_ERR_ENV, "cannot start sending");
	q->status = 0;
	q->retry_after_s = 0;
	free(q->words);
	q->words = NULL;
	kab_buf_clear(&q->answer);
	if (q->how->token) {
		char *line kab_autofree = kab_xasprintf("Authorization: Bearer %s", q->how->token);

		headers = curl_slist_append(headers, line);
	}
	headers = curl_slist_append(headers, "Content-Type: application/json");
	headers = curl_slist_append(headers, "Accept: application/json");
	headers = curl_slist_append(headers, "Expect:");
	curl_easy_setopt(e, CURLOPT_URL, url);
#if LIBCURL_VERSION_NUM >= 0x075500
	curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	curl_easy_setopt(e, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
	/* A redirect could carry the token to somebody else. */
	curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT, 20L);
	curl_easy_setopt(e, CURLOPT_TIMEOUT, (long)ONE_TRY_S);
	curl_easy_setopt(e, CURLOPT_USERAGENT, "kab");
	curl_easy_setopt(e, CURLOPT_HTTPHEADER, headers);
	if (body) {
		curl_easy_setopt(e, CURLOPT_POSTFIELDS, body);
		curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)n);
	}
	curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(e, CURLOPT_WRITEDATA, q);
	curl_easy_setopt(e, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(e, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(e, CURLOPT_XFERINFODATA, q);
	code = curl_easy_perform(e);
	if (code == CURLE_OK)
		curl_easy_getinfo(e, CURLINFO_RESPONSE_CODE, &q->status);
	curl_easy_getinfo(e, CURLINFO_RETRY_AFTER, &retry_after);
	q->retry_after_s = (double)retry_after;
	curl_easy_cleanup(e);
	curl_slist_free_all(headers);
	if (q->cancelled)
		return kab_err_set(err, KAB_ERR_CANCELLED, "interrupted");
	if (code != CURLE_OK)
		q->words = kab_xasprintf("'%s': %s", shown, curl_easy_strerror(code));
	return 0;
}

/* The words of an answer: its "message" or "error", else its first line; caller frees. */
static char *words_of(const struct request *q, json_t *doc)
{
	static const char *const keys[] = { "message", "error", "detail" };
	const char *text = kab_buf_str(&q->answer);
	struct kab_buf kab_autobuf line = KAB_BUF_INIT;

	for (size_t i = 0; i < KAB_ARRAY_SIZE(keys); i++) {
		const char *s = json_string_value(json_object_get(doc, keys[i]));

		if (s && *s)
			return kab_xstrndup(s, 2000);
	}
	kab_buf_add(&line, text, strcspn(text, "\r\n"));
	return kab_xstrndup(kab_buf_str(&line), 500);
}

static bool may_pass(long status)
{
	return !status || status == 408 || status == 425 || status == 429 || status == 500 ||
	       status == 502 || status == 503 || status == 504;
}

/* 1: pause is over, try again; 0: no time is left; -1 cancelled. */
static int pause_before_next(const struct kab_kcidb_submit *how, double *pause_s,
			     double retry_after_s, struct kab_err *err)
{
	double wait = retry_after_s > *pause_s ? retry_after_s : *pause_s;
	int64_t until = kab_deadline_s(wait);

	if (until >= how->deadline_ns)
		return 0;
	if (kab_wait_until(until, how->cancel_fd, err) < 0)
		return -1;
	*pause_s = *pause_s * 2 < PAUSE_MAX_S ? *pause_s * 2 : PAUSE_MAX_S;
	return 1;
}

static void set_words(struct kab_kcidb_entry *e, char *words)
{
	free(e->words);
	e->words = words;
}

/* The server took it: from here on it is never sent again. */
static int accepted(struct kab_kcidb_entry *e, json_t *doc, const struct request *q,
		    struct kab_err *err)
{
	const char *id = json_string_value(json_object_get(doc, "id"));
	const char *status = json_string_value(json_object_get(doc, "status"));
	bool bad = status && (!strcasecmp(status, "error") || !strcasecmp(status, "failed") ||
			      !strcasecmp(status, "rejected"));

	free(e->id);
	e->id = id ? kab_xstrdup(id) : NULL;
	set_words(e, words_of(q, doc));
	e->state = bad ? KAB_KCIDB_FAILED : id ? KAB_KCIDB_ACCEPTED : KAB_KCIDB_DONE;
	return kab_kcidb_write(e, err);
}

static int refused(struct kab_kcidb_entry *e, json_t *doc, const struct request *q,
		   struct kab_err *err)
{
	char *said kab_autofree = words_of(q, doc),
		   *shown kab_autofree = kab_fetch_show_url(e->url);

	if (q->status == 401 || q->status == 403) {
		set_words(e, kab_xasprintf("HTTP %ld: %s", q->status, said));
		if (kab_kcidb_write(e, err))
			return -1;
		return kab_err_set(err, KAB_ERR_AUTH,
				   "'%s' refuses the token (HTTP %ld): %s; the report waits in the "
				   "spool",
				   shown, q->status, said);
	}
	set_words(e, kab_xasprintf("HTTP %ld: %s", q->status, said));
	e->state = KAB_KCIDB_FAILED;
	return kab_kcidb_write(e, err);
}

static int post(struct kab_kcidb_entry *e, const char *report, const struct kab_kcidb_submit *how,
		struct kab_err *err)
{
	struct request q = { .how = how };
	double pause_s = PAUSE_FIRST_S;
	int rc = 0;

	kab_buf_init(&q.answer, ANSWER_MAX);
	for (;;) {
		json_t *doc;

		e->tries++;
		rc = talk(e->url, report, strlen(report), &q, err);
		if (rc)
			break;
		doc = json_loadb(kab_buf_str(&q.answer), q.answer.len, 0, NULL);
		if (q.status >= 200 && q.status < 300) {
			rc = accepted(e, doc, &q, err);
		} else if (!may_pass(q.status)) {
			rc = refused(e, doc, &q, err);
		} else {
			char *said kab_autofree = words_of(&q, doc);

			set_words(e, q.words ? kab_xstrdup(q.words)
					     : kab_xasprintf("HTTP %ld: %s", q.status, said));
			json_decref(doc);
			kab_log(how->log, KAB_LOG_WARN, "KCIDB: %s; trying again", e->words);
			if (kab_kcidb_write(e, err) ||
			    (rc = pause_before_next(how, &pause_s, q.retry_after_s, err)) < 0)
				rc = -1;
			if (rc <= 0)
				break;
			continue;
		}
		json_decref(doc);
		break;
	}
	request_release(&q);
	return rc;
}

/* "https://host/submit" to "https://host/status?id=ID"; NULL when the server has none. */
static char *status_url(const struct kab_kcidb_entry *e)
{
	size_t n = strcspn(e->url, "?#");
	char *escaped, *ret;

	if (n < 7 || strncmp(e->url + n - 7, "/submit", 7))
		return NULL;
	escaped = curl_easy_escape(NULL, e->id, 0);
	ret = kab_xasprintf("%.*s/status?id=%s", (int)(n - 7), e->url, escaped ? escaped : "");
	curl_free(escaped);
	return ret;
}

/* 1 known and final, 0 not yet. */
static int judge_status(struct kab_kcidb_entry *e, const struct request *q, json_t *doc)
{
	static const char *const bad[] = { "failed", "fail", "error", "rejected", "invalid" };
	static const char *const wait[] = { "pending", "queued", "processing", "new", "running" };
	const char *status = json_string_value(json_object_get(doc, "status"));

	/* Submissions leave the status service once they are through. */
	if (q->status == 404 || q->status == 410) {
		e->state = KAB_KCIDB_DONE;
		return 1;
	}
	if (q->status < 200 || q->status >= 300 || !status)
		return 0;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(wait); i++)
		if (!strcasecmp(status, wait[i]))
			return 0;
	e->state = KAB_KCIDB_DONE;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(bad); i++)
		if (!strcasecmp(status, bad[i]))
			e->state = KAB_KCIDB_FAILED;
	if (e->state == KAB_KCIDB_FAILED) {
		char *said kab_autofree = words_of(q, doc);

		set_words(e, kab_xasprintf("%s: %s", status, said));
	}
	return 1;
}

static int ask(struct kab_kcidb_entry *e, const struct kab_kcidb_submit *how, struct kab_err *err)
{
	char *url kab_autofree = status_url(e);
	struct request q = { .how = how };
	double pause_s = PAUSE_FIRST_S;
	int rc = 0, final = 0;

	if (!url) {
		e->state = KAB_KCIDB_DONE;
		return kab_kcidb_write(e, err);
	}
	kab_buf_init(&q.answer, ANSWER_MAX);
	for (int i = 0; i < POLLS_MAX && !final; i++) {
		json_t *doc;

		rc = talk(url, NULL, 0, &q, err);
		if (rc)
			break;
		doc = json_loadb(kab_buf_str(&q.answer), q.answer.len, 0, NULL);
		final = judge_status(e, &q, doc);
		json_decref(doc);
		if (!final && (rc = pause_before_next(how, &pause_s, q.retry_after_s, err)) <= 0)
			break;
	}
	if (final && rc >= 0)
		rc = kab_kcidb_write(e, err);
	request_release(&q);
	return rc < 0 ? -1 : 0;
}

int kab_kcidb_send(struct kab_kcidb_entry *e, const struct kab_kcidb_submit *how,
		   struct kab_err *err)
{
	char *report = NULL;
	int fd = -1, rc;

	if (how->token && strncasecmp(e->url, "https://", 8) && !is_loopback(e->url)) {
		char *shown kab_autofree = kab_fetch_show_url(e->url);

		return kab_err_set(err, KAB_ERR_CONFIG,
				   "the token would go to '%s' unencrypted; use https", shown);
	}
	/* Two at one report would send it twice. */
	rc = kab_kcidb_lock(e, &fd, &report, err);
	if (!rc && e->state == KAB_KCIDB_QUEUED)
		rc = post(e, report, how, err);
	if (!rc && e->state == KAB_KCIDB_ACCEPTED)
		rc = ask(e, how, err);
	if (fd >= 0)
		close(fd);
	free(report);
	return rc < 0 ? -1 : 0;
}
