// SPDX-License-Identifier: GPL-2.0
/*
 * What the admin can see: who uses what. A line of `vms` is a list of key=value, a
 * line of `totals` a word and a number: people and tests read both. Knows neither
 * KVM nor perf.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include "keep.h"
#include "pin.h"
#include "registry.h"
#include "rule.h"
#include "rules.h"
#include "stats.h"
#include "vcpu.h"

static struct dentry *stats_dir;

struct totals {
	unsigned long vms, vcpus, events, pages;
	u64 calls, ops, refused, overflows, nmis;
};

static void totals_add(struct totals *t, struct pvperf_vm *vm)
{
	struct pvperf_vcpu *vcpu;
	unsigned long idx;

	t->vms++;
	t->pages += READ_ONCE(vm->nr_pages);
	xa_for_each(&vm->vcpus, idx, vcpu) {
		t->vcpus++;
		t->events += READ_ONCE(vcpu->nr_events);
	}
	t->calls += atomic64_read(&vm->stats.calls);
	t->ops += atomic64_read(&vm->stats.ops);
	t->refused += atomic64_read(&vm->stats.refused);
	t->overflows += atomic64_read(&vm->stats.overflows);
	t->nmis += atomic64_read(&vm->stats.nmis);
}

static int totals_show(struct seq_file *m, void *unused)
{
	struct pvperf_vm *vm = NULL;
	struct totals t = { };

	while ((vm = pvperf_vm_next(vm)))
		totals_add(&t, vm);
	seq_printf(m, "vms %lu\nunfreed %u\nvcpus %lu\nevents %lu\nkept %u\npages %lu\n",
		   t.vms, pvperf_vms_unfreed(), t.vcpus, t.events, pvperf_keep_count(), t.pages);
	seq_printf(m, "calls %llu\nops %llu\nrefused %llu\noverflows %llu\nnmis %llu\n",
		   t.calls, t.ops, t.refused, t.overflows, t.nmis);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(totals);

static const char *event_type(u32 type)
{
	switch (type) {
	case KVM_PERF_TYPE_HARDWARE:
		return "hardware";
	case KVM_PERF_TYPE_SOFTWARE:
		return "software";
	case KVM_PERF_TYPE_HW_CACHE:
		return "cache";
	default:
		return "raw";
	}
}

static void event_show(struct seq_file *m, const struct pvperf_host_event *event)
{
	static const char *const states[] = {
		"off", "counting", "starved", "error", "gone",
	};

	const char *state = pvperf_pin_poisoned(event->shared) ? "poisoned" :
							       states[event->sync.state];

	seq_printf(m, "    event id=%d type=%s config=0x%llx flags=0x%llx cpu=%u period=%llu state=%s count=%llu enabled=%llu running=%llu\n",
		   event->id, event_type(event->attr.type), event->attr.config,
		   event->attr.flags, event->attr.cpu, event->period, state,
		   event->sync.count, event->sync.time_enabled,
		   event->sync.time_running);
}

static void policy_show(struct seq_file *m, const struct pvperf_vm *vm)
{
	char text[64];
	int i;

	seq_printf(m, "  policy rule=%u", pvperf_rules_shown(READ_ONCE(vm->rule)));
	for (i = 0; i < PVPERF_WORDS; i++) {
		pvperf_word_print(i, pvperf_policy_word(&vm->policy, i), text, sizeof(text));
		seq_printf(m, " %s", text);
	}
	seq_putc(m, '\n');
}

/* What the guest could have with another value of the word. */
static void refusals_show(struct seq_file *m, const struct pvperf_vm *vm)
{
	const struct pvperf_refusal *refusal = READ_ONCE(vm->refusals);
	time64_t last;
	s64 times;
	int i;

	for (i = 0; refusal && i < PVPERF_WORDS; i++, refusal++) {
		/* Pairs with pvperf_refusal_note(). The clock is read after .last. */
		times = atomic64_read_acquire(&refusal->times);
		last = READ_ONCE(refusal->last);
		if (times)
			seq_printf(m, "  refused word=%s times=%lld type=%s config=0x%llx ago=%lld\n",
				   pvperf_words[i].name, times,
				   event_type(READ_ONCE(refusal->type)),
				   READ_ONCE(refusal->config),
				   max_t(s64, ktime_get_seconds() - last, 0));
	}
}

static void vm_show(struct seq_file *m, struct pvperf_vm *vm)
{
	struct pvperf_host_event *event;
	struct pvperf_vcpu *vcpu;
	unsigned long idx;

	seq_printf(m, "vm pid=%d pages=%u held=%u calls=%lld ops=%lld refused=%lld overflows=%lld nmis=%lld alone=%d ended=%d\n",
		   vm->pid, READ_ONCE(vm->nr_pages), READ_ONCE(vm->charged),
		   atomic64_read(&vm->stats.calls),
		   atomic64_read(&vm->stats.ops), atomic64_read(&vm->stats.refused),
		   atomic64_read(&vm->stats.overflows),
		   atomic64_read(&vm->stats.nmis), vm->serial == pvperf_alone(),
		   !pvperf_rules_can_ask(vm->process));
	policy_show(m, vm);
	refusals_show(m, vm);
	xa_for_each(&vm->vcpus, idx, vcpu) {
		if (!pvperf_vcpu_lock_soon(vcpu)) {
			seq_printf(m, "  vcpu index=%u busy=1\n", vcpu->index);
			break;
		}
		seq_printf(m, "  vcpu index=%u events=%u attached=%d nmis=%u\n",
			   vcpu->index, vcpu->nr_events, !!vcpu->pin,
			   READ_ONCE(vcpu->nmis));
		list_for_each_entry(event, &vcpu->events, node)
			event_show(m, event);
		mutex_unlock(&vcpu->lock);
	}
}

/* Counts are those of each event's last call or overflow: a reader disturbs nothing. */
static int vms_show(struct seq_file *m, void *unused)
{
	struct pvperf_vm *vm = NULL;

	while ((vm = pvperf_vm_next(vm)))
		vm_show(m, vm);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(vms);

/* Errors are ignored: without debugfs only these files are missing. */
void pvperf_stats_init(void)
{
	stats_dir = debugfs_create_dir("pvperf", NULL);
	debugfs_create_file("totals", 0400, stats_dir, NULL, &totals_fops);
	debugfs_create_file("vms", 0400, stats_dir, NULL, &vms_fops);
}

void pvperf_stats_exit(void)
{
	debugfs_remove_recursive(stats_dir);
}
