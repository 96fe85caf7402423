/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels as typed (the first byte is not '{') or from a file; conditions as typed. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fuzz.h"
#include "model/condition.h"
#include "model/kernel.h"

static void check(const struct kab_kernel *k)
{
	fuzz_must(*k->label && *k->label != '-' && !strpbrk(k->label, "/ ;$`'\"\n"),
		  "a label that a shell or a path would read", "kernel");
	fuzz_must(k->kind != KAB_KERNEL_RELEASE || k->release, "no release", "kernel");
	fuzz_must((k->kind == KAB_KERNEL_BY_HOST) == (k->by_host != NULL), "by host", "kernel");
	fuzz_must(!k->cmdline || fuzz_printable(k->cmdline), "raw bytes in a command line",
		  "kernel");
	fuzz_must(!k->sha256 || strlen(k->sha256) == 64, "no sum", "kernel");
}

/* What is stored with a run is read again to the same kernel. */
static void check_round_trip(const struct kab_kernel *k)
{
	struct kab_kernel_list again = { 0 };
	struct kab_err err = KAB_ERR_INIT;
	json_t *stored = kab_kernel_to_json(k);

	fuzz_must(kab_kernel_from_json(&again, stored, &err) == 0, err.text, "kernel");
	fuzz_must(again.n == 1 && kab_kernel_same_spec(k, &again.v[0]), "another kernel", "kernel");
	json_decref(stored);
	kab_kernel_list_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kab_kernel_list list = { 0 };
	struct kab_condition_list conditions = { 0 };
	struct kab_err err = KAB_ERR_INIT;
	char *text;
	int rc;

	if (size && data[0] == '{')
		text = kab_xasprintf("l=@%s", fuzz_file(data, size));
	else
		text = fuzz_text(data, size);
	/* Not files of this machine that the text happens to name. */
	if (text[0] != 'l' && strchr(text, '@'))
		goto out;
	rc = kab_kernel_add(&list, text, &err);
	fuzz_check_err(rc, &err, "kernel");
	for (size_t i = 0; i < list.n; i++) {
		check(&list.v[i]);
		check_round_trip(&list.v[i]);
	}
	kab_err_clear(&err);
	rc = kab_condition_add_text(&conditions, text, &err);
	fuzz_check_err(rc, &err, "condition");
	for (size_t i = 0; rc == 0 && i < conditions.n; i++) {
		fuzz_must(fuzz_printable(conditions.v[i].name), "raw bytes", "condition");
		for (size_t j = 0; j < conditions.v[i].values.n; j++)
			fuzz_must(fuzz_printable(conditions.v[i].values.v[j]), "raw bytes",
				  "condition");
	}
out:
	free(text);
	kab_kernel_list_release(&list);
	kab_condition_list_release(&conditions);
	return 0;
}
