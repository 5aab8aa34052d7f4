// SPDX-License-Identifier: GPL-2.0
/*
 * The registry of VMs. KVM's room: may know struct kvm, not perf.
 */
#include <linux/hashtable.h>
#include <linux/kvm_host.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "caps.h"
#include "reset.h"
#include "vcpu.h"
#include "vm.h"

static DEFINE_MUTEX(vms_lock);
static DEFINE_HASHTABLE(vms, 8);

struct pvperf_vm *pvperf_vm_find(const struct kvm *kvm)
{
	struct pvperf_vm *vm;

	hash_for_each_possible_rcu(vms, vm, node, (unsigned long)kvm,
				   lockdep_is_held(&vms_lock))
		if (vm->kvm == kvm)
			return vm;
	return NULL;
}

static struct pvperf_vm *vm_alloc(struct kvm *kvm)
{
	struct pvperf_vm *vm = kzalloc(sizeof(*vm), GFP_KERNEL_ACCOUNT);

	if (!vm)
		return NULL;
	vm->kvm = kvm;
	vm->pid = current->tgid;
	vm->priority = READ_ONCE(pvperf_policy.priority);
	mutex_init(&vm->lock);
	xa_init(&vm->pages);
	xa_init(&vm->vcpus);
	xa_init(&vm->ids);
	return vm;
}

struct pvperf_vm *pvperf_vm_get(struct kvm *kvm)
{
	struct pvperf_vm *vm;

	rcu_read_lock();
	vm = pvperf_vm_find(kvm);
	rcu_read_unlock();
	if (likely(vm))
		return vm;	/* cannot be destroyed while a vCPU runs */

	mutex_lock(&vms_lock);
	vm = pvperf_vm_find(kvm);
	if (!vm) {
		vm = vm_alloc(kvm);
		if (vm)
			hash_add_rcu(vms, &vm->node, (unsigned long)kvm);
	}
	mutex_unlock(&vms_lock);
	return vm;
}

void pvperf_vm_reset_seen(const struct kvm_vcpu *kvcpu)
{
	struct pvperf_vcpu *vcpu;
	struct pvperf_vm *vm;

	rcu_read_lock();
	vm = pvperf_vm_find(kvcpu->kvm);
	vcpu = vm ? xa_load(&vm->vcpus, kvcpu->vcpu_idx) : NULL;
	if (vcpu && vcpu->kvcpu == kvcpu)
		pvperf_reset_mark(vcpu);
	rcu_read_unlock();
}

static void vm_end(struct pvperf_vm *vm, enum pvperf_end end)
{
	struct pvperf_vcpu *vcpu;
	unsigned long idx;

	lockdep_assert_held(&vms_lock);
	/* While resets are still seen: a reset guest must not be written to. */
	pvperf_vcpu_clear_all(vm, end);
	/* A reset that is seen from now on does not find the VM ... */
	hash_del_rcu(&vm->node);
	synchronize_rcu();
	/* ... and one that was seen before has queued its work, which is waited for. */
	xa_for_each(&vm->vcpus, idx, vcpu)
		pvperf_vcpu_destroy(vcpu);
	WARN_ON(vm->nr_pages || !xa_empty(&vm->ids));
	xa_destroy(&vm->vcpus);
	xa_destroy(&vm->pages);
	xa_destroy(&vm->ids);
	kfree_rcu(vm, rcu);
}

void pvperf_vm_destroyed(struct kvm *kvm)
{
	struct pvperf_vm *vm;

	mutex_lock(&vms_lock);
	vm = pvperf_vm_find(kvm);
	if (vm)
		vm_end(vm, PVPERF_END_SILENT);
	mutex_unlock(&vms_lock);
}

void pvperf_vms_exit(void)
{
	struct pvperf_vm *vm;
	struct hlist_node *next;
	int bucket;

	mutex_lock(&vms_lock);
	hash_for_each_safe(vms, bucket, next, vm, node)
		vm_end(vm, PVPERF_END_GONE);
	mutex_unlock(&vms_lock);
	rcu_barrier();
}

int pvperf_vm_set_priority(pid_t pid, u32 priority)
{
	struct pvperf_vm *vm;
	int bucket, err = -ESRCH;

	mutex_lock(&vms_lock);
	hash_for_each(vms, bucket, vm, node) {
		if (vm->pid != pid)
			continue;
		WRITE_ONCE(vm->priority, priority);
		pvperf_vcpu_reopen_all(vm);
		err = 0;
	}
	mutex_unlock(&vms_lock);
	return err;
}

void pvperf_vms_for_each(void (*show)(struct pvperf_vm *vm, void *arg), void *arg)
{
	struct pvperf_vm *vm;
	int bucket;

	mutex_lock(&vms_lock);
	hash_for_each(vms, bucket, vm, node)
		show(vm, arg);
	mutex_unlock(&vms_lock);
}
