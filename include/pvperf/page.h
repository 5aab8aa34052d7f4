/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_PAGE_H
#define _PVPERF_PAGE_H

/*
 * How both sides touch the memory that they share: whatever has an order, or
 * must be seen whole or taken once, is here. A word that stands alone (.period,
 * .epoch, a page's .state) is loaded or stored where it is used. No allocation,
 * no locks, no kernel services but barriers and atomics, so that every function
 * here may run in NMI context, and that tools/testing/unit can run the two sides
 * as two threads.
 *
 *   host (vCPU is outside the guest)        guest
 *   ------------------------------------    ------------------------------------
 *   event_write():                          event_read(), from any vCPU:
 *     sequence = odd                          s = sequence, again while odd
 *     (A) smp_wmb                             (C) smp_rmb
 *     count, times, state                     count, times, state
 *     (B) smp_wmb                             (D) smp_rmb
 *     sequence = even                         again unless sequence == s
 *
 *   event_overflow():                       the NMI handler:
 *     event_write()                           nmis
 *     overflows += 1     (atomic)             (G) smp_rmb
 *     (E) smp_wmb                             pending = 0      (xchg)
 *     pending |= bit     (atomic)             overflows = 0    (xchg)
 *     (F) smp_wmb                             event_read()
 *     nmis += 1
 *
 * (A) pairs with (D), (B) with (C): a reader that saw a half-written event sees
 * another sequence. (F) pairs with (G), and the exchanges are full barriers: a
 * handler that saw an NMI announced finds its bit, and its overflows.
 *
 * The guest can write all of this memory at any time. The host reads back .period,
 * once at each use, and copies a batch that lies in the page before it looks at it;
 * what the host counts with is its own.
 */

#ifdef __KERNEL__
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/compiler.h>
#endif
#include <linux/kvm_pvperf.h>

/* What the host has to tell about an event, and its private sequence count. */
struct pvperf_event_sync {
	__u64 count;
	__u64 time_enabled;
	__u64 time_running;
	__u32 state;
	__u32 flags;
};

/* The host's; @sequence is the host's own, never read back from @ev. */
static inline void pvperf_page_event_write(struct guest_perf_event *ev,
					   __u32 *sequence,
					   const struct pvperf_event_sync *s)
{
	WRITE_ONCE(ev->sequence, *sequence + 1);
	smp_wmb();		/* (A) */
	WRITE_ONCE(ev->count, s->count);
	WRITE_ONCE(ev->state, s->state);
	WRITE_ONCE(ev->flags, s->flags);
	WRITE_ONCE(ev->time_enabled, s->time_enabled);
	WRITE_ONCE(ev->time_running, s->time_running);
	smp_wmb();		/* (B) */
	*sequence += 2;
	WRITE_ONCE(ev->sequence, *sequence);
}

/* The host's; the guest's .overflows may hold anything. */
static inline void pvperf_page_overflows_inc(struct guest_perf_event *ev)
{
	atomic_inc((atomic_t *)&ev->overflows);
}

/* The host's, after pvperf_page_overflows_inc(). */
static inline void pvperf_page_pending_set(struct guest_perf_page *page, __s32 id)
{
	smp_wmb();		/* (E) */
	set_bit(id % 64, (unsigned long *)&page->pending);
}

/* The host's, last before the NMI; @nmis is the host's own count. */
static inline void pvperf_page_nmis_set(struct guest_perf_page *page, __u32 nmis)
{
	smp_wmb();		/* (F) */
	WRITE_ONCE(page->nmis, nmis);
}

/* The guest's, on any vCPU: a whole update, never parts of two. */
static inline void pvperf_page_event_read(const struct guest_perf_event *ev,
					  struct pvperf_event_sync *s)
{
	__u32 sequence;

	for (;;) {
		sequence = READ_ONCE(ev->sequence);
		smp_rmb();	/* (C) */
		s->count = READ_ONCE(ev->count);
		s->state = READ_ONCE(ev->state);
		s->flags = READ_ONCE(ev->flags);
		s->time_enabled = READ_ONCE(ev->time_enabled);
		s->time_running = READ_ONCE(ev->time_running);
		smp_rmb();	/* (D) */
		if (!(sequence & 1) && sequence == READ_ONCE(ev->sequence))
			return;
		cpu_relax();
	}
}

/* The guest's. */
static inline __u32 pvperf_page_nmis(const struct guest_perf_page *page)
{
	__u32 nmis = READ_ONCE(page->nmis);

	smp_rmb();		/* (G) */
	return nmis;
}

static inline __u64 pvperf_page_pending_take(struct guest_perf_page *page)
{
	return xchg(&page->pending, 0);
}

static inline __u32 pvperf_page_overflows_take(struct guest_perf_event *ev)
{
	return xchg(&ev->overflows, 0);
}

#endif /* _PVPERF_PAGE_H */
