/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
#ifndef _UAPI_LINUX_KVM_PVPERF_H
#define _UAPI_LINUX_KVM_PVPERF_H

/**
 * DOC: Purpose
 *
 * A guest without a PMU opens perf events at its host, under ids that the guest
 * chooses. The host counts what the guest's vCPU does, writes the result to
 * memory that the guest gave, and raises an NMI in that vCPU when an event
 * overflows. This header is the specification; Documentation/abi.rst explains it.
 *
 * The names and meanings of KVM_PERF_OP, its first five operations and the
 * first fields of each structure are those of the paravirtual perf series of
 * 2010. The CPUID bit and the hypercall number of that series belong to others
 * by now and are not used.
 */

/**
 * DOC: Discovery
 *
 * Only a guest that runs under KVM (CPUID 0x40000000 says so, at that leaf or
 * at a multiple of 0x100 above it) may look. CPUID leaf KVM_PERF_CPUID_BASE
 * has in EBX, ECX, EDX the 12 bytes KVM_PERF_SIGNATURE, and in EAX the highest
 * leaf of the block. Compare all 12 bytes: on Intel CPUs a leaf that nobody
 * answers is not zero. The leaves above say::
 *
 *   BASE + 1   EAX  ABI version, KVM_PERF_ABI_VERSION
 *              EBX  features, KVM_PERF_FEATURE_*
 *              ECX  the hypercall number, KVM_PERF_OP
 *              EDX  with KVM_PERF_FEATURE_COUNTERS: KVM_PERF_COUNTERS_*; else 0
 *   BASE + 2   EAX  events that one vCPU may have open
 *              EBX  entries that one batch may have
 *              ECX  general-purpose counters: events that can count at the same
 *                   time; 0: not known
 *              EDX  the shortest sampling period that the host accepts
 *
 * and with KVM_PERF_FEATURE_NARROW, which events are narrow: they fit only in the
 * first few general-purpose counters::
 *
 *   BASE + 3   EAX, EBX, ECX, EDX: bit n: events of the code n
 *   BASE + 4   the same for the codes from 128 on
 *   BASE + 5   EAX  how many counters narrow events fit in; 0: none is narrow
 *              EBX  bit n: the event n of KVM_PERF_TYPE_HARDWARE
 *              ECX  bit (cache * 3 + operation) * 2 + result: that event of
 *                   KVM_PERF_TYPE_HW_CACHE
 *              EDX  the same from bit 32 on
 *   BASE + 6   EAX, EBX, ECX, EDX: two raw events each, by bits 0 to 15 (0: none), that
 *              are narrow if their code is not, and not if it is
 *   BASE + 7   the same for eight more
 *
 * and with KVM_PERF_FEATURE_CPU the model of the host's CPU. The codes of raw events are
 * those of that model. The VM's own CPUID may tell another one::
 *
 *   BASE + 8   EAX  family, model and stepping of the host's CPU, as in EAX of CPUID 1
 *              EBX, ECX, EDX: its maker, as in CPUID 0
 *
 * and with KVM_PERF_FEATURE_HOST_CPUS the CPUs that KVM_PERF_FLAG_CPU may name::
 *
 *   BASE + 9   EAX  1 + the highest number of a CPU of the host; those below it may
 *              be missing or offline
 *              EBX  how many are online now
 *
 * The leaves may appear and disappear while the guest runs: when the host loads
 * or unloads its module, and with live migration. So a guest confirms the answer
 * by one call, KVM_PERF_OP_PROBE, which returns the ABI version, the same as BASE + 1.
 * Another answer is not the host side's: calls of a guest that has told KVM to use
 * Hyper-V's or Xen's hypercalls do not reach it, and KVM answers in their way. Nothing tells a
 * guest that a host side has appeared; it may look again from time to time. Later calls may
 * answer -KVM_ENOSYS (there is no host side any more) or -KVM_ENOENT (there is
 * another host side, which does not know this id). The guest then forgets what
 * it had open and starts again at discovery. A guest that has no event open learns of
 * another host side by guest_perf_event.page, when it opens the next one.
 */

