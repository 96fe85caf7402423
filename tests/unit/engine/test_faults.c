/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A whole run over a link that breaks at a chosen operation (transport/fake.h), for every operation
 * and every way of breaking; then the run is executed again. Whatever happened: every iteration is
 * in the store once, was invoked once, its condition is taken back, its folder is gone, and the
 * host is free.
 *
 *	test_faults [KIND]...      die mute fail hang; without one all of them
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/json.h"
#include "engine/bind.h"
#include "engine/engine.h"
#include "engine/probe.h"

/* One of them, or $KAB_TEST_ITERATIONS for a longer look. */
static int iterations = 1;

static char scratch[] = "/var/tmp/kab-faults-XXXXXX";

/*
 * Most of the time is spent waiting: the operations are dealt out to processes, each with a lease
 * of its own.
 */
#define WORKERS 6
static int workers = 1, worker;
/* What they count together. */
static struct tally {
	atomic_long faults, survived;
} * tally;

struct fixture {
	char *dir, *script, *knob, *calls, *db;
	struct kab_suite suite;
	struct kab_kernel_list kernels;
	struct kab_lab lab;
	struct kab_plan plan;
	struct kab_probe_host host;
	struct kab_store *store;
	int64_t run_id;
	int cancel_fd;
	long cancel_op; /* cancel when this operation was begun; 0: never */
};

static void run_tool(const char *const *argv)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
}

static void put(const char *path, const char *text)
{
	assert_int_equal(kab_file_write(path, text, strlen(text), 0644, NULL), 0);
}

static char *get(const char *path)
{
	struct kab_buf buf = KAB_BUF_INIT;

	kab_file_read(path, &buf, NULL);
	kab_buf_rtrim(&buf, "\n");
	return kab_buf_detach(&buf);
}

static void make_suite(struct fixture *f)
{
	char *text kab_autofree = kab_xasprintf(
		"{ \"name\": \"faults\", \"repeat\": { \"iterations\": %d }, \"conditions\": "
		"{ \"file:%s\": \"new\" }, \"cases\": [ { \"name\": \"c\", \"runner\": "
		"\"synthetic\", "
		"\"timeout_s\": 60, \"params\": { \"fail_every\": 1000000, \"state\": \"%s\" } } ] "
		"}",
		iterations, f->knob, f->calls);
	struct kab_err err = KAB_ERR_INIT;
	json_t *doc;

	assert_int_equal(kab_json_load_bytes("s", text, strlen(text), &doc, &err), 0);
	if (kab_suite_load_json(doc, "s", &f->suite, &err) < 0 ||
	    kab_suite_bind(&f->suite, &err) < 0)
		fail_msg("%s", err.text);
	json_decref(doc);
}

