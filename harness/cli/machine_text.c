/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/machine_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

static void part(struct kab_buf *buf, const char *name, const char *value)
{
	kab_buf_addf(buf, "%s%s %s", buf->len ? ", " : "", name, *value ? value : "unknown");
}

char *kab_machine_text(const struct kab_facts *f)
{
	int64_t sockets = kab_facts_int(f, "sockets", 0), cores = kab_facts_int(f, "cores", 0);
	int64_t cpus = kab_facts_int(f, "cpus", 0), nodes = kab_facts_int(f, "nodes", 0);
	int64_t threads = kab_facts_int(f, "threads_per_core", 0);
	int64_t memory = kab_facts_int(f, "memory_mb", 0);
	const char *arch = kab_facts_get(f, "arch"), *model = kab_facts_get(f, "model");
	struct kab_buf buf = KAB_BUF_INIT;

	kab_buf_addf(&buf, "%s, %s, ", *arch ? arch : "unknown architecture",
		     *model ? model : "unknown model");
	if (sockets > 0 && cores > 0 && threads > 0)
		kab_buf_addf(&buf, "%lld x %lld x SMT%lld = ", (long long)sockets,
			     (long long)(cores / sockets), (long long)threads);
	kab_buf_addf(&buf, "%lld CPU%s", (long long)cpus, cpus == 1 ? "" : "s");
	if (nodes > 0)
		kab_buf_addf(&buf, ", %lld NUMA node%s", (long long)nodes, nodes == 1 ? "" : "s");
	if (memory > 0)
		kab_buf_addf(&buf, ", %.1f GB RAM", (double)memory / 1024);
	return kab_buf_detach(&buf);
}

void kab_machine_nodes(const struct kab_facts *f, struct kab_strv *ret)
{
	for (size_t i = 0; i < f->n; i++)
		if (!strncmp(f->v[i].key, "node_cpus.", 10))
			kab_strv_addf(ret, "node%s: %s", f->v[i].key + 10, f->v[i].value);
}

/* The word of the kernel command line that starts with `name=`, or "". Caller frees. */
static char *cmdline_value(const struct kab_facts *f, const char *name)
{
	struct kab_strv kab_autostrv words = KAB_STRV_INIT;
	size_t n = strlen(name);

	kab_strv_split(&words, kab_facts_get(f, "cmdline"), ' ');
	for (size_t i = 0; i < words.n; i++)
		if (!strncmp(words.v[i], name, n) && words.v[i][n] == '=')
			return kab_xstrdup(words.v[i] + n + 1);
	return kab_xstrdup("");
}

/* A setting that a condition of the rows makes is not one setting of the machine. */
static void power_part(struct kab_buf *buf, const struct kab_judgement *j, const char *name,
		       const char *key, const char *value)
{
	char *sets kab_autofree = kab_xasprintf("%s=", key);

	for (size_t r = 0; r < j->n; r++) {
		const char *at = strstr(j->v[r].data->condition, sets);

		if (at && (at == j->v[r].data->condition || at[-1] == ',' || at[-1] == ' ')) {
			part(buf, name, "by condition");
			return;
		}
	}
	if (!strcmp(value, "notsupported"))
		value = "not supported";
	else if (!strcmp(value, "notimplemented"))
		value = "not implemented";
	part(buf, name, value);
}

char *kab_power_text(const struct kab_facts *f, const struct kab_judgement *j)
{
	char *mitigations kab_autofree = cmdline_value(f, "mitigations");
	struct kab_buf buf = KAB_BUF_INIT;
	const char *swap = kab_facts_get(f, "swap_mb");

	power_part(&buf, j, "governor", "governor", kab_facts_get(f, "governor"));
	power_part(&buf, j, "turbo", "turbo", kab_facts_get(f, "turbo"));
	part(&buf, "C-states", kab_facts_get(f, "cstates"));
	power_part(&buf, j, "SMT", "smt", kab_facts_get(f, "smt"));
	part(&buf, "mitigations", *mitigations ? mitigations : f->n ? "default" : "");
	power_part(&buf, j, "THP", "thp", kab_facts_get(f, "thp"));
	part(&buf, "swap", !*swap ? "" : !strcmp(swap, "0") ? "off" : "on");
	return kab_buf_detach(&buf);
}

