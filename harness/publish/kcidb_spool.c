/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The spool: a file for each report, named by the hash of URL and report. */
#include "publish/kcidb_spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/sha256.h"
#include "publish/fetch.h"

#define ENTRY_MAX ((size_t)512 << 20)

static const char *const state_names[] = { "queued", "accepted", "done", "failed" };

void kab_kcidb_entry_release(struct kab_kcidb_entry *e)
{
	free(e->path);
	free(e->url);
	free(e->id);
	free(e->words);
	*e = (struct kab_kcidb_entry){ 0 };
}

int kab_kcidb_spool_dir(char **ret, struct kab_err *err)
{
	char *state kab_autofree = NULL;

	if (kab_file_xdg("STATE", &state, err))
		return -1;
	*ret = kab_xasprintf("%s/kcidb-spool", state);
	return 0;
}

static int damaged(const char *path, struct kab_err *err)
{
	return kab_err_set_at(err, KAB_ERR_CONFIG, path,
			      "%s: no entry of the spool; remove it, and export again", path);
}

/* 0, 1 when there is none, -1. report may be NULL. */
static int load(const char *path, struct kab_kcidb_entry *e, char **report, struct kab_err *err)
{
	struct kab_err why = KAB_ERR_INIT;
	struct kab_buf kab_autobuf bytes;
	const char *state, *text;
	json_t *doc;
	size_t s = 0;

	kab_buf_init(&bytes, ENTRY_MAX);
	if (kab_file_read(path, &bytes, &why)) {
		if (why.code == KAB_ERR_NOT_FOUND)
			return 1;
		return kab_err_set(err, why.code, "%s", why.text);
	}
	doc = json_loadb(kab_buf_str(&bytes), bytes.len, JSON_REJECT_DUPLICATES, NULL);
	state = json_string_value(json_object_get(doc, "state"));
	text = json_string_value(json_object_get(doc, "url"));
	while (state && s < KAB_ARRAY_SIZE(state_names) && strcmp(state, state_names[s]))
		s++;
	if (!state || s == KAB_ARRAY_SIZE(state_names) || !text || !kab_fetch_is_url(text)) {
		json_decref(doc);
		return damaged(path, err);
	}
	kab_kcidb_entry_release(e);
	e->path = kab_xstrdup(path);
	e->url = kab_xstrdup(text);
	e->state = (enum kab_kcidb_state)s;
	e->id = kab_xstrdup(json_string_value(json_object_get(doc, "id")));
	e->words = kab_xstrdup(json_string_value(json_object_get(doc, "words")));
	e->tries = json_integer_value(json_object_get(doc, "tries"));
	if (report)
		*report = kab_xstrdup(json_string_value(json_object_get(doc, "report")));
	json_decref(doc);
	return 0;
}

static int write_entry(const struct kab_kcidb_entry *e, const char *report, struct kab_err *err)
{
	json_t *doc = json_pack("{s:s, s:s, s:I}", "url", e->url, "state", state_names[e->state],
				"tries", (json_int_t)e->tries);
	char now[24], *text;
	int rc;

	kab_format_utc(kab_now_wall_ns(), now);
	json_object_set_new(doc, "changed", json_string(now));
	if (e->id)
		json_object_set_new(doc, "id", json_string(e->id));
	if (e->words && json_object_set_new(doc, "words", json_string(e->words)))
		json_object_set_new(doc, "words", json_string("an answer that is not UTF-8"));
	if (report && e->state != KAB_KCIDB_DONE)
		json_object_set_new(doc, "report", json_string(report));
	text = json_dumps(doc, JSON_INDENT(1));
	json_decref(doc);
	if (!text)
		return kab_err_set(err, KAB_ERR_INTERNAL, "the report is not UTF-8");
	rc = kab_file_write(e->path, text, strlen(text), 0600, err);
	free(text);
	return rc;
}

int kab_kcidb_write(const struct kab_kcidb_entry *e, struct kab_err *err)
{
	struct kab_kcidb_entry before = { 0 };
	char *report kab_autofree = NULL;
	int rc = load(e->path, &before, &report, err);

	kab_kcidb_entry_release(&before);
	return rc < 0 ? -1 : write_entry(e, report, err);
}

