/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Spoilt files through every reader: cut, overwritten, doubled. Whatever comes of it, it is an error
 * with a place or an import whose numbers are finite and whose texts can be stored.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/rng.h"
#include "exchange/import_formats.h"

#define TRIALS 1500

static const struct {
	const char *format, *text;
} seeds[] = {
	{ "perf-stat",
	  "# started on Mon\n\nhello, world\n24.10,msec,task-clock,24097394,100.00,0.618,"
	  "CPUs utilized\n2584,,context-switches,24097394,100.00,107.232,K/sec\n"
	  "<not supported>,,cycles,0,100.00,,\n,,,,,0.5,Bound\n" },
	{ "perf-stat", "0.62;msec;task-clock;6.02%;620138;100.00;0.375;CPUs utilized\n" },
	{ "perf-stat",
	  "{\"counter-value\" : \"0.625470\", \"unit\" : \"msec\", \"event\" : \"task-clock\","
	  " \"variance\" : 4.93, \"event-runtime\" : 625470, \"pcnt-running\" : 90.00}\n" },
	{ "hyperfine",
	  "{\"results\":[{\"command\":\"a b\",\"mean\":1,\"user\":0,\"times\":[1.0,1.1,0.2],"
	  "\"exit_codes\":[0,1,null],\"memory_usage_byte\":[1,2,3],"
	  "\"parameters\":{\"n\":\"1\"}}]}" },
	{ "hyperfine", "{\"results\":[{\"command\":\"a\",\"measurements\":[{\"time_wall_clock\":"
		       "{\"value\":1,\"unit\":\"second\"},\"exit_code\":0}]}]}" },
	{ "summary", "kernel,case,row,metric,unit,direction,n,mean,stddev\n"
		     "base,c,r=1,time,s,lower,10,1.25,0.02\npatched,c,r=1,time,s,lower,9,1.2,\n" },
	{ "summary", "[{\"kernel\":\"a\",\"n\":4,\"mean\":10,\"sem\":0.5,\"unit\":\"s\"}]" },
};

static void spoil(struct kab_rng *rng, const char *text, struct kab_buf *ret)
{
	static const char alphabet[] = ",;\t\n\"{}[]:%<>-+.0123456789eE \\x\x00\xff\xc3";
	size_t n = strlen(text), edits = 1 + kab_rng_below(rng, 4);

	kab_buf_add(ret, text, n);
	for (size_t i = 0; i < edits && ret->len; i++) {
		size_t at = kab_rng_below(rng, ret->len);

		switch (kab_rng_below(rng, 4)) {
		case 0:
			ret->data[at] = alphabet[kab_rng_below(rng, sizeof(alphabet) - 1)];
			break;
		case 1:
			ret->len = at;
			ret->data[at] = '\0';
			break;
		case 2:
			memmove(ret->data + at, ret->data + at + 1, ret->len - at);
			ret->len--;
			break;
		default: {
			char *tail kab_autofree = kab_xstrndup(ret->data + at, ret->len - at);
			size_t len = strlen(tail);

			kab_buf_add(ret, tail, len);
			break;
		}
		}
	}
}

static void check_text(const char *text)
{
	json_t *s = json_string(text);

	if (!s)
		fail_msg("no UTF-8: '%s'", text);
	json_decref(s);
}

static void check(const struct kab_import *import)
{
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;

	for (size_t i = 0; i < import->n; i++) {
		const struct kab_import_iter *it = &import->v[i];

		check_text(it->row_key);
		assert_true(it->state == KAB_ITER_DONE || (it->reason && !it->samples.n));
		for (size_t k = 0; k < it->samples.n; k++) {
			assert_true(isfinite(it->samples.v[k].value));
			check_text(it->samples.v[k].metric);
			check_text(it->samples.v[k].unit);
		}
	}
	for (size_t i = 0; i < import->summaries.n; i++) {
		const struct kab_import_summary *s = &import->summaries.v[i];

		assert_true(s->n >= 1 && isfinite(s->mean) && !isinf(s->sd) && !(s->sd < 0));
		check_text(s->metric);
	}
	for (size_t i = 0; i < import->notes.n; i++)
		check_text(import->notes.v[i]);
	kab_import_describe(import, &text);
	for (size_t i = 0; i < text.len; i++)
		assert_true((unsigned char)text.data[i] >= ' ' || text.data[i] == '\n');
}

static void test_spoilt(void **state)
{
	char path[] = "/tmp/kab-import-test-XXXXXX";
	int fd = mkstemp(path);
	struct kab_rng rng;
	size_t good = 0, bad = 0;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	kab_rng_seed(&rng, 20);
	for (size_t s = 0; s < KAB_ARRAY_SIZE(seeds); s++) {
		for (int i = 0; i <= TRIALS; i++) {
			struct kab_import_source source = { "k", path };
			struct kab_params params = { 0 };
			struct kab_import_from from = { .params = &params,
							.exit_status = -1,
							.repeat = 3 };
			struct kab_buf kab_autobuf bytes = KAB_BUF_INIT;
			struct kab_err err = KAB_ERR_INIT;
			struct kab_import import;
			FILE *f;
			int rc;

			/* A new file: truncating one that was just written makes ext4 write it out. */
			unlink(path);
			f = fopen(path, "wb");
			assert_non_null(f);
			if (i)
				spoil(&rng, seeds[s].text, &bytes);
			else
				kab_buf_adds(&bytes, seeds[s].text);
			fwrite(kab_buf_str(&bytes), 1, bytes.len, f);
			fclose(f);
			rc = kab_import_format_find(seeds[s].format)
				     ->read(&source, 1, &from, &import, &err);
			if (rc) {
				bad++;
				assert_int_not_equal(i, 0);
				assert_true(err.code != KAB_OK && *err.text);
			} else {
				good++;
				check(&import);
			}
			kab_import_release(&import);
		}
	}
	unlink(path);
	/* Both ways were taken often. */
	assert_true(good > TRIALS && bad > TRIALS);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_spoilt) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
