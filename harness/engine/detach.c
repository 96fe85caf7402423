/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/detach.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/rng.h"
#include "base/strv.h"
#include "engine/detach_job.h"
#include "engine/lease.h"

#define JOB_MAX ((size_t)4 << 20)
/* What `fetch` exits with when there is no such file. */
#define FETCH_MISSING 66

struct kab_detach {
	struct kab_session *s;
	struct kab_strv prefix; /* words of `become` */
	char *base;
	char *agent; /* path of the script on the target */
};

void kab_detach_close(struct kab_detach *d)
{
	if (!d)
		return;
	kab_strv_release(&d->prefix);
	free(d->base);
	free(d->agent);
	free(d);
}

const char *kab_detach_base(const struct kab_detach *d)
{
	return d->base;
}

static int probe(struct kab_detach *d, const char *workdir, const struct kab_wait *wait,
		 bool *is_root, struct kab_err *err)
{
	struct kab_strv args kab_autostrv = KAB_STRV_INIT;
	struct kab_buf why kab_autobuf = KAB_BUF_INIT;
	struct kab_answer a;
	const char *dir;

	kab_strv_add(&args, "probe-dir");
	kab_strv_add(&args, workdir ? workdir : "");
	if (kab_agent_call(d->s, NULL, NULL, &args, NULL, 0, wait, &a, err) < 0)
		return -1;
	dir = kab_answer_get(&a, "dir");
	*is_root = kab_answer_int(&a, "uid", -1) == 0;
	if (dir)
		d->base = kab_xstrdup(dir);
	for (size_t i = 0; !dir && i < a.lines.n; i++)
		if (strncmp(a.lines.v[i], "refused=", 8) == 0)
			kab_buf_addf(&why, "%s%s", why.len ? "; " : "", a.lines.v[i] + 8);
	kab_answer_release(&a);
	if (!d->base)
		return kab_err_set(err, KAB_ERR_REMOTE,
				   "host '%s' has no folder for runs (%s); name a writable one as "
				   "\"workdir\" in the lab file",
				   d->s->ep->name, kab_buf_str(&why));
	return 0;
}

static int set_become(struct kab_detach *d, const char *become, bool is_root,
		      const struct kab_wait *wait, struct kab_err *err)
{
	static const char *const argv[] = { "sudo", "-n", "true", NULL };
	struct kab_exec req = { .argv = argv };
	struct kab_exec_result res;
	int rc = 0;

	if (!become || !*become)
		return 0;
	if (strcmp(become, "sudo") != 0)
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "host '%s': cannot become root by '%s'; the only way known is "
				   "\"sudo\"",
				   d->s->ep->name, become);
	if (is_root)
		return 0;
	if (d->s->ops->exec(d->s, &req, wait, &res, err) < 0)
		return -1;
	if (res.exit_status != 0) {
		kab_buf_rtrim(&res.err, "\n");
		rc = kab_err_set(err, KAB_ERR_AUTH,
				 "host '%s': sudo does not work without a password (%s); allow it "
				 "with a NOPASSWD rule for this user, or take \"become\" out of "
				 "the lab file",
				 d->s->ep->name, kab_buf_str(&res.err));
	}
	kab_exec_result_release(&res);
	kab_strv_add(&d->prefix, "sudo");
	kab_strv_add(&d->prefix, "-n");
	return rc;
}

int kab_detach_open(struct kab_session *s, const char *workdir, const char *become,
		    const struct kab_wait *wait, struct kab_detach **ret, struct kab_err *err)
{
	struct kab_detach *d = kab_xcalloc(1, sizeof(*d));
	bool is_root = false;

	*ret = NULL;
	d->s = s;
	if (probe(d, workdir, wait, &is_root, err) < 0 ||
	    set_become(d, become, is_root, wait, err) < 0)
		goto fail;
	d->agent = kab_xasprintf("%s/agent-%s.sh", d->base, kab_agent_sh_id);
	if (s->ops->put(s, d->agent, kab_agent_sh, kab_agent_sh_len, 0644, wait, err) < 0)
		goto fail;
	*ret = d;
	return 0;
fail:
	kab_detach_close(d);
	return -1;
}

