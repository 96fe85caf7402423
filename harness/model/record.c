/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/sha256.h"

static const char *const iter_names[] = { "pending", "running", "done", "failed", "missing" };
static const char *const run_names[] = { "planned", "running", "waiting", "interrupted",
					 "complete" };

static int find_word(const char *const *names, size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i], word))
			return (int)i;
	return -1;
}

const char *kab_iter_state_name(enum kab_iter_state state)
{
	return iter_names[state];
}

int kab_iter_state_parse(const char *word, enum kab_iter_state *ret)
{
	int i = find_word(iter_names, KAB_ARRAY_SIZE(iter_names), word);

	if (i < 0)
		return -1;
	*ret = (enum kab_iter_state)i;
	return 0;
}

const char *kab_run_state_name(enum kab_run_state state)
{
	return run_names[state];
}

int kab_run_state_parse(const char *word, enum kab_run_state *ret)
{
	int i = find_word(run_names, KAB_ARRAY_SIZE(run_names), word);

	if (i < 0)
		return -1;
	*ret = (enum kab_run_state)i;
	return 0;
}

static const char *text(const char *s)
{
	return s ? s : "";
}

char *kab_kernel_identity(const struct kab_kernel_id *id)
{
	if (id->build_id && *id->build_id)
		return kab_xasprintf("build:%s", id->build_id);
	return kab_xasprintf("rel:%s:%s:%s", text(id->release), text(id->commit),
			     text(id->config_hash));
}

void kab_kernel_id_release(struct kab_kernel_id *id)
{
	free(id->release);
	free(id->build_id);
	free(id->commit);
	free(id->config_hash);
	*id = (struct kab_kernel_id){ 0 };
}

char *kab_series_key(const char *runner, const char *runner_version, const char *params,
		     const char *metric, const char *unit)
{
	const char *part[] = { runner, runner_version, params, metric, unit };
	kab_autobuf struct kab_buf buf = KAB_BUF_INIT;
	char *hex = kab_xmalloc(KAB_SHA256_HEX_SIZE);

	/* The NUL behind each part is hashed too: no two lists of parts give the same bytes. */
	for (size_t i = 0; i < KAB_ARRAY_SIZE(part); i++)
		kab_buf_add(&buf, text(part[i]), strlen(text(part[i])) + 1);
	kab_sha256_hex(buf.data, buf.len, hex);
	return hex;
}

static void sample_set_release(struct kab_sample_set *set)
{
	for (size_t i = 0; i < set->n_boots; i++)
		free(set->boots[i].v);
	free(set->boots);
	free(set->kernel);
	free(set->first_failure);
	free(set->argv_text);
	free(set->runner_version);
}

void kab_row_list_release(struct kab_row_list *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		struct kab_row_data *row = &rows->v[i];

		for (size_t k = 0; k < row->n_sets; k++)
			sample_set_release(&row->sets[k]);
		free(row->sets);
		free(row->host);
		free(row->condition);
		free(row->case_name);
		free(row->row_key);
		free(row->runner);
		free(row->metric);
		free(row->unit);
	}
	free(rows->v);
	*rows = (struct kab_row_list){ 0 };
}
