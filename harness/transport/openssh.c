/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The openssh transport. Beside the master a small shell waits for the end of our pipe, so that
 * it ends with us, also when we are killed, and its folder goes. Commands must never open a connection of their own,
 * which would pass by the checks made here: they read no configuration and have a ProxyCommand that
 * fails.
 */
#include "transport/openssh.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/rng.h"
#include "transport/child.h"
#include "transport/known_hosts.h"
#include "transport/remote_file.h"
#include "transport/ssh_exec.h"
#include "transport/ssh_key.h"
#include "transport/ssh_shared.h"

#define CONFIG_S 10
/* Connecting, greeting and logging in: as long as the ssh transport takes for all three. */
#define CONNECT_S 85
#define LOOK_MS 10
#define END_MS 500
/* A client tells of the end of its master a moment before that has ended. */
#define LAST_BREATH_MS 300
/* sun_path has 108 bytes, of which ssh takes 17 for a name that it binds first. */
#define FOLDER_MAX 60

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int make_folder(struct kab_openssh *s, struct kab_err *err)
{
	const char *run = getenv("XDG_RUNTIME_DIR");

	/* % would be a token to ssh. */
	if (!run || run[0] != '/' || strlen(run) > FOLDER_MAX || strchr(run, '%') ||
	    access(run, W_OK))
		run = "/tmp";
	s->folder = kab_xasprintf("%s/kab-XXXXXX", run);
	if (!mkdtemp(s->folder)) {
		free(s->folder);
		s->folder = NULL;
		return kab_err_errno(err, KAB_ERR_ENV,
				     "cannot make a folder for the control connection in '%s'",
				     run);
	}
	s->socket = kab_xasprintf("%s/c", s->folder);
	s->log = kab_xasprintf("%s/log", s->folder);
	return 0;
}

/* With "no" ssh would take even a revoked key: not where such a line is on record for the host. */
static const char *key_checking(struct kab_openssh *s, const struct kab_wait *wait)
{
	struct kab_known_hosts known = { 0 };
	bool revoked = true;

	if (s->base.ep->host_key_check == KAB_HOST_KEY_STRICT)
		return "yes";
	if (s->base.ep->host_key_check == KAB_HOST_KEY_ANY &&
	    kab_known_hosts_load(&s->cfg, wait, &known, NULL) == 0) {
		revoked = false;
		for (size_t i = 0; i < known.n; i++)
			revoked = revoked || known.v[i].marker == KAB_KNOWN_REVOKED;
		kab_known_hosts_release(&known);
	}
	return revoked ? "accept-new" : "no";
}

/* -o wins over the files, so nothing in them can turn the checks off or take stdout. */
static int make_options(struct kab_openssh *s, const struct kab_wait *wait, struct kab_err *err)
{
	static const char *const fixed[] = {
		"-oBatchMode=yes",	     "-oControlPersist=no",
		"-oClearAllForwardings=yes", "-oForwardAgent=no",
		"-oForwardX11=no",	     "-oPermitLocalCommand=no",
		"-oRequestTTY=no",	     "-oRemoteCommand=none",
		"-oUpdateHostKeys=no",	     "-oForkAfterAuthentication=no",
		"-oLogLevel=INFO",	     "-oConnectionAttempts=1",
		"-oTCPKeepAlive=yes",
	};
	const struct kab_endpoint *ep = s->base.ep;
	struct kab_strv proxy kab_autostrv = KAB_STRV_INIT;

	if (ep->ssh_config) {
		kab_strv_add(&s->options, "-F");
		kab_strv_add(&s->options, ep->ssh_config);
	}
	if (ep->port) {
		kab_strv_add(&s->options, "-p");
		kab_strv_addf(&s->options, "%d", ep->port);
	}
	for (size_t i = 0; i < KAB_ARRAY_SIZE(fixed); i++)
		kab_strv_add(&s->options, fixed[i]);
	kab_strv_addf(&s->options, "-oStrictHostKeyChecking=%s", key_checking(s, wait));
	kab_strv_addf(&s->options, "-oServerAliveInterval=%d", ep->keepalive_s);
	/* It counts those without an answer, and gives up when the next is due. */
	kab_strv_addf(&s->options, "-oServerAliveCountMax=%d", KAB_OPENSSH_KEEPALIVES - 1);
	if (!s->cfg.proxy_jump)
		return 0;
	/* ProxyJump would ask and would not check on the hops. */
	if (kab_ssh_proxy_argv(&s->cfg, ep->ssh_config, wait, &proxy, err) < 0)
		return -1;
	char *line kab_autofree = kab_quote_argv((const char *const *)proxy.v);
	struct kab_buf command kab_autobuf = KAB_BUF_INIT;
	for (const char *p = line; *p; p++)
		kab_buf_adds(&command, *p == '%' ? "%%" : (char[]){ *p, '\0' });
	kab_strv_addf(&s->options, "-oProxyCommand=%s", kab_buf_str(&command));
	return 0;
}

