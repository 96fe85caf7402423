/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Quoting, round trip through a real shell: words between NULs go as one command line to a sh that
 * prints its arguments, which must be the words. FUZZ_SH names another shell.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/strv.h"
#include "fuzz.h"
#include "transport/transport.h"

extern char **environ;

/* A shell that reads commands from a pipe. It is started once: two pipes carry everything. */
static int to_sh = -1, from_sh = -1;

static void start_sh(void)
{
	const char *shell = getenv("FUZZ_SH");
	char *argv[] = { (char[]){ "sh" }, NULL };
	posix_spawn_file_actions_t actions;
	int in[2], out[2];
	pid_t pid;

	if (!shell)
		shell = "/bin/sh";
	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		abort();
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in[0], 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	fuzz_must(!posix_spawn(&pid, shell, &actions, NULL, argv, environ), "cannot start", shell);
	posix_spawn_file_actions_destroy(&actions);
	close(in[0]);
	close(out[1]);
	to_sh = in[1];
	from_sh = out[0];
	signal(SIGPIPE, SIG_IGN);
}

static void ask(const struct kab_buf *line, struct kab_buf *answer, size_t expected)
{
	const char *s = kab_buf_str(line);
	char part[65536];

	for (size_t at = 0; at < line->len;) {
		ssize_t n = write(to_sh, s + at, line->len - at);

		if (n < 0 && errno == EINTR) /* libFuzzer's alarm */
			continue;
		fuzz_must(n > 0, "the shell has gone", "quote");
		at += (size_t)n;
	}
	while (answer->len < expected) {
		ssize_t n = read(from_sh, part, sizeof(part));

		if (n < 0 && errno == EINTR)
			continue;
		fuzz_must(n > 0, "the shell has gone", "quote");
		kab_buf_add(answer, part, (size_t)n);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kab_buf kab_autobuf line = KAB_BUF_INIT, expected = KAB_BUF_INIT,
				   answer = KAB_BUF_INIT;
	struct kab_strv kab_autostrv words = KAB_STRV_INIT;
	char *quoted;

	if (size > 8192)
		return 0;
	if (to_sh < 0)
		start_sh();
	kab_strv_add(&words, "show");
	for (size_t at = 0; at <= size;) {
		size_t n = strnlen((const char *)data + at, size - at);

		kab_strv_add_n(&words, (const char *)data + at, n);
		kab_buf_addf(&expected, "%zu:%s\n", n, words.v[words.n - 1]);
		at += n + 1;
	}
	kab_buf_adds(&expected, "end\n");
	/* LC_ALL=C: lengths in bytes. In a subshell, so that nothing that went wrong stays. */
	kab_buf_adds(&line,
		     "(LC_ALL=C; show() { for w; do printf '%s:%s\\n' \"${#w}\" \"$w\"; done; "
		     "echo end; }; ");
	quoted = kab_quote_argv((const char *const *)words.v);
	kab_buf_adds(&line, quoted);
	kab_buf_adds(&line, ")\n");
	free(quoted);
	/* The answer has an end of its own, so that one that is too short is seen, not waited for. */
	kab_buf_adds(&line, "printf '\\nover\\n'\n");
	kab_buf_adds(&expected, "\nover\n");
	ask(&line, &answer, expected.len);
	fuzz_must(answer.len == expected.len && !memcmp(answer.data, expected.data, answer.len),
		  "other words", "quote");
	return 0;
}
