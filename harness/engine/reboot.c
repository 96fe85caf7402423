/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/reboot.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "engine/method.h"
#include "engine/power.h"
#include "engine/probe.h"

#define CALL_S 60.0
/* A port forwarder or a firewall may take a connection for a host that is down and say nothing. */
#define KNOCK_S 30.0
#define PROBE_S 40.0
#define RECONNECT_S 300.0
#define EVIDENCE_BYTES ((size_t)64 << 10)
/* A panicking test kernel restarts by itself, into the default one. What the user gives comes later
 * on the command line and wins. */
#define DEFAULT_ARGS "panic=30"

struct attempt {
	struct kab_lane *lane;
	const struct kab_boot_info *boot;
	const struct kab_kernel *kernel;
	const char *release;
	char nonce[17];
	char *args;
	char *old_boot_id;
	size_t console_from; /* bytes of the console log that are older than this attempt */
	int64_t restarted_ns;
	bool halted; /* the console says that it panicked and will not restart by itself */
};

static struct kab_method_host method_host(const struct kab_lane *lane)
{
	return (struct kab_method_host){ .host = lane->host, .session = lane->session };
}

static double seconds_since(int64_t mono_ns)
{
	return (double)(kab_now_mono_ns() - mono_ns) / (double)KAB_NS_PER_S;
}

static size_t console_size(const struct kab_lane *lane)
{
	struct stat st;

	if (!lane->host->console || stat(lane->host->console, &st) < 0)
		return 0;
	return (size_t)st.st_size;
}

static void keep_evidence(struct attempt *a, const char *kind, const char *text, size_t n)
{
	struct kab_buf kab_autobuf safe = { .max = EVIDENCE_BYTES };

	if (!n)
		return;
	kab_text_escape(&safe, text, n);
	kab_store_event(a->lane->opts->store, a->lane->job->info.id, a->boot->id, kind,
			kab_buf_str(&safe), NULL);
}

/* The part of the console log written since the restart. */
static void read_console(struct attempt *a, struct kab_buf *ret)
{
	struct kab_buf kab_autobuf all = KAB_BUF_INIT;
	size_t from;

	if (!a->lane->host->console || kab_file_read(a->lane->host->console, &all, NULL) < 0)
		return;
	/* A log that was rotated meanwhile is shorter: take it whole. */
	from = all.len >= a->console_from ? a->console_from : 0;
	if (all.len - from > EVIDENCE_BYTES)
		from = all.len - EVIDENCE_BYTES;
	kab_buf_add(ret, kab_buf_str(&all) + from, all.len - from);
}

static const char *find(const char *text, size_t n, const char *word)
{
	return memmem(text, n, word, strlen(word));
}

/* The kernel's last line of a panic after which it does not restart by itself. */
static bool is_halted(struct attempt *a)
{
	struct kab_buf kab_autobuf console = KAB_BUF_INIT;

	read_console(a, &console);
	a->halted = find(kab_buf_str(&console), console.len, "end Kernel panic - not syncing");
	return a->halted;
}

char *kab_reboot_diagnose(const char *console, size_t n, const char *release)
{
	static const char *const userland[] = { "login:", "Reached target", "Welcome to", "sshd[",
						"Network is unreachable" };
	char *banner kab_autofree = kab_xasprintf("Linux version %s", release);
	const char *panic = find(console, n, "Kernel panic - not syncing");

	if (panic) {
		size_t left = n - (size_t)(panic - console), len = 0;

		while (len < left && len < 160 && panic[len] != '\n' && panic[len] != '\r')
			len++;
		return kab_xasprintf("panics: %.*s", (int)len, panic);
	}
	for (size_t i = 0; i < KAB_ARRAY_SIZE(userland); i++)
		if (find(console, n, userland[i]))
			return kab_xstrdup(
				"boots, not reachable: the console shows a running system");
	if (find(console, n, banner))
		return kab_xstrdup("hangs: the console shows its first line and no running system");
	return kab_xstrdup("hangs or never started");
}