static int start_master(struct kab_openssh *s, struct kab_err *err)
{
	struct kab_strv argv kab_autostrv = KAB_STRV_INIT;
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC), log;
	int rc = -1;

	kab_strv_add(&argv, "ssh");
	kab_strv_add(&argv, "-MNT");
	kab_strv_copy(&argv, &s->options);
	kab_strv_addf(&argv, "-oControlPath=%s", s->socket);
	kab_strv_add(&argv, "--");
	kab_strv_add(&argv, s->cfg.dest);
	log = open(s->log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
	if (log < 0 || null < 0)
		kab_err_errno(err, KAB_ERR_ENV, "cannot start ssh");
	else
		rc = kab_child_spawn_bound((const char *const *)argv.v, s->folder, null, log,
					   &s->pid, &s->life, err);
	close_fd(&log);
	close_fd(&null);
	return rc;
}

static void end_master(struct kab_openssh *s)
{
	/* In this order: the shell beside it is not to act on the end of the pipe. */
	kab_child_end(s->pid, END_MS);
	close_fd(&s->life);
	s->pid = 0;
	if (s->socket)
		unlink(s->socket);
}

/* Its exit is only looked at: until it is reaped its number is ours, for the group's signals. */
static bool is_gone(const struct kab_openssh *s, int ms)
{
	int64_t until = kab_now_mono_ns() + ms * KAB_NS_PER_MS;

	for (;;) {
		siginfo_t info = { 0 };

		if (waitid(P_PID, (id_t)s->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
		    info.si_pid)
			return true;
		if (kab_now_mono_ns() >= until)
			return false;
		poll(NULL, 0, LOOK_MS);
	}
}

/* The socket appears, complete, when ssh has logged in. 0; 1: ssh ended; -1. */
static int await_master(struct kab_openssh *s, const struct kab_wait *wait, struct kab_err *err)
{
	while (access(s->socket, F_OK) != 0) {
		struct pollfd pfd = { .fd = wait->cancel_fd, .events = POLLIN };

		if (poll(&pfd, 1, LOOK_MS) < 0 && errno != EINTR)
			return kab_err_errno(err, KAB_ERR_ENV, "poll failed");
		if (pfd.revents)
			return kab_err_set(err, KAB_ERR_CANCELLED, "interrupted");
		if (is_gone(s, 0))
			return 1;
		if (kab_now_mono_ns() >= wait->deadline_ns)
			return kab_err_set(err, KAB_ERR_TIMEOUT,
					   "host '%s': no answer in time while connecting: host "
					   "down, or a firewall drops",
					   s->base.ep->name);
	}
	return 0;
}

/* One try, of those that wait before the same server. As await_master. */
static int try_master(struct kab_openssh *s, const char *place, struct kab_wait *wait,
		      struct kab_err *err)
{
	struct kab_ssh_shared *shared = s->base.ep->shared;
	enum kab_ssh_passage how = KAB_SSH_PASSED;
	int rc;

	if (kab_ssh_gate_enter(shared, place, wait, err) < 0)
		return kab_err_prefix(err, "host '%s'", s->base.ep->name);
	rc = start_master(s, err);
	if (rc == 0)
		rc = await_master(s, wait, err);
	if (rc > 0) {
		char *said kab_autofree = NULL;

		end_master(s);
		said = kab_openssh_said(s);
		how = kab_ssh_text_dropped(said) ? KAB_SSH_DROPPED : KAB_SSH_ELSE;
	}
	kab_ssh_gate_leave(shared, place, rc < 0 ? KAB_SSH_ELSE : how);
	return rc;
}

/*
 * Refused, and ssh itself must not ask for a passphrase. Is there a key with one among those that it
 * names? Then it is opened here, and ssh finds it in the agent. True: worth another try.
 */
static bool unlock_keys(struct kab_openssh *s, struct kab_wait *wait, struct kab_err *err)
{
	const char *socket = NULL;

	if (s->unlocked || !s->base.ep->shared)
		return false;
	s->unlocked = true;
	for (size_t i = 0; i < s->cfg.identity_files.n; i++) {
		struct kab_err why = KAB_ERR_INIT;
		struct kab_ssh_key key;

		if (kab_ssh_key_load(s->cfg.identity_files.v[i], &key, NULL) != 0)
			continue;
		if (key.encrypted && key.has_private &&
		    kab_ssh_unlock(s->base.ep->shared, key.path, wait, &socket, &why) < 0)
			kab_err_set(err, why.code, "the key '%s' %s", key.path, why.text);
		kab_ssh_key_release(&key);
	}
	if (socket)
		kab_strv_addf(&s->options, "-oIdentityAgent=%s", socket);
	return socket != NULL;
}

static int connect_master(struct kab_openssh *s, const struct kab_wait *wait, struct kab_err *err)
{
	struct kab_wait w = kab_ssh_limit(wait, CONNECT_S);
	char *place kab_autofree = kab_ssh_place(&s->cfg);
	struct kab_err locked = KAB_ERR_INIT;
	struct kab_rng rng;

	kab_rng_seed_label(&rng, (uint64_t)kab_now_mono_ns(), s->folder);
	for (int drops = 0;; drops++) {
		char *said kab_autofree = NULL;
		double pause = kab_ssh_drop_pause_s(drops, &rng);
		int rc = try_master(s, place, &w, err);
		if (rc <= 0)
			return rc;
		said = kab_openssh_said(s);
		if (strstr(said, "Permission denied") && unlock_keys(s, &w, &locked))
			continue;
		if (locked.code == KAB_ERR_CANCELLED) {
			if (err)
				*err = locked;
			return kab_err_prefix(err, "host '%s'", s->base.ep->name);
		}
		if (!kab_ssh_text_dropped(said) || kab_now_mono_ns() >= w.deadline_ns ||
		    (drops + 1 >= KAB_SSH_DROPS_MAX &&
		     !kab_ssh_gate_known(s->base.ep->shared, place)))
			return kab_openssh_refused(s, locked.code ? locked.text : NULL, &w, err);
		kab_log(s->base.ep->log, KAB_LOG_DEBUG,
			"host '%s': dropped before the greeting, again in %.1f s", s->base.ep->name,
			pause);
		if (kab_wait_until(kab_deadline_s(pause), wait->cancel_fd, err) < 0)
			return -1;
	}
}

static void openssh_close(struct kab_session *ks)
{
	struct kab_openssh *s = (struct kab_openssh *)ks;

	if (!s)
		return;
	end_master(s);
	if (s->folder) {
		unlink(s->log);
		rmdir(s->folder);
	}
	kab_ssh_config_release(&s->cfg);
	kab_strv_release(&s->options);
	free(s->folder);
	free(s->socket);
	free(s->log);
	free(s);
}

static int bring_up(struct kab_openssh *s, struct kab_wait wait, struct kab_err *err)
{
	const struct kab_endpoint *ep = s->base.ep;
	struct kab_wait w;
	int rc;

	if (kab_ssh_gate_enter(ep->shared, KAB_SSH_GATE_TOOLS, &wait, err) < 0)
		return kab_err_prefix(err, "host '%s'", ep->name);
	w = kab_ssh_limit(&wait, CONFIG_S);
	rc = kab_ssh_config_resolve(ep->ssh, ep->ssh_config, ep->port, &w, &s->cfg, err);
	if (rc == 0)
		rc = make_options(s, &w, err);
	kab_ssh_gate_leave(ep->shared, KAB_SSH_GATE_TOOLS, KAB_SSH_PASSED);
	if (rc < 0 || make_folder(s, err) < 0)
		return kab_err_prefix(err, "host '%s'", ep->name);
	kab_known_hosts_tell_faults(&s->cfg, ep);
	return connect_master(s, &wait, err);
}

static int openssh_open(const struct kab_endpoint *ep, const struct kab_wait *wait,
			struct kab_session **ret, struct kab_err *err)
{
	struct kab_openssh *s;
	struct kab_rng rng;

	*ret = NULL;
	if (!ep->ssh)
		return kab_err_set(err, KAB_ERR_CONFIG, "host '%s' has no \"ssh\" destination",
				   ep->name);
	s = kab_xcalloc(1, sizeof(*s));
	s->base.ops = &kab_transport_openssh;
	s->base.ep = ep;
	s->life = -1;
	kab_rng_seed_label(&rng, (uint64_t)kab_now_wall_ns() ^ (uint64_t)getpid(), ep->name);
	snprintf(s->mark, sizeof(s->mark), "kab-%016llx", (unsigned long long)kab_rng_u64(&rng));
	if (bring_up(s, *wait, err) < 0) {
		openssh_close(&s->base);
		return -1;
	}
	*ret = &s->base;
	return 0;
}

static int openssh_exec(struct kab_session *ks, const struct kab_exec *req,
			const struct kab_wait *wait, struct kab_exec_result *ret,
			struct kab_err *err)
{
	struct kab_openssh *s = (struct kab_openssh *)ks;
	size_t out_max = req->out_max ? req->out_max : (size_t)1 << 20;
	char *words kab_autofree = kab_quote_argv(req->argv);
	char *path kab_autofree = kab_xasprintf("-oControlPath=%s", s->socket);
	char *mark kab_autofree = kab_xasprintf("%s\n", s->mark);
	/* ssh does not tell a signal; a shell between makes it 128+n. */
	char *line kab_autofree =
		kab_xasprintf("echo %s; exec sh -c '\"$@\"; exit $?' sh %s", s->mark, words);
	const char *argv[] = { "ssh",
			       "-F",
			       "none",
			       "-T",
			       path,
			       "-oControlMaster=no",
			       "-oBatchMode=yes",
			       "-oProxyCommand=exit 1",
			       "-oLogLevel=ERROR",
			       "-oEscapeChar=none",
			       "--",
			       "kab",
			       line,
			       NULL };
	struct kab_err why = KAB_ERR_INIT;
	struct kab_exec with = *req;
	bool begun;

	ret->exit_status = -1;
	if (s->dead || is_gone(s, 0)) {
		kab_buf_init(&ret->out, 0);
		kab_buf_init(&ret->err, 0);
		return s->dead ? kab_err_set(err, KAB_ERR_CONNECT,
					     "host '%s': the connection is gone", ks->ep->name)
			       : kab_openssh_lost(s, "starting the command", err);
	}
	with.argv = argv;
	with.out_max = out_max + KAB_SSH_CHATTER_MAX;
	if (kab_child_run(&with, wait, ret, &why) < 0) {
		if (why.code != KAB_ERR_TIMEOUT)
			return kab_err_set(err, why.code, "host '%s': %s", ks->ep->name, why.text);
		s->dead = true;
		return kab_err_set(err, KAB_ERR_TIMEOUT,
				   "host '%s': the command did not end in time", ks->ep->name);
	}
	begun = ret->out.len && memmem(ret->out.data, ret->out.len, mark, strlen(mark));
	if (!begun || ret->exit_status == 255) {
		int rc = 0;

		/* 255 is what ssh says of itself; a command may say it, too. */
		if (is_gone(s, LAST_BREATH_MS)) {
			rc = kab_openssh_lost(s, "waiting for the command", err);
		} else if (!begun) {
			/* A login shell that refuses says so on either stream. */
			struct kab_buf *said = ret->err.len ? &ret->err : &ret->out;

			kab_buf_rtrim(said, "\r\n");
			s->dead = true;
			rc = kab_err_set(err, KAB_ERR_CONNECT,
					 "host '%s': starting the command failed: the server "
					 "refuses another channel (MaxSessions) or the command "
					 "(ssh says: %.200s)",
					 ks->ep->name, said->len ? kab_buf_str(said) : "nothing");
		}
		if (rc < 0) {
			kab_exec_result_release(ret);
			return -1;
		}
	}
	kab_ssh_drop_chatter(&ret->out, mark, out_max);
	return 0;
}

const struct kab_transport kab_transport_openssh = {
	.name = "openssh",
	.open = openssh_open,
	.exec = openssh_exec,
	.put = kab_remote_put,
	.get = kab_remote_get,
	.close = openssh_close,
};
