/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void kab_series_id_copy(struct kab_series_id *dst, const struct kab_series_id *src)
{
	*dst = (struct kab_series_id){
		.tree = kab_xstrdup(src->tree),
		.host = kab_xstrdup(src->host),
		.condition = kab_xstrdup(src->condition),
		.case_name = kab_xstrdup(src->case_name),
		.row_key = kab_xstrdup(src->row_key),
		.runner = kab_xstrdup(src->runner),
		.metric = kab_xstrdup(src->metric),
		.unit = kab_xstrdup(src->unit),
		.dir = src->dir,
	};
}

void kab_series_id_release(struct kab_series_id *id)
{
	free(id->tree);
	free(id->host);
	free(id->condition);
	free(id->case_name);
	free(id->row_key);
	free(id->runner);
	free(id->metric);
	free(id->unit);
	*id = (struct kab_series_id){ 0 };
}

static bool same_if_known(const char *a, const char *b)
{
	return !*a || !*b || !strcmp(a, b);
}

bool kab_series_id_same(const struct kab_series_id *a, const struct kab_series_id *b)
{
	return !strcmp(a->tree, b->tree) && !strcmp(a->host, b->host) &&
	       !strcmp(a->condition, b->condition) && !strcmp(a->case_name, b->case_name) &&
	       !strcmp(a->row_key, b->row_key) && !strcmp(a->metric, b->metric) &&
	       same_if_known(a->runner, b->runner) && same_if_known(a->unit, b->unit);
}

char *kab_series_id_name(const struct kab_series_id *id)
{
	return kab_xasprintf("%s %s%s%s/%s%s%s", id->host, id->case_name, *id->row_key ? "/" : "",
			     id->row_key, id->metric, *id->condition ? " " : "", id->condition);
}

static int find_word(const char *const *words, int n, const char *word)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(words[i], word))
			return i;
	return -1;
}

static const char *const point_states[] = { "ok", "partial", "failed", "absent" };

const char *kab_point_state_name(enum kab_point_state state)
{
	return point_states[state];
}

int kab_point_state_parse(const char *word, enum kab_point_state *ret)
{
	int i = find_word(point_states, KAB_ARRAY_SIZE(point_states), word);

	if (i < 0)
		return -1;
	*ret = (enum kab_point_state)i;
	return 0;
}

static const char *const change_states[] = { "nominated", "confirmed", "acknowledged", "refuted",
					     "dropped" };

const char *kab_change_state_name(enum kab_change_state state)
{
	return change_states[state];
}

static const char *const note_kinds[] = { "acknowledge", "annotate", "reset", "recovered" };

const char *kab_note_kind_name(enum kab_note_kind kind)
{
	return note_kinds[kind];
}

int kab_note_kind_parse(const char *word, enum kab_note_kind *ret)
{
	int i = find_word(note_kinds, KAB_ARRAY_SIZE(note_kinds), word);

	if (i < 0)
		return -1;
	*ret = (enum kab_note_kind)i;
	return 0;
}

void kab_kernel_ref_copy(struct kab_kernel_ref *dst, const struct kab_kernel_ref *src)
{
	*dst = (struct kab_kernel_ref){
		.label = kab_xstrdup(src->label ? src->label : ""),
		.spec = kab_xstrdup(src->spec ? src->spec : ""),
		.identity = kab_xstrdup(src->identity ? src->identity : ""),
		.release = kab_xstrdup(src->release ? src->release : ""),
		.commit = kab_xstrdup(src->commit ? src->commit : ""),
	};
}

void kab_kernel_ref_release(struct kab_kernel_ref *ref)
{
	free(ref->label);
	free(ref->spec);
	free(ref->identity);
	free(ref->release);
	free(ref->commit);
	*ref = (struct kab_kernel_ref){ 0 };
}

void kab_point_release(struct kab_point *p)
{
	kab_series_id_release(&p->series);
	kab_kernel_ref_release(&p->kernel);
	free(p->date);
	free(p->run_name);
	free(p->series_key);
	free(p->machine_hash);
	free(p->hardware);
	free(p->reference);
	free(p->reference_identity);
	free(p->reason);
	*p = (struct kab_point){ 0 };
}

void kab_point_list_release(struct kab_point_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		kab_point_release(&list->v[i]);
	free(list->v);
	*list = (struct kab_point_list){ 0 };
}

void kab_change_release(struct kab_change *c)
{
	kab_series_id_release(&c->series);
	kab_kernel_ref_release(&c->before);
	kab_kernel_ref_release(&c->after);
	free(c->date);
	free(c->since);
	free(c->origin);
	free(c->confirmed);
	free(c->confirm_run);
	free(c->confirm_reason);
	free(c->acknowledged);
	free(c->acknowledged_by);
	free(c->acknowledged_why);
	free(c->recovered);
	free(c->recovered_why);
	*c = (struct kab_change){ 0 };
}

void kab_change_list_release(struct kab_change_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		kab_change_release(&list->v[i]);
	free(list->v);
	*list = (struct kab_change_list){ 0 };
}

void kab_note_release(struct kab_note *note)
{
	free(note->tree);
	free(note->host);
	free(note->case_name);
	free(note->metric);
	free(note->date);
	free(note->who);
	free(note->why);
	*note = (struct kab_note){ 0 };
}

void kab_note_list_release(struct kab_note_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		kab_note_release(&list->v[i]);
	free(list->v);
	*list = (struct kab_note_list){ 0 };
}

bool kab_note_concerns(const struct kab_note *note, const struct kab_series_id *s)
{
	return same_if_known(note->tree, s->tree) && same_if_known(note->host, s->host) &&
	       same_if_known(note->case_name, s->case_name) &&
	       same_if_known(note->metric, s->metric);
}
