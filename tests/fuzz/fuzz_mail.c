/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mails: taken apart, tables found and recomputed, a reply written. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "exchange/check.h"
#include "exchange/mail_reply.h"
#include "exchange/mime.h"
#include "fuzz.h"

/* Headers of ours are ASCII lines, and a mail's text cannot add one. */
static void check_headers(const struct kab_buf *out)
{
	static const char *const names[] = { "From: ",
					     "To: ",
					     "Cc: ",
					     "Subject: ",
					     "Date: ",
					     "Message-ID: ",
					     "In-Reply-To: ",
					     "References: ",
					     "MIME-Version: ",
					     "Content-Type: ",
					     "Content-Transfer-Encoding: ",
					     NULL };
	unsigned seen = 0;

	for (const char *line = kab_buf_str(out); *line; line += strcspn(line, "\n") + 1) {
		size_t i = 0;

		for (size_t n = 0; line[n] != '\n'; n++)
			fuzz_must(line[n] == '\t' || (line[n] >= 0x20 && line[n] < 0x7f),
				  "raw bytes in a header", "reply");
		if (*line == '\n')
			return;
		if (*line == ' ' || *line == '\t')
			continue;
		while (names[i] && strncasecmp(line, names[i], strlen(names[i])))
			i++;
		fuzz_must(names[i] != NULL, "a header that is not ours", "reply");
		fuzz_must(!(seen & 1u << i), "a header twice", "reply");
		seen |= 1u << i;
	}
	fuzz_must(false, "no end of the headers", "reply");
}

static void check_reply(const struct kab_mail *mail, const struct kab_mail_lines *lines,
			const struct kab_mail_tables *tables)
{
	struct kab_reply_opts opts = {
		.from = { (char[]){ "K \"A\" B" }, (char[]){ "k@example.org" } },
		.date = "Thu, 1 Jan 1970 00:00:00 +0000",
		.message_id = "<1@example.org>",
	};
	struct kab_buf kab_autobuf out = KAB_BUF_INIT, body = KAB_BUF_INIT, mbox = KAB_BUF_INIT;
	struct kab_strv kab_autostrv rcpt = KAB_STRV_INIT;
	struct kab_err err = KAB_ERR_INIT;
	bool *chosen = kab_xcalloc(tables->n + 1, sizeof(*chosen));
	int rc = kab_reply_headers(mail, &opts, &out, &rcpt, &err);

	fuzz_check_err(rc, &err, "reply");
	if (rc == 0) {
		check_headers(&out);
		for (size_t i = 0; i < rcpt.n; i++)
			fuzz_must(fuzz_printable(rcpt.v[i]) && *rcpt.v[i] && *rcpt.v[i] != '-',
				  "a recipient that is none", "reply");
	}
	for (size_t i = 0; i < tables->n; i++)
		chosen[i] = i % 2 == 0;
	kab_reply_quote(mail, lines, tables, chosen, &body);
	kab_reply_mbox(kab_buf_str(&body), "k@example.org", "Thu Jan  1 00:00:00 1970", &mbox);
	free(chosen);
}

static void one(const char *bytes, size_t n)
{
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;
	struct kab_mail_tables tables = { 0 };
	struct kab_mail_lines lines = { 0 };
	struct kab_err err = KAB_ERR_INIT;
	struct kab_check check = { 0 };
	struct kab_mail mail = { 0 };
	int rc = kab_mail_parse(bytes, n, &mail, &err);

	fuzz_check_err(rc, &err, "mail");
	if (rc < 0)
		return;
	kab_mail_lines(&mail.body, &lines);
	kab_mail_tables_find(&lines, &tables);
	for (size_t t = 0; t < tables.n; t++) {
		const struct kab_mail_table *table = &tables.v[t];

		fuzz_must(table->first_line <= table->last_line && table->last_line < lines.n,
			  "a table outside of the mail", "tables");
		for (size_t r = 0; r < table->n_rows; r++)
			for (size_t c = 0; c < table->n_cols; c++)
				fuzz_must(!table->rows[r].items[c].present ||
						  isfinite(table->rows[r].items[c].value),
					  "not finite", "tables");
	}
	kab_check_tables(&lines, &tables, &check);
	kab_check_json(&tables, &check, &text);
	kab_check_text(&tables, &check, &text);
	check_reply(&mail, &lines, &tables);
	kab_check_release(&check);
	kab_mail_tables_release(&tables);
	free(lines.v);
	kab_mail_release(&mail);
}

static void encodings(const uint8_t *data, size_t size)
{
	struct kab_buf kab_autobuf out = KAB_BUF_INIT, back = KAB_BUF_INIT, ascii = KAB_BUF_INIT;
	char *text = fuzz_text(data, size), *decoded;

	kab_mime_encode_base64(data, size, &out);
	kab_mime_decode_base64(kab_buf_str(&out), out.len, &back);
	fuzz_must(back.len == size && (!size || !memcmp(back.data, data, size)), "base64", "mime");
	kab_buf_clear(&out);
	kab_mime_to_utf8("utf-8", (const char *)data, size, &out);
	kab_mime_to_ascii(kab_buf_str(&out), &ascii);
	for (size_t i = 0; i < ascii.len; i++)
		fuzz_must(ascii.data[i] == '\n' || ascii.data[i] == '\t' ||
				  (ascii.data[i] >= 0x20 && ascii.data[i] < 0x7f),
			  "raw bytes in a mail", "mime");
	kab_buf_clear(&ascii);
	kab_mime_encode_header(kab_buf_str(&out), &ascii);
	fuzz_must(kab_mime_is_ascii(kab_buf_str(&ascii)), "a header that is not ASCII", "mime");
	decoded = kab_mime_decode_header(kab_buf_str(&ascii));
	free(decoded);
	free(kab_mime_param(text, "charset"));
	kab_buf_clear(&out);
	kab_mime_unflow(text, size & 1, &out);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kab_mail_spans spans = { 0 };
	size_t end = 0;

	if (size > 65536)
		return 0;
	encodings(data, size);
	kab_mail_split((const char *)data, size, &spans);
	for (size_t i = 0; i < spans.n; i++) {
		fuzz_must(spans.v[i].from >= end && spans.v[i].len <= size - spans.v[i].from,
			  "mails that overlap", "mbox");
		end = spans.v[i].from + spans.v[i].len;
		one((const char *)data + spans.v[i].from, spans.v[i].len);
	}
	free(spans.v);
	return 0;
}
