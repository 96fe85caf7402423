/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/alloc.h"
#include "transport/transport.h"

/* Words that a shell reads as grammar when they stand bare in command position. */
static const char *const reserved[] = {
	"if",  "then", "else",	"elif",	 "fi",	   "do",       "done", "case",	 "esac",
	"for", "in",   "while", "until", "select", "function", "time", "coproc", NULL,
};

static bool is_bare(const char *word)
{
	/* No '=' (assignment), no '~' (home), nothing that globs or expands. */
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789_@%+:,./-";

	if (!*word || word[strspn(word, plain)])
		return false;
	for (size_t i = 0; reserved[i]; i++)
		if (strcmp(word, reserved[i]) == 0)
			return false;
	return true;
}

static bool is_bare_but_for_equals(const char *word)
{
	char *copy kab_autofree = kab_xstrdup(word);

	for (char *p = copy; *p; p++)
		if (*p == '=')
			*p = '_';
	return is_bare(copy);
}

void kab_quote_sh(struct kab_buf *buf, const char *word)
{
	if (is_bare(word)) {
		kab_buf_adds(buf, word);
		return;
	}
	kab_buf_addc(buf, '\'');
	for (const char *p = word; *p; p++) {
		if (*p == '\'')
			kab_buf_adds(buf, "'\\''");
		else
			kab_buf_addc(buf, *p);
	}
	kab_buf_addc(buf, '\'');
}

char *kab_quote_argv(const char *const *argv)
{
	struct kab_buf buf = KAB_BUF_INIT;

	for (size_t i = 0; argv[i]; i++) {
		if (i)
			kab_buf_addc(&buf, ' ');
		/* '=' makes an assignment only of the first word; people type NAME=VALUE bare. */
		if (i && *argv[i] != '=' && strchr(argv[i], '=') && is_bare_but_for_equals(argv[i]))
			kab_buf_adds(&buf, argv[i]);
		else
			kab_quote_sh(&buf, argv[i]);
	}
	return kab_buf_detach(&buf);
}