static void setup(struct fixture *f, const char *name)
{
	struct kab_plan_opts opts = {
		.seed = 1, .boots = -1, .iterations = -1, .warmup = -1, .retry = -1
	};
	struct kab_engine_new what = { .name = "r", .command_line = "test", .version = "test" };
	struct kab_err err = KAB_ERR_INIT;
	struct kab_lab_host *h;
	const struct kab_lab_host *hosts[1];
	char *run_name;

	*f = (struct fixture){ .cancel_fd = eventfd(0, EFD_CLOEXEC) };
	f->dir = kab_xasprintf("%s/%s", scratch, name);
	f->script = kab_xasprintf("%s/script", f->dir);
	f->knob = kab_xasprintf("%s/knob", f->dir);
	f->calls = kab_xasprintf("%s/calls", f->dir);
	f->db = kab_xasprintf("%s/kab.db", f->dir);
	assert_int_equal(kab_file_mkdirs(f->dir, 0755, NULL), 0);
	put(f->script, "");
	put(f->knob, "old\n");
	make_suite(f);
	assert_int_equal(kab_kernel_add(&f->kernels, "base=running", &err), 0);
	assert_int_equal(kab_lab_load(NULL, &f->lab, &err), 0);
	h = KAB_PUSH(&f->lab);
	*h = (struct kab_lab_host){ .name = kab_xstrdup("h"),
				    .transport = kab_xstrdup("fake"),
				    .ssh = kab_xstrdup(f->script),
				    .class_name = kab_xstrdup(""),
				    .host_key_check = kab_xstrdup("strict"),
				    .workdir = kab_xasprintf("%s/work", f->dir) };
	assert_int_equal(kab_file_mkdirs(h->workdir, 0755, NULL), 0);
	f->host.host = hosts[0] = h;
	kab_probe_all(&f->host, 1, 60, -1, NULL);
	if (f->host.failed)
		fail_msg("%s", f->host.err.text);
	assert_int_equal(kab_plan_make(&f->suite, &f->kernels, 1, &opts, &f->plan, &err), 0);
	if (kab_store_open(f->db, KAB_STORE_WRITE, &f->store, &err) < 0)
		fail_msg("%s", err.text);
	what.suite = &f->suite;
	what.kernels = &f->kernels;
	what.plan = &f->plan;
	what.lab = &f->lab;
	what.hosts = hosts;
	what.facts = &f->host.facts;
	what.n_hosts = 1;
	if (kab_engine_create(f->store, &what, &f->run_id, &run_name, &err) < 0)
		fail_msg("%s", err.text);
	free(run_name);
	/* Operations are counted from the execution on. */
	{
		char *count kab_autofree = kab_xasprintf("%s.count", f->script);

		unlink(count);
	}
}

static void teardown(struct fixture *f)
{
	const char *argv[] = { "rm", "-rf", f->dir, NULL };

	kab_store_close(f->store);
	kab_suite_release(&f->suite);
	kab_kernel_list_release(&f->kernels);
	kab_lab_release(&f->lab);
	kab_plan_release(&f->plan);
	kab_facts_release(&f->host.facts);
	close(f->cancel_fd);
	run_tool(argv);
	free(f->dir);
	free(f->script);
	free(f->knob);
	free(f->calls);
	free(f->db);
}

/* Operations that were begun so far. */
static long operations(struct fixture *f)
{
	char *path kab_autofree = kab_xasprintf("%s.count", f->script);
	char *count kab_autofree = get(path);

	return strtol(count, NULL, 10);
}

static void tick(void *ctx)
{
	struct fixture *f = ctx;

	if (f->cancel_op && operations(f) >= f->cancel_op) {
		uint64_t one = 1;

		assert_int_equal(write(f->cancel_fd, &one, sizeof(one)), sizeof(one));
		f->cancel_op = 0;
	}
}

static enum kab_lane_outcome execute(struct fixture *f, int cancel_fd, struct kab_err *ret)
{
	struct kab_engine_opts opts = { .store = f->store,
					.run_id = f->run_id,
					.lab = &f->lab,
					.stop_fd = cancel_fd,
					.cancel_fd = cancel_fd,
					.lease_wait_s = 60,
					.tick = tick,
					.ctx = f };
	struct kab_lane_result *results;
	enum kab_lane_outcome outcome;
	struct kab_err err = KAB_ERR_INIT;
	size_t n;

