/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cli/dry_run.h"
#include "cli/kernel_files.h"
#include "cli/setup.h"
#include "transport/transport.h"

#define AA_BOOTS_MIN 8

/* Everything that one `kab run` holds. */
struct launch {
	struct kab_suite suite;
	struct kab_kernel_list kernels;
	struct kab_lab lab;
	struct kab_plan plan;
	struct kab_probe_host *hosts;
	const struct kab_lab_host **lab_hosts;
	struct kab_facts *facts; /* shallow copies of the hosts' */
	size_t n_hosts;
	struct kab_store *store;
	struct kab_interrupt *interrupt;
	struct kab_strv condition_args;
	char *name, *command_line, *stored_name;
	struct kab_events *events;
};

static void launch_release(struct launch *l)
{
	kab_suite_release(&l->suite);
	kab_kernel_list_release(&l->kernels);
	kab_plan_release(&l->plan);
	kab_setup_hosts_free(l->hosts, l->n_hosts);
	kab_lab_release(&l->lab);
	kab_store_close(l->store);
	kab_interrupt_end(l->interrupt);
	kab_events_close(l->events);
	kab_strv_release(&l->condition_args);
	free(l->lab_hosts);
	free(l->facts);
	free(l->name);
	free(l->command_line);
	free(l->stored_name);
}

/* One kernel under two labels: whatever differs is noise. */
static int make_aa(struct launch *l, struct kab_err *err)
{
	char *again kab_autofree = NULL;

	if (!l->kernels.n && kab_kernel_add(&l->kernels, "base=running", err) < 0)
		return -1;
	if (l->kernels.n > 1)
		return kab_err_set(err, KAB_ERR_USAGE,
				   "--aa takes one kernel: it is measured twice");
	again = kab_xasprintf("%s-again=%s", l->kernels.v[0].label, l->kernels.v[0].spec);
	return kab_kernel_add(&l->kernels, again, err);
}

static int read_stopping(const struct kab_args *args, struct kab_stopping *ret, struct kab_err *err)
{
	if (kab_args_num(args, "until", 0.01, 50, 0, &ret->half_width_pct, err) < 0)
		return -1;
	if (kab_args_flag(args, "early") && ret->half_width_pct > 0)
		return kab_err_set(err, KAB_ERR_USAGE,
				   "--until and --early are two rules; take one");
	ret->rule = kab_args_flag(args, "early") ? KAB_STOP_EARLY
		    : ret->half_width_pct > 0	 ? KAB_STOP_PRECISION
						 : KAB_STOP_FIXED;
	return 0;
}

static int load(struct launch *l, struct kab_cli *cli, const struct kab_args *args,
		struct kab_err *err)
{
	struct kab_plan_opts opts = { 0 };
	int64_t boots, iterations, warmup, retry, seed;
	struct kab_stopping stopping = { 0 };
	const char *text;
	uint32_t random;

	if (kab_args_int(args, "boots", 1, 1000, -1, &boots, err) < 0 ||
	    kab_args_int(args, "iterations", 1, 100000, -1, &iterations, err) < 0 ||
	    kab_args_int(args, "warmup", 0, 1000, -1, &warmup, err) < 0 ||
	    kab_args_int(args, "retry", 0, 10, -1, &retry, err) < 0 ||
	    kab_args_int(args, "seed", 0, INT64_MAX, -1, &seed, err) < 0)
		return -1;
	if (kab_args_get(args, "name") && !kab_text_is_label(kab_args_get(args, "name")))
		return kab_err_set(err, KAB_ERR_USAGE,
				   "a run's name is letters, digits and '._+-', not '%s'",
				   kab_args_get(args, "name"));
	for (size_t i = 0; (text = kab_args_nth(args, "kernel", i)); i++)
		if (kab_kernel_add(&l->kernels, text, err) < 0)
			return -1;
	if (kab_args_flag(args, "aa") && make_aa(l, err) < 0)
		return -1;
	if (read_stopping(args, &stopping, err) < 0)
		return -1;
	if (kab_setup_lab(cli, &l->lab, err) < 0 ||
	    kab_setup_suite(kab_args_at(args, 0), &l->suite, err) < 0)
		return -1;
	for (size_t i = 0; (text = kab_args_nth(args, "condition", i)); i++) {
		if (kab_condition_add_text(&l->suite.conditions, text, err) < 0)
			return -1;
		kab_strv_add(&l->condition_args, text);
	}
	/* A noise floor is the spread between boots: few of them say nothing about it. */
	if (kab_args_flag(args, "aa") && boots < 0 && stopping.rule == KAB_STOP_FIXED)
		boots = l->suite.boots < AA_BOOTS_MIN ? AA_BOOTS_MIN : l->suite.boots;
	if (kab_setup_hosts(&l->lab, kab_args_get(args, "host"), &l->hosts, &l->n_hosts, err) < 0)
		return -1;
	for (size_t i = 1; i < l->n_hosts; i++)
		if ((l->hosts[i].host->boot == KAB_BOOT_NONE) !=
		    (l->hosts[0].host->boot == KAB_BOOT_NONE))
			return kab_err_set(
				err, KAB_ERR_CONFIG,
				"host '%s' is booted by %s and host '%s' by %s; run them apart",
				l->hosts[0].host->name,
				l->hosts[0].host->boot == KAB_BOOT_NONE ? "you" : "kab",
				l->hosts[i].host->name,
				l->hosts[i].host->boot == KAB_BOOT_NONE ? "you" : "kab");
	if (seed < 0) {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return kab_err_errno(err, KAB_ERR_ENV, "cannot get random bytes");
		seed = random;
	}
	opts = (struct kab_plan_opts){ .seed = (uint64_t)seed,
				       .boots = (int)boots,
				       .iterations = (int)iterations,
				       .warmup = (int)warmup,
				       .retry = (int)retry,
				       .stopping = stopping,
				       .booting = l->hosts[0].host->boot != KAB_BOOT_NONE };
	return kab_plan_make(&l->suite, &l->kernels, l->n_hosts, &opts, &l->plan, err);
}

