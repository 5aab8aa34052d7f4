/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_STATE_H
#define _PVPERF_HOST_STATE_H

/*
 * The state of a VM, of its vCPUs and of their events: the structures that
 * several units touch. Knows neither KVM nor perf.
 *
 * Locks, outermost first: pvperf_vcpu.lock, pvperf_vm.lock. The registry's lock is
 * taken inside of others, and none inside of it.
 */

#include <linux/irq_work.h>
#include <linux/kvm_pvperf.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <pvperf/page.h>
#include "../compat/count.h"
#include "policy.h"

struct kvm;
struct kvm_vcpu;
struct mm_struct;
struct perf_event;
struct pvperf_host_event;
struct pvperf_pin;
struct pvperf_thread;

/* Why an event or a page ends, and so what may still be written to the guest. */
enum pvperf_end {
	PVPERF_END_CLOSE,	/* the guest asked for it: a last update */
	PVPERF_END_GONE,	/* the VM has no host side any more: state GONE */
	PVPERF_END_SILENT,	/* another kernel may own the memory: nothing */
};

/* Statistics of a VM; each is read and written without a lock. */
struct pvperf_stats {
	atomic64_t calls;
	atomic64_t ops;
	atomic64_t refused;
	atomic64_t overflows;
	atomic64_t nmis;
};

/* How often a word of the policy has refused something, or let it wait, and what last. */
struct pvperf_refusal {
	atomic64_t times;
	time64_t last;			/* ktime_get_seconds() */
	u32 type;			/* of the event, KVM_PERF_TYPE_* ... */
	u64 config;			/* ... and its config */
};

/*
 * A VM that has made a call, or with rules has asked CPUID for pvperf. Looked up under RCU.
 * Its vCPUs stay until the last reference is dropped, but once it has ended nothing may
 * touch their kvcpu.
 */
struct pvperf_vm {
	struct hlist_node node;		/* in the registry, RCU */
	struct kvm *kvm;		/* the registry's key */
	struct list_head all;		/* in the registry, by .serial */
	u64 serial;			/* of all VMs since the module was loaded */
	refcount_t refs;		/* one is the registry's */
	pid_t pid;
	struct pid *process;		/* of the same; only its threads may call */
	struct mm_struct *mm;		/* .kvm's; we have a reference, too */
	u64 clock;			/* random, not 0: the VM's name in traces */
	char name[TASK_COMM_LEN];	/* of the process, at the first call */
	struct mutex lock;		/* protects .pages to .charged */
	struct rb_root pages;		/* struct pvperf_pin by gfn */
	struct rb_root folios;		/* of more than a page: struct hold by folio */
	u32 nr_pages;
	u32 charged;			/* in pages; see pin.c */
	struct xarray vcpus;		/* struct pvperf_vcpu by index */
	struct xarray ids;		/* struct pvperf_host_event by id */
	atomic_t events;		/* open, of all vCPUs */
	bool pmu_lent_out;		/* the last OPEN failed for this reason */
	bool may_not_sample;		/* told once that perf lets nobody sample */
	bool pins_refused;		/* once, as the VM's limit was reached */
	bool strangers;			/* another process has made a call */
	bool ended;			/* set once; who sets it ends the VM ... */
	bool left;			/* ... and now has; nothing of KVM's is touched any more */
	bool ending;			/* ... but still has events */
	struct pvperf_policy policy;	/* may change at any time ... */
	atomic_t changes;		/* ... and then this does, too */
	u32 rule;			/* that says so; 0: none */
	u32 version;			/* of the rules, at the first call */
	u32 reason;			/* KVM_PERF_REASON_*, for the page when the VM is ended */
	struct pvperf_stats stats;
	struct pvperf_refusal *refusals;	/* by word; NULL: none yet */
	atomic64_t open_at;		/* refusal.c: when the next OPEN may be */
	struct delayed_work work;	/* does what others want of the VM; holds a reference */
	unsigned long todo;		/* bits of enum pvperf_vm_task */
	unsigned long slots_at;		/* jiffies when a memory slot went ... */
	unsigned long slots_since;	/* ... and since when the work puts that off, or 0 */
	unsigned long asked_at;		/* jiffies when one was asked for at once, or ended */
	atomic_t asked;			/* how often that was ... */
	int done;			/* ... and up to which of these it is done */
	struct llist_node freed;	/* waits for a grace period */
	struct hlist_node branching;	/* branches.c, RCU */
	u32 nr_branching;		/* vCPUs with .nr_branches */
};

