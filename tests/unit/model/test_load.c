/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Suites, labs and kernels as people write them, and how the loaders answer to mistakes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/json.h"
#include "model/kernel.h"
#include "model/lab.h"
#include "model/suite.h"

static int load_suite(const char *text, struct kab_suite *suite, struct kab_err *err)
{
	json_t *doc = NULL;
	int status = kab_json_load_bytes("s.json", text, strlen(text), &doc, err);

	if (status == 0)
		status = kab_suite_load_json(doc, "s.json", suite, err);
	json_decref(doc);
	return status;
}

static void suite_defaults(void **state)
{
	struct kab_suite s = { 0 };
	struct kab_err err = KAB_ERR_INIT;

	(void)state;
	assert_int_equal(load_suite("{ \"name\": \"x\", \"cases\": [ { \"name\": \"c\", "
				    "\"runner\": \"hackbench\" } ] }",
				    &s, &err),
			 0);
	assert_int_equal(s.boots, 1);
	assert_int_equal(s.iterations, 3);
	assert_int_equal(s.warmup, 0);
	assert_int_equal(s.retry, 0);
	assert_true(s.margin_pct == 2);
	assert_int_equal(s.instances_n, 1);
	assert_string_equal(s.instances[0].row_key, "");
	assert_true(kab_case_margin(&s.cases[0], "time") == 2);
	kab_suite_release(&s);
}

static void sweeps(void **state)
{
	static const char *const keys[] = { "groups=1 pipe=true",    "groups=1 pipe=false",
					    "groups=4 pipe=true",    "groups=4 pipe=false",
					    "groups=cpus pipe=true", "groups=cpus pipe=false" };
	struct kab_suite s = { 0 };
	struct kab_err err = KAB_ERR_INIT;

	(void)state;
	assert_int_equal(
		load_suite(
			"{ \"name\": \"x\", \"margin_pct\": 5, \"_why\": \"note\", \"$schema\": 1,"
			" \"cases\": [ { \"name\": \"c\", \"runner\": \"hackbench\", \"_n\": [],"
			" \"margin_pct\": { \"time\": 1.5 }, \"params\": { \"_n\": {}, "
			"\"groups\": [1, 4, \"cpus\"], \"size\": 2.5, \"pipe\": [true, false] } },"
			" { \"name\": \"d\", \"runner\": \"hackbench\" } ] }",
			&s, &err),
		0);
	assert_int_equal(s.instances_n, 7);
	for (size_t i = 0; i < 6; i++) {
		assert_string_equal(s.instances[i].row_key, keys[i]);
		assert_int_equal(s.instances[i].order, i);
		assert_int_equal(s.instances[i].case_index, 0);
		assert_string_equal(kab_params_get(&s.instances[i].params, "size", ""), "2.5");
		assert_int_equal(s.instances[i].params.n, 3);
	}
	assert_string_equal(kab_params_get(&s.instances[5].params, "groups", ""), "cpus");
	assert_string_equal(kab_params_get(&s.instances[5].params, "pipe", ""), "false");
	assert_int_equal(s.instances[6].case_index, 1);
	assert_true(kab_case_margin(&s.cases[0], "time") == 1.5);
	assert_true(kab_case_margin(&s.cases[0], "other") == 5);
	kab_suite_release(&s);
}

#define CASES(more) \
	"{ \"name\": \"x\", \"cases\": [ { \"name\": \"c\", \"runner\": \"r\" " more " } ] }"
#define TOP(more) \
	"{ \"name\": \"x\", " more ", \"cases\": [ { \"name\": \"c\", \"runner\": \"r\" } ] }"

