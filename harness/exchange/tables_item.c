/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers as people print them, and the few words around tables that matter. */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/text.h"
#include "exchange/tables.h"

struct unit {
	const char *text;
	const char *base; /* after conversion */
	double scale;
};

/* Longest first where one begins another. */
static const struct unit units[] = {
	{ "seconds", "s", 1 },
	{ "second", "s", 1 },
	{ "secs", "s", 1 },
	{ "sec", "s", 1 },
	{ "s", "s", 1 },
	{ "msecs", "s", 1e-3 },
	{ "msec", "s", 1e-3 },
	{ "ms", "s", 1e-3 },
	{ "usecs", "s", 1e-6 },
	{ "usec", "s", 1e-6 },
	{ "us", "s", 1e-6 },
	{ "\u00b5s", "s", 1e-6 },
	{ "\u03bcs", "s", 1e-6 },
	{ "nsecs", "s", 1e-9 },
	{ "nsec", "s", 1e-9 },
	{ "ns", "s", 1e-9 },
	{ "minutes", "s", 60 },
	{ "min", "s", 60 },
	{ "k", "", 1e3 },
	{ "K", "", 1e3 },
	{ "M", "", 1e6 },
	{ "G", "", 1e9 },
	{ "B/s", "B/s", 1 },
	{ "KB/s", "B/s", 1e3 },
	{ "kB/s", "B/s", 1e3 },
	{ "MB/s", "B/s", 1e6 },
	{ "GB/s", "B/s", 1e9 },
	{ "KiB/s", "B/s", 1024 },
	{ "MiB/s", "B/s", 1048576 },
	{ "GiB/s", "B/s", 1073741824 },
	{ "Kbps", "bit/s", 1e3 },
	{ "Mbps", "bit/s", 1e6 },
	{ "Gbps", "bit/s", 1e9 },
	{ "Mb/s", "bit/s", 1e6 },
	{ "Gb/s", "bit/s", 1e9 },
	{ "Mbit/s", "bit/s", 1e6 },
	{ "Gbit/s", "bit/s", 1e9 },
	{ "bytes", "B", 1 },
	{ "B", "B", 1 },
	{ "KB", "B", 1e3 },
	{ "kB", "B", 1e3 },
	{ "MB", "B", 1e6 },
	{ "GB", "B", 1e9 },
	{ "KiB", "B", 1024 },
	{ "MiB", "B", 1048576 },
	{ "GiB", "B", 1073741824 },
	{ "x", "x", 1 },
	{ "X", "x", 1 },
	{ "ops/s", "/s", 1 },
	{ "ops/sec", "/s", 1 },
	{ "req/s", "/s", 1 },
	{ "op/s", "/s", 1 },
	{ "/s", "/s", 1 },
	{ "/sec", "/s", 1 },
	{ "tps", "/s", 1 },
	{ "IOPS", "/s", 1 },
	{ "iops", "/s", 1 },
	{ "kIOPS", "/s", 1e3 },
	{ "KIOPS", "/s", 1e3 },
	{ "pps", "/s", 1 },
	{ "Mpps", "/s", 1e6 },
	{ "kpps", "/s", 1e3 },
	{ "msg/s", "/s", 1 },
	{ "msg/sec", "/s", 1 },
	{ "joules", "J", 1 },
	{ "Joules", "J", 1 },
	{ "J", "J", 1 },
	{ "mW", "W", 1e-3 },
	{ "W", "W", 1 },
	{ "cycles", "cycles", 1 },
};

static const struct unit *find_unit(const char *s, size_t n)
{
	for (size_t i = 0; i < KAB_ARRAY_SIZE(units); i++)
		if (strlen(units[i].text) == n && !strncmp(units[i].text, s, n))
			return &units[i];
	return NULL;
}

static bool digit(const char *s, size_t len, size_t i)
{
	return i < len && isdigit((unsigned char)s[i]);
}

