/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tests of runners share: files, and one merged stream through a parser. */
#ifndef KAB_TESTS_RUNNERS_SUPPORT_H
#define KAB_TESTS_RUNNERS_SUPPORT_H

#include <jansson.h>
#include <stddef.h>

#include "runners/runner.h"

/* The bytes of a file, NUL-terminated; caller frees. The test stops when there is none. */
char *slurp(const char *path, size_t *ret_len);

/* One entry of an INDEX.json. */
struct fixture {
	const char *file, *tool, *status; /* status in the words of `kab parse` */
	int exit_status;
	struct kab_params params;
	json_t *metrics; /* borrowed from the document */
	char *data;
	size_t len;
};

struct fixtures {
	json_t *doc;
	struct fixture *v;
	size_t n, cap;
};

/* Those of DIR/INDEX.json whose tool is a runner of ours. */
void fixtures_load(struct fixtures *fixtures, const char *dir);
void fixtures_release(struct fixtures *fixtures);

/* Parse bytes as one stream "merged". Caller releases *ret. */
void parse_bytes(const char *runner, const char *data, size_t len, int exit_status,
		 const struct kab_params *params, struct kab_parse_result *ret);
/* "name=value unit direction;" of every sample; caller frees. */
char *samples_text(const struct kab_parse_result *result);
/* NULL when the result is what the fixture expects, else what is wrong; caller frees. */
char *fixture_fault(const struct fixture *fixture, const struct kab_parse_result *result);

#endif
