/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/lease.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strv.h"
#include "engine/agent.h"

static bool owner_ok(const char *owner)
{
	size_t n = owner ? strlen(owner) : 0;

	if (n < 1 || n >= KAB_LEASE_OWNER_MAX || strcmp(owner, "-") == 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (owner[i] <= ' ' || owner[i] > '~' || owner[i] == '\\')
			return false;
	return true;
}

/* The script goes along each time: a lease is asked for before there is a folder for runs. */
static int call(struct kab_session *s, const struct kab_strv *args, const struct kab_wait *wait,
		struct kab_answer *ret, struct kab_err *err)
{
	if (kab_agent_call(s, NULL, NULL, args, NULL, 0, wait, ret, err) < 0)
		return -1;
	return 0;
}

static void read_info(const struct kab_answer *a, struct kab_lease_info *info)
{
	const char *owner = kab_answer_get(a, "owner");
	const char *run = kab_answer_get(a, "running");

	*info = (struct kab_lease_info){ 0 };
	info->token = (uint64_t)kab_answer_int(a, "token", 0);
	info->left_s = kab_answer_int(a, "left", 0);
	info->persist = kab_answer_int(a, "persist", 0) != 0;
	if (owner && strcmp(owner, "-") != 0)
		snprintf(info->owner, sizeof(info->owner), "%s", owner);
	info->held = info->owner[0] && info->left_s > 0;
	snprintf(info->run, sizeof(info->run), "%s", run ? run : "");
	info->running = info->run[0] != '\0';
}

static int busy(struct kab_session *s, const struct kab_lease_info *info, struct kab_err *err)
{
	const char *owner = info->owner[0] ? info->owner : "nobody";
	char left[64] = "";

	if (info->held)
		snprintf(left, sizeof(left), " for another %lld s unless it is extended",
			 (long long)info->left_s);
	if (info->held && info->running)
		return kab_err_set(err, KAB_ERR_BUSY,
				   "host '%s' is held by %s%s, and its run '%s' is going on",
				   s->ep->name, owner, left, info->run);
	if (info->held)
		return kab_err_set(err, KAB_ERR_BUSY, "host '%s' is held by %s%s", s->ep->name,
				   owner, left);
	if (info->running)
		return kab_err_set(err, KAB_ERR_BUSY,
				   "host '%s': nobody holds it now, but the run '%s' of a former "
				   "owner is still alive there",
				   s->ep->name, info->run);
	return kab_err_set(err, KAB_ERR_BUSY, "host '%s': the lease was released or taken away",
			   s->ep->name);
}

/* Answers with busy=1 become the error. 0: not busy. */
static int check_busy(struct kab_session *s, const struct kab_answer *a,
		      struct kab_lease_info *info, struct kab_err *err)
{
	struct kab_lease_info mine;

	if (!kab_answer_get(a, "busy"))
		return 0;
	read_info(a, info ? info : &mine);
	return busy(s, info ? info : &mine, err);
}

int kab_lease_acquire(struct kab_session *s, const char *dir, const char *owner, int64_t ttl_s,
		      unsigned flags, const struct kab_wait *wait, struct kab_lease *ret,
		      struct kab_lease_info *info, struct kab_err *err)
{
	struct kab_strv args kab_autostrv = KAB_STRV_INIT;
	struct kab_answer a;
	int rc;

	*ret = (struct kab_lease){ 0 };
	if (!dir)
		dir = KAB_LEASE_DIR;
	if (!owner_ok(owner) || strlen(dir) >= sizeof(ret->dir))
		return kab_err_set(err, KAB_ERR_INTERNAL, "'%s' cannot own a lease in '%s'",
				   owner ? owner : "", dir);
	kab_strv_add(&args, "lease-acquire");
	kab_strv_add(&args, dir);
	kab_strv_add(&args, owner);
	kab_strv_addf(&args, "%lld",
		      (long long)(ttl_s < KAB_LEASE_TTL_MIN ? KAB_LEASE_TTL_MIN : ttl_s));
	kab_strv_add(&args, flags & KAB_LEASE_KILL_LEFTOVER ? "1" : "0");
	if (call(s, &args, wait, &a, err) < 0)
		return -1;
	rc = check_busy(s, &a, info, err);
	if (rc == 0) {
		ret->token = (uint64_t)kab_answer_int(&a, "token", 0);
		if (!ret->token)
			rc = kab_err_set(err, KAB_ERR_PARSE,
					 "host '%s': the lease came without a number", s->ep->name);
		snprintf(ret->owner, sizeof(ret->owner), "%s", owner);
		snprintf(ret->dir, sizeof(ret->dir), "%s", dir);
	}
	kab_answer_release(&a);
	return rc;
}

int kab_lease_extend(struct kab_session *s, const struct kab_lease *lease, int64_t ttl_s,
		     bool persist, const struct kab_wait *wait, struct kab_err *err)
{
	struct kab_strv args kab_autostrv = KAB_STRV_INIT;
	struct kab_answer a;
	int rc;

	kab_strv_add(&args, "lease-extend");
	kab_strv_add(&args, lease->dir);
	kab_strv_add(&args, lease->owner);
	kab_strv_addf(&args, "%lld",
		      (long long)(ttl_s < KAB_LEASE_TTL_MIN ? KAB_LEASE_TTL_MIN : ttl_s));
	kab_strv_add(&args, persist ? "1" : "0");
	kab_strv_addf(&args, "%llu", (unsigned long long)lease->token);
	if (call(s, &args, wait, &a, err) < 0)
		return -1;
	rc = check_busy(s, &a, NULL, err);
	kab_answer_release(&a);
	return rc;
}

int kab_lease_release(struct kab_session *s, struct kab_lease *lease, const struct kab_wait *wait,
		      struct kab_err *err)
{
	struct kab_strv args kab_autostrv = KAB_STRV_INIT;
	struct kab_answer a;

	if (!lease->token)
		return 0;
	kab_strv_add(&args, "lease-release");
	kab_strv_add(&args, lease->dir);
	kab_strv_add(&args, lease->owner);
	kab_strv_addf(&args, "%llu", (unsigned long long)lease->token);
	if (call(s, &args, wait, &a, err) < 0)
		return -1;
	kab_answer_release(&a);
	lease->token = 0;
	return 0;
}

static int ask(struct kab_session *s, const char *command, const char *dir,
	       const struct kab_wait *wait, struct kab_lease_info *info, struct kab_err *err)
{
	struct kab_strv args kab_autostrv = KAB_STRV_INIT;
	struct kab_answer a;

	kab_strv_add(&args, command);
	kab_strv_add(&args, dir ? dir : KAB_LEASE_DIR);
	if (call(s, &args, wait, &a, err) < 0)
		return -1;
	if (info)
		read_info(&a, info);
	kab_answer_release(&a);
	return 0;
}

int kab_lease_show(struct kab_session *s, const char *dir, const struct kab_wait *wait,
		   struct kab_lease_info *info, struct kab_err *err)
{
	return ask(s, "lease-show", dir, wait, info, err);
}

int kab_lease_break(struct kab_session *s, const char *dir, const struct kab_wait *wait,
		    struct kab_lease_info *info, struct kab_err *err)
{
	return ask(s, "lease-break", dir, wait, info, err);
}
