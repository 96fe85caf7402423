/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "exchange/mail_reply.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "exchange/mime.h"
#include "exchange/tables_internal.h"

#define FOLD ((size_t)78)
#define CLAIM_LINES_MAX 8
#define CONTEXT_LINES_MAX 4

/* ---- headers ---- */

/* "Name: words": broken at blanks so that no line is longer than 78 where that is possible. */
void kab_mail_header_print(const char *name, const char *value, struct kab_buf *out)
{
	size_t width = strlen(name) + 1;

	kab_buf_addf(out, "%s:", name);
	for (const char *p = value + strspn(value, " "); *p;) {
		size_t n = strcspn(p, " ");

		if (width + 1 + n > FOLD && width > strlen(name) + 1) {
			kab_buf_adds(out, "\n ");
			width = 1;
		} else {
			kab_buf_addc(out, ' ');
			width++;
		}
		kab_buf_add(out, p, n);
		width += n;
		p += n;
		p += strspn(p, " ");
	}
	kab_buf_addc(out, '\n');
}

void kab_mail_addresses_print(const char *name, const struct kab_addresses *list,
			      struct kab_buf *out)
{
	size_t width = strlen(name) + 1;

	if (!list->n)
		return;
	kab_buf_addf(out, "%s:", name);
	for (size_t i = 0; i < list->n; i++) {
		struct kab_buf kab_autobuf one = KAB_BUF_INIT;

		kab_address_print(&list->v[i], &one);
		if (i + 1 < list->n)
			kab_buf_addc(&one, ',');
		if (i && width + 1 + one.len > FOLD) {
			kab_buf_adds(out, "\n\t");
			width = 8;
		} else {
			kab_buf_addc(out, ' ');
			width++;
		}
		/* Encoded names are several words; fold between them as well. */
		for (const char *p = kab_buf_str(&one); *p;) {
			size_t n = strcspn(p, " ");

			if (p != kab_buf_str(&one) && width + 1 + n > FOLD) {
				kab_buf_adds(out, "\n\t");
				width = 8;
			} else if (p != kab_buf_str(&one)) {
				kab_buf_addc(out, ' ');
				width++;
			}
			kab_buf_add(out, p, n);
			width += n;
			p += n;
			p += strspn(p, " ");
		}
	}
	kab_buf_addc(out, '\n');
}

char *kab_reply_subject(const char *subject)
{
	const char *p = subject;

	for (;;) {
		const char *tag = p;

		while (isspace((unsigned char)*p))
			p++;
		if (!strncasecmp(p, "re:", 3)) {
			p += 3;
			continue;
		}
		/* "[list] Re: [PATCH] ...": the tag of a list stands before the Re. */
		tag = p;
		if (*tag == '[' && (tag = strchr(tag, ']'))) {
			tag++;
			tag += strspn(tag, " ");
			if (!strncasecmp(tag, "re:", 3)) {
				p = tag;
				continue;
			}
		}
		return kab_line_trimmed(p, strlen(p));
	}
}

static void add_unique(struct kab_addresses *to, const struct kab_addresses *other,
		       const struct kab_address *a, const char *self)
{
	if (*a->addr && strcasecmp(a->addr, self) != 0 && !kab_addresses_have(to, a->addr) &&
	    !(other && kab_addresses_have(other, a->addr)))
		kab_addresses_add(to, a->name, a->addr);
}

static void add_all(struct kab_addresses *to, const struct kab_addresses *other,
		    const struct kab_mail *mail, const char *name, const char *self)
{
	for (size_t i = 0; i < mail->n; i++) {
		struct kab_addresses list = { 0 };

		if (strcasecmp(mail->v[i].name, name) != 0)
			continue;
		kab_addresses_parse(mail->v[i].value, &list);
		for (size_t k = 0; k < list.n; k++)
			add_unique(to, other, &list.v[k], self);
		kab_addresses_release(&list);
	}
}

static int parent_id(const struct kab_mail *mail, const struct kab_reply_opts *opts, char **ret,
		     struct kab_err *err)
{
	struct kab_strv kab_autostrv ids = KAB_STRV_INIT;