	if (kab_engine_execute(&opts, &results, &n, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(n, 1);
	outcome = results[0].outcome;
	*ret = results[0].err;
	kab_lane_results_free(results, n);
	return outcome;
}

/* again: how many invocations may have been stopped and repeated. */
static void check(struct fixture *f, const char *what, int again)
{
	struct kab_run_info info;
	struct kab_step_info *steps;
	struct kab_boot_info *boots;
	char *calls kab_autofree = get(f->calls), *knob kab_autofree = get(f->knob);
	char *work kab_autofree = kab_xasprintf("%s/work", f->dir);
	struct dirent *entry;
	size_t n;
	DIR *dir;

	assert_int_equal(kab_store_list_steps(f->store, f->run_id, 0, &steps, &n, NULL), 0);
	for (size_t i = 0; i < n; i++) {
		if (steps[i].state != KAB_ITER_DONE)
			print_message("%s: %s: %s\n", what, kab_iter_state_name(steps[i].state),
				      steps[i].reason ? steps[i].reason : "");
		kab_step_info_release(&steps[i]);
	}
	free(steps);
	assert_int_equal(kab_store_find_run(f->store, "r", &info, NULL, NULL), 0);
	if (info.state != KAB_RUN_COMPLETE || info.n_done != (size_t)iterations ||
	    info.n_iterations != (size_t)iterations)
		fail_msg("%s: %zu of %zu done, %zu failed, state %s", what, info.n_done,
			 info.n_iterations, info.n_failed, kab_run_state_name(info.state));
	kab_run_info_release(&info);
	assert_int_equal(kab_store_list_steps(f->store, f->run_id, 0, &steps, &n, NULL), 0);
	assert_int_equal(n, iterations);
	for (size_t i = 0; i < n; i++) {
		struct kab_extraction_info x;
		size_t values = 0;

		assert_int_equal(kab_store_extraction(f->store, steps[i].id, &x, NULL), 0);
		for (size_t k = 0; k < x.samples.n; k++)
			values += !strcmp(x.samples.v[k].metric, "value");
		assert_int_equal(values, 1);
		kab_extraction_info_release(&x);
		kab_step_info_release(&steps[i]);
	}
	free(steps);
	assert_int_equal(kab_store_list_boots(f->store, f->run_id, &boots, &n, NULL), 0);
	assert_int_equal(n, 1);
	if (strcmp(boots[0].state, "done"))
		fail_msg("%s: the boot is '%s'", what, boots[0].state);
	kab_boot_info_release(&boots[0]);
	free(boots);
	if (strcmp(knob, "old"))
		fail_msg("%s: the condition is still '%s'", what, knob);
	dir = opendir(work);
	assert_non_null(dir);
	while ((entry = readdir(dir)))
		if (!strncmp(entry->d_name, "kab-", 4))
			fail_msg("%s: %s is left on the target", what, entry->d_name);
	closedir(dir);
	if (strtol(calls, NULL, 10) < iterations || strtol(calls, NULL, 10) > iterations + again)
		fail_msg("%s: %s invocations for %d iterations", what, calls, iterations);
}

/* Owner of the newest generation of the lease, "-" when it is free. Caller frees. */
static char *lease_owner(void)
{
	DIR *dir = opendir("/var/tmp/kab-lease");
	struct dirent *entry;
	long newest = 0;
	char *line;

	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "lock.", 5) &&
		    strtol(entry->d_name + 5, NULL, 10) > newest)
			newest = strtol(entry->d_name + 5, NULL, 10);
	if (dir)
		closedir(dir);
	if (!newest)
		return kab_xstrdup("-");
	{
		char *path kab_autofree = kab_xasprintf("/var/tmp/kab-lease/lock.%ld", newest);

		line = get(path);
	}
	line[strcspn(line, " ")] = '\0';
	return line;
}

static bool private_lease;

static void check_lease(const char *what)
{
	char *owner kab_autofree = lease_owner();

	if (private_lease && strcmp(owner, "-"))
		fail_msg("%s: the host is still held by %s", what, owner);
}

static long without_fault(void)
{
	struct kab_err err;
	struct fixture f;
	long n;

	setup(&f, "none");
	if (execute(&f, -1, &err) != KAB_LANE_DONE)
		fail_msg("%s", err.text);
	check(&f, "no fault", 0);
	check_lease("no fault");
	n = operations(&f);
	assert_true(n > 10);
	teardown(&f);
	return n;
}