static void suite_errors(void **state)
{
	static const struct {
		const char *text;
		const char *said[3]; /* path first */
	} table[] = {
		{ "[]", { "$: ", "an object", "an array" } },
		{ "{ \"cases\": [] }", { "$: ", "'name'", "none" } },
		{ "{ \"name\": \"x\" }", { "$: ", "'cases'", "none" } },
		{ "{ \"name\": \"x\", \"cases\": {} }", { "$.cases: ", "an array", "an object" } },
		{ "{ \"name\": \"x\", \"cases\": [] }", { "$.cases: ", "at least one", NULL } },
		{ "{ \"name\": \"x y\", \"cases\": [1] }", { "$.name: ", "'x y'", NULL } },
		{ "{ \"name\": 3, \"cases\": [1] }", { "$.name: ", "a string", "the number 3" } },
		{ "{ \"name\": \"x\", \"cases\": [1] }",
		  { "$.cases[0]: ", "an object", "the number 1" } },
		{ TOP("\"repeat\": { \"iteratons\": 3 }"),
		  { "$.repeat: ", "'iteratons'", "'iterations'" } },
		{ TOP("\"repeat\": { \"iterations\": \"3\" }"),
		  { "$.repeat.iterations: ", "an integer from 1 to 100000", "the string '3'" } },
		{ TOP("\"repeat\": { \"boots\": 0 }"),
		  { "$.repeat.boots: ", "from 1 to 1000", "the number 0" } },
		{ TOP("\"repeat\": []"), { "$.repeat: ", "an object", "an array" } },
		{ TOP("\"iterations\": 3"), { "$: ", "unknown key 'iterations'", NULL } },
		{ TOP("\"margin_pct\": 100"),
		  { "$.margin_pct: ", "from 0.001 to 99", "the number 100" } },
		{ TOP("\"conditions\": { \"smd\": \"on\" }"),
		  { "$.conditions.smd: ", "'smd'", "smt" } },
		{ TOP("\"conditions\": { \"smt\": \"yes\" }"),
		  { "$.conditions.smt: ", "'on' or 'off'", "'yes'" } },
		{ TOP("\"conditions\": { \"smt\": [] }"),
		  { "$.conditions.smt: ", "at least one", NULL } },
		{ TOP("\"conditions\": { \"smt\": [\"on\", \"on\"] }"),
		  { "$.conditions.smt: ", "twice", NULL } },
		{ TOP("\"conditions\": { \"sysctl.../etc\": 1 }"),
		  { "$.conditions", "unknown condition", NULL } },
		{ TOP("\"conditions\": { \"thp\": true }"),
		  { "$.conditions.thp: ", "a text, an integer", NULL } },
		{ TOP("\"hooks\": { \"h\": { \"apply\": [\"x\"] } }"),
		  { "$.hooks.h: ", "'undo'", NULL } },
		{ CASES(", \"runer\": 1"), { "$.cases[0]: ", "'runer'", "'runner'" } },
		{ CASES(", \"params\": []"), { "$.cases[0].params: ", "an object", "an array" } },
		{ CASES(", \"params\": { \"Groups\": 1 }"),
		  { "$.cases[0].params.Groups: ", "lower-case", NULL } },
		{ CASES(", \"params\": { \"groups\": [] }"),
		  { "$.cases[0].params.groups: ", "at least one value", NULL } },
		{ CASES(", \"params\": { \"groups\": null }"),
		  { "$.cases[0].params.groups: ", "a text, a number", NULL } },
		{ CASES(", \"params\": { \"groups\": [1, {}] }"),
		  { "$.cases[0].params.groups", "a text, a number", NULL } },
		{ CASES(", \"params\": { \"groups\": [1, 2, \"1\"] }"),
		  { "$.cases[0].params.groups: ", "value 1 is there twice", NULL } },
		{ CASES(", \"params\": { \"a\": [\"1\", \"1 b=2\"], \"b\": [\"2 b=2\", \"2\"] }"),
		  { "$.cases[0].params: ", "the row 'a=1 b=2 b=2'", NULL } },
		{ CASES(", \"timeout_s\": 0"),
		  { "$.cases[0].timeout_s: ", "from 0.1", "the number 0" } },
		{ CASES(", \"metrics\": \"time\""),
		  { "$.cases[0].metrics: ", "an array", "the string 'time'" } },
		{ CASES(", \"margin_pct\": { \"time\": 0 }"),
		  { "$.cases[0].margin_pct.time: ", "from 0.001", "the number 0" } },
		{ CASES(", \"background\": { \"settle_s\": 2 }"),
		  { "$.cases[0].background: ", "'argv'", NULL } },
		{ CASES(", \"background\": { \"argv\": [1] }"),
		  { "$.cases[0].background.argv[0]: ", "a string", "the number 1" } },
		{ "{ \"name\": \"x\", \"cases\": [ { \"name\": \"hb\", \"runner\": \"r\" }, "
		  "{ \"name\": \"hb\", \"runner\": \"r\" } ] }",
		  { "$.cases[1]: ", "'hb'", "$.cases[0]" } },
		{ "{ \"name\": \"x\", \"cases\": [ { \"name\": \"a\\nb\", \"runner\": \"r\" } ] }",
		  { "$.cases[0]: ", "one line", NULL } },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(table); i++) {
		struct kab_suite suite = { 0 };
		struct kab_err err = KAB_ERR_INIT;

		if (load_suite(table[i].text, &suite, &err) == 0)
			fail_msg("accepted: %s", table[i].text);
		assert_int_equal(err.code, KAB_ERR_CONFIG);
		assert_memory_equal(err.text, "s.json: ", 8);
		for (size_t k = 0; k < 3 && table[i].said[k]; k++)
			if (!strstr(err.text, table[i].said[k]))
				fail_msg("'%s' is not in: %s", table[i].said[k], err.text);
	}
}

