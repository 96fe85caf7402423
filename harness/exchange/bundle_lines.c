/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of a compressed file, one at a time, within bounds. */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/alloc.h"
#include "exchange/bundle_internal.h"

/* What a decoder may need: 128 MiB, the limit that zstd(1) has too. */
#define WINDOW_LOG_MAX 27

struct kab_bundle_lines {
	FILE *f;
	const char *file;
	ZSTD_DStream *stream;
	char *in, *out;
	ZSTD_inBuffer from;
	size_t n, at; /* of out */
	bool file_ended, frame_open;
	struct kab_buf line;
	int64_t bytes, number;
};

int kab_bundle_lines_open(FILE *f, const char *file, struct kab_bundle_lines **ret,
			  struct kab_err *err)
{
	struct kab_bundle_lines *l = kab_xcalloc(1, sizeof(*l));

	l->f = f;
	l->file = file;
	l->in = kab_xmalloc(ZSTD_DStreamInSize());
	l->out = kab_xmalloc(ZSTD_DStreamOutSize());
	l->from = (ZSTD_inBuffer){ l->in, 0, 0 };
	kab_buf_init(&l->line, KAB_BUNDLE_LINE_MAX);
	l->stream = ZSTD_createDStream();
	if (!l->stream ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(l->stream, ZSTD_d_windowLogMax, WINDOW_LOG_MAX))) {
		kab_bundle_lines_free(l);
		return kab_err_set(err, KAB_ERR_ENV, "no memory for a decoder");
	}
	*ret = l;
	return 0;
}

void kab_bundle_lines_free(struct kab_bundle_lines *l)
{
	if (!l)
		return;
	ZSTD_freeDStream(l->stream);
	kab_buf_release(&l->line);
	free(l->in);
	free(l->out);
	free(l);
}

/* 1 more bytes are in out, 0 at the end, -1. */
static int fill(struct kab_bundle_lines *l, struct kab_err *err)
{
	for (;;) {
		ZSTD_outBuffer out = { l->out, ZSTD_DStreamOutSize(), 0 };
		size_t rc;

		if (l->from.pos == l->from.size && !l->file_ended) {
			l->from.size = fread(l->in, 1, ZSTD_DStreamInSize(), l->f);
			l->from.pos = 0;
			l->file_ended = !l->from.size;
			if (ferror(l->f))
				return kab_err_errno(err, KAB_ERR_ENV, "cannot read '%s'", l->file);
		}
		if (l->file_ended && !l->frame_open)
			return 0;
		rc = ZSTD_decompressStream(l->stream, &out, &l->from);
		if (ZSTD_isError(rc))
			return kab_err_set_at(err, KAB_ERR_PARSE, l->file,
					      "%s: damaged, or no bundle: %s", l->file,
					      ZSTD_getErrorName(rc));
		l->frame_open = rc != 0;
		if (out.pos) {
			l->n = out.pos;
			l->at = 0;
			l->bytes += (int64_t)out.pos;
			return 1;
		}
		if (l->file_ended)
			return kab_err_set_at(err, KAB_ERR_PARSE, l->file,
					      "%s: cut off: its end is missing; fetch it again",
					      l->file);
	}
}

int kab_bundle_lines_next(struct kab_bundle_lines *l, const char **ret, size_t *ret_n,
			  struct kab_err *err)
{
	kab_buf_clear(&l->line);
	l->line.cut = false;
	for (;;) {
		char *end;
		size_t some;
		int rc;

		if (l->at == l->n) {
			rc = fill(l, err);
			if (rc < 0)
				return -1;
			if (!rc && l->line.len)
				return kab_err_set_at(err, KAB_ERR_PARSE, l->file,
						      "%s: its last line does not end", l->file);
			if (!rc)
				return 0;
		}
		if (l->bytes > KAB_BUNDLE_BYTES_MAX)
			return kab_err_set_at(err, KAB_ERR_PARSE, l->file,
					      "%s: more than %lld bytes once unpacked", l->file,
					      (long long)KAB_BUNDLE_BYTES_MAX);
		end = memchr(l->out + l->at, '\n', l->n - l->at);
		some = end ? (size_t)(end - l->out) - l->at : l->n - l->at;
		kab_buf_add(&l->line, l->out + l->at, some);
		l->at += some + (end != NULL);
		if (l->line.cut)
			return kab_err_set_at(err, KAB_ERR_PARSE, l->file,
					      "%s: line %lld is longer than %zu bytes", l->file,
					      (long long)l->number + 1, KAB_BUNDLE_LINE_MAX);
		if (end)
			break;
	}
	l->number++;
	*ret = kab_buf_str(&l->line);
	*ret_n = l->line.len;
	return 1;
}

int64_t kab_bundle_lines_bytes(const struct kab_bundle_lines *l)
{
	return l->bytes;
}

int64_t kab_bundle_lines_number(const struct kab_bundle_lines *l)
{
	return l->number;
}
