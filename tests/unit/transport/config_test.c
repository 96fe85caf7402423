/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ssh_config as ssh itself resolves it, and known_hosts files as people have them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "transport/child.h"
#include "transport/known_hosts.h"
#include "transport/ssh_key.h"

static char dir[] = "/tmp/kab-config-XXXXXX";

static struct kab_wait soon(void)
{
	return (struct kab_wait){ kab_deadline_s(20), -1 };
}

/* A line of sh in the test's folder; its stdout, caller frees. */
static char *sh(const char *line)
{
	char *script kab_autofree = kab_xasprintf("cd %s\n%s", dir, line);
	const char *argv[] = { "sh", "-c", script, NULL };
	struct kab_exec req = { .argv = argv };
	struct kab_wait w = soon();
	struct kab_exec_result res;
	struct kab_err err = KAB_ERR_INIT;
	char *out;

	if (kab_child_run(&req, &w, &res, &err) < 0 || res.exit_status != 0)
		fail_msg("'%s': %s", line, err.text);
	kab_buf_rtrim(&res.out, "\n");
	out = kab_buf_detach(&res.out);
	kab_exec_result_release(&res);
	return out;
}

static void write_file(const char *name, const char *text)
{
	char *path kab_autofree = kab_xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static struct kab_ssh_config resolve(const char *dest, int port)
{
	char *file kab_autofree = kab_xasprintf("%s/config", dir);
	struct kab_wait w = soon();
	struct kab_ssh_config cfg;
	struct kab_err err = KAB_ERR_INIT;

	if (kab_ssh_config_resolve(dest, file, port, &w, &cfg, &err) < 0)
		fail_msg("%s", err.text);
	return cfg;
}

/* The alias is resolved before HostName, Match after it, and an Include inside a Host block counts
 * only there. */
static void test_effective_settings(void **state)
{
	char *home kab_autofree = sh("getent passwd $(id -u) | cut -d: -f6");
	char *key kab_autofree = kab_xasprintf("%s/.ssh/key-foo.lab.test-lab", home);
	char *main_file kab_autofree = kab_xasprintf(
		"Host foo\n  HostName foo.lab.test\n  Include %s/inside\n"
		"Match host *.lab.test\n  Port 2200\n  User lab\n  ProxyJump gw,bob@gw2:33\n"
		"  IdentityFile ~/.ssh/key-%%h-%%r\n  IdentitiesOnly yes\n  ConnectTimeout 7\n"
		"  StrictHostKeyChecking no\n  IdentityAgent none\n  UserKnownHostsFile /a/kh "
		"~/kh2\n"
		"Host plain\n  HostKeyAlias other\n  ProxyCommand nc %%h %%p\n",
		dir);
	struct kab_ssh_config c;

	(void)state;
	write_file("config", main_file);
	write_file("inside", "Compression yes\nCertificateFile /c/cert\n");
	c = resolve("foo", 0);
	assert_string_equal(c.hostname, "foo.lab.test");
	assert_string_equal(c.user, "lab");
	assert_int_equal(c.port, 2200);
	assert_string_equal(c.proxy_jump, "gw,bob@gw2:33");
	assert_true(c.identities_only);
	assert_int_equal(c.identity_files.n, 1);
	assert_string_equal(c.identity_files.v[0], key);
	assert_int_equal(c.certificate_files.n, 1);
	assert_int_equal(c.connect_timeout_s, 7);
	assert_string_equal(c.identity_agent, "none");
	assert_string_equal(c.known_hosts.v[0], "/a/kh");
	assert_non_null(strstr(c.known_hosts.v[1], "/kh2"));
	assert_null(strchr(c.known_hosts.v[1], '~'));
	char *name kab_autofree = kab_ssh_config_known_name(&c);
	assert_string_equal(name, "[foo.lab.test]:2200");
	kab_ssh_config_release(&c);

	c = resolve("foo", 99);
	assert_int_equal(c.port, 99);
	kab_ssh_config_release(&c);

	c = resolve("plain", 0);
	assert_int_equal(c.certificate_files.n, 0);
	assert_null(c.proxy_jump);
	char *alias kab_autofree = kab_ssh_config_known_name(&c);
	assert_string_equal(alias, "other");
	char *command kab_autofree = kab_ssh_config_expand(&c, c.proxy_command);
	assert_string_equal(command, "nc plain 22");
	assert_null(kab_ssh_config_expand(&c, "%Q"));
	kab_ssh_config_release(&c);
}

static void test_refused_names(void **state)
{
	static const char *const bad[] = { "-oProxyCommand=x", "a b", "a;b", "" };
	struct kab_wait w = soon();
	struct kab_ssh_config cfg;

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(bad); i++) {
		struct kab_err err = KAB_ERR_INIT;

		if (kab_ssh_config_resolve(bad[i], "/dev/null", 0, &w, &cfg, &err) == 0)
			fail_msg("'%s' was accepted", bad[i]);
		assert_int_equal(err.code, KAB_ERR_CONFIG);
	}
	struct kab_err err = KAB_ERR_INIT;
	assert_int_equal(kab_ssh_config_parse("hostname x\n", "x", &cfg, &err), -1);
	assert_int_equal(err.code, KAB_ERR_PARSE);
}

