/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small helpers for the command() and unsupported() of runners. Pure. */
#ifndef KAB_RUNNERS_OPTIONS_H
#define KAB_RUNNERS_OPTIONS_H

#include "base/strv.h"
#include "model/facts.h"
#include "model/params.h"
#include "runners/runner.h"

/* argv[0]: the parameter "program", else `name`, which the host looks up on its PATH. */
const char *kab_option_program(const struct kab_params *params, const char *name);
/* An integer parameter of at least `min`: adds "FLAG", "N". Nothing when it is not given.
 * 0, or -1 (config: not an integer, or below min). */
int kab_option_int(struct kab_strv *argv, const char *flag, const struct kab_params *params,
		   const char *name, int64_t min, struct kab_err *err);
/* Adds `flag` when the boolean parameter is true. */
void kab_option_flag(struct kab_strv *argv, const char *flag, const struct kab_params *params,
		     const char *name);
/* Adds the words of the parameter: a JSON list of strings, else words between blanks, where single
 * and double quotes and backslashes keep blanks, as in sh; nothing is expanded.
 * 0, or -1 (config: not closed, or not such a list). */
int kab_option_words(struct kab_strv *argv, const struct kab_params *params, const char *name,
		     struct kab_err *err);
/* 1 and a reason when the host lacks `tool` and the parameter "program" does not replace it. */
int kab_option_needs_tool(const struct kab_facts *facts, const struct kab_params *params,
			  const char *tool, const char *package, char **ret_reason);
/* A copy of `data` as a file in the iteration's directory. */
void kab_option_place(struct kab_command *cmd, const char *name, const char *data, bool executable);

#endif
