/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON that people write: each error names file, path, what was expected and what was found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/json.h"

static json_t *load(const char *text, struct kab_err *err)
{
	json_t *doc = NULL;

	kab_err_clear(err);
	if (kab_json_load_bytes("x.json", text, strlen(text), &doc, err) < 0) {
		assert_int_equal(err->code, KAB_ERR_CONFIG);
		return NULL;
	}
	return doc;
}

static void documents(void **state)
{
	static const struct {
		const char *text, *said;
	} bad[] = {
		{ "{\n \"a\": 1,\n \"a\": 2 }", "x.json:3:" },
		{ "{ \"a\": 1, }", "x.json:1:" },
		{ "{ \"a\": tru }", "x.json:1:" },
		{ "", "x.json" },
		{ "{} {}", "x.json:1:" },
		{ "\"\377\"", "x.json:1:" },
		{ "[1e999]", "x.json:1:" },
	};
	struct kab_err err = KAB_ERR_INIT;
	json_t *doc;

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(bad); i++) {
		assert_null(load(bad[i].text, &err));
		assert_non_null(strstr(err.text, bad[i].said));
		assert_non_null(strstr(err.text, "not JSON"));
	}
	doc = load("\xef\xbb\xbf{ \"a\": 1 }", &err);
	assert_non_null(doc);
	json_decref(doc);
	assert_int_equal(kab_json_load_file("/nonexistent/x.json", &doc, &err), -1);
	assert_int_equal(err.code, KAB_ERR_NOT_FOUND);
	/* Deeper than anybody writes: refused, and no stack is used up. */
	{
		char deep[20001];
		json_t *none = NULL;

		memset(deep, '[', 20000);
		deep[20000] = '\0';
		assert_int_equal(kab_json_load_bytes("x", deep, 20000, &none, &err), -1);
	}
}

static void long_file_names_keep_the_line(void **state)
{
	struct kab_err err = KAB_ERR_INIT;
	char name[600];
	json_t *doc;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(kab_json_load_bytes(name, "{\n,", 3, &doc, &err), -1);
	assert_non_null(strstr(err.text, ":2:"));
}

static void unknown_keys(void **state)
{
	static const char *const known[] = { "boots", "iterations", "warmup", NULL };
	struct kab_err err = KAB_ERR_INIT;
	struct kab_json node, inner;
	json_t *doc = load("{ \"_note\": 1, \"$schema\": \"s\", \"repeat\": { \"iteratons\": 3 }, "
			   "\"other\": { \"xyz123456\": 1 } }",
			   &err);

	(void)state;
	node = kab_json_root(doc, "x.json");
	assert_int_equal(kab_json_object(&node, NULL, &err), 0);
	inner = kab_json_get(&node, "repeat");
	assert_int_equal(kab_json_object(&inner, known, &err), -1);
	assert_string_equal(err.text, "x.json: $.repeat: unknown key 'iteratons'; did you mean "
				      "'iterations'?");
	inner = kab_json_get(&node, "other");
	assert_int_equal(kab_json_object(&inner, known, &err), -1);
	assert_string_equal(err.text, "x.json: $.other: unknown key 'xyz123456'; known are: boots, "
				      "iterations, warmup");
	assert_string_equal(err.where, "x.json: $.other");
	json_decref(doc);
}

#define FAILS(call, text_)                                  \
	do {                                                \
		kab_err_clear(&err);                        \
		assert_int_equal(call, -1);                 \
		assert_int_equal(err.code, KAB_ERR_CONFIG); \
		assert_string_equal(err.text, text_);       \
	} while (0)

static void scalars(void **state)
{
	struct kab_err err = KAB_ERR_INIT;
	struct kab_strv kab_autostrv list = KAB_STRV_INIT;
	json_t *doc = load("{ \"s\": \"text\", \"empty\": \"\", \"i\": 7, \"r\": 2.5, \"b\": true, "
			   "\"n\": null, \"o\": {}, \"a\": [\"x\", 3], \"big\": 3000000000 }",
			   &err);
	struct kab_json node = kab_json_root(doc, "f");
	const char *s;
	int64_t i;
	double x;
	bool b;

	(void)state;
	assert_int_equal(kab_json_str(&node, "s", NULL, &s, &err), 0);
	assert_string_equal(s, "text");
	assert_int_equal(kab_json_str(&node, "none", "dflt", &s, &err), 0);
	assert_string_equal(s, "dflt");
	FAILS(kab_json_str(&node, "i", NULL, &s, &err),
	      "f: $.i: expected a string, found the number 7");
	FAILS(kab_json_str(&node, "n", NULL, &s, &err), "f: $.n: expected a string, found null");
	FAILS(kab_json_need_str(&node, "none", &s, &err),
	      "f: $: expected the key 'none', found none");
	FAILS(kab_json_need_str(&node, "empty", &s, &err),
	      "f: $.empty: expected a text, found an empty string");

	assert_int_equal(kab_json_int(&node, "i", 0, 9, -1, &i, &err), 0);
	assert_int_equal(i, 7);
	assert_int_equal(kab_json_int(&node, "none", 0, 9, -1, &i, &err), 0);
	assert_int_equal(i, -1);
	FAILS(kab_json_int(&node, "i", 8, 9, 8, &i, &err),
	      "f: $.i: expected an integer from 8 to 9, found the number 7");
	FAILS(kab_json_int(&node, "r", 0, 9, 8, &i, &err),
	      "f: $.r: expected an integer from 0 to 9, found the number 2.5");
	FAILS(kab_json_int(&node, "s", 0, 9, 8, &i, &err),
	      "f: $.s: expected an integer from 0 to 9, found the string 'text'");
	FAILS(kab_json_int(&node, "big", 0, 100000, 8, &i, &err),
	      "f: $.big: expected an integer from 0 to 100000, found the number 3000000000");

	assert_int_equal(kab_json_num(&node, "i", 0, 9, 0, &x, &err), 0);
	assert_true(x == 7);
	FAILS(kab_json_num(&node, "b", 0, 9, 0, &x, &err),
	      "f: $.b: expected a number from 0 to 9, found true");
	assert_int_equal(kab_json_bool(&node, "b", false, &b, &err), 0);
	assert_true(b);
	FAILS(kab_json_bool(&node, "i", false, &b, &err),
	      "f: $.i: expected true or false, found the number 7");

	FAILS(kab_json_strv(&node, "a", &list, &err),
	      "f: $.a[1]: expected a string, found the number 3");
	FAILS(kab_json_strv(&node, "o", &list, &err), "f: $.o: expected an array, found an object");
	FAILS(kab_json_object(&(struct kab_json){ .value = NULL, .file = "f", .path = "$.x" }, NULL,
			      &err),
	      "f: $.x: expected an object, found nothing");
	json_decref(doc);
}

static void paths_stay_readable(void **state)
{
	struct kab_err err = KAB_ERR_INIT;
	json_t *doc = load("{}", &err);
	struct kab_json node = kab_json_root(doc, "f");

	(void)state;
	for (int i = 0; i < 100; i++) {
		node = kab_json_get(&node, "key");
		node = kab_json_at(&node, 12);
	}
	assert_true(strlen(node.path) < sizeof(node.path));
	assert_int_equal(kab_json_fail(&node, &err, "bad"), -1);
	assert_non_null(strstr(err.text, "$.key[12].key"));
	assert_non_null(strstr(err.text, ": bad"));
	json_decref(doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(documents),
		cmocka_unit_test(long_file_names_keep_the_line),
		cmocka_unit_test(unknown_keys),
		cmocka_unit_test(scalars),
		cmocka_unit_test(paths_stay_readable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
