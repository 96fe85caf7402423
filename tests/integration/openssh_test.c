/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The openssh transport against real servers, most of them such that libssh2 1.10 cannot do. */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "lib_sshd.h"
#include "transport/openssh.h"

static struct sshd_rig rig;

static struct kab_endpoint endpoint(const char *name)
{
	return (struct kab_endpoint){
		.name = name, .transport = "openssh", .ssh = name, .ssh_config = rig.config
	};
}

static struct kab_wait in_s(double s)
{
	return (struct kab_wait){ kab_deadline_s(s), -1 };
}

static struct kab_session *open_ok(const struct kab_endpoint *ep)
{
	struct kab_wait w = in_s(100);
	struct kab_err err = KAB_ERR_INIT;
	struct kab_session *s = NULL;

	if (kab_transport_find(ep->transport)->open(ep, &w, &s, &err) < 0)
		fail_msg("%s", err.text);
	return s;
}

static struct kab_err open_fails(const char *name, const char *transport)
{
	struct kab_endpoint ep = endpoint(name);
	struct kab_wait w = in_s(100);
	struct kab_err err = KAB_ERR_INIT;
	struct kab_session *s = NULL;

	assert_int_equal(kab_transport_find(transport)->open(&ep, &w, &s, &err), -1);
	assert_null(s);
	return err;
}

static void has(const struct kab_err *err, enum kab_err_code code, const char *text)
{
	if (err->code != code || !strstr(err->text, text))
		fail_msg("expected code %d and '%s', got code %d: %s", code, text, err->code,
			 err->text);
}

static int run(struct kab_session *s, const char *script, const char *in, double seconds,
	       struct kab_exec_result *res, struct kab_err *err)
{
	const char *argv[] = { "sh", "-c", script, NULL };
	struct kab_exec req = { .argv = argv, .in = in, .in_len = in ? strlen(in) : 0 };
	struct kab_wait w = in_s(seconds);

	return s->ops->exec(s, &req, &w, res, err);
}

static void runs_ok(struct kab_session *s, const char *script, const char *in, const char *out,
		    int status)
{
	struct kab_exec_result res;
	struct kab_err err = KAB_ERR_INIT;

	if (run(s, script, in, 100, &res, &err) < 0)
		fail_msg("%s: %s", script, err.text);
	assert_string_equal(kab_buf_str(&res.out), out);
	assert_int_equal(res.exit_status, status);
	kab_exec_result_release(&res);
}

static void session_basics(const char *name)
{
	struct kab_endpoint ep = endpoint(name);
	struct kab_session *s = open_ok(&ep);
	const char *argv[] = { "printf", "[%s]", "a,b",		"it's", "$HOME", "back\\slash",
			       "-n",	 "",	 "two  blanks", "a\nb", "*",	 "`id`",
			       "$(id)",	 "%h",	 "\xff\x01",	"!!",	NULL };
	struct kab_exec req = { .argv = argv };
	struct kab_exec_result res;
	struct kab_wait w = in_s(100);

	runs_ok(s, "cat; exit 7", "hello", "hello", 7);
	assert_int_equal(s->ops->exec(s, &req, &w, &res, NULL), 0);
	assert_string_equal(kab_buf_str(&res.out),
			    "[a,b][it's][$HOME][back\\slash][-n][][two  blanks][a\nb][*][`id`]"
			    "[$(id)][%h][\xff\x01][!!]");
	kab_exec_result_release(&res);
	/* a signal is neither 0 nor -1; 255 is what ssh says of itself, but here the command does */
	runs_ok(s, "kill -9 $$", NULL, "", 137);
	runs_ok(s, "kill -11 $$", NULL, "", 139);
	runs_ok(s, "kill -15 $$", NULL, "", 143);
	runs_ok(s, "exit 255", NULL, "", 255);
	assert_int_equal(run(s, "head -c 5000000 /dev/zero >&2; echo done", NULL, 120, &res, NULL),
			 0);
	assert_string_equal(kab_buf_str(&res.out), "done\n");
	assert_true(res.err.cut);
	kab_exec_result_release(&res);
	s->ops->close(s);
}

