/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A suite of somebody else's: what is loaded can be planned, bound and quoted. */
#include <stdlib.h>

#include "base/json.h"
#include "fuzz.h"
#include "model/expr.h"
#include "model/suite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kab_err err = KAB_ERR_INIT;
	struct kab_suite suite = { 0 };
	struct kab_facts facts = { 0 };
	json_t *doc = NULL;
	int rc = kab_json_load_bytes("suite", (const char *)data, size, &doc, &err);

	fuzz_check_err(rc, &err, "json");
	if (rc < 0)
		return 0;
	rc = kab_suite_load_json(doc, "suite", &suite, &err);
	json_decref(doc);
	fuzz_check_err(rc, &err, "suite");
	kab_facts_set(&facts, "cpus", "8");
	for (size_t i = 0; rc == 0 && i < suite.instances_n && i < 50; i++) {
		struct kab_instance *in = &suite.instances[i];
		char *canonical;

		fuzz_must(in->case_index < suite.cases_n, "an instance of no case", "suite");
		kab_params_resolve(&in->params, &facts, NULL);
		canonical = kab_params_canonical(&in->params, 0);
		fuzz_must(fuzz_printable(in->row_key), "raw bytes in a row", "suite");
		free(canonical);
	}
	for (size_t i = 0; rc == 0 && i < suite.cases_n; i++)
		fuzz_must(fuzz_printable(suite.cases[i].name), "raw bytes in a name", "suite");
	fuzz_must(rc < 0 || (suite.instances_n > 0 && suite.instances_n <= KAB_SUITE_INSTANCES_MAX),
		  "number of instances", "suite");
	kab_facts_release(&facts);
	kab_suite_release(&suite);
	return 0;
}
