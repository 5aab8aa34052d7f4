/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_KERNEL_H
#define PVPERF_KERNEL_H

#include "finding.h"
#include "symbol.h"

/* The conditions that a host and a guest share. */

void kernel_version(const struct side *side, struct finding *f);
void kernel_signature(const struct side *side, struct finding *f);
void kernel_module(const struct side *side, struct finding *f);

/* The kernel has all of @symbols; or else the finding is @problem, with the names of the others. */
bool kernel_has(struct finding *f, struct symbol *symbols, int n, const char *problem);

#endif /* PVPERF_KERNEL_H */