/* What a known_hosts file says about the key A of [h]:2222; `file` is printf text: A, B are keys. */
static const struct {
	const char *what, *file, *want; /* want: NULL accepted, else a part of the refusal */
	bool hash;
} cases[] = {
	{ "port", "[h]:2222 $A\n", NULL, false },
	{ "list, comment, no end", "x,[h]:2222,y $A comment", NULL, false },
	{ "two keys", "[h]:2222 $B\n[h]:2222 $A\n", NULL, false },
	{ "hashed", "[h]:2222 $A\n", NULL, true },
	{ "wildcard", "[h*]:2222 $A\n", NULL, false },
	{ "wildcard port", "[h]:* $A\n", NULL, false },
	{ "upper case", "[H]:2222 $A\n", NULL, false },
	{ "crlf", "[h]:2222 $A\r\n", NULL, false },
	{ "garbage before", "what is this\n\n# note\n[h]:2222 $A\n", NULL, false },
	{ "empty", "", "is not known", false },
	{ "port 22 only", "h $A\n", NULL, false },
	{ "port 22 only, other key", "h $B\n", "is not known", false },
	{ "port 22 only, revoked", "h $A\n@revoked h $A\n", "revoked", false },
	{ "port 22 too, changed", "h $A\n[h]:2222 $B\n", "has changed", false },
	{ "no base64, wrong type", "[h]:2222 ssh-ed25519 %%%%\n[h]:2222 ssh-rsa ${A#* }\n",
	  "is not known", false },
	{ "other port", "[h]:2223 $A\n", "is not known", false },
	{ "negated", "![h]:2222,[*]:2222 $A\n", "is not known", false },
	{ "negated, not without the port", "![h]:2222,* $A\n", NULL, false },
	{ "changed", "[h]:2222 $B\n", "has changed", false },
	{ "changed, hashed", "[h]:2222 $B\n", "has changed", true },
	{ "revoked first", "@revoked * $A\n[h]:2222 $A\n", "revoked", false },
	{ "revoked last", "[h]:2222 $A\n@revoked [h]:2222 $A\n", "revoked", false },
	{ "other revoked", "[h]:2222 $A\n@revoked * $B\n", NULL, false },
	{ "authority", "@cert-authority [h]:2222 $A\n", "certificate authority", false },
	{ "other type", "[h]:2222 $C\n", "only known by its ecdsa", false },
};

static void test_known_hosts(void **state)
{
	char *a kab_autofree = NULL;
	char *print kab_autofree = NULL;
	struct kab_buf blob kab_autobuf = KAB_BUF_INIT;

	(void)state;
	free(sh("for k in a b; do ssh-keygen -q -t ed25519 -N '' -C '' -f $k; done; "
		"ssh-keygen -q -t ecdsa -N '' -C '' -f c"));
	a = sh("cut -d' ' -f2 a.pub");
	print = sh("ssh-keygen -lf a.pub | cut -d' ' -f2");
	assert_true(kab_ssh_base64(a, strlen(a), &blob));
	char *got kab_autofree = kab_ssh_fingerprint(blob.data, blob.len);
	assert_string_equal(got, print);
	for (size_t i = 0; i < KAB_ARRAY_SIZE(cases); i++) {
		struct kab_ssh_config cfg = { .hostname = kab_xstrdup("h"), .port = 2222 };
		char *line kab_autofree = kab_xasprintf(
			"A=$(cut -d' ' -f1,2 a.pub) B=$(cut -d' ' -f1,2 b.pub) C=$(cut -d' ' -f1,2 "
			"c.pub); printf '%%b' \"%s\" >kh; %s rm -f kh.old",
			cases[i].file, cases[i].hash ? "ssh-keygen -q -H -f kh 2>/dev/null;" : "");
		struct kab_known_hosts kh;
		struct kab_err err = KAB_ERR_INIT;
		struct kab_wait w = soon();

		free(sh(line));
		kab_strv_addf(&cfg.known_hosts, "%s/missing", dir);
		kab_strv_addf(&cfg.known_hosts, "%s/kh", dir);
		assert_int_equal(kab_known_hosts_load(&cfg, &w, &kh, &err), 0);
		if (kab_known_hosts_check(&kh, &cfg, blob.data, blob.len, &err) == 0) {
			if (cases[i].want)
				fail_msg("'%s' was accepted", cases[i].what);
		} else {
			assert_int_equal(err.code, KAB_ERR_AUTH);
			if (!cases[i].want || !strstr(err.text, cases[i].want) ||
			    !strstr(err.text, print))
				fail_msg("'%s': %s", cases[i].what, err.text);
		}
		kab_known_hosts_release(&kh);
		kab_ssh_config_release(&cfg);
	}
}

