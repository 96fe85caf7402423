/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/picture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "transport/child.h"

#define PROGRAM "gnuplot"
#define PACKAGE "gnuplot-nox"
#define DEADLINE_S 60
#define PICTURE_MAX ((size_t)64 << 20)
/* Data blocks came with 5.0, keyentry and error bars as used here with 5.2. */
#define OLDEST 502

bool kab_picture_colour(const struct kab_cli *cli)
{
	const char *when = "auto", *term = getenv("TERM");

	/* The parsed option speaks of stderr; the words of the user are what counts for stdout. */
	for (size_t i = 0; i < cli->command_line.n; i++) {
		const char *word = cli->command_line.v[i];

		if (!strcmp(word, "--color") && i + 1 < cli->command_line.n)
			when = cli->command_line.v[i + 1];
		else if (!strncmp(word, "--color=", 8))
			when = word + 8;
	}
	if (strcmp(when, "auto") != 0)
		return !strcmp(when, "always");
	return isatty(STDOUT_FILENO) && !getenv("NO_COLOR") && !(term && !strcmp(term, "dumb"));
}

int kab_picture_write(struct kab_cli *cli, const struct kab_buf *text, const char *path,
		      struct kab_err *err)
{
	if (path)
		return kab_file_write(path, kab_buf_str(text), text->len, 0644, err);
	/* Bytes of a picture and sequences of colour pass as they are: names in them are escaped. */
	fflush(cli->out);
	if (fwrite(kab_buf_str(text), 1, text->len, stdout) == text->len && !fflush(stdout))
		return 0;
	return kab_err_errno(err, KAB_ERR_ENV, "cannot write the output");
}

static int run(const char *option, const struct kab_buf *in, struct kab_exec_result *ret,
	       struct kab_err *err)
{
	const char *argv[] = { PROGRAM, option, NULL };
	struct kab_exec req = {
		.argv = argv,
		.in = in ? in->data : NULL,
		.in_len = in ? in->len : 0,
		.out_max = PICTURE_MAX,
	};
	struct kab_wait wait = { kab_now_mono_ns() + DEADLINE_S * KAB_NS_PER_S, -1 };
	struct kab_err why = KAB_ERR_INIT;

	if (!kab_child_run(&req, &wait, ret, &why))
		return 0;
	if (why.os_errno == ENOENT)
		return kab_err_set(err, KAB_ERR_ENV,
				   "'%s' is not installed, and draws SVG and PNG; install the "
				   "package %s (Debian), or use --format text or --gnuplot-script",
				   PROGRAM, PACKAGE);
	if (err)
		*err = why;
	return -1;
}

/* "gnuplot 5.4 patchlevel 4" */
static int check_version(struct kab_err *err)
{
	struct kab_exec_result res = { 0 };
	const char *text;
	char *end = NULL;
	long major = 0, minor = 0;
	int rc = 0;

	if (run("--version", NULL, &res, err) < 0)
		return -1;
	text = kab_buf_str(&res.out);
	if (!strncmp(text, PROGRAM " ", strlen(PROGRAM) + 1)) {
		major = strtol(text + strlen(PROGRAM) + 1, &end, 10);
		if (*end == '.')
			minor = strtol(end + 1, &end, 10);
	}
	if (major <= 0 || major > 1000 || minor < 0 || minor > 99)
		rc = kab_err_set(err, KAB_ERR_ENV,
				 "'%s --version' does not say which version it is; is another "
				 "program of that name on PATH?",
				 PROGRAM);
	else if (100 * major + minor < OLDEST)
		rc = kab_err_set(err, KAB_ERR_ENV,
				 "'%s' is version %ld.%ld, and 5.2 is needed; install a newer "
				 "package %s",
				 PROGRAM, major, minor, PACKAGE);
	kab_exec_result_release(&res);
	return rc;
}

static bool is_picture(const struct kab_buf *bytes, enum kab_plot_format format)
{
	static const char png[] = "\x89PNG\r\n\x1a\n", end_png[] = "IEND", end_svg[] = "</svg>";
	size_t tail = bytes->len < 64 ? bytes->len : 64;
	const char *last = tail ? bytes->data + bytes->len - tail : "";

	if (bytes->cut)
		return false;
	if (format == KAB_PLOT_PNG)
		return bytes->len > 8 && !memcmp(bytes->data, png, 8) &&
		       memmem(last, tail, end_png, 4);
	return memmem(last, tail, end_svg, 6) != NULL;
}

int kab_picture_draw(struct kab_cli *cli, const struct kab_plot *plots, size_t n,
		     enum kab_plot_format format, const char *path, struct kab_err *err)
{
	struct kab_buf kab_autobuf script = KAB_BUF_INIT;
	struct kab_exec_result res = { 0 };
	int rc = -1;

	if (n > KAB_PLOT_PANELS_MAX)
		return kab_err_set(
			err, KAB_ERR_USAGE,
			"%zu pictures are too many for one sheet, which holds %d; choose "
			"with --host, --case and --metric",
			n, KAB_PLOT_PANELS_MAX);
	if (!path && isatty(STDOUT_FILENO))
		return kab_err_set(err, KAB_ERR_USAGE,
				   "a picture does not belong on a terminal; use --output FILE");
	if (check_version(err) < 0)
		return -1;
	kab_plot_gnuplot(plots, n, format, &script);
	/* -d: without the user's own settings, which could change or start anything. */
	if (run("-d", &script, &res, err) < 0)
		return -1;
	if (res.exit_status != 0 || !is_picture(&res.out, format)) {
		size_t len;
		const char *last;

		kab_buf_rtrim(&res.err, " \t\n");
		last = kab_text_tail(kab_buf_str(&res.err), res.err.len, 1, &len);
		kab_err_set(err, KAB_ERR_ENV,
			    "'%s' made no picture (exit status %d)%s%.*s; --gnuplot-script shows "
			    "what it was given",
			    PROGRAM, res.exit_status, len ? ": " : "", (int)(len < 300 ? len : 300),
			    last);
	} else {
		rc = kab_picture_write(cli, &res.out, path, err);
	}
	kab_exec_result_release(&res);
	return rc;
}
