/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/lab.h"

#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/text.h"

static const char *const lab_keys[] = { "hosts", NULL };
static const char *const host_keys[] = {
	"ssh",	       "transport",	 "ssh_config", "port",	"class",   "become", "workdir",
	"keepalive_s", "host_key_check", "boot",       "power", "console", NULL
};
static const char *const boot_keys[] = { "method", "command", "deadline_s", "tries", NULL };
static const char *const power_keys[] = { "method", "cycle", "off", "on", NULL };

static const struct {
	const char *name;
	enum kab_boot_method method;
} methods[] = {
	{ "none", KAB_BOOT_NONE },
	{ "grub", KAB_BOOT_GRUB },
	{ "systemd-boot", KAB_BOOT_SYSTEMD },
	{ "kexec", KAB_BOOT_KEXEC },
	{ "command", KAB_BOOT_COMMAND },
};

const char *kab_boot_method_name(enum kab_boot_method method)
{
	for (size_t i = 0; i < KAB_ARRAY_SIZE(methods); i++)
		if (methods[i].method == method)
			return methods[i].name;
	return "unknown";
}

static struct kab_lab_host *new_host(struct kab_lab *lab, const char *name, const char *transport)
{
	struct kab_lab_host *host = KAB_PUSH(lab);

	host->name = kab_xstrdup(name);
	host->transport = kab_xstrdup(transport);
	host->class_name = kab_xstrdup("");
	host->keepalive_s = 15;
	host->host_key_check = kab_xstrdup("strict");
	host->boot_deadline_s = 600;
	host->boot_tries = 2;
	return host;
}

static int load_boot(struct kab_lab_host *host, const struct kab_json *node, struct kab_err *err)
{
	struct kab_json method = kab_json_get(node, "method");
	const char *name;
	int64_t tries;
	size_t i;

	if (kab_json_object(node, boot_keys, err) < 0 ||
	    kab_json_str(node, "method", "none", &name, err) < 0 ||
	    kab_json_strv(node, "command", &host->boot_command, err) < 0 ||
	    kab_json_num(node, "deadline_s", 10, 86400, 600, &host->boot_deadline_s, err) < 0 ||
	    kab_json_int(node, "tries", 1, 10, 2, &tries, err) < 0)
		return -1;
	host->boot_tries = (int)tries;
	for (i = 0; i < KAB_ARRAY_SIZE(methods); i++)
		if (!strcmp(methods[i].name, name))
			break;
	if (i == KAB_ARRAY_SIZE(methods))
		return kab_json_fail(
			&method, err,
			"expected none, grub, systemd-boot, kexec or command, found '%s'", name);
	host->boot = methods[i].method;
	if (host->boot == KAB_BOOT_COMMAND && !host->boot_command.n)
		return kab_json_fail(node, err,
				     "method 'command' needs the key 'command' (a list)");
	if (host->boot != KAB_BOOT_NONE && !strcmp(host->transport, "local"))
		return kab_json_fail(
			&method, err,
			"the local host is never rebooted by kab: only method 'none' is "
			"possible; boot it yourself and use 'kab resume', or reach it over "
			"SSH from another machine");
	return 0;
}

static int load_power(struct kab_lab_host *host, const struct kab_json *node, struct kab_err *err)
{
	const char *method;

	if (kab_json_object(node, power_keys, err) < 0 ||
	    kab_json_str(node, "method", "command", &method, err) < 0 ||
	    kab_json_strv(node, "cycle", &host->power_cycle, err) < 0 ||
	    kab_json_strv(node, "off", &host->power_off, err) < 0 ||
	    kab_json_strv(node, "on", &host->power_on, err) < 0)
		return -1;
	if (strcmp(method, "command"))
		return kab_json_fail(node, err, "power method '%s' is not known; known is command",
				     method);
	return 0;
}

static int load_host(struct kab_lab *lab, const char *name, const struct kab_json *node,
		     struct kab_err *err)
{
	struct kab_json boot = kab_json_get(node, "boot"), power = kab_json_get(node, "power");
	const char *ssh, *transport, *config, *class_name, *become, *workdir, *console, *check;
	bool local = !strcmp(name, "local");
	struct kab_lab_host *host;
	int64_t port, keepalive;

