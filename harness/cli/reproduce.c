/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/reproduce.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/strv.h"
#include "transport/transport.h"

/* Words of a shell line: blanks part them; '...' and \c are what our own quoting makes. */
static void split_words(const char *line, struct kab_strv *ret)
{
	struct kab_buf kab_autobuf word = KAB_BUF_INIT;
	bool any = false, quoted = false;

	for (const char *p = line; *p; p++) {
		if (*p == '\'') {
			quoted = !quoted;
			any = true;
		} else if (!quoted && *p == '\\' && p[1]) {
			kab_buf_addc(&word, *++p);
			any = true;
		} else if (!quoted && (*p == ' ' || *p == '\t' || *p == '\n')) {
			if (any)
				kab_strv_add(ret, kab_buf_str(&word));
			kab_buf_clear(&word);
			any = false;
		} else {
			kab_buf_addc(&word, *p);
			any = true;
		}
	}
	if (any)
		kab_strv_add(ret, kab_buf_str(&word));
}

/* Whether the word is the option, with or without its value behind a "=". */
static bool is_option(const char *word, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(word, name, n) && (!word[n] || word[n] == '=');
}

static bool is_local(const char *word)
{
	static const char *const options[] = { "--db", "--lab", "--name", "--wait" };

	for (size_t i = 0; i < KAB_ARRAY_SIZE(options); i++)
		if (is_option(word, options[i]))
			return true;
	return false;
}

/* "base=deb:/home/me/out/linux-image.deb;..." without folders: where files lie is nobody's business, and
 * is another place elsewhere. A URL stays. Caller frees. */
static char *without_folders(const char *word)
{
	struct kab_buf buf = KAB_BUF_INIT;

	for (const char *p = word; *p;) {
		bool path = *p == '/' && (p == word || strchr("=:,@", p[-1])) &&
			    !(p > word && p[-1] == ':' && p[1] == '/');
		size_t n = strcspn(p, ",;"), last = 0;

		if (!path) {
			kab_buf_addc(&buf, *p++);
			continue;
		}
		for (size_t i = 0; i < n; i++)
			if (p[i] == '/')
				last = i + 1;
		kab_buf_add(&buf, p + last, n - last);
		p += n;
	}
	return buf.data ? kab_buf_detach(&buf) : kab_xstrdup("");
}

char *kab_reproduce_command(const char *line, const char *plan_json, bool names)
{
	json_t *plan = plan_json ? json_loads(plan_json, 0, NULL) : NULL;
	json_t *seed = json_object_get(plan, "seed");
	struct kab_strv kab_autostrv words = KAB_STRV_INIT, out = KAB_STRV_INIT;
	bool runs = false, seeded = false;

	split_words(line, &words);
	for (size_t i = 0; i < words.n; i++) {
		const char *w = words.v[i];
		bool apart = !strchr(w, '=');

		runs |= i > 0 && !strcmp(w, "run");
		seeded |= is_option(w, "--seed");
		if (i == 0) {
			kab_strv_add(&out, "kab");
		} else if (names) {
			kab_strv_add(&out, w);
		} else if (is_local(w)) {
			i += apart;
		} else if (is_option(w, "--host")) {
			i += apart;
			kab_strv_add(&out, "--host");
			kab_strv_add(&out, "HOST");
		} else {
			char *plain kab_autofree = without_folders(w);

			kab_strv_add(&out, plain);
		}
	}
	if (runs && !seeded && json_is_integer(seed)) {
		kab_strv_add(&out, "--seed");
		kab_strv_addf(&out, "%lld", (long long)json_integer_value(seed));
	}
	json_decref(plan);
	return kab_quote_argv((const char *const *)kab_strv_argv(&out));
}
