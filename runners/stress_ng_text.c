/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Single lines of stress-ng, 0.05 to 0.21. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "runners/stress_ng.h"

enum kab_stress_tag kab_stress_ng_tag(const char *s, const char **ret_at, const char **ret_text)
{
	static const struct {
		const char *word;
		enum kab_stress_tag tag;
	} tags[] = {
		{ "info:", KAB_STRESS_INFO },	  { "metrc:", KAB_STRESS_METRC },
		{ "fail:", KAB_STRESS_FAIL },	  { "error:", KAB_STRESS_FAIL },
		{ "fatal:", KAB_STRESS_FAIL },	  { "warn:", KAB_STRESS_INFO },
		{ "debug:", KAB_STRESS_INFO },	  { "skip:", KAB_STRESS_INFO },
		{ "metrics:", KAB_STRESS_METRC }, { "note:", KAB_STRESS_INFO },
	};
	const char *p = s;

	while ((p = strstr(p, "stress-ng: "))) {
		const char *at = p;

		p = kab_scan_blanks(p + strlen("stress-ng:"));
		if (*p >= '0' && *p <= '9') { /* --timestamp */
			p += strspn(p, "0123456789:.,-T");
			p = kab_scan_blanks(p);
		}
		for (size_t i = 0; i < KAB_ARRAY_SIZE(tags); i++) {
			const char *text = kab_scan_after(p, tags[i].word), *pid;

			if (!text)
				continue;
			pid = kab_scan_after(text, "[");
			if (pid) {
				pid += strspn(pid, "0123456789");
				if (*pid == ']')
					text = pid + 1;
			}
			*ret_at = at;
			*ret_text = text;
			return tags[i].tag;
		}
	}
	return KAB_STRESS_UNTAGGED;
}

double kab_stress_ng_duration(const char *s)
{
	static const struct {
		const char *word;
		double seconds;
	} units[] = { { "s", 1 },	{ "sec", 1 },	       { "second", 1 },
		      { "min", 60 },	{ "minute", 60 },      { "hour", 3600 },
		      { "day", 86400 }, { "week", 7 * 86400 }, { "year", 365.25 * 86400 } };
	double total = 0;
	bool any = false;

	for (;;) {
		struct kab_number n;
		const char *end = kab_scan_number(s, &n);
		double factor = 0;
		size_t len;

		end = end ? kab_scan_blanks(end) : NULL;
		if (!end)
			break;
		len = strspn(end, "abcdefghijklmnopqrstuvwxyz");
		for (size_t i = 0; i < KAB_ARRAY_SIZE(units); i++) {
			size_t n_word = strlen(units[i].word);

			if (!strncmp(end, units[i].word, n_word) &&
			    (len == n_word || (len == n_word + 1 && end[n_word] == 's')))
				factor = units[i].seconds;
		}
		if (factor == 0)
			break;
		total += factor * n.value;
		any = true;
		s = end + len;
		if (*s != ',')
			break;
		s++;
	}
	return any ? total : -1;
}

const char *kab_stress_ng_name(const char *s, char name[KAB_STRESS_NAME_MAX])
{
	size_t len;

	s = kab_scan_blanks(s);
	if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z')))
		return NULL;
	len = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");
	if (len >= KAB_STRESS_NAME_MAX || (s[len] != ' ' && s[len] != '\t'))
		return NULL;
	memcpy(name, s, len);
	name[len] = '\0';
	return s + len;
}

bool kab_stress_ng_row(const char *text, const struct kab_stress_columns *columns, bool terminated,
		       struct kab_stress_row *ret)
{
	struct kab_number n[8];
	const char *p = kab_stress_ng_name(text, ret->name);
	size_t found = 0, wanted;

	if (!p)
		return false;
	while (found < KAB_ARRAY_SIZE(n)) {
		const char *end = kab_scan_number(p, &n[found]);

		/* A figure ends at a blank: "5.00x" is none. */
		if (!end || !(*end == '\0' || kab_scan_blanks(end) != end))
			break;
		found++;
		p = end;
	}
	wanted = columns->known ? 6u + columns->cpu + columns->rss : found;
	if (found < 6 || found > wanted || n[0].decimals != 0 || !kab_scan_end(p))
		return false;
	for (size_t i = 1; i < 6; i++)
		if (n[i].decimals < 2)
			return false;
	/* A cut line may have lost digits of its last figure: two decimals are whole. */
	if (!terminated && n[found - 1].decimals < 2)
		found--;
	ret->bogo_ops = n[0].value;
	ret->real_s = n[1].value;
	ret->usr_s = n[2].value;
	ret->sys_s = n[3].value;
	ret->ops_per_s = n[4].value;
	ret->ops_per_cpu_s = n[5].value;
	ret->cpu_pct = found > 6 ? n[6].value : -1;
	ret->rss_kb = found > 7 ? n[7].value : -1;
	return true;
}

