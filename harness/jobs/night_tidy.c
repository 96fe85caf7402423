/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job that runs for months must fill neither /boot of its hosts nor its own disk. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "engine/install.h"
#include "engine/lease.h"
#include "engine/probe.h"
#include "jobs/history.h"
#include "jobs/night.h"

#define TIDY_S 300
#define LEASE_S 600
#define DOWNLOADS_S (14 * 24 * 3600)

/* ---- hosts ---- */

static bool among(const struct kab_strv *list, size_t n, const char *what)
{
	for (size_t i = 0; i < list->n && i < n; i++)
		if (!strcmp(list->v[i], what))
			return true;
	return false;
}

/* Of those that nights of this tree have booted, what is not among the newest. */
static int remove_old(struct kab_night *night, const struct kab_lab_host *host,
		      struct kab_session *s, const struct kab_wait *wait,
		      const struct kab_strv *releases, struct kab_err *err)
{
	struct kab_installed *list = NULL;
	/* The reference and the baseline are booted every night, and so among the newest. */
	size_t keep = (size_t)night->c->keep_kernels + 3, n = 0;
	int status = kab_install_list(host, s, wait, &list, &n, err);

	for (size_t i = 0; i < n && status == 0; i++) {
		struct kab_err why = KAB_ERR_INIT;
		bool last = false;

		if (!list[i].ours || list[i].running || list[i].is_default ||
		    !among(releases, SIZE_MAX, list[i].release) ||
		    among(releases, keep, list[i].release))
			continue;
		if (kab_install_remove(host, s, list[i].release, wait, &last, &why) < 0)
			kab_log(night->env->log, KAB_LOG_WARN, "host '%s': %s", host->name,
				why.text);
		else
			kab_log(night->env->log, KAB_LOG_INFO,
				"host '%s': kernel %s of an earlier night is removed", host->name,
				list[i].release);
	}
	kab_installed_free(list, n);
	return status;
}

static int tidy_host(struct kab_night *night, const struct kab_lab_host *host,
		     const struct kab_strv *releases, struct kab_err *err)
{
	struct kab_endpoint ep = kab_probe_endpoint(host, night->env->log);
	struct kab_wait wait = { .deadline_ns = kab_deadline_s(TIDY_S),
				 .cancel_fd = night->env->stop_fd };
	char owner[KAB_LEASE_OWNER_MAX];
	struct kab_session *s = NULL;
	struct kab_lease lease = { 0 };
	int status;

	if (kab_probe_open(&ep, &wait, &s, err) < 0)
		return -1;
	snprintf(owner, sizeof(owner), "nightly@%.40s:%ld", night->c->name, (long)getpid());
	/* Somebody else may be about to boot what looks old to us. */
	status = kab_lease_acquire(s, NULL, owner, LEASE_S, 0, &wait, &lease, NULL, err);
	if (status == 0) {
		status = remove_old(night, host, s, &wait, releases, err);
		kab_lease_release(s, &lease, &wait, NULL);
	}
	s->ops->close(s);
	return status;
}

/* ---- our own folder ---- */

/* Labels whose files are still needed. */
static int needed(struct kab_night *night, struct kab_strv *ret, struct kab_err *err)
{
	struct kab_night_baseline baseline = { 0 };
	struct kab_change_list list = { 0 };
	const char *labels[] = { night->k.test.label, night->k.baseline.label,
				 night->k.reference.label };

	for (size_t i = 0; i < KAB_ARRAY_SIZE(labels); i++)
		if (labels[i])
			kab_strv_add(ret, labels[i]);
	if (kab_store_night_baseline(night->env->store, night->c->name, &baseline, err) < 0)
		return -1;
	kab_strv_add(ret, baseline.label ? baseline.label : "");
	kab_night_baseline_release(&baseline);
	for (int pass = 0; pass < 2; pass++) {
		int status = pass ? kab_history_open_changes(night->env->store, night->c->name,
							     &list, err)
				  : kab_history_confirmations(night->env->store, night->c->name,
							      &list, err);

		if (status < 0)
			return -1;
		for (size_t i = 0; i < list.n; i++) {
			kab_strv_add(ret, list.v[i].before.label);
			kab_strv_add(ret, list.v[i].after.label);
		}
		kab_change_list_release(&list);
	}
	return 0;
}