	if (!kab_text_is_label(name))
		return kab_json_fail(node, err,
				     "a host's name is letters, digits and '._+-', not '%s'", name);
	if (kab_json_object(node, host_keys, err) < 0 ||
	    kab_json_str(node, "ssh", NULL, &ssh, err) < 0 ||
	    kab_json_str(node, "transport", local ? "local" : "ssh", &transport, err) < 0 ||
	    kab_json_str(node, "ssh_config", NULL, &config, err) < 0 ||
	    kab_json_int(node, "port", 1, 65535, 0, &port, err) < 0 ||
	    kab_json_str(node, "class", "", &class_name, err) < 0 ||
	    kab_json_str(node, "become", NULL, &become, err) < 0 ||
	    kab_json_str(node, "workdir", NULL, &workdir, err) < 0 ||
	    kab_json_int(node, "keepalive_s", 0, 3600, 15, &keepalive, err) < 0 ||
	    kab_json_str(node, "host_key_check", "strict", &check, err) < 0 ||
	    kab_json_str(node, "console", NULL, &console, err) < 0)
		return -1;
	if (strcmp(transport, "local") && strcmp(transport, "ssh") && strcmp(transport, "openssh"))
		return kab_json_fail(node, err,
				     "transport '%s' is not known; known are local, ssh, "
				     "openssh",
				     transport);
	if (local && strcmp(transport, "local")) {
		struct kab_json child = kab_json_get(node, "transport");

		return kab_json_fail(&child, err,
				     "'local' is this machine; give a host reached by '%s' another "
				     "name",
				     transport);
	}
	if (ssh && !strcmp(transport, "local")) {
		struct kab_json child = kab_json_get(node, "ssh");

		return kab_json_fail(&child, err, "a local host is not reached by ssh");
	}
	if (ssh && (!*ssh || *ssh == '-' || !kab_text_is_line(ssh))) {
		struct kab_json child = kab_json_get(node, "ssh");

		return kab_json_fail(&child, err,
				     "expected a destination of ssh such as HOST or USER@HOST, not "
				     "'%s'",
				     ssh);
	}
	if (become && strcmp(become, "sudo"))
		return kab_json_fail(node, err, "'become' is \"sudo\" or absent, not '%s'", become);
	if (strcmp(check, "strict") && strcmp(check, "accept-new") && strcmp(check, "any")) {
		struct kab_json child = kab_json_get(node, "host_key_check");

		return kab_json_fail(&child, err, "expected strict, accept-new or any, found '%s'",
				     check);
	}
	if (workdir && *workdir != '/')
		return kab_json_fail(node, err, "'workdir' is an absolute path, not '%s'", workdir);
	host = local ? &lab->v[0] : new_host(lab, name, transport);
	/* Without "ssh" the name itself is the destination, as people expect of an alias. */
	if (strcmp(transport, "local"))
		host->ssh = kab_xstrdup(ssh ? ssh : name);
	host->ssh_config = kab_xstrdup(config);
	host->port = (int)port;
	host->keepalive_s = (int)keepalive;
	free(host->host_key_check);
	host->host_key_check = kab_xstrdup(check);
	free(host->class_name);
	host->class_name = kab_xstrdup(class_name);
	host->become = kab_xstrdup(become);
	host->workdir = kab_xstrdup(workdir);
	host->console = kab_xstrdup(console);
	if (boot.value && load_boot(host, &boot, err) < 0)
		return -1;
	if (power.value && load_power(host, &power, err) < 0)
		return -1;
	return 0;
}

int kab_lab_load(const char *file, struct kab_lab *ret, struct kab_err *err)
{
	struct kab_lab lab = { 0 };
	struct kab_json root, hosts;
	json_t *doc = NULL, *value;
	const char *key;

	new_host(&lab, "local", "local");
	if (!file) {
		*ret = lab;
		return 0;
	}
	lab.file = kab_xstrdup(file);
	if (kab_json_load_file(file, &doc, err) < 0)
		goto fail;
	root = kab_json_root(doc, file);
	hosts = kab_json_get(&root, "hosts");
	if (kab_json_object(&root, lab_keys, err) < 0)
		goto fail;
	if (!hosts.value) {
		kab_json_fail(&root, err, "expected the key 'hosts', found none");
		goto fail;
	}
	if (kab_json_object(&hosts, NULL, err) < 0)
		goto fail;
	json_object_foreach (hosts.value, key, value) {
		struct kab_json node = kab_json_get(&hosts, key);

		if (*key == '_' || *key == '$')
			continue;
		if (load_host(&lab, key, &node, err) < 0)
			goto fail;
	}
	json_decref(doc);
	*ret = lab;
	return 0;
fail:
	json_decref(doc);
	kab_lab_release(&lab);
	return -1;
}

const struct kab_lab_host *kab_lab_find(const struct kab_lab *lab, const char *name)
{
	for (size_t i = 0; i < lab->n; i++)
		if (!strcmp(lab->v[i].name, name))
			return &lab->v[i];
	return NULL;
}

int kab_lab_need(const struct kab_lab *lab, const char *name, const struct kab_lab_host **ret,
		 struct kab_err *err)
{
	struct kab_strv kab_autostrv names = KAB_STRV_INIT;
	const char *near;

	*ret = kab_lab_find(lab, name);
	if (*ret)
		return 0;
	for (size_t i = 0; i < lab->n; i++)
		kab_strv_add(&names, lab->v[i].name);
	near = kab_text_nearest(name, (const char *const *)kab_strv_argv(&names));
	if (near)
		return kab_err_set(err, KAB_ERR_NOT_FOUND, "no host '%s' in %s; did you mean '%s'?",
				   name, lab->file ? lab->file : "the lab (no lab file is used)",
				   near);
	return kab_err_set(
		err, KAB_ERR_NOT_FOUND, "no host '%s' in %s; add it there, or use 'local'", name,
		lab->file ? lab->file : "the lab (no lab file is used: pass --lab FILE)");
}

void kab_lab_release(struct kab_lab *lab)
{
	for (size_t i = 0; i < lab->n; i++) {
		struct kab_lab_host *h = &lab->v[i];

		free(h->name);
		free(h->transport);
		free(h->ssh);
		free(h->ssh_config);
		free(h->class_name);
		free(h->host_key_check);
		free(h->become);
		free(h->workdir);
		free(h->console);
		kab_strv_release(&h->boot_command);
		kab_strv_release(&h->power_cycle);
		kab_strv_release(&h->power_off);
		kab_strv_release(&h->power_on);
	}
	free(lab->v);
	free(lab->file);
	*lab = (struct kab_lab){ 0 };
}