/*
 * Is the VM in the registry? Then its .kvm stays until rcu_read_unlock(), for who holds the .lock
 * of a vCPU that has an event or a page.
 */
static inline bool pvperf_vm_has_kvm(const struct pvperf_vm *vm)
{
	return !hlist_unhashed_lockless(&vm->node);
}

/* A guest that numbers its events consecutively has each one found here. */
#define PVPERF_VCPU_RECENT	64

/*
 * A vCPU that has made a call: its thread, its events, its page.
 *
 * The vCPU's own thread does everything, with .lock held; others (the ends of
 * VMs, debugfs, another vCPU's RESET) take .lock, too. The overflow handler runs
 * in that thread's NMI or interrupt and takes no lock: what it uses (.head, .nmis,
 * .overflowed_gfn, .branches_gfn, .late, .mute, the ticks of .thread) is a word, or changes
 * only while no event of the vCPU can overflow.
 */
struct pvperf_vcpu {
	struct pvperf_vm *vm;
	struct kvm_vcpu *kvcpu;
	u32 index;
	pid_t tid;			/* of .thread; may change at any time */
	struct mutex lock;		/* protects the events, the page, the thread */
	struct pvperf_thread *thread;	/* of the events */
	struct list_head events;
	u32 nr_events;
	u32 calls;			/* so far, by the vCPU itself */
	u32 waited;			/* an OPEN has, in which call */
	atomic64_t call_at;		/* refusal.c: when the next call may be */
	struct pvperf_host_event *recent[PVPERF_VCPU_RECENT];	/* by id */
	struct pvperf_pin *pin;		/* of the attached page, or NULL */
	struct guest_perf_page *head;	/* in .pin */
	u64 page_addr;			/* guest-physical */
	struct pvperf_compat_now now;	/* the context's time in the current call ... */
	u64 clock;			/* ... and local_clock(); 0: not read yet */
	u64 unlogged;			/* none of its pages has a log, as of this generation */
	u64 overflowed_gfn;		/* that of an event, + 1, for .wake; 0: none */
	u32 nmis;
	union {
		struct {
			bool dead;	/* the vCPU was reset: write nothing any more */
			bool gone;	/* the admin wants it cleared: no more overflows */
			bool late;	/* an event has .late overflows */
		};
		u16 mute;		/* the first two */
		u32 news;		/* all; the next call looks at it */
	};
	struct irq_work wake;
	struct guest_perf_op batch[KVM_PERF_BATCH_MAX];
	struct hlist_node branching;	/* branches.c, RCU */
	u32 nr_branches;		/* events with .branches */
	u64 branches_gfn;		/* that of some, + 1, for .wake; 0: none */
};

/* Where an event's last branches go. */
struct pvperf_branches {
	struct pvperf_pin *pin;
	struct guest_perf_branches *shared;	/* in .pin */
	u32 sequence;
	u64 waited;			/* of the event for a counter, at the last overflow */
};

/* The guest's id and memory on one side, a perf_event of the thread on the other. */
struct pvperf_host_event {
	union {
		struct list_head node;	/* in pvperf_vcpu.events */
		struct rcu_head rcu;	/* at the end */
	};
	struct pvperf_vcpu *vcpu;
	s32 id;
	bool full;			/* the guest gave 64 bytes of memory, not 16 */
	bool enabled;			/* by the guest */
	bool raised;			/* .period is longer than the guest asked for ... */
	u8 stretch;			/* ... and how often it is doubled; see overflow.c */
	struct guest_perf_attr attr;	/* our copy, checked */
	struct perf_event *perf;	/* NULL: recreating it failed */
	struct perf_event *other[KVM_PERF_KINDS - 1];	/* of other kinds of cores: kinds.c */
	struct pvperf_pin *pin;
	struct guest_perf_event *shared;	/* in .pin */
	struct pvperf_event_sync sync;	/* what the guest was last told */
	struct {
		u64 count;
		u64 time_enabled;
		u64 time_running;
	} base;				/* sums of the perf_events before .perf */
	u64 synced;			/* when it was told, by local_clock() ... */
	u64 ran;			/* ... and by the thread's own running time */
	u32 sequence;
	u32 retried;			/* in which call of the vCPU */
	/* used by the overflow handler, and .branches by others, too: see overflow.c */
	u64 period;
	unsigned long tick;
	u32 in_tick;
	u32 late;			/* overflows that the guest was not told yet ... */
	union {
		u64 late_at;		/* ... and the count at the last of these */
		struct pvperf_branches *branches;	/* of hardware, with attr.sample_type */
	};
};

#endif /* _PVPERF_HOST_STATE_H */
