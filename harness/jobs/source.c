/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobs/source.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/sha256.h"
#include "engine/install.h"
#include "model/kernel.h"
#include "publish/fetch.h"

#define LABEL_MAX 64
#define DOCUMENT_MAX ((size_t)16 << 20)
#define KERNEL_FETCH_S (6 * 3600.0)

void kab_candidate_release(struct kab_candidate *c)
{
	free(c->label);
	free(c->spec);
	free(c->identity);
	free(c->sha256);
	free(c->commit);
	free(c->describe);
	*c = (struct kab_candidate){ 0 };
}

void kab_candidates_release(struct kab_candidates *list)
{
	for (size_t i = 0; i < list->n; i++)
		kab_candidate_release(&list->v[i]);
	free(list->v);
	*list = (struct kab_candidates){ 0 };
}

int kab_source_look(const struct kab_source_def *def, const struct kab_source_env *env,
		    struct kab_candidates *ret, struct kab_err *err)
{
	static int (*const look[])(const struct kab_source_def *, const struct kab_source_env *,
				   struct kab_candidates *, struct kab_err *) = {
		[KAB_SOURCE_FOLDER] = kab_source_look_folder,
		[KAB_SOURCE_INDEX] = kab_source_look_index,
		[KAB_SOURCE_FEED] = kab_source_look_feed,
		[KAB_SOURCE_HOOK] = kab_source_look_hook,
	};

	return look[def->kind](def, env, ret, err);
}

static bool has_suffix(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n > m && !strcmp(s + n - m, suffix);
}

/* What labels do not allow becomes '-'. */
static char *as_label(const char *text, size_t n)
{
	static const char allowed[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-";
	char *label = kab_xstrndup(text, n < LABEL_MAX ? n : LABEL_MAX);
	size_t skip;

	for (char *p = label; *p; p++)
		if (!strchr(allowed, *p))
			*p = '-';
	skip = strspn(label, "-");
	memmove(label, label + skip, strlen(label + skip) + 1);
	if (!*label) {
		free(label);
		return NULL;
	}
	return label;
}

char *kab_source_label_of(const char *file, const char **ret_prefix)
{
	static const char *const tars[] = { ".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.zst" };
	static const char *const images[] = { "vmlinuz-", "bzImage-", "Image-", "vmlinux-" };

	if (has_suffix(file, ".deb")) {
		const char *name = file;

		/* Headers, debug symbols and libc's are no kernels. */
		if (strncmp(name, "linux-image-", 12) || strstr(name, "-dbg_"))
			return NULL;
		name += 12;
		if (!strncmp(name, "unsigned-", 9))
			name += 9;
		*ret_prefix = "deb";
		return as_label(name, strcspn(name, "_"));
	}
	for (size_t i = 0; i < KAB_ARRAY_SIZE(tars); i++) {
		size_t n = strlen(file);

		if (!has_suffix(file, tars[i]))
			continue;
		*ret_prefix = "tar";
		n -= strlen(tars[i]);
		if (!strncmp(file, "linux-", 6) && n > 6)
			return as_label(file + 6, n - 6);
		return as_label(file, n);
	}
	for (size_t i = 0; i < KAB_ARRAY_SIZE(images); i++) {
		size_t n = strlen(images[i]);

		if (!strncmp(file, images[i], n) && file[n]) {
			*ret_prefix = "image";
			return as_label(file + n, strlen(file + n));
		}
	}
	return NULL;
}

/* strverscmp() puts a candidate behind its release: its mark becomes a character below the end. */
static char *sortable(const char *version)
{
	struct kab_buf buf = KAB_BUF_INIT;

	for (const char *p = version; *p; p++) {
		if (!strncmp(p, "-rc", 3))
			kab_buf_addc(&buf, '\x01');
		else
			kab_buf_addc(&buf, *p);
	}
	kab_buf_addc(&buf, '\x02');
	return kab_buf_detach(&buf);
}

int kab_source_version_cmp(const char *a, const char *b)
{
	char *x kab_autofree = sortable(a), *y kab_autofree = sortable(b);

	return strverscmp(x, y);
}

bool kab_source_is_release(const char *releases, const char *version)
{
	if (releases)
		return fnmatch(releases, version, 0) == 0;
	if (*version == 'v')
		version++;
	return *version && strspn(version, "0123456789.") == strlen(version);
}

int kab_source_fetch(const char *url, const struct kab_source_env *env, double timeout_s,
		     struct kab_buf *ret, struct kab_err *err)
{
	const struct kab_fetch_opts opts = { .url = url,
					     .dir = env->cache,
					     .deadline_ns = kab_deadline_s(timeout_s),
					     .cancel_fd = env->cancel_fd,
					     .log = env->log };
	char *path kab_autofree = NULL;

	if (kab_fetch(&opts, &path, err) < 0)
		return -1;
	ret->max = DOCUMENT_MAX;
	if (kab_file_read(path, ret, err) < 0)
		return -1;
	if (ret->cut)
		return kab_err_set(err, KAB_ERR_PARSE, "the document is larger than %zu MB",
				   DOCUMENT_MAX >> 20);
	return 0;
}

/* ---- adopting ---- */

static int copy_file(const char *from, const char *to, struct kab_err *err)
{
	char *part kab_autofree = kab_xasprintf("%s.part", to);
	char buf[65536];
	int in = open(from, O_RDONLY | O_CLOEXEC), out;
	ssize_t n = 0;

	if (in < 0)
		return kab_err_errno(err, KAB_ERR_ENV, "cannot read '%s'", from);
	out = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (out < 0) {
		close(in);
		return kab_err_errno(err, KAB_ERR_ENV, "cannot write '%s'", part);
	}
	while ((n = read(in, buf, sizeof(buf))) > 0)
		if (write(out, buf, (size_t)n) != n)
			break;
	close(in);
	if (n != 0 || fsync(out) < 0) {
		kab_err_errno(err, KAB_ERR_ENV, "cannot copy '%s' to '%s'", from, to);
		close(out);
		unlink(part);
		return -1;
	}
	close(out);
	if (rename(part, to) < 0)
		return kab_err_errno(err, KAB_ERR_ENV, "cannot name '%s'", to);
	return 0;
}

/* A source becomes a file in a folder of ours that is named by what is in it. */
static int keep_file(char **source, const char *sha256, const struct kab_source_env *env,
		     char hex[KAB_SHA256_HEX_SIZE], struct kab_err *err)
{
	char *fetched kab_autofree = NULL, *dir kab_autofree = NULL, *to = NULL;
	char there[KAB_SHA256_HEX_SIZE];
	const char *from = *source, *name;

	if (kab_fetch_is_url(*source)) {
		const struct kab_fetch_opts opts = { .url = *source,
						     .sha256 = sha256,
						     .dir = env->cache,
						     .deadline_ns = kab_deadline_s(KERNEL_FETCH_S),
						     .cancel_fd = env->cancel_fd,
						     .log = env->log };

		if (kab_fetch(&opts, &fetched, err) < 0)
			return -1;
		from = fetched;
	}
	if (kab_sha256_file(from, hex, NULL, err) < 0)
		return -1;
	if (sha256 && strcasecmp(hex, sha256))
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "'%s' has the SHA-256 %.16s..., not %.16s...; it is not used",
				   from, hex, sha256);
	name = strrchr(from, '/');
	name = name ? name + 1 : from;
	dir = kab_xasprintf("%s/%.16s", env->keep, hex);
	to = kab_xasprintf("%s/%s", dir, name);
	if (kab_sha256_file(to, there, NULL, NULL) < 0 || strcmp(there, hex)) {
		if (kab_file_mkdirs(dir, 0755, err) < 0 || copy_file(from, to, err) < 0) {
			free(to);
			return -1;
		}
	}
	free(*source);
	*source = to;
	return 0;
}

