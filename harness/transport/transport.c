/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "transport/transport.h"

#include <string.h>

#include "transport/fake.h"

static const struct kab_transport *const table[] = {
	&kab_transport_local,
	&kab_transport_ssh,
	&kab_transport_openssh,
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
