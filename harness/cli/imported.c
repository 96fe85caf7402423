/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/imported.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

/* The plan of an imported run; NULL for others. Caller decrefs. */
static json_t *plan_of(const struct kab_run_info *run)
{
	json_t *plan = run->plan_json ? json_loads(run->plan_json, 0, NULL) : NULL;

	if (json_is_string(json_object_get(plan, "imported")) &&
	    json_is_object(json_object_get(plan, "import")))
		return plan;
	json_decref(plan);
	return NULL;
}

static void count(struct kab_buf *buf, size_t n, const char *one, const char *many)
{
	kab_buf_addf(buf, "%zu %s", n, n == 1 ? one : many);
}

char *kab_imported_text(const struct kab_run_info *run)
{
	json_t *plan = plan_of(run), *import = json_object_get(plan, "import");
	const char *boots = json_string_value(json_object_get(import, "boots_text"));
	struct kab_buf buf = KAB_BUF_INIT;

	if (!plan)
		return NULL;
	kab_buf_addf(&buf, "imported (%s): ", json_string_value(json_object_get(plan, "imported")));
	if (run->n_iterations)
		count(&buf, run->n_iterations, "iteration", "iterations");
	if (run->n_summaries) {
		if (run->n_iterations)
			kab_buf_adds(&buf, ", ");
		count(&buf, run->n_summaries, "summary", "summaries");
	}
	kab_buf_adds(&buf, " in ");
	count(&buf, (size_t)json_integer_value(json_object_get(import, "files")), "file", "files");
	if (run->n_failed)
		kab_buf_addf(&buf, ", %zu failed", run->n_failed);
	if (run->n_iterations)
		kab_buf_adds(&buf, ", order not recorded");
	if (!boots || !*boots)
		boots = "unknown: nothing says which values share one";
	kab_buf_addf(&buf, "; boots: %s", boots);
	json_decref(plan);
	return kab_buf_detach(&buf);
}

static void add_texts(const json_t *list, struct kab_strv *ret)
{
	const json_t *text;
	size_t i;

	json_array_foreach (list, i, text)
		if (json_is_string(text))
			kab_strv_add(ret, json_string_value(text));
}

void kab_imported_caveats(const struct kab_run_info *run, struct kab_strv *ret)
{
	json_t *plan = plan_of(run);
	struct kab_strv kab_autostrv texts = KAB_STRV_INIT;

	add_texts(json_object_get(json_object_get(plan, "import"), "caveats"), &texts);
	for (size_t i = 0; i < texts.n; i++) {
		char *text kab_autofree = kab_xasprintf("Imported: %s.", texts.v[i]);

		if (!kab_strv_has(ret, text))
			kab_strv_add(ret, text);
	}
	json_decref(plan);
}

/* Whatever a file put into a text, it does not drive the terminal. */
static void put(struct kab_cli *cli, const char *before, const char *text)
{
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;

	kab_text_escape(&buf, text, strlen(text));
	fprintf(cli->out, "%s%s\n", before, kab_buf_str(&buf));
}

static void put_list(struct kab_cli *cli, const char *what, const json_t *list, size_t all)
{
	struct kab_strv kab_autostrv texts = KAB_STRV_INIT;

	add_texts(list, &texts);
	if (texts.n)
		fprintf(cli->out, "\n%s\n", what);
	for (size_t i = 0; i < texts.n; i++)
		put(cli, "  ", texts.v[i]);
	if (all > texts.n)
		fprintf(cli->out, "  and %zu more\n", all - texts.n);
}

static int put_summaries(struct kab_cli *cli, struct kab_store *store, int64_t run_id,
			 struct kab_err *err)
{
	struct kab_summary_info *v;
	size_t n;

	if (kab_store_list_summaries(store, run_id, &v, &n, err))
		return -1;
	if (n)
		fprintf(cli->out, "\nsummaries (kernel, host, what, metric, n, mean, stddev)\n");
	for (size_t i = 0; i < n; i++) {
		const struct kab_summary_info *s = &v[i];
		struct kab_buf kab_autobuf line = KAB_BUF_INIT;

		kab_buf_addf(&line, "%s  %s  %s%s%s%s%s  %s%s%s (%s)  n %lld  mean %.10g",
			     s->kernel, s->host, s->condition, *s->condition ? " " : "",
			     s->case_name, *s->row_key ? " " : "", s->row_key, s->metric,
			     *s->unit ? " " : "", s->unit,
			     s->dir == KAB_DIR_NONE ? "no direction" : kab_direction_name(s->dir),
			     (long long)s->n, s->mean);
		if (isnan(s->sd))
			kab_buf_adds(&line, "  stddev unknown");
		else
			kab_buf_addf(&line, "  stddev %.10g", s->sd);
		put(cli, "  ", kab_buf_str(&line));
		kab_summary_info_release(&v[i]);
	}
	free(v);
	return 0;
}

int kab_imported_show(struct kab_cli *cli, struct kab_store *store, const struct kab_run_info *run,
		      struct kab_err *err)
{
	json_t *plan = plan_of(run), *import = json_object_get(plan, "import");
	char *text kab_autofree = kab_imported_text(run);
	const json_t *unread = json_object_get(import, "unread");
	int rc;

	if (text) {
		put(cli, "\norigin     ", text);
		put(cli, "content    sha256 ",
		    json_string_value(json_object_get(import, "sha256")));
	}
	put_list(cli, "noted at the import", json_object_get(import, "notes"), 0);
	put_list(cli, "found and not read", unread,
		 (size_t)json_integer_value(json_object_get(import, "unread_count")));
	rc = run->n_summaries ? put_summaries(cli, store, run->id, err) : 0;
	json_decref(plan);
	return rc;
}
