/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A database in a folder of its own, and a small run: what the store's tests share. */
#ifndef KAB_TESTS_STORE_FIXTURE_H
#define KAB_TESTS_STORE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/internal.h"
#include "store/store.h"

struct fixture {
	char dir[64];
	char *path; /* of the database */
	struct kab_store *store;
	struct kab_err err;
};

/* cmocka setup and teardown: an empty database, opened for writing. */
int fixture_setup(void **state);
int fixture_teardown(void **state);
/* Fails the test with the text of the error when rc is not 0. */
void expect_ok(struct fixture *f, int rc, const char *file, int line);
#define OK(f, expr) expect_ok((f), (expr), __FILE__, __LINE__)
void assert_contains(const char *text, const char *part);

/* Host "h", kernels base and patched, two boots of each (blocks 0 and 1), case "c" (runner
 * "synthetic", row "") with one warm-up and two iterations a boot. steps[] is in order of sequence:
 * boot b has warm-up 3b, iterations 3b + 1 and 3b + 2; boots are base, patched, base, patched. */
#define MINI_PLAN                                                                                  \
	"{\"seed\":1,\"analysis\":{\"design\":\"unpaired\",\"reason\":\"r\"},\"judge\":{\"margin_" \
	"pct\":2,"                                                                                 \
	"\"cases\":[{\"name\":\"c\",\"runner\":\"synthetic\",\"order\":0,\"verdict\":[{"           \
	"\"metric\":\"time\","                                                                     \
	"\"margin_pct\":3.5}]}]}}"
struct mini {
	struct kab_store_run run;
	struct kab_store_host host[1];
	struct kab_store_kernel kernel[2];
	struct kab_store_boot boot[4];
	struct kab_store_step step[12];
	char *name; /* it got */
};
void mini_create(struct fixture *f, struct mini *m, const char *name, const char *plan_json);
void mini_release(struct mini *m);
void prove(struct fixture *f, int64_t boot_id, const char *build_id, const char *os_boot);
/* DONE with n samples of metric "time" in s, lower is better. */
void commit_done(struct fixture *f, int64_t iteration, const double *values, size_t n);
void commit_state(struct fixture *f, int64_t iteration, enum kab_iter_state state,
		  const char *reason);

#endif
