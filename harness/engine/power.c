/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/power.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/strv.h"
#include "transport/child.h"

/* Power supplies need a moment to lose their charge. */
#define OFF_S 5

static bool has(const struct kab_lab_host *host)
{
	return host->power_cycle.n || (host->power_off.n && host->power_on.n);
}

/* argv is not printed: it may hold an account. */
static int call(const struct kab_strv *given, const char *what, const struct kab_wait *wait,
		struct kab_err *err)
{
	struct kab_strv kab_autostrv argv = KAB_STRV_INIT;
	struct kab_exec req = { .out_max = 65536, .err_max = 65536 };
	struct kab_exec_result res = { 0 };
	int status;

	kab_strv_copy(&argv, given);
	req.argv = (const char *const *)kab_strv_argv(&argv);
	status = kab_child_run(&req, wait, &res, err);
	if (status == 0 && res.exit_status != 0)
		status = kab_err_set(err, KAB_ERR_ENV,
				     "the power command '%s' (%s) failed with exit status %d",
				     argv.v[0], what, res.exit_status);
	kab_exec_result_release(&res);
	return status;
}

static int cycle(const struct kab_lab_host *host, const struct kab_wait *wait, struct kab_err *err)
{
	if (host->power_cycle.n)
		return call(&host->power_cycle, "cycle", wait, err);
	if (call(&host->power_off, "off", wait, err) < 0 ||
	    kab_wait_until(kab_deadline_s(OFF_S), wait->cancel_fd, err) < 0)
		return -1;
	return call(&host->power_on, "on", wait, err);
}

const struct kab_power kab_power_command = { .name = "command", .has = has, .cycle = cycle };
