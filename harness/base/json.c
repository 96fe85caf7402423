/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"

int kab_json_load_bytes(const char *file, const char *bytes, size_t n, json_t **ret_doc,
			struct kab_err *err)
{
	char where[KAB_ERR_WHERE_MAX];
	json_error_t at;
	json_t *doc;

	/* Editors on other systems put a byte order mark in front. */
	if (n >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3)) {
		bytes += 3;
		n -= 3;
	}
	doc = json_loadb(bytes, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &at);
	if (!doc) {
		snprintf(where, sizeof(where), "%.200s:%d:%d", file, at.line, at.column);
		return kab_err_set_at(err, KAB_ERR_CONFIG, where, "%s: not JSON: %s", where,
				      at.text);
	}
	*ret_doc = doc;
	return 0;
}

int kab_json_load_file(const char *file, json_t **ret_doc, struct kab_err *err)
{
	struct kab_buf kab_autobuf bytes = { .max = KAB_JSON_BYTES_MAX };

	if (kab_file_read(file, &bytes, err) < 0)
		return -1;
	if (bytes.cut)
		return kab_err_set_at(err, KAB_ERR_CONFIG, file, "%s: larger than %zu MiB", file,
				      KAB_JSON_BYTES_MAX >> 20);
	return kab_json_load_bytes(file, kab_buf_str(&bytes), bytes.len, ret_doc, err);
}

struct kab_json kab_json_root(json_t *doc, const char *file)
{
	struct kab_json node = { .value = doc, .file = file };

	memcpy(node.path, "$", 2);
	return node;
}

