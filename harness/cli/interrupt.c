/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"

struct kab_interrupt {
	struct kab_cli *cli;
	pthread_t thread;
	int stop_fd, cancel_fd;
	atomic_int level, ending;
	sigset_t signals, before;
};

static void raise_fd(int fd)
{
	uint64_t one = 1;

	(void)!write(fd, &one, sizeof(one));
}

static void *listen(void *arg)
{
	struct kab_interrupt *in = arg;
	int sig;

	while (sigwait(&in->signals, &sig) == 0) {
		int level = atomic_load(&in->level);

		if (sig == SIGUSR1) {
			if (atomic_load(&in->ending))
				break;
			continue;
		}
		if (sig == SIGTERM || level > 0) {
			atomic_store(&in->level, 2);
			raise_fd(in->stop_fd);
			raise_fd(in->cancel_fd);
			kab_cli_say(in->cli, "\nkab: stopping now and cleaning the targets ...");
		} else {
			atomic_store(&in->level, 1);
			raise_fd(in->stop_fd);
			kab_cli_say(in->cli,
				    "\nkab: finishing the iteration, then stopping; once more "
				    "to stop now");
		}
	}
	return NULL;
}

int kab_interrupt_start(struct kab_cli *cli, struct kab_interrupt **ret, struct kab_err *err)
{
	struct kab_interrupt *in = kab_xcalloc(1, sizeof(*in));

	in->cli = cli;
	in->stop_fd = eventfd(0, EFD_CLOEXEC);
	in->cancel_fd = eventfd(0, EFD_CLOEXEC);
	sigemptyset(&in->signals);
	sigaddset(&in->signals, SIGINT);
	sigaddset(&in->signals, SIGTERM);
	sigaddset(&in->signals, SIGHUP);
	sigaddset(&in->signals, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &in->signals, &in->before);
	if (in->stop_fd < 0 || in->cancel_fd < 0 ||
	    pthread_create(&in->thread, NULL, listen, in) != 0) {
		pthread_sigmask(SIG_SETMASK, &in->before, NULL);
		if (in->stop_fd >= 0)
			close(in->stop_fd);
		if (in->cancel_fd >= 0)
			close(in->cancel_fd);
		free(in);
		return kab_err_set(err, KAB_ERR_ENV, "cannot watch for signals");
	}
	*ret = in;
	return 0;
}

int kab_interrupt_stop_fd(const struct kab_interrupt *in)
{
	return in->stop_fd;
}

int kab_interrupt_cancel_fd(const struct kab_interrupt *in)
{
	return in->cancel_fd;
}

int kab_interrupt_level(const struct kab_interrupt *in)
{
	return atomic_load(&in->level);
}

void kab_interrupt_end(struct kab_interrupt *in)
{
	if (!in)
		return;
	atomic_store(&in->ending, 1);
	pthread_kill(in->thread, SIGUSR1);
	pthread_join(in->thread, NULL);
	pthread_sigmask(SIG_SETMASK, &in->before, NULL);
	close(in->stop_fd);
	close(in->cancel_fd);
	free(in);
}