static const char *find_nocase_per(const char *label)
{
	const char *p = strstr(label, "per sec");

	return p ? p : strstr(label, "/sec");
}

/* Direction and unit come from the words: that is all there is. */
static void judge_label(struct kab_stress_misc *misc)
{
	static const struct {
		const char *start;
		const char *unit;
	} times[] = {
		{ "nanosec", "ns" },  { "microsec", "us" }, { "usec", "us" },
		{ "millisec", "ms" }, { "msec", "ms" },	    { "secs ", "s" },
		{ "seconds ", "s" },
	};
	const char *label = misc->label;

	for (size_t i = 0; i < KAB_ARRAY_SIZE(times); i++) {
		if (!strncmp(label, times[i].start, strlen(times[i].start))) {
			misc->dir = KAB_DIR_LOWER;
			misc->unit = times[i].unit;
			return;
		}
	}
	misc->dir = KAB_DIR_NONE;
	misc->unit = "";
	if (*label == '%') {
		misc->unit = "%";
		if (strstr(label, "succe"))
			misc->dir = KAB_DIR_HIGHER;
	} else if (strstr(label, "MB per sec") || strstr(label, "MB/sec")) {
		misc->unit = "MB/s";
		misc->dir = KAB_DIR_HIGHER;
	} else if (find_nocase_per(label)) {
		misc->unit = "1/s";
		misc->dir = KAB_DIR_HIGHER;
	} else {
		size_t len = strlen(label);

		if (len > 5 &&
		    (!strcmp(label + len - 5, " read") || !strcmp(label + len - 5, " sent")))
			misc->dir = KAB_DIR_HIGHER;
	}
}

bool kab_stress_ng_misc(const char *text, bool free_form, struct kab_stress_misc *ret)
{
	const char *p = kab_stress_ng_name(text, ret->name), *close, *open;
	struct kab_number n;
	size_t len;

	p = p ? kab_scan_number(p, &n) : NULL;
	if (!p || kab_scan_blanks(p) == p)
		return false;
	p = kab_scan_blanks(p);
	/* A second figure makes it a row; a label starts with a word or "% ". */
	if (!*p || (*p >= '0' && *p <= '9') || (*p == '%' && p[1] != ' '))
		return false;
	len = strlen(p);
	while (len && (p[len - 1] == ' ' || p[len - 1] == '\t'))
		len--;
	close = p + len - 1;
	open = NULL;
	if (*close == ')')
		for (const char *q = p; q < close; q++)
			if (*q == '(')
				open = q;
	if (open && (strstr(open, " mean of ") || strstr(open, "average per stressor") ||
		     strstr(open, " of 1 instance") || strstr(open, "instances)")))
		len = (size_t)(open - p);
	else if (!free_form)
		return false;
	while (len && (p[len - 1] == ' ' || p[len - 1] == '\t'))
		len--;
	if (!len || len >= sizeof(ret->label))
		return false;
	for (size_t i = 0; i < len; i++) /* it becomes part of a name */
		ret->label[i] = p[i] >= 0x20 && p[i] < 0x7f ? p[i] : '?';
	ret->label[len] = '\0';
	ret->value = n.value;
	judge_label(ret);
	return true;
}

void kab_stress_ng_add_row(struct kab_samples *samples, const struct kab_stress_row *row,
			   bool ops_bound)
{
	const struct {
		const char *suffix, *unit;
		enum kab_direction dir;
		double value;
	} figures[] = {
		/* When the operations are fixed, they say nothing and the time does. */
		{ "bogo_ops", "ops", ops_bound ? KAB_DIR_NONE : KAB_DIR_HIGHER, row->bogo_ops },
		{ "bogo_ops_per_s_real_time", "ops/s", KAB_DIR_HIGHER, row->ops_per_s },
		{ "bogo_ops_per_s_usr_sys_time", "ops/s", KAB_DIR_HIGHER, row->ops_per_cpu_s },
		{ "real_time", "s", ops_bound ? KAB_DIR_LOWER : KAB_DIR_NONE, row->real_s },
		{ "usr_time", "s", ops_bound ? KAB_DIR_LOWER : KAB_DIR_NONE, row->usr_s },
		{ "sys_time", "s", ops_bound ? KAB_DIR_LOWER : KAB_DIR_NONE, row->sys_s },
		{ "cpu_used_per_instance", "%", KAB_DIR_NONE, row->cpu_pct },
		{ "rss_max", "KB", KAB_DIR_LOWER, row->rss_kb },
	};
	char name[KAB_STRESS_NAME_MAX + 40];

	for (size_t i = 0; i < KAB_ARRAY_SIZE(figures); i++) {
		if (figures[i].value < 0)
			continue;
		snprintf(name, sizeof(name), "%s.%s", row->name, figures[i].suffix);
		kab_samples_add(samples, name, figures[i].unit, figures[i].dir, figures[i].value);
	}
}
