/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_MODULE_H
#define PVPERF_MODULE_H

#include <stdbool.h>
#include <stddef.h>

/* Kernel modules: in memory and on disk. */

/* Loaded, or built into the kernel. */
bool module_there(const char *name);

/* Finds the file that modprobe would load for this kernel. */
bool module_file(const char *name, char *path, size_t size);

/* 1: signed, 0: not signed, -1: unknown, as the file is compressed or unreadable. */
int module_signed(const char *path);

/* Reads /sys/module/NAME/parameters/PARAMETER. Returns 0 or an errno value. */
int module_parameter(const char *name, const char *parameter, char *value,
		     size_t size);

#endif /* PVPERF_MODULE_H */
