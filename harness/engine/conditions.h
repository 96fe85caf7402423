/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Applying conditions on a host and undoing them. Old values are noted on the target before
 * anything is written, in a folder that survives the controller, so that an interrupted run is
 * undone at the next contact. What could not be applied is an error, never a footnote.
 */
#ifndef KAB_ENGINE_CONDITIONS_H
#define KAB_ENGINE_CONDITIONS_H

#include <stdbool.h>

#include "base/err.h"
#include "model/condition.h"
#include "transport/transport.h"

/* `dir` is a folder on the target (kab_detach_base); become NULL or "sudo". All block.
 * Errors: UNSUPPORTED with what the target said (there is no such control, the value is refused or
 * did not hold), REMOTE when it did not answer, and those of the transport. */
int kab_conditions_check(struct kab_session *s, const char *become,
			 const struct kab_setting_list *set, const struct kab_wait *wait,
			 struct kab_err *err);
int kab_conditions_apply(struct kab_session *s, const char *become, const char *dir,
			 const struct kab_setting_list *set, const struct kab_wait *wait,
			 struct kab_err *err);
int kab_conditions_verify(struct kab_session *s, const char *become, const char *dir,
			  const struct kab_setting_list *set, const struct kab_wait *wait,
			  struct kab_err *err);
int kab_conditions_undo(struct kab_session *s, const char *become, const char *dir,
			const struct kab_wait *wait, struct kab_err *err);

/*
 * That a condition held to the end of a run is worth remembering when it has to be taken back before
 * the run's result is stored: a mark in the run's folder. *ret: is it there?
 */
int kab_conditions_mark(struct kab_session *s, const char *become, const char *dir,
			const char *run_id, const struct kab_wait *wait, struct kab_err *err);
int kab_conditions_marked(struct kab_session *s, const char *become, const char *dir,
			  const char *run_id, bool *ret, const struct kab_wait *wait,
			  struct kab_err *err);

#endif
