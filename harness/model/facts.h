/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is known of a host in its present boot and condition: the output of one probe (a POSIX shell
 * script that prints `key=value` lines), parsed. Pure: no host is contacted here.
 *
 * Keys used by the program (all optional; "" or 0 when unknown):
 *   arch release build_id boot_id machine_id cmdline hostname os libc virt model config_hash
 *   commit tainted
 *   cpus cores sockets nodes threads_per_core memory_mb uid
 *   smt governor turbo thp mitigations swap_mb clocksource caches microcode load1 users
 *   page_size workdir uptime_s date modules_tree
 *   tool.NAME=PATH            a benchmark or helper that was found
 *   tool_version.NAME=TEXT    what it says of its version
 *   problem.KEY=TEXT          why something could not be read
 */
#ifndef KAB_MODEL_FACTS_H
#define KAB_MODEL_FACTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct kab_fact {
	char *key;
	char *value;
};

struct kab_facts {
	struct kab_fact *v;
	size_t n, cap;
};

/* Read `key=value` lines (LF or CR LF); other lines are ignored (login banners). At most 4096
 * facts of 64 KiB each are kept. Returns 0, or -1 (parse) when not one line is a fact. */
int kab_facts_parse(struct kab_facts *facts, const char *text, size_t bytes, struct kab_err *err);
void kab_facts_set(struct kab_facts *facts, const char *key, const char *value);
/* Borrowed; "" when unknown. */
const char *kab_facts_get(const struct kab_facts *facts, const char *key);
/* The integer, or `missing` when unknown or not an integer. */
int64_t kab_facts_int(const struct kab_facts *facts, const char *key, int64_t missing);
/* Path of a tool on that host, or NULL when it was not found. */
const char *kab_facts_tool(const struct kab_facts *facts, const char *name);
/* Version text of a tool, "" when unknown. */
const char *kab_facts_tool_version(const struct kab_facts *facts, const char *name);
void kab_facts_copy(struct kab_facts *dst, const struct kab_facts *src);
void kab_facts_release(struct kab_facts *facts);

#endif