static void test_basics(void **state)
{
	(void)state;
	session_basics("plain");
}

/* What a hardened sshd is like; the ssh transport refuses each and proposes this one. */
static void test_hardened(void **state)
{
	static const struct {
		const char *name, *args;
	} servers[] = {
		{ "rsaonly", "-k rsa" },
		{ "etm", "MACs hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com" },
		{ "aead", "Ciphers chacha20-poly1305@openssh.com,aes256-gcm@openssh.com" },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(servers); i++) {
		struct kab_err err;

		sshd_start(&rig, servers[i].name, servers[i].args);
		/* aead: the MACs that go with no AEAD cipher have none in common either way */
		err = open_fails(servers[i].name, "ssh");
		has(&err, KAB_ERR_CONNECT, "\"transport\": \"openssh\"");
		session_basics(servers[i].name);
	}
}

static void test_user_certificate(void **state)
{
	struct kab_endpoint ep = endpoint("cert");
	struct kab_session *s;

	(void)state;
	free(rig_sh(
		&rig, NULL,
		"cd $D; ssh-keygen -q -t ed25519 -N '' -f ca; ssh-keygen -q -t ed25519 -N '' -f "
		"certified; ssh-keygen -q -s ca -I kab -n \"$(id -un)\" certified.pub"));
	char *args kab_autofree = kab_xasprintf("TrustedUserCAKeys %s/ca.pub", rig.dir);
	sshd_start(&rig, "cert", args);
	free(rig_sh(&rig, NULL,
		    "cd $D; : >cert/authorized_keys; sed -i '/^Host cert$/,$"
		    "s,IdentityFile .*,IdentityFile '$D'/certified,' ssh_config"));
	s = open_ok(&ep);
	runs_ok(s, "echo in", NULL, "in\n", 0);
	s->ops->close(s);
}

static void test_files(void **state)
{
	struct kab_endpoint ep = endpoint("plain");
	struct kab_session *s = open_ok(&ep);
	size_t len = 20 << 20;
	char *data kab_autofree = kab_xmalloc(len);
	char *path kab_autofree = kab_xasprintf("%s/it's big", rig.dir);
	struct kab_buf got kab_autobuf = KAB_BUF_INIT;
	struct kab_err err = KAB_ERR_INIT;
	struct kab_wait w = in_s(300);
	char *mode kab_autofree = NULL;

	(void)state;
	for (size_t i = 0; i < len; i++)
		data[i] = (char)(i * 2654435761u >> 13);
	if (s->ops->put(s, path, data, len, 0640, &w, &err) < 0)
		fail_msg("%s", err.text);
	mode = rig_sh(&rig, NULL, "stat -c '%%a %%s' \"$D/it's big\"; ls $D | grep -c new; :");
	assert_string_equal(mode, "640 20971520\n0");
	assert_int_equal(s->ops->get(s, path, 0, len, &w, &got, &err), 0);
	assert_int_equal(got.len, len);
	assert_false(got.cut);
	assert_memory_equal(got.data, data, len);
	kab_buf_clear(&got);
	assert_int_equal(s->ops->get(s, path, 12345, 1000, &w, &got, &err), 0);
	assert_int_equal(got.len, 1000);
	assert_true(got.cut);
	assert_memory_equal(got.data, data + 12345, 1000);
	assert_int_equal(s->ops->get(s, "/no/such/file", 0, 10, &w, &got, &err), 1);
	assert_int_equal(s->ops->put(s, "/proc/nothing/x", "a", 1, 0600, &w, &err), -1);
	assert_int_equal(err.code, KAB_ERR_REMOTE);
	s->ops->close(s);
}

/* A Host like plain, with a known_hosts file of its own. */
static void add_with_known(const char *name, const char *file)
{
	free(rig_sh(&rig, NULL,
		    "p=$(sed -n 's/^Port //p' $D/plain/sshd_config); cat >>$D/ssh_config <<END\n"
		    "Host %s\n  HostName 127.0.0.1\n  Port $p\n  IdentityFile $D/id\n"
		    "  IdentitiesOnly yes\n  IdentityAgent none\n  UserKnownHostsFile $D/%s\n"
		    "  GlobalKnownHostsFile none\n  StrictHostKeyChecking no\nEND\n",
		    name, file));
}

