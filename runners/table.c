/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every runner, by name: an explicit list, since constructors of static libraries get lost. */
#include "base/alloc.h"
#include "runners/runner.h"

extern const struct kab_runner kab_runner_hackbench;
extern const struct kab_runner kab_runner_synthetic;
extern const struct kab_runner kab_runner_sysbench;

const struct kab_runner *const kab_runners[] = {
	&kab_runner_hackbench,
	&kab_runner_synthetic,
	&kab_runner_sysbench,
};
const size_t kab_runners_n = KAB_ARRAY_SIZE(kab_runners);
