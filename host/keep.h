/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_KEEP_H
#define _PVPERF_HOST_KEEP_H

/*
 * The first event of a kind in the host makes perf patch the kernel's text or allocate
 * buffers for all CPUs, and the last one undoes it. A guest that opens and closes an
 * event in a loop would do so in a loop. So while guests have such events, and for some
 * seconds after, we keep one of each kind ourselves, which counts nothing.
 */

#include <linux/types.h>

struct guest_perf_attr;

/* At load. Returns 0 or -ENOMEM. */
int pvperf_keep_init(void);

/*
 * Have our own event of a kind; sleeps, so the caller holds no lock. @attr: the event's that a
 * guest opens.
 */
void pvperf_keep_make(const struct guest_perf_attr *attr);

/* Before a guest's event is created; any context. @attr: the event's. */
void pvperf_keep_get(const struct guest_perf_attr *attr);

/* After a guest's event was released, or was not created. @attr: as for pvperf_keep_get(). */
void pvperf_keep_put(const struct guest_perf_attr *attr);

/* How many events the host keeps; any context. */
u32 pvperf_keep_count(void);

/* Release our events; at unload, when no guest has any. */
void pvperf_keep_exit(void);

#endif /* _PVPERF_HOST_KEEP_H */