static void test_host_keys(void **state)
{
	struct kab_err ours, theirs;
	char *print kab_autofree =
		rig_sh(&rig, NULL, "ssh-keygen -lf $D/plain/host_ed25519.pub | cut -d' ' -f2");

	(void)state;
	free(rig_sh(&rig, NULL,
		    "cd $D; ssh-keygen -q -t ed25519 -N '' -f other; p=$(sed -n 's/^Port //p' "
		    "plain/sshd_config); e=$(cut -d' ' -f1,2 plain/host_ed25519.pub); : >kh_empty; "
		    "echo \"[127.0.0.1]:$p $(cut -d' ' -f1,2 other.pub)\" >kh_changed; "
		    "printf \"@revoked * $e\\n[127.0.0.1]:$p $e\\n\" >kh_revoked; "
		    "echo \"@cert-authority * $(cut -d' ' -f1,2 other.pub)\" >kh_ca"));
	add_with_known("kh_empty", "kh_empty");
	add_with_known("kh_changed", "kh_changed");
	add_with_known("kh_revoked", "kh_revoked");
	add_with_known("kh_ca", "kh_ca");
	ours = open_fails("kh_empty", "openssh");
	has(&ours, KAB_ERR_AUTH, "is not known");
	has(&ours, KAB_ERR_AUTH, "ssh-keyscan -t ed25519 -p");
	has(&ours, KAB_ERR_AUTH, print);
	theirs = open_fails("kh_empty", "ssh");
	assert_string_equal(ours.text, theirs.text);
	ours = open_fails("kh_changed", "openssh");
	has(&ours, KAB_ERR_AUTH, "has changed");
	has(&ours, KAB_ERR_AUTH, "ssh-keygen -R");
	theirs = open_fails("kh_changed", "ssh");
	assert_string_equal(ours.text, theirs.text);
	ours = open_fails("kh_revoked", "openssh");
	has(&ours, KAB_ERR_AUTH, "revoked");
	ours = open_fails("kh_ca", "openssh");
	has(&ours, KAB_ERR_AUTH, "has no certificate of it");
	theirs = open_fails("kh_ca", "ssh");
	has(&theirs, KAB_ERR_AUTH, "set \"transport\": \"openssh\"");
	/* Only the lab file's word counts, and not even that for a revoked one. */
	static const char *const taken[] = { "kh_changed", "kh_empty" };
	for (size_t i = 0; i < KAB_ARRAY_SIZE(taken); i++) {
		struct kab_endpoint ep = endpoint(taken[i]);

		ep.host_key_check = i ? KAB_HOST_KEY_ACCEPT_NEW : KAB_HOST_KEY_ANY;
		struct kab_session *s = open_ok(&ep);
		s->ops->close(s);
	}
	struct kab_endpoint ep = endpoint("kh_empty"); /* on record now */
	struct kab_session *s = open_ok(&ep);
	s->ops->close(s);
	struct kab_wait w = in_s(30);
	ep = endpoint("kh_revoked");
	ep.host_key_check = KAB_HOST_KEY_ANY;
	assert_int_equal(kab_transport_openssh.open(&ep, &w, &s, &ours), -1);
	has(&ours, KAB_ERR_AUTH, "revoked");
}

