/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text and numbers that go into the page: one way in for all of them. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "reports/html_internal.h"
#include "reports/number.h"

#define SIGNIFICANT 7

void kab_html_escape(struct kab_buf *out, const char *text)
{
	struct kab_buf kab_autobuf safe = KAB_BUF_INIT;

	kab_text_escape(&safe, text, strlen(text));
	for (const char *s = kab_buf_str(&safe); *s;) {
		size_t n = strcspn(s, "&<>\"'");

		kab_buf_add(out, s, n);
		s += n;
		if (!*s)
			break;
		kab_buf_adds(out, *s == '&'   ? "&amp;"
				  : *s == '<' ? "&lt;"
				  : *s == '>' ? "&gt;"
				  : *s == '"' ? "&quot;"
					      : "&#39;");
		s++;
	}
}

void kab_html_element(struct kab_buf *out, const char *tag, const char *cls, const char *text)
{
	kab_buf_addf(out, "<%s", tag);
	if (cls)
		kab_buf_addf(out, " class=%s", cls);
	kab_buf_addc(out, '>');
	kab_html_escape(out, text);
	kab_buf_addf(out, "</%s>\n", tag);
}

void kab_html_unwrap(const struct kab_strv *lines, struct kab_strv *ret)
{
	struct kab_buf kab_autobuf whole = KAB_BUF_INIT;

	for (size_t i = 0; i < lines->n; i++) {
		const char *line = lines->v[i];

		/* kab_wrap() indents what it has broken off. */
		if (i && *line != ' ') {
			kab_strv_add(ret, kab_buf_str(&whole));
			kab_buf_clear(&whole);
		}
		if (whole.len)
			kab_buf_addc(&whole, ' ');
		kab_buf_adds(&whole, line + strspn(line, " "));
	}
	if (lines->n)
		kab_strv_add(ret, kab_buf_str(&whole));
}

void kab_html_number(struct kab_buf *out, double value)
{
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;
	double size = fabs(value);

	if (isfinite(value) && size > 0 && (size < 1e-3 || size >= 1e15)) {
		kab_buf_addf(out, "%.*g", SIGNIFICANT, value);
		return;
	}
	kab_number_fixed(&text, value, kab_number_significant(value, SIGNIFICANT), false);
	if (strchr(kab_buf_str(&text), '.')) {
		kab_buf_rtrim(&text, "0");
		kab_buf_rtrim(&text, ".");
	}
	kab_buf_adds(out, kab_buf_str(&text));
}