char *kab_kernel_text(const struct kab_seen *seen, size_t n)
{
	const struct kab_boot_info *b = seen->boot;
	const char *commit = kab_facts_get(&seen->facts, "commit");
	struct kab_buf buf = KAB_BUF_INIT;

	kab_buf_addf(&buf, "%-5s %s = %s",
		     !seen->place ? "base"
		     : n > 2	  ? ""
				  : "test",
		     seen->label, b->release && *b->release ? b->release : "unknown release");
	if (*commit)
		kab_buf_addf(&buf, ", commit %.12s", commit);
	if (b->build_id && *b->build_id)
		kab_buf_addf(&buf, ", build id %.12s", b->build_id);
	return kab_buf_detach(&buf);
}

/* Words of a command line that name how it was booted rather than how the kernel behaves. */
static bool is_boot_word(const char *word)
{
	static const char *const starts[] = { "BOOT_IMAGE=", "root=",	   "initrd=",
					      "kab.",	     "rootflags=", "resume=" };

	for (size_t i = 0; i < KAB_ARRAY_SIZE(starts); i++)
		if (!strncmp(word, starts[i], strlen(starts[i])))
			return true;
	return !*word;
}

static void words_not_in(const char *a, const char *b, char sign, struct kab_buf *buf)
{
	struct kab_strv kab_autostrv mine = KAB_STRV_INIT, other = KAB_STRV_INIT;

	kab_strv_split(&mine, a, ' ');
	kab_strv_split(&other, b, ' ');
	for (size_t i = 0; i < mine.n; i++)
		if (!is_boot_word(mine.v[i]) && !kab_strv_has(&other, mine.v[i]))
			kab_buf_addf(buf, " %c%s", sign, mine.v[i]);
}

char *kab_config_text(const struct kab_seen_list *list)
{
	struct kab_buf buf = KAB_BUF_INIT;
	bool known = list->n > 0, same = true;

	for (size_t i = 0; i < list->n; i++) {
		const char *hash = kab_facts_get(&list->v[i].facts, "config_hash");

		known = known && *hash;
		same = same && !strcmp(hash, kab_facts_get(&list->v[0].facts, "config_hash"));
	}
	if (list->n && !list->v[0].facts.n)
		return NULL;
	kab_buf_adds(&buf, !known ? ".config unknown" : same ? "same .config" : ".config differs");
	for (size_t i = 1; i < list->n; i++) {
		const char *a = kab_facts_get(&list->v[0].facts, "cmdline");
		const char *b = kab_facts_get(&list->v[i].facts, "cmdline");
		struct kab_buf kab_autobuf words = KAB_BUF_INIT;

		words_not_in(b, a, '+', &words);
		words_not_in(a, b, '-', &words);
		if (words.len)
			kab_buf_addf(&buf, "; command line of %s:%s", list->v[i].label, words.data);
		else if (i == 1 && list->n == 2)
			kab_buf_adds(&buf, "; same command line");
	}
	return kab_buf_detach(&buf);
}

/* Settings of the machine that must not differ between kernels unless they are the subject. */
void kab_machine_differences(const struct kab_seen_list *list, struct kab_strv *ret)
{
	static const char *const keys[] = { "smt",	   "governor",	   "turbo",	"thp",
					    "clocksource", "modules_tree", "microcode", "cpus",
					    "memory_mb",   "swap_mb",	   "libc",	"os",
					    "mitigations", "cstates",	   "page_size", "model",
					    "tainted" };

	for (size_t i = 1; i < list->n; i++) {
		for (size_t k = 0; k < KAB_ARRAY_SIZE(keys); k++) {
			const char *a = kab_facts_get(&list->v[0].facts, keys[k]);
			const char *b = kab_facts_get(&list->v[i].facts, keys[k]);

			if (!strcmp(list->v[0].boot->host, list->v[i].boot->host) && strcmp(a, b))
				kab_strv_addf(ret, "%s: %.60s on %s, %.60s on %s", keys[k],
					      *a ? a : "unknown", list->v[0].label,
					      *b ? b : "unknown", list->v[i].label);
		}
	}
}