/**
 * DOC: Versioning
 *
 * The upper 16 bits of the version increase when an old guest would be wrong
 * about a new host; a guest refuses a major version that it does not know. The
 * lower 16 bits count additions. A feature bit announces each addition, and new
 * fields lie behind the old ones, in structures that say their size. Reserved
 * fields and bits must be zero: the host checks, and refuses anything else.
 */

/**
 * DOC: Calls
 *
 * Made with KVM's own calling convention, from CPL 0, by the vCPU whose events are meant::
 *
 *   instruction     VMCALL on Intel, VMMCALL on AMD and Hygon
 *   RAX             KVM_PERF_OP; then the result, a negative one is a -KVM_E* value
 *   RBX             the operation, KVM_PERF_OP_*
 *   RCX, RDX, RSI   its arguments
 *   all others      stay as they are
 *
 * The host takes the low 32 bits of each, in every mode; an address is guest-physical, and
 * given as its low and its high half. The result is 0 unless the operation says otherwise. A
 * call that fails has changed nothing. The host may sleep in a call, for as long as userspace
 * needs to provide memory that the call names. READ of one event names none, so it is the
 * call for an NMI handler. The operations and their arguments::
 *
 *   PROBE                  the ABI version
 *   OPEN    lo, hi         opens the event that struct guest_perf_event_param
 *                          at that address describes; it does not count yet
 *   CLOSE   id             ends the event; its memory is the guest's again
 *   ENABLE  id             counts from now on
 *   DISABLE id             stops, and brings the event's memory up to date
 *   READ    id             brings the event's memory up to date
 *   ATTACH  lo, hi         gives this vCPU's struct guest_perf_page (one whole
 *                          page, page aligned); replaces an earlier one
 *   DETACH                 closes all events of this vCPU, takes the page back
 *   BATCH   lo, hi, n      does n operations of struct guest_perf_op, in order;
 *                          returns how many were done, each with its result.
 *                          An operation that fails does not end the batch. If
 *                          fewer than n were done, call again for the rest
 *   RESET                  DETACH for every vCPU of the VM: before kexec, when
 *                          crashing, before the memory becomes someone else's
 *
 * Each call works alone: a guest may use the first five of 2010 and no more,
 * or attach pages and send batches. A batch may contain OPEN, CLOSE, ENABLE,
 * DISABLE and READ. Their first argument is guest_perf_op.id; for OPEN .arg is
 * the address, and .id must be the same as in the event's parameter. For CLOSE and
 * DISABLE .arg must be 0. With KVM_PERF_FEATURE_READ_MANY a READ takes in .arg which events
 * to read: bit n stands for the event .id + n, and 0 for the event .id alone. The host
 * reads every event that it can; .result is the first error.
 *
 * Each ENABLE of a sampling event that is off begins a period anew: what was left of the
 * last one is forgotten. In a batch .arg says how much is left of that period (0, or more
 * than the period: all of it); the shortest period does not bind it, but at least one more
 * event passes before the overflow. .arg has no meaning for an event that only counts, or is
 * enabled already.
 */

/**
 * DOC: Lifetimes
 *
 * An event belongs to the VM under its id, and to the vCPU that opened it: no
 * other vCPU can operate it. It lives until CLOSE, DETACH or RESET, INIT or
 * reset of the vCPU, the end of the VM, or the unloading of the host's module,
 * whichever comes first; from then on the host does not write to its memory.
 * If the guest has not ended the event itself, the last thing that the host
 * writes is the state KVM_PERF_STATE_GONE, provided that the memory still is the
 * guest's, and has room for a state: 16 bytes have none. CLOSE, DETACH and RESET leave the
 * state KVM_PERF_STATE_OFF, also in the memory of other vCPUs' events, whose pages stay
 * KVM_PERF_PAGE_LIVE in RESET. Memory given with OPEN or ATTACH stays pinned at the host until
 * then; the guest must not use it for anything else, nor balloon it away. Events survive a
 * crash of the guest's kernel: a new kernel begins with RESET, or its ids may be taken.
 */