/* Where a word ends a number: blanks, brackets, bars. */
static bool ends_number(const char *s, size_t len, size_t i)
{
	return i >= len || strchr(" \t|()[]*;", s[i]) != NULL ||
	       (strchr(",:", s[i]) && (i + 1 >= len || s[i + 1] == ' ')) ||
	       (s[i] == '.' && i + 1 >= len);
}

/*
 * The digits of a number: sign, groups of thousands, decimals, exponent; into a text for strtod. Returns
 * where they end, or 0.
 */
static size_t digits(const char *s, size_t len, size_t at, bool decimal_comma, char num[40],
		     int *decimals, int *exponent)
{
	size_t i = at, n = 0, lead = 0;
	bool point = false;

	*decimals = 0;
	*exponent = 0;
	if (i < len && (s[i] == '+' || s[i] == '-')) {
		num[n++] = s[i++];
		/* "- 1.5": a sign may stand apart in a bracket, not here. */
	}
	if (!digit(s, len, i) && !(i < len && s[i] == '.' && digit(s, len, i + 1)))
		return 0;
	for (; i < len && n < 30; i++) {
		if (digit(s, len, i)) {
			num[n++] = s[i];
			if (point)
				(*decimals)++;
			else
				lead++;
		} else if (s[i] == '.' && !point && digit(s, len, i + 1)) {
			num[n++] = '.';
			point = true;
		} else if (s[i] == ',' && !point && digit(s, len, i + 1)) {
			bool three = digit(s, len, i + 2) && digit(s, len, i + 3) &&
				     !digit(s, len, i + 4);

			if (decimal_comma) {
				num[n++] = '.';
				point = true;
			} else if (!three || lead > 3) {
				/* "1,2": neither thousands nor a number of this table. */
				return 0;
			} else {
				lead = 0;
			}
		} else {
			break;
		}
	}
	if (i + 1 < len && (s[i] == 'e' || s[i] == 'E') &&
	    (digit(s, len, i + 1) ||
	     ((s[i + 1] == '+' || s[i + 1] == '-') && digit(s, len, i + 2)))) {
		size_t from = i;
		int sign = 1, v = 0;

		i++;
		if (!digit(s, len, i))
			sign = s[i++] == '-' ? -1 : 1;
		for (; digit(s, len, i) && i < from + 6; i++)
			v = v * 10 + (s[i] - '0');
		*exponent = sign * v;
	}
	num[n] = '\0';
	return i;
}

static void keep(struct kab_item *item, const char *s, size_t from, size_t to, bool pct)
{
	size_t n = to - from, room = sizeof(item->printed) - 2;

	if (n > room)
		n = room;
	memcpy(item->printed, s + from, n);
	item->printed[n] = '\0';
	if (pct)
		memcpy(item->printed + n, "%", 2);
}

