/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_KERNEL_H
#define PVPERF_KERNEL_H

#include "finding.h"
#include "symbol.h"

/* The conditions that a host and a guest share. */

void kernel_version(const struct side *side, struct finding *f);
void kernel_signature(const struct side *side, struct finding *f);
void kernel_module(const struct side *side, struct finding *f);

/* Writes the names of the unknown functions among @symbols, or "". */
void kernel_lacks(const struct symbol *symbols, int n, char *names, size_t size);

#endif /* PVPERF_KERNEL_H */
