/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/facts.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define FACTS_MAX 4096
#define FACT_BYTES_MAX 65536

static struct kab_fact *find(const struct kab_facts *facts, const char *key)
{
	for (size_t i = 0; facts && i < facts->n; i++)
		if (!strcmp(facts->v[i].key, key))
			return &facts->v[i];
	return NULL;
}

void kab_facts_set(struct kab_facts *facts, const char *key, const char *value)
{
	struct kab_fact *fact = find(facts, key);

	if (fact) {
		free(fact->value);
	} else {
		fact = KAB_PUSH(facts);
		fact->key = kab_xstrdup(key);
	}
	fact->value = kab_xstrdup(value);
}

/* Keys are [a-z0-9_]+ with an optional ".NAME" behind: a banner line "foo bar=baz" is no fact. */
static size_t key_length(const char *line, size_t len)
{
	size_t i = 0;

	while (i < len && (islower((unsigned char)line[i]) || isdigit((unsigned char)line[i]) ||
			   line[i] == '_'))
		i++;
	if (i && i < len && line[i] == '.')
		for (i++; i < len && line[i] != '=' && !isspace((unsigned char)line[i]); i++)
			;
	return i < len && line[i] == '=' ? i : 0;
}

int kab_facts_parse(struct kab_facts *facts, const char *text, size_t bytes, struct kab_err *err)
{
	const char *end = text + bytes;
	size_t before = facts->n;

	while (text < end && facts->n < FACTS_MAX) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));
		size_t len = (size_t)((eol ? eol : end) - text), key;

		if (len && text[len - 1] == '\r')
			len--;
		key = key_length(text, len);
		if (key && len - key <= FACT_BYTES_MAX) {
			char *name kab_autofree = kab_xstrndup(text, key);
			char *value kab_autofree = kab_xstrndup(text + key + 1, len - key - 1);

			kab_facts_set(facts, name, value);
		}
		text = eol ? eol + 1 : end;
	}
	if (facts->n == before)
		return kab_err_set(err, KAB_ERR_PARSE,
				   "the probe of the host printed no 'key=value' line");
	return 0;
}

const char *kab_facts_get(const struct kab_facts *facts, const char *key)
{
	const struct kab_fact *fact = find(facts, key);

	return fact ? fact->value : "";
}

int64_t kab_facts_int(const struct kab_facts *facts, const char *key, int64_t missing)
{
	const char *value = kab_facts_get(facts, key);
	char *end;
	long long n;

	errno = 0;
	n = strtoll(value, &end, 10);
	return errno || end == value || *end ? missing : n;
}

static const char *dotted(const struct kab_facts *facts, const char *prefix, const char *name)
{
	char key[128];

	snprintf(key, sizeof(key), "%s.%s", prefix, name);
	return kab_facts_get(facts, key);
}

const char *kab_facts_tool(const struct kab_facts *facts, const char *name)
{
	const char *path = dotted(facts, "tool", name);

	return *path ? path : NULL;
}

const char *kab_facts_tool_version(const struct kab_facts *facts, const char *name)
{
	return dotted(facts, "tool_version", name);
}

void kab_facts_copy(struct kab_facts *dst, const struct kab_facts *src)
{
	for (size_t i = 0; i < src->n; i++)
		kab_facts_set(dst, src->v[i].key, src->v[i].value);
}

void kab_facts_release(struct kab_facts *facts)
{
	for (size_t i = 0; i < facts->n; i++) {
		free(facts->v[i].key);
		free(facts->v[i].value);
	}
	free(facts->v);
	*facts = (struct kab_facts){ 0 };
}