	if (opts->in_reply_to) {
		*ret = kab_xasprintf("%s%s%s", *opts->in_reply_to == '<' ? "" : "<",
				     opts->in_reply_to, *opts->in_reply_to == '<' ? "" : ">");
		return 0;
	}
	for (size_t i = 0; i < mail->n; i++)
		if (!strcasecmp(mail->v[i].name, "Message-ID"))
			kab_mail_ids(mail->v[i].value, &ids);
	if (!ids.n)
		return kab_err_set(
			err, KAB_ERR_CONFIG,
			"the mail has no Message-ID, so that the reply would belong to no "
			"thread; pass --in-reply-to with the one of the archive");
	for (size_t i = 1; i < ids.n; i++)
		if (strcmp(ids.v[i], ids.v[0]) != 0)
			return kab_err_set(err, KAB_ERR_CONFIG,
					   "the mail has two Message-IDs, %s and %s; say with "
					   "--in-reply-to which one the archive has",
					   ids.v[0], ids.v[i]);
	*ret = kab_xstrdup(ids.v[0]);
	return 0;
}

static void references(const struct kab_mail *mail, const char *parent, struct kab_buf *out)
{
	struct kab_strv kab_autostrv ids = KAB_STRV_INIT, unique = KAB_STRV_INIT;
	char *text kab_autofree = NULL;

	kab_mail_ids(kab_mail_get(mail, "References"), &ids);
	if (!ids.n)
		kab_mail_ids(kab_mail_get(mail, "In-Reply-To"), &ids);
	for (size_t i = 0; i < ids.n; i++)
		if (strcmp(ids.v[i], parent) != 0 && !kab_strv_has(&unique, ids.v[i]))
			kab_strv_add(&unique, ids.v[i]);
	kab_strv_add(&unique, parent);
	text = kab_strv_join(&unique, " ");
	kab_mail_header_print("References", text, out);
}

int kab_reply_headers(const struct kab_mail *mail, const struct kab_reply_opts *opts,
		      struct kab_buf *out, struct kab_strv *rcpt, struct kab_err *err)
{
	struct kab_addresses to = { 0 }, cc = { 0 }, from = { 0 };
	struct kab_buf kab_autobuf subject = KAB_BUF_INIT;
	char *parent kab_autofree = NULL, *decoded kab_autofree = NULL, *plain kab_autofree = NULL;
	const char *self = opts->from.addr, *text = kab_mail_get(mail, "Subject");
	int status = -1;

	if (parent_id(mail, opts, &parent, err) < 0)
		return -1;
	if (!opts->subject && (!text || !*text)) {
		kab_err_set(err, KAB_ERR_CONFIG, "the mail has no subject; pass --subject");
		return -1;
	}
	add_all(&to, NULL, mail, kab_mail_get(mail, "Reply-To") ? "Reply-To" : "From", self);
	for (size_t i = 0; opts->to && i < opts->to->n; i++)
		add_unique(&to, NULL, &opts->to->v[i], self);
	add_all(&cc, &to, mail, "To", self);
	add_all(&cc, &to, mail, "Cc", self);
	for (size_t i = 0; opts->cc && i < opts->cc->n; i++)
		add_unique(&cc, &to, &opts->cc->v[i], self);
	if (!to.n) {
		kab_err_set(err, KAB_ERR_CONFIG,
			    "the address of the author is not in the mail; pass --to");
		goto out;
	}
	decoded = kab_mime_decode_header(opts->subject ? opts->subject : text);
	plain = kab_reply_subject(decoded);
	if (!opts->subject)
		kab_buf_adds(&subject, "Re: ");
	kab_mime_encode_header(opts->subject ? opts->subject : plain, &subject);
	kab_addresses_add(&from, opts->from.name, opts->from.addr);
	kab_mail_addresses_print("From", &from, out);
	kab_mail_addresses_print("To", &to, out);
	kab_mail_addresses_print("Cc", &cc, out);
	kab_mail_header_print("Subject", kab_buf_str(&subject), out);
	kab_mail_header_print("Date", opts->date, out);
	kab_mail_header_print("Message-ID", opts->message_id, out);
	kab_mail_header_print("In-Reply-To", parent, out);
	references(mail, parent, out);
	kab_buf_adds(out, "MIME-Version: 1.0\n"
			  "Content-Type: text/plain; charset=us-ascii\n"
			  "Content-Transfer-Encoding: 7bit\n\n");
	for (size_t i = 0; i < to.n; i++)
		kab_strv_add(rcpt, to.v[i].addr);
	for (size_t i = 0; i < cc.n; i++)
		kab_strv_add(rcpt, cc.v[i].addr);
	status = 0;
out:
	kab_addresses_release(&to);
	kab_addresses_release(&cc);
	kab_addresses_release(&from);
	return status;
}

