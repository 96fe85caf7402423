/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between sysbench.c (what to run) and sysbench_parse.c (what it printed). */
#ifndef KAB_RUNNERS_SYSBENCH_H
#define KAB_RUNNERS_SYSBENCH_H

#include "runners/runner.h"

void kab_sysbench_parse(const struct kab_outputs *outputs, int exit_status,
			const struct kab_params *params, struct kab_parse_result *ret);

#endif