/**
 * DOC: Ordering
 *
 * The host writes an event's memory only while the event's vCPU is outside the
 * guest (in a call, or at the overflow's exit), except for the last update of an
 * event that its vCPU has not ended itself. So the vCPU that owns an event sees
 * every update whole, and needs no barrier but the compiler's. Another vCPU reads
 * .sequence before and after: if it is odd, or has changed, try again, but not for
 * ever. After a migration the memory may be older than what the guest has read from
 * it, and odd: until an event is opened anew, its memory is valid only if the host
 * answers a call for it with success, or has left it in KVM_PERF_STATE_GONE.
 * In an overflow the order is: count, count_at_overflow, then .overflows + 1,
 * then the bit in .pending, then .nmis + 1, then the NMI. NMIs merge: one may
 * stand for many overflows, so a handler must take all overflows that .overflows
 * counts, and reset it to 0 by an atomic exchange. And one may come to a handler that
 * finds nothing: KVM keeps one NMI waiting while a handler runs, and the handler may take
 * that one's overflow. So if .nmis has risen by more than 1, one later NMI that finds it
 * unchanged belongs to this vCPU's events, too.
 */

/**
 * DOC: Errors
 *
 * From any call::
 *
 *   -KVM_ENOSYS       no host side, not available to this VM, or no such
 *                     operation
 *   -KVM_EPERM        not from CPL 0 (KVM's own answer), or from a nested guest
 *   -KVM_EOPNOTSUPP   impossible for this VM: its state is protected from the
 *                     host (SEV-ES)
 *
 * OPEN, which looks at the param's address; the param; the attr; the policy (period,
 * type, config); the event's memory; the id; the number of events; the PMU::
 *
 *   -KVM_EINVAL       an address not aligned or a structure across a page's
 *                     end; reserved or unknown bits; a period below the limit
 *                     (there is none for software events), or with bit 63; a
 *                     negative id; an .event_size that is not 0, 16 or 64
 *   -KVM_EFAULT       no memory at an address, or memory that may not be written
 *   -KVM_E2BIG        .size of the attr is not one that the host knows
 *   -KVM_EPERM        a type of event that the VM's policy does not allow
 *   -KVM_EEXIST       the VM has an event of this id
 *   -KVM_ENOENT       the host's PMU has no such event; no such CPU is online
 *   -KVM_ENOSPC       the vCPU's or VM's limit of events or pages is reached
 *   -KVM_EBUSY        the host's PMU can't take it now
 *   -KVM_EUSERS       this VM counts alone or not at all, and others count
 *   -KVM_EOPNOTSUPP   the host's PMU is lent out to VMs (mediated vPMU)
 *   -KVM_ENOMEM       the host is short of memory
 *
 * CLOSE, ENABLE, DISABLE, READ::
 *
 *   -KVM_EINVAL       (in a batch) a reserved field is not zero
 *   -KVM_ENOENT       no event of this id
 *   -KVM_EPERM        the event is another vCPU's
 *   -KVM_EBUSY        (ENABLE) the host could not start the event at all
 *
 * An ENABLE that succeeds may still find no free counter: .state says
 * KVM_PERF_STATE_STARVED then, and the times tell how much was missed.
 *
 * ATTACH: -KVM_EINVAL, -KVM_EFAULT, -KVM_ENOSPC, -KVM_ENOMEM as with OPEN. DETACH and RESET
 * have none of their own; with nothing to undo they return 0. BATCH: -KVM_E2BIG if n is 0 or
 * above the limit; -KVM_EINVAL, -KVM_EFAULT as with OPEN. In .result: that of the operation,
 * or -KVM_ENOSYS for one that may not stand in a batch.
 */

#include <linux/types.h>
#ifdef __KERNEL__
#include <linux/kvm_para.h>
#endif

/* ------------------------------------------------------------ discovery */