int kab_reboot_prove(const struct kab_facts *facts, const char *old_boot_id, const char *release,
		     const char *build_id, const char *nonce, char **ret_why)
{
	const char *now = kab_facts_get(facts, "boot_id"),
		   *cmdline = kab_facts_get(facts, "cmdline");
	const char *running = kab_facts_get(facts, "release");
	const char *id = kab_facts_get(facts, "build_id");
	char *word kab_autofree = nonce ? kab_xasprintf("kab.nonce=%s", nonce) : NULL;

	if (!*now || !strcmp(now, old_boot_id))
		*ret_why = kab_xstrdup("the host did not restart (same boot id)");
	else if (strcmp(running, release))
		*ret_why = kab_xasprintf("it came back with %s instead of %s", running, release);
	else if (word && !strstr(cmdline, word))
		*ret_why =
			kab_xasprintf("%s runs, but without our mark on its command line: another "
				      "boot than the one chosen",
				      running);
	/* People write the first digits, in either case. */
	else if (build_id && *build_id && *id && strncasecmp(build_id, id, strlen(build_id)))
		*ret_why = kab_xasprintf("%s runs, but its build id is %.12s, not %.12s", running,
					 id, build_id);
	else
		return 1;
	return 0;
}

/*
 * Connect again and again until the boot id has changed: sshd may answer while it goes down. There
 * is nothing to wait for when the console shows that the kernel has halted (unless its power was
 * cycled since).
 */
static int wait_for_return(struct attempt *a, int64_t deadline_ns, bool cycled, struct kab_err *err)
{
	struct kab_lane *lane = a->lane;
	int64_t said = kab_now_mono_ns();
	double pause_s = 1;

	for (;;) {
		struct kab_wait wait;

		kab_err_clear(err);
		kab_facts_release(&lane->facts);
		if (kab_lane_connect_in(lane, KNOCK_S, err) == 0) {
			wait = kab_lane_wait(lane, PROBE_S);
			if (kab_probe(lane->session, &wait, &lane->facts, err) == 0 &&
			    strcmp(kab_facts_get(&lane->facts, "boot_id"), a->old_boot_id))
				return 0;
		}
		if (err->code == KAB_ERR_CANCELLED)
			return -1;
		/* It let us in before: while it comes up or goes down it may not (nologin, another
		 * sshd in its initrd), and then it does. */
		kab_lane_disconnect(lane);
		if (kab_now_mono_ns() >= deadline_ns || (!cycled && is_halted(a)))
			return kab_err_set(err, KAB_ERR_TIMEOUT, "did not come back");
		if (kab_now_mono_ns() - said > 30 * KAB_NS_PER_S) {
			said = kab_now_mono_ns();
			kab_lane_note(lane, "not back after %.0f s; waiting up to %.0f s",
				      seconds_since(a->restarted_ns), lane->host->boot_deadline_s);
		}
		if (kab_wait_until(kab_deadline_s(pause_s), lane->opts->cancel_fd, err) < 0)
			return -1;
		pause_s = pause_s < 4 ? pause_s * 1.5 : 5;
	}
}

/* The host stays away: cycle its power and wait for the default kernel. */
static int bring_back(struct attempt *a, struct kab_err *err)
{
	struct kab_lane *lane = a->lane;
	double deadline_s = lane->host->boot_deadline_s;
	struct kab_wait wait = kab_lane_wait(lane, deadline_s);
	struct kab_err why = KAB_ERR_INIT;

	if (!kab_power_command.has(lane->host))
		return kab_err_set(err, KAB_ERR_CONNECT,
				   "did not come back in %.0f s and host '%s' has no \"power\" in "
				   "the lab file; "
				   "restart it by hand, then: kab resume %s",
				   seconds_since(a->restarted_ns), lane->host->name,
				   lane->job->info.name);
	kab_lane_note(lane, "not back after %.0f s%s; cycling its power",
		      seconds_since(a->restarted_ns),
		      a->halted ? " and halted, says its console" : "");
	if (kab_power_command.cycle(lane->host, &wait, err) < 0)
		return -1;
	a->restarted_ns = kab_now_mono_ns();
	if (wait_for_return(a, kab_deadline_s(deadline_s), true, &why) == 0)
		return 0;
	if (why.code == KAB_ERR_CANCELLED) {
		*err = why;
		return -1;
	}
	return kab_err_set(err, KAB_ERR_CONNECT,
			   "did not come back in %.0f s after a power cycle either; look at its "
			   "console, then: kab resume %s",
			   deadline_s, lane->job->info.name);
}