static void test_key_order(void **state)
{
	struct kab_ssh_config cfg = { .hostname = kab_xstrdup("h"), .port = 22 };
	struct kab_known_hosts kh;
	struct kab_err err = KAB_ERR_INIT;
	struct kab_wait w = soon();

	(void)state;
	free(sh("printf 'h %s\\n' \"$(cut -d' ' -f1,2 c.pub)\" >kh"));
	kab_strv_addf(&cfg.known_hosts, "%s/kh", dir);
	assert_int_equal(kab_known_hosts_load(&cfg, &w, &kh, &err), 0);
	char *order kab_autofree = kab_known_hosts_prefer(&kh);
	assert_string_equal(order, "ecdsa-sha2-nistp256,ssh-ed25519,ecdsa-sha2-nistp384,"
				   "ecdsa-sha2-nistp521,ssh-rsa");
	kab_known_hosts_release(&kh);
	kab_ssh_config_release(&cfg);
}

static void test_key_files(void **state)
{
	static const struct {
		const char *name, *make, *type;
		bool encrypted, rsa;
	} keys[] = {
		{ "k1", "ssh-keygen -q -t ed25519 -N '' -f k1", "ssh-ed25519", false, false },
		{ "k2", "ssh-keygen -q -t ed25519 -N secret -f k2", "ssh-ed25519", true, false },
		{ "k3", "ssh-keygen -q -t rsa -b 2048 -N '' -f k3", "ssh-rsa", false, true },
		{ "k4", "ssh-keygen -q -t rsa -b 2048 -m PEM -N '' -f k4", "ssh-rsa", false, true },
		{ "k5", "ssh-keygen -q -t rsa -b 2048 -m PEM -N secret -f k5", "ssh-rsa", true,
		  false },
		{ "k6", "ssh-keygen -q -t ecdsa -N '' -f k6", "ecdsa-sha2-nistp256", false, false },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(keys); i++) {
		char *path kab_autofree = kab_xasprintf("%s/%s", dir, keys[i].name);
		char *line kab_autofree =
			kab_xasprintf("%s; cut -d' ' -f2 %s.pub", keys[i].make, keys[i].name);
		char *text kab_autofree = sh(line);
		struct kab_buf want kab_autobuf = KAB_BUF_INIT;
		struct kab_ssh_key key;
		struct kab_err err = KAB_ERR_INIT;

		assert_true(kab_ssh_base64(text, strlen(text), &want));
		if (kab_ssh_key_load(path, &key, &err) != 0)
			fail_msg("%s: %s", keys[i].make, err.text);
		assert_string_equal(key.type, keys[i].type);
		assert_int_equal(key.encrypted, keys[i].encrypted);
		assert_int_equal(key.rsa != NULL, keys[i].rsa);
		assert_int_equal(key.blob.len, want.len);
		assert_memory_equal(key.blob.data, want.data, want.len);
		kab_ssh_key_release(&key);
	}
	struct kab_ssh_key key;
	struct kab_err err = KAB_ERR_INIT;
	assert_int_equal(kab_ssh_key_load("/no/such/key", &key, &err), 1);
	write_file("junk", "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END\n");
	char *junk kab_autofree = kab_xasprintf("%s/junk", dir);
	assert_int_equal(kab_ssh_key_load(junk, &key, &err), -1);
	assert_int_equal(err.code, KAB_ERR_CONFIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_effective_settings), cmocka_unit_test(test_refused_names),
		cmocka_unit_test(test_known_hosts),	   cmocka_unit_test(test_key_order),
		cmocka_unit_test(test_key_files),
	};
	int rc;

	if (access("/usr/bin/ssh", X_OK) != 0)
		return 77;
	if (!mkdtemp(dir))
		return 1;
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	free(sh("rm -rf ../$(basename $PWD)"));
	return rc;
}