#define KVM_PERF_ABI_VERSION		0x00010008
#define KVM_PERF_ABI_MAJOR(v)		((v) >> 16)

#define KVM_PERF_CPUID_BASE		0x4000ff00
#define KVM_PERF_CPUID_FEATURES		0x4000ff01
#define KVM_PERF_CPUID_LIMITS		0x4000ff02
#define KVM_PERF_CPUID_CODES		0x4000ff03	/* and the next one */
#define KVM_PERF_CPUID_NARROW		0x4000ff05
#define KVM_PERF_CPUID_EXCEPTIONS	0x4000ff06	/* and the next one */
#define KVM_PERF_CPUID_CPU		0x4000ff08
#define KVM_PERF_CPUID_HOST_CPUS	0x4000ff09
#define KVM_PERF_CPUID_MAX		0x4000ff09
#define KVM_PERF_SIGNATURE		"PvPerfPvPerf"

#define KVM_PERF_FEATURE_PAGE		(1 << 0)	/* ATTACH, DETACH */
#define KVM_PERF_FEATURE_BATCH		(1 << 1)
#define KVM_PERF_FEATURE_TIMES		(1 << 2)	/* 64-byte events */
#define KVM_PERF_FEATURE_SAMPLING	(1 << 3)	/* overflows and NMIs */
#define KVM_PERF_FEATURE_RAW		(1 << 4)	/* KVM_PERF_TYPE_RAW */
#define KVM_PERF_FEATURE_HOST_SW	(1 << 5)	/* KVM_PERF_TYPE_SOFTWARE */
#define KVM_PERF_FEATURE_READ_MANY	(1 << 6)	/* READ of many in a batch */
#define KVM_PERF_FEATURE_COUNTERS	(1 << 7)	/* kinds of counters */
#define KVM_PERF_FEATURE_NARROW		(1 << 8)	/* narrow events */
#define KVM_PERF_FEATURE_OPEN_PAGE	(1 << 9)	/* guest_perf_event.page */
#define KVM_PERF_FEATURE_CPU		(1 << 10)	/* KVM_PERF_CPUID_CPU */
#define KVM_PERF_FEATURE_CLOCK		(1 << 11)	/* guest_perf_page.clock */
#define KVM_PERF_FEATURE_REASON		(1 << 12)	/* guest_perf_page.reason */
#define KVM_PERF_FEATURE_HOST		(1 << 13)	/* KVM_PERF_FLAG_HOST */
#define KVM_PERF_FEATURE_HOST_CPUS	(1 << 14)	/* KVM_PERF_FLAG_CPU */

/*
 * Intel: a fixed counter for each of these, besides the general-purpose ones. Reference
 * cycles fit in no other. Filters (invert, edge, counter mask) do not fit in it.
 */
#define KVM_PERF_COUNTERS_INSTRUCTIONS	(1 << 0)
#define KVM_PERF_COUNTERS_CYCLES	(1 << 1)
#define KVM_PERF_COUNTERS_REF_CYCLES	(1 << 2)
/* AMD: a raw event of select 003h takes two counters. */
#define KVM_PERF_COUNTERS_PAIR		(1 << 8)

/* ---------------------------------------------------------------- calls */

/* A number far from KVM's own, which are consecutive. */
#define KVM_PERF_OP			0x50565046

#define KVM_PERF_OP_OPEN		1
#define KVM_PERF_OP_CLOSE		2
#define KVM_PERF_OP_ENABLE		3
#define KVM_PERF_OP_DISABLE		4
#define KVM_PERF_OP_READ		5
#define KVM_PERF_OP_PROBE		6
#define KVM_PERF_OP_ATTACH		7
#define KVM_PERF_OP_DETACH		8
#define KVM_PERF_OP_BATCH		9
#define KVM_PERF_OP_RESET		10

#define KVM_PERF_BATCH_MAX		64
#define KVM_PERF_EVENTS_MAX		64

