/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keys with a passphrase. libssh2 would work out the passphrase again for each connection (0.3 s of
 * CPU each) and knows few ciphers. So the system's ssh-add opens the key once, into an ssh-agent that
 * only we know and that ends with us. The passphrase goes to ssh-add as its standard input, by an
 * askpass program that hands that on: it is in no argument, no file and no environment.
 */
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "transport/child.h"
#include "transport/ssh_key.h"
#include "transport/ssh_shared.h"

/* For an answer of a person, and for what works it out. */
#define ASK_S 300
#define ADD_S 60
#define AGENT_START_S 10
#define AGENT_END_MS 500
#define TRIES 3
#define PASSPHRASE_MAX 1024
#define LOOK_MS 50

struct opened {
	char *path;
	struct kab_err err; /* of code 0: it is in the agent */
};

struct kab_ssh_unlocked {
	pthread_mutex_t lock; /* held while somebody is asked */
	struct opened *v;
	size_t n, cap;
	char *folder, *socket, *askpass;
	pid_t agent; /* 0: none yet */
	int life;
};

struct kab_ssh_unlocked *kab_ssh_unlocked_new(void)
{
	struct kab_ssh_unlocked *u = kab_xcalloc(1, sizeof(*u));

	pthread_mutex_init(&u->lock, NULL);
	u->life = -1;
	return u;
}

void kab_ssh_unlocked_free(struct kab_ssh_unlocked *u)
{
	if (u->agent > 0)
		kab_child_end(u->agent, AGENT_END_MS);
	if (u->life >= 0)
		close(u->life);
	if (u->folder) {
		unlink(u->socket);
		unlink(u->askpass);
		rmdir(u->folder);
	}
	for (size_t i = 0; i < u->n; i++)
		free(u->v[i].path);
	free(u->v);
	free(u->folder);
	free(u->socket);
	free(u->askpass);
	pthread_mutex_destroy(&u->lock);
	free(u);
}