static void test_refusals(void **state)
{
	char *config kab_autofree = kab_xasprintf("%s/no/such/file", rig.dir);
	struct kab_endpoint ep = endpoint("plain");
	struct kab_session *s = NULL;
	struct kab_wait w = in_s(10);
	struct kab_err err;
	int64_t t0;
	pid_t pid;

	(void)state;
	free(rig_sh(&rig, NULL,
		    "cd $D; ssh-keygen -q -t ed25519 -N '' -f stranger; cat >>ssh_config <<END\n"
		    "Host stranger\n  HostName 127.0.0.1\n  Port $(sed -n 's/^Port //p' "
		    "plain/sshd_config)\n  IdentityFile $D/stranger\n  IdentitiesOnly yes\n"
		    "  IdentityAgent none\n  UserKnownHostsFile $D/known_hosts\n"
		    "Host nowhere\n  HostName no-such-host.invalid\nHost closed\n  HostName "
		    "127.0.0.1\n  Port 1\nHost silent\n  HostName 127.0.0.1\n  Port %d\nEND\n",
		    tcp_start(true, &pid)));
	err = open_fails("stranger", "openssh");
	has(&err, KAB_ERR_AUTH, "authorized_keys");
	err = open_fails("nowhere", "openssh");
	has(&err, KAB_ERR_CONNECT, "no address");
	err = open_fails("closed", "openssh");
	has(&err, KAB_ERR_CONNECT, "refused");
	err = open_fails("-oProxyCommand=touch /tmp/kab-pwned", "openssh");
	has(&err, KAB_ERR_CONFIG, "");
	assert_int_equal(access("/tmp/kab-pwned", F_OK), -1);
	ep.ssh_config = config;
	assert_int_equal(kab_transport_openssh.open(&ep, &w, &s, &err), -1);
	has(&err, KAB_ERR_CONFIG, "no/such/file");
	/* Takes the connection and never says a word. */
	ep = endpoint("silent");
	w = in_s(2);
	t0 = kab_now_mono_ns();
	assert_int_equal(kab_transport_openssh.open(&ep, &w, &s, &err), -1);
	has(&err, KAB_ERR_TIMEOUT, "no answer in time");
	assert_true(kab_now_mono_ns() - t0 < 4 * KAB_NS_PER_S);
	tcp_stop(pid);
}

static void test_jump(void **state)
{
	static const char *const good[] = { "o_far1", "o_far2" };
	struct kab_err err;

	(void)state;
	sshd_start(&rig, "o_jump", "");
	sshd_start(&rig, "o_jump2", "");
	free(rig_sh(&rig, NULL,
		    "p=$(sed -n 's/^Port //p' $D/plain/sshd_config); cat >>$D/ssh_config <<END\n"
		    "Host o_far1\n  ProxyJump o_jump\nHost o_far2\n  ProxyJump o_jump,o_jump2\n"
		    "Host o_far3\n  ProxyJump o_unknown\nHost o_far*\n  HostName 127.0.0.1\n  Port "
		    "$p\n  IdentityFile $D/id\n  IdentitiesOnly yes\n  IdentityAgent none\n"
		    "  UserKnownHostsFile $D/known_hosts\nHost o_unknown\n  HostName 127.0.0.1\n"
		    "  Port $(sed -n 's/^Port //p' $D/o_jump/sshd_config)\n  IdentityFile $D/id\n"
		    "  UserKnownHostsFile $D/kh_none\n  StrictHostKeyChecking no\nEND\n"));
	char *want kab_autofree =
		rig_sh(&rig, NULL, "sed -n 's/^Port //p' $D/plain/sshd_config; echo");
	for (size_t i = 0; i < KAB_ARRAY_SIZE(good); i++) {
		struct kab_endpoint ep = endpoint(good[i]);
		struct kab_session *s = open_ok(&ep);
		char *line kab_autofree = kab_xasprintf("%s\n", want);

		runs_ok(s, "set -- $SSH_CONNECTION; echo $4", NULL, line, 0);
		s->ops->close(s);
	}
	/* The hop is checked although its own settings say not to. */
	err = open_fails("o_far3", "openssh");
	has(&err, KAB_ERR_AUTH, "jump host");
}

static void kill_sessions(const char *signal, const char *then)
{
	free(rig_sh(
		&rig, NULL,
		"s=$(%s/tests/integration/sshd.sh sessions $D plain); (sleep 0.5; kill -%s $s; %s)"
		" >/dev/null 2>&1 &",
		KAB_SOURCE_DIR, signal, then));
}