static void sweeps_are_bounded(void **state)
{
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;
	struct kab_suite suite = { 0 };
	struct kab_err err = KAB_ERR_INIT;

	(void)state;
	kab_buf_adds(&text, "{ \"name\": \"x\", \"cases\": [ { \"name\": \"c\", \"runner\": \"r\", "
			    "\"params\": { ");
	for (int p = 0; p < 64; p++)
		kab_buf_addf(&text, "%s\"p%d\": [1, 2, 3, 4]", p ? ", " : "", p);
	kab_buf_adds(&text, " } } ] }");
	assert_int_equal(load_suite(kab_buf_str(&text), &suite, &err), -1);
	assert_non_null(strstr(err.text, "more than 10000 points"));
}

static void conditions(void **state)
{
	struct kab_condition_list list = { 0 };
	struct kab_setting_list *all;
	struct kab_err err = KAB_ERR_INIT;
	size_t n;

	(void)state;
	assert_int_equal(kab_condition_product(&list, &all, &n, &err), 0);
	assert_int_equal(n, 1);
	assert_string_equal(all[0].text, "");
	kab_setting_list_release(&all[0]);
	free(all);
	assert_int_equal(kab_condition_add_text(&list, "smt=on,off", &err), 0);
	assert_int_equal(kab_condition_add_text(&list, "sysctl.kernel.x=1 2", &err), 0);
	assert_int_equal(kab_condition_add_text(&list, "file:/a=b=c", &err), 0);
	assert_int_equal(kab_condition_product(&list, &all, &n, &err), 0);
	assert_int_equal(n, 2);
	assert_string_equal(all[0].text, "smt=on sysctl.kernel.x=1 2 file:/a=b=c");
	assert_string_equal(all[1].text, "smt=off sysctl.kernel.x=1 2 file:/a=b=c");
	assert_string_equal(all[1].v[2].name, "file:/a");
	assert_string_equal(all[1].v[2].value, "b=c");
	for (size_t i = 0; i < n; i++)
		kab_setting_list_release(&all[i]);
	free(all);
	/* The command line wins over the suite. */
	assert_int_equal(kab_condition_add_text(&list, "smt=off", &err), 0);
	assert_int_equal(list.n, 3);
	assert_int_equal(list.v[0].values.n, 1);
	for (const char *const *bad =
		     (const char *const[]){ "smt", "=on", "smt=", "smt=maybe", "file:relative=1",
					    "file:/a/../b=1", "x=1", "smt=on,", "sysctl.a/b=1",
					    NULL };
	     *bad; bad++)
		assert_int_equal(kab_condition_add_text(&list, *bad, &err), -1);
	kab_condition_list_release(&list);
}

struct spec {
	const char *text;
	const char *said; /* NULL: it is right */
	enum kab_kernel_kind kind;
	const char *release, *source, *cmdline;
	size_t n_sources;
};

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789ABCDEF"

