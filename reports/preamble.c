/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "reports/report.h"
#include "reports/view_internal.h"

#define INDENT 10

void kab_preamble_release(struct kab_preamble *p)
{
	free(p->machine);
	free(p->power);
	free(p->virt);
	free(p->config);
	free(p->runs);
	free(p->stats);
	free(p->quiet);
	free(p->noise);
	kab_strv_release(&p->nodes);
	kab_strv_release(&p->kernels);
	kab_strv_release(&p->bench);
	kab_strv_release(&p->differs);
	kab_strv_release(&p->notices);
	kab_strv_release(&p->reproduce);
	memset(p, 0, sizeof(*p));
}

/* "Machine : TEXT", or with an empty name a further line below it. */
static void item(const char *name, const char *text, struct kab_buf *out)
{
	struct kab_strv kab_autostrv lines = KAB_STRV_INIT;
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;

	if (*name)
		kab_buf_addf(&buf, "%-7s : %s", name, text && *text ? text : "unknown");
	else
		kab_buf_addf(&buf, "%*s%s", INDENT, "", text);
	kab_wrap(&lines, kab_buf_str(&buf), KAB_WIDTH_AIM, INDENT);
	for (size_t i = 0; i < lines.n; i++)
		kab_buf_addf(out, "%s\n", lines.v[i]);
}

static void list(const char *name, const struct kab_strv *texts, struct kab_buf *out)
{
	if (!texts->n)
		item(name, NULL, out);
	for (size_t i = 0; i < texts->n; i++)
		item(i ? "" : name, texts->v[i], out);
}

void kab_preamble_print(const struct kab_preamble *p, bool brief, struct kab_buf *out)
{
	if (brief) {
		char *kernels = kab_strv_join(&p->kernels, "; "), *bench;
		struct kab_buf kab_autobuf both = KAB_BUF_INIT;

		bench = kab_strv_join(&p->bench, "; ");
		kab_buf_addf(&both, "%s; %s", *bench ? bench : "unknown",
			     p->runs ? p->runs : "unknown");
		item("Machine", p->machine, out);
		item("Kernels", kernels, out);
		item("Bench", kab_buf_str(&both), out);
		if (p->quiet)
			item("Quiet", p->quiet, out);
		free(kernels);
		free(bench);
		return;
	}
	/* Measured elsewhere: six lines that say unknown say no more than one. */
	if (!p->machine && !p->power && !p->kernels.n && !p->bench.n) {
		item("Facts", "machine, kernels and command lines are not recorded", out);
		item("Runs", p->runs, out);
		item("Stats", p->stats, out);
		if (p->quiet)
			item("Quiet", p->quiet, out);
		return;
	}
	item("Machine", p->machine, out);
	for (size_t i = 0; i < p->nodes.n; i++)
		item("", p->nodes.v[i], out);
	item("Power", p->power, out);
	item("Virt", p->virt, out);
	list("Kernels", &p->kernels, out);
	item("Config", p->config, out);
	list("Bench", &p->bench, out);
	item("Runs", p->runs, out);
	item("Stats", p->stats, out);
	if (p->quiet)
		item("Quiet", p->quiet, out);
	if (p->noise)
		item("Noise", p->noise, out);
	if (p->differs.n)
		list("Differs", &p->differs, out);
}