/* linux/kvm_para.h has some of these; the values are the errno ones. */
#ifndef KVM_ENOSYS
#define KVM_ENOSYS			1000
#endif
#ifndef KVM_EPERM
#define KVM_EPERM			1
#endif
#ifndef KVM_ENOENT
#define KVM_ENOENT			2
#endif
#ifndef KVM_E2BIG
#define KVM_E2BIG			7
#endif
#ifndef KVM_ENOMEM
#define KVM_ENOMEM			12
#endif
#ifndef KVM_EFAULT
#define KVM_EFAULT			14
#endif
#ifndef KVM_EBUSY
#define KVM_EBUSY			16
#endif
#ifndef KVM_EEXIST
#define KVM_EEXIST			17
#endif
#ifndef KVM_EINVAL
#define KVM_EINVAL			22
#endif
#ifndef KVM_ENOSPC
#define KVM_ENOSPC			28
#endif
#ifndef KVM_EUSERS
#define KVM_EUSERS			87
#endif
#ifndef KVM_EOPNOTSUPP
#define KVM_EOPNOTSUPP			95
#endif

/* ----------------------------------------------------------- structures */

/* Values of guest_perf_attr.type, the same as perf_event_attr.type. */
#define KVM_PERF_TYPE_HARDWARE		0
#define KVM_PERF_TYPE_SOFTWARE		1	/* of the host, about the vCPU */
#define KVM_PERF_TYPE_HW_CACHE		3
#define KVM_PERF_TYPE_RAW		4
#define KVM_PERF_TYPE_BREAKPOINT	5	/* refused: a guest has debug registers itself */

/* Bits of guest_perf_attr.flags, the same as in perf_event_attr but for the last two. */
#define KVM_PERF_FLAG_DISABLED		(1 << 0)	/* without effect */
#define KVM_PERF_FLAG_EXCLUDE_USER	(1 << 4)	/* of the guest */
#define KVM_PERF_FLAG_EXCLUDE_KERNEL	(1 << 5)	/* of the guest */
#define KVM_PERF_FLAG_CPU		(1 << 14)	/* all that .cpu of the host does */
#define KVM_PERF_FLAG_HOST		(1 << 15)	/* also the host, in the vCPU's thread */

#define KVM_PERF_ATTR_SIZE_VER0		72

/**
 * struct guest_perf_attr - what an event counts
 * @type: KVM_PERF_TYPE_*
 * @size: of this structure; 0: KVM_PERF_ATTR_SIZE_VER0
 * @config: as in perf_event_attr
 * @sample_period: 0: the event only counts, and never overflows
 * @sample_type: 0: the guest makes the samples
 * @read_format: 0: the guest makes what is read
 * @flags: KVM_PERF_FLAG_*
 * @bp_type: 0
 * @cpu: with KVM_PERF_FLAG_CPU a CPU of the host; else 0
 * @bp_addr: 0
 * @bp_len: 0
 */
struct guest_perf_attr {
	__u32 type;
	__u32 size;
	__u64 config;
	__u64 sample_period;
	__u64 sample_type;
	__u64 read_format;
	__u64 flags;
	__u32 bp_type;
	__u32 cpu;
	__u64 bp_addr;
	__u64 bp_len;
};

/* The state of an event at the host. */
#define KVM_PERF_STATE_OFF		0	/* not enabled */
#define KVM_PERF_STATE_COUNTING		1
#define KVM_PERF_STATE_STARVED		2	/* enabled, has no counter now */
#define KVM_PERF_STATE_ERROR		3	/* enabled, will not count */
#define KVM_PERF_STATE_GONE		4	/* closed by the host */

#define KVM_PERF_EVENT_SIZE_VER0	16	/* count, overflows */
#define KVM_PERF_EVENT_SIZE		64

#define KVM_PERF_EVENT_STRETCHED	(1 << 0)

