/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "publish/archive.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"

bool kab_archive_is_id(const char *text)
{
	const char *at = strchr(text, '@');

	return at && at > text && at[1] && !strpbrk(text, " \t\r\n") &&
	       (*text == '<') == (text[strlen(text) - 1] == '>');
}

char *kab_archive_url(const char *base, const char *id)
{
	struct kab_buf buf = KAB_BUF_INIT;
	size_t n = strlen(id);

	if (*id == '<') {
		id++;
		n -= 2;
	}
	kab_buf_adds(&buf, base);
	if (buf.len && buf.data[buf.len - 1] != '/')
		kab_buf_addc(&buf, '/');
	for (size_t i = 0; i < n; i++) {
		if (isalnum((unsigned char)id[i]) || strchr("-._~@+=$!*',", id[i]))
			kab_buf_addc(&buf, id[i]);
		else
			kab_buf_addf(&buf, "%%%02X", (unsigned char)id[i]);
	}
	kab_buf_adds(&buf, "/raw");
	return kab_buf_detach(&buf);
}
