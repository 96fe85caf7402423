/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Power of a host that does not answer. An interface, because a service processor speaks HTTP and
 * that is not this layer's; the implementation that runs the lab file's commands is here.
 */
#ifndef KAB_ENGINE_POWER_H
#define KAB_ENGINE_POWER_H

#include <stdbool.h>

#include "base/err.h"
#include "model/lab.h"
#include "transport/transport.h"

struct kab_power {
	const char *name;
	bool (*has)(const struct kab_lab_host *host); /* can this host be cycled? */
	/* Off and on again, whatever state it is in; returns when the host has power. */
	int (*cycle)(const struct kab_lab_host *host, const struct kab_wait *wait,
		     struct kab_err *err);
};

/* "cycle", or "off" and "on", argv on the controller. */
extern const struct kab_power kab_power_command;

#endif
