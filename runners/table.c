/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every runner, by name: an explicit list, since constructors of static libraries get lost. */
#include "base/alloc.h"
#include "runners/runner.h"

extern const struct kab_runner kab_runner_hackbench;
extern const struct kab_runner kab_runner_specjbb2005;
extern const struct kab_runner kab_runner_specjbb2015;
extern const struct kab_runner kab_runner_stress_ng;
extern const struct kab_runner kab_runner_synthetic;
extern const struct kab_runner kab_runner_sysbench;

/* One a line, so that adding one changes one line. */
/* clang-format off */
const struct kab_runner *const kab_runners[] = {
	&kab_runner_hackbench,
	&kab_runner_sysbench,
	&kab_runner_stress_ng,
	&kab_runner_specjbb2005,
	&kab_runner_specjbb2015,
	&kab_runner_synthetic,
};
/* clang-format on */
const size_t kab_runners_n = KAB_ARRAY_SIZE(kab_runners);
