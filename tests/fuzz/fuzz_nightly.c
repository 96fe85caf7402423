/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file of a nightly lab. */
#include "base/json.h"
#include "fuzz.h"
#include "model/nightly.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kab_nightly nightly = { 0 };
	struct kab_err err = KAB_ERR_INIT;
	json_t *doc = NULL;
	int rc = kab_json_load_bytes("nightly", (const char *)data, size, &doc, &err);

	fuzz_check_err(rc, &err, "json");
	if (rc < 0)
		return 0;
	rc = kab_nightly_load_json(doc, "nightly", &nightly, &err);
	json_decref(doc);
	fuzz_check_err(rc, &err, "nightly");
	if (rc == 0) {
		kab_nightly_window(&nightly, "local");
		fuzz_must(nightly.min_boots >= 1, "fewer than one boot", "nightly");
		kab_nightly_release(&nightly);
	}
	return 0;
}
