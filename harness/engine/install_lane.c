/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Before the first boot of a lane: every kernel that comes from files is put on the host. */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "engine/install.h"
#include "engine/lane.h"

#define RECONNECT_S 600.0
#define CALL_S 60.0

static int lane_reconnect(void *ctx, struct kab_session **ret, struct kab_err *err)
{
	struct kab_lane *lane = ctx;

	if (kab_lane_reconnect(lane, kab_deadline_s(RECONNECT_S), err) < 0)
		return -1;
	*ret = lane->session;
	return 0;
}

static int lane_alive(void *ctx, int64_t seconds, struct kab_err *err)
{
	struct kab_lane *lane = ctx;
	struct kab_wait wait = kab_lane_wait(lane, CALL_S);

	/* What is uploaded already stays there for the next time. */
	if (kab_lane_stopping(lane))
		return kab_err_set(err, KAB_ERR_CANCELLED, "interrupted");
	if (kab_lease_extend(lane->session, &lane->lease, seconds, false, &wait, err) == 0)
		return 0;
	/* A lost link is found out, and cured, by the next piece of the upload. */
	if (!kab_lane_link_lost(err))
		return -1;
	kab_err_clear(err);
	return 0;
}

static void lane_note(void *ctx, const char *text)
{
	kab_lane_note(ctx, "%s", text);
}

static bool is_needed(const struct kab_lane *lane, const char *label)
{
	for (size_t b = 0; b < lane->n_boots; b++)
		for (size_t i = 0; i < lane->n_steps; i++)
			if (!strcmp(lane->boots[b].kernel, label) &&
			    lane->steps[i].boot_id == lane->boots[b].id &&
			    (lane->steps[i].state == KAB_ITER_PENDING ||
			     lane->steps[i].state == KAB_ITER_RUNNING))
				return true;
	return false;
}

static void event(struct kab_lane *lane, const char *kind, const char *text)
{
	kab_store_event(lane->opts->store, lane->job->info.id, 0, kind, text, NULL);
}

static int install_one(struct kab_lane *lane, const struct kab_kernel *kernel, char **ret_release,
		       struct kab_err *err)
{
	struct kab_install in = {
		.host = lane->host,
		.session = lane->session,
		.cancel_fd = lane->opts->cancel_fd,
		.reconnect = lane_reconnect,
		.alive = lane_alive,
		.note = lane_note,
		.ctx = lane,
	};
	struct kab_strv kab_autostrv warnings = KAB_STRV_INIT;
	char *text kab_autofree = NULL;
	bool is_new;

	if (kab_install_kernel(&in, kernel, ret_release, &is_new, &warnings, err) < 0) {
		text = kab_xasprintf("host '%s': %s", lane->host->name, err->text);
		event(lane, "kernel-not-installed", text);
		return -1;
	}
	for (size_t i = 0; i < warnings.n; i++) {
		char *line kab_autofree =
			kab_xasprintf("host '%s', kernel '%s': %s", lane->host->name, kernel->label,
				      warnings.v[i]);

		event(lane, "kernel-warning", line);
		kab_lane_note(lane, "kernel '%s': %s", kernel->label, warnings.v[i]);
	}
	text = kab_xasprintf("host '%s', kernel '%s': %s %s, artefact %.16s", lane->host->name,
			     kernel->label, *ret_release,
			     is_new ? "was installed" : "was there already", kernel->key);
	event(lane, "kernel-installed", text);
	kab_lane_note(lane, "kernel '%s' is %s%s", kernel->label, *ret_release,
		      is_new ? ", installed" : ", as installed before");
	return 0;
}

/* The i-th kernel of the run as this host has it; NULL: not at all. */
static const struct kab_kernel *on_host(const struct kab_lane *lane, size_t i)
{
	return kab_kernel_for_host(&lane->job->kernels.v[i], lane->host->name);
}

/* Labels of one release have to be one kernel: what boots would not be told apart. */
static int check_twins(const struct kab_lane *lane, struct kab_err *err)
{
	const struct kab_kernel_list *list = &lane->job->kernels;

	for (size_t i = 0; i < list->n; i++) {
		for (size_t k = 0; k < i; k++) {
			const struct kab_kernel *a = on_host(lane, k), *b = on_host(lane, i);

			if (!a || !b || !*lane->releases.v[i] ||
			    strcmp(lane->releases.v[i], lane->releases.v[k]))
				continue;
			if (a->key && b->key && strcmp(a->key, b->key))
				return kab_err_set(
					err, KAB_ERR_CONFIG,
					"kernels '%s' and '%s' are two builds of one release, %s; "
					"build with another CONFIG_LOCALVERSION",
					a->label, b->label, lane->releases.v[i]);
		}
	}
	return 0;
}

int kab_lane_install(struct kab_lane *lane, struct kab_err *err)
{
	const struct kab_kernel_list *list = &lane->job->kernels;
	struct kab_wait wait;
	bool any = false;

	for (size_t i = 0; i < list->n; i++) {
		const struct kab_kernel *kernel = on_host(lane, i);
		char *release kab_autofree = NULL;

		if (!kernel) {
			kab_strv_add(&lane->releases, "");
			continue;
		}
		if (kab_install_has_files(kernel) && is_needed(lane, kernel->label)) {
			if (kab_lane_stopping(lane))
				return kab_err_set(err, KAB_ERR_CANCELLED, "interrupted");
			if (install_one(lane, kernel, &release, err) < 0)
				return -1;
			any = true;
		}
		kab_strv_add(&lane->releases, release		? release
					      : kernel->release ? kernel->release
								: "");
	}
	if (!any)
		return 0;
	wait = kab_lane_wait(lane, CALL_S);
	if (kab_install_tidy(lane->host, lane->session, &wait, err) < 0)
		return -1;
	return check_twins(lane, err);
}