/**
 * struct guest_perf_event - one event's memory, a cache line
 * @count: the event's count
 * @overflows: since the guest last took them
 * @state: KVM_PERF_STATE_*; the 16 bytes of 2010 end here
 * @time_enabled: how long the event was enabled, in ns of the vCPU's thread
 * @time_running: how long it also had a counter; where the two times differ, the
 *	host took the counter away for a part
 * @period: the guest's next sampling period; 0: as it is. The guest writes it, the
 *	host reads it at ENABLE and at each overflow
 * @sequence: odd while the host writes
 * @flags: KVM_PERF_EVENT_STRETCHED: the host uses a longer period
 * @count_at_overflow: the count at the last overflow
 * @page: with KVM_PERF_FEATURE_OPEN_PAGE the address of the vCPU's page when the event was
 *	opened; 0: it had none. If that is not the guest's page, this is not the host side
 *	to which the guest gave it
 *
 * The host writes everything but @period. OPEN sets all of it to 0 first.
 */
struct guest_perf_event {
	__u64 count;
	__u32 overflows;
	__u32 state;
	__u64 time_enabled;
	__u64 time_running;
	__u64 period;
	__u32 sequence;
	__u32 flags;
	__u64 count_at_overflow;
	__u64 page;
};

/**
 * struct guest_perf_event_param - what OPEN takes
 * @attr_addr: of a struct guest_perf_attr, aligned to 8
 * @guest_event_addr: of a struct guest_perf_event, aligned to @event_size, or to 4 if that is
 *	KVM_PERF_EVENT_SIZE_VER0
 * @id: 0 or above, not in use in this VM
 * @event_size: how much of the struct guest_perf_event there is: KVM_PERF_EVENT_SIZE, or
 *	KVM_PERF_EVENT_SIZE_VER0 (0 is the same), of which the host writes count and overflows
 *	only
 */
struct guest_perf_event_param {
	__u64 attr_addr;
	__u64 guest_event_addr;
	__s32 id;
	__u32 event_size;
};

/**
 * struct guest_perf_op - one operation of a batch, aligned to 8
 * @op: KVM_PERF_OP_*
 * @id: the event
 * @arg: what the operation takes, as in Calls
 * @result: written by the host
 * @reserved: 0
 * @reserved2: 0
 *
 * A batch lies within one page.
 */
struct guest_perf_op {
	__u32 op;
	__s32 id;
	__u64 arg;
	__s32 result;
	__u32 reserved;
	__u64 reserved2;
};

#define KVM_PERF_PAGE_LIVE		1
#define KVM_PERF_PAGE_GONE		2

/* Why a page is KVM_PERF_PAGE_GONE. */
#define KVM_PERF_REASON_NONE		0	/* the host side has ended */
#define KVM_PERF_REASON_POLICY		1	/* the VM may have something else from now on */
#define KVM_PERF_REASON_DENIED		2	/* this VM may have nothing any more */
#define KVM_PERF_REASON_ALONE		3	/* as long as another VM counts alone */

/**
 * struct guest_perf_page - a vCPU's page
 * @version: the host's ABI version
 * @state: KVM_PERF_PAGE_*
 * @epoch: differs from the last one if there is another host side
 * @pending: bit id % 64 is set: that event overflowed
 * @nmis: raised so far in this vCPU, wraps
 * @reason: with KVM_PERF_FEATURE_REASON and KVM_PERF_PAGE_GONE: KVM_PERF_REASON_*; else 0.
 *	After KVM_PERF_REASON_POLICY the guest begins again at discovery, at once, and opens
 *	what it then may
 * @clock: with KVM_PERF_FEATURE_CLOCK a random number, not 0, which names the VM at this
 *	host side: in traces of both sides it tells which of the host's clocks are this guest's
 * @reserved2: 0
 * @batch: a place for a batch
 */
struct guest_perf_page {
	__u32 version;
	__u32 state;
	__u64 epoch;
	__u64 pending;
	__u32 nmis;
	__u32 reason;
	__u64 clock;
	__u64 reserved2[3];
	struct guest_perf_op batch[KVM_PERF_BATCH_MAX];
};

#endif /* _UAPI_LINUX_KVM_PVPERF_H */
