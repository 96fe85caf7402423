/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Encodings, headers and addresses; where an RFC has an example, it is that one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "exchange/mail_reply.h"
#include "exchange/mime.h"

static void quoted_printable(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "a=3Db", "a=b" },
		{ "592M=\r\nB/s", "592MB/s" },
		{ "592M=\nB/s", "592MB/s" },
		{ "soft= \t\nbreak", "softbreak" },
		{ "100=25 =3d=3D", "100% ==" },
		/* Malformed: kept as it stands. */
		{ "a=zz b", "a=zz b" },
		{ "x=", "x" },
		{ "=4", "=4" },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(cases); i++) {
		struct kab_buf kab_autobuf out = KAB_BUF_INIT;

		kab_mime_decode_qp(cases[i].in, strlen(cases[i].in), false, &out);
		assert_string_equal(kab_buf_str(&out), cases[i].out);
	}
}

/* RFC 4648, section 10. */
static void base64(void **state)
{
	static const struct {
		const char *plain, *coded;
	} cases[] = { { "", "" },
		      { "f", "Zg==" },
		      { "fo", "Zm8=" },
		      { "foo", "Zm9v" },
		      { "foob", "Zm9vYg==" },
		      { "fooba", "Zm9vYmE=" },
		      { "foobar", "Zm9vYmFy" } };
	static const char again[] = "Zm9v\r\nYg==\r\nZm8=";
	struct kab_buf kab_autobuf out = KAB_BUF_INIT;

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(cases); i++) {
		kab_buf_clear(&out);
		kab_mime_decode_base64(cases[i].coded, strlen(cases[i].coded), &out);
		assert_string_equal(kab_buf_str(&out), cases[i].plain);
		kab_buf_clear(&out);
		kab_mime_encode_base64(cases[i].plain, strlen(cases[i].plain), &out);
		assert_string_equal(kab_buf_str(&out), cases[i].coded);
	}
	kab_buf_clear(&out);
	kab_mime_decode_base64(again, strlen(again), &out);
	assert_string_equal(kab_buf_str(&out), "foobfo");
}

/* RFC 2047, section 8, and what mailers make of it. */
static void encoded_words(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "=?ISO-8859-1?Q?a?=", "a" },
		{ "=?ISO-8859-1?Q?a?= b", "a b" },
		{ "=?ISO-8859-1?Q?a?= =?ISO-8859-1?Q?b?=", "ab" },
		{ "=?ISO-8859-1?Q?a?=   =?ISO-8859-1?Q?b?=", "ab" },
		{ "=?ISO-8859-1?Q?a_b?=", "a b" },
		{ "=?ISO-8859-1?Q?a?= =?ISO-8859-2?Q?_b?=", "a b" },
		{ "=?US-ASCII?Q?Keith_Moore?= x", "Keith Moore x" },
		{ "=?ISO-8859-1?Q?Andr=E9?= Pirard", "Andr\u00e9 Pirard" },
		{ "=?ISO-8859-1?B?SWYgeW91IGNhbiByZWFkIHRoaXMgeW8=?=", "If you can read this yo" },
		{ "=?utf-8*en?q?=c3=a4?=", "\u00e4" },
		{ "plain =? not a word", "plain =? not a word" },
		{ "Re: =?utf-8?q?x?=", "Re: x" },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(cases); i++) {
		char *out kab_autofree = kab_mime_decode_header(cases[i].in);

		assert_string_equal(out, cases[i].out);
	}
}

static void header_words_are_short_ascii_and_read_back(void **state)
{
	static const char *const texts[] = {
		"Zo\u00eb M\u00fcller",
		"plain",
		"\u65e5\u672c\u8a9e\u306e\u3068\u3066\u3082\u9577\u3044\u984c\u540d\u3067\u3059"
		"\u3002"
		"\u65e5\u672c\u8a9e\u306e\u3068\u3066\u3082\u9577\u3044\u984c\u540d",
		"a question? = yes _ no \u2013",
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(texts); i++) {
		struct kab_buf kab_autobuf out = KAB_BUF_INIT;
		char *back kab_autofree = NULL;

		kab_mime_encode_header(texts[i], &out);
		assert_true(kab_mime_is_ascii(kab_buf_str(&out)));
		for (const char *p = kab_buf_str(&out); *p; p += strcspn(p, " "), p += *p == ' ')
			assert_true(strcspn(p, " ") <= 75);
		back = kab_mime_decode_header(kab_buf_str(&out));
		assert_string_equal(back, texts[i]);
	}
}

