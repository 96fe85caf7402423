/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which kernel runs on the host, and which boot of the plan comes next. Method `none`: what runs is
 * checked; nothing is ever booted. A boot is proven by the kernel's identity and by a boot id that
 * no other boot of the run has used on this host.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "engine/lane.h"
#include "engine/probe.h"

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
		.done = lane->done,
		.total = lane->n_steps,
	};

	kab_queue_push(lane->queue, &e);
}

int kab_boot_next(struct kab_lane *lane, bool *in_session, enum kab_boot_answer *ret,
		  const char **ret_kernel, struct kab_err *err)
{
	const char *os_boot_id = kab_facts_get(&lane->facts, "boot_id");
	struct kab_boot_info *first = NULL, *chosen = NULL;

	memset(in_session, 0, lane->n_boots * sizeof(*in_session));
	for (size_t i = 0; i < lane->n_boots; i++) {
		struct kab_boot_info *boot = &lane->boots[i];

		if (!is_open(lane, boot))
			continue;
		if (!strcmp(boot->state, "proven") && strcmp(boot->os_boot_id, os_boot_id) &&
		    repeat_broken(lane, boot, err) < 0)
			return -1;
		if (!first)
			first = boot;
		if (chosen ||
		    !kab_job_kernel_matches(lane->job, lane->host->name, boot->kernel, &lane->facts,
					    NULL))
			continue;
		/* Going on with a boot, a restart in the same boot, or a boot not seen before. */
		if (!strcmp(boot->state, "proven") || boot->restart ||
		    !boot_id_used(lane, os_boot_id))
			chosen = boot;
	}
	if (!first) {
		*ret = KAB_BOOT_NOTHING;
		return 0;
	}
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