int kab_json_fail(const struct kab_json *node, struct kab_err *err, const char *fmt, ...)
{
	char where[KAB_ERR_WHERE_MAX], text[KAB_ERR_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(where, sizeof(where), "%.120s: %.120s", node->file, node->path);
	return kab_err_set_at(err, KAB_ERR_CONFIG, where, "%.300s: %s: %s", node->file, node->path,
			      text);
}

const char *kab_json_found(const struct kab_json *node, char buf[80])
{
	switch (node->value ? json_typeof(node->value) : JSON_NULL) {
	case JSON_OBJECT:
		snprintf(buf, 80, "an object");
		break;
	case JSON_ARRAY:
		snprintf(buf, 80, "an array");
		break;
	case JSON_STRING:
		snprintf(buf, 80, "the string '%.40s'", json_string_value(node->value));
		break;
	case JSON_INTEGER:
		snprintf(buf, 80, "the number %lld", (long long)json_integer_value(node->value));
		break;
	case JSON_REAL:
		snprintf(buf, 80, "the number %g", json_real_value(node->value));
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		snprintf(buf, 80, "%s", json_is_true(node->value) ? "true" : "false");
		break;
	case JSON_NULL:
		snprintf(buf, 80, node->value ? "null" : "nothing");
		break;
	}
	return buf;
}

static int expected(const struct kab_json *node, const char *what, struct kab_err *err)
{
	char found[80];

	return kab_json_fail(node, err, "expected %s, found %s", what, kab_json_found(node, found));
}

int kab_json_object(const struct kab_json *node, const char *const *known, struct kab_err *err)
{
	const char *key;
	json_t *value;

	if (!json_is_object(node->value))
		return expected(node, "an object", err);
	if (!known)
		return 0;
	json_object_foreach (node->value, key, value) {
		struct kab_buf kab_autobuf all = KAB_BUF_INIT;
		const char *const *k = known;
		const char *near;

		if (*key == '_' || *key == '$')
			continue;
		while (*k && strcmp(*k, key))
			k++;
		if (*k)
			continue;
		near = kab_text_nearest(key, known);
		if (near)
			return kab_json_fail(node, err, "unknown key '%s'; did you mean '%s'?", key,
					     near);
		for (k = known; *k; k++)
			kab_buf_addf(&all, "%s%s", k == known ? "" : ", ", *k);
		return kab_json_fail(node, err, "unknown key '%s'; known are: %s", key,
				     kab_buf_str(&all));
	}
	return 0;
}

int kab_json_array(const struct kab_json *node, struct kab_err *err)
{
	return json_is_array(node->value) ? 0 : expected(node, "an array", err);
}

struct kab_json kab_json_get(const struct kab_json *node, const char *key)
{
	struct kab_json child = { .value = json_object_get(node->value, key), .file = node->file };

	snprintf(child.path, sizeof(child.path), "%.120s.%.70s", node->path, key);
	return child;
}

struct kab_json kab_json_at(const struct kab_json *node, size_t index)
{
	struct kab_json child = { .value = json_array_get(node->value, index), .file = node->file };

	snprintf(child.path, sizeof(child.path), "%.170s[%zu]", node->path, index);
	return child;
}

int kab_json_str(const struct kab_json *node, const char *key, const char *missing,
		 const char **ret, struct kab_err *err)
{
	struct kab_json child = kab_json_get(node, key);

	if (!child.value) {
		*ret = missing;
		return 0;
	}
	if (!json_is_string(child.value))
		return expected(&child, "a string", err);
	*ret = json_string_value(child.value);
	return 0;
}

int kab_json_need_str(const struct kab_json *node, const char *key, const char **ret,
		      struct kab_err *err)
{
	if (kab_json_str(node, key, NULL, ret, err) < 0)
		return -1;
	if (!*ret)
		return kab_json_fail(node, err, "expected the key '%s', found none", key);
	if (!**ret) {
		struct kab_json child = kab_json_get(node, key);

		return kab_json_fail(&child, err, "expected a text, found an empty string");
	}
	return 0;
}

int kab_json_int(const struct kab_json *node, const char *key, int64_t min, int64_t max,
		 int64_t missing, int64_t *ret, struct kab_err *err)
{
	struct kab_json child = kab_json_get(node, key);
	char what[96];

	if (!child.value) {
		*ret = missing;
		return 0;
	}
	if (!json_is_integer(child.value) || json_integer_value(child.value) < min ||
	    json_integer_value(child.value) > max) {
		snprintf(what, sizeof(what), "an integer from %lld to %lld", (long long)min,
			 (long long)max);
		return expected(&child, what, err);
	}
	*ret = json_integer_value(child.value);
	return 0;
}

int kab_json_num(const struct kab_json *node, const char *key, double min, double max,
		 double missing, double *ret, struct kab_err *err)
{
	struct kab_json child = kab_json_get(node, key);
	char what[96];
	double x;

	if (!child.value) {
		*ret = missing;
		return 0;
	}
	x = json_number_value(child.value);
	if (!json_is_number(child.value) || x < min || x > max) {
		snprintf(what, sizeof(what), "a number from %g to %g", min, max);
		return expected(&child, what, err);
	}
	*ret = x;
	return 0;
}

int kab_json_bool(const struct kab_json *node, const char *key, bool missing, bool *ret,
		  struct kab_err *err)
{
	struct kab_json child = kab_json_get(node, key);

	if (!child.value) {
		*ret = missing;
		return 0;
	}
	if (!json_is_boolean(child.value))
		return expected(&child, "true or false", err);
	*ret = json_is_true(child.value);
	return 0;
}

int kab_json_strv(const struct kab_json *node, const char *key, struct kab_strv *ret,
		  struct kab_err *err)
{
	struct kab_json list = kab_json_get(node, key);

	if (!list.value)
		return 0;
	if (kab_json_array(&list, err) < 0)
		return -1;
	for (size_t i = 0; i < json_array_size(list.value); i++) {
		struct kab_json item = kab_json_at(&list, i);

		if (!json_is_string(item.value))
			return expected(&item, "a string", err);
		kab_strv_add(ret, json_string_value(item.value));
	}
	return 0;
}
