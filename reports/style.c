/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reports/style.h"

#include <string.h>

#include "base/strv.h"
#include "reports/renderers.h"

const struct kab_style kab_styles[] = {
	{ "plain", "columns of blanks, for mail (default)", kab_render_plain, kab_view_compare,
	  true },
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