/* A number with its unit; `open`: the percent sign may stand behind a blank, as in brackets. */
static size_t number(const char *s, size_t len, size_t at, bool decimal_comma, struct kab_item *ret,
		     bool *pct)
{
	char num[40], rest[40];
	int decimals, exponent, ignored, more;
	size_t i = digits(s, len, at, decimal_comma, num, &decimals, &exponent), u, e;
	const struct unit *unit = NULL;
	double v, minutes = 0;

	*pct = false;
	ret->unit[0] = ret->shown_unit[0] = '\0';
	if (!i || kab_text_double(num[0] == '+' ? num + 1 : num, &v) < 0)
		return 0;
	/* 1m40.465s, as the shell prints times. */
	if (i < len && s[i] == 'm' && !decimals && digit(s, len, i + 1) &&
	    (e = digits(s, len, i + 1, decimal_comma, rest, &ignored, &more)) && e < len &&
	    s[e] == 's' && ends_number(s, len, e + 1) && kab_text_double(rest, &minutes) == 0) {
		ret->value = fabs(v) * 60 + minutes;
		ret->decimals = ignored;
		ret->half = 0.5 * pow(10, -ignored);
		memcpy(ret->unit, "s", 2);
		memcpy(ret->shown_unit, "m s", 4);
		keep(ret, s, at, e + 1, false);
		return e + 1;
	}
	ret->decimals = decimals;
	ret->value = v * pow(10, exponent);
	ret->half = 0.5 * pow(10, exponent - decimals);
	keep(ret, s, at, i, false);
	/* A percent sign, perhaps behind a blank. */
	e = i;
	while (e < len && s[e] == ' ')
		e++;
	if (e < len && e - i <= 1 && s[e] == '%') {
		*pct = true;
		keep(ret, s, at, i, true);
		return e + 1;
	}
	if (e + 3 <= len && e - i <= 1 && !strncmp(s + e, "pct", 3) && ends_number(s, len, e + 3)) {
		*pct = true;
		keep(ret, s, at, i, true);
		return e + 3;
	}
	/* A unit right behind, or behind one blank. */
	u = i;
	while (u < len &&
	       (isalpha((unsigned char)s[u]) || s[u] == '/' || (unsigned char)s[u] >= 0x80))
		u++;
	if (u > i) {
		unit = find_unit(s + i, u - i);
		if (!unit || !ends_number(s, len, u))
			return 0;
		e = u;
	} else {
		if (!ends_number(s, len, i))
			return 0;
		e = i;
		u = i + 1;
		if (i < len && s[i] == ' ') {
			size_t w = u;

			while (w < len && (isalpha((unsigned char)s[w]) || s[w] == '/' ||
					   (unsigned char)s[w] >= 0x80))
				w++;
			/* A single letter behind a blank is more often a name than a unit. */
			if (w > u + (s[u] != 's') && ends_number(s, len, w))
				unit = find_unit(s + u, w - u);
			if (unit) {
				i = u;
				e = w;
			}
		}
	}
	if (unit) {
		ret->value *= unit->scale;
		ret->half *= unit->scale;
		memcpy(ret->unit, unit->base, strlen(unit->base) + 1);
		if (e - i < sizeof(ret->shown_unit)) {
			memcpy(ret->shown_unit, s + i, e - i);
			ret->shown_unit[e - i] = '\0';
		}
	}
	/* "1.25," in a list. */
	if (e < len && strchr(",;", s[e]))
		e++;
	return e;
}

static size_t skip_blanks(const char *s, size_t len, size_t i)
{
	while (i < len && (s[i] == ' ' || s[i] == '\t'))
		i++;
	return i;
}

static size_t plus_minus(const char *s, size_t len, size_t i)
{
	static const char *const marks[] = { "+/-", "+-", "\u00b1", "-+" };

	for (size_t m = 0; m < KAB_ARRAY_SIZE(marks); m++) {
		size_t n = strlen(marks[m]), e;

		if (len - i < n || strncmp(s + i, marks[m], n) != 0)
			continue;
		e = skip_blanks(s, len, i + n);
		if (digit(s, len, e))
			return e;
	}
	return 0;
}

/* (1.5), [ -0.00], (+/- 5,93 %), (0.00 pct) */
static size_t bracketed(const char *s, size_t len, size_t at, bool decimal_comma,
			struct kab_item *ret)
{
	char close = s[at] == '(' ? ')' : ']';
	size_t i = skip_blanks(s, len, at + 1), pm = i < len ? plus_minus(s, len, i) : 0, e;
	bool pct, round = s[at] == '(';

	e = number(s, len, pm ? pm : i, decimal_comma, ret, &pct);
	if (!e)
		return 0;
	e = skip_blanks(s, len, e);
	if (e < len && s[e] == '*') {
		ret->mark = '*';
		e = skip_blanks(s, len, e + 1);
	}
	if (e >= len || s[e] != close)
		return 0;
	if (pm)
		ret->kind = pct ? KAB_ITEM_PM_PCT : KAB_ITEM_PM;
	else if (round)
		ret->kind = pct ? KAB_ITEM_ROUND_PCT : KAB_ITEM_ROUND;
	else
		ret->kind = pct ? KAB_ITEM_SQUARE_PCT : KAB_ITEM_SQUARE;
	return e + 1;
}