static void gather(struct attempt *a, const char *diagnosis)
{
	struct kab_buf kab_autobuf kept = { .max = EVIDENCE_BYTES };
	struct kab_wait wait = kab_lane_wait(a->lane, CALL_S);
	struct kab_method_host mh = method_host(a->lane);

	keep_evidence(a, "boot-failed", diagnosis, strlen(diagnosis));
	if (a->lane->session && kab_method_evidence(&mh, &wait, &kept, NULL) == 0)
		keep_evidence(a, "boot-evidence", kab_buf_str(&kept), kept.len);
}

static int new_nonce(struct attempt *a, struct kab_err *err)
{
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return kab_err_errno(err, KAB_ERR_ENV, "cannot get random bytes");
	snprintf(a->nonce, sizeof(a->nonce), "%016llx", (unsigned long long)random);
	free(a->args);
	/* The mark comes first: kexec_select of boot.sh knows by it where our words begin. */
	a->args = kab_xasprintf("kab.nonce=%s " DEFAULT_ARGS "%s%s", a->nonce,
				a->kernel->cmdline ? " " : "",
				a->kernel->cmdline ? a->kernel->cmdline : "");
	return 0;
}

/* The host is ours until it is back, and the kernel is chosen. Doing this twice is as good as once:
 * a lost link is no reason to give up. */
static int select_patiently(struct attempt *a, struct kab_err *err)
{
	struct kab_lane *lane = a->lane;
	int64_t deadline = kab_deadline_s(RECONNECT_S);
	int64_t lease_s = (int64_t)(3 * lane->host->boot_deadline_s) + 300;

	for (;;) {
		struct kab_method_host mh = method_host(lane);
		struct kab_wait wait = kab_lane_wait(lane, CALL_S);

		if (kab_lease_extend(lane->session, &lane->lease, lease_s, true, &wait, err) == 0 &&
		    kab_method_select(&mh, a->release, a->args, &wait, err) == 0)
			return 0;
		if (!kab_lane_link_lost(err))
			return -1;
		kab_lane_note(lane, "link lost (%s); connecting again", err->text);
		if (kab_lane_reconnect(lane, deadline, err) < 0)
			return -1;
		kab_err_clear(err);
	}
}

/* 0 proven, 1 not (reason set), -1 the host or we ourselves cannot go on. */
static int try_once(struct attempt *a, char **reason, struct kab_err *err)
{
	struct kab_lane *lane = a->lane;
	double deadline_s = lane->host->boot_deadline_s;
	struct kab_buf kab_autobuf console = KAB_BUF_INIT;
	bool nonce = kab_method_has_nonce(lane->host->boot);
	char *why kab_autofree = NULL;
	struct kab_method_host mh;
	struct kab_wait wait;

	if (new_nonce(a, err) < 0)
		return -1;
	free(a->old_boot_id);
	a->old_boot_id = kab_xstrdup(kab_facts_get(&lane->facts, "boot_id"));
	a->console_from = console_size(lane);
	if (select_patiently(a, err) < 0) {
		if (err->code != KAB_ERR_REMOTE)
			return -1;
		*reason = kab_xstrdup(err->text);
		return 1;
	}
	kab_lane_note(lane, "booting '%s' (%s)", a->boot->kernel, a->release);
	mh = method_host(lane);
	wait = kab_lane_wait(lane, CALL_S);
	if (kab_method_restart(&mh, a->release, a->args, &wait, err) < 0 &&
	    !kab_lane_link_lost(err)) {
		kab_method_clear(&mh, &wait, NULL);
		if (err->code != KAB_ERR_REMOTE && err->code != KAB_ERR_ENV)
			return -1;
		*reason = kab_xstrdup(err->text);
		return 1;
	}
	a->restarted_ns = kab_now_mono_ns();
	a->halted = false;
	if (wait_for_return(a, kab_deadline_s(deadline_s), false, err) == 0) {
		if (kab_reboot_prove(&lane->facts, a->old_boot_id, a->release, a->kernel->build_id,
				     nonce ? a->nonce : NULL, &why))
			return 0;
		read_console(a, &console);
		if (find(kab_buf_str(&console), console.len, "Kernel panic - not syncing")) {
			char *d kab_autofree =
				kab_reboot_diagnose(kab_buf_str(&console), console.len, a->release);

			*reason = kab_xasprintf("%s; %s", d, why);
		} else {
			*reason = kab_xstrdup(why);
		}
	} else if (err->code != KAB_ERR_TIMEOUT) {
		return -1;
	} else {
		char *d kab_autofree = NULL;

		read_console(a, &console);
		d = kab_reboot_diagnose(kab_buf_str(&console), console.len, a->release);
		*reason = kab_xasprintf("not back after %.0f s: %s", seconds_since(a->restarted_ns),
					d);
		if (bring_back(a, err) < 0) {
			keep_evidence(a, "console", kab_buf_str(&console), console.len);
			return kab_err_prefix(err, "%s", *reason);
		}
	}
	keep_evidence(a, "console", kab_buf_str(&console), console.len);
	gather(a, *reason);
	return 1;
}