/* A private folder in which a program may lie: /tmp is mounted noexec at times. */
static int make_folder(struct kab_ssh_unlocked *u, struct kab_err *err)
{
	static const char script[] = "#!/bin/sh\nIFS= read -r x\n[ -n \"$x\" ] && printf "
				     "'%s\\n' \"$x\"\n";
	const char *const places[] = { getenv("XDG_RUNTIME_DIR"), "/tmp", "/var/tmp" };

	for (size_t i = 0; i < KAB_ARRAY_SIZE(places); i++) {
		int fd;
		bool ok;

		if (!places[i] || places[i][0] != '/' || strlen(places[i]) > 60)
			continue;
		u->folder = kab_xasprintf("%s/kab-XXXXXX", places[i]);
		if (mkdtemp(u->folder)) {
			u->socket = kab_xasprintf("%s/agent", u->folder);
			u->askpass = kab_xasprintf("%s/askpass", u->folder);
			fd = open(u->askpass, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
			ok = fd >= 0 &&
			     write(fd, script, strlen(script)) == (ssize_t)strlen(script);
			if (fd >= 0)
				close(fd);
			if (ok && access(u->askpass, X_OK) == 0)
				return 0;
			unlink(u->askpass);
			rmdir(u->folder);
			free(u->socket);
			free(u->askpass);
			u->socket = u->askpass = NULL;
		}
		free(u->folder);
		u->folder = NULL;
	}
	return kab_err_set(
		err, KAB_ERR_ENV,
		"no folder for opening keys: $XDG_RUNTIME_DIR, /tmp and /var/tmp are not "
		"writable or mounted noexec; use ssh-add");
}

static int start_agent(struct kab_ssh_unlocked *u, const struct kab_wait *wait, struct kab_err *err)
{
	int64_t until = kab_deadline_s(AGENT_START_S);
	int null, rc;

	if (u->agent > 0)
		return 0;
	if (!u->folder && make_folder(u, err) < 0)
		return -1;
	const char *argv[] = { "ssh-agent", "-D", "-a", u->socket, NULL };

	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	rc = kab_child_spawn_bound(argv, u->folder, null, null, &u->agent, &u->life, err);
	if (null >= 0)
		close(null);
	if (rc < 0)
		return -1;
	for (;;) {
		struct kab_ssh_agent a;

		if (kab_ssh_agent_open(&a, u->socket) == 0) {
			kab_ssh_agent_close(&a);
			return 0;
		}
		if (kab_now_mono_ns() >= until)
			break;
		if (kab_wait_until(kab_now_mono_ns() + LOOK_MS * KAB_NS_PER_MS, wait->cancel_fd,
				   err) < 0)
			return -1;
	}
	return kab_err_set(err, KAB_ERR_ENV,
			   "ssh-agent does not start; is the package openssh-client installed?");
}

/*
 * A line from the terminal, unseen. Keys that would signal are read as characters, so that nothing
 * can end us while the terminal is silent. 0; 1: empty; -1: CANCELLED.
 */
static int read_line(int tty, const struct kab_wait *wait, struct kab_buf *ret, struct kab_err *err)
{
	for (;;) {
		struct pollfd pfd[2] = { { .fd = tty, .events = POLLIN },
					 { .fd = wait->cancel_fd, .events = POLLIN } };
		int n = poll(pfd, 2, kab_deadline_poll_ms(wait->deadline_ns));
		char c;

		if (n < 0 && errno == EINTR)
			continue;
		if (n > 0 && pfd[1].revents)
			return kab_err_set(err, KAB_ERR_CANCELLED, "interrupted");
		if (n <= 0 || read(tty, &c, 1) != 1)
			return 1;
		switch (c) {
		case '\n':
		case '\r':
			return ret->len ? 0 : 1;
		case 3: /* Ctrl-C */
		case 28: /* Ctrl-backslash */
			return kab_err_set(err, KAB_ERR_CANCELLED,
					   "interrupted at the question for a passphrase");
		case 4: /* Ctrl-D */
			return 1;
		case 21: /* Ctrl-U */
			kab_buf_clear(ret);
			break;
		case 8:
		case 127:
			if (ret->len)
				ret->data[--ret->len] = '\0';
			break;
		default:
			kab_buf_addc(ret, c);
		}
	}
}

/* 0; 1: nothing was typed; 2: there is no terminal of ours; -1: CANCELLED. */
static int ask_terminal(const char *prompt, const struct kab_wait *wait, struct kab_buf *ret,
			struct kab_err *err)
{
	int tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	struct termios before, silent;
	int rc = 2;

	/* In the background reading would stop us. */
	if (tty < 0)
		return 2;
	if (tcgetpgrp(tty) == getpgrp() && tcgetattr(tty, &before) == 0) {
		silent = before;
		silent.c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
		silent.c_cc[VMIN] = 1;
		silent.c_cc[VTIME] = 0;
		if (tcsetattr(tty, TCSAFLUSH, &silent) == 0) {
			(void)!write(tty, prompt, strlen(prompt));
			rc = read_line(tty, wait, ret, err);
			(void)!write(tty, "\n", 1);
			tcsetattr(tty, TCSAFLUSH, &before);
		}
	}
	close(tty);
	return rc;
}

/* 0; 1: it gave nothing; 2: there is none; -1. */
static int ask_program(const char *prompt, const struct kab_wait *wait, struct kab_buf *ret,
		       struct kab_err *err)
{
	const char *program = getenv("SSH_ASKPASS");
	const char *argv[] = { program, prompt, NULL };
	struct kab_exec req = { .argv = argv, .out_max = PASSPHRASE_MAX };
	struct kab_exec_result res;
	bool ok;

	if (!program || !*program)
		return 2;
	if (kab_child_run(&req, wait, &res, err) < 0)
		return -1;
	ok = res.exit_status == 0 && res.out.len && res.out.data[0] != '\n' && !res.out.cut;
	if (ok)
		kab_buf_add(ret, res.out.data, strcspn(res.out.data, "\r\n"));
	if (res.out.data)
		OPENSSL_cleanse(res.out.data, res.out.len);
	kab_exec_result_release(&res);
	return ok ? 0 : 1;
}

/* As ask_program; *asked_person: another try makes sense. */
static int ask(const char *path, bool again, const struct kab_wait *wait, struct kab_buf *ret,
	       bool *asked_person, struct kab_err *err)
{
	const char *require = getenv("SSH_ASKPASS_REQUIRE");
	bool never = require && strcmp(require, "never") == 0;
	bool first = require && (strcmp(require, "force") == 0 || strcmp(require, "prefer") == 0);
	char *prompt kab_autofree =
		kab_xasprintf("%sPassphrase for key '%s': ", again ? "Wrong. " : "", path);
	int rc = 2;

	*asked_person = false;
	if (first)
		rc = ask_program(prompt, wait, ret, err);
	if (rc == 2) {
		rc = ask_terminal(prompt, wait, ret, err);
		*asked_person = rc == 0;
	}
	if (rc == 2 && !first && !never)
		rc = ask_program(prompt, wait, ret, err);
	return rc;
}

/* 0: in the agent; 1: ssh-add says no; -1. */
static int add_key(struct kab_ssh_unlocked *u, const char *path, const struct kab_buf *phrase,
		   const struct kab_wait *wait, struct kab_buf *said, struct kab_err *err)
{
	char *sock kab_autofree = kab_xasprintf("SSH_AUTH_SOCK=%s", u->socket);
	char *askpass kab_autofree = kab_xasprintf("SSH_ASKPASS=%s", u->askpass);
	/* DISPLAY: without it older ones do not use a program. */
	const char *argv[] = { "env",	     sock,	askpass, "SSH_ASKPASS_REQUIRE=force",
			       "DISPLAY=:0", "ssh-add", "-q",	 "--",
			       path,	     NULL };
	struct kab_exec req = { .argv = argv, .in = phrase->data, .in_len = phrase->len };
	struct kab_wait w = { kab_deadline_s(ADD_S), wait->cancel_fd };
	struct kab_exec_result res;
	int rc;

	if (kab_child_run(&req, &w, &res, err) < 0)
		return -1;
	rc = res.exit_status == 0 ? 0 : 1;
	kab_buf_clear(said);
	kab_buf_add(said, res.err.data, res.err.len);
	kab_buf_rtrim(said, "\r\n ");
	kab_exec_result_release(&res);
	return rc;
}

/* With the lock held. */
static void open_key(struct kab_ssh_unlocked *u, const char *path, const struct kab_wait *wait,
		     struct kab_err *err)
{
	struct kab_wait w = { kab_deadline_s(ASK_S), wait->cancel_fd };
	struct kab_buf phrase kab_autobuf = { .max = PASSPHRASE_MAX };
	struct kab_buf said kab_autobuf = KAB_BUF_INIT;
	bool again = true, given = false;
	int rc = start_agent(u, wait, err);

	if (rc < 0)
		return;
	for (int i = 0; again && i < TRIES; i++) {
		if (phrase.data)
			OPENSSL_cleanse(phrase.data, phrase.len);
		kab_buf_clear(&phrase);
		rc = ask(path, i > 0, &w, &phrase, &again, err);
		if (rc != 0)
			break;
		given = true;
		rc = add_key(u, path, &phrase, wait, &said, err);
		if (rc <= 0)
			break;
	}
	if (phrase.data)
		OPENSSL_cleanse(phrase.data, phrase.len);
	if (rc == 2)
		kab_err_set(err, KAB_ERR_AUTH,
			    "has a passphrase, is not in the agent, and there is no terminal to "
			    "ask: ssh-add it, or set SSH_ASKPASS to a program that prints the "
			    "passphrase");
	else if (rc == 1 && said.len && !strstr(said.data, "assphrase"))
		kab_err_set(err, KAB_ERR_AUTH, "cannot be opened (ssh-add says: %.200s)",
			    said.data);
	else if (rc == 1)
		kab_err_set(err, KAB_ERR_AUTH,
			    given ? "has another passphrase than the one given"
				  : "has a passphrase, and none was given");
}

int kab_ssh_unlock(struct kab_ssh_shared *sh, const char *path, struct kab_wait *wait,
		   const char **ret, struct kab_err *err)
{
	struct kab_ssh_unlocked *u = sh ? sh->unlocked : NULL;
	int64_t came = kab_now_mono_ns();
	struct opened *at = NULL;
	int rc = 0;

	if (!u)
		return kab_err_set(err, KAB_ERR_AUTH,
				   "has a passphrase and is not in the agent (ssh-add it)");
	while (pthread_mutex_trylock(&u->lock) != 0)
		if (kab_wait_until(kab_now_mono_ns() + LOOK_MS * KAB_NS_PER_MS, wait->cancel_fd,
				   err) < 0)
			return -1;
	for (size_t i = 0; i < u->n; i++)
		if (strcmp(u->v[i].path, path) == 0)
			at = &u->v[i];
	if (!at) {
		at = KAB_PUSH(u);
		at->path = kab_xstrdup(path);
		open_key(u, path, wait, &at->err);
	}
	if (at->err.code) {
		if (err)
			*err = at->err;
		rc = -1;
	}
	*ret = u->socket;
	pthread_mutex_unlock(&u->lock);
	wait->deadline_ns += kab_now_mono_ns() - came;
	return rc;
}
