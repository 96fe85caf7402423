/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The proof of a boot, and what a console log says about a host that stays away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "engine/reboot.h"

#define RELEASE "6.12.95+deb12-amd64"
#define NONCE "46afc20a26dc9794"

static void proof(void **state)
{
	static const struct {
		const char *boot_id, *release, *cmdline, *build_id, *wanted_id, *nonce;
		const char *why; /* NULL: proven */
	} table[] = {
		{ "b", RELEASE, "ro kab.nonce=" NONCE " panic=30", "abcdef0123", NULL, NONCE,
		  NULL },
		{ "b", RELEASE, "ro kab.nonce=" NONCE, "abcdef0123", "ABCDEF01", NONCE, NULL },
		{ "b", RELEASE, "ro", "", NULL, NULL, NULL },
		{ "a", RELEASE, "kab.nonce=" NONCE, "", NULL, NONCE, "did not restart" },
		{ "", RELEASE, "kab.nonce=" NONCE, "", NULL, NONCE, "did not restart" },
		{ "b", "6.1.0", "kab.nonce=" NONCE, "", NULL, NONCE,
		  "came back with 6.1.0 instead of " RELEASE },
		/* One that begins alike is another. */
		{ "b", RELEASE "-rt", "kab.nonce=" NONCE, "", NULL, NONCE, "came back with" },
		{ "b", RELEASE, "kab.nonce=0000000000000000", "", NULL, NONCE, "without our mark" },
		{ "b", RELEASE, "ro", "", NULL, NONCE, "without our mark" },
		{ "b", RELEASE, "kab.nonce=" NONCE, "abcdef0123", "0123456789", NONCE,
		  "its build id is abcdef0123, not 0123456789" },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(table); i++) {
		struct kab_facts facts = { 0 };
		char *why = NULL;
		int proven;

		kab_facts_set(&facts, "boot_id", table[i].boot_id);
		kab_facts_set(&facts, "release", table[i].release);
		kab_facts_set(&facts, "cmdline", table[i].cmdline);
		kab_facts_set(&facts, "build_id", table[i].build_id);
		proven = kab_reboot_prove(&facts, "a", RELEASE, table[i].wanted_id, table[i].nonce,
					  &why);
		if (proven != !table[i].why)
			fail_msg("row %zu: %s", i, why ? why : "proven");
		if (table[i].why && !strstr(why, table[i].why))
			fail_msg("row %zu: '%s' is not in: %s", i, table[i].why, why);
		free(why);
		kab_facts_release(&facts);
	}
}

static void diagnosis(void **state)
{
	static const struct {
		const char *console, *said;
	} table[] = {
		{ "", "hangs or never started" },
		{ "GRUB loading.\r\nLoading initial ramdisk ...\r\n", "hangs or never started" },
		{ "[    0.000000] Linux version " RELEASE " (gcc) #1\r\n",
		  "hangs: the console shows" },
		{ "[    0.0] Linux version " RELEASE "\n\nlab login: ", "boots, not reachable" },
		{ "[    1.5] Kernel panic - not syncing: VFS: Unable to mount root fs\r\nlogin:\n",
		  "panics: Kernel panic - not syncing: VFS: Unable to mount root fs" },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(table); i++) {
		char *said =
			kab_reboot_diagnose(table[i].console, strlen(table[i].console), RELEASE);

		if (strncmp(said, table[i].said, strlen(table[i].said)))
			fail_msg("row %zu: %s", i, said);
		assert_null(strpbrk(said, "\r\n"));
		free(said);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(proof),
		cmocka_unit_test(diagnosis),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
