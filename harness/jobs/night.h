/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside a night: what its steps share. Strings are owned by the struct that holds them. */
#ifndef KAB_JOBS_NIGHT_H
#define KAB_JOBS_NIGHT_H

#include "jobs/night_plan.h"
#include "jobs/nightly.h"
#include "jobs/window.h"
#include "model/kernel.h"

/* A host of the night. */
struct kab_night_host {
	const struct kab_lab_host *host;
	struct kab_window window;
	struct kab_facts facts;
	bool probed; /* facts are there */
	bool tried; /* something was to be run there tonight */
	bool failed, busy, cut; /* what became of it */
	char *reason; /* of failed or busy; NULL */
	bool *cases; /* of the suite: its own; NULL until work is given out */
};

struct kab_night_kernels {
	struct kab_night_kernel test, baseline, reference; /* label NULL: there is none */
	const char *purpose; /* "night", "aa", "more", or "" */
	char *baseline_why, *test_why;
};

struct kab_night {
	const struct kab_nightly_env *env;
	const struct kab_nightly *c;
	struct kab_window window;
	struct kab_night_row row;
	struct kab_night_kernels k;
	struct kab_night_host *hosts;
	size_t n_hosts;
	struct kab_strv news; /* phrases for the summary */
	struct kab_strv known; /* the same, and the last night had them too */
	size_t regressed, improved, open;
	bool failures; /* results failed or are missing */
	bool results; /* something of the test kernel was measured */
	const char *blind; /* why no kernel is known, static; NULL: it is known, or none is new */
	bool closing; /* the window of this night is over: nothing is measured any more */
	bool stopped; /* by the user */
};

int64_t kab_night_now(const struct kab_night *night);
bool kab_night_stopping(const struct kab_night *night);
/* Keep a remark, and log it. */
int kab_night_remark(struct kab_night *night, const char *kind, const char *host,
		     struct kab_err *err, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* ---- night_kernels.c ---- */
/* Ask the sources and decide what is measured tonight, into night->k; remarks say what was wrong. */
int kab_night_choose(struct kab_night *night, struct kab_err *err);
/* The same from the stored row of a night that is gone on with. */
int kab_night_chosen(struct kab_night *night, struct kab_err *err);
void kab_night_kernels_release(struct kab_night_kernels *k);
/* The kernel LABEL=SPEC with what is known of its files. */
int kab_night_add_kernel(struct kab_kernel_list *list, const char *label, const char *spec,
			 const char *commit, const char *describe, struct kab_err *err);

/* ---- night_hosts.c ---- */
/* The hosts of the file, without those in quarantine (which are remarked). */
int kab_night_find_hosts(struct kab_night *night, struct kab_err *err);
/* Facts of all that have none yet; those that do not answer have failed. */
int kab_night_probe(struct kab_night *night, struct kab_err *err);
/* Strikes, quarantine. */
int kab_night_settle_hosts(struct kab_night *night, struct kab_err *err);
void kab_night_hosts_release(struct kab_night *night);
struct kab_night_host *kab_night_host(struct kab_night *night, const char *name);

/* ---- night_runs.c ---- */
/* A run that is to be made. Borrowed. */
struct kab_night_order {
	struct kab_night_host *host;
	const char *purpose, *note, *name_suffix;
	const struct kab_kernel_list *kernels;
	const bool *cases; /* of the suite */
	int boots;
};
/* Plan it and store it with the night, at once. 1: the host cannot do it (remarked, failed). */
int kab_night_make_run(struct kab_night *night, const struct kab_night_order *order,
		       struct kab_err *err);
/* What the cases cost there, n = env->suite->cases_n. */
int kab_night_costs(struct kab_night *night, const struct kab_night_host *host,
		    const struct kab_kernel_list *kernels, struct kab_night_case *ret,
		    struct kab_err *err);
/* Seconds from one kernel to the next there. */
double kab_night_reboot_s(struct kab_night *night, const struct kab_night_host *host);
/* Seconds that the host has left in its window, without the margin. */
double kab_night_budget_s(const struct kab_night *night, const struct kab_night_host *host);
/* Give out and make the runs of the night, cut to the windows. */
int kab_night_make_runs(struct kab_night *night, struct kab_err *err);
/* Cases with an open change or nomination are kept when others are dropped. */
int kab_night_must(struct kab_night *night, const char *host, bool *cases, struct kab_err *err);

/* ---- night_execute.c ---- */
/* Carry out all runs of the night that are not complete; outcomes go to hosts and remarks. */
int kab_night_execute(struct kab_night *night, struct kab_err *err);

/* ---- night_judge.c ---- */
struct kab_night_verdict {
	int64_t run_id;
	struct kab_run_info info;
	struct kab_row_list rows; /* without the reference, unless it is the baseline */
	struct kab_judgement judgement;
};
/* Load and judge one run. 1: it has no results. */
int kab_night_load_verdict(struct kab_night *night, int64_t run_id, struct kab_night_verdict *ret,
			   struct kab_err *err);
void kab_night_verdict_release(struct kab_night_verdict *v);
/* Judge what is not judged yet: points, nominations, kernels that do not boot. */
int kab_night_judge(struct kab_night *night, struct kab_err *err);

/* ---- night_confirm.c ---- */
/* Confirmed regressions that are neither acknowledged nor over; *ret_why (caller frees; NULL when
 * there are none) is a phrase about them. */
int kab_night_open_regressions(struct kab_night *night, size_t *ret_n, char **ret_why,
			       struct kab_err *err);
/* Make the runs that confirm what was nominated, as far as time allows. *ret_n: how many. */
int kab_night_make_confirmations(struct kab_night *night, size_t *ret_n, struct kab_err *err);
/* Verdicts of those that were run. */
int kab_night_settle_confirmations(struct kab_night *night, struct kab_err *err);

/* ---- night_tidy.c ---- */
/* Kernels of old nights go from the hosts and from the state folder. What cannot be removed is logged. */
int kab_night_tidy(struct kab_night *night, struct kab_err *err);

/* ---- night_mail.c, night_report.c ---- */
int kab_night_mail(struct kab_night *night, struct kab_err *err);
/* Send what waits; what cannot be sent is a remark, not a failure. */
int kab_night_send(struct kab_night *night, struct kab_err *err);
int kab_night_archive(struct kab_night *night, struct kab_err *err);
/* Parts of what is written: which night and kernels, remarks under heads, tables of runs (only one of
 * them when it is named). */
void kab_night_head_text(struct kab_night *night, struct kab_buf *ret);
int kab_night_remark_text(struct kab_night *night, struct kab_buf *ret, struct kab_err *err);
int kab_night_tables(struct kab_night *night, const char *only, bool brief, struct kab_buf *ret,
		     struct kab_err *err);
/* The report of the night as text. */
int kab_night_report(struct kab_night *night, struct kab_buf *ret, struct kab_err *err);

#endif
