/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cli/reproduce.h"

static void as(const char *line, const char *plan, bool names, const char *want)
{
	char *got = kab_reproduce_command(line, plan, names);

	assert_string_equal(got, want);
	free(got);
}

static void what_is_local_goes(void **state)
{
	(void)state;
	as("/opt/kab/bin/kab --db /home/me/x.db run quick --aa --wait 1200 --name mine "
	   "--lab=l.json",
	   "{\"seed\": 41}", false, "kab run quick --aa --seed 41");
	as("kab run suites/q.json --host secret --seed 7", "{\"seed\": 7}", false,
	   "kab run suites/q.json --host HOST --seed 7");
	as("kab run q --host=secret --name=x --boots=5", NULL, false,
	   "kab run q --host HOST --boots=5");
	as("kab run /home/me/q.json --name x", "{\"seed\": 1}", true,
	   "kab run /home/me/q.json --name x --seed 1");
	as("kab run q --kernel 'b=deb:/home/me/a.deb,/home/me/b.deb;cmdline=root=x/y' --kernel "
	   "c=image:/boot/v,initrd=/boot/i --kernel=d=@/etc/k.json",
	   NULL, false,
	   "kab run q --kernel 'b=deb:a.deb,b.deb;cmdline=root=x/y' --kernel "
	   "c=image:v,initrd=i --kernel=d=@k.json");
	as("kab run q --kernel c=deb:https://lab.example/p/a.deb", NULL, false,
	   "kab run q --kernel c=deb:https://lab.example/p/a.deb");
	as("kab import --csv data.csv --name x", "{\"seed\": 3}", false,
	   "kab import --csv data.csv");
}

/* Only where a shell would change the word. */
static void quotes_are_needed(void **state)
{
	(void)state;
	as("kab run 'q' --kernel 'base=running' --condition 'smt=on,off'", NULL, false,
	   "kab run q --kernel base=running --condition smt=on,off");
	as("kab run q --kernel 'b=running;cmdline=nosmt quiet'", NULL, false,
	   "kab run q --kernel 'b=running;cmdline=nosmt quiet'");
	as("kab run 'it'\\''s' ''", NULL, false, "kab run 'it'\\''s' ''");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_local_goes),
		cmocka_unit_test(quotes_are_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
