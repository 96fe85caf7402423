/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lease on this machine, under the shell named by the first argument. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "shells.h"

static struct target tg;
static struct kab_session *s;
static struct kab_err err;

static struct kab_wait soon(void)
{
	return (struct kab_wait){ kab_deadline_s(60), -1 };
}

#define ok(call)                                             \
	do {                                                 \
		if ((call) < 0)                              \
			fail_msg("%s: %s", #call, err.text); \
	} while (0)

static void set_record(uint64_t token, const char *text)
{
	char *line kab_autofree = kab_xasprintf("echo '%s' >'%s/lock.%llu'", text, tg.lease,
						(unsigned long long)token);

	free(target_sh(line));
}

static char *boot_id(void)
{
	return target_sh("read b </proc/sys/kernel/random/boot_id; printf %s $b");
}

static long uptime_s(void)
{
	char *out kab_autofree = target_sh("read u _ </proc/uptime; echo ${u%%.*}");

	return strtol(out, NULL, 10);
}

static void test_life(void **state)
{
	struct kab_lease a, b;
	struct kab_lease_info info;
	struct kab_wait w = soon();

	(void)state;
	ok(kab_lease_show(s, tg.lease, &w, &info, &err));
	assert_int_equal(info.token, 0);
	assert_false(info.held);
	ok(kab_lease_acquire(s, tg.lease, "me@here:1", 100, 0, &w, &a, NULL, &err));
	assert_int_equal(a.token, 1);
	ok(kab_lease_show(s, tg.lease, &w, &info, &err));
	assert_true(info.held);
	assert_string_equal(info.owner, "me@here:1");
	assert_true(info.left_s > 90 && info.left_s <= 101);
	assert_int_equal(kab_lease_acquire(s, tg.lease, "you@there:2", 100, 0, &w, &b, &info, &err),
			 -1);
	assert_int_equal(err.code, KAB_ERR_BUSY);
	assert_non_null(strstr(err.text, "me@here:1"));
	assert_true(info.left_s > 90);
	ok(kab_lease_extend(s, &a, 1000, false, &w, &err));
	ok(kab_lease_show(s, tg.lease, &w, &info, &err));
	assert_true(info.left_s > 990);
	assert_int_equal(info.token, 1);
	/* the same owner again, after a crash of its controller */
	ok(kab_lease_acquire(s, tg.lease, "me@here:1", 100, 0, &w, &b, NULL, &err));
	assert_int_equal(b.token, 2);
	assert_int_equal(kab_lease_extend(s, &a, 10, false, &w, &err), -1);
	assert_int_equal(err.code, KAB_ERR_BUSY);
	ok(kab_lease_release(s, &a, &w, &err)); /* of an old token: nothing happens */
	ok(kab_lease_show(s, tg.lease, &w, &info, &err));
	assert_true(info.held);
	ok(kab_lease_release(s, &b, &w, &err));
	assert_int_equal(b.token, 0);
	ok(kab_lease_show(s, tg.lease, &w, &info, &err));
	assert_false(info.held);
	assert_int_equal(info.token, 3);
	ok(kab_lease_acquire(s, tg.lease, "you@there:2", 100, 0, &w, &b, NULL, &err));
	assert_int_equal(b.token, 4);
	ok(kab_lease_break(s, tg.lease, &w, &info, &err));
	assert_string_equal(info.owner, "you@there:2");
	assert_int_equal(kab_lease_extend(s, &b, 10, false, &w, &err), -1);
	assert_int_equal(err.code, KAB_ERR_BUSY);
}

static void test_bad_owners(void **state)
{
	static const char *const bad[] = { "", "-", "a b", "a\nb", "back\\slash" };
	struct kab_wait w = soon();
	struct kab_lease a;

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(bad); i++)
		assert_int_equal(kab_lease_acquire(s, tg.lease, bad[i], 9, 0, &w, &a, NULL, &err),
				 -1);
}

static void test_expiry_and_reboot(void **state)
{
	char *boot kab_autofree = boot_id();
	struct kab_wait w = soon();
	struct kab_lease_info info;
	struct kab_lease a;

	(void)state;
	/* Its time is over on the target's uptime. */
	char *old kab_autofree = kab_xasprintf("x %s %ld 60 0", boot, uptime_s() - 61);
	set_record(50, old);
	ok(kab_lease_acquire(s, tg.lease, "a", 60, 0, &w, &a, NULL, &err));
	assert_int_equal(a.token, 51);
	/* Of another boot: free at once ... */
	set_record(60, "x other-boot 5 100000 0");
	ok(kab_lease_show(s, tg.lease, &w, &info, &err));
	assert_false(info.held);
	/* ... unless it was to survive; then it counts from the start of this boot. */
	char *persist kab_autofree = kab_xasprintf("x other-boot 5 %ld 1", uptime_s() + 100);
	set_record(60, persist);
	ok(kab_lease_show(s, tg.lease, &w, &info, &err));
	assert_true(info.held && info.persist);
	assert_true(info.left_s > 90 && info.left_s <= 100);
	set_record(60, "x other-boot 5 1 1");
	ok(kab_lease_acquire(s, tg.lease, "b", 60, 0, &w, &a, NULL, &err));
	assert_int_equal(a.token, 61);
	ok(kab_lease_extend(s, &a, 600, true, &w, &err));
	ok(kab_lease_show(s, tg.lease, &w, &info, &err));
	assert_true(info.persist && info.left_s > 590);
	ok(kab_lease_release(s, &a, &w, &err));
}

