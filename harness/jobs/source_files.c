/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels that are files: of a folder, or linked from a web page. */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "jobs/source.h"

/* Modules that some distributions pack apart from the image: the name they must have. NULL: none. */
static char *modules_beside(const char *image)
{
	const char *rest = image + strlen("linux-image-");

	if (strncmp(image, "linux-image-", 12))
		return NULL;
	if (!strncmp(rest, "unsigned-", 9))
		rest += 9;
	return kab_xasprintf("linux-modules-%s", rest);
}

static bool wanted(const struct kab_source_def *def, const char *name, char **ret_label,
		   const char **ret_prefix)
{
	if (def->pattern && fnmatch(def->pattern, name, FNM_PERIOD) != 0)
		return false;
	*ret_label = kab_source_label_of(name, ret_prefix);
	return *ret_label != NULL;
}

/* Is b newer than a? */
static int compare(const char *a_label, const char *a_name, const char *b_label, const char *b_name)
{
	int c = kab_source_version_cmp(a_label, b_label);

	return c ? c : kab_source_version_cmp(a_name, b_name);
}

bool kab_source_find_sum(const char *text, const char *file, char hex[65])
{
	for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		size_t digits = strspn(p, "0123456789abcdefABCDEF");
		size_t line = strcspn(p, "\r\n");
		const char *name = p + digits;

		if (digits != 64)
			continue;
		name += strspn(name, " \t*");
		if (!strncmp(name, "./", 2))
			name += 2;
		/* A FILE.sha256 may hold nothing but the hash. */
		if (name < p + line && ((size_t)(p + line - name) != strlen(file) ||
					strncmp(name, file, strlen(file)) != 0))
			continue;
		memcpy(hex, p, 64);
		hex[64] = '\0';
		return true;
	}
	return false;
}

static void add(const struct kab_source_def *def, const char *base, const char *name,
		const char *label, const char *prefix, const struct kab_strv *all, const char *sum,
		struct kab_candidates *ret)
{
	char *modules kab_autofree = modules_beside(name);
	struct kab_candidate *c = KAB_PUSH(ret);

	c->label = kab_xstrdup(label);
	c->spec = modules && kab_strv_has(all, modules)
			  ? kab_xasprintf("%s:%s%s,%s%s", prefix, base, name, base, modules)
			  : kab_xasprintf("%s:%s%s", prefix, base, name);
	c->sha256 = kab_xstrdup(sum);
	c->is_release = kab_source_is_release(def->releases, label);
}

/* ---- a folder ---- */

static char *sum_in_folder(const char *dir, const char *name)
{
	char hex[65];

	for (int i = 0; i < 2; i++) {
		struct kab_buf kab_autobuf buf = { .max = 1 << 20 };
		char *path kab_autofree = i ? kab_xasprintf("%s/SHA256SUMS", dir)
					    : kab_xasprintf("%s/%s.sha256", dir, name);

		if (kab_file_read(path, &buf, NULL) == 0 &&
		    kab_source_find_sum(kab_buf_str(&buf), name, hex))
			return kab_xstrdup(hex);
	}
	return NULL;
}

int kab_source_look_folder(const struct kab_source_def *def, const struct kab_source_env *env,
			   struct kab_candidates *ret, struct kab_err *err)
{
	struct kab_strv kab_autostrv names = KAB_STRV_INIT;
	char *best kab_autofree = NULL, *best_label kab_autofree = NULL;
	char *base kab_autofree = kab_xasprintf("%s/", def->path), *sum kab_autofree = NULL;
	const char *best_prefix = NULL;
	struct timespec best_time = { 0 };
	DIR *dir = opendir(def->path);
	struct dirent *e;

	(void)env;
	if (!dir)
		return kab_err_errno(err, errno == ENOENT ? KAB_ERR_NOT_FOUND : KAB_ERR_ENV,
				     "cannot read the folder '%s'", def->path);
	while ((e = readdir(dir)))
		kab_strv_add(&names, e->d_name);
	closedir(dir);
	/* The newest file: builds come in the order of time, their versions need not. */
	for (size_t i = 0; i < names.n; i++) {
		char *path kab_autofree = kab_xasprintf("%s/%s", def->path, names.v[i]);
		char *label = NULL;
		const char *prefix;
		struct stat st;
		bool newer;

		if (!wanted(def, names.v[i], &label, &prefix))
			continue;
		if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || !st.st_size) {
			free(label);
			continue;
		}
		newer = !best || st.st_mtim.tv_sec > best_time.tv_sec ||
			(st.st_mtim.tv_sec == best_time.tv_sec &&
			 (st.st_mtim.tv_nsec > best_time.tv_nsec ||
			  (st.st_mtim.tv_nsec == best_time.tv_nsec &&
			   compare(best_label, best, label, names.v[i]) < 0)));
		if (!newer) {
			free(label);
			continue;
		}
		free(best);
		free(best_label);
		best = kab_xstrdup(names.v[i]);
		best_label = label;
		best_prefix = prefix;
		best_time = st.st_mtim;
	}
	if (!best)
		return 0;
	sum = sum_in_folder(def->path, best);
	add(def, base, best, best_label, best_prefix, &names, sum, ret);
	return 0;
}

