/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs for jobs: made and carried out as `kab run` does, without its report. */
#ifndef KAB_CLI_MEASURER_H
#define KAB_CLI_MEASURER_H

#include "cli/setup.h"
#include "jobs/measure.h"

struct kab_cli_measurer {
	struct kab_cli *cli; /* borrowed, as all that follows */
	struct kab_store *store; /* for writing */
	const struct kab_lab *lab;
	struct kab_interrupt *interrupt;
	double lease_wait_s;
};
/* ctx of *ret is `m`, which must live as long. */
void kab_cli_measurer(struct kab_cli_measurer *m, struct kab_measurer *ret);

#endif
