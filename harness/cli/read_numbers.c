/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/read_numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"

#define INPUT_MAX ((size_t)4 << 30)
#define WORD_MAX 400 /* a double written out in full has fewer characters */

/* Bytes of the input; `map` when they are mapped. */
struct input {
	const char *data;
	size_t len;
	void *map;
	struct kab_buf buf;
};

static int slurp(int fd, const char *path, struct input *in, struct kab_err *err)
{
	char chunk[65536];
	ssize_t got;

	kab_buf_init(&in->buf, INPUT_MAX);
	while ((got = read(fd, chunk, sizeof(chunk))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return kab_err_errno(err, KAB_ERR_ENV, "cannot read '%s'", path);
		kab_buf_add(&in->buf, chunk, (size_t)got);
	}
	if (in->buf.cut)
		return kab_err_set(err, KAB_ERR_PARSE, "'%s' is larger than 4 GiB", path);
	in->data = kab_buf_str(&in->buf);
	in->len = in->buf.len;
	return 0;
}

static int open_input(const char *path, struct input *in, struct kab_err *err)
{
	struct stat st;
	int fd, ret;

	if (!strcmp(path, "-"))
		return slurp(STDIN_FILENO, "standard input", in, err);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return kab_err_errno(err, errno == ENOENT ? KAB_ERR_NOT_FOUND : KAB_ERR_ENV,
				     "cannot open '%s'", path);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
		in->map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd,
			       0);
		if (in->map != MAP_FAILED) {
			in->data = in->map;
			in->len = (size_t)st.st_size;
			close(fd);
			return 0;
		}
		in->map = NULL;
	}
	ret = slurp(fd, path, in, err);
	close(fd);
	return ret;
}

static void close_input(struct input *in)
{
	if (in->map)
		munmap(in->map, in->len);
	kab_buf_release(&in->buf);
}

/* strtod on a word that no NUL follows. */
static int slow_number(const char *word, size_t len, double *ret)
{
	char copy[WORD_MAX + 1], *end;

	if (len > WORD_MAX)
		return -1;
	memcpy(copy, word, len);
	copy[len] = '\0';
	*ret = strtod(copy, &end);
	return *end || end == copy || !isfinite(*ret) ? -1 : 0;
}

/*
 * Up to 15 digits and a power of ten up to 22 are both exact doubles, so that one multiplication or
 * division rounds correctly (Clinger 1990); everything else goes through strtod.
 */
static int number(const char *word, size_t len, double *ret)
{
	static const double powers[] = { 1e0,  1e1,  1e2,  1e3,	 1e4,  1e5,  1e6,  1e7,
					 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
					 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
	const char *p = word, *end = word + len;
	bool negative = p < end && *p == '-', point = false;
	uint64_t digits = 0;
	int n = 0, decimals = 0;

	if (p < end && (*p == '-' || *p == '+'))
		p++;
	for (; p < end; p++) {
		if (*p == '.' && !point) {
			point = true;
		} else if (*p >= '0' && *p <= '9' && n < 15) {
			digits = 10 * digits + (uint64_t)(*p - '0');
			n += n > 0 || *p != '0';
			decimals += point;
		} else {
			return slow_number(word, len, ret);
		}
	}
	if (decimals > 22 || len == 0 || (n == 0 && !memchr(word, '0', len)))
		return slow_number(word, len, ret);
	*ret = (double)digits / powers[decimals];
	if (negative)
		*ret = -*ret;
	return 0;
}

/* Names of boots, found by hash: open addressing, at most half full. */
struct names {
	struct {
		const char *word;
		size_t len, index;
	} * slot;
	size_t size, n;
};

static size_t hash(const char *word, size_t len)
{
	uint64_t h = UINT64_C(1469598103934665603);

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)word[i]) * UINT64_C(1099511628211);
	return (size_t)(h ^ h >> 32);
}

static size_t find(const struct names *names, const char *word, size_t len)
{
	size_t i = hash(word, len) & (names->size - 1);

	while (names->slot[i].word &&
	       (names->slot[i].len != len || memcmp(names->slot[i].word, word, len) != 0))
		i = (i + 1) & (names->size - 1);
	return i;
}