static void test_link_lost(void **state)
{
	struct kab_endpoint ep = endpoint("plain");
	struct kab_session *s = open_ok(&ep);
	struct kab_exec_result res;
	struct kab_err err = KAB_ERR_INIT;
	int64_t t0 = kab_now_mono_ns();

	(void)state;
	kill_sessions("KILL", ":");
	assert_int_equal(run(s, "sleep 200", NULL, 150, &res, &err), -1);
	assert_int_equal(err.code, KAB_ERR_CONNECT);
	assert_true(kab_now_mono_ns() - t0 < 30 * KAB_NS_PER_S);
	assert_int_equal(run(s, "true", NULL, 30, &res, &err), -1);
	has(&err, KAB_ERR_CONNECT, "gone");
	s->ops->close(s);
	/* Stopped: silent, but not closed. */
	ep.keepalive_s = 1;
	s = open_ok(&ep);
	runs_ok(s, "sleep 5; echo awake", NULL, "awake\n", 0);
	t0 = kab_now_mono_ns();
	kill_sessions("STOP", "sleep 6; kill -CONT $s");
	assert_int_equal(run(s, "sleep 200", NULL, 150, &res, &err), -1);
	has(&err, KAB_ERR_CONNECT, "nothing heard for 3 s");
	assert_true(kab_now_mono_ns() - t0 > 2 * KAB_NS_PER_S);
	assert_true(kab_now_mono_ns() - t0 < 6 * KAB_NS_PER_S);
	t0 = kab_now_mono_ns();
	s->ops->close(s);
	assert_true(kab_now_mono_ns() - t0 < KAB_NS_PER_S);
	sleep(5);
}

/* `ssh` processes of this test whose command line has the text; how many. */
static int count_clients(const char *text)
{
	char *out kab_autofree =
		rig_sh(&rig, NULL,
		       "n=0; for p in /proc/[0-9]*; do [ \"$(cat $p/comm "
		       "2>/dev/null)\" = ssh ] && tr '\\0' ' ' <$p/cmdline "
		       "2>/dev/null | grep -q -- '%s' && n=$((n + 1)); done; echo $n",
		       text);

	return (int)strtol(out, NULL, 10);
}

