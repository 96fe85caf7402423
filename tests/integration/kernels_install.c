/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Installing a real package on a root made of files, over a link that breaks in the middle of pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "engine/artefact.h"
#include "engine/install.h"
#include "transport/child.h"

#define RELEASE "6.12.0-patched"

static char top[64];
static char here[] = "here";
static const struct kab_lab_host host = { .name = here };

static void sh(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void sh(const char *fmt, ...)
{
	const char *argv[] = { "/bin/bash", "-ec", NULL, NULL };
	struct kab_exec req = { .argv = argv };
	struct kab_wait wait = { kab_deadline_s(60), -1 };
	struct kab_exec_result res;
	struct kab_err err = KAB_ERR_INIT;
	char *line kab_autofree = NULL;
	va_list ap;

	va_start(ap, fmt);
	line = kab_xvasprintf(fmt, ap);
	va_end(ap);
	argv[2] = line;
	if (kab_child_run(&req, &wait, &res, &err) < 0)
		fail_msg("%s", err.text);
	if (res.exit_status)
		fail_msg("%s: %s", line, kab_buf_str(&res.err));
	kab_exec_result_release(&res);
}

/* The local transport with a link that can break. */
static struct {
	int break_every; /* so many-th piece arrives by half, then the link is gone; 0 never */
	int pieces;
	int reconnects;
	bool dead;
} flaky;

static int flaky_exec(struct kab_session *s, const struct kab_exec *req,
		      const struct kab_wait *wait, struct kab_exec_result *ret, struct kab_err *err)
{
	struct kab_exec half = *req;
	bool piece = false;

	for (const char *const *a = req->argv; *a; a++)
		piece = piece || strstr(*a, "cat >>");
	if (flaky.dead)
		return kab_err_set(err, KAB_ERR_CONNECT, "the link is gone");
	if (!piece || !flaky.break_every || ++flaky.pieces % flaky.break_every) {
		if (piece && !flaky.break_every)
			flaky.pieces++;
		return kab_transport_local.exec(s, req, wait, ret, err);
	}
	half.in_len = req->in_len / 2;
	if (kab_transport_local.exec(s, &half, wait, ret, err) == 0)
		kab_exec_result_release(ret);
	flaky.dead = true;
	return kab_err_set(err, KAB_ERR_CONNECT, "the link broke");
}

static struct kab_transport flaky_transport;

static struct kab_session *open_session(void)
{
	static const struct kab_endpoint ep = { .name = "here", .transport = "local" };
	struct kab_wait wait = { kab_deadline_s(5), -1 };
	struct kab_session *s = NULL;

	assert_int_equal(kab_transport_local.open(&ep, &wait, &s, NULL), 0);
	flaky_transport = kab_transport_local;
	flaky_transport.exec = flaky_exec;
	s->ops = &flaky_transport;
	return s;
}

static int reconnect(void *ctx, struct kab_session **ret, struct kab_err *err)
{
	(void)err;
	*ret = ctx;
	flaky.dead = false;
	flaky.reconnects++;
	return 0;
}

static int setup(void **state)
{
	char *root kab_autofree = NULL, *mounts kab_autofree = NULL, *path kab_autofree = NULL;

	(void)state;
	memset(&flaky, 0, sizeof(flaky));
	snprintf(top, sizeof(top), "/tmp/kab-inst-XXXXXX");
	if (!mkdtemp(top))
		return -1;
	root = kab_xasprintf("%s/root", top);
	mounts = kab_xasprintf("%s/mounts", top);
	path = kab_xasprintf("%s/bin:/usr/bin:/bin", top);
	setenv("KAB_BOOT_ROOT", root, 1);
	setenv("KAB_BOOT_MOUNTS", mounts, 1);
	sh("cd %s; mkdir -p bin root/boot root/lib/modules root/var/lib src/DEBIAN src/boot "
	   "src/lib/modules/" RELEASE "\n"
	   "echo '/dev/vda1 / ext4 rw 0 0' >mounts\n"
	   "printf '#!/bin/sh\\necho initrd >\"$2\"\\n' >bin/mkinitramfs; chmod 755 "
	   "bin/mkinitramfs\n"
	   "head -c 7000000 /dev/urandom >src/boot/vmlinuz-" RELEASE "\n"
	   "echo module >src/lib/modules/" RELEASE "/a.ko\n"
	   "printf 'Package: linux-image\\nVersion: 1\\nArchitecture: all\\nMaintainer: x "
	   "<x@y>\\nDescription: x\\n' >src/DEBIAN/control\n"
	   "dpkg-deb --root-owner-group -Zgzip -b src 'linux image.deb' >/dev/null",
	   top);
	setenv("PATH", path, 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	setenv("PATH", "/usr/bin:/bin", 1);
	sh("rm -rf %s", top);
	return 0;
}

static void make_kernel(struct kab_kernel_list *list)
{
	char *text kab_autofree = kab_xasprintf("test=deb:%s/linux image.deb", top);
	struct kab_err err = KAB_ERR_INIT;

	if (kab_kernel_add(list, text, &err) < 0 ||
	    kab_install_identify(&list->v[list->n - 1], &err) < 0)
		fail_msg("%s", err.text);
}

static int install(struct kab_session *s, const struct kab_kernel *kernel, bool *is_new,
		   struct kab_err *err)
{
	struct kab_install in = {
		.host = &host, .session = s, .cancel_fd = -1, .reconnect = reconnect, .ctx = s
	};
	struct kab_strv kab_autostrv warnings = KAB_STRV_INIT;
	char *release kab_autofree = NULL;
	int status = kab_install_kernel(&in, kernel, &release, is_new, &warnings, err);

	if (status == 0)
		assert_string_equal(release, RELEASE);
	assert_int_equal(warnings.n, 0);
	return status;
}

static void must_install(struct kab_session *s, const struct kab_kernel *kernel, bool expect_new)
{
	struct kab_err err = KAB_ERR_INIT;
	bool is_new;

	if (install(s, kernel, &is_new, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(is_new, expect_new);
	sh("cmp %s/src/boot/vmlinuz-" RELEASE " %s/root/boot/kab/vmlinuz-" RELEASE, top, top);
}

static void whole_over_a_good_link(void **state)
{
	struct kab_kernel_list list = { 0 };
	struct kab_session *s = open_session();

	(void)state;
	make_kernel(&list);
	must_install(s, &list.v[0], true);
	assert_true(flaky.pieces >= 4);
	flaky.pieces = 0;
	/* Twice does nothing; also when the files have gone. */
	sh("rm '%s/linux image.deb'", top);
	must_install(s, &list.v[0], false);
	assert_int_equal(flaky.pieces, 0);
	kab_kernel_list_release(&list);
	s->ops->close(s);
}

static void link_that_breaks(void **state)
{
	struct kab_kernel_list list = { 0 };
	struct kab_session *s = open_session();

	(void)state;
	make_kernel(&list);
	flaky.break_every = 2;
	must_install(s, &list.v[0], true);
	assert_true(flaky.reconnects >= 2);
	/* Half a piece that arrived is not sent again: 7 MB are not more than seven pieces. */
	assert_true(flaky.pieces <= 8);
	kab_kernel_list_release(&list);
	s->ops->close(s);
}

static void link_that_never_holds(void **state)
{
	struct kab_kernel_list list = { 0 };
	struct kab_session *s = open_session();
	struct kab_install in = { .host = &host, .session = s, .cancel_fd = -1 };
	struct kab_strv kab_autostrv warnings = KAB_STRV_INIT;
	struct kab_err err = KAB_ERR_INIT;
	char *release = NULL;
	bool is_new;

	(void)state;
	make_kernel(&list);
	flaky.break_every = 1;
	assert_int_equal(kab_install_kernel(&in, &list.v[0], &release, &is_new, &warnings, &err),
			 -1);
	assert_int_equal(err.code, KAB_ERR_CONNECT);
	assert_null(release);
	kab_kernel_list_release(&list);
	s->ops->close(s);
}

static void wrong_bytes_from_before(void **state)
{
	struct kab_kernel_list list = { 0 };
	struct kab_session *s = open_session();

	(void)state;
	make_kernel(&list);
	sh("d=%s/root/var/lib/kab/upload/%.16s; mkdir -p $d; head -c 3000000 /dev/zero "
	   ">\"$d/0-linux_image.deb\"",
	   top, list.v[0].key);
	must_install(s, &list.v[0], true);
	kab_kernel_list_release(&list);
	s->ops->close(s);
}

static void files_that_changed_or_do_not_fit(void **state)
{
	char *sums kab_autofree = NULL, *missing kab_autofree = kab_xasprintf("m=tar:%s/none", top);
	struct kab_kernel_list list = { 0 };
	struct kab_session *s = open_session();
	struct kab_err err = KAB_ERR_INIT;
	bool is_new;

	(void)state;
	make_kernel(&list);
	sh("echo more >>'%s/linux image.deb'", top);
	assert_int_equal(install(s, &list.v[0], &is_new, &err), -1);
	assert_int_equal(err.code, KAB_ERR_CONFIG);
	assert_non_null(strstr(err.text, "have changed"));
	sums = kab_xasprintf("sum=deb:%s/linux image.deb;sha256=%064d", top, 0);
	assert_int_equal(kab_kernel_add(&list, sums, NULL), 0);
	assert_int_equal(kab_install_identify(&list.v[1], &err), -1);
	assert_int_equal(err.code, KAB_ERR_CONFIG);
	assert_non_null(strstr(err.text, "has the sha256"));
	assert_int_equal(kab_kernel_add(&list, missing, NULL), 0);
	assert_int_equal(kab_install_identify(&list.v[2], &err), -1);
	assert_int_equal(err.code, KAB_ERR_CONFIG);
	assert_non_null(strstr(err.text, "kernel 'm': cannot open"));
	kab_kernel_list_release(&list);
	s->ops->close(s);
}

static void listed_and_removed(void **state)
{
	struct kab_kernel_list list = { 0 };
	struct kab_session *s = open_session();
	struct kab_wait wait = { kab_deadline_s(60), -1 };
	struct kab_err err = KAB_ERR_INIT;
	struct kab_installed *kernels;
	bool last = false, seen = false;
	size_t n;

	(void)state;
	make_kernel(&list);
	must_install(s, &list.v[0], true);
	assert_int_equal(kab_install_list(&host, s, &wait, &kernels, &n, &err), 0);
	for (size_t i = 0; i < n; i++) {
		if (strcmp(kernels[i].release, RELEASE))
			continue;
		seen = true;
		assert_true(kernels[i].ours && !kernels[i].running && !kernels[i].is_default);
		assert_string_equal(kernels[i].kind, "deb");
		assert_true(kernels[i].kib > 6800);
	}
	assert_true(seen);
	kab_installed_free(kernels, n);
	assert_int_equal(kab_install_remove(&host, s, "6.99", &wait, &last, &err), -1);
	assert_non_null(strstr(err.text, "not installed by kab"));
	assert_int_equal(kab_install_remove(&host, s, RELEASE, &wait, &last, &err), 0);
	assert_true(last);
	assert_int_equal(kab_install_tidy(&host, s, &wait, &err), 0);
	sh("cd %s/root; [ -z \"$(find . -type f)\" ]", top);
	kab_kernel_list_release(&list);
	s->ops->close(s);
}

static void write_image(const char *name, size_t at, const char *text, bool x86)
{
	char data[8192] = { 0 };
	char *path kab_autofree = kab_xasprintf("%s/%s", top, name);

	memcpy(data + at, text, strlen(text));
	if (x86) {
		memcpy(data + 0x202, "HdrS", 4);
		data[0x20e] = (char)((at - 0x200) & 0xff);
		data[0x20f] = (char)((at - 0x200) >> 8);
	}
	assert_int_equal(kab_file_write(path, data, sizeof(data), 0644, NULL), 0);
}

static void releases_in_images(void **state)
{
	static const struct {
		const char *text, *release;
		bool x86;
	} cases[] = {
		{ "6.12.0-a+b (me@here) #1 SMP", "6.12.0-a+b", true },
		{ "Linux version 6.1.0-50-arm64 (d@d) (gcc)", "6.1.0-50-arm64", false },
		{ "Linux version %s (%s)", NULL, false },
		{ "no words", NULL, false },
		{ "../../etc (x)", NULL, true },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(cases); i++) {
		char *path kab_autofree = kab_xasprintf("%s/image", top),
			   *found kab_autofree = NULL;

		write_image("image", 0x1234, cases[i].text, cases[i].x86);
		found = kab_artefact_image_release(path);
		if (cases[i].release)
			assert_string_equal(found, cases[i].release);
		else
			assert_null(found);
	}
}

static void two_builds_of_one_release(void **state)
{
	struct kab_kernel_list list = { 0 };
	struct kab_err err = KAB_ERR_INIT;
	static const char *const folders[] = { "a", "b" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char *text kab_autofree =
			kab_xasprintf("%s=deb:%s/%s/linux-image-6.12.0-x_6.12.0-1_amd64.deb",
				      folders[i], top, folders[i]);

		sh("mkdir %s/%s; echo %s >%s/%s/linux-image-6.12.0-x_6.12.0-1_amd64.deb", top,
		   folders[i], folders[i], top, folders[i]);
		assert_int_equal(kab_kernel_add(&list, text, NULL), 0);
		assert_int_equal(kab_install_identify(&list.v[i], &err), 0);
	}
	assert_int_equal(kab_install_conflicts(&list, &err), -1);
	assert_int_equal(err.code, KAB_ERR_CONFIG);
	assert_non_null(strstr(err.text, "'a' and 'b'"));
	assert_non_null(strstr(err.text, "CONFIG_LOCALVERSION"));
	kab_kernel_list_release(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(whole_over_a_good_link, setup, teardown),
		cmocka_unit_test_setup_teardown(link_that_breaks, setup, teardown),
		cmocka_unit_test_setup_teardown(link_that_never_holds, setup, teardown),
		cmocka_unit_test_setup_teardown(wrong_bytes_from_before, setup, teardown),
		cmocka_unit_test_setup_teardown(files_that_changed_or_do_not_fit, setup, teardown),
		cmocka_unit_test_setup_teardown(listed_and_removed, setup, teardown),
		cmocka_unit_test_setup_teardown(releases_in_images, setup, teardown),
		cmocka_unit_test_setup_teardown(two_builds_of_one_release, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