static const char *release_of(const struct kab_lane *lane, const struct kab_kernel *kernel)
{
	const struct kab_kernel_list *list = &lane->job->kernels;
	size_t index = 0;

	while (index < list->n && strcmp(list->v[index].label, kernel->label))
		index++;
	if (kernel->kind != KAB_KERNEL_RUNNING)
		return index < lane->releases.n && *lane->releases.v[index]
			       ? lane->releases.v[index]
			       : kernel->release;
	for (size_t i = 0; i < lane->job->hosts.n; i++)
		if (!strcmp(lane->job->hosts.v[i], lane->host->name))
			return lane->job->running.v[2 * i];
	return NULL;
}

int kab_reboot_into(struct kab_lane *lane, const struct kab_boot_info *boot, char **ret_reason,
		    struct kab_err *err)
{
	struct attempt a = { .lane = lane,
			     .boot = boot,
			     .kernel =
				     kab_job_kernel_on(lane->job, lane->host->name, boot->kernel) };
	int status = 1;

	a.release = a.kernel ? release_of(lane, a.kernel) : NULL;
	if (!a.release)
		return kab_err_set(err, KAB_ERR_INTERNAL, "kernel '%s' has no release yet",
				   boot->kernel);
	for (int i = 1; status == 1 && i <= lane->host->boot_tries; i++) {
		free(*ret_reason);
		*ret_reason = NULL;
		status = try_once(&a, ret_reason, err);
		if (status == 1)
			kab_lane_note(lane, "kernel '%s', try %d of %d: %s", boot->kernel, i,
				      lane->host->boot_tries, *ret_reason);
	}
	free(a.args);
	free(a.old_boot_id);
	return status;
}

bool kab_reboot_can_revive(const struct kab_lab_host *host)
{
	return host->boot != KAB_BOOT_NONE && kab_power_command.has(host);
}

int kab_reboot_revive(struct kab_lane *lane, const struct kab_boot_info *boot, struct kab_err *err)
{
	struct attempt a = { .lane = lane, .boot = boot };
	struct kab_wait wait = kab_lane_wait(lane, lane->host->boot_deadline_s);
	struct kab_buf kab_autobuf console = KAB_BUF_INIT;
	const char *panic;

	/* All of it is older, but the end tells what the kernel said when it went. */
	read_console(&a, &console);
	panic = find(kab_buf_str(&console), console.len, "Kernel panic - not syncing");
	keep_evidence(&a, "console", kab_buf_str(&console), console.len);
	kab_store_event(lane->opts->store, lane->job->info.id, boot->id, "power-cycle",
			panic ? "the host panicked during an iteration"
			      : "the host stopped answering during an iteration",
			NULL);
	kab_lane_note(lane, "%s, past the end of the iteration; cycling its power",
		      panic ? "silent, and its console shows a panic" : "silent");
	kab_err_clear(err);
	lane->cycled = true;
	if (kab_power_command.cycle(lane->host, &wait, err) < 0)
		return -1;
	if (kab_lane_reconnect(lane, kab_deadline_s(lane->host->boot_deadline_s), err) == 0)
		return 0;
	return kab_err_prefix(err,
			      "after a power cycle; look at its console, then: kab resume "
			      "%s",
			      lane->job->info.name);
}
