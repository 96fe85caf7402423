/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A lab file. */
#include "fuzz.h"
#include "model/lab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kab_err err = KAB_ERR_INIT;
	struct kab_lab lab = { 0 };
	int rc = kab_lab_load(fuzz_file(data, size), &lab, &err);

	fuzz_check_err(rc, &err, "lab");
	if (rc < 0)
		return 0;
	fuzz_must(kab_lab_find(&lab, "local") != NULL, "no local host", "lab");
	for (size_t i = 0; i < lab.n; i++) {
		const struct kab_lab_host *h = &lab.v[i];

		fuzz_must(fuzz_printable(h->name), "raw bytes in a name", "lab");
		fuzz_must(*h->name != '-', "a name like an option", "lab");
		fuzz_must(!h->ssh || (*h->ssh && *h->ssh != '-'), "a destination like an option",
			  "lab");
		fuzz_must(h->port >= 0 && h->port <= 65535, "no port", "lab");
		fuzz_must(h->boot_deadline_s > 0, "no deadline", "lab");
		fuzz_must(h->boot != KAB_BOOT_COMMAND || h->boot_command.n, "no command", "lab");
	}
	kab_lab_release(&lab);
	return 0;
}