/* ---- quotation ---- */

static bool blank(const struct kab_mail_lines *lines, size_t i)
{
	return kab_line_is_blank(lines->v[i].text, lines->v[i].len);
}

static bool ends_with_wrote(const struct kab_mail_line *line)
{
	return line->len >= 6 && !strncmp(line->text + line->len - 6, "wrote:", 6);
}

/* A sentence that says what the change does for speed. */
static bool is_claim(const struct kab_mail_line *line)
{
	static const char *const words[] = {
		"improve", "improves",	    "improvement", "improved",	"improvements", "faster",
		"slower",  "regression",    "regressions", "regressed", "benefit",	"gain",
		"reduces", "significantly", "speedup",	   "better"
	};
	char *text kab_autofree = kab_xstrndup(line->text, line->len);

	for (size_t i = 0; i < KAB_ARRAY_SIZE(words); i++)
		if (kab_words_have(text, words[i]))
			return true;
	return false;
}

/* The first paragraph with a claim that stands above line `before`, outside of tables. */
static void keep_claim(const struct kab_mail_lines *lines, const struct kab_mail_tables *tables,
		       size_t before, bool *keep)
{
	for (size_t i = 0; i < before; i++) {
		size_t from = i, to = i;
		bool in_table = false;

		for (size_t t = 0; t < tables->n; t++)
			in_table = in_table ||
				   (i >= tables->v[t].first_line && i <= tables->v[t].last_line);
		if (in_table || !is_claim(&lines->v[i]))
			continue;
		while (from && !blank(lines, from - 1) && i - from < CLAIM_LINES_MAX / 2 &&
		       lines->v[from - 1].depth == lines->v[i].depth)
			from--;
		while (to + 1 < before && !blank(lines, to + 1) &&
		       to - from < CLAIM_LINES_MAX - 1 &&
		       lines->v[to + 1].depth == lines->v[i].depth)
			to++;
		for (size_t k = from; k <= to; k++)
			keep[k] = true;
		return;
	}
}

/* A table with the lines right above it, and the block before these when it is short. */
static void keep_table(const struct kab_mail_lines *lines, const struct kab_mail_table *t,
		       size_t after, bool *keep)
{
	size_t i = t->first_line, n = 0;

	for (size_t k = t->first_line; k <= t->last_line; k++)
		keep[k] = true;
	while (i > after && n < CONTEXT_LINES_MAX && !blank(lines, i - 1) &&
	       lines->v[i - 1].depth == t->depth) {
		keep[--i] = true;
		n++;
	}
	if (n || i <= after + 1 || !blank(lines, i - 1))
		return;
	i--;
	while (i > after && n < CONTEXT_LINES_MAX / 2 && !blank(lines, i - 1) &&
	       lines->v[i - 1].depth == t->depth && lines->v[i - 1].len) {
		keep[--i] = true;
		n++;
	}
	for (size_t k = i; n && k < t->first_line; k++)
		keep[k] = true;
}

/* Who is quoted: the "wrote:" line above the first kept line of every depth. */
static void keep_authors(const struct kab_mail_lines *lines, bool *keep)
{
	int deepest = 0;

	for (size_t i = 0; i < lines->n; i++)
		if (keep[i] && lines->v[i].depth > deepest)
			deepest = lines->v[i].depth;
	for (int d = 0; d < deepest; d++)
		for (size_t i = 0; i < lines->n; i++)
			if (lines->v[i].depth == d && ends_with_wrote(&lines->v[i])) {
				keep[i] = true;
				break;
			}
}

static void quote_line(const struct kab_mail_line *line, struct kab_buf *out)
{
	struct kab_buf kab_autobuf ascii = KAB_BUF_INIT;
	char *raw kab_autofree = kab_xstrndup(line->raw, line->raw_len);

	kab_mime_to_ascii(raw, &ascii);
	if (!ascii.len)
		kab_buf_adds(out, ">\n");
	else
		kab_buf_addf(out, ">%s%s\n", *raw == '>' ? "" : " ", kab_buf_str(&ascii));
}

