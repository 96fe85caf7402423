/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Binding a suite to the runners: each case's runner exists, knows its parameters, and metrics
 * named for verdicts are its own; texts of numeric parameters that are no plain number become
 * expressions. Pure. Errors name the suite's file and JSON path and the nearest known word.
 */
#ifndef KAB_ENGINE_BIND_H
#define KAB_ENGINE_BIND_H

#include "base/err.h"
#include "model/suite.h"
#include "runners/runner.h"

int kab_suite_bind(struct kab_suite *suite, struct kab_err *err);
/* Never NULL after kab_suite_bind(). */
const struct kab_runner *kab_case_runner(const struct kab_case *c);
/* "verdict" metrics of a case: the primary one first, then those named; caller releases. */
void kab_case_verdict_metrics(const struct kab_case *c, struct kab_strv *ret);

#endif