/* The folder named by a hash, and the few files in it. */
static void remove_folder(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(path);
}

/* Every "KEEP/HASH/" of a spec, appended as paths of folders. */
static void folders_of(const char *spec, const char *keep, struct kab_strv *ret)
{
	size_t n = strlen(keep);

	for (const char *p = strstr(spec, keep); p; p = strstr(p + 1, keep)) {
		size_t hash = p[n] == '/' ? strcspn(p + n + 1, "/,;") : 0;

		if (hash && p[n + 1 + hash] == '/')
			kab_strv_add_n(ret, p, n + 1 + hash);
	}
}

static int tidy_files(struct kab_night *night, struct kab_err *err)
{
	char *keep kab_autofree = kab_xasprintf("%s/kernels", night->env->state_dir);
	struct kab_strv kab_autostrv labels = KAB_STRV_INIT, used = KAB_STRV_INIT;
	struct kab_strv kab_autostrv old = KAB_STRV_INIT;
	struct kab_night_kernel *v = NULL;
	size_t n = 0, tried = 0;

	if (needed(night, &labels, err) < 0 ||
	    kab_store_night_kernel_list(night->env->store, night->c->name, &v, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		/* Newest first; the reference and a fixed baseline come from the file. */
		bool stays = !strcmp(v[i].source, "reference") ||
			     !strcmp(v[i].source, "baseline") || !v[i].tried ||
			     kab_strv_has(&labels, v[i].label) ||
			     tried++ < (size_t)night->c->keep_kernels;

		folders_of(v[i].spec, keep, stays ? &used : &old);
		kab_night_kernel_release(&v[i]);
	}
	free(v);
	for (size_t i = 0; i < old.n; i++)
		if (!kab_strv_has(&used, old.v[i]))
			remove_folder(old.v[i]);
	return 0;
}

/* Downloads have been copied to where kernels are kept; the newest save asking for them again. */
static void tidy_downloads(const struct kab_night *night)
{
	char *path kab_autofree = kab_xasprintf("%s/downloads", night->env->state_dir);
	DIR *dir = opendir(path);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		char *one kab_autofree = kab_xasprintf("%s/%s", path, e->d_name);
		struct stat st;

		if (e->d_name[0] != '.' && lstat(one, &st) == 0 && S_ISDIR(st.st_mode) &&
		    time(NULL) - st.st_mtime > DOWNLOADS_S)
			remove_folder(one);
	}
	if (dir)
		closedir(dir);
}

int kab_night_tidy(struct kab_night *night, struct kab_err *err)
{
	struct kab_strv kab_autostrv releases = KAB_STRV_INIT;

	tidy_downloads(night);
	if (tidy_files(night, err) < 0)
		return -1;
	if (night->env->execute || night->closing)
		return 0;
	if (kab_store_night_releases(night->env->store, night->c->name, &releases, err) < 0)
		return -1;
	for (size_t i = 0; i < night->n_hosts; i++) {
		const struct kab_night_host *h = &night->hosts[i];
		struct kab_err why = KAB_ERR_INIT;

		if (!h->probed || h->failed || h->busy || h->host->boot == KAB_BOOT_NONE ||
		    kab_night_now(night) > h->window.to_ns)
			continue;
		if (tidy_host(night, h->host, &releases, &why) < 0)
			kab_log(night->env->log, KAB_LOG_WARN, "host '%s' is not tidied: %s",
				h->host->name, why.text);
	}
	return 0;
}