/* The entry itself is replaced at each change, so that what is locked is a file beside it. */
static int lock_file(const char *path, int *ret_fd, struct kab_err *err)
{
	char *name kab_autofree = kab_xasprintf("%s.lock", path);
	int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return kab_err_errno(err, KAB_ERR_ENV, "cannot create '%s'", name);
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		return kab_err_set(err, KAB_ERR_BUSY, "another kab is sending '%s'", path);
	}
	*ret_fd = fd;
	return 0;
}

int kab_kcidb_lock(struct kab_kcidb_entry *e, int *ret_fd, char **ret_report, struct kab_err *err)
{
	char *path kab_autofree = kab_xstrdup(e->path);
	int rc;

	if (lock_file(path, ret_fd, err))
		return -1;
	rc = load(path, e, ret_report, err);
	if (rc > 0)
		return kab_err_set(err, KAB_ERR_NOT_FOUND, "'%s' is gone", path);
	if (!rc && e->state == KAB_KCIDB_QUEUED && !*ret_report)
		return damaged(path, err);
	return rc;
}

int kab_kcidb_spool(const char *dir, const char *url, const char *report, size_t n,
		    struct kab_kcidb_entry *ret, struct kab_err *err)
{
	struct kab_sha256 *sum = kab_sha256_begin();
	char hex[KAB_SHA256_HEX_SIZE], *path kab_autofree = NULL;
	int fd = -1, rc;

	kab_sha256_add(sum, url, strlen(url) + 1);
	kab_sha256_add(sum, report, n);
	kab_sha256_end(sum, hex);
	*ret = (struct kab_kcidb_entry){ 0 };
	if (!kab_fetch_is_url(url)) {
		char *shown kab_autofree = kab_fetch_show_url(url);

		return kab_err_set(err, KAB_ERR_CONFIG, "'%s' is not an http or https URL", shown);
	}
	if (kab_file_mkdirs(dir, 0700, err))
		return -1;
	path = kab_xasprintf("%s/%.40s.json", dir, hex);
	if (lock_file(path, &fd, err))
		return -1;
	rc = load(path, ret, NULL, err);
	if (rc > 0) {
		ret->path = kab_xstrdup(path);
		ret->url = kab_xstrdup(url);
	}
	if (rc > 0 || (!rc && ret->state == KAB_KCIDB_FAILED)) {
		ret->state = KAB_KCIDB_QUEUED;
		rc = write_entry(ret, report, err);
	}
	close(fd);
	return rc;
}

static int by_path(const void *pa, const void *pb)
{
	const struct kab_kcidb_entry *a = pa, *b = pb;

	return strcmp(a->path, b->path);
}

int kab_kcidb_waiting(const char *dir, struct kab_kcidb_entry **ret, size_t *ret_n,
		      struct kab_err *err)
{
	struct {
		struct kab_kcidb_entry *v;
		size_t n, cap;
	} list = { 0 };
	DIR *d = opendir(dir);
	struct dirent *name;
	int rc = 0;

	*ret = NULL;
	*ret_n = 0;
	if (!d)
		return errno == ENOENT ? 0
				       : kab_err_errno(err, KAB_ERR_ENV, "cannot read '%s'", dir);
	while (!rc && (name = readdir(d))) {
		size_t n = strlen(name->d_name);
		char *path kab_autofree = kab_xasprintf("%s/%s", dir, name->d_name);
		struct kab_kcidb_entry e = { 0 };

		if (n < 5 || strcmp(name->d_name + n - 5, ".json") || name->d_name[0] == '.')
			continue;
		rc = load(path, &e, NULL, err);
		if (!rc && (e.state == KAB_KCIDB_QUEUED || e.state == KAB_KCIDB_ACCEPTED))
			*KAB_PUSH(&list) = e;
		else
			kab_kcidb_entry_release(&e);
		rc = rc < 0 ? -1 : 0;
	}
	closedir(d);
	if (list.n)
		qsort(list.v, list.n, sizeof(*list.v), by_path);
	*ret = list.v;
	*ret_n = list.n;
	return rc;
}
