/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs whose length follows the data, by a rule that was fixed before them. A host is done when the
 * rule is content with all its rows that carry verdicts, or at the hard maximum; until then the next
 * block of the plan (made from the recorded seed) is added. Each host stops on its own.
 */
#ifndef KAB_ENGINE_ADAPTIVE_H
#define KAB_ENGINE_ADAPTIVE_H

#include "engine/lane.h"

/*
 * Call when every planned step of the host has a final state. *ret_more: blocks were added to the
 * store and to the lane. Blocks on the store. Without a rule: nothing.
 */
int kab_adaptive_next(struct kab_lane *lane, bool *ret_more, struct kab_err *err);

#endif
