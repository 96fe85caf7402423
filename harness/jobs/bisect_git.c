/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commits by git, and kernels by a hook. No shell takes part. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "jobs/bisect.h"
#include "model/kernel.h"
#include "transport/child.h"

#define GIT_S 120.0
#define HOOK_S (6 * 3600.0)
#define COMMITS_MAX 100000
#define CANNOT_BUILD 125

static int git(const char *repo, const char *const *words, struct kab_buf *ret, struct kab_err *err)
{
	struct kab_strv kab_autostrv argv = KAB_STRV_INIT;
	const struct kab_wait wait = { .deadline_ns = kab_deadline_s(GIT_S), .cancel_fd = -1 };
	struct kab_exec req = { .out_max = (size_t)32 << 20, .err_max = 4096 };
	struct kab_exec_result res = { 0 };
	int rc = 0;

	kab_strv_add(&argv, "git");
	if (repo) {
		kab_strv_add(&argv, "-C");
		kab_strv_add(&argv, repo);
	}
	for (size_t i = 0; words[i]; i++)
		kab_strv_add(&argv, words[i]);
	req.argv = (const char *const *)kab_strv_argv(&argv);
	if (kab_child_run(&req, &wait, &res, err))
		return kab_err_prefix(err, "git");
	kab_buf_rtrim(&res.err, "\n");
	if (res.exit_status != 0)
		rc = kab_err_set(err, KAB_ERR_CONFIG, "git %s: %s", words[0],
				 res.err.len ? kab_buf_str(&res.err) : "failed");
	else
		kab_buf_add(ret, kab_buf_str(&res.out), res.out.len);
	kab_exec_result_release(&res);
	return rc;
}

int kab_bisect_rev_parse(const char *repo, const char *revision, char **ret, struct kab_err *err)
{
	struct kab_buf kab_autobuf out = KAB_BUF_INIT;
	kab_autofree char *commit = kab_xasprintf("%s^{commit}", revision);
	const char *const words[] = { "rev-parse",	  "--verify", "--quiet",
				      "--end-of-options", commit,     NULL };

	if (git(repo, words, &out, NULL))
		return kab_err_set(err, KAB_ERR_CONFIG, "'%s' is no commit of the repository '%s'",
				   revision, repo ? repo : ".");
	kab_buf_rtrim(&out, "\n");
	/* --end-of-options itself is printed by some versions. */
	const char *line = strrchr(kab_buf_str(&out), '\n');

	*ret = kab_xstrdup(line ? line + 1 : kab_buf_str(&out));
	return 0;
}

static void add_commit(struct kab_bisect_commits *list, const char *line, size_t n)
{
	kab_autofree char *text = kab_xstrndup(line, n);
	char *subject = strchr(text, ' ');

	if (subject)
		*subject++ = '\0';
	*KAB_PUSH(list) = (struct kab_bisect_commit){
		.revision = kab_xstrdup(text),
		.subject = kab_xstrdup(subject ? subject : ""),
	};
}

static int add_lines(struct kab_bisect_commits *list, const char *text, struct kab_err *err)
{
	for (const char *p = text, *next; *p; p = next) {
		size_t n = strcspn(p, "\n");

		next = p[n] ? p + n + 1 : p + n;
		while (n && (p[n - 1] == '\r' || p[n - 1] == ' '))
			n--;
		if (n && *p != '#')
			add_commit(list, p, n);
		if (list->n > COMMITS_MAX)
			return kab_err_set(err, KAB_ERR_CONFIG, "more than %d commits",
					   COMMITS_MAX);
	}
	return 0;
}

int kab_bisect_git(const char *repo, const char *good, const char *bad,
		   struct kab_bisect_commits *ret, struct kab_err *err)
{
	struct kab_buf kab_autobuf out = KAB_BUF_INIT, head = KAB_BUF_INIT;
	kab_autofree char *from = NULL, *to = NULL, *range = NULL;
	int rc = -1;

	*ret = (struct kab_bisect_commits){ 0 };
	if (kab_bisect_rev_parse(repo, good, &from, err) ||
	    kab_bisect_rev_parse(repo, bad, &to, err))
		return -1;
	const char *const ancestor[] = { "merge-base", "--is-ancestor", from, to, NULL };

	if (!strcmp(from, to) || git(repo, ancestor, &head, NULL))
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "good '%s' is no ancestor of bad '%s'; name an older commit of "
				   "the same line",
				   good, bad);
	range = kab_xasprintf("%s..%s", from, to);
	const char *const list[] = { "log", "--first-parent", "--reverse", "--format=%H %s", range,
				     NULL };
	const char *const first[] = { "log", "-1", "--format=%H %s", from, NULL };

	if (!git(repo, first, &out, err) && !git(repo, list, &out, err))
		rc = add_lines(ret, kab_buf_str(&out), err);
	if (rc)
		kab_bisect_commits_release(ret);
	return rc;
}

int kab_bisect_list_file(const char *file, struct kab_bisect_commits *ret, struct kab_err *err)
{
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;

	*ret = (struct kab_bisect_commits){ 0 };
	if (kab_file_read(file, &buf, err) || add_lines(ret, kab_buf_str(&buf), err)) {
		kab_bisect_commits_release(ret);
		return -1;
	}
	if (ret->n < 2) {
		kab_bisect_commits_release(ret);
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "'%s' names fewer than two revisions; one a line, the good one "
				   "first",
				   file);
	}
	return 0;
}

