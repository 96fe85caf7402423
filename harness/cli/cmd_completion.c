/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Completion for three shells, written from the same tables that parse the command line. */
#include <string.h>

#include "base/alloc.h"
#include "cli/cli.h"
#include "reports/style.h"
#include "runners/runner.h"

/* Commands that list what a positional argument may be; NULL: nothing, the shell decides. */
static const char *lister(const char *what)
{
	static const struct {
		const char *what, *command;
	} listers[] = {
		{ "suite", "kab -q suites 2>/dev/null | cut -d' ' -f1" },
		{ "runner", "kab -q runners 2>/dev/null | grep '^[a-z]'" },
		{ "command",
		  "kab help 2>/dev/null | sed -n 's/^  \\([a-z][a-z]*\\)  *[a-z].*/\\1/p'" },
		{ "run", "kab -q list --max 200 2>/dev/null | awk 'NR > 1 { print $2 }'" },
		{ "host", "kab -q hosts --names 2>/dev/null" },
		{ NULL, NULL },
	};

	for (size_t i = 0; what && listers[i].what; i++)
		if (!strcmp(listers[i].what, what))
			return listers[i].command;
	return NULL;
}

static char *joined(const struct kab_strv *list)
{
	return kab_strv_join(list, "|");
}

static char *style_words(void)
{
	struct kab_strv kab_autostrv list = KAB_STRV_INIT;

	for (size_t i = 0; i < kab_styles_n; i++)
		kab_strv_add(&list, kab_styles[i].name);
	return joined(&list);
}

static void add_metric(struct kab_strv *list, const char *name)
{
	if (!strchr(name, '*') && !kab_strv_has(list, name))
		kab_strv_add(list, name);
}

/* Of all runners; those of a run are known only to its database. */
static char *metric_words(void)
{
	struct kab_strv kab_autostrv list = KAB_STRV_INIT;
	const char *instead;

	for (size_t i = 0; i < kab_runners_n; i++)
		for (size_t m = 0; m < kab_runners[i]->metrics_n; m++)
			if (!kab_metric_is_of_logs(&kab_runners[i]->metrics[m], &instead))
				add_metric(&list, kab_runners[i]->metrics[m].name);
	for (size_t i = 0; i < kab_invocation_metrics_n; i++)
		add_metric(&list, kab_invocation_metrics[i].name);
	return joined(&list);
}

/* The fixed words a positional may be, as "a|b|c" (caller frees), or NULL. */
static char *choice(const struct kab_cmd *cmd)
{
	if (cmd->completes && !strcmp(cmd->completes, "style"))
		return style_words();
	return cmd->completes && strchr(cmd->completes, '|') ? kab_xstrdup(cmd->completes) : NULL;
}

/* The words that the value of an option may be or begin with, as "a|b|c" (caller frees), or NULL. */
static char *value_words(const struct kab_opt *o)
{
	if (o->words)
		return kab_xstrdup(o->words);
	if (o->arg && !strcmp(o->name, "style"))
		return style_words();
	if (o->arg && !strcmp(o->name, "metric"))
		return metric_words();
	if (o->arg && !strcmp(o->name, "condition"))
		return kab_xstrdup("smt=|governor=|thp=|turbo=|irq_affinity=|cpuset=|sysctl.");
	return NULL;
}

/* The command that lists them, or NULL. */
static const char *value_lister(const struct kab_opt *o)
{
	if (!o->arg || (strcmp(o->name, "host") && strcmp(o->name, "runner")))
		return NULL;
	return lister(o->name);
}

/* s within single quotes of a shell; other bytes of `hide` become blanks. */
static void quoted(FILE *f, const char *s, const char *hide)
{
	for (; *s; s++) {
		if (*s == '\'')
			fputs("'\\''", f);
		else
			fputc(strchr(hide, *s) ? ' ' : *s, f);
	}
}

/* fish knows \' within single quotes, and no other way. */
static void fish_quoted(FILE *f, const char *s)
{
	for (; *s; s++) {
		if (*s == '\'' || *s == '\\')
			fputc('\\', f);
		fputc(*s, f);
	}
}

static void words(FILE *f, const char *list)
{
	for (; *list; list++)
		fputc(*list == '|' ? ' ' : *list, f);
}

/* ---- bash ---- */

static void bash_names(FILE *f, const struct kab_opt *opts)
{
	for (const struct kab_opt *o = opts; o && o->name; o++)
		fprintf(f, " --%s", o->name);
}

