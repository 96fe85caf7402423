/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes through every parser: what must hold for all of them. Linked with libFuzzer, or with
 * replay.c, which feeds it files.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "fuzz.h"
#include "runners/runner.h"

static void check(const struct kab_runner *runner, const struct kab_parse_result *r,
		  int exit_status)
{
	bool usable = r->status == KAB_PARSE_OK || r->status == KAB_PARSE_PARTIAL;

	fuzz_must(usable == (r->samples.n > 0), "samples and status disagree", runner->name);
	fuzz_must((r->status == KAB_PARSE_OK) == !r->message, "message and status disagree",
		  runner->name);
	fuzz_must(!usable || exit_status <= 0, "a failed command gave figures", runner->name);
	fuzz_must(!r->message || fuzz_printable(r->message), "raw bytes in the message",
		  runner->name);
	fuzz_must(!r->version || fuzz_printable(r->version), "raw bytes in the version",
		  runner->name);
	for (size_t i = 0; i < r->samples.n; i++) {
		const struct kab_sample *s = &r->samples.v[i];

		fuzz_must(isfinite(s->value), "a value is not finite", runner->name);
		fuzz_must(*s->metric && fuzz_printable(s->metric), "raw bytes in a name",
			  runner->name);
		fuzz_must(fuzz_printable(s->unit), "raw bytes in a unit", runner->name);
		fuzz_must(kab_runner_metric(runner, s->metric) != NULL, "an unannounced metric",
			  runner->name);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int statuses[] = { 0, KAB_EXIT_UNKNOWN, 1, 137 };
	static const struct kab_params none = { 0 };
	/* Two streams, as from a host: reading past either is found. */
	size_t half = size / 2;
	char *first = kab_xmemdup(data, size ? size : 1);
	char *second = kab_xmemdup(data + half, size - half ? size - half : 1);

	for (size_t i = 0; i < kab_runners_n; i++) {
		for (size_t j = 0; j < KAB_ARRAY_SIZE(statuses); j++) {
			struct kab_stream streams[] = {
				{ .name = "stdout", .data = first, .len = j ? size : half },
				{ .name = "stderr", .data = second, .len = j ? 0 : size - half },
			};
			struct kab_outputs outputs = { .v = streams, .n = 2 };
			struct kab_parse_result result;

			kab_runners[i]->parse(&outputs, statuses[j], &none, &result);
			check(kab_runners[i], &result, statuses[j]);
			kab_parse_result_release(&result);
		}
	}
	free(first);
	free(second);
	return 0;
}
