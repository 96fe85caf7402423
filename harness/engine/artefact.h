/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of a kernel that is to be installed, on this machine. These block on disk. */
#ifndef KAB_ENGINE_ARTEFACT_H
#define KAB_ENGINE_ARTEFACT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/sha256.h"
#include "model/kernel.h"

enum kab_file_role { KAB_FILE_MAIN, KAB_FILE_INITRD, KAB_FILE_MODULES };

struct kab_artefact_file {
	enum kab_file_role role;
	char *path;
	char *name; /* last part of it, in letters that need no quoting */
	int64_t bytes;
	char sha256[KAB_SHA256_HEX_SIZE];
};

struct kab_artefact {
	struct kab_artefact_file *v; /* main files first, then initrd, then modules */
	size_t n, cap;
	int64_t bytes; /* of all */
	char key[KAB_SHA256_HEX_SIZE];
};

/* Read and hash every file. CONFIG when one is missing, or when they are not those of kernel->key. */
int kab_artefact_open(const struct kab_kernel *kernel, struct kab_artefact *ret,
		      struct kab_err *err);
void kab_artefact_release(struct kab_artefact *art);

/* kernel->release, else what the name of a package says: a guess, for questions only. NULL: none.
 * Caller frees. */
char *kab_artefact_likely_release(const struct kab_kernel *kernel);

/* The release that an x86 bzImage or an uncompressed Image or vmlinux names; NULL when it does not
 * show. Caller frees. */
char *kab_artefact_image_release(const char *path);

#endif
