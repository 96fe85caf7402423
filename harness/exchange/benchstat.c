/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The Go benchmark data format (golang.org/design/14313-benchmark-format, with the unit metadata of
 * golang.org/issue/43744). benchstat takes lines for independent measurements; iterations of one boot
 * are not, so that a line is a boot.
 */
#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strv.h"
#include "exchange/export.h"

/* A part of a name: no blanks, and no '/', which parts names. */
static void add_part(struct kab_buf *ret, const char *s)
{
	kab_buf_addc(ret, '/');
	for (; *s; s++)
		kab_buf_addc(ret, isgraph((unsigned char)*s) && *s != '/' ? *s : '_');
}

static int64_t cpus_of(const struct kab_export *x, const char *host)
{
	for (size_t i = 0; i < x->n_boots; i++)
		if (!strcmp(x->boots[i].host, host) && kab_facts_int(&x->facts[i], "cpus", 0) > 0)
			return kab_facts_int(&x->facts[i], "cpus", 0);
	return 0;
}

/* "BenchmarkHackbench/case/groups=4-8": -8 are the CPUs of the host, where Go has GOMAXPROCS. */
static void add_name(const struct kab_export *x, const struct kab_row_data *row,
		     struct kab_buf *ret)
{
	int64_t cpus = cpus_of(x, row->host);
	size_t from = ret->len, end;

	kab_buf_adds(ret, "Benchmark");
	for (const char *p = row->runner; *p; p++) {
		char c = isgraph((unsigned char)*p) && *p != '/' ? *p : '_';

		/* A small letter here would make it no benchmark. */
		kab_buf_addc(ret, p == row->runner ? (char)toupper((unsigned char)c) : c);
	}
	add_part(ret, row->case_name);
	if (*row->condition)
		add_part(ret, row->condition);
	if (*row->row_key) {
		struct kab_strv kab_autostrv keys = KAB_STRV_INIT;

		kab_strv_split(&keys, row->row_key, ' ');
		for (size_t i = 0; i < keys.n; i++)
			if (*keys.v[i])
				add_part(ret, keys.v[i]);
	}
	if (cpus) {
		kab_buf_addf(ret, "-%lld", (long long)cpus);
		return;
	}
	/* A name that ends like "-4" would be read as one CPU count. */
	for (end = ret->len; end > from && isdigit((unsigned char)ret->data[end - 1]);)
		end--;
	if (end < ret->len && end > from && ret->data[end - 1] == '-')
		ret->data[end - 1] = '_';
}

static void add_unit(struct kab_buf *ret, const struct kab_row_data *row)
{
	size_t from = ret->len;

	kab_buf_adds(ret, row->metric);
	if (*row->unit)
		kab_buf_addf(ret, "-%s", row->unit);
	for (size_t i = from; i < ret->len; i++)
		if (!isgraph((unsigned char)ret->data[i]))
			ret->data[i] = '_';
}

static void add_units(const struct kab_export *runs, size_t n, const struct kab_export_opts *opts,
		      struct kab_buf *ret)
{
	struct kab_strv kab_autostrv seen = KAB_STRV_INIT;

	for (size_t r = 0; r < n; r++)
		for (size_t i = 0; i < runs[r].rows.n; i++) {
			const struct kab_row_data *row = &runs[r].rows.v[i];
			struct kab_buf kab_autobuf unit = KAB_BUF_INIT;

			if ((!row->primary && !opts->all) || row->dir == KAB_DIR_NONE)
				continue;
			add_unit(&unit, row);
			if (kab_strv_has(&seen, kab_buf_str(&unit)))
				continue;
			kab_strv_add(&seen, kab_buf_str(&unit));
			kab_buf_addf(ret, "Unit %s better=%s\n", kab_buf_str(&unit),
				     kab_direction_name(row->dir));
		}
}

static void add_value(const struct kab_export *x, const struct kab_row_data *row, size_t n,
		      double value, struct kab_buf *ret)
{
	add_name(x, row, ret);
	kab_buf_addf(ret, " %zu ", n);
	kab_export_number(value, ret);
	kab_buf_addc(ret, ' ');
	add_unit(ret, row);
	kab_buf_addc(ret, '\n');
}

/* A comment is a line that is neither a result nor "key: value". */
static void add_comment(struct kab_buf *ret, const char *text)
{
	kab_buf_adds(ret, "# ");
	for (; *text; text++)
		kab_buf_addc(ret, (unsigned char)*text < ' ' ? ' ' : *text);
	kab_buf_addc(ret, '\n');
}

