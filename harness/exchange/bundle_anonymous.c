/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a bundle does not tell: passwords in URLs never, names and folders when asked. */
#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "exchange/bundle_internal.h"

struct kab_anonymous {
	struct kab_strv hosts; /* labels, by position */
	struct {
		struct term {
			char *word, *instead;
		} * v;
		size_t n, cap;
	} terms; /* longest first */
	char *salt; /* of the hashes of machines */
	struct kab_strv kept; /* texts of the row at hand */
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool is_url_end(char c)
{
	return !c || isspace((unsigned char)c) || strchr("'\"<>|;,", c);
}

/* At "://": append what may be told of the URL and return where it ends. */
static const char *show_url(struct kab_buf *to, const char *p, bool anonymous)
{
	const char *host = p + 3, *end = host, *at = NULL;

	while (!is_url_end(*end) && !strchr("/?#", *end)) {
		if (*end == '@')
			at = end;
		end++;
	}
	kab_buf_adds(to, "://");
	if (at)
		host = at + 1;
	if (anonymous)
		kab_buf_adds(to, "host");
	else
		kab_buf_add(to, host, (size_t)(end - host));
	for (p = end; !is_url_end(*p) && *p != '?'; p++)
		if (!anonymous)
			kab_buf_addc(to, *p);
	if (anonymous) {
		const char *name = p;

		while (name > end && name[-1] != '/')
			name--;
		kab_buf_addc(to, '/');
		kab_buf_add(to, name, (size_t)(p - name));
	}
	if (*p == '?') {
		kab_buf_adds(to, "?...");
		while (!is_url_end(*p))
			p++;
	}
	return p;
}

char *kab_bundle_hide_secrets(const char *text)
{
	struct kab_buf buf;
	const char *p = text;

	if (!strstr(text, "://"))
		return NULL;
	kab_buf_init(&buf, KAB_BUNDLE_LINE_MAX);
	while (*p) {
		if (!strncmp(p, "://", 3))
			p = show_url(&buf, p, false);
		else
			kab_buf_addc(&buf, *p++);
	}
	if (!strcmp(kab_buf_str(&buf), text)) {
		kab_buf_release(&buf);
		return NULL;
	}
	return kab_buf_detach(&buf);
}

static bool is_path_char(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("._~+@%-", c));
}

/* Folders that are alike on every machine tell nothing. */
static bool is_system_path(const char *p)
{
	static const char *const known[] = { "/proc/", "/sys/",	 "/dev/", "/boot/", "/usr/",
					     "/bin/",  "/sbin/", "/lib/", "/etc/",  "/lib64/" };

	for (size_t i = 0; i < KAB_ARRAY_SIZE(known); i++)
		if (!strncmp(p, known[i], strlen(known[i])))
			return true;
	return false;
}

/* The end of the absolute path of two parts or more that begins at p, or NULL. */
static const char *path_end(const char *p)
{
	size_t parts = 0;

	while (*p == '/' && is_path_char(p[1])) {
		parts++;
		for (p++; is_path_char(*p);)
			p++;
	}
	return parts > 1 ? p : NULL;
}

static const struct term *term_at(const struct kab_anonymous *a, const char *text, const char *p)
{
	if (p > text && is_word(p[-1]))
		return NULL;
	for (size_t i = 0; i < a->terms.n; i++) {
		size_t n = strlen(a->terms.v[i].word);

		if (!strncmp(p, a->terms.v[i].word, n) && !is_word(p[n]))
			return &a->terms.v[i];
	}
	return NULL;
}

static char *hide(const struct kab_anonymous *a, const char *text)
{
	struct kab_buf buf;
	const char *p = text;

	kab_buf_init(&buf, KAB_BUNDLE_LINE_MAX);
	while (*p) {
		const struct term *t = term_at(a, text, p);
		const char *end;

		if (t) {
			kab_buf_adds(&buf, t->instead);
			p += strlen(t->word);
		} else if (!strncmp(p, "://", 3)) {
			p = show_url(&buf, p, true);
		} else if (*p == '/' && (p == text || (!is_path_char(p[-1]) && p[-1] != '/')) &&
			   !is_system_path(p) && (end = path_end(p))) {
			for (p = end; p[-1] != '/';)
				p--;
		} else {
			kab_buf_addc(&buf, *p++);
		}
	}
	return kab_buf_detach(&buf);
}

