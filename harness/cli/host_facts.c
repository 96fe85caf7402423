/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/host_facts.h"

#include <string.h>

#include "cli/setup.h"

int kab_cli_host_facts(struct kab_cli *cli, const char *host, struct kab_facts *ret,
		       struct kab_err *err)
{
	struct kab_probe_host *hosts = NULL;
	struct kab_lab lab = { 0 };
	int status = -1;
	size_t n = 0;

	if (kab_setup_lab(cli, &lab, err) == 0 &&
	    kab_setup_hosts(&lab, host, &hosts, &n, err) == 0) {
		if (n != 1) {
			kab_err_set(err, KAB_ERR_USAGE, "expected one host, found '%s'", host);
		} else {
			kab_probe_all(hosts, n, 60, cli->cancel_fd, &cli->log);
			status = hosts[0].failed ? -1 : 0;
			if (status < 0)
				*err = hosts[0].err;
			else
				kab_facts_copy(ret, &hosts[0].facts);
		}
	}
	kab_setup_hosts_free(hosts, n);
	kab_lab_release(&lab);
	return status;
}
