/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ssh transport against real servers on 127.0.0.1. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "lib_sshd.h"
#include "transport/ssh_shared.h"

static struct sshd_rig rig;

static struct kab_endpoint endpoint(const char *name)
{
	return (struct kab_endpoint){
		.name = name, .transport = "ssh", .ssh = name, .ssh_config = rig.config
	};
}

static struct kab_wait in_s(double s)
{
	return (struct kab_wait){ kab_deadline_s(s), -1 };
}

/* Add a Host block to the ssh_config of the rig. */
static void add_host(const char *text)
{
	FILE *f = fopen(rig.config, "ae");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* Host NAME like plain, with more lines before it (the first value wins in ssh_config). */
static void add_like_plain(const char *name, const char *lines)
{
	char *port kab_autofree = rig_sh(&rig, NULL,
					 "awk '/^Host plain/{f=1} f&&/Port/{print $2;"
					 " exit}' $D/ssh_config");
	char *text kab_autofree = kab_xasprintf(
		"Host %s\n%s\n  HostName 127.0.0.1\n  Port %s\n  IdentityFile %s/id\n"
		"  IdentitiesOnly yes\n  IdentityAgent none\n  UserKnownHostsFile %s/known_hosts\n"
		"  GlobalKnownHostsFile none\n",
		name, lines, port, rig.dir, rig.dir);

	add_host(text);
}

static struct kab_session *open_ok(const struct kab_endpoint *ep)
{
	struct kab_wait w = in_s(100);
	struct kab_err err = KAB_ERR_INIT;
	struct kab_session *s = NULL;

	if (kab_transport_ssh.open(ep, &w, &s, &err) < 0)
		fail_msg("%s", err.text);
	return s;
}

/* Opening must fail; the error. */
static struct kab_err open_fails(const char *name)
{
	struct kab_endpoint ep = endpoint(name);
	struct kab_wait w = in_s(100);
	struct kab_err err = KAB_ERR_INIT;
	struct kab_session *s = NULL;

	assert_int_equal(kab_transport_ssh.open(&ep, &w, &s, &err), -1);
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
			       "-n",	 "",	 "two  blanks", "a\nb", NULL };
	struct kab_exec req = { .argv = argv };
	struct kab_exec_result res;
	struct kab_wait w = in_s(100);

	runs_ok(s, "cat; exit 7", "hello", "hello", 7);
	assert_int_equal(s->ops->exec(s, &req, &w, &res, NULL), 0);
	assert_string_equal(kab_buf_str(&res.out),
			    "[a,b][it's][$HOME][back\\slash][-n][][two  blanks][a\nb]");
	kab_exec_result_release(&res);
	/* a signal is neither 0 nor -1, and the next command works */
	runs_ok(s, "kill -9 $$", NULL, "", 137);
	runs_ok(s, "kill -11 $$", NULL, "", 139);
	runs_ok(s, "kill -15 $$", NULL, "", 143);
	runs_ok(s, "echo still", NULL, "still\n", 0);
	/* much on stderr, nobody asked for it */
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

static void test_dropbear(void **state)
{
	int port;

	(void)state;
	if (!sshd_start_or_skip(&rig, "drop", "-s dropbear", &port))
		skip();
	session_basics("drop");
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
	/* 20 MB in and out at once through cat */
	const char *argv[] = { "cat", NULL };
	struct kab_exec req = { .argv = argv, .in = data, .in_len = len, .out_max = len };
	struct kab_exec_result res;
	if (s->ops->exec(s, &req, &w, &res, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(res.out.len, len);
	assert_memory_equal(res.out.data, data, len);
	kab_exec_result_release(&res);
	s->ops->close(s);
}

static void test_host_keys(void **state)
{
	char *ed kab_autofree = rig_sh(&rig, NULL, "cut -d' ' -f1,2 $D/plain/host_ed25519.pub");
	char *print kab_autofree =
		rig_sh(&rig, NULL, "ssh-keygen -lf $D/plain/host_ed25519.pub | cut -d' ' -f2");
	char *port kab_autofree = rig_sh(&rig, NULL, "sed -n 's/^Port //p' $D/plain/sshd_config");
	struct kab_err err;

	(void)state;
	free(rig_sh(
		&rig, NULL,
		"cd $D; ssh-keygen -q -t ed25519 -N '' -f other; ssh-keygen -q -t ed25519 -N '' "
		"-f third; o=$(cut -d' ' -f1,2 other.pub); t=$(cut -d' ' -f1,2 third.pub); "
		": >kh_empty; echo \"[127.0.0.1]:%s $o\" >kh_changed; "
		"echo \"127.0.0.1 %s\" >kh_port22; echo \"127.0.0.1 $o\" >kh_other22; "
		"echo \"[127.0.0.1]:%s $t\" >kh_hashed; ssh-keygen -q -H -f kh_hashed 2>/dev/null; "
		"printf '@revoked * %s\\n[127.0.0.1]:%s %s\\n' >kh_revoked; "
		"printf 'garbage\\n[127.0.0.*]:%s %s\\n' >kh_wild; "
		"printf '![127.0.0.1]:*,[127.0.0.*]:* %s\\n' >kh_not; "
		"printf '![127.0.0.1]:*,* %s\\n' >kh_not22; "
		"printf '[127.0.0.1]:%s %s\\r\\n' >kh_crlf; "
		"printf '@cert-authority [127.0.0.1]:%s %s\\n' >kh_ca; "
		"echo \"alias %s\" >kh_alias; "
		"echo \"[127.0.0.1]:%s $(cut -d' ' -f1,2 plain/host_ecdsa.pub)\" >kh_ecdsa",
		port, ed, port, ed, port, ed, port, ed, ed, ed, port, ed, port, ed, ed, port));
	static const char *const files[] = { "empty",  "changed", "port22", "other22",
					     "hashed", "revoked", "wild",   "not",
					     "not22",  "crlf",	  "ca",	    "ecdsa" };
	for (size_t i = 0; i < KAB_ARRAY_SIZE(files); i++) {
		char *name kab_autofree = kab_xasprintf("kh_%s", files[i]);
		/* "no" must not be honoured */
		char *lines kab_autofree =
			kab_xasprintf("  UserKnownHostsFile %s/kh_%s\n  StrictHostKeyChecking no",
				      rig.dir, files[i]);
		add_like_plain(name, lines);
	}
	char *lines kab_autofree =
		kab_xasprintf("  UserKnownHostsFile %s/kh_alias\n  HostKeyAlias alias", rig.dir);
	add_like_plain("kh_alias", lines);

	err = open_fails("kh_empty");
	has(&err, KAB_ERR_AUTH, "is not known");
	has(&err, KAB_ERR_AUTH, print);
	has(&err, KAB_ERR_AUTH, "ssh-keyscan -t ed25519 -p");
	/* Another key for port 22 says nothing of this one; nor does a line that excludes the host. */
	err = open_fails("kh_other22");
	has(&err, KAB_ERR_AUTH, "is not known");
	err = open_fails("kh_not");
	has(&err, KAB_ERR_AUTH, "is not known");
	err = open_fails("kh_changed");
	has(&err, KAB_ERR_AUTH, "has changed");
	has(&err, KAB_ERR_AUTH, print);
	char *recorded kab_autofree =
		rig_sh(&rig, NULL, "ssh-keygen -lf $D/other.pub | cut -d' ' -f2");
	has(&err, KAB_ERR_AUTH, recorded);
	has(&err, KAB_ERR_AUTH, "ssh-keygen -R");
	err = open_fails("kh_hashed");
	has(&err, KAB_ERR_AUTH, "has changed");
	err = open_fails("kh_revoked");
	has(&err, KAB_ERR_AUTH, "revoked");
	err = open_fails("kh_ca");
	has(&err, KAB_ERR_AUTH, "certificate authority");
	has(&err, KAB_ERR_AUTH, "\"transport\": \"openssh\"");
	static const char *const good[] = { "kh_wild", "kh_crlf", "kh_alias", "kh_ecdsa",
					    "kh_port22" };
	for (size_t i = 0; i < KAB_ARRAY_SIZE(good); i++) {
		struct kab_endpoint ep = endpoint(good[i]);
		struct kab_session *s = open_ok(&ep);

		s->ops->close(s);
	}
	/* OpenSSH judges the same of each. */
	for (size_t i = 0; i < KAB_ARRAY_SIZE(files); i++) {
		char *name kab_autofree = kab_xasprintf("kh_%s", files[i]);
		struct kab_endpoint ep = endpoint(name);
		struct kab_session *s = NULL;
		struct kab_wait w = in_s(30);
		bool ours = kab_transport_ssh.open(&ep, &w, &s, &err) == 0;
		int theirs;

		free(rig_sh(&rig, &theirs,
			    "ssh -F $D/ssh_config -oBatchMode=yes -oStrictHostKeyChecking=yes %s "
			    "true",
			    name));
		if (ours != (theirs == 0))
			fail_msg("%s: we say %s, ssh says %d", name, ours ? "yes" : err.text,
				 theirs);
		kab_transport_ssh.close(s);
	}
	/* The printed command, carried out, makes the host known. */
	err = open_fails("kh_empty");
	char *command kab_autofree = kab_xstrdup(strstr(err.text, "ssh-keyscan"));
	free(rig_sh(&rig, NULL, "{ %s\n} 2>/dev/null", command));
	struct kab_endpoint ep = endpoint("kh_empty");
	struct kab_session *s = open_ok(&ep);
	s->ops->close(s);
}

static void take_line(void *ctx, enum kab_log_level level, const char *line)
{
	if (level <= KAB_LOG_WARN)
		kab_buf_addf(ctx, "%s\n", line);
}

/* What OpenSSH skips in silence is named: one of these lines may have been meant for the host. */
static void test_known_hosts_warnings(void **state)
{
	struct kab_buf said kab_autobuf = KAB_BUF_INIT;
	struct kab_log log = { KAB_LOG_WARN, take_line, &said };
	struct kab_ssh_shared *shared = kab_ssh_shared_new();
	struct kab_endpoint ep = endpoint("kh_bad");

	(void)state;
	free(rig_sh(&rig, NULL,
		    "cd $D; e=$(cut -d' ' -f1,2 plain/host_ed25519.pub); k=${e#* }; "
		    "p=$(sed -n 's/^Port //p' plain/sshd_config); printf '%%s\\n' '# a note' '' "
		    "garbage \"h ssh-rsa $k\" 'h ssh-ed25519 AAAA%%%%' \"@nonsense h $e\" "
		    "'h 1024 35 1234567890' \"[127.0.0.1]:$p $e a comment\" >kh_bad; "
		    "yes | head -n 99999 >kh_no; mkfifo kh_pipe"));
	char *lines kab_autofree = kab_xasprintf(
		"  UserKnownHostsFile %s/kh_bad %s/kh_no %s/kh_pipe", rig.dir, rig.dir, rig.dir);
	add_like_plain("kh_bad", lines);
	ep.log = &log;
	ep.shared = shared;
	/* twice, and said once */
	for (int i = 0; i < 2; i++) {
		struct kab_session *s = open_ok(&ep);

		s->ops->close(s);
	}
	struct kab_buf want kab_autobuf = KAB_BUF_INIT;
	kab_buf_addf(
		&want,
		"%s/kh_bad:3: this line is skipped: it ends before the key\n"
		"%s/kh_bad:4: this line is skipped: the key is not of the type that stands before "
		"it\n%s/kh_bad:5: this line is skipped: the key is not base64\n"
		"%s/kh_bad:6: this line is skipped: its marker is not known\n"
		"%s/kh_bad:7: this line is skipped: the key is not base64\n",
		rig.dir, rig.dir, rig.dir, rig.dir, rig.dir);
	for (int i = 1; i <= 10; i++)
		kab_buf_addf(&want, "%s/kh_no:%d: this line is skipped: it ends before the key\n",
			     rig.dir, i);
	kab_buf_addf(&want, "%s/kh_no:11: and so on; is this a known_hosts file?\n", rig.dir);
	assert_string_equal(kab_buf_str(&said), kab_buf_str(&want));
	kab_ssh_shared_free(shared);
}

/* Only the lab file can have a key taken that is not on record. The names are those of test_host_keys. */
static void test_host_key_check(void **state)
{
	struct kab_buf said kab_autobuf = KAB_BUF_INIT;
	struct kab_log log = { KAB_LOG_WARN, take_line, &said };
	struct kab_wait w = in_s(30);
	struct kab_err err = KAB_ERR_INIT;
	struct kab_session *s;
	struct kab_endpoint ep = endpoint("kh_new");
	char *lines kab_autofree = kab_xasprintf(
		"  UserKnownHostsFile %s/kh_fresh\n  StrictHostKeyChecking no", rig.dir);

	(void)state;
	add_like_plain("kh_new", lines);
	err = open_fails("kh_new");
	has(&err, KAB_ERR_AUTH, "is not known");
	ep.log = &log;
	ep.host_key_check = KAB_HOST_KEY_ACCEPT_NEW;
	s = open_ok(&ep);
	s->ops->close(s);
	assert_non_null(strstr(kab_buf_str(&said), "took and put on record"));
	char *mode kab_autofree = rig_sh(&rig, NULL, "stat -c %%a $D/kh_fresh; wc -l <$D/kh_fresh");
	assert_string_equal(mode, "600\n1");
	/* now it is known, also to OpenSSH */
	ep.host_key_check = KAB_HOST_KEY_STRICT;
	s = open_ok(&ep);
	s->ops->close(s);
	free(rig_sh(&rig, NULL,
		    "ssh -F $D/ssh_config -oBatchMode=yes "
		    "-oStrictHostKeyChecking=yes kh_new true"));
	/* a changed one is another matter */
	ep = endpoint("kh_changed");
	ep.log = &log;
	ep.host_key_check = KAB_HOST_KEY_ACCEPT_NEW;
	assert_int_equal(kab_transport_ssh.open(&ep, &w, &s, &err), -1);
	has(&err, KAB_ERR_AUTH, "has changed");
	ep.host_key_check = KAB_HOST_KEY_ANY;
	s = open_ok(&ep);
	s->ops->close(s);
	ep.ssh = "kh_revoked";
	assert_int_equal(kab_transport_ssh.open(&ep, &w, &s, &err), -1);
	has(&err, KAB_ERR_AUTH, "revoked");
}

static void test_user_keys(void **state)
{
	struct kab_err err;

	(void)state;
	free(rig_sh(&rig, NULL,
		    "cd $D; ssh-keygen -q -t ecdsa -N '' -f k_ecdsa; "
		    "ssh-keygen -q -t rsa -b 2048 -N '' -f k_rsa; "
		    "ssh-keygen -q -t rsa -b 2048 -m PEM -N '' -f k_rsapem; "
		    "ssh-keygen -q -t ecdsa -m PEM -N '' -f k_ecpem; "
		    "ssh-keygen -q -t ed25519 -N secret -f k_locked; "
		    "ssh-keygen -q -t ed25519 -N '' -f k_wrong; "
		    "cat k_ecdsa.pub k_rsa.pub k_rsapem.pub k_ecpem.pub k_locked.pub "
		    ">>plain/authorized_keys; rm k_*.pub"));
	static const char *const good[] = { "ecdsa", "rsa", "rsapem", "ecpem" };
	for (size_t i = 0; i < KAB_ARRAY_SIZE(good); i++) {
		char *text kab_autofree = kab_xasprintf(
			"Match originalhost k_%s\n  IdentityFile %s/k_%s\nHost k_%s\n  HostName "
			"127.0.0.1\n  Port %s\n  IdentitiesOnly yes\n  IdentityAgent none\n"
			"  UserKnownHostsFile %s/known_hosts\n",
			good[i], rig.dir, good[i], good[i], "PORT", rig.dir);
		char *port kab_autofree =
			rig_sh(&rig, NULL, "sed -n 's/^Port //p' $D/plain/sshd_config");
		char *at = strstr(text, "PORT");
		char *done kab_autofree =
			kab_xasprintf("%.*s%s%s", (int)(at - text), text, port, at + 4);
		char *name kab_autofree = kab_xasprintf("k_%s", good[i]);
		struct kab_endpoint ep = endpoint(name);
		struct kab_session *s;

		add_host(done);
		s = open_ok(&ep);
		runs_ok(s, "echo in", NULL, "in\n", 0);
		s->ops->close(s);
	}
	char *port kab_autofree = rig_sh(&rig, NULL, "sed -n 's/^Port //p' $D/plain/sshd_config");
	static const char *const bad[] = { "locked", "wrong" };
	for (size_t i = 0; i < KAB_ARRAY_SIZE(bad); i++) {
		char *text kab_autofree = kab_xasprintf(
			"Host k_%s\n  HostName 127.0.0.1\n  Port %s\n  IdentityFile %s/k_%s\n"
			"  IdentitiesOnly yes\n  IdentityAgent none\n  UserKnownHostsFile "
			"%s/known_hosts\n",
			bad[i], port, rig.dir, bad[i], rig.dir);
		add_host(text);
	}
	err = open_fails("k_locked");
	has(&err, KAB_ERR_AUTH, "ssh-add");
	err = open_fails("k_wrong");
	has(&err, KAB_ERR_AUTH, "none of 1 keys");
	has(&err, KAB_ERR_AUTH, "authorized_keys");
}

/* Eight keys in the agent before the right one. */
static void test_agent(void **state)
{
	char *port kab_autofree = rig_sh(&rig, NULL, "sed -n 's/^Port //p' $D/plain/sshd_config");
	char *pid kab_autofree = NULL;
	struct kab_err err;
	char *text kab_autofree = kab_xasprintf(
		"Host ag_file\n  IdentityFile %s/id\n"
		"Host ag_only\n  IdentityFile %s/id\n  IdentitiesOnly yes\n"
		"Host ag_pub\n  IdentityFile %s/a_right\n  IdentitiesOnly yes\n"
		"Host ag_rsa\n  IdentityFile %s/a_rsa\n  IdentitiesOnly yes\n"
		"Host ag_locked\n  IdentityFile %s/a_locked\n  IdentitiesOnly yes\n"
		"Host ag_none\n  IdentityFile %s/nothing\n"
		"Host ag_*\n  HostName 127.0.0.1\n  Port %s\n  IdentityAgent %s/agent\n"
		"  UserKnownHostsFile %s/known_hosts\n",
		rig.dir, rig.dir, rig.dir, rig.dir, rig.dir, rig.dir, port, rig.dir, rig.dir);

	(void)state;
	add_host(text);
	pid = rig_sh(
		&rig, NULL,
		"cd $D; eval $(ssh-agent -a $D/agent) >/dev/null; "
		"for i in 1 2 3 4 5 6 7 8; do ssh-keygen -q -t ed25519 -N '' -f a_$i; "
		"ssh-add -q a_$i; done; ssh-keygen -q -t ed25519 -N '' -f a_right; "
		"ssh-keygen -q -t rsa -b 2048 -N '' -f a_rsa; ssh-keygen -q -t ed25519 -N '' -f "
		"a_locked; ssh-add -q a_right a_rsa a_locked; ssh-keygen -q -p -N secret -f "
		"a_locked >/dev/null; cat a_right.pub a_rsa.pub a_locked.pub "
		">>plain/authorized_keys; rm a_right; echo $SSH_AGENT_PID");
	static const char *const good[] = { "ag_file", "ag_only", "ag_pub", "ag_rsa", "ag_locked" };
	for (size_t i = 0; i < KAB_ARRAY_SIZE(good); i++) {
		struct kab_endpoint ep = endpoint(good[i]);
		struct kab_session *s = open_ok(&ep);

		s->ops->close(s);
	}
	err = open_fails("ag_none");
	has(&err, KAB_ERR_AUTH, "none of 5 keys");
	has(&err, KAB_ERR_AUTH, "IdentitiesOnly");
	/* A strict server hangs up earlier. */
	int strict = sshd_start(&rig, "strict", "MaxAuthTries 2");
	char *more kab_autofree =
		kab_xasprintf("Host st\n  HostName 127.0.0.1\n  Port %d\n"
			      "  IdentityFile %s/nothing\n  IdentityAgent %s/agent\n"
			      "  UserKnownHostsFile %s/known_hosts\n",
			      strict, rig.dir, rig.dir, rig.dir);
	add_host(more);
	err = open_fails("st");
	has(&err, KAB_ERR_AUTH, "hung up after");
	free(rig_sh(&rig, NULL, "kill %s || :", pid));
}

static void test_jump(void **state)
{
	struct kab_err err;
	char *port kab_autofree = rig_sh(&rig, NULL, "sed -n 's/^Port //p' $D/plain/sshd_config");

	(void)state;
	free(rig_sh(&rig, NULL, "cd $D; ssh-keygen -q -t ed25519 -N '' -f jumpkey"));
	sshd_start(&rig, "jump1", "");
	int p2 = sshd_start(&rig, "jump2", "");
	/* The second jump takes only its own key, known_hosts and port, all by its alias. */
	free(rig_sh(&rig, NULL, "cd $D; cp jumpkey.pub jump2/authorized_keys"));
	char *text kab_autofree = kab_xasprintf(
		"Host second\n  HostName 127.0.0.1\n  Port %d\n  IdentityFile %s/jumpkey\n"
		"  IdentitiesOnly yes\n  IdentityAgent none\n  ProxyJump jump1\n"
		"  UserKnownHostsFile %s/known_hosts\n"
		"Host unknownjump\n  HostName 127.0.0.1\n  Port %d\n  UserKnownHostsFile "
		"%s/kh_none\n"
		"  StrictHostKeyChecking no\n  IdentityFile %s/jumpkey\n"
		"Host c1\n  ProxyJump c2\nHost c2\n  ProxyJump c3\nHost c3\n  ProxyJump c1\n",
		p2, rig.dir, rig.dir, p2, rig.dir, rig.dir);
	add_host(text);
	add_like_plain("far1", "  ProxyJump jump1");
	add_like_plain("far2", "  ProxyJump second");
	add_like_plain("far3", "  ProxyJump jump1,second");
	char *pc kab_autofree =
		kab_xasprintf("  ProxyCommand ssh -F %s -W %%h:%%p jump1", rig.config);
	add_like_plain("far4", pc);
	add_like_plain("far5", "  ProxyJump unknownjump");
	sshd_start(&rig, "jump3", "");
	add_like_plain("far6", "  ProxyJump jump1,second,jump3");
	static const char *const good[] = { "far1", "far2", "far3", "far4", "far6" };
	for (size_t i = 0; i < KAB_ARRAY_SIZE(good); i++) {
		struct kab_endpoint ep = endpoint(good[i]);
		struct kab_session *s = open_ok(&ep);
		char *want kab_autofree = kab_xasprintf("%s\n", port);

		runs_ok(s, "set -- $SSH_CONNECTION; echo $4", NULL, want, 0);
		s->ops->close(s);
	}
	err = open_fails("c1");
	has(&err, KAB_ERR_CONFIG, "circle");
	err = open_fails("far5");
	has(&err, KAB_ERR_CONNECT, "Host key verification failed");
}

static void test_config_words(void **state)
{
	struct kab_err err = open_fails("-oProxyCommand=touch /tmp/kab-pwned");

	(void)state;
	has(&err, KAB_ERR_CONFIG, "");
	assert_int_equal(access("/tmp/kab-pwned", F_OK), -1);
	add_host("Host nowhere\n  HostName no-such-host.invalid\nHost closed\n  HostName "
		 "127.0.0.1\n  Port 1\n");
	err = open_fails("nowhere");
	has(&err, KAB_ERR_CONNECT, "no address");
	err = open_fails("closed");
	has(&err, KAB_ERR_CONNECT, "refused");
}

/* libssh2 says the same of each; here it is said which list it was. */
static void test_no_algorithm(void **state)
{
	static const struct {
		const char *name, *args, *text;
	} servers[] = {
		{ "rsaonly", "-k rsa",
		  "host keys (HostKeyAlgorithms): the server has only an RSA host key, "
		  "rsa-sha2-512" },
		{ "etm", "MACs hmac-sha2-256-etm@openssh.com",
		  "MACs (MACs): the server has only hmac-sha2-256-etm@openssh.com" },
		{ "aead", "Ciphers chacha20-poly1305@openssh.com",
		  "ciphers (Ciphers): the server has only chacha20-poly1305@openssh.com" },
		{ "kex", "KexAlgorithms sntrup761x25519-sha512@openssh.com",
		  "key exchange (KexAlgorithms): the server has only "
		  "sntrup761x25519-sha512@openssh.com" },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(servers); i++) {
		struct kab_err err;

		sshd_start(&rig, servers[i].name, servers[i].args);
		err = open_fails(servers[i].name);
		has(&err, KAB_ERR_CONNECT, servers[i].text);
		has(&err, KAB_ERR_CONNECT, "\"transport\": \"openssh\"");
	}
}

static void test_not_a_server(void **state)
{
	char *text kab_autofree = NULL;
	struct kab_err err;
	pid_t pid;

	(void)state;
	text = kab_xasprintf("Host mute\n  HostName 127.0.0.1\n  Port %d\n",
			     tcp_start(false, &pid));
	add_host(text);
	err = open_fails("mute");
	has(&err, KAB_ERR_CONNECT, "before it said anything");
	tcp_stop(pid);
	add_host("Host endless\n  ProxyCommand yes\n");
	err = open_fails("endless");
	has(&err, KAB_ERR_CONNECT, "no greeting");
}

/* Of the rig itself: a server that cannot have its port takes another, and listens when we are told. */
static void test_taken_port(void **state)
{
	struct kab_endpoint ep = endpoint("moved");
	char *args kab_autofree = NULL;
	struct kab_session *s;
	pid_t pid;
	int taken;

	(void)state;
	taken = tcp_start(false, &pid);
	args = kab_xasprintf("-p %d", taken);
	assert_int_not_equal(sshd_start(&rig, "moved", args), taken);
	tcp_stop(pid);
	s = open_ok(&ep);
	s->ops->close(s);
}

static void test_chatty_login_shell(void **state)
{
	struct kab_endpoint ep = endpoint("chatty");
	struct kab_session *s;

	(void)state;
	/* ForceCommand plays a login shell that prints before it does what it is told. */
	sshd_start(&rig, "chatty",
		   "ForceCommand 'echo welcome; echo warn >&2; sh -c \"$SSH_ORIGINAL_COMMAND\"'");
	s = open_ok(&ep);
	runs_ok(s, "echo clean", NULL, "clean\n", 0);
	s->ops->close(s);
}

static void test_server_killed(void **state)
{
	struct kab_endpoint ep = endpoint("plain");
	struct kab_session *s = open_ok(&ep);
	struct kab_exec_result res;
	struct kab_err err = KAB_ERR_INIT;
	int64_t t0 = kab_now_mono_ns();

	(void)state;
	free(rig_sh(&rig, NULL,
		    "(sleep 0.5; kill -9 $(%s/tests/integration/sshd.sh sessions $D plain)) "
		    ">/dev/null 2>&1 &",
		    KAB_SOURCE_DIR));
	assert_int_equal(run(s, "sleep 200", NULL, 150, &res, &err), -1);
	assert_int_equal(err.code, KAB_ERR_CONNECT);
	assert_true(kab_now_mono_ns() - t0 < 30 * KAB_NS_PER_S);
	assert_int_equal(run(s, "true", NULL, 30, &res, &err), -1);
	assert_int_equal(err.code, KAB_ERR_CONNECT);
	s->ops->close(s);
}

static void test_server_stopped(void **state)
{
	struct kab_endpoint ep = endpoint("plain");
	struct kab_exec_result res;
	struct kab_err err = KAB_ERR_INIT;
	struct kab_session *s;
	int64_t t0;

	(void)state;
	ep.keepalive_s = 1;
	s = open_ok(&ep);
	/* A healthy silence far longer than three keepalives is no reason to give up. */
	runs_ok(s, "sleep 5; echo awake", NULL, "awake\n", 0);
	t0 = kab_now_mono_ns();
	free(rig_sh(&rig, NULL,
		    "s=$(%s/tests/integration/sshd.sh sessions $D plain); "
		    "(sleep 1; kill -STOP $s; sleep 8; kill -CONT $s) >/dev/null 2>&1 &",
		    KAB_SOURCE_DIR));
	assert_int_equal(run(s, "sleep 200", NULL, 150, &res, &err), -1);
	has(&err, KAB_ERR_CONNECT, "nothing heard for 3 s");
	assert_true(kab_now_mono_ns() - t0 < 8 * KAB_NS_PER_S);
	assert_true(kab_now_mono_ns() - t0 > 3 * KAB_NS_PER_S);
	t0 = kab_now_mono_ns();
	s->ops->close(s);
	assert_true(kab_now_mono_ns() - t0 < KAB_NS_PER_S);
	sleep(5);
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
	assert_int_equal(write(fds[1], "x", 1), 1);
	w.cancel_fd = fds[0];
	assert_int_equal(s->ops->exec(s, &req, &w, &res, &err), -1);
	assert_int_equal(err.code, KAB_ERR_CANCELLED);
	s->ops->close(s);
	s = open_ok(&ep);
	free(rig_sh(&rig, NULL, ":"));
	/* Cancelled while waiting for output: the session can still be used for cleaning up. */
	char byte;
	assert_int_equal(read(fds[0], &byte, 1), 1);
	pid_t child = fork();
	if (child == 0) {
		sleep(1);
		if (write(fds[1], "x", 1) != 1)
			_exit(1);
		_exit(0);
	}
	assert_int_equal(s->ops->exec(s, &req, &w, &res, &err), -1);
	assert_int_equal(err.code, KAB_ERR_CANCELLED);
	runs_ok(s, "echo usable", NULL, "usable\n", 0);
	assert_int_equal(run(s, "sleep 200", NULL, 0.5, &res, &err), -1);
	assert_int_equal(err.code, KAB_ERR_TIMEOUT);
	assert_true(kab_now_mono_ns() - t0 < 60 * KAB_NS_PER_S);
	s->ops->close(s);
	close(fds[0]);
	close(fds[1]);
}

static void test_crowded_server(void **state)
{
	struct kab_endpoint ep = endpoint("crowd");
	struct kab_session *s[6];

	(void)state;
	/* From two unfinished logins on, each new one is dropped with a chance of 60 %. */
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
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_host_keys),
		cmocka_unit_test(test_known_hosts_warnings),
		cmocka_unit_test(test_host_key_check),
		cmocka_unit_test(test_user_keys),
		cmocka_unit_test(test_agent),
		cmocka_unit_test(test_jump),
		cmocka_unit_test(test_config_words),
		cmocka_unit_test(test_no_algorithm),
		cmocka_unit_test(test_not_a_server),
		cmocka_unit_test(test_taken_port),
		cmocka_unit_test(test_chatty_login_shell),
		cmocka_unit_test(test_server_killed),
		cmocka_unit_test(test_server_stopped),
		cmocka_unit_test(test_deadline_and_cancel),
		cmocka_unit_test(test_crowded_server),
		cmocka_unit_test(test_dropbear),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
