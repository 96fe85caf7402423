/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reports/plot_strip.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void kab_strip_density(const void *axis, kab_strip_place_fn *place, const double *sorted, size_t n,
		       size_t cells, char *line)
{
	static const char levels[] = ".:-=+*#%@";
	size_t *count = kab_xcalloc(cells, sizeof(*count)), most = 1;

	for (size_t i = 0; i < n; i++) {
		size_t at = place(axis, sorted[i]);

		count[at]++;
		most = count[at] > most ? count[at] : most;
	}
	for (size_t i = 0; i < cells; i++) {
		if (most == 1 && count[i])
			line[i] = ':';
		else if (count[i])
			line[i] = levels[(sizeof(levels) - 2) * (count[i] - 1) / (most - 1)];
	}
	free(count);
}

void kab_strip_box(const void *axis, kab_strip_place_fn *place, const double five[5], double mean,
		   char *line)
{
	size_t a = place(axis, five[0]), b = place(axis, five[4]);

	memset(line + a, '-', b - a + 1);
	line[a] = line[b] = '|';
	a = place(axis, five[1]);
	b = place(axis, five[3]);
	memset(line + a, '=', b - a + 1);
	if (b > a) {
		line[a] = '[';
		line[b] = ']';
	}
	line[place(axis, five[2])] = 'M';
	line[place(axis, mean)] = 'A';
}
