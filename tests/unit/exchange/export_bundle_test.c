/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bundles that were changed by somebody who also set the hashes right; and the small parts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "../store/fixture.h"
#include "base/alloc.h"
#include "base/rng.h"
#include "exchange/bundle_internal.h"
#include "exchange/export.h"
#include "judge/judge.h"

#define TRIES 400

static struct kab_strv read_lines(struct fixture *f, const char *path)
{
	struct kab_strv lines = KAB_STRV_INIT;
	struct kab_bundle_lines *l;
	FILE *file = fopen(path, "re");
	const char *line;
	size_t n;

	assert_non_null(file);
	OK(f, kab_bundle_lines_open(file, path, &l, &f->err));
	while (kab_bundle_lines_next(l, &line, &n, &f->err) == 1)
		kab_strv_add_n(&lines, line, n);
	kab_bundle_lines_free(l);
	fclose(file);
	return lines;
}

/* The lines with the hashes that they should have. */
static void write_sealed(const char *path, const struct kab_strv *lines)
{
	struct kab_sha256 *all = kab_sha256_begin(), *run = kab_sha256_begin();
	char hex[KAB_SHA256_HEX_SIZE], *packed;
	struct kab_buf kab_autobuf body = KAB_BUF_INIT;
	size_t n = 0, room;
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	for (size_t i = 0; i < lines->n; i++) {
		size_t at = body.len;

		if (!strncmp(lines->v[i], "{\"end\":", 7))
			continue;
		if (!strncmp(lines->v[i], "{\"run\":", 7)) {
			kab_sha256_end(run, NULL);
			run = kab_sha256_begin();
		}
		if (!strncmp(lines->v[i], "{\"run_end\":", 11)) {
			kab_sha256_end(run, hex);
			run = kab_sha256_begin();
			kab_buf_addf(&body, "{\"run_end\":{\"sha256\":\"%s\"}}\n", hex);
		} else {
			kab_buf_addf(&body, "%s\n", lines->v[i]);
			kab_sha256_add(run, body.data + at, body.len - at);
		}
		n++;
	}
	kab_sha256_add(all, body.data, body.len);
	kab_sha256_end(all, hex);
	kab_sha256_end(run, NULL);
	kab_buf_addf(&body, "{\"end\":{\"lines\":%zu,\"sha256\":\"%s\"}}\n", n, hex);
	room = ZSTD_compressBound(body.len);
	packed = kab_xmalloc(room);
	room = ZSTD_compress(packed, room, body.data, body.len, 1);
	assert_int_equal(fwrite(packed, 1, room, file), room);
	assert_int_equal(fclose(file), 0);
	free(packed);
}

static size_t count_runs(struct fixture *f)
{
	struct kab_run_info *runs;
	size_t n;

	OK(f, kab_store_list_runs(f->store, 0, &runs, &n, &f->err));
	for (size_t i = 0; i < n; i++)
		kab_run_info_release(&runs[i]);
	free(runs);
	return n;
}

static void change(struct kab_rng *rng, struct kab_strv *lines)
{
	static const char bytes[] = "0123456789-.e\"\\{}[]:,ntx\x01\x7f\xff";
	size_t i = 1 + (size_t)kab_rng_below(rng, lines->n - 2);
	size_t k = 1 + (size_t)kab_rng_below(rng, lines->n - 2);
	char *line = lines->v[i];

	switch (kab_rng_below(rng, 4)) {
	case 0:
		lines->v[i] = lines->v[k];
		lines->v[k] = line;
		break;
	case 1:
		lines->v[i] = kab_xstrdup(lines->v[k]);
		free(line);
		break;
	default:
		if (*line)
			line[kab_rng_below(rng, strlen(line))] =
				bytes[kab_rng_below(rng, sizeof(bytes) - 1)];
	}
}

static void create_run(struct fixture *f, struct mini *m)
{
	const double values[] = { 1.5, 2.25 };

	mini_create(f, m, "m", MINI_PLAN);
	for (size_t b = 0; b < 4; b++) {
		prove(f, m->boot[b].id, b % 2 ? "bb" : "aa", "boot");
		for (size_t i = 0; i < 3; i++)
			commit_done(f, m->step[3 * b + i].id, values, 2);
	}
}

