/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <curl/curl.h>
#include <gsl/gsl_version.h>
#include <jansson.h>
#include <libssh2.h>
#include <sqlite3.h>

#include "cli/cli.h"

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	(void)args;
	fprintf(cli->out,
		"kab %s\nlibssh2 %s, SQLite %s, GSL %s, jansson %s, libcurl %s\n"
		"Licence GPL-3.0-or-later. There is no warranty.\n",
		KAB_VERSION, libssh2_version(0), sqlite3_libversion(), gsl_version,
		jansson_version_str(), curl_version_info(CURLVERSION_NOW)->version);
	return KAB_EXIT_OK;
}

const struct kab_cmd kab_cmd_version = {
	.name = "version",
	.summary = "print the version and those of its libraries",
	.synopsis = "",
	.description = "Prints the version of kab and of the libraries it runs with.",
	.example = "  kab version",
	.run = run,
};
