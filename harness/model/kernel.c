/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/kernel.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/text.h"

static void release_one(struct kab_kernel *k)
{
	free(k->label);
	free(k->spec);
	free(k->release);
	kab_strv_release(&k->sources);
	free(k->initrd);
	free(k->modules);
	free(k->cmdline);
	free(k->sha256);
	free(k->key);
	free(k->commit);
	free(k->build_id);
	free(k->describe);
	free(k->host);
	if (k->by_host)
		kab_kernel_list_release(k->by_host);
	free(k->by_host);
	*k = (struct kab_kernel){ 0 };
}

static bool is_hex(const char *s, size_t min, size_t max)
{
	size_t n = strlen(s);

	for (const char *p = s; *p; p++)
		if (!isxdigit((unsigned char)*p))
			return false;
	return n >= min && n <= max;
}

static bool is_release(const char *s)
{
	if (!*s || strlen(s) > 64)
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("._+~-", *s))
			return false;
	return true;
}

static int bad(const char *label, struct kab_err *err, const char *why, const char *found)
{
	return kab_err_set(err, KAB_ERR_USAGE, "kernel '%s': %s '%s'", label, why, found);
}

/* "image:PATH[,initrd=PATH][,modules=PATH]": a comma that starts no known key belongs to a path. */
static int image(struct kab_kernel *k, char *text, struct kab_err *err)
{
	char *initrd = strstr(text, ",initrd="), *modules = strstr(text, ",modules=");

	if (initrd)
		*initrd = '\0';
	if (modules)
		*modules = '\0';
	if (!*text)
		return bad(k->label, err, "'image:' needs a path, found", text);
	kab_strv_add(&k->sources, text);
	k->initrd = initrd ? kab_xstrdup(initrd + strlen(",initrd=")) : NULL;
	k->modules = modules ? kab_xstrdup(modules + strlen(",modules=")) : NULL;
	if ((k->initrd && !*k->initrd) || (k->modules && !*k->modules))
		return bad(k->label, err, "an empty path in", k->spec);
	return 0;
}

static int main_part(struct kab_kernel *k, char *text, struct kab_err *err)
{
	if (!strcmp(text, "running")) {
		k->kind = KAB_KERNEL_RUNNING;
	} else if (!strncmp(text, "release:", 8)) {
		k->kind = KAB_KERNEL_RELEASE;
		if (!is_release(text + 8))
			return bad(k->label, err,
				   "not a kernel release as 'uname -r' prints it:", text + 8);
		k->release = kab_xstrdup(text + 8);
	} else if (!strncmp(text, "deb:", 4) && text[4]) {
		k->kind = KAB_KERNEL_DEB;
		kab_strv_split(&k->sources, text + 4, ',');
		if (kab_strv_has(&k->sources, ""))
			return bad(k->label, err, "an empty path in", text);
	} else if (!strncmp(text, "tar:", 4) && text[4]) {
		k->kind = KAB_KERNEL_TAR;
		kab_strv_add(&k->sources, text + 4);
	} else if (!strncmp(text, "image:", 6)) {
		k->kind = KAB_KERNEL_IMAGE;
		return image(k, text + 6, err);
	} else {
		static const char *const kinds[] = { "running", "release", "deb",
						     "tar",	"image",   NULL };
		char *kind kab_autofree = kab_xstrndup(text, strcspn(text, ":"));
		const char *near = kab_text_nearest(kind, kinds);

		return kab_err_set(err, KAB_ERR_USAGE,
				   "kernel '%s': expected running, release:R, deb:PATH, tar:PATH, "
				   "image:PATH or @FILE.json, found '%s'%s%s%s",
				   k->label, text, near ? "; did you mean '" : "", near ? near : "",
				   near ? "'?" : "");
	}
	return 0;
}

static int suffix(struct kab_kernel *k, const char *text, struct kab_err *err)
{
	if (!strncmp(text, "cmdline=", 8)) {
		for (const char *p = text + 8; *p; p++)
			if (!isprint((unsigned char)*p))
				return bad(k->label, err, "a command line is printable text, not",
					   text + 8);
		free(k->cmdline);
		k->cmdline = kab_xstrdup(text + 8);
	} else if (!strncmp(text, "sha256=", 7)) {
		if (!is_hex(text + 7, 64, 64))
			return bad(k->label, err, "expected 64 hexadecimal digits, found",
				   text + 7);
		free(k->sha256);
		k->sha256 = kab_xstrdup(text + 7);
	} else {
		return bad(k->label, err, "expected ';cmdline=' or ';sha256=', found", text);
	}
	return 0;
}

