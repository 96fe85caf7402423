/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reports/style.h"

#include <string.h>

#include "base/strv.h"
#include "reports/renderers.h"

#define STYLE(name, view, grouping, summary)                                 \
	{                                                                    \
#name, summary, kab_render_##name, kab_view_##view, grouping \
	}

const struct kab_style kab_styles[] = {
	STYLE(plain, compare, KAB_BY_METRIC, "columns of blanks, for mail (default)"),
	STYLE(grid, compare, KAB_BY_METRIC, "+---+ rules around every cell"),
	STYLE(org, compare, KAB_BY_METRIC, "org-mode table with one rule"),
	STYLE(markdown, compare, KAB_BY_METRIC, "pipes and colons, for trackers"),
	STYLE(describe, describe, KAB_BY_METRIC, "a block per kernel: count mean std min .. max"),
	STYLE(runs, runs, KAB_BY_LOAD, "a row per iteration, then average and stddev"),
	STYLE(mmtests, mmtests, KAB_BY_METRIC, "statistic and load per row, value (gain)"),
	STYLE(norm, norm, KAB_BY_METRIC, "box, then 1.00 [gain](CV) per kernel"),
	STYLE(schedtests, schedtests, KAB_BY_METRIC, "case, load, base (CV), gain (CV)"),
	STYLE(fastpath, fastpath, KAB_BY_METRIC, "RST grid, raw change with (I) or (R)"),
	STYLE(lkp, lkp, KAB_BY_PAIR, "base, change, test with relative stddev, metric last"),
	STYLE(percentiles, percentiles, KAB_BY_ROW, "min avg 50% .. 99.9% max, kernels as columns"),
	STYLE(stacked, kernels_raw, KAB_BY_METRIC, "value, std and diff below each kernel"),
	STYLE(minmax, minmax, KAB_BY_METRIC, "Min Max Avg StdDev and gain, a kernel per row"),
	STYLE(gain, gain, KAB_BY_METRIC, "load : base, test( gain)"),
	STYLE(perfstat, kernels_sem, KAB_BY_METRIC, "mean +- standard error, a line per kernel"),
	STYLE(ministat, ministat, KAB_BY_METRIC, "N Min Max Median Avg Stddev per load"),
};
const size_t kab_styles_n = sizeof(kab_styles) / sizeof(kab_styles[0]);

const struct kab_style *kab_style_find(const char *name)
{
	for (size_t i = 0; i < kab_styles_n; i++)
		if (!strcmp(kab_styles[i].name, name))
			return &kab_styles[i];
	return NULL;
}

char *kab_style_names(void)
{
	struct kab_strv kab_autostrv names = KAB_STRV_INIT;

	for (size_t i = 0; i < kab_styles_n; i++)
		kab_strv_add(&names, kab_styles[i].name);
	return kab_strv_join(&names, ", ");
}