static void add_set(const struct kab_export *x, const struct kab_row_data *row,
		    const struct kab_sample_set *set, const struct kab_export_opts *opts,
		    struct kab_buf *ret)
{
	size_t lost = set->n_failed + set->n_missing;

	for (size_t b = 0; b < set->n_boots; b++) {
		const struct kab_boot_obs *boot = &set->boots[b];
		double sum = 0;

		for (size_t i = 0; i < boot->n; i++) {
			sum += boot->v[i].value;
			if (opts->iterations)
				add_value(x, row, boot->v[i].repeats, boot->v[i].value, ret);
		}
		if (!opts->iterations && boot->n)
			add_value(x, row, boot->n, sum / (double)boot->n, ret);
	}
	if (lost) {
		struct kab_buf kab_autobuf text = KAB_BUF_INIT;

		kab_buf_addf(&text,
			     "%s %s: failed or missing: %zu of %zu iterations: ", row->case_name,
			     row->row_key, lost, set->n_planned);
		kab_export_sentence(x,
				    set->first_failure ? set->first_failure : "no reason is known",
				    opts->names, &text);
		add_comment(ret, kab_buf_str(&text));
	}
}

static bool many_hosts(const struct kab_export *x)
{
	for (size_t i = 1; i < x->n_boots; i++)
		if (strcmp(x->boots[i].host, x->boots[0].host))
			return true;
	return false;
}

/* Rows of one kernel; a configuration line holds for all that is below it. */
static bool add_kernel(const struct kab_export *x, const char *kernel,
		       const struct kab_export_opts *opts, struct kab_buf *ret)
{
	struct kab_buf kab_autobuf last = KAB_BUF_INIT;
	bool hosts = many_hosts(x), any = false;

	for (size_t i = 0; i < x->rows.n; i++) {
		const struct kab_row_data *row = &x->rows.v[i];
		struct kab_buf kab_autobuf host = KAB_BUF_INIT;

		if (!row->primary && !opts->all)
			continue;
		for (size_t s = 0; s < row->n_sets; s++) {
			if (strcmp(row->sets[s].kernel, kernel))
				continue;
			kab_export_host(x, row->host, opts->names, &host);
			if (!any && !opts->kernel)
				kab_buf_addf(ret, "kernel: %s\n", kernel);
			if (hosts && strcmp(kab_buf_str(&last), kab_buf_str(&host)))
				kab_buf_addf(ret, "host: %s\n", kab_buf_str(&host));
			kab_buf_clear(&last);
			kab_buf_adds(&last, kab_buf_str(&host));
			any = true;
			add_set(x, row, &row->sets[s], opts, ret);
		}
	}
	return any;
}

int kab_export_benchstat(const struct kab_export *runs, size_t n,
			 const struct kab_export_opts *opts, struct kab_buf *ret,
			 struct kab_err *err)
{
	bool any = false;

	add_comment(ret, opts->iterations ? "a line is an iteration: iterations of one boot are "
					    "not independent, p values will be too small"
					  : "a line is the mean of the iterations of one boot");
	if (!opts->kernel)
		add_comment(ret, "benchstat -col kernel FILE");
	add_units(runs, n, opts, ret);
	for (size_t r = 0; r < n; r++) {
		const struct kab_export *x = &runs[r];
		struct kab_strv kab_autostrv kernels = KAB_STRV_INIT;

		for (size_t i = 0; i < x->rows.n; i++)
			for (size_t s = 0; s < x->rows.v[i].n_sets; s++)
				if (!kab_strv_has(&kernels, x->rows.v[i].sets[s].kernel))
					kab_strv_add(&kernels, x->rows.v[i].sets[s].kernel);
		if (n > 1)
			kab_buf_addf(ret, "run: %s\n", x->info.name);
		for (size_t k = 0; k < kernels.n; k++)
			if (!opts->kernel || !strcmp(kernels.v[k], opts->kernel))
				any |= add_kernel(x, kernels.v[k], opts, ret);
	}
	if (!any && opts->kernel)
		return kab_err_set(err, KAB_ERR_NOT_FOUND, "no kernel '%s' in it", opts->kernel);
	return any ? 0 : kab_err_set(err, KAB_ERR_NOT_FOUND, "there are no results in it");
}
