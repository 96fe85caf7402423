/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/probe.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/sha256.h"
#include "engine/scripts.h"
#include "runners/runner.h"

/* Hosts without NTP drift by less than this. */
#define CLOCK_S 120
#define PROBE_BYTES_MAX ((size_t)1 << 20)

static void tools_of_all_runners(struct kab_strv *argv)
{
	for (size_t i = 0; i < kab_runners_n; i++)
		for (const char *const *t = kab_runners[i]->tools; t && *t; t++)
			if (!kab_strv_has(argv, *t))
				kab_strv_add(argv, *t);
}

/* Nothing here trusts the host's clock, but what the benchmark or the logs say may: say it. */
static void look_at_clock(struct kab_facts *facts)
{
	const char *text = kab_facts_get(facts, "date");
	char *end;
	long long date = strtoll(text, &end, 10);
	long long offset = date - kab_now_wall_ns() / KAB_NS_PER_S;
	char *value kab_autofree = NULL;

	if (end == text || *end || (offset > -CLOCK_S && offset < CLOCK_S))
		return;
	value = kab_xasprintf("%lld", offset);
	kab_facts_set(facts, "clock_offset_s", value);
}

int kab_probe(struct kab_session *s, const struct kab_wait *wait, struct kab_facts *ret,
	      struct kab_err *err)
{
	struct kab_strv kab_autostrv argv = KAB_STRV_INIT;
	struct kab_exec req = { 0 };
	struct kab_exec_result res = { 0 };
	int status = -1;

	/* The script comes on stdin: nothing is stored on the host for a mere look at it. */
	kab_strv_add(&argv, "sh");
	kab_strv_add(&argv, "-s");
	kab_strv_add(&argv, "--");
	tools_of_all_runners(&argv);
	req.argv = (const char *const *)kab_strv_argv(&argv);
	req.in = kab_script_probe;
	req.in_len = kab_script_probe_len;
	req.out_max = req.err_max = PROBE_BYTES_MAX;
	if (s->ops->exec(s, &req, wait, &res, err) == 0) {
		status = kab_facts_parse(ret, kab_buf_str(&res.out), res.out.len, err);
		if (status < 0) {
			struct kab_buf *said = res.err.len ? &res.err : &res.out;

			kab_buf_rtrim(said, "\r\n");
			status = kab_err_set(
				err, KAB_ERR_REMOTE,
				"the host says nothing of itself (exit status %d%s%.200s); is its "
				"login shell a restricted one?",
				res.exit_status, said->len ? ": " : "", kab_buf_str(said));
		}
		if (status == 0 && !*kab_facts_get(ret, "release"))
			status = kab_err_set(
				err, KAB_ERR_REMOTE,
				"the host did not tell its kernel release; is its login "
				"shell a POSIX shell?");
		if (status == 0)
			look_at_clock(ret);
	}
	kab_exec_result_release(&res);
	return status;
}

int kab_probe_boot_id(struct kab_session *s, const struct kab_wait *wait, char ret[40],
		      struct kab_err *err)
{
	static const char *const argv[] = { "cat", "/proc/sys/kernel/random/boot_id", NULL };
	struct kab_exec req = { .argv = argv, .out_max = 4096, .err_max = 4096 };
	struct kab_exec_result res = { 0 };
	int status = s->ops->exec(s, &req, wait, &res, err);

	if (status == 0) {
		kab_buf_rtrim(&res.out, "\n");
		if (res.exit_status != 0 || !res.out.len)
			status = kab_err_set(err, KAB_ERR_REMOTE,
					     "host '%s': cannot read its boot id: %.200s",
					     s->ep->name, kab_buf_str(&res.err));
		else
			snprintf(ret, 40, "%s", kab_buf_str(&res.out));
	}
	kab_exec_result_release(&res);
	return status;
}

struct kab_endpoint kab_probe_endpoint(const struct kab_lab_host *host, const struct kab_log *log)
{
	return (struct kab_endpoint){
		.name = host->name,
		.transport = host->transport,
		.ssh = host->ssh,
		.ssh_config = host->ssh_config,
		.port = host->port,
		.keepalive_s = host->keepalive_s,
		.host_key_check = !strcmp(host->host_key_check, "any") ? KAB_HOST_KEY_ANY
				  : !strcmp(host->host_key_check, "accept-new")
					  ? KAB_HOST_KEY_ACCEPT_NEW
					  : KAB_HOST_KEY_STRICT,
		.shared = host->shared,
		.log = log,
	};
}

int kab_probe_open(const struct kab_endpoint *ep, const struct kab_wait *wait,
		   struct kab_session **ret, struct kab_err *err)
{
	const struct kab_transport *transport = kab_transport_find(ep->transport);

	if (!transport)
		return kab_err_set(err, KAB_ERR_UNSUPPORTED,
				   "transport '%s' is not part of this build; use 'ssh'",
				   ep->transport);
	return transport->open(ep, wait, ret, err);
}

void kab_probe_kernel_id(const struct kab_facts *facts, struct kab_kernel_id *ret)
{
	ret->release = kab_xstrdup(kab_facts_get(facts, "release"));
	ret->build_id = kab_xstrdup(kab_facts_get(facts, "build_id"));
	ret->commit = kab_xstrdup(kab_facts_get(facts, "commit"));
	ret->config_hash = kab_xstrdup(kab_facts_get(facts, "config_hash"));
}

void kab_probe_machine_hash(const struct kab_facts *facts, char hex[65])
{
	const char *id = kab_facts_get(facts, "machine_id");

	kab_sha256_hex(id, strlen(id), hex);
}

struct probe_job {
	struct kab_probe_host *host;
	double deadline_s;
	int cancel_fd;
	const struct kab_log *log;
};

static void *probe_one(void *arg)
{
	struct probe_job *job = arg;
	struct kab_probe_host *h = job->host;
	struct kab_endpoint ep = kab_probe_endpoint(h->host, job->log);
	struct kab_wait wait = { .deadline_ns = kab_deadline_s(job->deadline_s),
				 .cancel_fd = job->cancel_fd };
	struct kab_session *s = NULL;

	h->failed = kab_probe_open(&ep, &wait, &s, &h->err) < 0;
	/* It may have stood in a queue, or waited for a passphrase. */
	wait.deadline_ns = kab_deadline_s(job->deadline_s);
	h->failed = h->failed || kab_probe(s, &wait, &h->facts, &h->err) < 0;
	if (s)
		s->ops->close(s);
	return NULL;
}

void kab_probe_all(struct kab_probe_host *hosts, size_t n, double deadline_s, int cancel_fd,
		   const struct kab_log *log)
{
	pthread_t *threads kab_autofree = kab_xcalloc(n + 1, sizeof(*threads));
	struct probe_job *jobs kab_autofree = kab_xcalloc(n + 1, sizeof(*jobs));
	bool *started kab_autofree = kab_xcalloc(n + 1, sizeof(*started));

	for (size_t i = 0; i < n; i++) {
		jobs[i] = (struct probe_job){ &hosts[i], deadline_s, cancel_fd, log };
		started[i] = pthread_create(&threads[i], NULL, probe_one, &jobs[i]) == 0;
		if (!started[i]) {
			hosts[i].failed = 1;
			kab_err_set(&hosts[i].err, KAB_ERR_ENV, "cannot start a thread");
		}
	}
	for (size_t i = 0; i < n; i++)
		if (started[i])
			pthread_join(threads[i], NULL);
}