/* One kernel as an object. What it does not say it takes from `beside` (NULL: nothing). */
static int from_object(struct kab_kernel *k, const struct kab_json *node,
		       const struct kab_kernel *beside, struct kab_err *err)
{
	static const char *const keys[] = { "running",	"release",  "deb",     "tar",	 "image",
					    "initrd",	"modules",  "cmdline", "sha256", "commit",
					    "build_id", "describe", NULL };
	const char *release, *tar, *img, *initrd, *modules, *cmdline, *sha, *commit, *build_id,
		*describe;
	const char **texts[] = { &tar, &img, &initrd, &modules, &commit, &describe };
	bool running = false;
	int n;

	if (kab_json_object(node, keys, err) < 0 ||
	    kab_json_bool(node, "running", false, &running, err) < 0 ||
	    kab_json_str(node, "release", NULL, &release, err) < 0 ||
	    kab_json_strv(node, "deb", &k->sources, err) < 0 ||
	    kab_json_str(node, "tar", NULL, &tar, err) < 0 ||
	    kab_json_str(node, "image", NULL, &img, err) < 0 ||
	    kab_json_str(node, "initrd", NULL, &initrd, err) < 0 ||
	    kab_json_str(node, "modules", NULL, &modules, err) < 0 ||
	    kab_json_str(node, "cmdline", beside ? beside->cmdline : NULL, &cmdline, err) < 0 ||
	    kab_json_str(node, "sha256", NULL, &sha, err) < 0 ||
	    kab_json_str(node, "commit", beside ? beside->commit : NULL, &commit, err) < 0 ||
	    kab_json_str(node, "build_id", NULL, &build_id, err) < 0 ||
	    kab_json_str(node, "describe", beside ? beside->describe : NULL, &describe, err) < 0)
		return -1;
	n = running + (k->sources.n > 0) + (tar != NULL) + (img != NULL);
	if (release && (running || n == 0))
		n++;
	if (n != 1)
		return kab_json_fail(
			node, err,
			"expected exactly one of 'running', 'release', 'deb', 'tar', 'image', "
			"found %d",
			n);
	if (release && !is_release(release))
		return kab_json_fail(node, err, "'%s' is no kernel release as 'uname -r' prints it",
				     release);
	for (const char *p = cmdline; p && *p; p++)
		if (!isprint((unsigned char)*p))
			return kab_json_fail(node, err, "'cmdline' is printable text, not '%s'",
					     cmdline);
	for (size_t i = 0; i < KAB_ARRAY_SIZE(texts); i++)
		if (*texts[i] && !kab_text_is_line(*texts[i]))
			return kab_json_fail(node, err,
					     "expected printable text in one line, found '%s'",
					     *texts[i]);
	if ((sha && !is_hex(sha, 64, 64)) || (build_id && !is_hex(build_id, 8, 64)))
		return kab_json_fail(
			node, err, "'sha256' is 64 hexadecimal digits, 'build_id' 8 to 64 of them");
	k->kind = running	 ? KAB_KERNEL_RUNNING
		  : tar		 ? KAB_KERNEL_TAR
		  : img		 ? KAB_KERNEL_IMAGE
		  : k->sources.n ? KAB_KERNEL_DEB
				 : KAB_KERNEL_RELEASE;
	if (tar || img)
		kab_strv_add(&k->sources, tar ? tar : img);
	k->release = kab_xstrdup(release);
	k->initrd = kab_xstrdup(initrd);
	k->modules = kab_xstrdup(modules);
	k->cmdline = kab_xstrdup(cmdline);
	k->sha256 = kab_xstrdup(sha);
	k->commit = kab_xstrdup(commit);
	k->build_id = kab_xstrdup(build_id);
	k->describe = kab_xstrdup(describe);
	return 0;
}

/* The "hosts" of a file: one kernel for each. */
static int from_hosts(struct kab_kernel *k, const struct kab_json *root, struct kab_err *err)
{
	static const char *const keys[] = { "hosts", "cmdline", "commit", "describe", NULL };
	const char *cmdline, *commit, *describe, *host;
	struct kab_json hosts, node;
	json_t *value;

	if (kab_json_object(root, keys, err) < 0 ||
	    kab_json_str(root, "cmdline", NULL, &cmdline, err) < 0 ||
	    kab_json_str(root, "commit", NULL, &commit, err) < 0 ||
	    kab_json_str(root, "describe", NULL, &describe, err) < 0)
		return -1;
	k->kind = KAB_KERNEL_BY_HOST;
	k->cmdline = kab_xstrdup(cmdline);
	k->commit = kab_xstrdup(commit);
	k->describe = kab_xstrdup(describe);
	k->by_host = kab_xcalloc(1, sizeof(*k->by_host));
	hosts = kab_json_get(root, "hosts");
	if (!json_is_object(hosts.value) || !json_object_size(hosts.value))
		return kab_json_fail(&hosts, err,
				     "'hosts' is an object of kernels by host name, such as "
				     "{\"HOST\": {\"release\": \"R\"}}");
	json_object_foreach (hosts.value, host, value) {
		struct kab_kernel *one;

		if (*host == '_' || *host == '$')
			continue;
		one = KAB_PUSH(k->by_host);
		*one = (struct kab_kernel){ .label = kab_xstrdup(k->label),
					    .spec = kab_xstrdup(k->spec),
					    .host = kab_xstrdup(host) };
		node = kab_json_get(&hosts, host);
		if (from_object(one, &node, k, err) < 0)
			return -1;
	}
	return 0;
}

