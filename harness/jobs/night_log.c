/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobs/night_log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"

#define HELD_MAX ((size_t)256 << 10)

struct kab_night_log {
	char *dir, *path;
	int keep, fd;
	struct kab_buf held; /* until the file is known */
	const struct kab_log *mirror;
	pthread_mutex_t lock;
	struct kab_log sink;
};

static void sink(void *ctx, enum kab_log_level level, const char *text)
{
	static const char *const names[] = { "error", "warning", "info", "debug", "trace" };
	struct kab_night_log *log = ctx;
	struct kab_buf kab_autobuf line = KAB_BUF_INIT;
	char utc[24];

	kab_format_utc(kab_now_wall_ns(), utc);
	kab_buf_addf(&line, "%s %-7s ", utc, names[level]);
	kab_text_escape(&line, text, strlen(text));
	kab_buf_addc(&line, '\n');
	pthread_mutex_lock(&log->lock);
	/* A full disk must not end a night. */
	if (log->fd >= 0)
		(void)!write(log->fd, line.data, line.len);
	else
		kab_buf_add(&log->held, line.data, line.len);
	if (log->mirror)
		kab_log(log->mirror, level, "%s", text);
	pthread_mutex_unlock(&log->lock);
}

int kab_night_log_new(const char *dir, int keep, const struct kab_log *mirror,
		      struct kab_night_log **ret, struct kab_err *err)
{
	struct kab_night_log *log;

	if (kab_file_mkdirs(dir, 0700, err) < 0)
		return -1;
	log = kab_xcalloc(1, sizeof(*log));
	log->dir = kab_xstrdup(dir);
	log->keep = keep;
	log->fd = -1;
	log->held.max = HELD_MAX;
	log->mirror = mirror;
	pthread_mutex_init(&log->lock, NULL);
	log->sink = (struct kab_log){ .level = KAB_LOG_DEBUG, .sink = sink, .ctx = log };
	*ret = log;
	return 0;
}

static int is_log(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	/* "2026-12-01.log": nothing else in that folder is touched. */
	return n == 14 && !strcmp(e->d_name + 10, ".log") && e->d_name[4] == '-' &&
	       e->d_name[7] == '-';
}

static void prune(const struct kab_night_log *log)
{
	struct dirent **v;
	int n = scandir(log->dir, &v, is_log, alphasort);

	for (int i = 0; i < n; i++) {
		char *path kab_autofree = kab_xasprintf("%s/%s", log->dir, v[i]->d_name);

		if (i < n - log->keep)
			unlink(path);
		free(v[i]);
	}
	if (n >= 0)
		free(v);
}

void kab_night_log_begin(struct kab_night_log *log, const char *date)
{
	char *path = kab_xasprintf("%s/%s.log", log->dir, date);
	int failed = 0;

	pthread_mutex_lock(&log->lock);
	if (log->fd < 0 || strcmp(log->path, path) != 0) {
		if (log->fd >= 0)
			close(log->fd);
		free(log->path);
		log->path = path;
		path = NULL;
		log->fd = open(log->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
			       0600);
		failed = log->fd < 0 ? errno : 0;
		if (log->fd >= 0 && log->held.len)
			(void)!write(log->fd, log->held.data, log->held.len);
		kab_buf_clear(&log->held);
	}
	pthread_mutex_unlock(&log->lock);
	free(path);
	if (failed && log->mirror)
		kab_log(log->mirror, KAB_LOG_WARN, "cannot write the log '%s': %s", log->path,
			strerror(failed));
	prune(log);
}

const struct kab_log *kab_night_log_sink(struct kab_night_log *log)
{
	return &log->sink;
}

const char *kab_night_log_path(const struct kab_night_log *log)
{
	return log->fd >= 0 ? log->path : NULL;
}

void kab_night_log_free(struct kab_night_log *log)
{
	if (!log)
		return;
	if (log->fd >= 0)
		close(log->fd);
	free(log->dir);
	free(log->path);
	kab_buf_release(&log->held);
	pthread_mutex_destroy(&log->lock);
	free(log);
}