/* What follows an option that takes a value, in a `case "$cmd $prev"`. */
static void bash_values(FILE *f, const char *cmd, const struct kab_opt *opts)
{
	for (const struct kab_opt *o = opts; o && o->name; o++) {
		char *fixed kab_autofree = value_words(o);

		if (!o->arg)
			continue;
		fprintf(f, "\t'%s '--%s) ", cmd, o->name);
		if (fixed) {
			fputs("words='", f);
			words(f, fixed);
			fputs("' ;;\n", f);
		} else if (value_lister(o)) {
			fprintf(f, "words=$(%s) ;;\n", value_lister(o));
		} else {
			fputs("return ;;\n", f);
		}
	}
}

static void bash(FILE *f)
{
	fputs("# kab completion bash: to be sourced, e.g. from ~/.bashrc\n"
	      "_kab() {\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} cmd= words= "
	      "i\n"
	      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	      "\t\tcase ${COMP_WORDS[i]} in\n"
	      "\t\t--db|--lab|--color) i=$((i + 1)) ;;\n"
	      "\t\t-*) ;;\n"
	      "\t\t*) cmd=${COMP_WORDS[i]}; break ;;\n"
	      "\t\tesac\n"
	      "\tdone\n"
	      "\tCOMPREPLY=()\n"
	      "\tcase \"$cmd $prev\" in\n",
	      f);
	for (const struct kab_opt *o = kab_global_opts; o->name; o++) {
		if (!o->arg)
			continue;
		fprintf(f, "\t*' '--%s) ", o->name);
		if (o->words) {
			fputs("words='", f);
			words(f, o->words);
			fputs("' ;;\n", f);
		} else {
			fputs("return ;;\n", f);
		}
	}
	for (const struct kab_cmd *const *c = kab_commands; *c; c++)
		bash_values(f, (*c)->name, (*c)->opts);
	fputs("\tesac\n"
	      "\tif [[ -z $words ]]; then\n"
	      "\t\tcase $cmd in\n"
	      "\t\t'') words='",
	      f);
	for (const struct kab_cmd *const *c = kab_commands; *c; c++)
		fprintf(f, "%s ", (*c)->name);
	fputs("--version' ;;\n", f);
	for (const struct kab_cmd *const *c = kab_commands; *c; c++) {
		const char *list = lister((*c)->completes);
		char *fixed kab_autofree = choice(*c);

		fprintf(f, "\t\t%s) words='--help", (*c)->name);
		bash_names(f, (*c)->opts);
		fputs("'\n", f);
		if (fixed) {
			fputs("\t\t\t[[ $cur == -* ]] || words='", f);
			words(f, fixed);
			fputs("' ;;\n", f);
		} else if (list)
			fprintf(f, "\t\t\t[[ $cur == -* ]] || words=$(%s) ;;\n", list);
		else
			fputs("\t\t\t;;\n", f);
	}
	fputs("\t\tesac\n"
	      "\t\t[[ -n $cmd && $cur != -* ]] || words+='",
	      f);
	bash_names(f, kab_global_opts);
	fputs("'\n"
	      "\tfi\n"
	      "\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
	      "\t[[ ${COMPREPLY[0]-} != *[=.] ]] || compopt -o nospace 2>/dev/null\n"
	      "\treturn 0\n"
	      "}\n"
	      "complete -o default -F _kab kab\n",
	      f);
}

/* ---- zsh ---- */

static void zsh_option(FILE *f, const struct kab_opt *o)
{
	char *fixed kab_autofree = value_words(o);

	fprintf(f, "\t\t'*--%s[", o->name);
	quoted(f, o->help, "[]");
	fputc(']', f);
	if (o->arg) {
		fputc(':', f);
		quoted(f, o->arg, "[]:");
		fputc(':', f);
		if (fixed) {
			fputc('(', f);
			words(f, fixed);
			fputc(')', f);
		} else if (value_lister(o)) {
			/* Outside of the quotes: it is asked when the line is completed. */
			fprintf(f, "'\"($(%s))\"'", value_lister(o));
		} else {
			fputs("_files", f);
		}
	}
	fputs("' \\\n", f);
}

