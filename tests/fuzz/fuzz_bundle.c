/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lines of a bundle, as they are and with the hashes that they ought to have, so that what is behind
 * the hashes is reached, too. Whatever is stored can be read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/sha256.h"
#include "exchange/bundle.h"
#include "fuzz.h"

static char folder[64], database[80];

static void remove_all(void)
{
	static const char *const names[] = { "", "-wal", "-shm" };

	for (size_t i = 0; i < KAB_ARRAY_SIZE(names); i++) {
		char *path kab_autofree = kab_xasprintf("%s%s", database, names[i]);

		unlink(path);
	}
	rmdir(folder);
}

static struct kab_store *store(void)
{
	static struct kab_store *opened;
	struct kab_err err = KAB_ERR_INIT;

	if (!opened) {
		snprintf(folder, sizeof(folder), "/dev/shm/fuzz-bundle-XXXXXX");
		fuzz_must(mkdtemp(folder) != NULL, "no folder", "bundle");
		snprintf(database, sizeof(database), "%s/db", folder);
		atexit(remove_all);
		fuzz_must(kab_store_open(database, KAB_STORE_WRITE, &opened, &err) == 0, err.text,
			  "bundle");
	}
	return opened;
}

static void import(const struct kab_buf *text)
{
	size_t room = ZSTD_compressBound(text->len), n;
	char *packed kab_autofree = kab_xmalloc(room + 1);
	struct kab_bundle_result result;
	struct kab_err err = KAB_ERR_INIT;
	int rc;

	n = ZSTD_compress(packed, room, kab_buf_str(text), text->len, 1);
	rc = kab_bundle_read(store(), fuzz_file(packed, n), NULL, "0", &result, &err);
	fuzz_check_err(rc, &err, "bundle");
	for (size_t i = 0; rc == 0 && i < result.names.n; i++) {
		struct kab_run_info info;

		fuzz_must(fuzz_printable(result.names.v[i]), "raw bytes in a name", "bundle");
		fuzz_must(kab_store_find_run(store(), result.names.v[i], &info, NULL, &err) == 0,
			  "what was stored is not there", "bundle");
		kab_run_info_release(&info);
	}
	if (rc == 0)
		kab_bundle_result_release(&result);
}

static void end(struct kab_sha256 *sum, const char *prefix, size_t lines, struct kab_buf *out)
{
	char hex[KAB_SHA256_HEX_SIZE];

	kab_sha256_end(sum, hex);
	kab_buf_addf(out, "{\"%s\":{\"lines\":%zu,\"sha256\":\"%s\"}}\n", prefix, lines, hex);
}

/* The same lines, with hashes that are right. */
static void mend(const struct kab_buf *text, struct kab_buf *out)
{
	struct kab_sha256 *run = NULL, *all = kab_sha256_begin();
	size_t lines = 0;

	for (const char *p = kab_buf_str(text); *p; lines++) {
		size_t n = strcspn(p, "\n"), from = out->len;

		if (!strncmp(p, "{\"end\":", 7))
			break;
		if (!run && !strncmp(p, "{\"run\":", 7))
			run = kab_sha256_begin();
		if (run && !strncmp(p, "{\"run_end\":", 11)) {
			end(run, "run_end", 0, out);
			run = NULL;
		} else {
			kab_buf_add(out, p, n);
			kab_buf_addc(out, '\n');
			if (run)
				kab_sha256_add(run, out->data + from, out->len - from);
		}
		kab_sha256_add(all, out->data + from, out->len - from);
		p += n + (p[n] == '\n');
	}
	if (run) {
		char hex[KAB_SHA256_HEX_SIZE];

		kab_sha256_end(run, hex);
	}
	end(all, "end", lines, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kab_buf kab_autobuf text = KAB_BUF_INIT, mended = KAB_BUF_INIT;

	kab_buf_add(&text, data, size);
	import(&text);
	mend(&text, &mended);
	import(&mended);
	return 0;
}
