/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fixture.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

void expect_ok(struct fixture *f, int rc, const char *file, int line)
{
	if (!rc)
		return;
	print_error("%s:%d: returned %d: %s\n", file, line, rc, f->err.text);
	fail();
}

void assert_contains(const char *text, const char *part)
{
	if (strstr(text, part))
		return;
	print_error("'%s' does not contain '%s'\n", text, part);
	fail();
}

int fixture_setup(void **state)
{
	struct fixture *f = kab_xcalloc(1, sizeof(*f));

	snprintf(f->dir, sizeof(f->dir), "/tmp/kab-store-XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	f->path = kab_xasprintf("%s/new/kab.db", f->dir);
	*state = f;
	if (kab_store_open(f->path, KAB_STORE_WRITE, &f->store, &f->err)) {
		print_error("%s\n", f->err.text);
		return -1;
	}
	return 0;
}

static void remove_folder(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		kab_autofree char *name = kab_xasprintf("%s/%s", path, e->d_name);

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (e->d_type == DT_DIR)
			remove_folder(name);
		else
			unlink(name);
	}
	if (dir)
		closedir(dir);
	rmdir(path);
}

int fixture_teardown(void **state)
{
	struct fixture *f = *state;

	kab_store_close(f->store);
	remove_folder(f->dir);
	free(f->path);
	free(f);
	return 0;
}

void mini_create(struct fixture *f, struct mini *m, const char *name, const char *plan_json)
{
	*m = (struct mini){
		.run = { .name = name,
			 .suite_name = "s",
			 .suite_json = "{\"name\":\"s\"}",
			 .plan_json = plan_json,
			 .command_line = "kab run s",
			 .kab_version = "0",
			 .created_wall_ns = 1000 },
		.host = { { .label = "h" } },
		.kernel = { { .label = "base", .spec = "running", .position = 0 },
			    { .label = "patched", .spec = "running", .position = 1 } },
	};
	for (size_t b = 0; b < 4; b++)
		m->boot[b] = (struct kab_store_boot){ .kernel = b % 2,
						      .block = (int)(b / 2),
						      .sequence = (int)b + 1 };
	for (size_t s = 0; s < 12; s++)
		m->step[s] = (struct kab_store_step){
			.boot = s / 3,
			.condition = "",
			.case_name = "c",
			.row_key = "",
			.runner = "synthetic",
			.params_text = "mean=1",
			.iteration = s % 3 == 2 ? 2 : 1,
			.warmup = s % 3 == 0,
			.sequence = (int64_t)s + 1,
		};
	OK(f, kab_store_create_run(f->store, &m->run, m->host, 1, m->kernel, 2, m->boot, 4, m->step,
				   12, &m->name, &f->err));
}

void mini_release(struct mini *m)
{
	free(m->name);
}

void prove(struct fixture *f, int64_t boot_id, const char *build_id, const char *os_boot)
{
	char release[] = "6.1.0", empty[] = "";
	char *build = kab_xstrdup(build_id);
	struct kab_kernel_id id = { release, build, empty, empty };
	struct kab_facts facts = { 0 };

	kab_facts_set(&facts, "cpus", "8");
	kab_facts_set(&facts, "release", release);
	OK(f,
	   kab_store_boot_proven(f->store, boot_id, &id, "abcd", os_boot, &facts, 5000, &f->err));
	kab_facts_release(&facts);
	free(build);
}

void commit_done(struct fixture *f, int64_t iteration, const double *values, size_t n)
{
	struct kab_samples samples = { 0 };
	struct kab_store_result r = {
		.iteration_id = iteration,
		.state = KAB_ITER_DONE,
		.parse_status = "ok",
		.elapsed_s = 1.5,
		.user_s = NAN,
		.system_s = NAN,
		.max_rss_kb = NAN,
		.params_resolved = "mean=1",
		.runner_version = "1",
		.parser_version = "1",
	};

	for (size_t i = 0; i < n; i++)
		kab_samples_add(&samples, "time", "s", KAB_DIR_LOWER, values[i]);
	r.samples = samples.v;
	r.n_samples = samples.n;
	OK(f, kab_store_commit_iteration(f->store, &r, &f->err));
	kab_samples_release(&samples);
}

void commit_state(struct fixture *f, int64_t iteration, enum kab_iter_state state,
		  const char *reason)
{
	struct kab_store_result r = {
		.iteration_id = iteration,
		.state = state,
		.reason = reason,
		.exit_status = 1,
		.elapsed_s = NAN,
		.user_s = NAN,
		.system_s = NAN,
		.max_rss_kb = NAN,
	};

	OK(f, kab_store_commit_iteration(f->store, &r, &f->err));
}
