/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writing a reply to a mail: headers, quotation, body. Pure. The result is 7 bit ASCII with LF line
 * ends, never format=flowed, and ends with a line end: what git send-email, mutt and b4 take.
 */
#ifndef KAB_EXCHANGE_MAIL_REPLY_H
#define KAB_EXCHANGE_MAIL_REPLY_H

#include "exchange/mail.h"
#include "exchange/tables.h"

struct kab_reply_opts {
	struct kab_address from; /* borrowed strings */
	const struct kab_addresses *to, *cc; /* more recipients; may be NULL */
	const char *in_reply_to; /* "<id>" in place of the mail's Message-ID, or NULL */
	const char *subject; /* NULL: "Re: " and that of the mail */
	const char *date; /* as in RFC 5322 */
	const char *message_id; /* "<id>" */
};

/*
 * Append headers and the empty line behind them. *rcpt gets the addresses of To and Cc.
 * CONFIG error: the mail has no Message-ID, or several, or nobody is left to write to; the text says
 * what to pass.
 */
int kab_reply_headers(const struct kab_mail *mail, const struct kab_reply_opts *opts,
		      struct kab_buf *out, struct kab_strv *rcpt, struct kab_err *err);

/* Append "Name: words", folded at 78; value is encoded already (kab_mime_encode_header). */
void kab_mail_header_print(const char *name, const char *value, struct kab_buf *out);
/* The same of a list of addresses, encoded as needed; nothing when it is empty. */
void kab_mail_addresses_print(const char *name, const struct kab_addresses *list,
			      struct kab_buf *out);

/*
 * Append the attribution and what is needed of the mail: the claim, and the tables for which chosen[] is
 * true, with the lines that name them; "[...]" stands where lines were left out. Lines are never
 * wrapped.
 */
void kab_reply_quote(const struct kab_mail *mail, const struct kab_mail_lines *lines,
		     const struct kab_mail_tables *tables, const bool *chosen, struct kab_buf *out);

/*
 * The label of the author's row that is about the same load as `label` ("4" is "4-groups"), or NULL.
 * Borrowed from the table.
 */
const char *kab_reply_same_row(const struct kab_mail_table *table, const char *label);

/* "Subject" without "Re:" and the tags of lists before it. Caller frees. */
char *kab_reply_subject(const char *subject);

/*
 * An mbox of one message: a "From " line, and lines that begin with "From " behind any number of '>' get
 * one more, so that reading can take it off again.
 */
void kab_reply_mbox(const char *message, const char *from, const char *date_asctime,
		    struct kab_buf *out);

#endif
