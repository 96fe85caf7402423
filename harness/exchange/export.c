/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "exchange/export.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strv.h"
#include "base/text.h"

void kab_export_release(struct kab_export *x)
{
	for (size_t i = 0; i < x->n_steps; i++) {
		kab_step_info_release(&x->steps[i].info);
		kab_samples_release(&x->steps[i].samples);
	}
	free(x->steps);
	for (size_t i = 0; i < x->n_boots; i++) {
		kab_boot_info_release(&x->boots[i]);
		if (x->facts)
			kab_facts_release(&x->facts[i]);
	}
	free(x->boots);
	free(x->facts);
	kab_judgement_release(&x->judgement);
	kab_row_list_release(&x->rows);
	kab_run_info_release(&x->info);
	*x = (struct kab_export){ 0 };
}

static int load_boots(struct kab_store *store, int64_t run_id, struct kab_export *x,
		      struct kab_err *err)
{
	if (kab_store_list_boots(store, run_id, &x->boots, &x->n_boots, err))
		return -1;
	x->facts = kab_xcalloc(x->n_boots + 1, sizeof(*x->facts));
	for (size_t i = 0; i < x->n_boots; i++)
		if (kab_store_boot_facts(store, x->boots[i].id, &x->facts[i], err))
			return -1;
	return 0;
}

static size_t boot_index(const struct kab_export *x, int64_t id)
{
	size_t i = 0;

	while (i + 1 < x->n_boots && x->boots[i].id != id)
		i++;
	return i;
}

/* Steps come by sequence and attempt: the last one of a sequence counts. */
static int load_steps(struct kab_store *store, int64_t run_id, struct kab_export *x,
		      struct kab_err *err)
{
	struct kab_step_info *list;
	size_t n;
	int rc = 0;

	if (kab_store_list_steps(store, run_id, 0, &list, &n, err))
		return -1;
	x->steps = kab_xcalloc(n + 1, sizeof(*x->steps));
	for (size_t i = 0; i < n; i++) {
		struct kab_export_step *step;

		if (rc || list[i].warmup || !x->n_boots ||
		    (i + 1 < n && list[i + 1].sequence == list[i].sequence)) {
			kab_step_info_release(&list[i]);
			continue;
		}
		step = &x->steps[x->n_steps++];
		step->info = list[i];
		step->attempts = list[i].attempt;
		step->boot = boot_index(x, list[i].boot_id);
		/* What ran on the wrong kernel is no measurement. */
		if (!strcmp(x->boots[step->boot].state, "failed") &&
		    step->info.state == KAB_ITER_DONE) {
			step->info.state = KAB_ITER_FAILED;
			if (!step->info.reason)
				step->info.reason = kab_xstrdup(x->boots[step->boot].reason);
		}
		if (step->info.state == KAB_ITER_DONE) {
			struct kab_extraction_info reading;

			rc = kab_store_extraction(store, step->info.id, &reading, err);
			if (!rc) {
				step->samples = reading.samples;
				reading.samples = (struct kab_samples){ 0 };
				kab_extraction_info_release(&reading);
			}
			rc = rc < 0 ? -1 : 0;
		}
	}
	free(list);
	return rc;
}

int kab_export_load(struct kab_store *store, int64_t run_id, struct kab_export *x,
		    struct kab_err *err)
{
	const struct kab_judge_opts judge = KAB_JUDGE_OPTS_INIT;
	char *number kab_autofree = kab_xasprintf("%lld", (long long)run_id);
	struct kab_run_info *runs;
	size_t n;

	*x = (struct kab_export){ 0 };
	if (kab_store_find_run(store, number, &x->info, NULL, err) < 0)
		return -1;
	/* A run may be called like the number of another. */
	if (!x->info.name || x->info.id != run_id) {
		kab_run_info_release(&x->info);
		if (kab_store_list_runs(store, 0, &runs, &n, err))
			return -1;
		for (size_t i = 0; i < n; i++) {
			if (runs[i].id == run_id)
				x->info = runs[i];
			else
				kab_run_info_release(&runs[i]);
		}
		free(runs);
	}
	if (!x->info.name)
		return kab_err_set(err, KAB_ERR_NOT_FOUND, "there is no run %s", number);
	if (load_boots(store, run_id, x, err) || load_steps(store, run_id, x, err) ||
	    kab_store_load_rows(store, &run_id, 1, &x->rows, err))
		return -1;
	return kab_judge(&x->rows, &judge, &x->judgement, err);
}

void kab_export_number(double value, struct kab_buf *ret)
{
	size_t at = ret->len;

	for (int digits = 15; digits <= 17; digits++) {
		double back;

		while (ret->len > at)
			ret->data[--ret->len] = '\0';
		kab_buf_addf(ret, "%.*g", digits, value);
		if (!kab_text_double(kab_buf_str(ret) + at, &back) && !(back < value) &&
		    !(back > value))
			break;
	}
}

void kab_export_host(const struct kab_export *x, const char *label, bool names, struct kab_buf *ret)
{
	struct kab_strv kab_autostrv seen = KAB_STRV_INIT;

	if (names) {
		kab_buf_adds(ret, label);
		return;
	}
	for (size_t i = 0; i < x->n_boots; i++) {
		if (!kab_strv_has(&seen, x->boots[i].host))
			kab_strv_add(&seen, x->boots[i].host);
		if (!strcmp(x->boots[i].host, label))
			break;
	}
	kab_buf_addf(ret, "host%zu", seen.n ? seen.n : 1);
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The label of a host that stands at p as a word of its own; NULL: none. "local" tells nothing. */
static const char *label_at(const struct kab_export *x, const char *text, const char *p)
{
	const char *found = NULL;

	for (size_t i = 0; i < x->n_boots; i++) {
		const char *label = x->boots[i].host;
		size_t n = strlen(label);

		if (n && strcmp(label, "local") && (p == text || !is_word(p[-1])) &&
		    !strncmp(p, label, n) && !is_word(p[n]) && (!found || n > strlen(found)))
			found = label;
	}
	return found;
}

void kab_export_sentence(const struct kab_export *x, const char *text, bool names,
			 struct kab_buf *ret)
{
	for (const char *p = text ? text : ""; *p;) {
		const char *label = names ? NULL : label_at(x, text, p);

		if (label) {
			kab_export_host(x, label, false, ret);
			p += strlen(label);
		} else {
			kab_buf_addc(ret, *p++);
		}
	}
}
