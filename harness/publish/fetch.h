/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files from http and https URLs into a cache folder. Partial downloads are kept and continued, also by
 * a later process; with a hash they are checked, and not fetched again once they are right. Without a
 * hash the server is asked whether the cached file is still the one it has.
 *
 * curl_global_init() has to have run. Messages never hold user names, passwords or queries of a URL.
 */
#ifndef KAB_PUBLISH_FETCH_H
#define KAB_PUBLISH_FETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"

struct kab_fetch_opts {
	const char *url;
	const char *sha256; /* 64 hexadecimal digits, or NULL: unknown */
	const char *dir; /* cache folder; made when missing */
	int64_t deadline_ns; /* CLOCK_MONOTONIC */
	int cancel_fd; /* readable: stop; -1 never */
	const struct kab_log *log; /* may be NULL */
	/* Bytes so far and in all (0 unknown), at most a few times a second. May be NULL. */
	void (*progress)(void *ctx, int64_t done, int64_t total);
	void *ctx;
};

/* "http://" or "https://" in any case? */
bool kab_fetch_is_url(const char *text);

/* The URL without what may be secret; caller frees. */
char *kab_fetch_show_url(const char *url);

/*
 * *ret_path (caller frees): the file, under its own name in a folder of its own below opts->dir.
 * Blocks. NOT_FOUND: the server does not have it (404, 410). CONFIG: not an http URL, wrong hash, or
 * another answer that trying again cannot cure (403, too many redirects). CONNECT: the server cannot be
 * reached or broke the download off again and again; TIMEOUT; CANCELLED; ENV: it cannot be written
 * here.
 */
int kab_fetch(const struct kab_fetch_opts *opts, char **ret_path, struct kab_err *err);

#endif