static const char *host_of(const struct kab_anonymous *a, const char *label, char room[32])
{
	for (size_t i = 0; i < a->hosts.n; i++)
		if (!strcmp(a->hosts.v[i], label)) {
			struct kab_buf buf = KAB_BUF_INIT;

			kab_buf_addf(&buf, "host%zu", i + 1);
			memcpy(room, kab_buf_str(&buf), buf.len + 1);
			kab_buf_release(&buf);
			return room;
		}
	return label;
}

/* Strings of a document; keys only where they are hosts: of "hosts" and "running". */
static json_t *hide_json(const struct kab_anonymous *a, json_t *v, const char *under)
{
	bool hosts = under && (!strcmp(under, "hosts") || !strcmp(under, "running"));
	const char *key;
	char room[32];
	json_t *ret, *child;
	size_t i;

	if (json_is_string(v)) {
		const char *s = json_string_value(v), *label = hosts ? host_of(a, s, room) : s;
		char *text kab_autofree = label == s ? hide(a, s) : kab_xstrdup(label);

		return json_string(text);
	}
	if (json_is_array(v)) {
		ret = json_array();
		json_array_foreach (v, i, child)
			json_array_append_new(ret, hide_json(a, child, under));
		return ret;
	}
	if (json_is_object(v)) {
		ret = json_object();
		json_object_foreach (v, key, child)
			json_object_set_new(ret, hosts ? host_of(a, key, room) : key,
					    hide_json(a, child, hosts ? NULL : key));
		return ret;
	}
	return json_incref(v);
}

static char *hide_document(const struct kab_anonymous *a, const char *text)
{
	json_t *doc = json_loads(text, JSON_DECODE_ANY, NULL), *hidden;
	char *ret;

	if (!doc)
		return hide(a, text);
	hidden = hide_json(a, doc, NULL);
	ret = json_dumps(hidden, JSON_COMPACT | JSON_ENCODE_ANY);
	json_decref(hidden);
	json_decref(doc);
	return ret ? ret : kab_xstrdup("{}");
}

/* ---- what there is to hide ---- */

static void add_term(struct kab_anonymous *a, const char *word, const char *instead)
{
	/* Shorter words are parts of too many others; "local" and the like tell nothing. */
	static const char *const plain[] = {
		"local", "localhost", "root", "import", "host", "user"
	};
	struct term *t;

	for (size_t i = 0; i < KAB_ARRAY_SIZE(plain); i++)
		if (!strcmp(word, plain[i]))
			return;
	for (size_t i = 0; i < a->terms.n; i++)
		if (!strcmp(word, a->terms.v[i].word))
			return;
	if (strlen(word) < 2 || !strcmp(word, instead))
		return;
	t = KAB_PUSH(&a->terms);
	t->word = kab_xstrdup(word);
	t->instead = kab_xstrdup(instead);
}

static void add_users(struct kab_anonymous *a, const char *text)
{
	for (const char *p = text; (p = strstr(p, "/home/"));) {
		const char *name = p + 6;
		size_t n = 0;

		while (is_path_char(name[n]))
			n++;
		if (n) {
			char *word kab_autofree = kab_xstrndup(name, n);

			add_term(a, word, "user");
		}
		p = name + n;
	}
}

static int gather_row(void *ctx, enum kab_dump_table table, const struct kab_dump_value *v,
		      struct kab_err *err)
{
	struct kab_anonymous *a = ctx;
	char room[32];

	(void)err;
	for (size_t i = 0; i < kab_dump_defs[table].n; i++)
		if (kab_dump_defs[table].columns[i].type == KAB_DUMP_TEXT && !v[i].null)
			add_users(a, v[i].s);
	if (table == KAB_DUMP_RUN) {
		a->salt = kab_xasprintf("%lld", (long long)v[7].i);
	} else if (table == KAB_DUMP_HOST) {
		kab_strv_add(&a->hosts, v[0].s);
		add_term(a, v[0].s, host_of(a, v[0].s, room));
	} else if (table == KAB_DUMP_ENVIRONMENT && !strcmp(v[2].s, "hostname")) {
		char *first kab_autofree = kab_xstrndup(v[3].s, strcspn(v[3].s, "."));

		add_term(a, v[3].s, "host");
		add_term(a, first, "host");
	}
	return 0;
}

static int by_length(const void *pa, const void *pb)
{
	const struct term *a = pa, *b = pb;
	size_t x = strlen(a->word), y = strlen(b->word);

	return x != y ? (x < y ? 1 : -1) : strcmp(a->word, b->word);
}

