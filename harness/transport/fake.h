/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The local transport with faults at chosen operations, for trying what the rest does when a link
 * breaks. `ssh` of the endpoint is the path of a script, one line a fault:
 *
 *	N fail|die|mute|hang
 *
 * N counts open, exec, put and get from 1, over all sessions that use the script. The count lives
 * in PATH.count and every operation is noted in PATH.log ("N exec sh -c ...").
 *
 *	fail  the operation is not done: REMOTE
 *	die   the operation is not done and the link is gone: CONNECT, as is all that follows
 *	mute  the operation is done, but its answer is lost with the link: CONNECT
 *	hang  nothing happens until the deadline or a cancellation
 *
 * A script is used by one thread at a time.
 */
#ifndef KAB_TRANSPORT_FAKE_H
#define KAB_TRANSPORT_FAKE_H

#include "transport/transport.h"

extern const struct kab_transport kab_transport_fake;

#endif