/* Command, base and run, and what is added to them. */
static void begin_args(struct kab_strv *args, const struct kab_detach *d, const char *command,
		       const char *run_id)
{
	kab_strv_add(args, command);
	kab_strv_add(args, d->base);
	kab_strv_add(args, run_id);
}

static int check_name(const char *run_id, struct kab_err *err)
{
	if (kab_detach_name_ok(run_id))
		return 0;
	return kab_err_set(err, KAB_ERR_CONFIG, "'%s' cannot be the name of a run",
			   run_id ? run_id : "");
}

/* Call a command that answers with a state. */
static int call_state(struct kab_detach *d, const struct kab_strv *args, const struct kab_buf *in,
		      const struct kab_wait *wait, struct kab_detach_result *ret,
		      struct kab_err *err)
{
	struct kab_detach_result unused;
	struct kab_answer a;
	int rc;

	if (kab_agent_call(d->s, &d->prefix, d->agent, args, in ? in->data : NULL, in ? in->len : 0,
			   wait, &a, err) < 0)
		return -1;
	if (kab_answer_get(&a, "busy"))
		rc = kab_err_set(err, KAB_ERR_BUSY,
				 "host '%s': the lease is not ours any more; it is with '%s'",
				 d->s->ep->name, kab_answer_get(&a, "owner"));
	else
		rc = kab_detach_read_answer(&a, ret ? ret : &unused, err);
	kab_answer_release(&a);
	if (rc == 0 && ret && ret->state == KAB_DETACH_DONE && strcmp(ret->step, "lease") == 0)
		rc = kab_err_set(err, KAB_ERR_BUSY,
				 "host '%s': the lease changed hands before the run began",
				 d->s->ep->name);
	return rc;
}

static int simple_call(struct kab_detach *d, const char *command, const char *run_id,
		       const struct kab_wait *wait, struct kab_detach_result *ret,
		       struct kab_err *err)
{
	struct kab_strv args kab_autostrv = KAB_STRV_INIT;

	if (check_name(run_id, err) < 0)
		return -1;
	begin_args(&args, d, command, run_id);
	return call_state(d, &args, NULL, wait, ret, err);
}

int kab_detach_wait(struct kab_detach *d, const char *run_id, const struct kab_wait *wait,
		    struct kab_detach_result *ret, struct kab_err *err)
{
	return simple_call(d, "wait", run_id, wait, ret, err);
}

int kab_detach_status(struct kab_detach *d, const char *run_id, const struct kab_wait *wait,
		      struct kab_detach_result *ret, struct kab_err *err)
{
	return simple_call(d, "status", run_id, wait, ret, err);
}

int kab_detach_kill(struct kab_detach *d, const char *run_id, const struct kab_wait *wait,
		    struct kab_detach_result *ret, struct kab_err *err)
{
	return simple_call(d, "kill", run_id, wait, ret, err);
}

static int stage(struct kab_detach *d, const char *run_id, const char *nonce,
		 const struct kab_detach_file *f, const struct kab_wait *wait, struct kab_err *err)
{
	struct kab_strv args kab_autostrv = KAB_STRV_INIT;
	struct kab_answer a;

	if (!*f->name || strchr(f->name, '/') || f->name[0] == '-' || strcmp(f->name, ".") == 0 ||
	    strcmp(f->name, "..") == 0)
		return kab_err_set(err, KAB_ERR_CONFIG, "'%s' cannot be placed as a file", f->name);
	begin_args(&args, d, "stage", run_id);
	kab_strv_add(&args, nonce);
	kab_strv_add(&args, f->name);
	kab_strv_addf(&args, "%o", (f->mode ? f->mode : 0644) & 07777);
	kab_strv_addf(&args, "%zu", f->len);
	if (kab_agent_call(d->s, &d->prefix, d->agent, &args, f->data, f->len, wait, &a, err) < 0)
		return -1;
	kab_answer_release(&a);
	return 0;
}

int kab_detach_start(struct kab_detach *d, const struct kab_detach_spec *spec,
		     const struct kab_wait *wait, struct kab_detach_result *ret,
		     struct kab_err *err)
{
	struct kab_strv args kab_autostrv = KAB_STRV_INIT;
	struct kab_buf job kab_autobuf = { .max = JOB_MAX };
	struct kab_rng rng;
	char nonce[20];