size_t kab_item_scan(const char *s, size_t len, size_t at, bool decimal_comma, struct kab_item *ret)
{
	size_t e, i;
	bool pct;

	memset(ret, 0, sizeof(*ret));
	ret->present = true;
	ret->at = at;
	if (at >= len)
		return 0;
	/* (I) or (R) before a percentage is a verdict. */
	if (at + 3 < len && s[at] == '(' && strchr("IR", s[at + 1]) && s[at + 2] == ')') {
		char mark = s[at + 1];

		e = kab_item_scan(s, len, skip_blanks(s, len, at + 3), decimal_comma, ret);
		ret->mark = mark;
		return e;
	}
	if (s[at] == '(' || s[at] == '[') {
		e = bracketed(s, len, at, decimal_comma, ret);
	} else if (s[at] == '*') {
		i = skip_blanks(s, len, at + 1);
		e = number(s, len, i, decimal_comma, ret, &pct);
		if (!e || !pct)
			return 0;
		e = skip_blanks(s, len, e);
		if (e >= len || s[e] != '*')
			return 0;
		ret->kind = KAB_ITEM_ROUND_PCT;
		ret->mark = '*';
		return e + 1;
	} else if ((i = plus_minus(s, len, at))) {
		e = number(s, len, i, decimal_comma, ret, &pct);
		ret->kind = pct ? KAB_ITEM_PM_PCT : KAB_ITEM_PM;
	} else {
		e = number(s, len, at, decimal_comma, ret, &pct);
		ret->kind = pct ? KAB_ITEM_PERCENT : KAB_ITEM_VALUE;
	}
	/* A star behind it is a mark of significance. */
	if (e && e < len && (ret->kind != KAB_ITEM_VALUE)) {
		i = skip_blanks(s, len, e);
		if (i < len && s[i] == '*' && (i + 1 >= len || strchr(" \t|", s[i + 1]))) {
			ret->mark = '*';
			e = i + 1;
		}
	}
	return e;
}

bool kab_item_comma_is_decimal(const char *s, size_t len)
{
	for (size_t i = 1; i + 1 < len; i++) {
		size_t n = 0, before = 0;

		if (s[i] != ',' || !digit(s, len, i - 1) || !digit(s, len, i + 1))
			continue;
		while (digit(s, len, i + 1 + n))
			n++;
		while (before < i && digit(s, len, i - 1 - before))
			before++;
		/* "128,256,512" is a list. */
		if (i + 1 + n < len && s[i + 1 + n] == ',')
			continue;
		if (i - before > 0 && s[i - before - 1] == ',')
			continue;
		if (n != 3 || before > 3 || s[i - before] == '0')
			return true;
	}
	return false;
}

/* ---- words ---- */

bool kab_words_have(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = text; *p; p++)
		if (!strncasecmp(p, word, n) && (p == text || !isalnum((unsigned char)p[-1])) &&
		    !isalnum((unsigned char)p[n]))
			return true;
	return false;
}

bool kab_words_is_label(const char *head)
{
	static const char *const words[] = {
		"grp",	       "groups",    "group",	 "fds",	     "tasks",	"task",
		"threads",     "thread",    "workers",	 "worker",   "clients", "client",
		"size",	       "no.",	    "no",	 "nr",	     "iodepth", "load",
		"case",	       "kernel",    "name",	 "test",     "cpus",	"procs",
		"process",     "processes", "instances", "jobs",     "streams", "bs",
		"depth",       "nodes",	    "#",	 "mthreads", "loops",	"conns",
		"connections", "qd",	    "workload",	 "#threads", "#groups", "nr_threads",
	};

	for (size_t i = 0; i < KAB_ARRAY_SIZE(words); i++)
		if (!strcasecmp(head, words[i]))
			return true;
	return false;
}

