/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/export_import.h"

#include <string.h>

#include "exchange/bundle.h"

bool kab_import_is_bundle(const struct kab_args *args)
{
	char magic[4];
	FILE *f;
	size_t n;

	if (kab_args_get(args, "bundle"))
		return true;
	if (kab_args_n(args) != 1 || kab_args_get(args, "csv") || kab_args_get(args, "runner") ||
	    kab_args_get(args, "from"))
		return false;
	f = fopen(kab_args_at(args, 0), "re");
	n = f ? fread(magic, 1, sizeof(magic), f) : 0;
	if (f)
		fclose(f);
	return kab_bundle_is(magic, n);
}

static int check(const struct kab_args *args, struct kab_err *err)
{
	static const char *const none[] = { "csv",	   "runner", "from",  "kernel", "baseline",
					    "case",	   "host",   "param", "name",	"margin",
					    "exit-status", "boots",  "again", "dry-run" };
	const char *hash = kab_args_get(args, "sha256");

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		if (kab_args_flag(args, none[i]))
			return kab_err_set(err, KAB_ERR_USAGE,
					   "a bundle says all by itself: no --%s with --bundle",
					   none[i]);
	if (kab_args_get(args, "bundle") && kab_args_n(args))
		return kab_err_set(err, KAB_ERR_USAGE,
				   "with --bundle there is one file, not also '%s'",
				   kab_args_at(args, 0));
	if (hash && (strlen(hash) != 64 || strspn(hash, "0123456789abcdef") != 64))
		return kab_err_set(err, KAB_ERR_USAGE,
				   "'%s' is no SHA-256: 64 small hexadecimal digits", hash);
	return 0;
}

static void say(struct kab_cli *cli, const struct kab_bundle_result *r)
{
	for (size_t i = 0; i < r->names.n; i++) {
		const char *wish = r->wished.v[i], *name = r->names.v[i];

		if (r->here.v[i])
			kab_cli_say(cli,
				    "kab: run '%s' of the bundle is here already, as '%s'; "
				    "nothing was stored",
				    wish, name);
		else if (r->other.v[i])
			kab_cli_say(cli,
				    "kab: note: '%s' is the same run in another state than "
				    "'%s', which is kept",
				    name, r->other.v[i]);
		else if (strcmp(wish, name))
			kab_cli_say(cli, "kab: note: there is a run '%s' already; this one is '%s'",
				    wish, name);
		fprintf(cli->out, "%s\n", name);
	}
	kab_cli_say(cli, "SHA-256 %s", r->info.sha256);
	if (!r->output)
		kab_cli_say(cli, "kab: note: it has no raw output: 'kab reparse' has nothing to "
				 "read");
}

int kab_import_bundle(struct kab_cli *cli, const struct kab_args *args)
{
	const char *file = kab_args_get(args, "bundle");
	struct kab_bundle_result result = { 0 };
	struct kab_err err = KAB_ERR_INIT;
	struct kab_store *store;
	int rc;

	if (check(args, &err) || kab_cli_open_store(cli, KAB_STORE_WRITE, &store, &err))
		return kab_cli_fail(cli, &err);
	rc = kab_bundle_read(store, file ? file : kab_args_at(args, 0),
			     kab_args_get(args, "sha256"), KAB_VERSION, &result, &err);
	kab_store_close(store);
	if (rc)
		return kab_cli_fail(cli, &err);
	say(cli, &result);
	kab_bundle_result_release(&result);
	return kab_cli_finish(cli, KAB_EXIT_OK);
}