static int probe(struct launch *l, struct kab_cli *cli, int stop_fd, struct kab_err *err)
{
	kab_probe_all(l->hosts, l->n_hosts, 60, stop_fd, &cli->log);
	l->lab_hosts = kab_xcalloc(l->n_hosts + 1, sizeof(*l->lab_hosts));
	l->facts = kab_xcalloc(l->n_hosts + 1, sizeof(*l->facts));
	for (size_t i = 0; i < l->n_hosts; i++) {
		if (l->hosts[i].failed) {
			*err = l->hosts[i].err;
			return kab_err_prefix(err, "host '%s'", l->hosts[i].host->name);
		}
		l->lab_hosts[i] = l->hosts[i].host;
		l->facts[i] = l->hosts[i].facts;
	}
	return 0;
}

/* Print what preflight found; -1 when the run must not start. */
static int preflight(struct launch *l, struct kab_cli *cli, const struct kab_engine_new *what,
		     int stop_fd, struct kab_err *err)
{
	struct kab_strv kab_autostrv problems = KAB_STRV_INIT, warnings = KAB_STRV_INIT;
	struct kab_strv kab_autostrv touches = KAB_STRV_INIT;

	if (kab_engine_preflight(what, &cli->log, stop_fd, &problems, &warnings, &touches, err) < 0)
		return -1;
	(void)l;
	for (size_t i = 0; i < warnings.n; i++)
		kab_cli_warn(cli, "%s; its results will be missing", warnings.v[i]);
	for (size_t i = 0; i + 1 < problems.n; i++)
		kab_cli_warn(cli, "%s", problems.v[i]);
	if (problems.n)
		return kab_err_set(err, KAB_ERR_ENV, "%s", problems.v[problems.n - 1]);
	for (size_t i = 0; i < touches.n; i++)
		kab_cli_say(cli, "kab: will touch: %s", touches.v[i]);
	return 0;
}

static char *default_name(const struct kab_suite *suite)
{
	time_t now = time(NULL);
	char stamp[32];
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M", &tm);
	return kab_xasprintf("%s-%s", suite->name, stamp);
}

static int launch(struct launch *l, struct kab_cli *cli, const struct kab_args *args,
		  struct kab_err *err, int *ret_status)
{
	struct kab_execute_opts execute = { .gate = kab_args_flag(args, "gate"), .report = true };
	struct kab_engine_new what = { 0 };
	int64_t run_id;
	int stop_fd;

	if (kab_events_open(cli, kab_args_get(args, "events"), &l->events, err) < 0 ||
	    load(l, cli, args, err) < 0 ||
	    kab_args_num(args, "wait", 0, 1e9, 0, &execute.lease_wait_s, err) < 0 ||
	    kab_interrupt_start(cli, &l->interrupt, err) < 0)
		return -1;
	stop_fd = kab_interrupt_stop_fd(l->interrupt);
	if (kab_kernel_files(cli, &l->kernels, kab_args_flag(args, "dry-run"), stop_fd, err) < 0 ||
	    probe(l, cli, stop_fd, err) < 0)
		return -1;
	l->name = kab_args_get(args, "name") ? kab_xstrdup(kab_args_get(args, "name"))
					     : default_name(&l->suite);
	l->command_line = kab_quote_argv((const char *const *)kab_strv_argv(&cli->command_line));
	what = (struct kab_engine_new){ .suite = &l->suite,
					.kernels = &l->kernels,
					.plan = &l->plan,
					.lab = &l->lab,
					.hosts = l->lab_hosts,
					.facts = l->facts,
					.n_hosts = l->n_hosts,
					.condition_args = &l->condition_args,
					.aa = kab_args_flag(args, "aa"),
					.name = l->name,
					.command_line = l->command_line,
					.version = KAB_VERSION };
	if (preflight(l, cli, &what, stop_fd, err) < 0)
		return -1;
	if (kab_args_flag(args, "dry-run")) {
		/* Durations from earlier runs are a help, not a need. */
		if (kab_store_open(cli->db_path, KAB_STORE_READ, &l->store, NULL) < 0)
			l->store = NULL;
		kab_dry_run_print(cli, &what, l->store);
		return 0;
	}
	if (kab_cli_open_store(cli, KAB_STORE_WRITE, &l->store, err) < 0 ||
	    kab_engine_create(l->store, &what, &run_id, &l->stored_name, err) < 0)
		return -1;
	if (strcmp(l->stored_name, l->name))
		kab_cli_say(cli, "kab: the name '%s' is taken; this run is '%s'", l->name,
			    l->stored_name);
	kab_cli_say(cli, "kab: run '%s': %s%zu steps on %zu host%s, seed %llu", l->stored_name,
		    l->plan.stop_text ? "up to " : "", l->plan.n_steps, l->n_hosts,
		    l->n_hosts == 1 ? "" : "s", (unsigned long long)l->plan.seed);
	execute.events = l->events;
	*ret_status = kab_setup_execute(cli, l->store, run_id, l->stored_name, &l->lab,
					l->interrupt, &execute);
	return 0;
}

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	struct kab_err err = KAB_ERR_INIT;
	struct launch l = { 0 };
	int status = KAB_EXIT_OK;

	if (launch(&l, cli, args, &err, &status) < 0)
		status = kab_cli_fail(cli, &err);
	launch_release(&l);
	return status;
}

