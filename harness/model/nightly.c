/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/nightly.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/kernel.h"

static const char *const nightly_keys[] = {
	"name",		"lab",	   "suite",	"hosts",	 "class",
	"work",		"sources", "reference", "baseline",	 "unchanged",
	"window",	"boots",   "min_boots", "confirm_boots", "quarantine_after",
	"keep_kernels", "mail",	   "state",	"archive",	 "publish",
	"logs",		NULL
};
static const char *const baseline_keys[] = { "policy", "kernel", NULL };
static const char *const window_keys[] = { "start", "end", "days", "margin_min", "hosts", NULL };
static const char *const host_window_keys[] = { "start", "end", NULL };
static const char *const mail_keys[] = { "from",   "to",   "cc",	 "when", "digest",
					 "server", "port", "encryption", "user", "password_file",
					 "ca",	   NULL };

static const char *const policies[] = { "fixed", "last-release", "last-good", "previous-night",
					NULL };
static const char *const unchanged_words[] = { "skip", "aa", "more-boots", NULL };
static const char *const when_words[] = { "news", "always", "never", NULL };
static const char *const work_words[] = { "every", "spread", NULL };
static const char *const encryption_words[] = { "tls", "ssl", "none", NULL };
static const char *const day_words[] = { "sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL };

#define ALL_DAYS 0x7fu

const char *kab_baseline_policy_name(enum kab_baseline_policy policy)
{
	return policies[policy];
}

const char *kab_unchanged_policy_name(enum kab_unchanged_policy policy)
{
	return unchanged_words[policy];
}

/* The index of a word that the key has to hold; missing gives `missing`. */
static int load_word(const struct kab_json *node, const char *key, const char *const *words,
		     int missing, int *ret, struct kab_err *err)
{
	struct kab_json child = kab_json_get(node, key);
	struct kab_strv kab_autostrv list = KAB_STRV_INIT;
	char *all kab_autofree = NULL;
	const char *word, *near;

	*ret = missing;
	if (!child.value)
		return 0;
	if (kab_json_str(node, key, NULL, &word, err) < 0)
		return -1;
	for (int i = 0; words[i]; i++) {
		if (!strcmp(words[i], word)) {
			*ret = i;
			return 0;
		}
		kab_strv_add(&list, words[i]);
	}
	near = kab_text_nearest(word, words);
	all = kab_strv_join(&list, ", ");
	return kab_json_fail(&child, err, "expected one of %s, found '%s'%s%s%s", all, word,
			     near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static char *absolute(const char *dir, const char *path)
{
	if (!path || *path == '/')
		return kab_xstrdup(path);
	return kab_xasprintf("%s/%s", dir, path);
}

/* "22:30" */
static int load_time(const struct kab_json *node, const char *key, int *ret, struct kab_err *err)
{
	struct kab_json child = kab_json_get(node, key);
	const char *text;
	int h, m;

	if (kab_json_need_str(node, key, &text, err) < 0)
		return -1;
	if (strlen(text) != 5 || text[2] != ':' || strspn(text, "0123456789:") != 5 ||
	    strchr(text, ':') != text + 2 || text[3] == ':' || text[4] == ':')
		return kab_json_fail(&child, err,
				     "expected a time of day like \"22:30\", found "
				     "'%s'",
				     text);
	h = (text[0] - '0') * 10 + text[1] - '0';
	m = (text[3] - '0') * 10 + text[4] - '0';
	if (h > 23 || m > 59)
		return kab_json_fail(&child, err, "there is no such time as '%s'", text);
	*ret = h * 60 + m;
	return 0;
}

static int load_times(const struct kab_json *node, struct kab_window_def *ret, struct kab_err *err)
{
	if (load_time(node, "start", &ret->start_min, err) < 0 ||
	    load_time(node, "end", &ret->end_min, err) < 0)
		return -1;
	if (ret->start_min == ret->end_min)
		return kab_json_fail(node, err, "a window that ends when it starts has no length");
	return 0;
}

static int load_days(const struct kab_json *node, unsigned *ret, struct kab_err *err)
{
	struct kab_strv kab_autostrv days = KAB_STRV_INIT;
	struct kab_json child = kab_json_get(node, "days");

	*ret = ALL_DAYS;
	if (!child.value)
		return 0;
	if (kab_json_strv(node, "days", &days, err) < 0)
		return -1;
	*ret = 0;
	for (size_t i = 0; i < days.n; i++) {
		int day = 0;

		while (day_words[day] && strcmp(day_words[day], days.v[i]))
			day++;
		if (day == 7)
			return kab_json_fail(&child, err,
					     "expected sun, mon, tue, wed, thu, fri or sat, found "
					     "'%s'",
					     days.v[i]);
		*ret |= 1u << day;
	}
	if (!*ret)
		return kab_json_fail(&child, err, "expected at least one day");
	return 0;
}

static int load_window(struct kab_nightly *n, const struct kab_json *root, struct kab_err *err)
{
	struct kab_json node = kab_json_get(root, "window"), hosts;
	double margin_min;
	const char *host;
	json_t *value;

	if (!node.value)
		return kab_json_fail(root, err, "expected the key 'window' with start and end");
	if (kab_json_object(&node, window_keys, err) < 0 ||
	    load_times(&node, &n->window, err) < 0 || load_days(&node, &n->window.days, err) < 0 ||
	    kab_json_num(&node, "margin_min", 0, 600, 10, &margin_min, err) < 0)
		return -1;
	n->margin_s = margin_min * 60;
	hosts = kab_json_get(&node, "hosts");
	if (!hosts.value)
		return 0;
	if (kab_json_object(&hosts, NULL, err) < 0)
		return -1;
	n->host_windows = kab_xcalloc(json_object_size(hosts.value) + 1, sizeof(*n->host_windows));
	json_object_foreach (hosts.value, host, value) {
		struct kab_json child = kab_json_get(&hosts, host);
		struct kab_host_window *w = &n->host_windows[n->n_host_windows];

		if (*host == '_' || *host == '$')
			continue;
		if (n->hosts.n && !kab_strv_has(&n->hosts, host))
			return kab_json_fail(&child, err, "the host '%s' is not one of 'hosts'",
					     host);
		n->n_host_windows++;
		w->host = kab_xstrdup(host);
		w->window.days = n->window.days;
		if (kab_json_object(&child, host_window_keys, err) < 0 ||
		    load_times(&child, &w->window, err) < 0)
			return -1;
	}
	return 0;
}

/* LABEL=SPEC is read as everywhere, so that a mistake is found before the night. */
static int check_kernel(const struct kab_json *node, const char *key, const char *text,
			struct kab_err *err)
{
	struct kab_json child = kab_json_get(node, key);
	struct kab_kernel_list list = { 0 };
	struct kab_err why = KAB_ERR_INIT;
	int status = kab_kernel_add(&list, text, &why);

	kab_kernel_list_release(&list);
	return status < 0 ? kab_json_fail(&child, err, "%s", why.text) : 0;
}

static int load_baseline(struct kab_nightly *n, const struct kab_json *root, struct kab_err *err)
{
	struct kab_json node = kab_json_get(root, "baseline");
	const char *kernel;
	int policy;

	n->baseline = KAB_BASELINE_GOOD;
	if (!node.value)
		return 0;
	if (kab_json_object(&node, baseline_keys, err) < 0 ||
	    load_word(&node, "policy", policies, KAB_BASELINE_GOOD, &policy, err) < 0 ||
	    kab_json_str(&node, "kernel", NULL, &kernel, err) < 0)
		return -1;
	n->baseline = (enum kab_baseline_policy)policy;
	if (!kernel == (n->baseline == KAB_BASELINE_FIXED))
		return kab_json_fail(&node, err,
				     "'kernel' (LABEL=SPEC) belongs to the policy 'fixed', and "
				     "only to it");
	if (kernel && check_kernel(&node, "kernel", kernel, err) < 0)
		return -1;
	n->baseline_kernel = kab_xstrdup(kernel);
	return 0;
}

/* One text or a list of them. */
static int load_addresses(const struct kab_json *node, const char *key, struct kab_strv *ret,
			  struct kab_err *err)
{
	struct kab_json child = kab_json_get(node, key);

	if (json_is_string(child.value))
		kab_strv_add(ret, json_string_value(child.value));
	else if (kab_json_strv(node, key, ret, err) < 0)
		return -1;
	for (size_t i = 0; i < ret->n; i++)
		if (!strchr(ret->v[i], '@') || strpbrk(ret->v[i], "\r\n"))
			return kab_json_fail(&child, err, "'%s' is not a mail address", ret->v[i]);
	return 0;
}

static int load_mail(struct kab_nightly *n, const struct kab_json *root, struct kab_err *err)
{
	struct kab_json node = kab_json_get(root, "mail");
	const char *from, *server, *user, *password, *ca;
	int when, digest, encryption;
	int64_t port;

	n->mail.digest = -1;
	n->mail.when = KAB_MAIL_NEVER;
	if (!node.value)
		return 0;
	if (kab_json_object(&node, mail_keys, err) < 0 ||
	    kab_json_need_str(&node, "from", &from, err) < 0 ||
	    load_addresses(&node, "to", &n->mail.to, err) < 0 ||
	    load_addresses(&node, "cc", &n->mail.cc, err) < 0 ||
	    load_word(&node, "when", when_words, KAB_MAIL_NEWS, &when, err) < 0 ||
	    load_word(&node, "digest", day_words, -1, &digest, err) < 0 ||
	    load_word(&node, "encryption", encryption_words, 0, &encryption, err) < 0 ||
	    kab_json_str(&node, "server", NULL, &server, err) < 0 ||
	    kab_json_int(&node, "port", 1, 65535, 0, &port, err) < 0 ||
	    kab_json_str(&node, "user", NULL, &user, err) < 0 ||
	    kab_json_str(&node, "password_file", NULL, &password, err) < 0 ||
	    kab_json_str(&node, "ca", NULL, &ca, err) < 0)
		return -1;
	if (!n->mail.to.n)
		return kab_json_fail(&node, err, "expected the key 'to' with an address");
	if (!strchr(from, '@'))
		return kab_json_fail(&node, err, "'from' is not a mail address: '%s'", from);
	if (server && !*server)
		return kab_json_fail(&node, err, "'server' is empty");
	if (user && !password)
		return kab_json_fail(&node, err, "'user' needs 'password_file'");
	n->mail.from = kab_xstrdup(from);
	n->mail.when = (enum kab_mail_when)when;
	n->mail.digest = digest;
	n->mail.account = (struct kab_mail_account){
		.server = kab_xstrdup(server),
		.port = (int)port,
		.encryption = kab_xstrdup(kab_json_get(&node, "encryption").value || server
						  ? encryption_words[encryption]
						  : NULL),
		.user = kab_xstrdup(user),
		.password_file = absolute(n->dir, password),
		.ca_file = absolute(n->dir, ca),
	};
	return 0;
}

static int load_sources(struct kab_nightly *n, const struct kab_json *root, struct kab_err *err)
{
	struct kab_json list = kab_json_get(root, "sources");

	if (!list.value)
		return kab_json_fail(root, err, "expected the key 'sources' with a list");
	if (kab_json_array(&list, err) < 0)
		return -1;
	if (!json_array_size(list.value))
		return kab_json_fail(&list, err, "expected at least one source");
	n->sources = kab_xcalloc(json_array_size(list.value), sizeof(*n->sources));
	for (size_t i = 0; i < json_array_size(list.value); i++) {
		struct kab_json one = kab_json_at(&list, i);

		n->n_sources++;
		if (kab_source_def_load(&one, n->dir, &n->sources[i], err) < 0)
			return -1;
	}
	return 0;
}

static int load_hosts(struct kab_nightly *n, const struct kab_json *root, struct kab_err *err)
{
	struct kab_json hosts = kab_json_get(root, "hosts");
	const char *class_name;
	int work;

	if (kab_json_strv(root, "hosts", &n->hosts, err) < 0 ||
	    kab_json_str(root, "class", NULL, &class_name, err) < 0 ||
	    load_word(root, "work", work_words, -1, &work, err) < 0)
		return -1;
	if (!hosts.value == !class_name)
		return kab_json_fail(root, err, "expected one of the keys 'hosts' and 'class'");
	if (hosts.value && !n->hosts.n)
		return kab_json_fail(&hosts, err, "expected at least one host");
	for (size_t i = 0; i < n->hosts.n; i++)
		for (size_t k = 0; k < i; k++)
			if (!strcmp(n->hosts.v[i], n->hosts.v[k]))
				return kab_json_fail(&hosts, err, "host '%s' is named twice",
						     n->hosts.v[i]);
	n->class_name = kab_xstrdup(class_name);
	/* Hosts of a class are alike: measuring a case on one of them is enough. */
	n->spread = work < 0 ? class_name != NULL : work == 1;
	return 0;
}

static int load_numbers(struct kab_nightly *n, const struct kab_json *root, struct kab_err *err)
{
	int64_t boots, min_boots, confirm, quarantine, keep, logs;

	if (kab_json_int(root, "boots", 1, 1000, 0, &boots, err) < 0 ||
	    kab_json_int(root, "min_boots", 2, 1000, KAB_NIGHTLY_MIN_BOOTS, &min_boots, err) < 0 ||
	    kab_json_int(root, "confirm_boots", 2, 1000, 8, &confirm, err) < 0 ||
	    kab_json_int(root, "quarantine_after", 1, 100, 2, &quarantine, err) < 0 ||
	    kab_json_int(root, "keep_kernels", 0, 1000, 10, &keep, err) < 0 ||
	    kab_json_int(root, "logs", 1, 10000, 30, &logs, err) < 0)
		return -1;
	if (boots && boots < min_boots) {
		struct kab_json child = kab_json_get(root, "boots");

		if (kab_json_get(root, "min_boots").value)
			return kab_json_fail(&child, err, "'boots' is less than 'min_boots'");
		min_boots = boots;
		n->min_boots_lowered = true;
	}
	n->boots = (int)boots;
	n->min_boots = (int)min_boots;
	n->confirm_boots = (int)confirm;
	n->quarantine_after = (int)quarantine;
	n->keep_kernels = (int)keep;
	n->logs = (int)logs;
	return 0;
}

static int load_all(struct kab_nightly *n, const struct kab_json *root, struct kab_err *err)
{
	const char *name, *lab, *suite, *reference, *state, *archive;
	int unchanged;

	if (kab_json_object(root, nightly_keys, err) < 0 ||
	    kab_json_need_str(root, "name", &name, err) < 0 ||
	    kab_json_str(root, "lab", NULL, &lab, err) < 0 ||
	    kab_json_need_str(root, "suite", &suite, err) < 0 ||
	    kab_json_need_str(root, "reference", &reference, err) < 0 ||
	    kab_json_str(root, "state", NULL, &state, err) < 0 ||
	    kab_json_str(root, "archive", NULL, &archive, err) < 0 ||
	    load_word(root, "unchanged", unchanged_words, KAB_UNCHANGED_SKIP, &unchanged, err) < 0)
		return -1;
	if (!kab_text_is_label(name)) {
		struct kab_json child = kab_json_get(root, "name");

		return kab_json_fail(&child, err,
				     "the name is letters, digits and '._+-', not '%s'", name);
	}
	if (check_kernel(root, "reference", reference, err) < 0)
		return -1;
	n->name = kab_xstrdup(name);
	n->lab = absolute(n->dir, lab);
	/* A name without a slash may be that of an installed suite. */
	n->suite = strchr(suite, '/') ? absolute(n->dir, suite) : kab_xstrdup(suite);
	n->reference = kab_xstrdup(reference);
	n->unchanged = (enum kab_unchanged_policy)unchanged;
	n->state = absolute(n->dir, state);
	n->archive = absolute(n->dir, archive);
	if (load_hosts(n, root, err) < 0 || load_numbers(n, root, err) < 0 ||
	    load_sources(n, root, err) < 0 || load_baseline(n, root, err) < 0 ||
	    load_window(n, root, err) < 0 || load_mail(n, root, err) < 0 ||
	    kab_json_strv(root, "publish", &n->publish, err) < 0)
		return -1;
	if (n->publish.n && !n->archive) {
		struct kab_json child = kab_json_get(root, "publish");

		return kab_json_fail(&child, err,
				     "'publish' needs 'archive': that is what it "
				     "publishes");
	}
	return 0;
}

int kab_nightly_load_json(json_t *doc, const char *file, struct kab_nightly *ret,
			  struct kab_err *err)
{
	struct kab_json root = kab_json_root(doc, file);
	struct kab_nightly n = { 0 };
	char *slash, *cwd kab_autofree = NULL;

	if (*file != '/')
		cwd = getcwd(NULL, 0);
	n.file = cwd ? kab_xasprintf("%s/%s", cwd, file) : kab_xstrdup(file);
	n.dir = kab_xstrdup(n.file);
	slash = strrchr(n.dir, '/');
	if (slash)
		slash[slash == n.dir] = '\0';
	if (load_all(&n, &root, err) < 0) {
		kab_nightly_release(&n);
		return -1;
	}
	*ret = n;
	return 0;
}

int kab_nightly_load(const char *file, struct kab_nightly *ret, struct kab_err *err)
{
	json_t *doc = NULL;
	int status;

	if (kab_json_load_file(file, &doc, err) < 0)
		return kab_err_prefix(err, "nightly file");
	status = kab_nightly_load_json(doc, file, ret, err);
	json_decref(doc);
	return status;
}

void kab_nightly_release(struct kab_nightly *n)
{
	free(n->name);
	free(n->file);
	free(n->dir);
	free(n->lab);
	free(n->suite);
	kab_strv_release(&n->hosts);
	free(n->class_name);
	for (size_t i = 0; i < n->n_sources; i++)
		kab_source_def_release(&n->sources[i]);
	free(n->sources);
	free(n->reference);
	free(n->baseline_kernel);
	for (size_t i = 0; i < n->n_host_windows; i++)
		free(n->host_windows[i].host);
	free(n->host_windows);
	free(n->mail.from);
	kab_strv_release(&n->mail.to);
	kab_strv_release(&n->mail.cc);
	free(n->mail.account.server);
	free(n->mail.account.encryption);
	free(n->mail.account.user);
	free(n->mail.account.password_file);
	free(n->mail.account.ca_file);
	free(n->state);
	free(n->archive);
	kab_strv_release(&n->publish);
	*n = (struct kab_nightly){ 0 };
}

const struct kab_window_def *kab_nightly_window(const struct kab_nightly *n, const char *host)
{
	for (size_t i = 0; i < n->n_host_windows; i++)
		if (!strcmp(n->host_windows[i].host, host))
			return &n->host_windows[i].window;
	return &n->window;
}
