/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "transport/transport.h"

#include <string.h>

#include "transport/fake.h"

static int openssh_open(const struct kab_endpoint *ep, const struct kab_wait *wait,
			struct kab_session **ret, struct kab_err *err)
{
	(void)wait;
	*ret = NULL;
	return kab_err_set(err, KAB_ERR_UNSUPPORTED,
			   "host '%s': transport 'openssh' is not part of this version; use "
			   "transport 'ssh'",
			   ep->name ? ep->name : "?");
}

static const struct kab_transport openssh = { .name = "openssh", .open = openssh_open };

static const struct kab_transport *const table[] = {
	&kab_transport_local,
	&kab_transport_ssh,
	&openssh,
	&kab_transport_fake,
};

const struct kab_transport *kab_transport_find(const char *name)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strcmp(table[i]->name, name) == 0)
			return table[i];
	return NULL;
}

void kab_exec_result_release(struct kab_exec_result *res)
{
	kab_buf_release(&res->out);
	kab_buf_release(&res->err);
}
