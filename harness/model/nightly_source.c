/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/nightly.h"

static const char *const source_keys[] = { "name",    "folder",	  "index",     "feed",
					   "hook",    "pattern",  "spec",      "command",
					   "moniker", "releases", "timeout_s", NULL };

static const struct {
	const char *key;
	enum kab_source_kind kind;
} kinds[] = {
	{ "folder", KAB_SOURCE_FOLDER },
	{ "index", KAB_SOURCE_INDEX },
	{ "feed", KAB_SOURCE_FEED },
	{ "hook", KAB_SOURCE_HOOK },
};

const char *kab_source_kind_name(enum kab_source_kind kind)
{
	for (size_t i = 0; i < KAB_ARRAY_SIZE(kinds); i++)
		if (kinds[i].kind == kind)
			return kinds[i].key;
	return "unknown";
}

void kab_source_def_release(struct kab_source_def *def)
{
	free(def->name);
	free(def->path);
	free(def->url);
	free(def->pattern);
	free(def->releases);
	free(def->spec);
	kab_strv_release(&def->command);
	kab_strv_release(&def->monikers);
	*def = (struct kab_source_def){ 0 };
}

/* Which of the four keys says what it is. */
static int find_kind(const struct kab_json *node, enum kab_source_kind *ret, struct kab_err *err)
{
	size_t found = 0;

	for (size_t i = 0; i < KAB_ARRAY_SIZE(kinds); i++) {
		if (!kab_json_get(node, kinds[i].key).value)
			continue;
		*ret = kinds[i].kind;
		found++;
	}
	if (found != 1)
		return kab_json_fail(node, err,
				     "expected one of the keys 'folder', 'index', 'feed' and "
				     "'hook', found %s",
				     found ? "several" : "none of them");
	return 0;
}

/* A key that this kind of source has no use for would be silently without effect. */
static int check_useful(const struct kab_json *node, enum kab_source_kind kind, struct kab_err *err)
{
	static const struct {
		const char *key;
		unsigned kinds;
	} useful[] = {
		{ "pattern", 1u << KAB_SOURCE_FOLDER | 1u << KAB_SOURCE_INDEX },
		{ "spec", 1u << KAB_SOURCE_FEED },
		{ "command", 1u << KAB_SOURCE_FEED },
		{ "moniker", 1u << KAB_SOURCE_FEED },
	};

	for (size_t i = 0; i < KAB_ARRAY_SIZE(useful); i++) {
		struct kab_json child = kab_json_get(node, useful[i].key);

		if (child.value && !(useful[i].kinds & 1u << kind))
			return kab_json_fail(&child, err, "a source of the kind '%s' has no '%s'",
					     kab_source_kind_name(kind), useful[i].key);
	}
	return 0;
}

static bool is_url(const char *text)
{
	return !strncmp(text, "http://", 7) || !strncmp(text, "https://", 8);
}

int kab_source_def_load(const struct kab_json *node, const char *dir, struct kab_source_def *ret,
			struct kab_err *err)
{
	const char *name, *place, *pattern, *releases, *spec;
	enum kab_source_kind kind = KAB_SOURCE_FOLDER;
	struct kab_json child;

	if (kab_json_object(node, source_keys, err) < 0 || find_kind(node, &kind, err) < 0 ||
	    check_useful(node, kind, err) < 0)
		return -1;
	if (kab_json_str(node, "name", kab_source_kind_name(kind), &name, err) < 0 ||
	    kab_json_str(node, "pattern", NULL, &pattern, err) < 0 ||
	    kab_json_str(node, "releases", NULL, &releases, err) < 0 ||
	    kab_json_str(node, "spec", NULL, &spec, err) < 0 ||
	    kab_json_strv(node, "command", &ret->command, err) < 0 ||
	    kab_json_strv(node, "moniker", &ret->monikers, err) < 0 ||
	    kab_json_num(node, "timeout_s", 1, 86400, 600, &ret->timeout_s, err) < 0)
		return -1;
	ret->name = kab_xstrdup(name);
	ret->kind = kind;
	ret->pattern = kab_xstrdup(pattern);
	ret->releases = kab_xstrdup(releases);
	ret->spec = kab_xstrdup(spec);
	child = kab_json_get(node, kab_source_kind_name(kind));
	if (kind == KAB_SOURCE_HOOK) {
		if (kab_json_strv(node, "hook", &ret->command, err) < 0)
			return -1;
		if (!ret->command.n)
			return kab_json_fail(&child, err,
					     "expected a command: a list of program and arguments");
		return 0;
	}
	if (kab_json_need_str(node, kab_source_kind_name(kind), &place, err) < 0)
		return -1;
	if (kind == KAB_SOURCE_FOLDER) {
		ret->path = *place == '/' ? kab_xstrdup(place) : kab_xasprintf("%s/%s", dir, place);
		return 0;
	}
	if (!is_url(place))
		return kab_json_fail(&child, err, "expected an http or https URL, found '%s'",
				     place);
	ret->url = kab_xstrdup(place);
	if (kind == KAB_SOURCE_FEED && !ret->spec == !ret->command.n)
		return kab_json_fail(node, err,
				     "a feed names versions, not kernels: expected either 'spec' "
				     "with {version} in it, or 'command'");
	if (ret->spec && !strstr(ret->spec, "{version}")) {
		child = kab_json_get(node, "spec");
		return kab_json_fail(&child, err, "expected {version} somewhere in it");
	}
	return 0;
}
