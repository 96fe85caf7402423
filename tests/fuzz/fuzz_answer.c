/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a host answers: the state of a run with its result file, and the facts of the probe. */
#include <math.h>
#include <stdlib.h>

#include "engine/detach_job.h"
#include "engine/probe.h"
#include "fuzz.h"

static void check(double seconds, const char *what)
{
	fuzz_must(isnan(seconds) || (isfinite(seconds) && seconds >= 0), what, "result");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kab_detach_result r;
	struct kab_err err = KAB_ERR_INIT;
	struct kab_answer answer = { 0 };
	struct kab_facts facts = { 0 };
	char *text = fuzz_text(data, size), hash[65];
	int rc;

	kab_strv_split(&answer.lines, text, '\n');
	rc = kab_detach_read_answer(&answer, &r, &err);
	fuzz_check_err(rc, &err, "result");
	if (rc == 0) {
		fuzz_must(r.exit_status >= -1 && r.exit_status <= 255, "no exit status", "result");
		fuzz_must(r.signal >= 0 && r.signal <= 64, "no signal", "result");
		fuzz_must(r.max_rss_kb >= -1, "less than no memory", "result");
		check(r.elapsed_s, "absurd elapsed time");
		check(r.user_s, "absurd user time");
		check(r.system_s, "absurd system time");
		fuzz_must(kab_detach_state_name(r.state)[0] != '?', "no state", "result");
	}
	kab_err_clear(&err);
	rc = kab_facts_parse(&facts, (const char *)data, size, &err);
	fuzz_check_err(rc, &err, "facts");
	if (rc == 0) {
		struct kab_kernel_id id = { 0 };

		fuzz_must(facts.n <= 4096, "too many facts", "facts");
		kab_probe_kernel_id(&facts, &id);
		kab_kernel_id_release(&id);
		kab_probe_machine_hash(&facts, hash);
	}
	kab_facts_release(&facts);
	kab_answer_release(&answer);
	free(text);
	return 0;
}
