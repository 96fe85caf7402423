/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "publish/fetch.h"

#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/sha256.h"

#define REDIRECTS_MAX 5L
#define TRIES_MAX 5
/* Slower than this for so long is as good as broken off. */
#define LOW_SPEED_BYTES 512L
#define LOW_SPEED_S 60L
#define TAG_MAX ((size_t)512)

struct fetch {
	const struct kab_fetch_opts *opts;
	char *shown; /* the URL for messages */
	char *file, *part, *tag_file; /* in the cache */
	int fd; /* of part, locked */
	int64_t have; /* bytes in part */
	CURL *easy;

	/* of one answer */
	char *tag; /* ETag or Last-Modified: what tells one version from another */
	int64_t from; /* what we asked to go on from */
	int64_t range_from; /* what the server says it sends from; -1 nothing */
	int write_errno;
	bool begun;
	int64_t last_progress_ns;
};

bool kab_fetch_is_url(const char *text)
{
	return !strncasecmp(text, "http://", 7) || !strncasecmp(text, "https://", 8);
}

char *kab_fetch_show_url(const char *url)
{
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;
	const char *host = strstr(url, "://"), *end, *at = NULL;

	host = host ? host + 3 : url;
	end = host + strcspn(host, "/?#");
	for (const char *p = host; p < end; p++)
		if (*p == '@')
			at = p;
	kab_buf_add(&buf, url, (size_t)(host - url));
	if (at)
		host = at + 1;
	end = host + strcspn(host, "?#");
	kab_buf_add(&buf, host, (size_t)(end - host));
	if (*end == '?')
		kab_buf_adds(&buf, "?...");
	return kab_xstrdup(kab_buf_str(&buf));
}

/* The last part of the URL's path, in plain letters: its suffix says how it is packed. */
static char *name_of(const char *url)
{
	const char *host = strstr(url, "://") + 3, *path = host + strcspn(host, "/?#");
	size_t n = *path == '/' ? strcspn(path, "?#") : 0;
	size_t from = n;
	char *name;

	while (from && path[from - 1] != '/')
		from--;
	name = from < n ? kab_xstrndup(path + from, n - from) : kab_xstrdup("download");
	for (char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) &&
		    (!strchr("._+~-", *p) || (p == name && *p == '.')))
			*p = '_';
	if (strlen(name) > 200)
		memmove(name, name + strlen(name) - 200, 201);
	return name;
}

static size_t on_header(char *line, size_t size, size_t n, void *ctx)
{
	struct fetch *f = ctx;
	size_t len = size * n;
	char *text kab_autofree = kab_xstrndup(line, len);
	long long from;

	if (!strncasecmp(text, "http/", 5)) {
		/* A new answer, of a redirect or the last. */
		free(f->tag);
		f->tag = NULL;
		f->range_from = -1;
		return len;
	}
	text[strcspn(text, "\r\n")] = '\0';
	if (!strncasecmp(text, "content-range: bytes ", 21) &&
	    sscanf(text + 21, "%lld-", &from) == 1)
		f->range_from = from;
	/* A weak tag does not promise equal bytes. */
	if (!strncasecmp(text, "etag: \"", 7) && len < TAG_MAX) {
		free(f->tag);
		f->tag = kab_xstrdup(text + 6);
	}
	if (!strncasecmp(text, "last-modified: ", 15) && len < TAG_MAX && !f->tag)
		f->tag = kab_xstrdup(text + 15);
	return len;
}

/* The first bytes of an answer: do they continue what we have, or begin anew? */
static int begin(struct fetch *f, long status)
{
	f->begun = true;
	if (status == 206 && f->range_from == f->from)
		return 0;
	if (status == 206)
		return -1;
	f->have = 0;
	if (ftruncate(f->fd, 0) < 0) {
		f->write_errno = errno;
		return -1;
	}
	if (f->tag)
		return kab_file_write(f->tag_file, f->tag, strlen(f->tag), 0644, NULL);
	return unlink(f->tag_file) < 0 && errno != ENOENT ? -1 : 0;
}

static size_t on_body(char *data, size_t size, size_t n, void *ctx)
{
	struct fetch *f = ctx;
	size_t len = size * n, done = 0;
	long status = 0;

	curl_easy_getinfo(f->easy, CURLINFO_RESPONSE_CODE, &status);
	/* The page of an error is not the file. */
	if (status != 200 && status != 206)
		return len;
	if (!f->begun && begin(f, status) < 0)
		return 0;
	while (done < len) {
		ssize_t w = pwrite(f->fd, data + done, len - done, f->have);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0) {
			f->write_errno = errno;
			return 0;
		}
		done += (size_t)w;
		f->have += w;
	}
	return len;
}

