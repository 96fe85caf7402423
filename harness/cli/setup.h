/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What several commands need before they work on hosts: the lab, suites by name, probing. */
#ifndef KAB_CLI_SETUP_H
#define KAB_CLI_SETUP_H

#include "cli/cli.h"
#include "cli/events_json.h"
#include "cli/interrupt.h"
#include "engine/engine.h"
#include "engine/probe.h"
#include "model/lab.h"
#include "model/suite.h"

/* --lab, else KAB_LAB, else kab/lab.json in the XDG config folder if it exists, else only local. */
int kab_setup_lab(const struct kab_cli *cli, struct kab_lab *ret, struct kab_err *err);
/* Have the hosts of a lab that was loaded otherwise share what connections share. */
void kab_setup_share(const struct kab_cli *cli, struct kab_lab *lab);
/* A suite by path, or by name in ./suites, the user's and the installed folder; bound. */
int kab_setup_suite(const char *name, struct kab_suite *ret, struct kab_err *err);
/* Folders that are searched for suites, in order; caller releases. */
void kab_setup_suite_dirs(struct kab_strv *ret);
/* Names of the suites in a folder, in their order, appended. */
void kab_setup_suite_names(const char *dir, struct kab_strv *ret);
/* "H[,H]" (NULL: "local") into hosts of the lab; caller frees *ret. */
int kab_setup_hosts(const struct kab_lab *lab, const char *names, struct kab_probe_host **ret,
		    size_t *ret_n, struct kab_err *err);
void kab_setup_hosts_free(struct kab_probe_host *hosts, size_t n);

/* Execute a stored run, show progress, print what has to be done next and the report. Returns the
 * exit status. */
struct kab_execute_opts {
	double lease_wait_s;
	bool gate, report;
	struct kab_events *events; /* NULL: none */
};
int kab_setup_execute(struct kab_cli *cli, struct kab_store *store, int64_t run_id,
		      const char *run_name, const struct kab_lab *lab,
		      const struct kab_interrupt *interrupt, const struct kab_execute_opts *opts);

#endif