static int from_file(struct kab_kernel *k, const char *file, struct kab_err *err)
{
	struct kab_json root;
	json_t *doc;
	int status;

	if (kab_json_load_file(file, &doc, err) < 0)
		return -1;
	root = kab_json_root(doc, file);
	status = json_object_get(doc, "hosts") ? from_hosts(k, &root, err)
					       : from_object(k, &root, NULL, err);
	json_decref(doc);
	return status;
}

/* ";cmdline=..." after a file for several hosts is for all of them. */
static int suffix_by_host(struct kab_kernel *k, const char *text, struct kab_err *err)
{
	if (!strncmp(text, "sha256=", 7))
		return bad(
			k->label, err,
			"write 'sha256' into the file, beside the source of each host, instead of",
			text);
	for (size_t i = 0; i < k->by_host->n; i++)
		if (suffix(&k->by_host->v[i], text, err) < 0)
			return -1;
	return 0;
}

static int parse(struct kab_kernel *k, struct kab_err *err)
{
	struct kab_strv kab_autostrv parts = KAB_STRV_INIT;

	kab_strv_split(&parts, k->spec, ';');
	if (!parts.n)
		return bad(k->label, err, "expected a SPEC, found", "");
	if (parts.v[0][0] == '@' ? from_file(k, parts.v[0] + 1, err)
				 : main_part(k, parts.v[0], err))
		return -1;
	for (size_t i = 1; i < parts.n; i++)
		if ((k->by_host && suffix_by_host(k, parts.v[i], err) < 0) ||
		    suffix(k, parts.v[i], err) < 0)
			return -1;
	return 0;
}

const struct kab_kernel *kab_kernel_for_host(const struct kab_kernel *kernel, const char *host)
{
	if (kernel->kind != KAB_KERNEL_BY_HOST)
		return kernel;
	for (size_t i = 0; kernel->by_host && i < kernel->by_host->n; i++)
		if (!strcmp(kernel->by_host->v[i].host, host))
			return &kernel->by_host->v[i];
	return NULL;
}

int kab_kernel_add(struct kab_kernel_list *list, const char *text, struct kab_err *err)
{
	const char *eq = strchr(text, '=');
	char *label kab_autofree = eq ? kab_xstrndup(text, (size_t)(eq - text)) : NULL;
	struct kab_kernel k = { 0 };

	if (!eq)
		return kab_err_set(err, KAB_ERR_USAGE,
				   "kernel '%s': expected LABEL=SPEC, e.g. base=running or "
				   "patched=release:6.12.0",
				   text);
	if (!kab_text_is_label(label))
		return kab_err_set(
			err, KAB_ERR_USAGE,
			"kernel label '%s': use letters, digits and '._+-', not starting "
			"with '-'",
			label);
	/* What is stored with the run has to come back from there. */
	if (!kab_text_is_line(eq))
		return kab_err_set(err, KAB_ERR_USAGE,
				   "kernel '%s': expected printable text (UTF-8), found '%s'",
				   label, eq + 1);
	for (size_t i = 0; i < list->n; i++)
		if (!strcmp(list->v[i].label, label))
			return kab_err_set(err, KAB_ERR_USAGE, "kernel label '%s' is given twice",
					   label);
	k.label = kab_xstrdup(label);
	k.spec = kab_xstrdup(eq + 1);
	if (parse(&k, err) < 0) {
		release_one(&k);
		return -1;
	}
	*KAB_PUSH(list) = k;
	return 0;
}

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

bool kab_kernel_same_spec(const struct kab_kernel *a, const struct kab_kernel *b)
{
	size_t n = a->by_host ? a->by_host->n : 0;

	if (n != (b->by_host ? b->by_host->n : 0))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct kab_kernel *one = &a->by_host->v[i];
		const struct kab_kernel *other = kab_kernel_for_host(b, one->host);

		if (!other || !kab_kernel_same_spec(one, other))
			return false;
	}
	return a->kind == b->kind && same(a->release, b->release) &&
	       kab_strv_equal(&a->sources, &b->sources) && same(a->initrd, b->initrd) &&
	       same(a->modules, b->modules) && same(a->cmdline, b->cmdline);
}

