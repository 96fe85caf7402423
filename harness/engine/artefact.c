/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/artefact.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "engine/install.h"

/* An uncompressed vmlinux without debug information stays far below this. */
#define IMAGE_MAX ((size_t)512 << 20)
#define RELEASE_MAX 64

bool kab_install_has_files(const struct kab_kernel *kernel)
{
	return kernel->kind == KAB_KERNEL_DEB || kernel->kind == KAB_KERNEL_TAR ||
	       kernel->kind == KAB_KERNEL_IMAGE;
}

static char *plain_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name = kab_xstrdup(slash ? slash + 1 : path);

	for (char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._+~-", *p))
			*p = '_';
	return name;
}

static int add(struct kab_artefact *art, const struct kab_kernel *kernel, enum kab_file_role role,
	       const char *path, struct kab_err *err)
{
	struct kab_artefact_file *f = KAB_PUSH(art);

	f->role = role;
	f->path = kab_xstrdup(path);
	f->name = plain_name(path);
	if (kab_sha256_file(path, f->sha256, &f->bytes, err) < 0) {
		if (err)
			err->code = KAB_ERR_CONFIG;
		return kab_err_prefix(err, "kernel '%s'", kernel->label);
	}
	if (!f->bytes)
		return kab_err_set(err, KAB_ERR_CONFIG, "kernel '%s': the file '%s' is empty",
				   kernel->label, path);
	art->bytes += f->bytes;
	return 0;
}

static void make_key(const struct kab_kernel *kernel, struct kab_artefact *art)
{
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;

	kab_buf_addf(&text, "kind %d\n", kernel->kind);
	for (size_t i = 0; i < art->n; i++)
		kab_buf_addf(&text, "%d %s\n", art->v[i].role, art->v[i].sha256);
	kab_sha256_hex(text.data, text.len, art->key);
}

int kab_artefact_open(const struct kab_kernel *kernel, struct kab_artefact *ret,
		      struct kab_err *err)
{
	struct kab_artefact art = { 0 };
	int status = 0;

	for (size_t i = 0; status == 0 && i < kernel->sources.n; i++)
		status = add(&art, kernel, KAB_FILE_MAIN, kernel->sources.v[i], err);
	if (status == 0 && kernel->initrd)
		status = add(&art, kernel, KAB_FILE_INITRD, kernel->initrd, err);
	if (status == 0 && kernel->modules)
		status = add(&art, kernel, KAB_FILE_MODULES, kernel->modules, err);
	make_key(kernel, &art);
	if (status == 0 && kernel->key && strcmp(kernel->key, art.key))
		status = kab_err_set(err, KAB_ERR_CONFIG,
				     "kernel '%s': its files have changed since the run was made; "
				     "begin a new run",
				     kernel->label);
	if (status < 0) {
		kab_artefact_release(&art);
		return -1;
	}
	*ret = art;
	return 0;
}

void kab_artefact_release(struct kab_artefact *art)
{
	for (size_t i = 0; i < art->n; i++) {
		free(art->v[i].path);
		free(art->v[i].name);
	}
	free(art->v);
	*art = (struct kab_artefact){ 0 };
}

/* The word that begins at `from`, if it is a release. */
static char *release_at(const char *data, size_t len, size_t from)
{
	size_t n = 0;

	while (from + n < len && n <= RELEASE_MAX &&
	       (isalnum((unsigned char)data[from + n]) ||
		(data[from + n] && strchr("._+~-", data[from + n]))))
		n++;
	if (!n || n > RELEASE_MAX || from + n >= len || data[from + n] != ' ' ||
	    !isdigit((unsigned char)data[from]))
		return NULL;
	return kab_xstrndup(data + from, n);
}

char *kab_artefact_image_release(const char *path)
{
	static const char banner[] = "Linux version ";
	struct kab_buf kab_autobuf buf = { .max = IMAGE_MAX };
	const char *at;

	if (kab_file_read(path, &buf, NULL) < 0 || buf.cut || buf.len < 0x400)
		return NULL;
	/* The x86 boot protocol: at 0x20e, the place of the version text, less 0x200. */
	if (!memcmp(buf.data + 0x202, "HdrS", 4)) {
		size_t place = (size_t)(unsigned char)buf.data[0x20e] |
			       (size_t)(unsigned char)buf.data[0x20f] << 8;

		return place ? release_at(buf.data, buf.len, place + 0x200) : NULL;
	}
	at = memmem(buf.data, buf.len, banner, sizeof(banner) - 1);
	return at ? release_at(buf.data, buf.len, (size_t)(at - buf.data) + sizeof(banner) - 1)
		  : NULL;
}

