/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/metric.h"

#include <string.h>

#include "base/alloc.h"

static const char *const names[] = { "none", "lower", "higher" };

const char *kab_direction_name(enum kab_direction dir)
{
	return names[dir];
}

int kab_direction_parse(const char *word, enum kab_direction *ret)
{
	for (size_t i = 0; i < KAB_ARRAY_SIZE(names); i++) {
		if (!strcmp(word, names[i])) {
			*ret = (enum kab_direction)i;
			return 0;
		}
	}
	return -1;
}

void kab_samples_add(struct kab_samples *s, const char *metric, const char *unit,
		     enum kab_direction dir, double value)
{
	struct kab_sample *sample = KAB_PUSH(s);

	sample->metric = kab_xstrdup(metric);
	sample->unit = kab_xstrdup(unit ? unit : "");
	sample->dir = dir;
	sample->value = value;
}

void kab_samples_release(struct kab_samples *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->v[i].metric);
		free(s->v[i].unit);
	}
	free(s->v);
	*s = (struct kab_samples){ 0 };
}