static const struct kab_opt opts[] = {
	{ "kernel", '\0', "LABEL=SPEC", "a kernel; repeat it, the baseline first", NULL },
	{ "host", '\0', "H[,H]", "hosts of the lab file, or local (the default)", NULL },
	{ "condition", '\0', "NAME=V[,V]", "smt=on,off, sysctl.KEY=V, governor=V, file:PATH=V ...",
	  NULL },
	{ "boots", '\0', "N", "boots per kernel (restarts, if all kernels are one)", NULL },
	{ "iterations", '\0', "N", "iterations per boot", NULL },
	{ "warmup", '\0', "N", "iterations before those, not counted", NULL },
	{ "retry", '\0', "N", "try a failed iteration again; counted in the report", NULL },
	{ "seed", '\0', "N", "seed of the order (drawn and recorded when not given)", NULL },
	{ "name", '\0', "S", "name of the run", NULL },
	{ "wait", '\0', "SECONDS", "wait for a host that somebody else has leased", NULL },
	{ "aa", '\0', NULL, "one kernel twice, 8 boots or more (unless --boots): the noise", NULL },
	{ "until", '\0', "PCT", "boot on until every interval is within +/- PCT (8 boots or more)",
	  NULL },
	{ "early", '\0', NULL, "stop at one of five looks when all rows are clear", NULL },
	KAB_EVENTS_OPT,
	{ "gate", '\0', NULL, "exit with 1 when something regressed", NULL },
	{ "dry-run", 'n', NULL, "print the plan and the time it takes; run nothing", NULL },
	{ 0 },
};

const struct kab_cmd kab_cmd_run = {
	.name = "run",
	.summary = "run a suite on kernels and hosts, store it, print the table",
	.synopsis = "SUITE --kernel LABEL=SPEC [--kernel LABEL=SPEC]... [OPTIONS]",
	.description =
		"Makes a plan from the suite, the kernels and the hosts in a random, recorded "
		"order,\n"
		"runs it, keeps every iteration in the database, and prints the comparison.\n\n"
		"SUITE is a file, or the name of one in ./suites, the user's or the installed\n"
		"folder (see 'kab suites'). The first kernel is the baseline. SPEC is\n"
		"  running                                    what runs there now\n"
		"  release:R                                  installed, as 'uname -r' prints it\n"
		"  deb:FILE[,FILE], tar:FILE,                 installed by kab; a FILE may be a\n"
		"  image:FILE[,initrd=FILE][,modules=FILE]    URL\n"
		"  @FILE.json                                 from a file, also one per host\n"
		"and may be followed by ';cmdline=...' and ';sha256=...'.\n\n"
		"A host whose boot method in the lab file is grub, systemd-boot, kexec or command\n"
		"is booted into each kernel, once at a time; what comes from files is installed\n"
		"first. With the method none (also without a lab file) the steps of the kernel\n"
		"that runs are done, then kab says what to boot (exit 4), and 'kab resume' goes\n"
		"on.\n\n"
		"--until and --early fix a stopping rule before the data; it is stored and "
		"printed, and\n"
		"--boots is then the maximum (default 20). Neither looks after each boot for a "
		"verdict.\n\n"
		"Ctrl-C once: finish the iteration and stop. Twice: stop now and clean the hosts.\n"
		"Nothing that is finished is lost; 'kab resume' goes on in both cases.",
	.example =
		"  kab run hackbench-groups --kernel base=running --kernel same=running --dry-run\n"
		"  kab run hackbench-groups --host tx2 --kernel base=release:6.12.0 \\\n"
		"      --kernel patched=release:6.12.0-patched --iterations 10",
	.completes = "suite",
	.opts = opts,
	.min_pos = 1,
	.max_pos = 1,
	.run = run,
};
