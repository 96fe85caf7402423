/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which kernel runs on the host, and which boot of the plan comes next. Method `none`: what runs is
 * checked; nothing is ever booted. The other methods bring the host into the next kernel of the plan.
 * A boot is proven by the kernel's identity and by a boot id that no other boot of the run has used
 * on this host.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "engine/lane.h"
#include "engine/probe.h"
#include "engine/reboot.h"

static bool has_open_steps(const struct kab_lane *lane, int64_t boot_id)
{
	for (size_t i = 0; i < lane->n_steps; i++)
		if (lane->steps[i].boot_id == boot_id &&
		    (lane->steps[i].state == KAB_ITER_PENDING ||
		     lane->steps[i].state == KAB_ITER_RUNNING))
			return true;
	return false;
}

static bool is_open(const struct kab_lane *lane, const struct kab_boot_info *boot)
{
	return (!strcmp(boot->state, "planned") || !strcmp(boot->state, "proven")) &&
	       has_open_steps(lane, boot->id);
}

static bool boot_id_used(const struct kab_lane *lane, const char *os_boot_id)
{
	for (size_t i = 0; i < lane->n_boots; i++)
		if (lane->boots[i].os_boot_id && !strcmp(lane->boots[i].os_boot_id, os_boot_id))
			return true;
	return false;
}

/* A boot that was proven, but the host has been restarted since: its open steps move to a new one. */
static int repeat_broken(struct kab_lane *lane, struct kab_boot_info *boot, struct kab_err *err)
{
	int64_t again;

	if (kab_store_boot_state(lane->opts->store, boot->id, "broken",
				 "the host was restarted before the boot was complete", err) < 0 ||
	    kab_store_boot_again(lane->opts->store, boot->id, &again, err) < 0)
		return -1;
	kab_lane_note(lane, "boot %d of '%s' was cut short by a restart; it is done again",
		      boot->sequence, boot->kernel);
	for (size_t i = 0; i < lane->n_steps; i++)
		if (lane->steps[i].boot_id == boot->id &&
		    (lane->steps[i].state == KAB_ITER_PENDING ||
		     lane->steps[i].state == KAB_ITER_RUNNING))
			lane->steps[i].boot_id = again;
	free(boot->state);
	free(boot->os_boot_id);
	boot->state = kab_xstrdup("planned");
	boot->os_boot_id = kab_xstrdup("");
	boot->id = again;
	return 0;
}

static void say_wrong_clock(struct kab_lane *lane, const struct kab_boot_info *boot)
{
	const char *offset = kab_facts_get(&lane->facts, "clock_offset_s");
	char *text kab_autofree = NULL;

	if (!*offset)
		return;
	text = kab_xasprintf("the clock of host '%s' is %s s %s", lane->host->name,
			     offset + (*offset == '-'), *offset == '-' ? "slow" : "fast");
	kab_lane_note(lane, "%s; durations and the order do not depend on it", text);
	kab_store_event(lane->opts->store, lane->job->info.id, boot->id, "wrong-clock", text, NULL);
}

static int prove(struct kab_lane *lane, struct kab_boot_info *boot, struct kab_err *err)
{
	const char *os_boot_id = kab_facts_get(&lane->facts, "boot_id");
	struct kab_kernel_id id = { 0 };
	int status;

	if (!strcmp(boot->state, "proven"))
		return 0;
	kab_probe_kernel_id(&lane->facts, &id);
	status = kab_store_boot_proven(lane->opts->store, boot->id, &id, lane->machine_hash,
				       os_boot_id, &lane->facts, kab_now_wall_ns(), err);
	kab_kernel_id_release(&id);
	if (status < 0)
		return -1;
	free(boot->state);
	free(boot->os_boot_id);
	boot->state = kab_xstrdup("proven");
	boot->os_boot_id = kab_xstrdup(os_boot_id);
	say_wrong_clock(lane, boot);
	return 0;
}

static void boot_event(struct kab_lane *lane, const struct kab_boot_info *boot)
{
	struct kab_event e = {
		.kind = KAB_EVENT_BOOT,
		.host = lane->host->name,
		.kernel = boot->kernel,
		.text = (char *)kab_facts_get(&lane->facts, "release"),
		.iteration = boot->sequence,
		.warmup = boot->restart,
		.block = boot->block + 1,
		.blocks = lane->job->boots,
		.done = lane->done,
		.total = lane->n_steps,
	};

	kab_queue_push(lane->queue, &e);
}