static void test_changed_bundles(void **state)
{
	struct kab_bundle_opts opts = { .output = true, .kab_version = "test" };
	struct fixture *f = *state;
	struct kab_bundle_info info;
	struct kab_strv kab_autostrv lines = KAB_STRV_INIT;
	char *path kab_autofree = kab_xasprintf("%s/b.kab", f->dir);
	size_t before, taken = 0, refused = 0;
	struct kab_rng rng;
	struct mini m;
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	create_run(f, &m);
	OK(f, kab_bundle_write(f->store, &m.run.id, 1, &opts, file, path, &info, &f->err));
	assert_int_equal(fclose(file), 0);
	mini_release(&m);
	lines = read_lines(f, path);
	before = count_runs(f);
	kab_rng_seed(&rng, 3);
	for (int i = 0; i < TRIES; i++) {
		struct kab_strv kab_autostrv copy = KAB_STRV_INIT;
		struct kab_bundle_result result;
		struct kab_err err = KAB_ERR_INIT;

		kab_strv_copy(&copy, &lines);
		for (uint64_t k = 0; k < 1 + kab_rng_below(&rng, 3); k++)
			change(&rng, &copy);
		write_sealed(path, &copy);
		if (kab_bundle_read(f->store, path, NULL, "test", &result, &err)) {
			assert_int_equal(err.code, KAB_ERR_PARSE);
			refused++;
		} else {
			taken += result.here.v[0] ? 0 : 1;
			kab_bundle_result_release(&result);
		}
		assert_int_equal(count_runs(f), before + taken);
	}
	/* Most changes are seen; some numbers are as good as others. */
	assert_true(refused > TRIES / 2);
	assert_true(taken > 0);
	unlink(path);
}

static void test_base64(void **state)
{
	/* RFC 4648, section 10. */
	static const char *const pairs[][2] = { { "", "" },
						{ "f", "Zg==" },
						{ "fo", "Zm8=" },
						{ "foo", "Zm9v" },
						{ "foob", "Zm9vYg==" },
						{ "fooba", "Zm9vYmE=" },
						{ "foobar", "Zm9vYmFy" } };
	static const char *const wrong[] = { "Z",     "Zg",	  "Zg=",  "Z===", "====",
					     "Zm9v=", "Zg==Zg==", "Zm 9", "Zm9-" };

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(pairs); i++) {
		struct kab_buf kab_autobuf there = KAB_BUF_INIT, back = KAB_BUF_INIT;

		kab_base64_encode(&there, pairs[i][0], strlen(pairs[i][0]));
		assert_string_equal(kab_buf_str(&there), pairs[i][1]);
		assert_int_equal(kab_base64_decode(&back, pairs[i][1], strlen(pairs[i][1])), 0);
		assert_string_equal(kab_buf_str(&back), pairs[i][0]);
	}
	for (size_t i = 0; i < KAB_ARRAY_SIZE(wrong); i++) {
		struct kab_buf kab_autobuf back = KAB_BUF_INIT;

		assert_int_equal(kab_base64_decode(&back, wrong[i], strlen(wrong[i])), -1);
	}
}

static void test_secrets(void **state)
{
	static const char *const cases[][2] = {
		{ "deb:https://joe:pw@h.example/a/b.deb;cmdline=x",
		  "deb:https://h.example/a/b.deb;cmdline=x" },
		{ "x https://h/a?token=1 y", "x https://h/a?... y" },
		{ "https://a@b@h/", "https://h/" },
		{ "https://h/a@b", NULL },
		{ "no url", NULL },
		{ "https://h/a?...", NULL },
		{ "://", NULL },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(cases); i++) {
		char *got kab_autofree = kab_bundle_hide_secrets(cases[i][0]);

		if (cases[i][1])
			assert_string_equal(got, cases[i][1]);
		else
			assert_null(got);
	}
}

static void test_numbers(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{ 0.1, "0.1" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 1e300, "1e+300" },
		{ 100, "100" },
		{ -2.5, "-2.5" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 5e-324, "4.94065645841247e-324" },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(cases); i++) {
		struct kab_buf kab_autobuf got = KAB_BUF_INIT;

		kab_buf_adds(&got, "x");
		kab_export_number(cases[i].value, &got);
		assert_string_equal(kab_buf_str(&got) + 1, cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_changed_bundles, fixture_setup,
						fixture_teardown),
		cmocka_unit_test(test_base64),
		cmocka_unit_test(test_secrets),
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
