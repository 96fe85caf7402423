/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The text of a run's `job` file, and the reading of a run's state. Pure; internal to detach.
 */
#ifndef KAB_ENGINE_DETACH_JOB_H
#define KAB_ENGINE_DETACH_JOB_H

#include "base/buf.h"
#include "engine/agent.h"
#include "engine/detach.h"

/* [A-Za-z0-9._-], 1 to 120 bytes, not starting with '.' or '-'. */
bool kab_detach_name_ok(const char *name);

/* The shell text of the job into *ret; nonce names its working folder. -1: CONFIG, what is wrong. */
int kab_detach_job(const struct kab_detach_spec *spec, const char *nonce, struct kab_buf *ret,
		   struct kab_err *err);

/* The state that an answer of the agent describes. -1: PARSE. */
int kab_detach_read_answer(const struct kab_answer *a, struct kab_detach_result *ret,
			   struct kab_err *err);

#endif
