/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading JSON that people write: every error names the file, the JSON path, what was expected and
 * what was found; an unknown key is an error that names the nearest known one. Keys that begin
 * with '_' or '$' are notes and pass. Duplicate keys are refused.
 *
 * A node is a value with its place; it is a small struct passed by value, valid while its document
 * lives. Getters return 0, or -1 with a CONFIG error.
 */
#ifndef KAB_BASE_JSON_H
#define KAB_BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strv.h"

#define KAB_JSON_BYTES_MAX ((size_t)16 << 20)

struct kab_json {
	json_t *value; /* borrowed; NULL: the key is not there */
	const char *file; /* borrowed; for messages */
	char path[200]; /* "$.cases[2].params" */
};

/* Read a file (at most KAB_JSON_BYTES_MAX). *ret_doc is the caller's: json_decref it. */
int kab_json_load_file(const char *file, json_t **ret_doc, struct kab_err *err);
/* The same for bytes in memory; `file` names them in messages. */
int kab_json_load_bytes(const char *file, const char *bytes, size_t n, json_t **ret_doc,
			struct kab_err *err);
struct kab_json kab_json_root(json_t *doc, const char *file);

/* "file: $.path: " + the sentence. Always -1. */
int kab_json_fail(const struct kab_json *node, struct kab_err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* "an object", "the string 'x'", "the number 3" ...: into buf, which is returned. */
const char *kab_json_found(const struct kab_json *node, char buf[80]);

/* The node is an object whose keys are all in `known` (NULL-terminated; NULL: any). */
int kab_json_object(const struct kab_json *node, const char *const *known, struct kab_err *err);
int kab_json_array(const struct kab_json *node, struct kab_err *err);
/* Child by key; value NULL when it is missing. */
struct kab_json kab_json_get(const struct kab_json *node, const char *key);
struct kab_json kab_json_at(const struct kab_json *node, size_t index);

/* Scalars of a child; a missing key gives `missing` (strings: NULL is allowed as `missing`). */
int kab_json_str(const struct kab_json *node, const char *key, const char *missing,
		 const char **ret, struct kab_err *err);
/* As kab_json_str, the key must be there and the text not empty. */
int kab_json_need_str(const struct kab_json *node, const char *key, const char **ret,
		      struct kab_err *err);
int kab_json_int(const struct kab_json *node, const char *key, int64_t min, int64_t max,
		 int64_t missing, int64_t *ret, struct kab_err *err);
int kab_json_num(const struct kab_json *node, const char *key, double min, double max,
		 double missing, double *ret, struct kab_err *err);
int kab_json_bool(const struct kab_json *node, const char *key, bool missing, bool *ret,
		  struct kab_err *err);
/* An array of strings; a missing key leaves *ret as it is. */
int kab_json_strv(const struct kab_json *node, const char *key, struct kab_strv *ret,
		  struct kab_err *err);

#endif