static void every_operation(const char *kind)
{
	long n = without_fault();

	for (long at = 1 + worker; at <= n; at += workers) {
		char *what kab_autofree = kab_xasprintf("%s at operation %ld", kind, at);
		char *script kab_autofree = kab_xasprintf("%ld %s\n", at, kind);
		bool hang = !strcmp(kind, "hang");
		struct kab_err err;
		struct fixture f;
		enum kab_lane_outcome outcome;

		tally->faults++;
		setup(&f, kind);
		put(f.script, script);
		if (hang)
			f.cancel_op = at;
		outcome = execute(&f, hang ? f.cancel_fd : -1, &err);
		if (outcome == KAB_LANE_DONE)
			tally->survived++;
		else if (hang && outcome != KAB_LANE_STOPPED)
			fail_msg("%s: %s", what, err.text);
		/* A link that is gone cannot give the lease back, but the next execution can. */
		if (outcome != KAB_LANE_DONE && execute(&f, -1, &err) != KAB_LANE_DONE)
			fail_msg("%s, and then: %s", what, err.text);
		/* What a stop or a target in disorder ended is done again; a link is no reason. */
		check(&f, what, hang || !strcmp(kind, "fail"));
		check_lease(what);
		teardown(&f);
	}
}

static void die(void **state)
{
	(void)state;
	every_operation("die");
}

static void mute(void **state)
{
	(void)state;
	every_operation("mute");
}

static void refuse(void **state)
{
	(void)state;
	every_operation("fail");
}

static void hang(void **state)
{
	(void)state;
	every_operation("hang");
}

/* Other programs' leases in /var/tmp are not ours to wait for. */
static void go_private(void)
{
	char *hidden kab_autofree = NULL;

	assert_non_null(mkdtemp(scratch));
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return;
	hidden = kab_xasprintf("%s/lease", scratch);
	mkdir(hidden, 01777);
	chmod(hidden, 01777);
	mkdir("/var/tmp/kab-lease", 01777);
	private_lease = mount(hidden, "/var/tmp/kab-lease", NULL, MS_BIND, NULL) == 0;
}

/* As one of several: the leases of the others are hidden from it. */
static int work(const struct CMUnitTest *test)
{
	const char *rm[] = { "rm", "-rf", scratch, NULL };
	int failed;

	go_private();
	failed = _cmocka_run_group_tests("faults", test, 1, NULL, NULL);
	umount2("/var/tmp/kab-lease", private_lease ? MNT_DETACH : 0);
	run_tool(rm);
	return failed;
}

static int share_out(const struct CMUnitTest *test)
{
	pid_t pids[WORKERS];
	int failed = 0;

	*tally = (struct tally){ 0 };
	fflush(NULL);
	for (worker = 0; worker < workers; worker++) {
		pids[worker] = fork();
		if (!pids[worker])
			exit(work(test));
	}
	for (int i = 0; i < workers; i++) {
		int status;

		if (pids[i] < 0 || waitpid(pids[i], &status, 0) < 0 || status)
			failed = 1;
	}
	printf("%s: %ld of %ld faults needed no second execution\n", test->name, tally->survived,
	       tally->faults);
	/* Only at the very beginning may a lost link end a run; in the middle it is made anew. */
	if ((!strcmp(test->name, "die") || !strcmp(test->name, "mute")) &&
	    tally->survived < tally->faults - 7)
		failed = 1;
	return failed || tally->faults < 10;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(die),
		cmocka_unit_test(mute),
		cmocka_unit_test(refuse),
		cmocka_unit_test(hang),
	};
	static const char *const names[] = { "die", "mute", "fail", "hang" };
	int failed = 0;

	if (getenv("KAB_TEST_ITERATIONS"))
		iterations = (int)strtol(getenv("KAB_TEST_ITERATIONS"), NULL, 10);
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	/* Where no lease can be hidden they would wait for each other's. */
	if (unshare(CLONE_NEWNS) == 0)
		workers = WORKERS;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(all); i++) {
		bool chosen = argc < 2;

		for (int k = 1; k < argc; k++)
			chosen = chosen || !strcmp(argv[k], names[i]);
		if (chosen)
			failed |= share_out(&all[i]);
	}
	munmap(tally, sizeof(*tally));
	return failed;
}
