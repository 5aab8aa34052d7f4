// SPDX-License-Identifier: GPL-2.0
/*
 * The guests' clocks. KVM's room: may know struct kvm_vcpu, not perf.
 */
#include <linux/jiffies.h>
#include <linux/kvm_host.h>
#include <linux/spinlock.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#include <asm/processor.h>
#include "../compat/kvm.h"
#include "clock.h"
#include "registry.h"
#include "trace.h"

/* KVM's own, in kvm_vcpu_write_tsc_offset(). */
extern struct tracepoint __tracepoint_kvm_write_tsc_offset;

static bool wanted;	/* the event is enabled */
static bool running;	/* between init and exit; changes under kick_lock */
static bool watching;	/* the steps; of the work, and of the exit after it */
static DEFINE_RAW_SPINLOCK(kick_lock);

/* Binary places of the ratio that TSCs are multiplied with, see pvperf_kvm_tsc_ratio(). */
static u8 frac_of(u64 ratio)
{
	if (!boot_cpu_has(X86_FEATURE_SVM))
		return 48;
	return ratio == 1 ? 0 : 32;
}

static void clock_tell(const struct pvperf_vcpu *vcpu, u64 offset)
{
	u64 ratio = pvperf_kvm_tsc_ratio(vcpu->kvcpu);

	/* KVM's vcpu_id is the APIC id; the index only says in which order vCPUs were made. */
	trace_pvperf_clock(vcpu->vm->clock, vcpu->vm->pid, vcpu->index, vcpu->kvcpu->vcpu_id,
			   READ_ONCE(vcpu->tid), offset, ratio, frac_of(ratio));
}

static void clock_show(const struct pvperf_vcpu *vcpu, void *unused)
{
	clock_tell(vcpu, pvperf_kvm_tsc_offset(vcpu->kvcpu));
}

struct step {
	unsigned int vcpu_id;
	u64 offset;
};

static void step_show(const struct pvperf_vcpu *vcpu, void *arg)
{
	const struct step *step = arg;

	if (READ_ONCE(vcpu->tid) == current->pid && vcpu->kvcpu->vcpu_id == step->vcpu_id)
		clock_tell(vcpu, step->offset);
}

static void round_work(struct work_struct *work);
static DECLARE_WORK(round, round_work);

/* Any context: KVM's, with a spinlock of its own, and the tracer's at the module's exit. */
static void kick(void)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&kick_lock, flags);
	if (running)
		schedule_work(&round);
	raw_spin_unlock_irqrestore(&kick_lock, flags);
}

/* KVM may hold a spinlock. Other vCPUs may follow this one. */
static void step_seen(void *unused, unsigned int vcpu_id, u64 previous, u64 next)
{
	struct step step = { .vcpu_id = vcpu_id, .offset = next };

	if (previous == next)
		return;
	pvperf_vms_vcpus(current->tgid, step_show, &step);
	kick();
}

static void steps_watch(bool on)
{
	if (on == watching)
		return;
	if (on) {
		pvperf_vms_watched(true);
		watching = !tracepoint_probe_register(&__tracepoint_kvm_write_tsc_offset,
						      step_seen, NULL);
		if (!watching)
			pvperf_vms_watched(false);
		return;
	}
	tracepoint_probe_unregister(&__tracepoint_kvm_write_tsc_offset, step_seen, NULL);
	tracepoint_synchronize_unregister();
	pvperf_vms_watched(false);
	watching = false;
}

static void again_work(struct work_struct *work)
{
	kick();
}

static DECLARE_DELAYED_WORK(again, again_work);

/*
 * One round a tick at most, as guests can write their TSC in a loop. And
 * pvperf_clock_begin() is called some instructions before the event is enabled.
 */
static void round_work(struct work_struct *work)
{
	static u64 last;
	u64 now = get_jiffies_64();
	bool on = READ_ONCE(wanted) && READ_ONCE(running);

	cancel_delayed_work(&again);
	steps_watch(on);
	if (!on)
		return;
	/* While the steps are not watched nothing keeps KVM's vCPUs; the next round tries again. */
	if (last == now || !watching || !trace_pvperf_clock_enabled()) {
		schedule_delayed_work(&again, watching ? 1 : HZ);
		return;
	}
	last = now;
	pvperf_vms_vcpus(0, clock_show, NULL);
	schedule_delayed_work(&again, HZ);
}

int pvperf_clock_begin(void)
{
	WRITE_ONCE(wanted, true);
	kick();
	return 0;
}

void pvperf_clock_end(void)
{
	WRITE_ONCE(wanted, false);
	kick();
}

void pvperf_clock_attached(void)
{
	if (READ_ONCE(wanted))
		kick();
}

static void run(bool on)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&kick_lock, flags);
	WRITE_ONCE(running, on);
	raw_spin_unlock_irqrestore(&kick_lock, flags);
}

void pvperf_clock_init(void)
{
	run(true);
	/* The event may be enabled before the module is. */
	kick();
}

void pvperf_clock_exit(void)
{
	run(false);
	cancel_work_sync(&round);
	cancel_delayed_work_sync(&again);
	steps_watch(false);
}