static void kernel_grammar(void **state)
{
	static const struct spec table[] = {
		{ "base=running", NULL, KAB_KERNEL_RUNNING, NULL, NULL, NULL, 0 },
		{ "p=release:6.12.0-rc1+~x", NULL, KAB_KERNEL_RELEASE, "6.12.0-rc1+~x", NULL, NULL,
		  0 },
		{ "p=release:6.1;cmdline=mitigations=off quiet", NULL, KAB_KERNEL_RELEASE, "6.1",
		  NULL, "mitigations=off quiet", 0 },
		{ "p=deb:a.deb,b.deb", NULL, KAB_KERNEL_DEB, NULL, "a.deb", NULL, 2 },
		{ "p=deb:https://x/y.deb;sha256=" HEX64, NULL, KAB_KERNEL_DEB, NULL,
		  "https://x/y.deb", NULL, 1 },
		{ "p=tar:/a,b.tar", NULL, KAB_KERNEL_TAR, NULL, "/a,b.tar", NULL, 1 },
		{ "p=image:/a,b,initrd=/i,modules=/m", NULL, KAB_KERNEL_IMAGE, NULL, "/a,b", NULL,
		  1 },
		{ "p=image:/k,modules=/m,initrd=/i", NULL, KAB_KERNEL_IMAGE, NULL, "/k", NULL, 1 },
		{ "running", "expected LABEL=SPEC", 0, 0, 0, 0, 0 },
		{ "=running", "kernel label ''", 0, 0, 0, 0, 0 },
		{ "-x=running", "not starting with '-'", 0, 0, 0, 0, 0 },
		{ "a b=running", "kernel label 'a b'", 0, 0, 0, 0, 0 },
		{ "p=", "expected a SPEC", 0, 0, 0, 0, 0 },
		{ "p=runing", "expected running, release:R", 0, 0, 0, 0, 0 },
		{ "p=running ", "expected running, release:R", 0, 0, 0, 0, 0 },
		{ "p=release:", "not a kernel release", 0, 0, 0, 0, 0 },
		{ "p=release:6.1;rm -rf", "expected ';cmdline='", 0, 0, 0, 0, 0 },
		{ "p=release:6.1 x", "not a kernel release", 0, 0, 0, 0, 0 },
		{ "p=release:$(x)", "not a kernel release", 0, 0, 0, 0, 0 },
		{ "p=deb:", "found 'deb:'", 0, 0, 0, 0, 0 },
		{ "p=deb:a,,b", "empty path", 0, 0, 0, 0, 0 },
		{ "p=tar:", "found 'tar:'", 0, 0, 0, 0, 0 },
		{ "p=image:", "needs a path", 0, 0, 0, 0, 0 },
		{ "p=image:,initrd=/i", "needs a path", 0, 0, 0, 0, 0 },
		{ "p=image:/k,initrd=", "empty path", 0, 0, 0, 0, 0 },
		{ "p=tar:/t;sha256=abc", "64 hexadecimal digits", 0, 0, 0, 0, 0 },
		{ "p=running;", "expected ';cmdline='", 0, 0, 0, 0, 0 },
		{ "p=running;cmdline=a\nb", "printable", 0, 0, 0, 0, 0 },
		{ "p=@/nonexistent.json", "/nonexistent.json", 0, 0, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(table); i++) {
		const struct spec *s = &table[i];
		struct kab_kernel_list list = { 0 };
		struct kab_err err = KAB_ERR_INIT;
		int status = kab_kernel_add(&list, s->text, &err);

		if (s->said) {
			assert_int_equal(status, -1);
			assert_int_equal(list.n, 0);
			if (!strstr(err.text, s->said))
				fail_msg("%s: %s", s->text, err.text);
			continue;
		}
		if (status < 0)
			fail_msg("%s: %s", s->text, err.text);
		assert_int_equal(list.v[0].kind, s->kind);
		if (s->release)
			assert_string_equal(list.v[0].release, s->release);
		assert_int_equal(list.v[0].sources.n, s->n_sources);
		if (s->source)
			assert_string_equal(list.v[0].sources.v[0], s->source);
		if (s->cmdline)
			assert_string_equal(list.v[0].cmdline, s->cmdline);
		if (s->kind == KAB_KERNEL_IMAGE) {
			assert_string_equal(list.v[0].initrd, "/i");
			assert_string_equal(list.v[0].modules, "/m");
		}
		assert_int_equal(kab_kernel_add(&list, s->text, &err), -1);
		assert_non_null(strstr(err.text, "given twice"));
		kab_kernel_list_release(&list);
	}
}

static char *file_with(const char *text)
{
	char *path = kab_xstrdup("/tmp/kab-model-XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(kab_file_write(path, text, strlen(text), 0600, NULL), 0);
	return path;
}

static void kernel_files(void **state)
{
	static const struct {
		const char *text, *said;
	} table[] = {
		{ "{ \"release\": \"6.1\", \"commit\": \"abc\", \"build_id\": \"0123456789\" }",
		  NULL },
		{ "{ \"deb\": [\"a.deb\", \"b.deb\"], \"cmdline\": \"x\" }", NULL },
		{ "{}", "exactly one" },
		{ "{ \"running\": true, \"tar\": \"x\" }", "found 2" },
		{ "{ \"release\": \"a b\" }", "'a b'" },
		{ "{ \"release\": \"6.1\", \"build_id\": \"xyz\" }", "8 to 64" },
		{ "{ \"relase\": \"6.1\" }", "'release'" },
		{ "{ \"deb\": \"a.deb\" }", "$.deb: expected an array" },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(table); i++) {
		char *path kab_autofree = file_with(table[i].text);
		char *spec kab_autofree = kab_xasprintf("p=@%s;cmdline=extra", path);
		struct kab_kernel_list list = { 0 }, again = { 0 };
		struct kab_err err = KAB_ERR_INIT;
		int status = kab_kernel_add(&list, spec, &err);

		unlink(path);
		if (table[i].said) {
			assert_int_equal(status, -1);
			assert_int_equal(err.code, KAB_ERR_CONFIG);
			assert_non_null(strstr(err.text, path));
			if (!strstr(err.text, table[i].said))
				fail_msg("%s: %s", table[i].text, err.text);
			continue;
		}
		assert_int_equal(status, 0);
		assert_string_equal(list.v[0].cmdline, "extra");
		/* Through the stored plan and back, when the file is gone. */
		{
			json_t *object = kab_kernel_to_json(&list.v[0]);

			assert_int_equal(kab_kernel_from_json(&again, object, &err), 0);
			json_decref(object);
		}
		assert_true(kab_kernel_same_spec(&list.v[0], &again.v[0]));
		assert_string_equal(again.v[0].label, "p");
		if (list.v[0].build_id)
			assert_string_equal(again.v[0].build_id, list.v[0].build_id);
		kab_kernel_list_release(&list);
		kab_kernel_list_release(&again);
	}
}

/* One label, another kernel on each host. */
static void kernel_by_host(void **state)
{
	static const struct {
		const char *text, *said;
	} table[] = {
		{ "{ \"hosts\": {} }", "$.hosts: 'hosts' is an object of kernels by host name" },
		{ "{ \"hosts\": { \"a\": { \"cmdline\": \"x\" } } }",
		  "$.hosts.a: expected exactly one" },
		{ "{ \"hosts\": { \"a\": { \"relase\": \"6\" } } }", "did you mean 'release'" },
		{ "{ \"release\": \"6.1\", \"hosts\": { \"a\": { \"release\": \"6\" } } }",
		  "'release'" },
	};
	char *path = file_with("{ \"commit\": \"abc\", \"cmdline\": \"quiet\", \"hosts\": {"
			       " \"x86\": { \"release\": \"6.1-amd64\" },"
			       " \"_note\": \"not a host\","
			       " \"p9\": { \"deb\": [\"p.deb\"], \"cmdline\": \"debug\" } } }");
	char *spec = kab_xasprintf("p=@%s", path), *all = kab_xasprintf("q=@%s;cmdline=x", path);
	char *sha = kab_xasprintf("r=@%s;sha256=%064d", path, 0);
	struct kab_kernel_list list = { 0 }, again = { 0 };
	struct kab_facts facts = { 0 };
	const struct kab_kernel *one;
	struct kab_err err = KAB_ERR_INIT;
	json_t *object;

	(void)state;
	assert_int_equal(kab_kernel_add(&list, spec, &err), 0);
	assert_int_equal(kab_kernel_add(&list, all, &err), 0);
	assert_int_equal(kab_kernel_add(&list, sha, &err), -1);
	assert_non_null(strstr(err.text, "'sha256' into the file"));
	unlink(path);
	object = kab_kernel_to_json(&list.v[0]);
	assert_int_equal(kab_kernel_from_json(&again, object, &err), 0);
	json_decref(object);
	assert_true(kab_kernel_same_spec(&list.v[0], &again.v[0]));
	assert_false(kab_kernel_same_spec(&list.v[0], &list.v[1]));
	assert_null(kab_kernel_for_host(&again.v[0], "other"));
	one = kab_kernel_for_host(&again.v[0], "x86");
	assert_int_equal(one->kind, KAB_KERNEL_RELEASE);
	assert_string_equal(one->label, "p");
	assert_string_equal(one->release, "6.1-amd64");
	assert_string_equal(one->cmdline, "quiet");
	assert_string_equal(one->commit, "abc");
	kab_facts_set(&facts, "release", "6.1-amd64");
	assert_int_equal(kab_kernel_matches(one, &facts, NULL), 1);
	one = kab_kernel_for_host(&again.v[0], "p9");
	assert_int_equal(one->kind, KAB_KERNEL_DEB);
	assert_string_equal(one->sources.v[0], "p.deb");
	assert_string_equal(one->cmdline, "debug");
	assert_string_equal(kab_kernel_for_host(&list.v[1], "p9")->cmdline, "x");
	assert_null(kab_kernel_for_host(&list.v[1], "_note"));
	kab_facts_release(&facts);
	kab_kernel_list_release(&again);
	free(path);
	free(spec);
	free(all);
	free(sha);
	for (size_t i = 0; i < KAB_ARRAY_SIZE(table); i++) {
		char *file kab_autofree = file_with(table[i].text);
		char *text kab_autofree = kab_xasprintf("z=@%s", file);

		kab_err_clear(&err);
		assert_int_equal(kab_kernel_add(&list, text, &err), -1);
		unlink(file);
		if (!strstr(err.text, table[i].said))
			fail_msg("%s: %s", table[i].text, err.text);
	}
	kab_kernel_list_release(&list);
}

static void kernel_matches(void **state)
{
	struct kab_kernel release = { .kind = KAB_KERNEL_RELEASE, .release = (char *)"6.1.0-5" };
	struct kab_kernel built = { .kind = KAB_KERNEL_RELEASE,
				    .release = (char *)"6.1.0-5",
				    .build_id = (char *)"ABCDEF0123" };
	struct kab_kernel running = { .kind = KAB_KERNEL_RUNNING };
	struct kab_facts facts = { 0 };
	char *why = NULL;

	(void)state;
	kab_facts_set(&facts, "release", "6.1.0-50");
	assert_int_equal(kab_kernel_matches(&release, &facts, &why), 0);
	assert_non_null(strstr(why, "6.1.0-50"));
	free(why);
	kab_facts_set(&facts, "release", "6.1.0-5");
	assert_int_equal(kab_kernel_matches(&release, &facts, NULL), 1);
	/* Not known on the host: the release has to do. Known: a shortened one is enough. */
	assert_int_equal(kab_kernel_matches(&built, &facts, NULL), 1);
	kab_facts_set(&facts, "build_id", "abcdef0123456789abcdef0123456789abcdef01");
	assert_int_equal(kab_kernel_matches(&built, &facts, NULL), 1);
	kab_facts_set(&facts, "build_id", "bbcdef0123456789abcdef0123456789abcdef01");
	why = NULL;
	assert_int_equal(kab_kernel_matches(&built, &facts, &why), 0);
	assert_non_null(strstr(why, "build id"));
	free(why);
	assert_int_equal(kab_kernel_matches(&running, &facts, NULL), 1);
	kab_facts_release(&facts);
}

static void lab(void **state)
{
	static const struct {
		const char *text, *said;
	} bad[] = {
		{ "{}", "$: expected the key 'hosts'" },
		{ "{ \"hosts\": [] }", "$.hosts: expected an object" },
		{ "{ \"hosts\": { \"a\": { \"shs\": \"x\" } } }",
		  "$.hosts.a: unknown key 'shs'; did you mean 'ssh'?" },
		{ "{ \"hosts\": { \"a b\": {} } }", "'a b'" },
		{ "{ \"hosts\": { \"a\": { \"port\": 70000 } } }",
		  "$.hosts.a.port: expected an integer" },
		{ "{ \"hosts\": { \"a\": { \"transport\": \"telnet\" } } }", "'telnet'" },
		{ "{ \"hosts\": { \"a\": { \"become\": \"su\" } } }", "'become'" },
		{ "{ \"hosts\": { \"a\": { \"workdir\": \"x\" } } }", "absolute" },
		{ "{ \"hosts\": { \"a\": { \"boot\": { \"method\": \"grb\" } } } }",
		  "$.hosts.a.boot.method: expected none, grub" },
		{ "{ \"hosts\": { \"a\": { \"boot\": { \"method\": \"command\" } } } }",
		  "$.hosts.a.boot: " },
		{ "{ \"hosts\": { \"local\": { \"boot\": { \"method\": \"grub\" } } } }",
		  "never rebooted" },
		{ "{ \"hosts\": { \"me\": { \"transport\": \"local\", \"boot\": { \"method\": "
		  "\"kexec\" } } } }",
		  "never rebooted" },
		{ "{ \"hosts\": { \"local\": { \"transport\": \"ssh\" } } }",
		  "$.hosts.local.transport: " },
		{ "{ \"hosts\": { \"local\": { \"ssh\": \"elsewhere\" } } }",
		  "$.hosts.local.ssh: " },
	};
	struct kab_err err = KAB_ERR_INIT;
	const struct kab_lab_host *host;
	struct kab_lab l;
	char *path;

	(void)state;
	assert_int_equal(kab_lab_load(NULL, &l, &err), 0);
	assert_int_equal(l.n, 1);
	assert_string_equal(kab_lab_find(&l, "local")->transport, "local");
	assert_int_equal(kab_lab_need(&l, "tx2", &host, &err), -1);
	assert_int_equal(err.code, KAB_ERR_NOT_FOUND);
	kab_lab_release(&l);

	path = file_with(
		"{ \"_\": 1, \"hosts\": { \"$x\": 1, \"tx2\": { \"class\": \"arm\", "
		"\"boot\": { \"method\": \"systemd-boot\", \"deadline_s\": 90 }, "
		"\"power\": { \"cycle\": [\"pdu\", \"7\"] } }, "
		"\"p9\": { \"ssh\": \"root@p9.lab\", \"port\": 2222, \"keepalive_s\": 0 }, "
		"\"local\": { \"workdir\": \"/srv\" } } }");
	assert_int_equal(kab_lab_load(path, &l, &err), 0);
	assert_int_equal(l.n, 3);
	host = kab_lab_find(&l, "tx2");
	assert_string_equal(host->ssh, "tx2");
	assert_int_equal(host->boot, KAB_BOOT_SYSTEMD);
	assert_int_equal(host->keepalive_s, 15);
	assert_true(host->boot_deadline_s == 90);
	assert_int_equal(host->power_cycle.n, 2);
	assert_string_equal(kab_lab_find(&l, "p9")->ssh, "root@p9.lab");
	assert_int_equal(kab_lab_find(&l, "p9")->keepalive_s, 0);
	assert_string_equal(kab_lab_find(&l, "local")->workdir, "/srv");
	assert_int_equal(kab_lab_need(&l, "tx3", &host, &err), -1);
	assert_non_null(strstr(err.text, "'tx2'"));
	kab_lab_release(&l);
	unlink(path);
	free(path);

	for (size_t i = 0; i < KAB_ARRAY_SIZE(bad); i++) {
		path = file_with(bad[i].text);
		kab_err_clear(&err);
		if (kab_lab_load(path, &l, &err) == 0)
			fail_msg("accepted: %s", bad[i].text);
		assert_int_equal(err.code, KAB_ERR_CONFIG);
		assert_non_null(strstr(err.text, path));
		if (!strstr(err.text, bad[i].said))
			fail_msg("%s: %s", bad[i].text, err.text);
		unlink(path);
		free(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(suite_defaults), cmocka_unit_test(sweeps),
		cmocka_unit_test(suite_errors),	  cmocka_unit_test(sweeps_are_bounded),
		cmocka_unit_test(conditions),	  cmocka_unit_test(kernel_grammar),
		cmocka_unit_test(kernel_files),	  cmocka_unit_test(kernel_by_host),
		cmocka_unit_test(kernel_matches), cmocka_unit_test(lab),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
