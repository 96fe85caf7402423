/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The output of ssh -G, and what is expanded from it. */
#include <stdlib.h>

#include "fuzz.h"
#include "transport/ssh_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kab_err err = KAB_ERR_INIT;
	struct kab_ssh_config cfg = { 0 };
	char *text = fuzz_text(data, size);
	int rc = kab_ssh_config_parse(text, "dest", &cfg, &err);

	fuzz_check_err(rc, &err, "ssh_config");
	if (rc == 0) {
		fuzz_must(cfg.port > 0 && cfg.port <= 65535, "no port", "ssh_config");
		fuzz_must(cfg.hostname && *cfg.hostname && cfg.user, "no name", "ssh_config");
		free(kab_ssh_config_known_name(&cfg));
		free(kab_ssh_config_expand(&cfg, text));
		if (cfg.proxy_command)
			free(kab_ssh_config_expand(&cfg, cfg.proxy_command));
	}
	kab_ssh_config_release(&cfg);
	free(text);
	return 0;
}
