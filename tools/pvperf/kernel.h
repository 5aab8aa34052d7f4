/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_KERNEL_H
#define PVPERF_KERNEL_H

#include "finding.h"
#include "symbol.h"

/* The conditions that a host and a guest share. */

void kernel_version(const struct side *side, struct finding *f);
void kernel_signature(const struct side *side, struct finding *f);
void kernel_module(const struct side *side, struct finding *f);

/* Has the kernel @symbols? @f: @problem and the missing names, or that /proc/kallsyms can't be read. */
bool kernel_has(struct finding *f, struct symbol *symbols, int n, const char *problem);

#endif /* PVPERF_KERNEL_H */
