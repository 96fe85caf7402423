/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/kernel_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "engine/install.h"
#include "publish/fetch.h"

/* Kernels with debug information are big, and lines slow; a stalled one ends much earlier. */
#define FETCH_S (6 * 3600.0)
#define SAY_NS (10 * KAB_NS_PER_S)

struct download {
	struct kab_cli *cli;
	char *shown;
	int64_t said_ns;
};

static void progress(void *ctx, int64_t done, int64_t total)
{
	struct download *d = ctx;

	if (kab_now_mono_ns() - d->said_ns < SAY_NS)
		return;
	d->said_ns = kab_now_mono_ns();
	if (total)
		kab_cli_say(d->cli, "kab: %s: %lld of %lld MB", d->shown, (long long)(done >> 20),
			    (long long)(total >> 20));
	else
		kab_cli_say(d->cli, "kab: %s: %lld MB", d->shown, (long long)(done >> 20));
}

static int fetch(struct kab_cli *cli, char **source, const char *sha256, int cancel_fd,
		 struct kab_err *err)
{
	struct download d = { .cli = cli,
			      .shown = kab_fetch_show_url(*source),
			      .said_ns = kab_now_mono_ns() };
	char *cache kab_autofree = NULL, *dir kab_autofree = NULL, *path = NULL;
	struct kab_fetch_opts opts = { .url = *source,
				       .sha256 = sha256,
				       .deadline_ns = kab_deadline_s(FETCH_S),
				       .cancel_fd = cancel_fd,
				       .log = &cli->log,
				       .progress = progress,
				       .ctx = &d };
	int status = kab_file_xdg("CACHE", &cache, err);

	if (status == 0) {
		dir = kab_xasprintf("%s/kernels", cache);
		opts.dir = dir;
		kab_cli_say(cli, "kab: fetching %s", d.shown);
		status = kab_fetch(&opts, &path, err);
	}
	free(d.shown);
	if (status < 0)
		return -1;
	free(*source);
	*source = path;
	return 0;
}

/* Names and passwords before the host of a URL: what is stored and printed is passed on to others. */
static void hide_secrets(char *text)
{
	for (char *p = strstr(text, "://"); p; p = strstr(p, "://")) {
		char *at = NULL;

		p += 3;
		for (char *q = p; *q && !strchr("/?#,; ", *q); q++)
			if (*q == '@')
				at = q;
		if (at)
			memmove(p, at + 1, strlen(at + 1) + 1);
	}
}

static int one(struct kab_cli *cli, struct kab_kernel *kernel, bool dry_run, int cancel_fd,
	       struct kab_err *err)
{
	struct {
		char **source;
		const char *sha256;
	} places[66];
	size_t n = 0;

	if (kernel->sources.n > 64)
		return kab_err_set(err, KAB_ERR_CONFIG, "more than 64 files are no kernel");
	for (size_t i = 0; i < kernel->sources.n; i++) {
		places[n].source = &kernel->sources.v[i];
		places[n++].sha256 = i ? NULL : kernel->sha256;
	}
	if (kernel->initrd) {
		places[n].source = &kernel->initrd;
		places[n++].sha256 = NULL;
	}
	if (kernel->modules) {
		places[n].source = &kernel->modules;
		places[n++].sha256 = NULL;
	}
	for (size_t i = 0; i < n; i++) {
		if (!kab_fetch_is_url(*places[i].source))
			continue;
		if (dry_run)
			return 0;
		if (fetch(cli, places[i].source, places[i].sha256, cancel_fd, err) < 0)
			return kab_err_prefix(err, "kernel '%s'", kernel->label);
	}
	return kab_install_identify(kernel, err);
}

int kab_kernel_files(struct kab_cli *cli, struct kab_kernel_list *kernels, bool dry_run,
		     int cancel_fd, struct kab_err *err)
{
	for (size_t i = 0; i < cli->command_line.n; i++)
		hide_secrets(cli->command_line.v[i]);
	for (size_t i = 0; i < kernels->n; i++) {
		struct kab_kernel *kernel = &kernels->v[i];

		if (kernel->spec)
			hide_secrets(kernel->spec);
		if (kernel->by_host
			    ? kab_kernel_files(cli, kernel->by_host, dry_run, cancel_fd, err) < 0
			    : kab_install_has_files(kernel) &&
				      one(cli, kernel, dry_run, cancel_fd, err) < 0)
			return -1;
	}
	return kab_install_conflicts(kernels, err);
}
