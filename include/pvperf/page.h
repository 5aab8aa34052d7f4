/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_PAGE_H
#define _PVPERF_PAGE_H

/*
 * How both sides access the memory that they share: every access whose order
 * matters, and all that must be seen whole or taken once. A word that stands alone
 * (.period, .epoch, a page's .state) is loaded or stored where it is used. There are
 * no allocations, locks or kernel services here, only barriers and atomics, so that
 * every function may run in NMI context, and tools/testing/unit can run the two
 * sides as two threads.
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
 * (A) pairs with (D), (B) with (C): a reader that has seen a half-written event also
 * sees another sequence. (F) pairs with (G), and the exchanges are full barriers: a
 * handler that has seen an NMI announced finds the NMI's bit, and its overflows.
 *
 * The guest can write all of this memory at any time. The host reads back .period,
 * once for each use, and copies a batch from the page before it looks at it. Its
 * counts, times and sequence numbers are copies of its own.
 */

#ifdef __KERNEL__
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/compiler.h>
#endif
#include <linux/kvm_pvperf.h>

/**
 * struct pvperf_event_sync - what the host publishes about an event
 * @count: the count
 * @time_enabled: how long the event was enabled
 * @time_running: how long it had a counter
 * @state: KVM_PERF_STATE_*
 * @flags: KVM_PERF_EVENT_*
 */
struct pvperf_event_sync {
	__u64 count;
	__u64 time_enabled;
	__u64 time_running;
	__u32 state;
	__u32 flags;
};

/**
 * pvperf_page_event_init() - host: begin an event
 * @ev: the event's memory
 * @full: it is a whole struct guest_perf_event
 * @page: the address of the vCPU's page; 0: it has none
 */
static inline void pvperf_page_event_init(struct guest_perf_event *ev, int full, __u64 page)
{
	WRITE_ONCE(ev->count, 0);
	WRITE_ONCE(ev->overflows, 0);
	if (!full)
		return;
	WRITE_ONCE(ev->count_at_overflow, 0);
	WRITE_ONCE(ev->page, page);
}

/**
 * pvperf_page_event_write() - host: publish an update
 * @ev: the event's memory
 * @sequence: the host's own copy, never read back from @ev
 * @s: the update
 */
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

/**
 * pvperf_page_overflows_inc() - host: count an overflow
 * @ev: the event's memory; the guest may have written anything to it
 */
static inline void pvperf_page_overflows_inc(struct guest_perf_event *ev)
{
	atomic_inc((atomic_t *)&ev->overflows);
}

/**
 * pvperf_page_pending_set() - host: set an event's bit
 * @page: the vCPU's page
 * @id: the event, after pvperf_page_overflows_inc()
 */
static inline void pvperf_page_pending_set(struct guest_perf_page *page, __s32 id)
{
	smp_wmb();		/* (E) */
	set_bit(id % 64, (unsigned long *)&page->pending);
}

/**
 * pvperf_page_nmis_set() - host: announce an NMI, as the last step before it
 * @page: the vCPU's page
 * @nmis: the host's own count
 */
static inline void pvperf_page_nmis_set(struct guest_perf_page *page, __u32 nmis)
{
	smp_wmb();		/* (F) */
	WRITE_ONCE(page->nmis, nmis);
}

/*
 * An update takes the host some dozen instructions. Memory that a migration sent while
 * the host was writing stays odd, as nobody ends that update.
 */
#define PVPERF_PAGE_TRIES	1000

/**
 * pvperf_page_event_read() - guest, any vCPU: read one whole update
 * @ev: the event's memory
 * @s: the update, never parts of two
 *
 * Return: false if there is no whole update, as the host side that wrote it is gone.
 */
static inline bool pvperf_page_event_read(const struct guest_perf_event *ev,
					  struct pvperf_event_sync *s)
{
	__u32 sequence;
	int tries;

	for (tries = 0; tries < PVPERF_PAGE_TRIES; tries++) {
		sequence = READ_ONCE(ev->sequence);
		smp_rmb();	/* (C) */
		s->count = READ_ONCE(ev->count);
		s->state = READ_ONCE(ev->state);
		s->flags = READ_ONCE(ev->flags);
		s->time_enabled = READ_ONCE(ev->time_enabled);
		s->time_running = READ_ONCE(ev->time_running);
		smp_rmb();	/* (D) */
		if (!(sequence & 1) && sequence == READ_ONCE(ev->sequence))
			return true;
		cpu_relax();
	}
	return false;
}

/**
 * pvperf_page_event_whole() - guest, the event's vCPU: is the last update whole?
 * @ev: the event's memory
 *
 * The host writes while this vCPU is outside the guest, so it has ended each update but
 * one that a migration has cut. Two loads may still be of two updates, if the event
 * overflows between them or the host's module leaves: load what may be older first.
 *
 * Return: true if so.
 */
static inline bool pvperf_page_event_whole(const struct guest_perf_event *ev)
{
	return !(READ_ONCE(ev->sequence) & 1);
}

/**
 * pvperf_page_nmis() - guest: how many NMIs the host has announced
 * @page: the vCPU's page
 *
 * Return: the number, which wraps.
 */
static inline __u32 pvperf_page_nmis(const struct guest_perf_page *page)
{
	__u32 nmis = READ_ONCE(page->nmis);

	smp_rmb();		/* (G) */
	return nmis;
}

/**
 * pvperf_page_pending_take() - guest: take the bits of all events that overflowed
 * @page: the vCPU's page
 *
 * Return: the bits.
 */
static inline __u64 pvperf_page_pending_take(struct guest_perf_page *page)
{
	return xchg(&page->pending, 0);
}

/**
 * pvperf_page_overflows_take() - guest: take an event's overflows
 * @ev: the event's memory
 *
 * Return: how many there were since the last call.
 */
static inline __u32 pvperf_page_overflows_take(struct guest_perf_event *ev)
{
	return xchg(&ev->overflows, 0);
}

#endif /* _PVPERF_PAGE_H */
