/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What ssh-keygen -F found. The key below is recorded or revoked only if its line is there. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fuzz.h"
#include "transport/known_hosts.h"

#define KEY "AAAAC3NzaC1lZDI1NTE5AAAAIGtuYm9uZSBvZiBteSBib25lcywgZmxlc2ggb2YgbXkgZg=="

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kab_ssh_config cfg = { .dest = (char[]){ "h" },
				      .hostname = (char[]){ "h" },
				      .port = 22 };
	struct kab_known_hosts kh = { .name = kab_xstrdup("h") };
	struct kab_buf kab_autobuf blob = KAB_BUF_INIT;
	struct kab_err err = KAB_ERR_INIT;
	char *text = fuzz_text(data, size), *prefer;
	int rc;

	fuzz_must(kab_ssh_base64(KEY, strlen(KEY), &blob), "the key of this test", "known_hosts");
	kab_known_hosts_fault(text);
	kab_known_hosts_read(&kh, text, "f");
	rc = kab_known_hosts_check(&kh, &cfg, blob.data, blob.len, &err);
	fuzz_check_err(rc, &err, "known_hosts");
	fuzz_must(rc < 0 || strstr(text, "AAAAC3NzaC1lZDI1NTE5AAAAIGtuYm9uZSBvZiBteSBib25l"),
		  "a key that stands nowhere is known", "known_hosts");
	prefer = kab_known_hosts_prefer(&kh);
	fuzz_must(strlen(prefer) == strlen("ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,"
					   "ecdsa-sha2-nistp521,ssh-rsa"),
		  "not all algorithms, once each", "known_hosts");
	free(prefer);
	free(text);
	kab_known_hosts_release(&kh);
	return 0;
}
