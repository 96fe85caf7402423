/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Expressions: what passes the checks has a value or an error, and the checks agree with each other. */
#include <stdlib.h>

#include "fuzz.h"
#include "model/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kab_params params = { 0 };
	struct kab_facts facts = { 0 };
	struct kab_err err = KAB_ERR_INIT;
	char *text = fuzz_text(data, size), *canonical;
	int form, names, rc;
	int64_t value;

	kab_facts_set(&facts, "cpus", "8");
	kab_facts_set(&facts, "memory_mb", "-9223372036854775808");
	kab_params_set(&params, "groups", "4");
	kab_params_set_expr(&params, "loops", text);
	kab_params_set_expr(&params, "x", "loops*2");
	form = kab_expr_check(text, &err);
	fuzz_check_err(form, &err, "expr form");
	kab_err_clear(&err);
	names = kab_expr_check_names(text, &params, &err);
	fuzz_check_err(names, &err, "expr names");
	kab_err_clear(&err);
	rc = kab_expr_eval(text, &facts, &params, &value, &err);
	fuzz_check_err(rc, &err, "expr");
	fuzz_must(form == 0 || (names < 0 && rc < 0), "a wrong form has a value", "expr");
	fuzz_must(names == 0 || rc < 0, "unknown names have a value", "expr");
	kab_err_clear(&err);
	rc = kab_params_resolve(&params, &facts, &err);
	fuzz_check_err(rc, &err, "params");
	for (int resolved = 0; resolved < 2; resolved++) {
		canonical = kab_params_canonical(&params, rc == 0 && resolved);
		free(canonical);
	}
	kab_params_release(&params);
	kab_facts_release(&facts);
	free(text);
	return 0;
}