/* The spec of a kernel whose files have become ours. */
static char *spec_of(const struct kab_kernel *k, const char *sha256)
{
	struct kab_buf buf = KAB_BUF_INIT;
	char *sources kab_autofree = kab_strv_join(&k->sources, ",");

	kab_buf_addf(&buf, "%s:%s",
		     k->kind == KAB_KERNEL_DEB	 ? "deb"
		     : k->kind == KAB_KERNEL_TAR ? "tar"
						 : "image",
		     sources);
	if (k->initrd)
		kab_buf_addf(&buf, ",initrd=%s", k->initrd);
	if (k->modules)
		kab_buf_addf(&buf, ",modules=%s", k->modules);
	if (k->cmdline)
		kab_buf_addf(&buf, ";cmdline=%s", k->cmdline);
	kab_buf_addf(&buf, ";sha256=%s", sha256);
	return kab_buf_detach(&buf);
}

static int keep_kernel(struct kab_kernel *k, const struct kab_candidate *c,
		       const struct kab_source_env *env, struct kab_night_kernel *ret,
		       struct kab_err *err)
{
	struct kab_buf kab_autobuf all = KAB_BUF_INIT;
	char hex[KAB_SHA256_HEX_SIZE], first[KAB_SHA256_HEX_SIZE] = "";

	for (size_t i = 0; i < k->sources.n; i++) {
		const char *want = i ? NULL : c->sha256 ? c->sha256 : k->sha256;

		if (keep_file(&k->sources.v[i], want, env, hex, err) < 0)
			return -1;
		if (!i)
			memcpy(first, hex, sizeof(first));
		kab_buf_addf(&all, "%s\n", hex);
	}
	for (int i = 0; i < 2; i++) {
		char **file = i ? &k->modules : &k->initrd;

		if (!*file)
			continue;
		if (keep_file(file, NULL, env, hex, err) < 0)
			return -1;
		kab_buf_addf(&all, "%s\n", hex);
	}
	if (k->cmdline)
		kab_buf_addf(&all, "%s\n", k->cmdline);
	kab_sha256_hex(kab_buf_str(&all), all.len, hex);
	ret->identity = kab_xasprintf("files:%s", hex);
	ret->spec = spec_of(k, first);
	return 0;
}

int kab_source_adopt(const struct kab_candidate *c, const struct kab_source_env *env,
		     struct kab_night_kernel *ret, struct kab_err *err)
{
	char *text kab_autofree = kab_xasprintf("%s=%s", c->label, c->spec);
	struct kab_kernel_list list = { 0 };
	int status = kab_kernel_add(&list, text, err);

	if (status == 0 && kab_install_has_files(&list.v[0])) {
		status = keep_kernel(&list.v[0], c, env, ret, err);
	} else if (status == 0) {
		ret->spec = kab_xstrdup(c->spec);
		ret->identity = kab_xasprintf("spec:%s", c->spec);
	}
	kab_kernel_list_release(&list);
	if (status < 0) {
		kab_night_kernel_release(ret);
		return kab_err_prefix(err, "kernel '%s'", c->label);
	}
	if (c->identity) {
		free(ret->identity);
		ret->identity = kab_xasprintf("id:%s", c->identity);
	}
	ret->label = kab_xstrdup(c->label);
	ret->commit = kab_xstrdup(c->commit ? c->commit : "");
	ret->describe = kab_xstrdup(c->describe ? c->describe : "");
	ret->is_release = c->is_release;
	return 0;
}