	kab_rng_seed_label(&rng, (uint64_t)kab_now_wall_ns() ^ (uint64_t)(uintptr_t)d,
			   spec->run_id ? spec->run_id : "");
	snprintf(nonce, sizeof(nonce), "%016llx", (unsigned long long)kab_rng_u64(&rng));
	if (kab_detach_job(spec, nonce, &job, err) < 0)
		return -1;
	for (size_t i = 0; i < spec->n_files; i++)
		if (stage(d, spec->run_id, nonce, &spec->files[i], wait, err) < 0)
			return -1;
	begin_args(&args, d, "start", spec->run_id);
	kab_strv_add(&args, nonce);
	kab_strv_addf(&args, "%zu", job.len);
	kab_strv_addf(&args, "%llu", (unsigned long long)spec->token);
	kab_strv_add(&args, spec->lease_dir ? spec->lease_dir : KAB_LEASE_DIR);
	return call_state(d, &args, &job, wait, ret, err);
}

int kab_detach_fetch(struct kab_detach *d, const char *run_id, const char *name, uint64_t offset,
		     size_t max, const struct kab_wait *wait, struct kab_buf *ret,
		     struct kab_err *err)
{
	struct kab_strv argv kab_autostrv = KAB_STRV_INIT;
	struct kab_exec_result res;
	int rc = 0;

	if (check_name(run_id, err) < 0)
		return -1;
	if (!*name || name[0] == '/' || strcmp(name, "..") == 0 || strncmp(name, "../", 3) == 0 ||
	    strstr(name, "/../"))
		return kab_err_set(err, KAB_ERR_CONFIG, "'%s' is not a file of a run", name);
	kab_strv_copy(&argv, &d->prefix);
	kab_strv_add(&argv, "sh");
	kab_strv_add(&argv, d->agent);
	begin_args(&argv, d, "fetch", run_id);
	kab_strv_add(&argv, name);
	kab_strv_addf(&argv, "%llu", (unsigned long long)offset);
	/* One byte more than wanted, which the cap then drops, tells that there is more. */
	kab_strv_addf(&argv, "%zu", max + 1);
	struct kab_exec req = { .argv = (const char *const *)argv.v, .out_max = max };
	if (d->s->ops->exec(d->s, &req, wait, &res, err) < 0)
		return -1;
	if (res.exit_status == FETCH_MISSING) {
		rc = 1;
	} else if (res.exit_status != 0 || res.err.len) {
		kab_buf_rtrim(&res.err, "\n");
		rc = kab_err_set(err, KAB_ERR_REMOTE, "host '%s': cannot read '%s' of run '%s': %s",
				 d->s->ep->name, name, run_id, kab_buf_str(&res.err));
	} else {
		kab_buf_add(ret, kab_buf_str(&res.out), res.out.len);
		ret->cut = ret->cut || res.out.cut;
	}
	kab_exec_result_release(&res);
	return rc;
}

int kab_detach_clean(struct kab_detach *d, const char *run_id, const struct kab_wait *wait,
		     struct kab_err *err)
{
	struct kab_strv args kab_autostrv = KAB_STRV_INIT;
	struct kab_answer a;

	if (check_name(run_id, err) < 0)
		return -1;
	begin_args(&args, d, "clean", run_id);
	if (kab_agent_call(d->s, &d->prefix, d->agent, &args, NULL, 0, wait, &a, err) < 0)
		return -1;
	kab_answer_release(&a);
	return 0;
}

int kab_detach_list(struct kab_detach *d, const struct kab_wait *wait, struct kab_strv *ret,
		    struct kab_err *err)
{
	struct kab_strv args kab_autostrv = KAB_STRV_INIT;
	struct kab_answer a;

	begin_args(&args, d, "list", "");
	if (kab_agent_call(d->s, &d->prefix, d->agent, &args, NULL, 0, wait, &a, err) < 0)
		return -1;
	for (size_t i = 0; i < a.lines.n; i++)
		if (strncmp(a.lines.v[i], "run=", 4) == 0)
			kab_strv_add(ret, a.lines.v[i] + 4);
	kab_answer_release(&a);
	return 0;
}