/* RFC 3676, sections 4.2 to 4.5. */
static void flowed(void **state)
{
	static const struct {
		const char *in, *out;
		bool delsp;
	} cases[] = {
		{ "one \ntwo\n", "one two\n", false },
		{ "one \ntwo\n", "onetwo\n", true },
		{ " >stuffed\n", ">stuffed\n", false },
		{ "> a \n> b\n", "> a b\n", false },
		/* Another depth ends a paragraph. */
		{ "> a \n>> b\n", "> a \n>> b\n", false },
		/* A quoted empty line is no soft break. */
		{ "> \n> row\n", ">\n> row\n", false },
		{ "text \n-- \nname\n", "text \n-- \nname\n", false },
		{ "open ", "open \n", false },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(cases); i++) {
		struct kab_buf kab_autobuf out = KAB_BUF_INIT;

		kab_mime_unflow(cases[i].in, cases[i].delsp, &out);
		assert_string_equal(kab_buf_str(&out), cases[i].out);
	}
}

static void addresses(void **state)
{
	struct kab_addresses list = { 0 };
	struct kab_buf kab_autobuf out = KAB_BUF_INIT;
	static const char *const want[][2] = {
		{ "Doe, Jane", "jane@example.test" }, { "", "bare@example.test" },
		{ "", "angle@example.test" },	      { "Comment Name", "c@example.test" },
		{ "a@b", "a@example.test" },	      { "Masked", "" },
	};

	(void)state;
	kab_addresses_parse("\"Doe, Jane\" <jane@example.test>, bare@example.test, "
			    "<angle@example.test>, c@example.test (Comment Name), friends:, "
			    "\"a@b\" <a@example.test>, Masked",
			    &list);
	assert_int_equal(list.n, KAB_ARRAY_SIZE(want));
	for (size_t i = 0; i < list.n; i++) {
		assert_string_equal(list.v[i].name, want[i][0]);
		assert_string_equal(list.v[i].addr, want[i][1]);
	}
	assert_true(kab_addresses_have(&list, "JANE@example.TEST"));
	kab_address_print(&list.v[0], &out);
	assert_string_equal(kab_buf_str(&out), "\"Doe, Jane\" <jane@example.test>");
	kab_addresses_release(&list);
}

static void subjects(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "Re: [PATCH] a", "[PATCH] a" },
		{ "RE: re:Re: x", "x" },
		{ "[list] Re: [PATCH v2] x", "[PATCH v2] x" },
		{ "[list] [PATCH] x", "[list] [PATCH] x" },
		{ "Regression", "Regression" },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(cases); i++) {
		char *out kab_autofree = kab_reply_subject(cases[i].in);

		assert_string_equal(out, cases[i].out);
	}
}

static void multipart(void **state)
{
	static const char text[] =
		"From: a@example.test\nSubject: x\nMessage-ID: <1@x>\n"
		"Content-Type: multipart/alternative; boundary=\"=_b\"\n\nfor old readers\n"
		"--=_b\nContent-Type: text/html\n\n<b>no</b>\n"
		"--=_b\nContent-Type: text/plain; charset=\"iso-8859-1\"\n"
		"Content-Transfer-Encoding: quoted-printable\n\ngr=FC=DFe\n--=_b--\n";
	struct kab_err err = KAB_ERR_INIT;
	struct kab_mail mail;

	(void)state;
	assert_int_equal(kab_mail_parse(text, strlen(text), &mail, &err), 0);
	assert_string_equal(kab_buf_str(&mail.body), "gr\u00fc\u00dfe\n");
	assert_string_equal(kab_mail_get(&mail, "message-id"), "<1@x>");
	kab_mail_release(&mail);
	assert_int_equal(kab_mail_parse("\0\1", 2, &mail, &err), -1);
	assert_int_equal(kab_mail_parse(" \n", 2, &mail, &err), -1);
	assert_int_equal(err.code, KAB_ERR_PARSE);
}

static void mbox(void **state)
{
	static const char message[] =
		"From: a@b.test\nSubject: s\n\nFrom 6.1 to 6.12\n>From x\n.\n";
	struct kab_buf kab_autobuf box = KAB_BUF_INIT;
	struct kab_mail_spans spans = { 0 };
	struct kab_mail mail;

	(void)state;
	for (int i = 0; i < 2; i++)
		kab_reply_mbox(message, "a@b.test", "Tue Nov 24 10:00:00 2026", &box);
	kab_mail_split(kab_buf_str(&box), box.len, &spans);
	assert_int_equal(spans.n, 2);
	for (size_t i = 0; i < spans.n; i++) {
		assert_int_equal(
			kab_mail_parse(box.data + spans.v[i].from, spans.v[i].len, &mail, NULL), 0);
		kab_buf_rtrim(&mail.body, "\n");
		assert_string_equal(kab_buf_str(&mail.body), "From 6.1 to 6.12\n>From x\n.");
		kab_mail_release(&mail);
	}
	free(spans.v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quoted_printable),
		cmocka_unit_test(base64),
		cmocka_unit_test(encoded_words),
		cmocka_unit_test(header_words_are_short_ascii_and_read_back),
		cmocka_unit_test(flowed),
		cmocka_unit_test(addresses),
		cmocka_unit_test(subjects),
		cmocka_unit_test(multipart),
		cmocka_unit_test(mbox),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
