/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/install.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/sha256.h"
#include "base/text.h"
#include "engine/artefact.h"
#include "engine/hostscript.h"

#define CHUNK ((size_t)2 << 20)
/* A piece in this time: some 17 kB/s, below which nobody wants to wait. */
#define CHUNK_S 120.0
#define CALL_S 60.0
/* Unpacking and making an initrd on a slow or emulated host. */
#define INSTALL_S 1800.0
#define LOST_MAX 5

static const char *const kinds[] = { "running", "release", "deb", "tar", "image" };

static struct kab_wait wait_s(const struct kab_install *in, double seconds)
{
	return (struct kab_wait){ .deadline_ns = kab_deadline_s(seconds),
				  .cancel_fd = in->cancel_fd };
}

static void note(const struct kab_install *in, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void note(const struct kab_install *in, const char *fmt, ...)
{
	char *text kab_autofree = NULL;
	va_list ap;

	if (!in->note)
		return;
	va_start(ap, fmt);
	text = kab_xvasprintf(fmt, ap);
	va_end(ap);
	in->note(in->ctx, text);
}

/* 0: connected anew; -1: the error stands. */
static int again(struct kab_install *in, int *lost, struct kab_err *err)
{
	if ((err->code != KAB_ERR_CONNECT && err->code != KAB_ERR_TIMEOUT) || !in->reconnect ||
	    ++*lost > LOST_MAX)
		return -1;
	note(in, "the link was lost while installing: %s; connecting again", err->text);
	kab_err_clear(err);
	return in->reconnect(in->ctx, &in->session, err);
}

static int call(const struct kab_lab_host *host, struct kab_session *s, const char *verb,
		const struct kab_strv *args, const struct kab_wait *wait,
		struct kab_exec_result *res, struct kab_err *err)
{
	struct kab_strv kab_autostrv words = KAB_STRV_INIT;

	kab_strv_add(&words, verb);
	if (args)
		kab_strv_copy(&words, args);
	return kab_hostscript_run(host, s, KAB_HOSTSCRIPT_INSTALL, &words, wait, res, err);
}

/* First value of a key, or NULL; caller frees. */
static char *value_of(const struct kab_exec_result *res, const char *key)
{
	struct kab_strv kab_autostrv found = KAB_STRV_INIT;

	kab_hostscript_lines(res, key, &found);
	return found.n ? kab_xstrdup(found.v[0]) : NULL;
}

/* Release of the artefact where it is installed, else NULL. */
static int ask_have(const struct kab_lab_host *host, struct kab_session *s, const char *key,
		    const struct kab_wait *wait, char **ret, struct kab_err *err)
{
	struct kab_strv kab_autostrv args = KAB_STRV_INIT;
	struct kab_exec_result res = { 0 };
	int status;

	kab_strv_add(&args, key);
	*ret = NULL;
	status = call(host, s, "have", &args, wait, &res, err);
	if (status == 0 && res.exit_status != 0)
		status = kab_hostscript_error(&res, "looking for the kernel", err);
	if (status == 0)
		*ret = value_of(&res, "release");
	kab_exec_result_release(&res);
	return status;
}

/* KEY KIND RELEASE NAME...; *upload: the folder for uploads there. */
static int ask_check(const struct kab_lab_host *host, struct kab_session *s,
		     const struct kab_kernel *kernel, const struct kab_artefact *art,
		     const struct kab_wait *wait, struct kab_strv *refusals, char **upload,
		     struct kab_err *err)
{
	struct kab_strv kab_autostrv args = KAB_STRV_INIT;
	struct kab_exec_result res = { 0 };
	char *release kab_autofree = kab_artefact_likely_release(kernel);
	char *free_kib kab_autofree = NULL;
	int64_t kib;
	int status;

	kab_strv_add(&args, kernel->key);
	kab_strv_add(&args, kinds[kernel->kind]);
	kab_strv_add(&args, release ? release : "-");
	for (size_t i = 0; i < art->n; i++)
		if (kernel->kind != KAB_KERNEL_IMAGE || art->v[i].role == KAB_FILE_MODULES)
			kab_strv_add(&args, art->v[i].name);
	status = call(host, s, "check", &args, wait, &res, err);
	if (status < 0)
		return -1;
	kab_hostscript_lines(&res, "refuse", refusals);
	*upload = value_of(&res, "upload");
	free_kib = value_of(&res, "free_kib");
	if (!refusals->n && (!*upload || !free_kib || kab_text_int(free_kib, &kib) < 0))
		status = kab_hostscript_error(&res, "the check for an installation", err);
	else if (!refusals->n && kib * 1024 < art->bytes + ((int64_t)16 << 20))
		kab_strv_addf(refusals, "%lld MB are free for the upload of %lld MB",
			      (long long)(kib / 1024), (long long)(art->bytes >> 20));
	kab_exec_result_release(&res);
	return status;
}

int kab_install_check(const struct kab_lab_host *host, struct kab_session *s,
		      const struct kab_kernel *kernel, const struct kab_wait *wait,
		      struct kab_strv *problems, struct kab_strv *touches, char **ret_release,
		      struct kab_err *err)
{
	struct kab_strv kab_autostrv refusals = KAB_STRV_INIT;
	struct kab_artefact art = { 0 };
	char *upload kab_autofree = NULL;
	int status;

	if (ask_have(host, s, kernel->key, wait, ret_release, err) < 0)
		return -1;
	if (*ret_release)
		return 0;
	status = kab_artefact_open(kernel, &art, err);
	if (status == 0)
		status = ask_check(host, s, kernel, &art, wait, &refusals, &upload, err);
	for (size_t i = 0; i < refusals.n; i++)
		kab_strv_addf(problems, "host '%s', kernel '%s' cannot be installed: %s",
			      host->name, kernel->label, refusals.v[i]);
	if (status == 0 && !refusals.n)
		kab_strv_addf(touches,
			      "host '%s': '%s' is installed from %zu file%s (%lld MB) into "
			      "/boot/kab and /lib/modules; remove it with 'kab kernels --remove'",
			      host->name, kernel->label, art.n, art.n == 1 ? "" : "s",
			      (long long)((art.bytes + (1 << 20) - 1) >> 20));
	kab_artefact_release(&art);
	return status;
}

/* ---- upload ---- */

struct upload {
	struct kab_install *in;
	const struct kab_artefact_file *file;
	char *path; /* there */
	int fd; /* here */
	int64_t size; /* bytes that are there */
	char sha256[KAB_SHA256_HEX_SIZE]; /* of those, when asked for */
};

static int ask_size(struct upload *u, bool hash, struct kab_err *err)
{
	struct kab_wait wait = wait_s(u->in, CALL_S);
	struct kab_strv kab_autostrv args = KAB_STRV_INIT;
	struct kab_exec_result res = { 0 };
	char *size kab_autofree = NULL, *sha kab_autofree = NULL;
	int status;

	kab_strv_add(&args, u->path);
	if (hash)
		kab_strv_add(&args, "hash");
	status = call(u->in->host, u->in->session, "size", &args, &wait, &res, err);
	if (status == 0) {
		size = value_of(&res, "size");
		sha = value_of(&res, "sha256");
		if (!size || kab_text_int(size, &u->size) < 0)
			status =
				kab_hostscript_error(&res, "asking for the size of an upload", err);
		snprintf(u->sha256, sizeof(u->sha256), "%s", sha ? sha : "");
	}
	kab_exec_result_release(&res);
	return status;
}

/* One piece at the end of what is there. 1: the end is elsewhere. */
static int append(struct upload *u, const void *data, size_t n, struct kab_err *err)
{
	static const char line[] =
		"umask 077; mkdir -p \"${1%/*}\" || exit 1; [ \"$2\" != 0 ] || : >\"$1\" || exit "
		"1; "
		"[ \"$(wc -c <\"$1\" | tr -d ' ')\" = \"$2\" ] || exit 9; cat >>\"$1\"";
	struct kab_wait wait = wait_s(u->in, CHUNK_S);
	struct kab_exec_result res = { 0 };
	char offset[24];
	const char *argv[] = { "sh", "-c", line, "sh", u->path, offset, NULL };
	int status;

	snprintf(offset, sizeof(offset), "%lld", (long long)u->size);
	if (kab_hostscript_exec(u->in->host, u->in->session, argv, data, n, &wait, &res, err) < 0)
		return -1;
	status = res.exit_status == 9 ? 1 : 0;
	if (res.exit_status == 0) {
		u->size += (int64_t)n;
	} else if (!status) {
		kab_buf_rtrim(&res.err, "\r\n ");
		status = kab_err_set(err, KAB_ERR_REMOTE, "cannot write '%s' on the host: %.200s",
				     u->path, kab_buf_str(&res.err));
	}
	kab_exec_result_release(&res);
	return status;
}

static int piece(struct upload *u, char *block, struct kab_err *err)
{
	ssize_t n;

	do {
		n = pread(u->fd, block, CHUNK, u->size);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return kab_err_errno(err, KAB_ERR_ENV, "cannot read '%s'", u->file->path);
	if (n == 0)
		return kab_err_set(err, KAB_ERR_CONFIG, "'%s' has become shorter", u->file->path);
	return append(u, block, (size_t)n, err);
}

/* Until all bytes are there; what an earlier attempt brought counts. */
static int send_all(struct upload *u, struct kab_err *err)
{
	char *block kab_autofree = kab_xmalloc(CHUNK);
	int64_t said = kab_now_mono_ns(), seen = -1;
	int lost = 0, strange = 0, status;
	bool ask = true;

	for (;;) {
		status = ask ? ask_size(u, false, err) : 0;
		if (status == 0 && u->size == u->file->bytes)
			return 0;
		if (status == 0 && u->size > u->file->bytes)
			u->size = 0;
		if (status == 0)
			status = piece(u, block, err);
		ask = status != 0;
		if (status < 0 && again(u->in, &lost, err) < 0)
			return -1;
		/* An older upload may still be draining: look again, but not for ever. */
		if (status > 0 && ++strange > 20)
			return kab_err_set(err, KAB_ERR_REMOTE,
					   "'%s' on the host is written by somebody else", u->path);
		if (u->size > seen) {
			seen = u->size;
			lost = 0;
		}
		if (kab_now_mono_ns() - said < 10 * KAB_NS_PER_S)
			continue;
		said = kab_now_mono_ns();
		note(u->in, "uploading %s: %lld of %lld MB", u->file->name,
		     (long long)(u->size >> 20), (long long)(u->file->bytes >> 20));
		if (u->in->alive && u->in->alive(u->in->ctx, (int64_t)(2 * CHUNK_S), err) < 0)
			return -1;
	}
}

static int ask_hash(struct upload *u, struct kab_err *err)
{
	int lost = 0;

	while (ask_size(u, true, err) < 0)
		if (again(u->in, &lost, err) < 0)
			return -1;
	return 0;
}

static int send_file(struct kab_install *in, const struct kab_artefact_file *file, char *path,
		     struct kab_err *err)
{
	struct upload u = { .in = in, .file = file, .path = path };
	int status = -1;

	u.fd = open(file->path, O_RDONLY | O_CLOEXEC);
	if (u.fd < 0)
		return kab_err_errno(err, KAB_ERR_CONFIG, "cannot open '%s'", file->path);
	for (int try = 0; try < 2; try++) {
		status = send_all(&u, err);
		if (status == 0)
			status = ask_hash(&u, err);
		if (status < 0 || !strcmp(u.sha256, file->sha256))
			break;
		/* Not what it should be: once more from the first byte. */
		status = kab_err_set(err, KAB_ERR_REMOTE,
				     "'%s' has hash %.12s on the host, and %.12s here", file->name,
				     u.sha256, file->sha256);
		u.size = 0;
		if (append(&u, "", 0, NULL) < 0)
			break;
	}
	close(u.fd);
	return status;
}

/* ---- installing ---- */

static int run_install(struct kab_install *in, const struct kab_kernel *kernel,
		       const struct kab_strv *paths, char **ret_release, bool *ret_new,
		       struct kab_strv *warnings, struct kab_err *err)
{
	struct kab_strv kab_autostrv args = KAB_STRV_INIT;
	struct kab_exec_result res = { 0 };
	char *already kab_autofree = NULL;
	int status, lost = 0;

	kab_strv_add(&args, kernel->key);
	kab_strv_add(&args, kinds[kernel->kind]);
	kab_strv_add(&args, kernel->release ? kernel->release : "-");
	kab_strv_copy(&args, paths);
	do {
		struct kab_wait wait = wait_s(in, INSTALL_S);

		if (in->alive && in->alive(in->ctx, (int64_t)INSTALL_S + 60, err) < 0)
			return -1;
		status = call(in->host, in->session, "install", &args, &wait, &res, err);
	} while (status < 0 && again(in, &lost, err) == 0);
	if (status < 0)
		return -1;
	if (res.exit_status == 0)
		*ret_release = value_of(&res, "release");
	already = value_of(&res, "already");
	*ret_new = !already;
	kab_hostscript_lines(&res, "warning", warnings);
	if (!*ret_release)
		status = kab_hostscript_error(&res, "it cannot be installed", err);
	kab_exec_result_release(&res);
	return status;
}

static int upload_all(struct kab_install *in, const struct kab_kernel *kernel,
		      const struct kab_artefact *art, const char *upload, struct kab_strv *paths,
		      struct kab_err *err)
{
	note(in, "uploading kernel '%s' (%zu file%s, %lld MB)", kernel->label, art->n,
	     art->n == 1 ? "" : "s", (long long)((art->bytes + (1 << 20) - 1) >> 20));
	for (size_t i = 0; i < art->n; i++) {
		char *path kab_autofree =
			kab_xasprintf("%s/%.16s/%zu-%s", upload, kernel->key, i, art->v[i].name);

		if (send_file(in, &art->v[i], path, err) < 0)
			return -1;
		kab_strv_add(paths, path);
	}
	/* Image, initrd, modules: places, not a list. */
	if (kernel->kind == KAB_KERNEL_IMAGE) {
		struct kab_strv kab_autostrv sent = *paths;
		size_t next = 1;

		*paths = (struct kab_strv)KAB_STRV_INIT;
		kab_strv_add(paths, sent.v[0]);
		kab_strv_add(paths, kernel->initrd ? sent.v[next++] : "-");
		kab_strv_add(paths, kernel->modules ? sent.v[next] : "-");
	}
	return 0;
}

int kab_install_kernel(struct kab_install *in, const struct kab_kernel *kernel, char **ret_release,
		       bool *ret_new, struct kab_strv *warnings, struct kab_err *err)
{
	struct kab_strv kab_autostrv refusals = KAB_STRV_INIT, paths = KAB_STRV_INIT;
	struct kab_wait wait = wait_s(in, CALL_S);
	char *upload kab_autofree = NULL;
	struct kab_artefact art = { 0 };
	int status;

	*ret_release = NULL;
	*ret_new = false;
	if (ask_have(in->host, in->session, kernel->key, &wait, ret_release, err) < 0)
		return -1;
	if (*ret_release)
		return 0;
	status = kab_artefact_open(kernel, &art, err);
	if (status == 0)
		status = ask_check(in->host, in->session, kernel, &art, &wait, &refusals, &upload,
				   err);
	if (status == 0 && refusals.n)
		status = kab_err_set(err, KAB_ERR_REMOTE, "%s", refusals.v[0]);
	if (status == 0)
		status = upload_all(in, kernel, &art, upload, &paths, err);
	if (status == 0) {
		note(in, "installing kernel '%s'", kernel->label);
		status = run_install(in, kernel, &paths, ret_release, ret_new, warnings, err);
	}
	kab_artefact_release(&art);
	return status < 0 ? kab_err_prefix(err, "kernel '%s'", kernel->label) : 0;
}

/* ---- what is there ---- */

static int simple(const struct kab_lab_host *host, struct kab_session *s, const char *verb,
		  const char *arg, const char *what, const struct kab_wait *wait,
		  struct kab_exec_result *res, struct kab_err *err)
{
	struct kab_strv kab_autostrv args = KAB_STRV_INIT;

	if (arg)
		kab_strv_add(&args, arg);
	if (call(host, s, verb, &args, wait, res, err) < 0)
		return -1;
	if (res->exit_status == 0)
		return 0;
	kab_hostscript_error(res, what, err);
	kab_exec_result_release(res);
	return -1;
}

int kab_install_tidy(const struct kab_lab_host *host, struct kab_session *s,
		     const struct kab_wait *wait, struct kab_err *err)
{
	struct kab_exec_result res = { 0 };

	if (simple(host, s, "tidy", NULL, "removing uploads", wait, &res, err) < 0)
		return -1;
	kab_exec_result_release(&res);
	return 0;
}

int kab_install_remove(const struct kab_lab_host *host, struct kab_session *s, const char *release,
		       const struct kab_wait *wait, bool *ret_last, struct kab_err *err)
{
	struct kab_exec_result res = { 0 };
	char *last kab_autofree = NULL;

	if (simple(host, s, "remove", release, "it is not removed", wait, &res, err) < 0)
		return -1;
	last = value_of(&res, "last");
	*ret_last = last != NULL;
	kab_exec_result_release(&res);
	return 0;
}

static void replace(char **field, const char *value)
{
	free(*field);
	*field = kab_xstrdup(value);
}

int kab_install_list(const struct kab_lab_host *host, struct kab_session *s,
		     const struct kab_wait *wait, struct kab_installed **ret, size_t *ret_n,
		     struct kab_err *err)
{
	struct {
		struct kab_installed *v;
		size_t n, cap;
	} list = { 0 };
	struct kab_strv kab_autostrv lines = KAB_STRV_INIT;
	struct kab_exec_result res = { 0 };

	if (simple(host, s, "list", NULL, "listing kernels", wait, &res, err) < 0)
		return -1;
	kab_strv_split(&lines, kab_buf_str(&res.out), '\n');
	kab_exec_result_release(&res);
	for (size_t i = 0; i < lines.n; i++) {
		const char *line = lines.v[i], *eq = strchr(line, '=');
		struct kab_installed *k = list.n ? &list.v[list.n - 1] : NULL;

		if (!eq)
			continue;
		eq++;
		if (!strncmp(line, "kernel=", 7)) {
			*KAB_PUSH(&list) = (struct kab_installed){ .release = kab_xstrdup(eq),
								   .kind = kab_xstrdup(""),
								   .date = kab_xstrdup("") };
		} else if (!k) {
			continue;
		} else if (!strncmp(line, "running=", 8)) {
			k->running = true;
		} else if (!strncmp(line, "default=", 8)) {
			k->is_default = true;
		} else if (!strncmp(line, "modules=", 8)) {
			k->no_modules = true;
		} else if (!strncmp(line, "key=", 4)) {
			k->ours = true;
		} else if (!strncmp(line, "kind=", 5)) {
			replace(&k->kind, eq);
		} else if (!strncmp(line, "date=", 5)) {
			replace(&k->date, eq);
		} else if (!strncmp(line, "kib=", 4)) {
			kab_text_int(eq, &k->kib);
		}
	}
	*ret = list.v;
	*ret_n = list.n;
	return 0;
}

void kab_installed_free(struct kab_installed *list, size_t n)
{
	for (size_t i = 0; list && i < n; i++) {
		free(list[i].release);
		free(list[i].kind);
		free(list[i].date);
	}
	free(list);
}
