/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reports for KCIDB, version 5.3 of its schema (github.com/kernelci/kcidb-io; ours, written from its
 * rules, is schemas/kcidb-5.3.schema.json). Ids are made of what the object says: the same content has
 * the same id whenever it is exported, another value has another one. Nothing may be null: what is not
 * known is not there.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/sha256.h"
#include "exchange/export.h"
#include "exchange/kcidb_internal.h"

struct report {
	const struct kab_export *x; /* the run at hand */
	const struct kab_export_opts *opts;
	const char *lab;
	json_t *checkouts, *builds, *tests; /* objects by id, in order of appearance */
};

/* Text that is not UTF-8 loses what cannot be told. Empty and NULL text is left out. */
void kab_kcidb_text(json_t *to, const char *key, const char *text)
{
	char *copy kab_autofree = NULL;
	json_t *value;

	if (!text || !*text)
		return;
	value = json_string(text);
	if (!value) {
		copy = kab_xstrdup(text);
		for (char *p = copy; *p; p++)
			if ((unsigned char)*p >= 0x80)
				*p = '?';
		value = json_string(copy);
	}
	json_object_set_new(to, key, value);
}

void kab_kcidb_real(json_t *to, const char *key, double value)
{
	if (isfinite(value))
		json_object_set_new(to, key, json_real(value));
}

static void set_time(json_t *to, const char *key, int64_t wall_ns)
{
	time_t s = (time_t)(wall_ns / 1000000000);
	char day[64], *text kab_autofree = NULL;
	struct tm tm;

	if (wall_ns <= 0 || !gmtime_r(&s, &tm) ||
	    !strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm))
		return;
	text = kab_xasprintf("%s.%06d+00:00", day, (int)(wall_ns % 1000000000 / 1000));
	json_object_set_new(to, key, json_string(text));
}

/* Take the object: give it an id and put it where it is not yet. The id is borrowed. */
static const char *put(const struct report *r, json_t *all, json_t *object)
{
	char *text kab_autofree =
		json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
	char hex[KAB_SHA256_HEX_SIZE], *id kab_autofree = NULL;
	json_t *there;

	kab_sha256_hex(text ? text : "", text ? strlen(text) : 0, hex);
	id = kab_xasprintf("%s:kab-%.40s", r->opts->origin, hex);
	there = json_object_get(all, id);
	if (!there) {
		json_object_set_new(object, "id", json_string(id));
		json_object_set(all, id, object);
		there = object;
	}
	json_decref(object);
	return json_string_value(json_object_get(json_object_get(all, id), "id"));
}

static bool is_commit(const char *s)
{
	size_t n = strlen(s);

	return (n == 40 || n == 64) && strspn(s, "0123456789abcdef") == n;
}

/* Of the stored plan: what the user said of the kernel. Borrowed. */
static const char *said_of(json_t *plan, const char *label, const char *key)
{
	json_t *kernel;
	size_t i;

	json_array_foreach (json_object_get(plan, "kernels"), i, kernel) {
		const char *name = json_string_value(json_object_get(kernel, "label"));

		if (name && !strcmp(name, label))
			return json_string_value(json_object_get(kernel, key));
	}
	return NULL;
}

/* The first proven boot of the kernel on the host, else any boot of it there; -1: none. */
static int boot_of(const struct kab_export *x, const char *host, const char *kernel)
{
	int found = -1;

	for (size_t i = 0; i < x->n_boots; i++) {
		if (strcmp(x->boots[i].host, host) || strcmp(x->boots[i].kernel, kernel))
			continue;
		if (x->boots[i].proven_wall_ns)
			return (int)i;
		if (found < 0)
			found = (int)i;
	}
	return found;
}

static const char *architecture(const char *arch)
{
	return !strcmp(arch, "aarch64") ? "arm64" : arch;
}

static const char *add_checkout(struct report *r, json_t *plan, const char *label,
				const struct kab_boot_info *boot, const struct kab_facts *facts)
{
	json_t *object = json_object(), *misc = json_object();
	const char *commit = kab_facts_get(facts, "commit"), *said = said_of(plan, label, "commit");

	kab_kcidb_text(object, "origin", r->opts->origin);
	if (!*commit && said)
		commit = said;
	if (is_commit(commit))
		kab_kcidb_text(object, "git_commit_hash", commit);
	else
		kab_kcidb_text(misc, "commit", commit);
	kab_kcidb_text(object, "git_commit_name", said_of(plan, label, "describe"));
	if (boot && boot->proven_wall_ns)
		json_object_set_new(object, "valid", json_true());
	/* Without a commit the release is all that tells sources apart. */
	if (!is_commit(commit) && boot)
		kab_kcidb_text(misc, "release", boot->release);
	if (json_object_size(misc))
		json_object_set(object, "misc", misc);
	json_decref(misc);
	return put(r, r->checkouts, object);
}

