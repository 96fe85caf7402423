/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shell scripts that run on targets, as bytes of this program (made by cmake/KabEmbed.cmake). */
#ifndef KAB_ENGINE_SCRIPTS_H
#define KAB_ENGINE_SCRIPTS_H

#include <stddef.h>

extern const char kab_script_probe[];
extern const size_t kab_script_probe_len;
extern const char kab_script_quiet[];
extern const size_t kab_script_quiet_len;
extern const char kab_script_boot_common[]; /* goes before the two below */
extern const size_t kab_script_boot_common_len;
extern const char kab_script_boot[];
extern const size_t kab_script_boot_len;
extern const char kab_script_install[];
extern const size_t kab_script_install_len;
extern const char kab_script_condition[];
extern const size_t kab_script_condition_len;

#endif