static void attribution(const struct kab_mail *mail, struct kab_buf *out)
{
	struct kab_addresses from = { 0 };
	struct kab_buf kab_autobuf line = KAB_BUF_INIT, ascii = KAB_BUF_INIT;
	const char *date = kab_mail_get(mail, "Date"), *name = "the author";

	kab_addresses_parse(kab_mail_get(mail, "From"), &from);
	if (from.n)
		name = *from.v[0].name ? from.v[0].name : from.v[0].addr;
	if (date && *date) {
		/* "(PDT)" and double blanks are of no use here. */
		size_t n = strcspn(date, "(");

		kab_buf_adds(&line, "On ");
		for (size_t i = 0; i < n; i++)
			if (date[i] != ' ' || (i && date[i - 1] != ' '))
				kab_buf_addc(&line, date[i]);
		kab_buf_rtrim(&line, " ");
		kab_buf_addf(&line, ",%s", line.len + strlen(name) > 66 ? "\n" : " ");
	}
	kab_buf_addf(&line, "%s wrote:\n", name);
	kab_mime_to_ascii(kab_buf_str(&line), &ascii);
	kab_buf_adds(out, kab_buf_str(&ascii));
	kab_addresses_release(&from);
}

void kab_reply_quote(const struct kab_mail *mail, const struct kab_mail_lines *lines,
		     const struct kab_mail_tables *tables, const bool *chosen, struct kab_buf *out)
{
	bool *keep = kab_xcalloc(lines->n + 1, sizeof(*keep)), cut = false, any = false;
	size_t first = lines->n, after = 0;

	for (size_t t = 0; t < tables->n; t++) {
		if (chosen[t]) {
			keep_table(lines, &tables->v[t], after, keep);
			if (tables->v[t].first_line < first)
				first = tables->v[t].first_line;
		}
		after = tables->v[t].last_line + 1;
	}
	keep_claim(lines, tables, first, keep);
	keep_authors(lines, keep);
	attribution(mail, out);
	for (size_t i = 0; i < lines->n; i++) {
		if (!keep[i]) {
			cut = cut || !blank(lines, i);
			/* An empty line between two kept ones stays. */
			if (blank(lines, i) && i && keep[i - 1] && i + 1 < lines->n && keep[i + 1])
				quote_line(&lines->v[i], out);
			continue;
		}
		if (cut)
			kab_buf_adds(out, any ? ">\n> [...]\n>\n" : "> [...]\n");
		cut = false;
		any = true;
		quote_line(&lines->v[i], out);
	}
	free(keep);
}

/* ---- rows ---- */

/* The last number in a label: the load. */
static bool load_of(const char *label, double *ret)
{
	bool found = false;

	for (const char *p = label; *p; p++) {
		struct kab_item item;
		size_t n;

		if (!isdigit((unsigned char)*p) ||
		    (p > label && (isalnum((unsigned char)p[-1]) || p[-1] == '.')))
			continue;
		n = strspn(p, "0123456789");
		if (!kab_item_scan(p, n, 0, false, &item))
			continue;
		*ret = item.value;
		found = true;
		p += n - 1;
	}
	return found;
}

const char *kab_reply_same_row(const struct kab_mail_table *table, const char *label)
{
	const char *found = NULL;
	double want, have;

	if (!load_of(label, &want))
		return NULL;
	for (size_t r = 0; r < table->n_rows; r++) {
		if (!load_of(table->rows[r].label, &have) || have != want)
			continue;
		/* Two rows of that load: which one is meant cannot be told. */
		if (found)
			return NULL;
		found = table->rows[r].label;
	}
	return found;
}

void kab_reply_mbox(const char *message, const char *from, const char *date_asctime,
		    struct kab_buf *out)
{
	kab_buf_addf(out, "From %s %s\n", from, date_asctime);
	for (const char *p = message; *p;) {
		size_t n = strcspn(p, "\n"), marks = strspn(p, ">");

		if (!strncmp(p + marks, "From ", 5))
			kab_buf_addc(out, '>');
		kab_buf_add(out, p, n);
		kab_buf_addc(out, '\n');
		p += n;
		p += *p == '\n';
	}
	kab_buf_addc(out, '\n');
}