static void zsh(FILE *f)
{
	fputs("#compdef kab\n"
	      "# kab completion zsh: to be written to a file _kab in a folder of $fpath\n"
	      "_kab() {\n"
	      "\tlocal state line curcontext=\"$curcontext\"\n"
	      "\t_arguments -C \\\n",
	      f);
	for (const struct kab_opt *o = kab_global_opts; o->name; o++)
		zsh_option(f, o);
	fputs("\t\t'1:command:->command' '*::argument:->argument'\n"
	      "\tcase $state in\n"
	      "\tcommand)\n"
	      "\t\t_values command",
	      f);
	for (const struct kab_cmd *const *c = kab_commands; *c; c++) {
		fprintf(f, " \\\n\t\t'%s[", (*c)->name);
		quoted(f, (*c)->summary, "[]:");
		fputs("]'", f);
	}
	fputs(" ;;\n"
	      "\targument)\n"
	      "\t\tcase $words[1] in\n",
	      f);
	for (const struct kab_cmd *const *c = kab_commands; *c; c++) {
		const char *list = lister((*c)->completes);
		char *fixed kab_autofree = choice(*c);

		fprintf(f, "\t\t%s) _arguments \\\n", (*c)->name);
		for (const struct kab_opt *o = (*c)->opts; o && o->name; o++)
			zsh_option(f, o);
		for (const struct kab_opt *o = kab_global_opts; o->name; o++)
			zsh_option(f, o);
		if (fixed) {
			fputs("\t\t'1:word:(", f);
			words(f, fixed);
			fputs(")'", f);
			fputs((*c)->max_pos == 1 ? " ;;\n" : " '*:file:_files' ;;\n", f);
		} else if (list)
			fprintf(f, "\t\t\"*:%s:($(%s))\" ;;\n", (*c)->completes, list);
		else
			fputs("\t\t'*:file:_files' ;;\n", f);
	}
	fputs("\t\tesac ;;\n"
	      "\tesac\n"
	      "}\n"
	      /* As an autoloaded function this file is its body; sourced, it only registers. */
	      "if [[ $funcstack[1] == _kab ]]; then\n"
	      "\t_kab \"$@\"\n"
	      "else\n"
	      "\tcompdef _kab kab\n"
	      "fi\n",
	      f);
}

/* ---- fish ---- */

/* condition: a fish test without quotes, or NULL for always. */
static void fish_option(FILE *f, const char *command, const struct kab_opt *o)
{
	char *fixed kab_autofree = value_words(o);

	fputs("complete -c kab ", f);
	if (command)
		fprintf(f, "-n '__fish_seen_subcommand_from %s' ", command);
	fprintf(f, "-l %s ", o->name);
	if (o->letter)
		fprintf(f, "-s %c ", o->letter);
	if (fixed) {
		fputs("-xa '", f);
		words(f, fixed);
		fputs("' ", f);
	} else if (value_lister(o)) {
		fputs("-xa '(", f);
		fish_quoted(f, value_lister(o));
		fputs(")' ", f);
	} else if (o->arg) {
		fputs("-r ", f);
	}
	fputs("-d '", f);
	fish_quoted(f, o->help);
	fputs("'\n", f);
}

static void fish(FILE *f)
{
	fputs("# kab completion fish: to be written to ~/.config/fish/completions/kab.fish\n", f);
	for (const struct kab_opt *o = kab_global_opts; o->name; o++)
		fish_option(f, NULL, o);
	for (const struct kab_cmd *const *c = kab_commands; *c; c++) {
		const char *list = lister((*c)->completes);
		char *fixed kab_autofree = choice(*c);

		fprintf(f, "complete -c kab -f -n __fish_use_subcommand -a %s -d '", (*c)->name);
		fish_quoted(f, (*c)->summary);
		fputs("'\n", f);
		for (const struct kab_opt *o = (*c)->opts; o && o->name; o++)
			fish_option(f, (*c)->name, o);
		if (fixed) {
			fprintf(f, "complete -c kab -f -n '__fish_seen_subcommand_from %s' -a '",
				(*c)->name);
			words(f, fixed);
			fputs("'\n", f);
		}
		if (!list)
			continue;
		fprintf(f, "complete -c kab -f -n '__fish_seen_subcommand_from %s' -a '(",
			(*c)->name);
		fish_quoted(f, list);
		fputs(")'\n", f);
	}
}

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	const char *shell = kab_args_at(args, 0);
	struct kab_err err = KAB_ERR_INIT;

	if (!strcmp(shell, "bash")) {
		bash(cli->out);
	} else if (!strcmp(shell, "zsh")) {
		zsh(cli->out);
	} else if (!strcmp(shell, "fish")) {
		fish(cli->out);
	} else {
		kab_err_set(&err, KAB_ERR_USAGE,
			    "no completion for '%s'; known are bash, zsh, fish", shell);
		return kab_cli_fail(cli, &err);
	}
	return KAB_EXIT_OK;
}

const struct kab_cmd kab_cmd_completion = {
	.name = "completion",
	.summary = "print the completion script for a shell",
	.synopsis = "bash | zsh | fish",
	.description =
		"The script completes commands, options, their fixed values, suites, runners and\n"
		"runs. Source it (bash), or write it to where the shell looks for it.",
	.example = "  kab completion bash >~/.local/share/bash-completion/completions/kab",
	.completes = "bash|zsh|fish",
	.min_pos = 1,
	.max_pos = 1,
	.run = run,
};
