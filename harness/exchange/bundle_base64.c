/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Base64 as in RFC 4648, section 4: with padding, without line ends. */
#include <string.h>

#include "exchange/bundle_internal.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void kab_base64_encode(struct kab_buf *to, const char *data, size_t n)
{
	const unsigned char *p = (const unsigned char *)data;

	for (; n; p += n < 3 ? n : 3, n -= n < 3 ? n : 3) {
		unsigned bits = (unsigned)p[0] << 16 | (n > 1 ? (unsigned)p[1] << 8 : 0) |
				(n > 2 ? p[2] : 0u);
		char four[4] = { digits[bits >> 18], digits[bits >> 12 & 63],
				 n > 1 ? digits[bits >> 6 & 63] : '=',
				 n > 2 ? digits[bits & 63] : '=' };

		kab_buf_add(to, four, 4);
	}
}

static int value_of(char c)
{
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

int kab_base64_decode(struct kab_buf *to, const char *text, size_t n)
{
	if (n % 4)
		return -1;
	for (size_t i = 0; i < n; i += 4) {
		bool last = i + 4 == n;
		int pad = !last ? 0 : text[i + 3] != '=' ? 0 : text[i + 2] != '=' ? 1 : 2;
		int v[4] = { 0 };
		unsigned bits;
		char out[3];

		for (int k = 0; k < 4 - pad; k++)
			if ((v[k] = value_of(text[i + (size_t)k])) < 0)
				return -1;
		bits = (unsigned)v[0] << 18 | (unsigned)v[1] << 12 | (unsigned)v[2] << 6 |
		       (unsigned)v[3];
		out[0] = (char)(bits >> 16);
		out[1] = (char)(bits >> 8);
		out[2] = (char)bits;
		kab_buf_add(to, out, (size_t)(3 - pad));
	}
	return 0;
}