int kab_kernel_matches(const struct kab_kernel *kernel, const struct kab_facts *facts,
		       char **ret_why)
{
	const char *release = kab_facts_get(facts, "release");
	const char *build_id = kab_facts_get(facts, "build_id");

	if (kernel->kind == KAB_KERNEL_RUNNING)
		return 1;
	/* People write the first digits, in either case. */
	if (kernel->build_id && *build_id &&
	    strncasecmp(kernel->build_id, build_id, strlen(kernel->build_id))) {
		if (ret_why)
			*ret_why = kab_xasprintf("runs build id %.12s, needs %.12s", build_id,
						 kernel->build_id);
		return 0;
	}
	if (kernel->release && !strcmp(kernel->release, release))
		return 1;
	if (ret_why)
		*ret_why = kab_xasprintf("runs %s, needs %s", *release ? release : "unknown",
					 kernel->release ? kernel->release : kernel->spec);
	return 0;
}

static const char *const kinds[] = { "running", "release", "deb", "tar", "image", "by-host" };

json_t *kab_kernel_to_json(const struct kab_kernel *k)
{
	const struct {
		const char *key, *value;
	} texts[] = {
		{ "label", k->label },	     { "spec", k->spec },	{ "release", k->release },
		{ "initrd", k->initrd },     { "modules", k->modules }, { "cmdline", k->cmdline },
		{ "sha256", k->sha256 },     { "commit", k->commit },	{ "build_id", k->build_id },
		{ "describe", k->describe }, { "key", k->key },		{ "host", k->host },
	};
	json_t *object = json_object();

	json_object_set_new(object, "kind", json_string(kinds[k->kind]));
	for (size_t i = 0; i < KAB_ARRAY_SIZE(texts); i++)
		if (texts[i].value)
			json_object_set_new(object, texts[i].key, json_string(texts[i].value));
	if (k->sources.n) {
		json_t *list = json_array();

		for (size_t i = 0; i < k->sources.n; i++)
			json_array_append_new(list, json_string(k->sources.v[i]));
		json_object_set_new(object, "sources", list);
	}
	if (k->by_host) {
		json_t *list = json_array();

		for (size_t i = 0; i < k->by_host->n; i++)
			json_array_append_new(list, kab_kernel_to_json(&k->by_host->v[i]));
		json_object_set_new(object, "by_host", list);
	}
	return object;
}

int kab_kernel_from_json(struct kab_kernel_list *list, json_t *object, struct kab_err *err)
{
	const char *kind = json_string_value(json_object_get(object, "kind"));
	const char *label = json_string_value(json_object_get(object, "label"));
	struct kab_kernel k = { 0 };
	json_t *source;
	size_t i;

	for (i = 0; kind && i < KAB_ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i], kind))
			break;
	if (!kind || !label || i == KAB_ARRAY_SIZE(kinds))
		return kab_err_set(err, KAB_ERR_STORE,
				   "the stored plan has a kernel without a kind");
	k.kind = (enum kab_kernel_kind)i;
	k.label = kab_xstrdup(label);
#define TEXT(field) k.field = kab_xstrdup(json_string_value(json_object_get(object, #field)))
	TEXT(spec);
	TEXT(release);
	TEXT(initrd);
	TEXT(modules);
	TEXT(cmdline);
	TEXT(sha256);
	TEXT(key);
	TEXT(commit);
	TEXT(build_id);
	TEXT(describe);
	TEXT(host);
#undef TEXT
	json_array_foreach (json_object_get(object, "sources"), i, source) {
		if (json_is_string(source))
			kab_strv_add(&k.sources, json_string_value(source));
	}
	if (k.kind == KAB_KERNEL_BY_HOST)
		k.by_host = kab_xcalloc(1, sizeof(*k.by_host));
	json_array_foreach (k.by_host ? json_object_get(object, "by_host") : NULL, i, source) {
		if (kab_kernel_from_json(k.by_host, source, err) < 0) {
			release_one(&k);
			return -1;
		}
		if (!k.by_host->v[i].host)
			k.by_host->v[i].host = kab_xstrdup("");
	}
	*KAB_PUSH(list) = k;
	return 0;
}

void kab_kernel_list_release(struct kab_kernel_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		release_one(&list->v[i]);
	free(list->v);
	*list = (struct kab_kernel_list){ 0 };
}