/* A run goes on after the time of its lease is over. */
static void test_leftover_run(void **state)
{
	struct kab_detach *d = target_open(&tg, s);
	const char *const argv[] = { "sleep", "50", NULL };
	struct kab_detach_spec spec = { .run_id = "left", .argv = argv, .timeout_s = 60 };
	char *boot kab_autofree = boot_id();
	struct kab_detach_result res;
	struct kab_wait w = soon();
	struct kab_lease_info info;
	struct kab_lease a, b;

	(void)state;
	ok(kab_lease_acquire(s, tg.lease, "first", 60, 0, &w, &a, NULL, &err));
	spec.lease_dir = tg.lease;
	spec.token = a.token;
	ok(kab_detach_start(d, &spec, &w, &res, &err));
	/* The first owner comes back: its own run is no obstacle. */
	ok(kab_lease_acquire(s, tg.lease, "first", 60, 0, &w, &a, NULL, &err));
	char *old kab_autofree = kab_xasprintf("first %s %ld 60 0", boot, uptime_s() - 61);
	set_record(a.token, old);
	assert_int_equal(kab_lease_acquire(s, tg.lease, "second", 60, 0, &w, &b, &info, &err), -1);
	assert_int_equal(err.code, KAB_ERR_BUSY);
	assert_true(info.running && !info.held);
	assert_non_null(strstr(info.run, "/left"));
	ok(kab_lease_acquire(s, tg.lease, "second", 60, KAB_LEASE_KILL_LEFTOVER, &w, &b, &info,
			     &err));
	ok(kab_detach_status(d, "left", &w, &res, &err));
	assert_int_equal(res.state, KAB_DETACH_DONE);
	assert_true(res.killed);
	ok(kab_lease_release(s, &b, &w, &err));
	kab_detach_close(d);
}

struct thief {
	pthread_t th;
	char owner[16];
	bool got, busy;
};

static void *steal(void *arg)
{
	struct thief *t = arg;
	struct kab_session *mine = target_session();
	struct kab_wait w = soon();
	struct kab_err e = KAB_ERR_INIT;
	struct kab_lease lease;

	t->got = kab_lease_acquire(mine, tg.lease, t->owner, 60, 0, &w, &lease, NULL, &e) == 0;
	t->busy = !t->got && e.code == KAB_ERR_BUSY;
	if (!t->got && !t->busy)
		fprintf(stderr, "%s: %s\n", t->owner, e.text);
	mine->ops->close(mine);
	return NULL;
}

/* Twelve at once on a stale lease: one gets it, the others are told who. */
static void test_thieves(void **state)
{
	(void)state;
	for (int round = 0; round < 8; round++) {
		struct thief t[12] = { 0 };
		struct kab_wait w = soon();
		struct kab_lease_info info;
		const char *winner = NULL;
		int got = 0, busy = 0;

		ok(kab_lease_show(s, tg.lease, &w, &info, &err));
		set_record(info.token + 1, "dead other-boot 1 60 0");
		for (size_t i = 0; i < KAB_ARRAY_SIZE(t); i++) {
			snprintf(t[i].owner, sizeof(t[i].owner), "thief%zu", i);
			assert_int_equal(pthread_create(&t[i].th, NULL, steal, &t[i]), 0);
		}
		for (size_t i = 0; i < KAB_ARRAY_SIZE(t); i++) {
			pthread_join(t[i].th, NULL);
			got += t[i].got;
			busy += t[i].busy;
			if (t[i].got)
				winner = t[i].owner;
		}
		assert_int_equal(got, 1);
		assert_int_equal(busy, 11);
		ok(kab_lease_break(s, tg.lease, &w, &info, &err));
		assert_string_equal(info.owner, winner);
	}
	/* Old generations are swept, the newest is what counts. */
	char *line kab_autofree = kab_xasprintf("ls '%s' | wc -l", tg.lease);
	char *out kab_autofree = target_sh(line);
	assert_true(strtol(out, NULL, 10) <= 5);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_bad_owners),
		cmocka_unit_test(test_expiry_and_reboot),
		cmocka_unit_test(test_leftover_run),
		cmocka_unit_test(test_thieves),
	};
	int rc;

	target_setup(&tg, argc > 1 ? argv[1] : "dash");
	s = target_session();
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	s->ops->close(s);
	target_remove(&tg);
	return rc;
}
