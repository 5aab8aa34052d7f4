/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_EVENT_NAME_H
#define PVPERF_EVENT_NAME_H

#include <stddef.h>
#include <stdint.h>

/*
 * Writes the name by which perf in the guest knows an event, with modifiers:
 * "cycles:u"; the number of a type or config that has no name. @cpu: of KVM_PERF_FLAG_CPU.
 */
void event_name(const char *type, uint64_t config, uint64_t flags, unsigned int cpu, char *name,
		size_t size);

#endif /* PVPERF_EVENT_NAME_H */