static const char *add_build(struct report *r, const char *label, const char *host)
{
	const struct kab_export *x = r->x;
	int at = boot_of(x, host, label);
	const struct kab_boot_info *boot = at < 0 ? NULL : &x->boots[at];
	const struct kab_facts none = { 0 }, *facts = at < 0 ? &none : &x->facts[at];
	json_t *plan = json_loads(x->info.plan_json, 0, NULL), *object = json_object(), *misc;
	const char *id = add_checkout(r, plan, label, boot, facts);

	json_decref(plan);
	misc = json_object();
	kab_kcidb_text(object, "checkout_id", id);
	kab_kcidb_text(object, "origin", r->opts->origin);
	kab_kcidb_text(object, "architecture", architecture(kab_facts_get(facts, "arch")));
	if (boot && boot->proven_wall_ns)
		kab_kcidb_text(object, "status", "PASS");
	kab_kcidb_text(misc, "lab", r->lab);
	if (boot) {
		kab_kcidb_text(misc, "release", boot->release);
		kab_kcidb_text(misc, "build_id", boot->build_id);
	}
	kab_kcidb_text(misc, "config_sha256", kab_facts_get(facts, "config_hash"));
	kab_kcidb_text(misc, "kernel_version", kab_facts_get(facts, "kernel_version"));
	json_object_set_new(object, "misc", misc);
	return put(r, r->builds, object);
}

static json_t *environment(const struct report *r, const struct kab_row_data *row,
			   const char *kernel)
{
	static const struct {
		const char *key, *fact;
	} words[] = {
		{ "model", "model" },	      { "os", "os" },	{ "mitigations", "mitigations" },
		{ "governor", "governor" },   { "smt", "smt" }, { "virtualization", "virt" },
		{ "microcode", "microcode" },
	};
	static const char *const numbers[] = { "cpus", "cores", "sockets", "nodes", "memory_mb" };
	json_t *misc = json_object();
	int at = boot_of(r->x, row->host, kernel);
	const struct kab_facts none = { 0 }, *facts = at < 0 ? &none : &r->x->facts[at];
	const char *platform = kab_facts_get(facts, "model");

	/* What kind of machine it is; a host's own name is nobody else's business. */
	kab_kcidb_text(misc, "platform", *platform ? platform : "unknown");
	if (r->opts->names)
		kab_kcidb_text(misc, "host", row->host);
	if (at >= 0 && *r->x->boots[at].machine_hash) {
		char *machine kab_autofree = kab_xstrndup(r->x->boots[at].machine_hash, 16);

		kab_kcidb_text(misc, "machine", machine);
	}
	kab_kcidb_text(misc, "architecture", architecture(kab_facts_get(facts, "arch")));
	for (size_t i = 0; i < KAB_ARRAY_SIZE(words); i++)
		kab_kcidb_text(misc, words[i].key, kab_facts_get(facts, words[i].fact));
	for (size_t i = 0; i < KAB_ARRAY_SIZE(numbers); i++)
		if (kab_facts_int(facts, numbers[i], 0) > 0)
			json_object_set_new(misc, numbers[i],
					    json_integer(kab_facts_int(facts, numbers[i], 0)));
	kab_kcidb_text(misc, "condition", row->condition);
	return json_pack("{s:o}", "misc", misc);
}

static bool is_of(const struct report *r, const struct kab_export_step *step,
		  const struct kab_row_data *row, const char *kernel)
{
	const struct kab_boot_info *boot = &r->x->boots[step->boot];

	return !strcmp(boot->kernel, kernel) && !strcmp(boot->host, row->host) &&
	       !strcmp(step->info.condition, row->condition) &&
	       !strcmp(step->info.case_name, row->case_name) &&
	       !strcmp(step->info.row_key, row->row_key);
}

/* Without a value: what was it that failed? The benchmark (ERROR), what runs it (MISS), or is it of
 * no use there (SKIP)? */
static const char *status_without_value(const struct report *r, const struct kab_row_data *row,
					const char *kernel)
{
	bool skipped = false, missed = false;

	for (size_t i = 0; i < r->x->n_steps; i++) {
		const struct kab_export_step *step = &r->x->steps[i];

		if (!is_of(r, step, row, kernel))
			continue;
		if (step->info.state == KAB_ITER_FAILED && step->info.exit_status >= 0)
			return "ERROR";
		if (step->info.state == KAB_ITER_DONE)
			return "ERROR";
		/* Never sent to the host although that kernel ran there: the benchmark said no. */
		if (step->info.state == KAB_ITER_MISSING && !step->info.remote_id &&
		    r->x->boots[step->boot].proven_wall_ns)
			skipped = true;
		else
			missed = true;
	}
	return skipped && !missed ? "SKIP" : "MISS";
}