/* Method none: the first open boot that what runs now can serve. */
static struct kab_boot_info *choose_running(struct kab_lane *lane)
{
	const char *os_boot_id = kab_facts_get(&lane->facts, "boot_id");

	for (size_t i = 0; i < lane->n_boots; i++) {
		struct kab_boot_info *boot = &lane->boots[i];

		if (!is_open(lane, boot) ||
		    !kab_job_kernel_matches(lane->job, lane->host->name, boot->kernel, &lane->facts,
					    NULL))
			continue;
		/* Going on with a boot, a restart in the same boot, or a boot not seen before. */
		if (!strcmp(boot->state, "proven") || boot->restart ||
		    !boot_id_used(lane, os_boot_id))
			return boot;
	}
	return NULL;
}

/* This kernel does not boot here: none of its boots will be tried again. */
static int give_up(struct kab_lane *lane, const char *kernel, const char *why, struct kab_err *err)
{
	char *reason kab_autofree = kab_xasprintf("kernel '%s' does not boot on '%s': %s", kernel,
						  lane->host->name, why);

	for (size_t i = 0; i < lane->n_boots; i++) {
		struct kab_boot_info *boot = &lane->boots[i];

		if (strcmp(boot->kernel, kernel) || !is_open(lane, boot))
			continue;
		if (kab_store_boot_state(lane->opts->store, boot->id, "failed", reason, err) < 0)
			return -1;
		for (size_t k = 0; k < lane->n_steps; k++)
			if (lane->steps[k].boot_id == boot->id &&
			    (lane->steps[k].state == KAB_ITER_PENDING ||
			     lane->steps[k].state == KAB_ITER_RUNNING) &&
			    kab_step_missing(lane, &lane->steps[k], boot, reason, err) < 0)
				return -1;
		free(boot->state);
		boot->state = kab_xstrdup("failed");
	}
	kab_lane_note(lane, "%s; going on without it", reason);
	return 0;
}

/* Bring the host into the kernel of the first open boot. 1: that kernel was given up. */
static int boot_it(struct kab_lane *lane, struct kab_boot_info *boot, struct kab_err *err)
{
	char *why kab_autofree = NULL;
	int status;

	if (!strcmp(boot->state, "proven"))
		return 0;
	status = kab_reboot_into(lane, boot, &why, err);
	if (status > 0 && give_up(lane, boot->kernel, why ? why : "no reason known", err) < 0)
		return -1;
	return status;
}

/* A proven boot is over when the host has been restarted since. */
static int repeat_if_broken(struct kab_lane *lane, struct kab_err *err)
{
	const char *os_boot_id = kab_facts_get(&lane->facts, "boot_id");

	for (size_t i = 0; i < lane->n_boots; i++) {
		struct kab_boot_info *boot = &lane->boots[i];

		if (is_open(lane, boot) && !strcmp(boot->state, "proven") &&
		    strcmp(boot->os_boot_id, os_boot_id) && repeat_broken(lane, boot, err) < 0)
			return -1;
	}
	return 0;
}

static struct kab_boot_info *first_open(const struct kab_lane *lane)
{
	for (size_t i = 0; i < lane->n_boots; i++)
		if (is_open(lane, &lane->boots[i]))
			return &lane->boots[i];
	return NULL;
}

int kab_boot_next(struct kab_lane *lane, bool *in_session, enum kab_boot_answer *ret,
		  const char **ret_kernel, struct kab_err *err)
{
	bool booting = lane->host->boot != KAB_BOOT_NONE;
	struct kab_boot_info *first, *chosen;
	int status;

	memset(in_session, 0, lane->n_boots * sizeof(*in_session));
	if (repeat_if_broken(lane, err) < 0)
		return -1;
	do {
		first = first_open(lane);
		if (!first) {
			*ret = KAB_BOOT_NOTHING;
			return 0;
		}
		chosen = booting ? first : choose_running(lane);
		status = booting ? boot_it(lane, chosen, err) : 0;
		if (status < 0)
			return -1;
	} while (status > 0);
	if (!chosen) {
		*ret = KAB_BOOT_USER;
		*ret_kernel = first->kernel;
		return 0;
	}
	for (size_t i = 0; i < lane->n_boots; i++) {
		struct kab_boot_info *boot = &lane->boots[i];

		if (boot != chosen && !(chosen->restart && boot->block == chosen->block))
			continue;
		if (!is_open(lane, boot))
			continue;
		if (prove(lane, boot, err) < 0)
			return -1;
		in_session[i] = true;
	}
	boot_event(lane, chosen);
	*ret = KAB_BOOT_READY;
	return 0;
}