static void test_master_killed(void **state)
{
	struct kab_endpoint ep = endpoint("plain");
	struct kab_session *s = open_ok(&ep);
	char *folder kab_autofree = kab_xstrdup(((struct kab_openssh *)s)->folder);
	struct kab_exec_result res;
	struct kab_err err = KAB_ERR_INIT;
	struct stat st;

	(void)state;
	assert_int_equal(stat(folder, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(count_clients(folder), 1);
	free(rig_sh(&rig, NULL,
		    "(sleep 0.5; for p in /proc/[0-9]*; do [ \"$(cat $p/comm)\" = ssh ] && tr "
		    "'\\0' ' ' <$p/cmdline | grep -q -- '-MNT.*%s' && kill -9 ${p#/proc/}; done) "
		    ">/dev/null 2>&1 &",
		    folder));
	assert_int_equal(run(s, "sleep 200", NULL, 150, &res, &err), -1);
	has(&err, KAB_ERR_CONNECT, "the control connection of ssh ended");
	/* Never around it by a connection of its own. */
	assert_int_equal(run(s, "true", NULL, 30, &res, &err), -1);
	assert_int_equal(err.code, KAB_ERR_CONNECT);
	s->ops->close(s);
	assert_int_equal(access(folder, F_OK), -1);
}

static void test_nothing_outlives_us(void **state)
{
	struct kab_endpoint ep = endpoint("plain");
	char folder[64];
	int fds[2], left = 1;
	ssize_t n;
	pid_t child;

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	child = fork();
	if (child == 0) {
		struct kab_wait w = in_s(30);
		struct kab_session *s = NULL;
		struct kab_exec_result res;
		struct kab_err err = KAB_ERR_INIT;

		if (kab_transport_openssh.open(&ep, &w, &s, &err) == 0) {
			const char *f = ((struct kab_openssh *)s)->folder;

			if (write(fds[1], f, strlen(f)) > 0)
				run(s, "sleep 60", NULL, 60, &res, &err);
		}
		_exit(1);
	}
	n = read(fds[0], folder, sizeof(folder) - 1);
	assert_true(n > 0);
	folder[n] = '\0';
	sleep(1);
	assert_int_equal(count_clients(folder), 2);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	for (int i = 0; i < 50 && (left = count_clients(folder)); i++)
		usleep(100000);
	assert_int_equal(left, 0);
	assert_int_equal(access(folder, F_OK), -1);
	close(fds[0]);
	close(fds[1]);
}

static void test_deadline_and_cancel(void **state)
{
	struct kab_endpoint ep = endpoint("plain");
	struct kab_session *s = open_ok(&ep);
	const char *argv[] = { "sleep", "200", NULL };
	struct kab_exec req = { .argv = argv };
	struct kab_exec_result res;
	struct kab_err err = KAB_ERR_INIT;
	struct kab_wait w = in_s(100);
	int64_t t0 = kab_now_mono_ns();
	int fds[2];

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	w.cancel_fd = fds[0];
	pid_t child = fork();
	if (child == 0) {
		sleep(1);
		_exit(write(fds[1], "x", 1) != 1);
	}
	assert_int_equal(s->ops->exec(s, &req, &w, &res, &err), -1);
	assert_int_equal(err.code, KAB_ERR_CANCELLED);
	waitpid(child, NULL, 0);
	runs_ok(s, "echo usable", NULL, "usable\n", 0);
	assert_int_equal(run(s, "sleep 200", NULL, 0.5, &res, &err), -1);
	assert_int_equal(err.code, KAB_ERR_TIMEOUT);
	assert_true(kab_now_mono_ns() - t0 < 60 * KAB_NS_PER_S);
	s->ops->close(s);
	close(fds[0]);
	close(fds[1]);
}

static void test_strange_servers(void **state)
{
	struct kab_endpoint ep = endpoint("o_chatty");
	struct kab_session *s;
	struct kab_exec_result res;
	struct kab_err err = KAB_ERR_INIT;
	int port;

	(void)state;
	sshd_start(&rig, "o_chatty",
		   "ForceCommand 'echo welcome; echo warn >&2; sh -c \"$SSH_ORIGINAL_COMMAND\"'");
	s = open_ok(&ep);
	runs_ok(s, "echo clean", NULL, "clean\n", 0);
	s->ops->close(s);
	sshd_start(&rig, "o_none", "MaxSessions 0");
	ep = endpoint("o_none");
	s = open_ok(&ep);
	assert_int_equal(run(s, "true", NULL, 10, &res, &err), -1);
	has(&err, KAB_ERR_CONNECT, "MaxSessions");
	s->ops->close(s);
	sshd_start(&rig, "o_nologin", "ForceCommand 'echo this account is not available; exit 1'");
	ep = endpoint("o_nologin");
	s = open_ok(&ep);
	assert_int_equal(run(s, "true", NULL, 10, &res, &err), -1);
	has(&err, KAB_ERR_CONNECT, "this account is not available");
	s->ops->close(s);
	if (sshd_start_or_skip(&rig, "o_drop", "-s dropbear", &port))
		session_basics("o_drop");
}

static void test_crowded_server(void **state)
{
	struct kab_endpoint ep = endpoint("crowd");
	struct kab_session *s[6];

	(void)state;
	tcp_hold(sshd_start(&rig, "crowd", "MaxStartups 2:60:10"), 3, 4);
	for (size_t i = 0; i < KAB_ARRAY_SIZE(s); i++)
		s[i] = open_ok(&ep);
	for (size_t i = 0; i < KAB_ARRAY_SIZE(s); i++)
		s[i]->ops->close(s[i]);
}

static int group_setup(void **state)
{
	(void)state;
	sshd_rig_up(&rig);
	/* as people's files are: only the ed25519 key is known, though the server has ecdsa too */
	free(rig_sh(&rig, NULL, "sed -i '/ecdsa/d' $D/known_hosts"));
	return 0;
}

static int group_teardown(void **state)
{
	(void)state;
	sshd_rig_down(&rig);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_basics),
		cmocka_unit_test(test_hardened),
		cmocka_unit_test(test_user_certificate),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_host_keys),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_jump),
		cmocka_unit_test(test_link_lost),
		cmocka_unit_test(test_master_killed),
		cmocka_unit_test(test_nothing_outlives_us),
		cmocka_unit_test(test_deadline_and_cancel),
		cmocka_unit_test(test_strange_servers),
		cmocka_unit_test(test_crowded_server),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
