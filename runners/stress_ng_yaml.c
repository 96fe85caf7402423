/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The document of stress-ng --yaml. Read line by line: it is not always valid YAML (a kernel version
 * that begins with '#' is not quoted), and it may stand between other lines of a log.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "runners/stress_ng.h"

void kab_stress_yaml_close(struct kab_stress_yaml *y)
{
	if (y->open && y->has_ops && y->has_rate && y->has_real) {
		if (y->row.bogo_ops == 0) {
			y->zero_rows++;
		} else {
			y->rows++;
			kab_stress_ng_add_row(&y->samples, &y->row, false);
		}
	}
	y->open = false;
}

static bool yaml_value(const char *s, const char *key, bool terminated, double *slot)
{
	const char *rest = kab_scan_after(s, key);
	struct kab_number n;

	if (!rest || !terminated || !kab_scan_quantity(rest, "", &n))
		return false;
	*slot = n.value;
	return true;
}

bool kab_stress_yaml_line(struct kab_stress_yaml *y, struct kab_scan *scan, char **version)
{
	const char *s = scan->s, *rest;
	bool end = scan->terminated;

	rest = kab_scan_after(s, "stress-ng-version:");
	if (rest && kab_scan_blanks(s) != s) {
		free(*version);
		*version = kab_scan_escape(kab_scan_blanks(rest));
		y->seen = true;
		y->ended = false;
		return true;
	}
	if (!strncmp(s, "metrics:", 8) && kab_scan_end(s + 8)) {
		kab_stress_yaml_close(y);
		y->seen = true;
		y->in_metrics = true;
		y->ended = false;
		return true;
	}
	if (!y->seen) {
		/* Learn what stands before every line, if anything. */
		rest = strstr(s, "system-info:");
		if (rest && kab_scan_end(rest + strlen("system-info:")))
			kab_scan_learn(scan, rest);
		return false;
	}
	if (!strcmp(s, "...") || !strcmp(s, "---")) {
		kab_stress_yaml_close(y);
		y->in_metrics = false;
		y->ended = y->ended || s[0] == '.';
		return true;
	}
	if (!y->in_metrics)
		return false;
	if (*s && kab_scan_blanks(s) == s) {
		/* The next section, or something else in the log. */
		if (s[strcspn(s, ": ")] == ':') {
			kab_stress_yaml_close(y);
			y->in_metrics = false;
		}
		return false;
	}
	rest = kab_scan_after(s, "- stressor:");
	if (rest) {
		char padded[KAB_STRESS_NAME_MAX + 2];

		kab_stress_yaml_close(y);
		y->row = (struct kab_stress_row){
			.cpu_pct = -1, .rss_kb = -1, .usr_s = -1, .sys_s = -1, .ops_per_cpu_s = -1
		};
		y->has_ops = y->has_rate = y->has_real = false;
		snprintf(padded, sizeof(padded), "%.*s ", KAB_STRESS_NAME_MAX,
			 kab_scan_blanks(rest));
		y->open = kab_stress_ng_name(padded, y->row.name) != NULL;
		return true;
	}
	y->has_ops = yaml_value(s, "bogo-ops:", end, &y->row.bogo_ops) || y->has_ops;
	y->has_rate = yaml_value(s, "bogo-ops-per-second-real-time:", end, &y->row.ops_per_s) ||
		      y->has_rate;
	y->has_real = yaml_value(s, "wall-clock-time:", end, &y->row.real_s) || y->has_real;
	yaml_value(s, "bogo-ops-per-second-usr-sys-time:", end, &y->row.ops_per_cpu_s);
	yaml_value(s, "user-time:", end, &y->row.usr_s);
	yaml_value(s, "system-time:", end, &y->row.sys_s);
	yaml_value(s, "cpu-usage-per-instance:", end, &y->row.cpu_pct);
	yaml_value(s, "max-rss:", end, &y->row.rss_kb);
	return true;
}
