/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Metrics that do not come from a benchmark's own words: of the invocation, and of GNU time. */
#include <string.h>

#include "base/alloc.h"
#include "runners/runner.h"
#include "runners/scan.h"

const struct kab_metric_def kab_invocation_metrics[] = {
	{ "invocation_elapsed", "s", KAB_DIR_LOWER, false, "time from start to end" },
	{ "invocation_user", "s", KAB_DIR_LOWER, false, "user time of all its processes" },
	{ "invocation_system", "s", KAB_DIR_LOWER, false, "system time of all its processes" },
	{ "invocation_max_rss", "KB", KAB_DIR_LOWER, false, "largest resident set of a process" },
};
const size_t kab_invocation_metrics_n = KAB_ARRAY_SIZE(kab_invocation_metrics);

static const struct kab_metric_def of_logs[] = { KAB_GNU_TIME_METRICS };

bool kab_metric_is_of_logs(const struct kab_metric_def *metric, const char **ret_instead)
{
	static const char *const instead[][2] = { { "elapsed", "invocation_elapsed" },
						  { "user_time", "invocation_user" },
						  { "system_time", "invocation_system" },
						  { "max_rss", "invocation_max_rss" } };
	bool found = false;

	*ret_instead = NULL;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(of_logs); i++)
		found = found || !strcmp(of_logs[i].name, metric->name);
	for (size_t i = 0; found && i < KAB_ARRAY_SIZE(instead); i++)
		if (!strcmp(instead[i][0], metric->name))
			*ret_instead = instead[i][1];
	return found;
}