static size_t boot_index(struct names *names, const char *word, size_t len)
{
	size_t at;

	if (2 * (names->n + 1) > names->size) {
		struct names bigger = { .size = names->size ? 2 * names->size : 64, .n = names->n };

		bigger.slot = kab_xcalloc(bigger.size, sizeof(*bigger.slot));
		for (size_t i = 0; i < names->size; i++)
			if (names->slot[i].word)
				bigger.slot[find(&bigger, names->slot[i].word,
						 names->slot[i].len)] = names->slot[i];
		free(names->slot);
		*names = bigger;
	}
	at = find(names, word, len);
	if (!names->slot[at].word) {
		names->slot[at].word = word;
		names->slot[at].len = len;
		names->slot[at].index = names->n++;
	}
	return names->slot[at].index;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static void push(struct kab_numbers *ret, size_t *cap, double value, size_t boot, bool boots)
{
	if (ret->n == *cap) {
		*cap = *cap ? 2 * *cap : 256;
		ret->v = kab_xreallocarray(ret->v, *cap, sizeof(*ret->v));
		if (boots)
			ret->boot = kab_xreallocarray(ret->boot, *cap, sizeof(*ret->boot));
	}
	if (boots)
		ret->boot[ret->n] = boot;
	ret->v[ret->n++] = value;
}

static int bad(const char *path, size_t line, const char *word, size_t len, struct kab_err *err)
{
	char where[KAB_ERR_WHERE_MAX];

	snprintf(where, sizeof(where), "%.200s:%zu", path, line);
	return kab_err_set_at(err, KAB_ERR_PARSE, where, "%s: not a finite number: '%.*s'", where,
			      (int)(len > 40 ? 40 : len), word);
}

static int read_lines(const char *path, const struct input *in, size_t column, bool boots,
		      struct kab_numbers *ret, struct kab_err *err)
{
	const char *p = in->data, *end = in->data + in->len;
	struct names names = { 0 };
	size_t cap = 0, line = 1;
	int status = 0;

	while (p < end) {
		const char *boot = NULL;
		size_t boot_len = 0, words = 0;
		bool done = false;

		while (p < end && *p != '\n') {
			const char *word;
			double value;

			while (p < end && is_blank(*p))
				p++;
			word = p;
			if (p == end || *p == '\n' || *p == '#')
				break;
			while (p < end && !is_blank(*p) && *p != '\n')
				p++;
			words++;
			if (boots && words == 1) {
				boot = word;
				boot_len = (size_t)(p - word);
			}
			if (words != column)
				continue;
			if (number(word, (size_t)(p - word), &value) < 0) {
				status = bad(path, line, word, (size_t)(p - word), err);
				goto out;
			}
			push(ret, &cap, value, boots ? boot_index(&names, boot, boot_len) : 0,
			     boots);
			done = true;
			break;
		}
		ret->short_lines += words > 0 && !done;
		p = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
		if (!p)
			break;
		p++;
		line++;
	}
	ret->n_boots = names.n;
out:
	free(names.slot);
	return status;
}

int kab_numbers_read(const char *path, size_t column, bool boots, struct kab_numbers *ret,
		     struct kab_err *err)
{
	const char *name = strcmp(path, "-") ? path : "standard input";
	struct input in = { 0 };
	int status;

	memset(ret, 0, sizeof(*ret));
	status = open_input(path, &in, err);
	if (!status)
		status = read_lines(name, &in, column, boots, ret, err);
	if (!status && !ret->n)
		status = ret->short_lines
				 ? kab_err_set(err, KAB_ERR_PARSE,
					       "no numbers in '%s': no line has a "
					       "column %zu",
					       name, column)
				 : kab_err_set(err, KAB_ERR_PARSE, "no numbers in '%s'", name);
	close_input(&in);
	if (status)
		kab_numbers_release(ret);
	return status;
}

void kab_numbers_release(struct kab_numbers *numbers)
{
	free(numbers->v);
	free(numbers->boot);
	memset(numbers, 0, sizeof(*numbers));
}