int kab_anonymous_new(struct kab_store *store, int64_t run_id, struct kab_anonymous **ret,
		      struct kab_err *err)
{
	struct kab_anonymous *a = kab_xcalloc(1, sizeof(*a));
	struct kab_dump_sink sink = { a, gather_row, NULL };

	if (kab_store_dump(store, run_id, &sink, err)) {
		kab_anonymous_free(a);
		return -1;
	}
	if (a->terms.n)
		qsort(a->terms.v, a->terms.n, sizeof(*a->terms.v), by_length);
	*ret = a;
	return 0;
}

void kab_anonymous_free(struct kab_anonymous *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->terms.n; i++) {
		free(a->terms.v[i].word);
		free(a->terms.v[i].instead);
	}
	free(a->terms.v);
	kab_strv_release(&a->hosts);
	kab_strv_release(&a->kept);
	free(a->salt);
	free(a);
}

/* ---- rows ---- */

static void put(struct kab_anonymous *a, struct kab_dump_value *v, char *text)
{
	kab_strv_take(&a->kept, text);
	v->s = text;
}

static char *machine(const struct kab_anonymous *a, const char *hash)
{
	char *text kab_autofree = kab_xasprintf("%s %s", a->salt, hash);
	char hex[KAB_SHA256_HEX_SIZE];

	if (!*hash || !strncmp(hash, "anonymous-", 10))
		return kab_xstrdup(hash);
	kab_sha256_hex(text, strlen(text), hex);
	return kab_xasprintf("anonymous-%.32s", hex);
}

/* Words of a kernel's command line that name disks, networks and places. */
static char *hide_cmdline(const struct kab_anonymous *a, const char *line)
{
	static const char *const keys[] = { "root=",	   "resume=",	    "ip=",
					    "nfsroot=",	   "nfsaddrs=",	    "BOOT_IMAGE=",
					    "netconsole=", "rd.luks.uuid=", "systemd.hostname=" };
	struct kab_strv kab_autostrv words = KAB_STRV_INIT;
	char *joined kab_autofree = NULL;

	kab_strv_split(&words, line, ' ');
	for (size_t i = 0; i < words.n; i++)
		for (size_t k = 0; k < KAB_ARRAY_SIZE(keys); k++)
			if (!strncmp(words.v[i], keys[k], strlen(keys[k]))) {
				free(words.v[i]);
				words.v[i] = kab_xasprintf("%s...", keys[k]);
			}
	joined = kab_strv_join(&words, " ");
	return hide(a, joined);
}

static char *hide_fact(const struct kab_anonymous *a, const char *key, const char *value)
{
	if (!strcmp(key, "hostname"))
		return kab_xstrdup("host");
	if (!strcmp(key, "workdir") || !strcmp(key, "modules_tree"))
		return kab_xstrdup("");
	return !strcmp(key, "cmdline") ? hide_cmdline(a, value) : hide(a, value);
}

static bool tells_nothing(const char *column)
{
	static const char *const names[] = {
		"state",     "direction", "parse_status",   "release",	  "build_id",
		"commit_id", "unit",	  "config_hash",    "metric",	  "kab_version",
		"runner",    "key",	  "parser_version", "os_boot_id", "runner_version",
	};

	for (size_t i = 0; i < KAB_ARRAY_SIZE(names); i++)
		if (!strcmp(column, names[i]))
			return true;
	return false;
}

void kab_anonymous_row(struct kab_anonymous *a, enum kab_dump_table table, struct kab_dump_value *v)
{
	const struct kab_dump_def *def = &kab_dump_defs[table];
	char room[32];

	kab_strv_release(&a->kept);
	for (size_t i = 0; i < def->n; i++) {
		const char *name = def->columns[i].name;

		if (def->columns[i].type != KAB_DUMP_TEXT || v[i].null || tells_nothing(name))
			continue;
		if (!strcmp(name, "machine_hash"))
			put(a, &v[i], machine(a, v[i].s));
		else if (table == KAB_DUMP_HOST)
			put(a, &v[i], kab_xstrdup(host_of(a, v[i].s, room)));
		else if (table == KAB_DUMP_ENVIRONMENT)
			put(a, &v[i], hide_fact(a, v[2].s, v[i].s));
		else if (strstr(name, "_json"))
			put(a, &v[i], hide_document(a, v[i].s));
		else
			put(a, &v[i], hide(a, v[i].s));
	}
}