static int absolute(char **path, const char *label, struct kab_err *err)
{
	char *real = realpath(*path, NULL);

	if (!real)
		return kab_err_errno(err, KAB_ERR_CONFIG, "kernel '%s': cannot open '%s'", label,
				     *path);
	free(*path);
	*path = real;
	return 0;
}

int kab_install_identify(struct kab_kernel *kernel, struct kab_err *err)
{
	struct kab_artefact art = { 0 };
	int status = 0;

	for (size_t i = 0; kernel->by_host && i < kernel->by_host->n; i++)
		if (kab_install_identify(&kernel->by_host->v[i], err) < 0)
			return -1;
	if (!kab_install_has_files(kernel))
		return 0;
	for (size_t i = 0; i < kernel->sources.n; i++)
		if (absolute(&kernel->sources.v[i], kernel->label, err) < 0)
			return -1;
	if ((kernel->initrd && absolute(&kernel->initrd, kernel->label, err) < 0) ||
	    (kernel->modules && absolute(&kernel->modules, kernel->label, err) < 0) ||
	    kab_artefact_open(kernel, &art, err) < 0)
		return -1;
	if (kernel->sha256 && strcasecmp(kernel->sha256, art.v[0].sha256))
		status = kab_err_set(err, KAB_ERR_CONFIG,
				     "kernel '%s': '%s' has the sha256 %s, not %s as given",
				     kernel->label, art.v[0].path, art.v[0].sha256, kernel->sha256);
	free(kernel->key);
	kernel->key = kab_xstrdup(art.key);
	if (status == 0 && kernel->kind == KAB_KERNEL_IMAGE) {
		char *found kab_autofree = kab_artefact_image_release(art.v[0].path);

		if (found && kernel->release && strcmp(found, kernel->release))
			status = kab_err_set(err, KAB_ERR_CONFIG,
					     "kernel '%s': '%s' is %s, not %s as given",
					     kernel->label, art.v[0].path, found, kernel->release);
		else if (found && !kernel->release)
			kernel->release = kab_xstrdup(found);
	}
	kab_artefact_release(&art);
	return status;
}

/* "linux-image-RELEASE_VERSION_ARCH.deb" has it in its name; else NULL. Caller frees. */
char *kab_artefact_likely_release(const struct kab_kernel *kernel)
{
	if (kernel->kind != KAB_KERNEL_DEB || kernel->release)
		return kab_xstrdup(kernel->release);
	for (size_t i = 0; i < kernel->sources.n; i++) {
		char *name kab_autofree = plain_name(kernel->sources.v[i]);
		char *end = strchr(name, '_');

		if (strncmp(name, "linux-image-", 12) || !end || strstr(name, "-dbg_"))
			continue;
		*end = '\0';
		if (end - name > 9 && !strcmp(end - 9, "-unsigned"))
			end[-9] = '\0';
		return kab_xstrdup(name + 12);
	}
	return NULL;
}

int kab_install_conflicts(const struct kab_kernel_list *kernels, struct kab_err *err)
{
	for (size_t i = 0; i < kernels->n; i++) {
		for (size_t k = 0; k < i; k++) {
			const struct kab_kernel *a = &kernels->v[k], *b = &kernels->v[i];
			char *x kab_autofree = NULL, *y kab_autofree = NULL;

			if (!a->key || !b->key || !strcmp(a->key, b->key))
				continue;
			x = kab_artefact_likely_release(a);
			y = kab_artefact_likely_release(b);
			if (x && y && !strcmp(x, y))
				return kab_err_set(
					err, KAB_ERR_CONFIG,
					"kernels '%s' and '%s' are two builds of one release, %s; "
					"they would overwrite each other: build with another "
					"CONFIG_LOCALVERSION",
					a->label, b->label, x);
		}
	}
	return 0;
}
