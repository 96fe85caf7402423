/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls of agent.sh on a target, and its answers. Internal to detach and lease.
 */
#ifndef KAB_ENGINE_AGENT_H
#define KAB_ENGINE_AGENT_H

#include "base/strv.h"
#include "transport/transport.h"

/* The script, from agent.sh. */
extern const char kab_agent_sh[];
extern const size_t kab_agent_sh_len; /* bytes */
extern const char kab_agent_sh_id[]; /* changes with its content */

struct kab_answer {
	struct kab_strv lines; /* KEY=VALUE, without the closing "end" */
};

/*
 * Run one command of the agent and read its answer. prefix: words before `sh` (sudo -n), may be
 * NULL. path: the script on the target, or NULL: it is sent along as standard input (then `in` must
 * be empty). args: command and arguments. Blocks as transport exec does.
 * -1: transport errors; REMOTE when the answer is cut off or is an "error=": the text has it.
 */
int kab_agent_call(struct kab_session *s, const struct kab_strv *prefix, const char *path,
		   const struct kab_strv *args, const void *in, size_t in_len,
		   const struct kab_wait *wait, struct kab_answer *ret, struct kab_err *err);

/* Value of the first line with that key, or NULL; borrowed. */
const char *kab_answer_get(const struct kab_answer *a, const char *key);
/* As a whole number; `missing` when it is absent or not one. */
int64_t kab_answer_int(const struct kab_answer *a, const char *key, int64_t missing);
void kab_answer_release(struct kab_answer *a);

#endif
