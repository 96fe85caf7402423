/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lab: hosts, how to reach, boot, power and share each. `local` is always a host, also without
 * a lab file. Loaded from JSON; pure apart from reading the file.
 */
#ifndef KAB_MODEL_LAB_H
#define KAB_MODEL_LAB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strv.h"

enum kab_boot_method {
	KAB_BOOT_NONE, /* what runs now is checked, never rebooted */
	KAB_BOOT_GRUB,
	KAB_BOOT_SYSTEMD,
	KAB_BOOT_KEXEC,
	KAB_BOOT_COMMAND,
};
const char *kab_boot_method_name(enum kab_boot_method method);

struct kab_ssh_shared;

struct kab_lab_host {
	char *name;
	char *transport; /* "local", "ssh", "openssh" */
	char *ssh; /* destination; NULL for local */
	char *ssh_config; /* -F file, NULL: the user's */
	int port; /* 0: as ssh_config says */
	char *class_name; /* hosts of one class share work; "" */
	char *become; /* "sudo" or NULL */
	char *workdir; /* NULL: probed */
	int keepalive_s; /* 15 unless given; 0 off */
	/* "strict" unless given, "accept-new", "any": host keys that are not on record */
	char *host_key_check;
	struct kab_ssh_shared
		*shared; /* what connections share; set by the caller, borrowed, or NULL */
	enum kab_boot_method boot;
	struct kab_strv boot_command; /* for COMMAND: argv, gets the release appended */
	double boot_deadline_s; /* 600 unless given */
	int boot_tries; /* 2 unless given */
	struct kab_strv power_cycle; /* argv on the controller; empty: none */
	struct kab_strv power_off, power_on;
	char *console; /* console log file on the controller, or NULL */
};

struct kab_lab {
	struct kab_lab_host *v;
	size_t n, cap;
	char *file; /* NULL: no lab file, only local */
};

/* file NULL: only `local`. A host named local in the file may set become, workdir, class. */
int kab_lab_load(const char *file, struct kab_lab *ret, struct kab_err *err);
/* NULL when there is none. */
const struct kab_lab_host *kab_lab_find(const struct kab_lab *lab, const char *name);
/* As kab_lab_find; NOT_FOUND error that names the nearest one. */
int kab_lab_need(const struct kab_lab *lab, const char *name, const struct kab_lab_host **ret,
		 struct kab_err *err);
void kab_lab_release(struct kab_lab *lab);

#endif
