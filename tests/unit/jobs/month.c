/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A month of a nightly lab in minutes: a virtual clock, hosts that are only numbers, and everything
 * else as it is: nights, plans, the store, points, nominations, confirmations, mails. What was
 * planted is known, so that false alarms can be counted; the same values go through detectors with a
 * fixed threshold and with a z-score.
 *
 *   month [--hosts N] [--nights N] [--seeds N] [--keep FILE] [--check]
 *
 * --keep FILE: the database of the last month, for `kab --db FILE history`.
 * --check: and exits with 1 when what has to be found is not, or something else is.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/rng.h"
#include "jobs/history.h"
#include "jobs/nightly.h"
#include "judge/history.h"
#include "lab.h"
#include "store/history.h"

#define MAX_HOSTS 40
#define MAX_NIGHTS 120
#define CASES 3
#define BOOT_S 120
#define ITERATION_S 60
#define WINDOW_S (8 * 3600.0)
#define DAY_NS (INT64_C(86400) * 1000000000)
#define FIRST_DAY 20546 /* 2026-04-03 */

static const char *const case_names[CASES + 1] = { "pipe", "futex", "fork", NULL };

/* ---- the truth ---- */

struct month {
	int hosts, nights;
	uint64_t seed;
	int step_night; /* pipe becomes 5 % slower */
	int small_night; /* futex becomes 2 % slower */
	int hardware_night; /* the last but one host gets another CPU: ratio 12 % lower */
	int dead_night; /* the last host dies for good */
	int away_from, away_to; /* host 3 cannot be reached */
	int missed_night; /* nobody starts the job */
	int killed_night; /* the controller goes down in the middle of it */
	int night; /* now, from 1 */
	double night_effect[MAX_HOSTS + 1]; /* ln, of the machine tonight: in every kernel */
	double layout[MAX_NIGHTS + 1][CASES]; /* ln, of the build: not of the source */
	struct kab_rng rng;
	/* what it cost */
	int64_t now_ns;
	double used_s;
	size_t mails, kill_after;
	struct kab_store *store;
	struct lab_world world;
	/* raw and relative values as detectors see them; NAN where there is none */
	double raw[MAX_HOSTS + 1][CASES][MAX_NIGHTS + 1];
	double ratio[MAX_HOSTS + 1][CASES][MAX_NIGHTS + 1];
};

static int host_number(const char *host)
{
	return lab_number(host + 1);
}

static bool is_hardware_host(const struct month *m, int h)
{
	return h == m->hosts - 1;
}

/* Of the source: what a reader wants to hear of. */
static double true_effect(const struct month *m, int kernel, int c)
{
	if (c == 0 && kernel >= m->step_night)
		return log(1.05);
	if (c == 1 && kernel >= m->small_night)
		return log(1.02);
	return 0;
}

static int kernel_number(const char *label)
{
	return *label == 'k' ? lab_number(label + 1) : 0;
}

static int case_number(const char *name)
{
	for (int c = 0; c < CASES; c++)
		if (!strcmp(name, case_names[c]))
			return c;
	return 0;
}

static double value(void *ctx, const struct lab_question *q)
{
	struct month *m = ctx;
	int h = host_number(q->host), c = case_number(q->case_name);
	int k = kernel_number(q->kernel);
	double boot_sd = h % 5 == 4 ? 0.02 : 0.005, x = log(100.0);
	struct kab_rng boot;

	kab_rng_seed(&boot, m->seed * 1000003 + (uint64_t)q->boot * 7 + (uint64_t)c);
	x += true_effect(m, k, c) + (k ? m->layout[k][c] : 0) + m->night_effect[h];
	if (is_hardware_host(m, h) && m->night >= m->hardware_night)
		x += k ? -0.25 - 0.12 : -0.25; /* newer code likes the new CPU better */
	x += boot_sd * kab_rng_normal(&boot);
	if (h % 5 == 3 && kab_rng_uniform(&boot) < 0.2)
		x += 0.03; /* a slow boot now and then */
	return exp(x + 0.005 * kab_rng_normal(&m->rng));
}

