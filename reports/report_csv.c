/* SPDX-License-Identifier: GPL-3.0-or-later */
/* RFC 4180: a line per row and kernel. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "reports/number.h"
#include "reports/report.h"

static void comma(struct kab_buf *out)
{
	if (out->len && out->data[out->len - 1] != '\n')
		kab_buf_addc(out, ',');
}

static void text(struct kab_buf *out, const char *s)
{
	comma(out);
	kab_text_csv(out, s);
}

static void number(struct kab_buf *out, double value)
{
	comma(out);
	if (isfinite(value))
		kab_number_shortest(out, value);
}

static void whole(struct kab_buf *out, size_t n)
{
	kab_buf_addf(out, ",%zu", n);
}

/* What nobody knows is empty, not 0. */
static void known(struct kab_buf *out, size_t n, bool is_known)
{
	if (is_known)
		whole(out, n);
	else
		kab_buf_addc(out, ',');
}

static void set_cells(struct kab_buf *out, const struct kab_set_summary *set, bool unknown)
{
	const struct kab_sample_set *data = set->data;
	const double numbers[] = { set->mean,  set->sd,	 set->sem,    set->cv_pct, set->ci_lo,
				   set->ci_hi, set->min, set->median, set->max };

	text(out, data->kernel);
	whole(out, kab_set_count(set));
	known(out, set->n_boots, !set->summary && !(unknown && set->n_values));
	whole(out, data->n_planned);
	whole(out, data->n_failed);
	whole(out, data->n_missing);
	text(out, set->summary ? "summary" : set->over_boots ? "boots" : "iterations");
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		number(out, numbers[i]);
}

static void pair_cells(struct kab_buf *out, const struct kab_pair *pair)
{
	number(out, pair ? pair->gain_pct : NAN);
	number(out, pair ? pair->gain_lo_pct : NAN);
	number(out, pair ? pair->gain_hi_pct : NAN);
	number(out, pair ? pair->diff_pct : NAN);
	number(out, pair && pair->tested ? pair->cmp.p : NAN);
	number(out, pair && pair->in_family ? pair->cmp.p_adjusted : NAN);
	text(out, pair ? kab_outcome_name(pair->outcome) : "");
	text(out, pair ? pair->reason : "baseline");
	text(out, pair ? pair->warning : "");
}

void kab_report_csv(const struct kab_judgement *judgement, const char *metric, struct kab_buf *out)
{
	kab_buf_adds(out, "host,condition,case,row,runner,metric,unit,direction,primary,kernel,n,"
			  "boots,planned,failed,missing,over,mean,stddev,sem,cv_pct,ci_lo,ci_hi,"
			  "min,median,max,gain_pct,gain_lo_pct,gain_hi_pct,diff_pct,p,p_adjusted,"
			  "verdict,reason,warning\r\n");
	for (size_t r = 0; r < judgement->n; r++) {
		const struct kab_judged_row *row = &judgement->v[r];
		const struct kab_row_data *d = row->data;

		if (metric && strcmp(metric, d->metric) != 0)
			continue;
		for (size_t k = 0; k < row->n_sets; k++) {
			const char *texts[] = { d->host,
						d->condition,
						d->case_name,
						d->row_key,
						d->runner,
						d->metric,
						d->unit,
						kab_direction_name(d->dir),
						d->primary ? "true" : "false" };

			for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
				text(out, texts[i]);
			set_cells(out, &row->sets[k], d->boots_unknown);
			pair_cells(out, k ? &row->pairs[k - 1] : NULL);
			kab_buf_adds(out, "\r\n");
		}
	}
}