/* ---- a page ---- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Names in links are escaped for URLs (%2B) and for HTML (&amp;). */
static char *plain_name(const char *text, size_t n)
{
	struct kab_buf buf = KAB_BUF_INIT;

	for (size_t i = 0; i < n; i++) {
		if (text[i] == '%' && i + 2 < n && hex_digit(text[i + 1]) >= 0 &&
		    hex_digit(text[i + 2]) >= 0) {
			kab_buf_addc(&buf,
				     (char)(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2])));
			i += 2;
		} else if (n - i >= 5 && !strncmp(text + i, "&amp;", 5)) {
			kab_buf_addc(&buf, '&');
			i += 4;
		} else {
			kab_buf_addc(&buf, text[i]);
		}
	}
	return kab_buf_detach(&buf);
}

void kab_source_read_page(const char *html, size_t n, struct kab_strv *ret)
{
	const char *end = html + n;

	for (const char *p = html; p + 6 < end; p++) {
		const char *from, *to;
		char *name, quote;

		if (strncasecmp(p, "href", 4))
			continue;
		from = p + 4;
		while (from < end && (*from == ' ' || *from == '='))
			from++;
		if (from == p + 4 || from >= end)
			continue;
		quote = *from == '"' || *from == '\'' ? *from++ : '\0';
		to = from;
		while (to < end && (quote ? *to != quote : !strchr(" >\t\r\n", *to)))
			to++;
		if (to - from > 2 && !strncmp(from, "./", 2))
			from += 2;
		name = plain_name(from, (size_t)(to - from));
		/* Another folder, a query, a part of this page: nothing that lies beside it. */
		if (*name && *name != '.' && !strpbrk(name, "/?#:\\") && !kab_strv_has(ret, name))
			kab_strv_take(ret, name);
		else
			free(name);
		p = to < end ? to : end - 1;
	}
}

/* What stands before the names: the URL up to its last slash, without query. */
static char *base_of(const char *url)
{
	size_t n = strcspn(url, "?#");
	const char *host = strstr(url, "://");

	while (n && url[n - 1] != '/')
		n--;
	if (host && n <= (size_t)(host + 3 - url))
		return kab_xasprintf("%.*s/", (int)strcspn(url, "?#"), url);
	return kab_xstrndup(url, n);
}

static char *sum_in_index(const char *base, const char *name, const struct kab_strv *names,
			  const struct kab_source_def *def, const struct kab_source_env *env,
			  struct kab_err *err, int *ret_status)
{
	char *own kab_autofree = kab_xasprintf("%s.sha256", name);
	const char *const files[] = { own, "SHA256SUMS", "sha256sums.txt" };
	char hex[65];

	*ret_status = 0;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(files); i++) {
		struct kab_buf kab_autobuf buf = KAB_BUF_INIT;
		char *url kab_autofree = kab_xasprintf("%s%s", base, files[i]);

		if (!kab_strv_has(names, files[i]))
			continue;
		/* What is linked and cannot be read is no reason to do without the check. */
		*ret_status = kab_source_fetch(url, env, def->timeout_s, &buf, err);
		if (*ret_status < 0)
			return NULL;
		if (kab_source_find_sum(kab_buf_str(&buf), name, hex))
			return kab_xstrdup(hex);
	}
	return NULL;
}

int kab_source_look_index(const struct kab_source_def *def, const struct kab_source_env *env,
			  struct kab_candidates *ret, struct kab_err *err)
{
	struct kab_strv kab_autostrv names = KAB_STRV_INIT;
	struct kab_buf kab_autobuf page = KAB_BUF_INIT;
	char *base kab_autofree = base_of(def->url), *best_label kab_autofree = NULL;
	const char *best = NULL, *best_prefix = NULL;
	char *sum kab_autofree = NULL;
	int status;

	if (kab_source_fetch(def->url, env, def->timeout_s, &page, err) < 0)
		return -1;
	kab_source_read_page(kab_buf_str(&page), page.len, &names);
	/* Pages show dates in many ways, or none: the highest version is the newest. */
	for (size_t i = 0; i < names.n; i++) {
		char *label = NULL;
		const char *prefix;

		if (!wanted(def, names.v[i], &label, &prefix))
			continue;
		if (best && compare(best_label, best, label, names.v[i]) >= 0) {
			free(label);
			continue;
		}
		free(best_label);
		best_label = label;
		best = names.v[i];
		best_prefix = prefix;
	}
	if (!best)
		return 0;
	sum = sum_in_index(base, best, &names, def, env, err, &status);
	if (status < 0)
		return -1;
	add(def, base, best, best_label, best_prefix, &names, sum, ret);
	return 0;
}