static const char *model(void *ctx, const char *host)
{
	const struct month *m = ctx;

	return is_hardware_host(m, host_number(host)) && m->night >= m->hardware_night ? "Model B"
										       : "Model A";
}

static bool reachable(const struct month *m, int h)
{
	if (h == m->hosts && m->night >= m->dead_night)
		return false;
	return !(h == 3 && m->night >= m->away_from && m->night <= m->away_to);
}

/* Machines drift: slowly and for good, or from night to night (AR(1) 0.8). */
static void next_night(struct month *m)
{
	for (int h = 1; h <= m->hosts; h++) {
		double *e = &m->night_effect[h];

		if (h % 5 == 0)
			*e += 0.003;
		else if (h % 5 == 1)
			*e = 0.8 * *e + 0.015 * 0.6 * kab_rng_normal(&m->rng);
		else
			*e = 0.004 * kab_rng_normal(&m->rng);
	}
	for (int c = 0; c < CASES; c++)
		m->layout[m->night][c] = 0.002 * kab_rng_normal(&m->rng);
}

/* ---- what a night asks for ---- */

static int64_t now_ns(void *ctx)
{
	return ((struct month *)ctx)->now_ns;
}

static int look(void *ctx, struct kab_candidates *ret, struct kab_err *err)
{
	const struct month *m = ctx;
	struct kab_candidate *c = KAB_PUSH(ret);

	(void)err;
	*c = (struct kab_candidate){ .label = kab_xasprintf("k%d", m->night),
				     .spec = kab_xasprintf("release:k%d", m->night),
				     .identity = kab_xasprintf("k%d", m->night),
				     .commit = kab_xasprintf("%040d", m->night) };
	return 0;
}

static int probe(void *ctx, const struct kab_lab_host *host, struct kab_facts *ret,
		 struct kab_err *err)
{
	struct month *m = ctx;

	if (!reachable(m, host_number(host->name)))
		return kab_err_set(err, KAB_ERR_CONNECT, "cannot reach '%s': no route to host",
				   host->name);
	lab_facts(&m->world, host->name, ret);
	return 0;
}

static int execute(void *ctx, struct kab_night_run *runs, size_t n, struct kab_err *err)
{
	struct month *m = ctx;
	double longest = 0;

	(void)err;
	for (size_t i = 0; i < n; i++) {
		double took;

		if (m->kill_after && !--m->kill_after)
			_exit(9);
		m->world.now_ns = m->now_ns;
		took = lab_fill(m->store, runs[i].run_id, &m->world);
		m->used_s += took;
		longest = fmax(longest, took);
		runs[i].outcome = KAB_LANE_DONE;
	}
	m->now_ns += (int64_t)(longest * 1e9);
	return 0;
}

static int send_mail(void *ctx, const char *from, const struct kab_strv *to, const char *message,
		     struct kab_err *err)
{
	(void)from;
	(void)to;
	(void)message;
	(void)err;
	((struct month *)ctx)->mails++;
	return 0;
}

/* ---- the month ---- */

struct setting {
	char dir[40], *db, *state;
	struct kab_nightly config;
	struct kab_suite suite;
	struct kab_lab lab;
};

static void need(int rc, const struct kab_err *err)
{
	if (!rc)
		return;
	fprintf(stderr, "month: %s\n", err->text);
	exit(2);
}