static int read_spec(const char *place, const struct kab_buf *out, char **ret, struct kab_err *err)
{
	static const char *const keys[] = { "spec", "commit", "describe", NULL };
	struct kab_kernel_list probe = { 0 };
	struct kab_err why = KAB_ERR_INIT;
	struct kab_json root;
	json_t *doc = NULL;
	const char *spec;
	int rc;

	if (kab_json_load_bytes(place, kab_buf_str(out), out->len, &doc, err))
		return -1;
	root = kab_json_root(doc, place);
	rc = kab_json_object(&root, keys, err);
	if (!rc)
		rc = kab_json_need_str(&root, "spec", &spec, err);
	if (!rc) {
		kab_autofree char *text = kab_xasprintf("k=%s", spec);

		if (kab_kernel_add(&probe, text, &why))
			rc = kab_json_fail(&root, err, "%s", why.text);
		kab_kernel_list_release(&probe);
		if (!rc)
			*ret = kab_xstrdup(spec);
	}
	json_decref(doc);
	return rc;
}

static bool is_program(const char *path, const char **ret_why)
{
	struct stat st;

	*ret_why = NULL;
	if (stat(path, &st))
		*ret_why = errno == ENOENT ? "is not there" : strerror(errno);
	else if (!S_ISREG(st.st_mode))
		*ret_why = "is no file";
	else if (access(path, X_OK))
		*ret_why = "is not executable (chmod +x)";
	return !*ret_why;
}

static bool on_path(const char *name)
{
	struct kab_strv kab_autostrv dirs = KAB_STRV_INIT;
	const char *path = getenv("PATH"), *why;
	bool found = false;

	kab_strv_split(&dirs, path ? path : "/bin:/usr/bin", ':');
	for (size_t i = 0; !found && i < dirs.n; i++) {
		kab_autofree char *file =
			kab_xasprintf("%s/%s", *dirs.v[i] ? dirs.v[i] : ".", name);

		found = is_program(file, &why);
	}
	return found;
}

int kab_bisect_hook_path(const char *given, char **ret, struct kab_err *err)
{
	kab_autofree char *here = NULL, *path = NULL;
	const char *why;

	if (!strchr(given, '/')) {
		bool found = *given && on_path(given);

		if (!found)
			return kab_err_set(err, KAB_ERR_CONFIG,
					   "the hook '%s' is no program of PATH; one of this "
					   "folder is ./%s",
					   given, given);
		*ret = kab_xstrdup(given);
		return 0;
	}
	if (*given != '/') {
		here = getcwd(NULL, 0);
		if (!here)
			return kab_err_errno(err, KAB_ERR_ENV, "cannot tell the current folder");
	}
	path = here ? kab_xasprintf("%s/%s", here, strncmp(given, "./", 2) ? given : given + 2)
		    : kab_xstrdup(given);
	if (!is_program(path, &why))
		return kab_err_set(err, KAB_ERR_CONFIG, "the hook '%s' %s", path, why);
	*ret = path;
	path = NULL;
	return 0;
}

int kab_bisect_hook(const struct kab_strv *hook, const char *repo, const char *revision,
		    int cancel_fd, char **ret_spec, char **ret_why, struct kab_err *err)
{
	struct kab_strv kab_autostrv argv = KAB_STRV_INIT;
	const struct kab_wait wait = { .deadline_ns = kab_deadline_s(HOOK_S),
				       .cancel_fd = cancel_fd };
	struct kab_exec req = { .out_max = 65536, .err_max = (size_t)1 << 20 };
	struct kab_exec_result res = { 0 };
	kab_autofree char *place = NULL;
	size_t n = 0;
	const char *said;
	int rc = 0;

	/* The folder is a word of the command: a child is started where kab is. */
	if (repo) {
		kab_strv_add(&argv, "env");
		kab_strv_add(&argv, "-C");
		kab_strv_add(&argv, repo);
	}
	kab_strv_copy(&argv, hook);
	kab_strv_add(&argv, revision);
	req.argv = (const char *const *)kab_strv_argv(&argv);
	place = kab_xasprintf("output of '%s'", hook->v[0]);
	if (kab_child_run(&req, &wait, &res, err))
		return kab_err_prefix(err, "hook '%s'", hook->v[0]);
	kab_buf_rtrim(&res.err, "\n ");
	said = kab_text_tail(kab_buf_str(&res.err), res.err.len, 1, &n);
	if (res.exit_status == CANNOT_BUILD) {
		*ret_why = n ? kab_xasprintf("cannot be built: %.*s", (int)n, said)
			     : kab_xstrdup("cannot be built");
		rc = 1;
	} else if (res.exit_status) {
		rc = kab_err_set(err, KAB_ERR_ENV,
				 "hook '%s' ended with status %d for %.12s%s%.*s; 125 says that a "
				 "revision cannot be built",
				 hook->v[0], res.exit_status, revision, n ? ": " : "", (int)n,
				 said);
	} else {
		rc = read_spec(place, &res.out, ret_spec, err);
	}
	kab_exec_result_release(&res);
	return rc;
}