bool kab_words_spread(const char *text)
{
	static const char *const words[] = { "stdev", "stddev",	   "std",  "sd",      "cv",
					     "rsd",   "stderr",	   "sem",  "var",     "variance",
					     "dev",   "deviation", "stdv", "std_dev", "stdev%" };

	if (strstr(text, "+/-") || strstr(text, "\u00b1"))
		return true;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(words); i++)
		if (kab_words_have(text, words[i]))
			return true;
	return false;
}

int kab_words_direction(const char *text)
{
	static const char *const low[] = {
		"time",	     "times",	     "latency",	     "lat",	  "clat",     "elapsed",
		"seconds",   "secs",	     "sec",	     "usec",	  "usecs",    "us",
		"ns",	     "ms",	     "msec",	     "amean",	  "duration", "cycles",
		"misses",    "delay",	     "overhead",     "faults",	  "power",    "energy",
		"hackbench", "milliseconds", "microseconds", "kernbench", "jitter",
	};
	static const char *const high[] = {
		"hmean",	"throughput",	 "iops",     "kiops",	"bandwidth", "bw",
		"tput",		"tps",		 "ops",	     "jops",	"score",     "rate",
		"mb/s",		"mib/s",	 "rps",	     "qps",	"mpps",	     "requests/s",
		"ops/s",	"ops/sec",	 "msg/s",    "msg/sec", "msgs/sec",  "req/s",
		"transactions", "critical-jops", "max-jops", "mb/sec",	"b/s",	     "/s",
	};
	int n_low = 0, n_high = 0;

	for (size_t i = 0; i < KAB_ARRAY_SIZE(low); i++)
		n_low += kab_words_have(text, low[i]);
	for (size_t i = 0; i < KAB_ARRAY_SIZE(high); i++)
		n_high += kab_words_have(text, high[i]);
	/* "ops per second" and "msg/sec" have a word of time in them. */
	return n_high ? 1 : n_low ? -1 : 0;
}

/* "3 times faster" is no number of runs. */
static bool is_factor(const char *behind)
{
	static const char *const words[] = { "faster", "slower", "better", "worse", "more",
					     "less",   "as",	 "higher", "lower", "the" };

	behind += strspn(behind, " ");
	for (size_t i = 0; i < KAB_ARRAY_SIZE(words); i++)
		if (!strncasecmp(behind, words[i], strlen(words[i])))
			return true;
	return false;
}

int kab_words_runs(const char *text)
{
	static const char *const nouns[] = { "runs",	"iterations", "iteration", "repetitions",
					     "repeats", "samples",    "trials",	   "times" };

	for (const char *p = text; *p; p++) {
		size_t n, blanks;
		int v = 0;

		if (!isdigit((unsigned char)*p) ||
		    (p > text && (isalnum((unsigned char)p[-1]) || strchr(".,-_/", p[-1]))))
			continue;
		n = strspn(p, "0123456789");
		for (size_t i = 0; i < n && v < 100000; i++)
			v = v * 10 + (p[i] - '0');
		/* n=10 */
		if (p - text >= 2 && p[-1] == '=' && (p[-2] == 'n' || p[-2] == 'N') &&
		    (p - text == 2 || !isalnum((unsigned char)p[-3])))
			return v;
		blanks = strspn(p + n, " ");
		for (size_t i = 0; blanks && i < KAB_ARRAY_SIZE(nouns); i++) {
			size_t w = strlen(nouns[i]);

			if (!strncasecmp(p + n + blanks, nouns[i], w) &&
			    !isalnum((unsigned char)p[n + blanks + w]) && v > 0 && v < 100000 &&
			    !is_factor(p + n + blanks + w))
				return v;
		}
		p += n - 1;
	}
	return 0;
}