static void set_number(json_t *object, const struct kab_row_data *row, double mean)
{
	/* Units that have no prefix of their own, so that a reader may scale them. */
	static const char *const scalable[] = { "s", "B/s", "Hz", "B" };
	json_t *number = json_pack("{s:f}", "value", mean);

	kab_kcidb_text(number, "unit", row->unit);
	for (size_t i = 0; i < KAB_ARRAY_SIZE(scalable); i++)
		if (!strcmp(row->unit, scalable[i]))
			kab_kcidb_text(number, "prefix", "metric");
	json_object_set_new(object, "number", number);
}

static void set_times(const struct report *r, json_t *object, const struct kab_row_data *row,
		      const char *kernel)
{
	int64_t first = 0;
	double sum = 0;

	for (size_t i = 0; i < r->x->n_steps; i++) {
		const struct kab_export_step *step = &r->x->steps[i];

		if (!is_of(r, step, row, kernel))
			continue;
		if (step->info.started_wall_ns && (!first || step->info.started_wall_ns < first))
			first = step->info.started_wall_ns;
		if (isfinite(step->info.elapsed_s))
			sum += step->info.elapsed_s;
	}
	set_time(object, "start_time", first);
	if (sum > 0)
		json_object_set_new(object, "duration", json_real(sum));
}

static void add_test(struct report *r, const struct kab_judged_row *row, size_t s)
{
	const struct kab_set_summary *set = &row->sets[s];
	const struct kab_pair *pair = s ? &row->pairs[s - 1] : NULL;
	const char *kernel = set->data->kernel;
	struct kab_buf kab_autobuf failure = KAB_BUF_INIT;
	json_t *object = json_object(), *misc;
	char *path kab_autofree = kab_kcidb_path(row->data);
	bool value = kab_set_any(set) && isfinite(set->mean);

	kab_kcidb_text(object, "build_id", add_build(r, kernel, row->data->host));
	kab_kcidb_text(object, "origin", r->opts->origin);
	kab_kcidb_text(object, "path", path);
	json_object_set_new(object, "environment", environment(r, row->data, kernel));
	if (!value)
		kab_kcidb_text(object, "status", status_without_value(r, row->data, kernel));
	else
		kab_kcidb_text(object, "status",
			       pair && pair->gate && pair->tested && !pair->one_boot &&
					       pair->outcome == KAB_OUTCOME_REGRESSED
				       ? "FAIL"
				       : "DONE");
	if (value)
		set_number(object, row->data, set->mean);
	set_times(r, object, row->data, kernel);
	misc = kab_kcidb_misc(&r->x->info, &r->x->judgement, row, s, r->lab);
	kab_export_sentence(r->x, set->data->first_failure, r->opts->names, &failure);
	kab_kcidb_text(misc, "first_failure", kab_buf_str(&failure));
	json_object_set_new(object, "misc", misc);
	put(r, r->tests, object);
}

static void add_run(struct report *r)
{
	for (size_t i = 0; i < r->x->judgement.n; i++) {
		const struct kab_judged_row *row = &r->x->judgement.v[i];

		if (!row->data->primary && !r->opts->all)
			continue;
		for (size_t s = 0; s < row->n_sets; s++)
			if ((!r->opts->kernel ||
			     !strcmp(row->sets[s].data->kernel, r->opts->kernel)) &&
			    row->sets[s].data->n_planned)
				add_test(r, row, s);
	}
}

/* The values of an object by id, as a list; the object is taken. */
static json_t *values_of(json_t *objects)
{
	json_t *list = json_array(), *value;
	const char *key;

	json_object_foreach (objects, key, value)
		json_array_append(list, value);
	json_decref(objects);
	return list;
}

static int check_origin(const char *origin, struct kab_err *err)
{
	if (!origin)
		return kab_err_set(
			err, KAB_ERR_USAGE,
			"which origin? KCIDB gives each submitter a name: --origin NAME");
	if (!*origin || strspn(origin, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(origin))
		return kab_err_set(err, KAB_ERR_USAGE,
				   "'%s' is no origin: small letters, digits and _ are", origin);
	return 0;
}

int kab_export_kcidb(const struct kab_export *runs, size_t n, const struct kab_export_opts *opts,
		     struct kab_buf *ret, struct kab_err *err)
{
	struct report r = { .opts = opts, .lab = opts->lab ? opts->lab : opts->origin };
	json_t *doc;
	char *text;

	if (check_origin(opts->origin, err))
		return -1;
	r.checkouts = json_object();
	r.builds = json_object();
	r.tests = json_object();
	for (size_t i = 0; i < n; i++) {
		r.x = &runs[i];
		add_run(&r);
	}
	doc = json_pack("{s:{s:i, s:i}, s:o, s:o, s:o}", "version", "major", 5, "minor", 3,
			"checkouts", values_of(r.checkouts), "builds", values_of(r.builds), "tests",
			values_of(r.tests));
	text = json_dumps(doc, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	json_decref(doc);
	if (!text)
		return kab_err_set(err, KAB_ERR_INTERNAL, "the report cannot be written as JSON");
	kab_buf_adds(ret, text);
	kab_buf_addc(ret, '\n');
	free(text);
	return 0;
}