static void begin(struct setting *s, struct month *m)
{
	static const char config[] =
		"{ \"name\": \"next\", \"suite\": \"night\", \"class\": \"c\","
		" \"work\": \"every\","
		" \"sources\": [ { \"name\": \"s\", \"folder\": \"/nowhere\" } ],"
		" \"reference\": \"ref=release:ref\", \"baseline\": { \"policy\": \"last-good\" },"
		" \"window\": { \"start\": \"22:00\", \"end\": \"06:00\" }, \"boots\": 8,"
		" \"confirm_boots\": 12,"
		" \"mail\": { \"from\": \"lab@example.org\", \"to\": [ \"dev@example.org\" ],"
		" \"server\": \"localhost\" } }";
	struct kab_err err = KAB_ERR_INIT;
	json_t *doc = json_loads(config, 0, NULL);

	snprintf(s->dir, sizeof(s->dir), "%s/kab-month-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(s->dir))
		exit(2);
	s->db = kab_xasprintf("%s/kab.db", s->dir);
	s->state = kab_xasprintf("%s/state", s->dir);
	need(kab_file_mkdirs(s->state, 0700, &err), &err);
	need(kab_nightly_load_json(doc, "month.json", &s->config, &err), &err);
	json_decref(doc);
	lab_suite(&s->suite, case_names, 8, 1, 2);
	lab_hosts(&s->lab, (size_t)m->hosts);
	need(kab_store_open(s->db, KAB_STORE_WRITE, &m->store, &err), &err);
}

static void end(struct setting *s, struct month *m, const char *keep)
{
	const char *const argv[] = { "rm", "-rf", s->dir, NULL };
	struct kab_err err = KAB_ERR_INIT;
	pid_t pid;

	if (keep)
		need(kab_store_backup(m->store, keep, &err), &err);
	kab_store_close(m->store);
	kab_suite_release(&s->suite);
	kab_lab_release(&s->lab);
	kab_nightly_release(&s->config);
	pid = fork();
	if (!pid) {
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	free(s->db);
	free(s->state);
}

static void one_night(struct setting *s, struct month *m)
{
	const struct kab_nightly_env env = { .config = &s->config,
					     .lab = &s->lab,
					     .suite = &s->suite,
					     .store = m->store,
					     .state_dir = s->state,
					     .version = "0",
					     .stop_fd = -1,
					     .cancel_fd = -1,
					     .ctx = m,
					     .now_ns = now_ns,
					     .look = look,
					     .probe = probe,
					     .execute = execute,
					     .send = send_mail };
	struct kab_nightly_result result;
	struct kab_err err = KAB_ERR_INIT;

	need(kab_nightly_night(&env, &result, &err), &err);
	if (getenv("KAB_MONTH_TALK"))
		fprintf(stderr, "%s: %s\n", result.date, result.summary);
	kab_nightly_result_release(&result);
}

/* A child does the first part of the night and dies; then the job is started again. */
static void killed_night(struct setting *s, struct month *m)
{
	struct kab_err err = KAB_ERR_INIT;
	pid_t pid;
	int status;

	kab_store_close(m->store);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		need(kab_store_open(s->db, KAB_STORE_WRITE, &m->store, &err), &err);
		m->kill_after = (size_t)m->hosts / 2;
		one_night(s, m);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 9) {
		fprintf(stderr, "month: the controller did not go down\n");
		exit(2);
	}
	need(kab_store_open(s->db, KAB_STORE_WRITE, &m->store, &err), &err);
	m->now_ns += INT64_C(3600) * 1000000000;
	/* What was done before it went down took that hour. */
	m->used_s += (double)(m->hosts / 2 - 1) * 3600;
	one_night(s, m);
}

/* A host that answers again is taken out of quarantine by hand. */
static void recheck(struct month *m)
{
	struct kab_quarantine_row *rows;
	struct kab_err err = KAB_ERR_INIT;
	size_t n;

	need(kab_store_quarantined(m->store, &rows, &n, &err), &err);
	for (size_t i = 0; i < n; i++) {
		if (reachable(m, host_number(rows[i].host)))
			need(kab_store_unquarantine(m->store, rows[i].host, "operator", m->now_ns,
						    &err),
			     &err);
		kab_quarantine_row_release(&rows[i]);
	}
	free(rows);
}

static void date_of(int night, char buf[12])
{
	time_t day = (time_t)(FIRST_DAY + night) * 86400;
	struct tm tm;

	gmtime_r(&day, &tm);
	strftime(buf, 12, "%Y-%m-%d", &tm);
}

/* Somebody reads the mail two nights later and says that it is known. */
static void operator(struct month *m)
{
	struct kab_change_list list;
	struct kab_err err = KAB_ERR_INIT;
	char before[12], tonight[12];

	date_of(m->night - 2, before);
	date_of(m->night, tonight);
	need(kab_history_open_changes(m->store, "next", &list, &err), &err);
	for (size_t i = 0; i < list.n; i++) {
		const struct kab_note note = { .kind = KAB_NOTE_ACKNOWLEDGE,
					       .change_id = list.v[i].id,
					       .tree = list.v[i].series.tree,
					       .host = list.v[i].series.host,
					       .case_name = list.v[i].series.case_name,
					       .metric = list.v[i].series.metric,
					       .date = tonight,
					       .who = (char *)"operator",
					       .why = (char *)"known",
					       .wall_ns = m->now_ns };

		if (strcmp(list.v[i].confirmed, before) <= 0)
			need(kab_store_history_put_note(m->store, &note, &err) < 0, &err);
	}
	kab_change_list_release(&list);
	recheck(m);
}

static void play(struct setting *s, struct month *m)
{
	for (m->night = 1; m->night <= m->nights; m->night++) {
		next_night(m);
		if (m->night == m->missed_night)
			continue;
		m->now_ns = (FIRST_DAY + m->night) * DAY_NS + INT64_C(22 * 3600) * 1000000000;
		operator(m);
		if (m->night == m->killed_night)
			killed_night(s, m);
		else
			one_night(s, m);
	}
}

/* ---- counting ---- */

static int night_of(const char *date)
{
	struct tm tm = { 0 };

	strptime(date, "%Y-%m-%d", &tm);
	return (int)(timegm(&tm) / 86400 - FIRST_DAY);
}

struct tally {
	size_t planted[2], found[2], late[2]; /* 5 %, 2 %; late: sum of nights until it was told */
	size_t false_alarms, again; /* again: of what was told already */
	bool seen[MAX_HOSTS + 1][2];
};

/* An alarm of night `told` about a change since night `since`. */
static void count(const struct month *m, int h, int c, int since, int told, bool worse,
		  struct tally *t)
{
	int at = c == 0 ? m->step_night : c == 1 ? m->small_night : 0;

	/* A split may be seen a few nights off, and one alarm is as good as several. */
	if (!at || !worse || told < at || since < at - 3 || since > at + 10) {
		t->false_alarms++;
		return;
	}
	if (t->seen[h][c]) {
		t->again++;
		return;
	}
	t->seen[h][c] = true;
	t->found[c]++;
	t->late[c] += (size_t)(told - at);
}

static void count_planted(const struct month *m, struct tally *t)
{
	for (int h = 1; h <= m->hosts; h++)
		for (int c = 0; c < 2; c++) {
			int at = c == 0 ? m->step_night : m->small_night;
			bool dead = h == m->hosts && at >= m->dead_night;

			t->planted[c] += !dead;
		}
}

static void count_kab(const struct month *m, bool confirmed, struct tally *t)
{
	const struct kab_history_filter all = { 0 };
	struct kab_change_list list;
	struct kab_err err = KAB_ERR_INIT;

	count_planted(m, t);
	need(kab_store_history_changes(m->store, &all, 0, &list, &err), &err);
	for (size_t i = 0; i < list.n; i++) {
		const struct kab_change *c = &list.v[i];
		const char *told = confirmed ? c->confirmed : c->date;

		if (told)
			count(m, host_number(c->series.host), case_number(c->series.case_name),
			      night_of(c->since), night_of(told),
			      confirmed ? c->regressed : c->gain_pct < 0, t);
	}
	kab_change_list_release(&list);
}

static void read_values(struct month *m)
{
	const struct kab_history_filter all = { .metric = "value" };
	struct kab_point_list points;
	struct kab_err err = KAB_ERR_INIT;

	for (int h = 0; h <= MAX_HOSTS; h++)
		for (int c = 0; c < CASES; c++)
			for (int n = 0; n <= MAX_NIGHTS; n++)
				m->raw[h][c][n] = m->ratio[h][c][n] = NAN;
	need(kab_store_history_points(m->store, &all, &points, &err), &err);
	for (size_t i = 0; i < points.n; i++) {
		const struct kab_point *p = &points.v[i];
		int h = host_number(p->series.host), c = case_number(p->series.case_name);

		m->raw[h][c][night_of(p->date)] = p->value;
		m->ratio[h][c][night_of(p->date)] = p->ratio;
	}
	kab_point_list_release(&points);
}

/* Tonight against the nights before: more than so many percent, or standard deviations. */
struct rival {
	const char *name;
	double threshold_pct, z;
	bool ratio; /* looks at the ratio to the reference */
	int back; /* nights before that are looked at */
};

static double judge_night(const struct rival *r, const double *x, int night)
{
	double sum = 0, sq = 0, mean, sd;
	int n = 0;

	for (int i = night - 1; i >= 1 && n < r->back; i--) {
		if (!isfinite(x[i]))
			continue;
		sum += x[i];
		sq += x[i] * x[i];
		n++;
	}
	if (!n || !isfinite(x[night]))
		return 0;
	mean = sum / n;
	if (r->threshold_pct > 0) {
		double change = 100 * (x[night] / mean - 1);

		return fabs(change) > r->threshold_pct ? change : 0;
	}
	if (n < 7)
		return 0;
	sd = sqrt(fmax(0, (sq - n * mean * mean) / (n - 1)));
	return sd > 0 && fabs(x[night] - mean) > r->z * sd ? x[night] - mean : 0;
}

/* Alarms in a row of the same sign are one. */
static void count_rival(const struct month *m, const struct rival *r, struct tally *t)
{
	count_planted(m, t);
	for (int h = 1; h <= m->hosts; h++)
		for (int c = 0; c < CASES; c++) {
			double before = 0;

			for (int n = 1; n <= m->nights; n++) {
				const double *x = r->ratio ? m->ratio[h][c] : m->raw[h][c];
				double alarm = judge_night(r, x, n);

				if (alarm && !(before && (before > 0) == (alarm > 0)))
					count(m, h, c, n, n, alarm > 0, t);
				before = alarm;
			}
		}
}

static void put(const char *name, const struct tally *t, double months)
{
	char late[2][16];

	for (int c = 0; c < 2; c++)
		if (t->found[c])
			snprintf(late[c], sizeof(late[c]), "%.1f",
				 (double)t->late[c] / (double)t->found[c]);
		else
			snprintf(late[c], sizeof(late[c]), "-");
	printf("| %-42s | %6.1f | %6.1f | %3zu/%-3zu | %5s | %3zu/%-3zu | %5s |\n", name,
	       (double)t->false_alarms / months, (double)t->again / months, t->found[0],
	       t->planted[0], late[0], t->found[1], t->planted[1], late[1]);
}

static const struct rival rivals[] = {
	{ "more than 2 % off the night before, raw", 2, 0, false, 1 },
	{ "more than 5 % off the night before, raw", 5, 0, false, 1 },
	{ "more than 2 % off the last 7 nights, raw", 2, 0, false, 7 },
	{ "z > 3 over 20 nights, raw", 0, 3, false, 20 },
	{ "z > 5 over 20 nights, raw", 0, 5, false, 20 },
	{ "more than 2 % off the last 7 nights, ratio", 2, 0, true, 7 },
	{ "z > 3 over 20 nights, ratio", 0, 3, true, 20 },
};
#define RIVALS (sizeof(rivals) / sizeof(rivals[0]))

static void add(struct tally *to, const struct tally *from)
{
	for (int c = 0; c < 2; c++) {
		to->planted[c] += from->planted[c];
		to->found[c] += from->found[c];
		to->late[c] += from->late[c];
	}
	to->false_alarms += from->false_alarms;
	to->again += from->again;
}

static int number(const char *text)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (*end || n < 1 || n > 1000) {
		fprintf(stderr, "month: '%s' is no number that fits\n", text);
		exit(2);
	}
	return (int)n;
}