static void progress(struct fetch *f)
{
	curl_off_t left = 0;
	int64_t now = kab_now_mono_ns();

	if (!f->opts->progress || now - f->last_progress_ns < 300 * KAB_NS_PER_MS)
		return;
	f->last_progress_ns = now;
	curl_easy_getinfo(f->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &left);
	f->opts->progress(f->opts->ctx, f->have,
			  left > 0 ? left + (f->range_from > 0 ? f->range_from : 0) : 0);
}

static void set_options(struct fetch *f, struct curl_slist *headers)
{
	bool tls = !strncasecmp(f->opts->url, "https", 5);
	CURL *e = f->easy;

	curl_easy_setopt(e, CURLOPT_URL, f->opts->url);
	curl_easy_setopt(e, CURLOPT_HTTPHEADER, headers);
#if LIBCURL_VERSION_NUM >= 0x075500
	curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
	/* What began encrypted stays so. */
	curl_easy_setopt(e, CURLOPT_REDIR_PROTOCOLS_STR, tls ? "https" : "http,https");
#else
	curl_easy_setopt(e, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
	curl_easy_setopt(e, CURLOPT_REDIR_PROTOCOLS,
			 (long)(tls ? CURLPROTO_HTTPS : CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
	curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 1L);
	curl_easy_setopt(e, CURLOPT_MAXREDIRS, REDIRECTS_MAX);
	curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT, 30L);
	curl_easy_setopt(e, CURLOPT_LOW_SPEED_LIMIT, LOW_SPEED_BYTES);
	curl_easy_setopt(e, CURLOPT_LOW_SPEED_TIME, LOW_SPEED_S);
	curl_easy_setopt(e, CURLOPT_USERAGENT, "kab");
	curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(e, CURLOPT_HEADERDATA, f);
	curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(e, CURLOPT_WRITEDATA, f);
}

/* Run the transfer; *ret_code is curl's. -1: deadline, cancelled. */
static int transfer(struct fetch *f, CURLcode *ret_code, struct kab_err *err)
{
	CURLM *multi = curl_multi_init();
	int running = 1, left, status = 0;
	CURLMsg *msg;

	*ret_code = CURLE_FAILED_INIT;
	if (!multi || curl_multi_add_handle(multi, f->easy) != CURLM_OK) {
		curl_multi_cleanup(multi);
		return kab_err_set(err, KAB_ERR_ENV, "cannot start a download");
	}
	while (status == 0 && running) {
		struct curl_waitfd fd = { .fd = f->opts->cancel_fd, .events = CURL_WAIT_POLLIN };
		struct pollfd cancel = { .fd = f->opts->cancel_fd, .events = POLLIN };

		if (curl_multi_perform(multi, &running) != CURLM_OK ||
		    curl_multi_poll(multi, &fd, fd.fd >= 0 ? 1 : 0, 250, NULL) != CURLM_OK)
			break;
		progress(f);
		if (poll(&cancel, 1, 0) > 0)
			status = kab_err_set(err, KAB_ERR_CANCELLED, "interrupted");
		else if (running && kab_now_mono_ns() >= f->opts->deadline_ns)
			status = kab_err_set(err, KAB_ERR_TIMEOUT,
					     "'%s' was not downloaded in time; %lld bytes are kept",
					     f->shown, (long long)f->have);
	}
	while ((msg = curl_multi_info_read(multi, &left)))
		if (msg->msg == CURLMSG_DONE)
			*ret_code = msg->data.result;
	curl_multi_remove_handle(multi, f->easy);
	curl_multi_cleanup(multi);
	return status;
}

static char *stored_tag(const struct fetch *f)
{
	struct kab_buf kab_autobuf buf = { .max = TAG_MAX };

	if (kab_file_read(f->tag_file, &buf, NULL) < 0 || !buf.len)
		return NULL;
	return kab_xstrdup(buf.data);
}

static bool is_etag(const char *tag)
{
	return *tag == '"';
}

/* One request. 0: part is whole; 1: try again (*err says why); 2: the cached file is still right. */
static int request(struct fetch *f, bool cached, struct kab_err *err)
{
	char *tag kab_autofree = stored_tag(f), *line kab_autofree = NULL,
		  *range kab_autofree = NULL;
	struct curl_slist *headers = NULL;
	CURLcode code;
	long status = 0;
	int rc;

	f->easy = curl_easy_init();
	if (!f->easy)
		return kab_err_set(err, KAB_ERR_ENV, "cannot start a download");
	f->begun = false;
	f->range_from = -1;
	f->write_errno = 0;
	/* Bytes of an unknown version are only worth something when a hash will tell. */
	if (!tag && !f->opts->sha256)
		f->have = 0;
	f->from = f->have;
	if (cached && tag)
		line = kab_xasprintf("%s: %s", is_etag(tag) ? "If-None-Match" : "If-Modified-Since",
				     tag);
	else if (f->from && tag)
		line = kab_xasprintf("If-Range: %s", tag);
	if (line)
		headers = curl_slist_append(headers, line);
	set_options(f, headers);
	if (f->from) {
		range = kab_xasprintf("%lld-", (long long)f->from);
		curl_easy_setopt(f->easy, CURLOPT_RANGE, range);
	}
	rc = transfer(f, &code, err);
	curl_easy_getinfo(f->easy, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_cleanup(f->easy);
	curl_slist_free_all(headers);
	f->easy = NULL;
	if (rc < 0)
		return -1;
	if (f->write_errno) {
		/* What fills the disk is not kept. */
		if (ftruncate(f->fd, 0) == 0)
			f->have = 0;
		unlink(f->tag_file);
		errno = f->write_errno;
		return kab_err_errno(err, KAB_ERR_ENV, "cannot write '%s'", f->part);
	}
	switch (code) {
	case CURLE_OK:
		break;
	case CURLE_TOO_MANY_REDIRECTS:
		return kab_err_set(err, KAB_ERR_CONFIG, "'%s' redirects more than %ld times",
				   f->shown, REDIRECTS_MAX);
	case CURLE_UNSUPPORTED_PROTOCOL:
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "'%s' redirects to something that is not allowed (https may not "
				   "become http)",
				   f->shown);
	case CURLE_URL_MALFORMAT:
		return kab_err_set(err, KAB_ERR_CONFIG, "'%s' is not a URL", f->shown);
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
		return kab_err_set(err, KAB_ERR_CONNECT,
				   "the certificate of '%s' is not trusted: %s", f->shown,
				   curl_easy_strerror(code));
	case CURLE_WRITE_ERROR:
		/* An answer that does not go on where we asked: from the beginning, then. */
		f->have = 0;
		kab_err_set(err, KAB_ERR_CONNECT,
			    "'%s': the server sent another part than asked for", f->shown);
		return 1;
	default:
		kab_err_set(err, KAB_ERR_CONNECT, "cannot download '%s': %s", f->shown,
			    curl_easy_strerror(code));
		return 1;
	}
	if (status == 200 || status == 206) {
		/* An empty file has no body that would have begun. */
		if (!f->begun && begin(f, status) < 0)
			return kab_err_errno(err, KAB_ERR_ENV, "cannot write '%s'", f->part);
		return 0;
	}
	if (status == 304 && cached)
		return 2;
	if (status == 416 && f->from) {
		/* Nothing is left to send: whole if the hash says so, else another version. */
		if (f->opts->sha256)
			return 0;
		f->have = 0;
		kab_err_set(err, KAB_ERR_CONNECT, "'%s' has become shorter", f->shown);
		return 1;
	}
	kab_err_set(err,
		    status == 404 || status == 410		      ? KAB_ERR_NOT_FOUND
		    : status >= 500 || status == 429 || status == 408 ? KAB_ERR_CONNECT
								      : KAB_ERR_CONFIG,
		    "cannot download '%s': the server answers %ld%s", f->shown, status,
		    status == 404		     ? " (not found)"
		    : status == 401 || status == 403 ? " (not allowed)"
						     : "");
	return err && err->code == KAB_ERR_CONNECT ? 1 : -1;
}

static int check_hash(struct fetch *f, const char *path, struct kab_err *err)
{
	char hex[KAB_SHA256_HEX_SIZE];

	if (!f->opts->sha256)
		return 0;
	if (kab_sha256_file(path, hex, NULL, err) < 0)
		return -1;
	if (!strcasecmp(hex, f->opts->sha256))
		return 0;
	return kab_err_set(err, KAB_ERR_CONFIG, "'%s' has the sha256 %s, not %s as given", f->shown,
			   hex, f->opts->sha256);
}

/* Another kab may be at the same file. */
static int lock(struct fetch *f, struct kab_err *err)
{
	struct stat st, named;

	for (;;) {
		if (f->fd < 0)
			f->fd = open(f->part, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
		if (f->fd < 0)
			return kab_err_errno(err, KAB_ERR_ENV, "cannot create '%s'", f->part);
		if (flock(f->fd, LOCK_EX | LOCK_NB) == 0) {
			if (fstat(f->fd, &st) == 0 && stat(f->part, &named) == 0 &&
			    st.st_ino == named.st_ino)
				break;
			/* The other has renamed it meanwhile: this one is the finished file. */
			close(f->fd);
			f->fd = -1;
			continue;
		}
		if (errno != EWOULDBLOCK && errno != EINTR)
			return kab_err_errno(err, KAB_ERR_ENV, "cannot lock '%s'", f->part);
		if (kab_now_mono_ns() >= f->opts->deadline_ns)
			return kab_err_set(err, KAB_ERR_TIMEOUT,
					   "'%s' is being downloaded by another kab", f->shown);
		if (kab_wait_until(kab_deadline_s(0.2), f->opts->cancel_fd, err) < 0)
			return -1;
	}
	f->have = st.st_size;
	return 0;
}

static int finish(struct fetch *f, struct kab_err *err)
{
	if (check_hash(f, f->part, err) < 0) {
		if (ftruncate(f->fd, 0) == 0)
			f->have = 0;
		unlink(f->tag_file);
		return -1;
	}
	if (fsync(f->fd) < 0 || rename(f->part, f->file) < 0)
		return kab_err_errno(err, KAB_ERR_ENV, "cannot write '%s'", f->file);
	return 0;
}

static int download(struct fetch *f, bool cached, struct kab_err *err)
{
	double pause_s = 0.25;
	bool whole_again = f->have > 0 && f->opts->sha256;

	for (int try = 1;;) {
		int64_t before = f->have;
		int status;

		kab_err_clear(err);
		status = request(f, cached, err);
		if (status == 2)
			return 0;
		if (status == 0) {
			if (finish(f, err) == 0)
				return 0;
			/* Old bytes of a partial download may be of another version. */
			if (!whole_again || !err || err->code != KAB_ERR_CONFIG)
				return -1;
			whole_again = false;
			continue;
		}
		if (status < 0)
			return -1;
		/* As long as something comes, it goes on. */
		try = f->have > before ? 1 : try + 1;
		if (try > TRIES_MAX)
			return -1;
		kab_log(f->opts->log, KAB_LOG_WARN, "%s; trying again", err ? err->text : "");
		if (kab_wait_until(kab_deadline_s(pause_s), f->opts->cancel_fd, err) < 0)
			return -1;
		if (kab_now_mono_ns() >= f->opts->deadline_ns)
			return kab_err_set(err, KAB_ERR_TIMEOUT, "'%s' was not downloaded in time",
					   f->shown);
		pause_s = pause_s < 4 ? pause_s * 2 : 4;
	}
}

static char *folder_of(const struct kab_fetch_opts *opts)
{
	char hex[KAB_SHA256_HEX_SIZE];

	kab_sha256_hex(opts->url, strlen(opts->url), hex);
	if (!opts->sha256)
		return kab_xasprintf("%s/url-%.32s", opts->dir, hex);
	for (size_t i = 0; i < 64; i++)
		hex[i] = (char)tolower((unsigned char)opts->sha256[i]);
	return kab_xasprintf("%s/%.64s", opts->dir, hex);
}

int kab_fetch(const struct kab_fetch_opts *opts, char **ret_path, struct kab_err *err)
{
	char *folder kab_autofree = NULL, *name kab_autofree = NULL;
	struct fetch f = { .opts = opts, .fd = -1 };
	struct kab_err own = KAB_ERR_INIT;
	int status = -1;
	bool cached;

	if (!err)
		err = &own;
	f.shown = kab_fetch_show_url(opts->url);
	if (!kab_fetch_is_url(opts->url) || (opts->sha256 && strlen(opts->sha256) != 64)) {
		kab_err_set(err, KAB_ERR_CONFIG, "'%s' is not an http or https URL", f.shown);
		free(f.shown);
		return -1;
	}
	folder = folder_of(opts);
	name = name_of(opts->url);
	f.file = kab_xasprintf("%s/%s", folder, name);
	f.part = kab_xasprintf("%s/%s.part", folder, name);
	f.tag_file = kab_xasprintf("%s/%s.tag", folder, name);
	if (kab_file_mkdirs(folder, 0755, err) < 0 || lock(&f, err) < 0)
		goto out;
	cached = access(f.file, R_OK) == 0;
	if (cached && opts->sha256 && check_hash(&f, f.file, NULL) == 0)
		status = 0;
	else
		status = download(&f, cached && !opts->sha256 && !f.have, err);
	if (status == 0 && cached)
		unlink(f.part);
out:
	if (f.fd >= 0)
		close(f.fd);
	if (status == 0) {
		*ret_path = f.file;
		f.file = NULL;
	}
	free(f.shown);
	free(f.file);
	free(f.part);
	free(f.tag_file);
	free(f.tag);
	return status;
}
