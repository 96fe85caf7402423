/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "transport/fake.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"

enum fault { FAULT_NONE, FAULT_FAIL, FAULT_DIE, FAULT_MUTE, FAULT_HANG };

struct fake_session {
	struct kab_session base;
	struct kab_session *local;
	bool dead;
};

static long read_count(const char *path)
{
	FILE *f = fopen(path, "re");
	char line[32] = "0";

	if (f) {
		if (!fgets(line, sizeof(line), f))
			line[0] = '\0';
		fclose(f);
	}
	return strtol(line, NULL, 10);
}

static void append(const char *path, const char *mode, const char *text)
{
	FILE *f = fopen(path, mode);

	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

/* Count one operation and look up what the script wants with it. */
static int next_fault(const struct kab_endpoint *ep, const char *op, const char *what,
		      enum fault *ret, struct kab_err *err)
{
	static const char *const names[] = { "", "fail", "die", "mute", "hang" };
	char *count kab_autofree = kab_xasprintf("%s.count", ep->ssh);
	char *log kab_autofree = kab_xasprintf("%s.log", ep->ssh);
	long n = read_count(count) + 1;
	char *text kab_autofree = kab_xasprintf("%ld\n", n);
	char *note kab_autofree = kab_xasprintf("%ld %s %s\n", n, op, what);
	FILE *f = fopen(ep->ssh, "re");
	char line[128];

	*ret = FAULT_NONE;
	if (!f)
		return kab_err_errno(err, KAB_ERR_ENV, "cannot open fault script '%s'", ep->ssh);
	append(count, "we", text);
	append(log, "ae", note);
	while (fgets(line, sizeof(line), f)) {
		char *end;
		long at = strtol(line, &end, 10);

		end += strspn(end, " \t");
		end[strcspn(end, "\n")] = '\0';
		for (int i = FAULT_FAIL; at == n && i <= FAULT_HANG; i++)
			if (strcmp(end, names[i]) == 0)
				*ret = (enum fault)i;
	}
	fclose(f);
	return 0;
}

/* What happens before the real operation. 0: go on; 1: go on, then lose the answer. */
static int before(struct fake_session *s, const struct kab_endpoint *ep, const char *op,
		  const char *what, const struct kab_wait *wait, struct kab_err *err)
{
	enum fault fault;

	if (s && s->dead)
		return kab_err_set(err, KAB_ERR_CONNECT, "connection to '%s' is gone", ep->name);
	if (next_fault(ep, op, what, &fault, err) < 0)
		return -1;
	switch (fault) {
	case FAULT_NONE:
		return 0;
	case FAULT_MUTE:
		return 1;
	case FAULT_FAIL:
		return kab_err_set(err, KAB_ERR_REMOTE, "%s on '%s' failed as scripted", op,
				   ep->name);
	case FAULT_DIE:
		break;
	case FAULT_HANG:
		if (s)
			s->dead = true;
		if (kab_wait_until(wait->deadline_ns, wait->cancel_fd, err) < 0)
			return -1;
		return kab_err_set(err, KAB_ERR_TIMEOUT, "%s on '%s': no answer", op, ep->name);
	}
	if (s)
		s->dead = true;
	return kab_err_set(err, KAB_ERR_CONNECT, "connection to '%s' lost during %s", ep->name, op);
}

static int lose(struct fake_session *s, struct kab_err *err)
{
	s->dead = true;
	return kab_err_set(err, KAB_ERR_CONNECT, "connection to '%s' lost before the answer",
			   s->base.ep->name);
}

static void fake_close(struct kab_session *ks)
{
	struct fake_session *s = (struct fake_session *)ks;

	if (!s)
		return;
	kab_transport_local.close(s->local);
	free(s);
}

static int fake_open(const struct kab_endpoint *ep, const struct kab_wait *wait,
		     struct kab_session **ret, struct kab_err *err)
{
	int rc = before(NULL, ep, "open", ep->name, wait, err);
	struct fake_session *s;

	*ret = NULL;
	if (rc < 0)
		return -1;
	s = kab_xcalloc(1, sizeof(*s));
	s->base.ops = &kab_transport_fake;
	s->base.ep = ep;
	if (kab_transport_local.open(ep, wait, &s->local, err) < 0 || (rc == 1 && lose(s, err))) {
		fake_close(&s->base);
		return -1;
	}
	*ret = &s->base;
	return 0;
}

static int fake_exec(struct kab_session *ks, const struct kab_exec *req,
		     const struct kab_wait *wait, struct kab_exec_result *ret, struct kab_err *err)
{
	struct fake_session *s = (struct fake_session *)ks;
	char *what kab_autofree = kab_quote_argv(req->argv);
	int rc = before(s, ks->ep, "exec", what, wait, err);

	if (rc < 0 || kab_transport_local.exec(s->local, req, wait, ret, err) < 0)
		return -1;
	if (rc == 1) {
		kab_exec_result_release(ret);
		return lose(s, err);
	}
	return 0;
}

static int fake_put(struct kab_session *ks, const char *path, const void *data, size_t len,
		    unsigned mode, const struct kab_wait *wait, struct kab_err *err)
{
	struct fake_session *s = (struct fake_session *)ks;
	int rc = before(s, ks->ep, "put", path, wait, err);

	if (rc < 0 || kab_transport_local.put(s->local, path, data, len, mode, wait, err) < 0)
		return -1;
	return rc == 1 ? lose(s, err) : 0;
}

static int fake_get(struct kab_session *ks, const char *path, uint64_t offset, size_t max,
		    const struct kab_wait *wait, struct kab_buf *ret, struct kab_err *err)
{
	struct fake_session *s = (struct fake_session *)ks;
	int rc = before(s, ks->ep, "get", path, wait, err);
	int got;

	if (rc < 0)
		return -1;
	got = kab_transport_local.get(s->local, path, offset, max, wait, ret, err);
	if (got < 0)
		return -1;
	return rc == 1 ? lose(s, err) : got;
}

const struct kab_transport kab_transport_fake = {
	.name = "fake",
	.open = fake_open,
	.exec = fake_exec,
	.put = fake_put,
	.get = fake_get,
	.close = fake_close,
};
