/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The whole report of a judgement: what was measured on what, the summary, the tables that fit, what
 * else a reader must know. One function per format; all of them append to a buffer.
 */
#ifndef KAB_REPORTS_REPORT_H
#define KAB_REPORTS_REPORT_H

#include "base/strv.h"
#include "reports/style.h"

/*
 * The circumstances as plain texts, filled by whoever has the facts. A NULL is printed as "unknown":
 * nothing is left out silently. Texts are owned.
 */
struct kab_preamble {
	char *machine; /* arch, model, sockets x cores x SMT = CPUs, nodes, memory */
	struct kab_strv nodes; /* "node0: 0-31,64-95", only where it says something */
	char *power; /* governor, turbo, mitigations, THP, swap */
	char *virt; /* "bare metal", "guest on kvm" */
	struct kab_strv kernels; /* "base  LABEL = RELEASE COMMIT", "test  ..." */
	char *config; /* what of the configuration is the same and what is not */
	struct kab_strv bench; /* name, version, exact argv; one per case */
	char *runs; /* n per kernel, order, seed, boots */
	char *stats; /* mean, +/-, test, correction */
	char *quiet; /* "no, ...": what else the host was doing; NULL: nothing was seen */
	char *noise; /* what A/A runs say of the smallest change this host can show; NULL: nothing */
	struct kab_strv differs; /* what else differed between the kernels' boots */
	struct kab_strv notices; /* printed under the tables: "not SPEC-compliant results; ..." */
	struct kab_strv reproduce; /* commands */
};
void kab_preamble_release(struct kab_preamble *p);
/* brief: three lines (machine, kernels, benchmark and runs) for a changelog. */
void kab_preamble_print(const struct kab_preamble *p, bool brief, struct kab_buf *out);

struct kab_report_opts {
	const struct kab_style *style;
	enum kab_pm pm;
	enum kab_sort sort;
	enum kab_side side;
	const char *metric; /* only this one, or NULL */
	bool exact, wide; /* exact implies wide */
	bool brief; /* short preamble, title lines only */
	bool only_judged; /* without the metrics that carry no verdict */
};

/* Text in the style asked. preamble may be NULL. */
void kab_report_text(const struct kab_judgement *judgement, const struct kab_report_opts *opts,
		     const struct kab_preamble *preamble, struct kab_buf *out);
/* RFC 4180, CR LF: a line per row and kernel, full precision, undefined numbers empty. */
void kab_report_csv(const struct kab_judgement *judgement, const char *metric, struct kab_buf *out);
/* One strict JSON object, full precision; undefined numbers are null and `reason` says why. */
void kab_report_json(const struct kab_judgement *judgement, const char *metric,
		     const struct kab_preamble *preamble, struct kab_buf *out);

#endif