int main(int argc, char **argv)
{
	int hosts = 20, nights = 30, seeds = 1;
	struct tally confirmed = { 0 }, nominated = { 0 }, rival[RIVALS] = { 0 };
	double used_h = 0, window_h = 0, months;
	size_t mails = 0;
	const char *keep = NULL;
	bool check = false;

	setenv("TZ", "UTC", 1);
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--check"))
			check = true;
		else if (!strcmp(argv[i], "--hosts") && i + 1 < argc)
			hosts = number(argv[++i]);
		else if (!strcmp(argv[i], "--nights") && i + 1 < argc)
			nights = number(argv[++i]);
		else if (!strcmp(argv[i], "--seeds") && i + 1 < argc)
			seeds = number(argv[++i]);
		else if (!strcmp(argv[i], "--keep") && i + 1 < argc)
			keep = argv[++i];
		else {
			fprintf(stderr, "usage: month [--hosts N] [--nights N] [--seeds N] "
					"[--keep FILE] [--check]\n");
			return 2;
		}
	}
	if (hosts < 5 || hosts > MAX_HOSTS || nights < 12 || nights > MAX_NIGHTS) {
		fprintf(stderr, "month: 5 to %d hosts, 12 to %d nights\n", MAX_HOSTS, MAX_NIGHTS);
		return 2;
	}
	for (int seed = 1; seed <= seeds; seed++) {
		struct month *m = kab_xcalloc(1, sizeof(*m));
		struct setting s = { 0 };
		struct tally t = { 0 };

		m->hosts = hosts;
		m->nights = nights;
		m->seed = (uint64_t)seed;
		m->step_night = nights / 3 + 1;
		m->small_night = nights * 3 / 5;
		m->hardware_night = nights / 2 + 1;
		m->dead_night = nights / 4 + 2;
		m->away_from = nights / 3 + 3;
		m->away_to = nights / 3 + 4;
		m->missed_night = nights / 5 + 1;
		m->killed_night = nights * 2 / 3;
		m->world = (struct lab_world){ .value = value,
					       .model = model,
					       .ctx = m,
					       .boot_s = BOOT_S,
					       .iteration_s = ITERATION_S };
		kab_rng_seed(&m->rng, (uint64_t)seed * 977);
		begin(&s, m);
		play(&s, m);
		read_values(m);
		count_kab(m, true, &t);
		add(&confirmed, &t);
		t = (struct tally){ 0 };
		count_kab(m, false, &t);
		add(&nominated, &t);
		for (size_t r = 0; r < RIVALS; r++) {
			t = (struct tally){ 0 };
			count_rival(m, &rivals[r], &t);
			add(&rival[r], &t);
		}
		used_h += m->used_s / 3600;
		window_h += (double)hosts * (nights - 1) * WINDOW_S / 3600;
		mails += m->mails;
		end(&s, m, seed == seeds ? keep : NULL);
		free(m);
	}
	months = seeds * nights / 30.0;
	printf("%d hosts, %d nights, %d cases, %d seed%s; per month of 30 nights\n\n", hosts,
	       nights, CASES, seeds, seeds == 1 ? "" : "s");
	printf("| %-42s | %6s | %6s | %7s | %5s | %7s | %5s |\n", "detector", "false", "again",
	       "5 %", "after", "2 %", "after");
	printf("| --- | --- | --- | --- | --- | --- | --- |\n");
	put("kab: confirmed", &confirmed, months);
	put("kab: only nominated", &nominated, months);
	for (size_t r = 0; r < RIVALS; r++)
		put(rivals[r].name, &rival[r], months);
	printf("\nmachine hours used %.0f, idle in the window %.0f; %zu mails\n", used_h,
	       window_h - used_h, mails);
	if (!check)
		return 0;
	if (confirmed.false_alarms > (size_t)seeds ||
	    confirmed.found[0] + (size_t)seeds < confirmed.planted[0] ||
	    confirmed.late[0] > 2 * confirmed.found[0]) {
		printf("month: not as it has to be\n");
		return 1;
	}
	return 0;
}
