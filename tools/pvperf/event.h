/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_EVENT_H
#define PVPERF_EVENT_H

#include <stddef.h>
#include <stdint.h>

/*
 * How perf in the guest would call an event, with modifiers: "cycles:u". Of a
 * type or config without a name, the numbers.
 */
void event_name(const char *type, uint64_t config, uint64_t flags, char *name,
		size_t size);

#endif /* PVPERF_EVENT_H */
