// SPDX-License-Identifier: GPL-2.0
/* A VMM that stops, resets and renames its vCPUs while they make calls. */
#include "fuzz.h"
#include <sys/ioctl.h>
#include <unistd.h>

#define APIC_MSI	0xfee00000u
#define APIC_INIT	(5 << 8 | 1 << 14)

static struct tiny_vcpu *any(struct fuzz_vm *f)
{
	return &f->vm.vcpu[below(FUZZ_VCPUS)];
}

static void mp_state_set(struct tiny_vcpu *v, uint32_t mp_state)
{
	struct kvm_mp_state state = { .mp_state = mp_state };

	ioctl(v->fd, KVM_SET_MP_STATE, &state);
}

/* KVM_RUN ends at once until ends(), so that this thread gets the vCPU. */
static void begins(struct tiny_vcpu *v)
{
	v->run->immediate_exit = 1;
	tiny_vcpu_kick(v);
}

/* Ends whatever the vCPU runs by now, and puts it where a new stub can run. */
static void ends(struct tiny_vcpu *v)
{
	v->give_up = true;
	begins(v);
	tiny_vcpu_mode64(v);
	mp_state_set(v, KVM_MP_STATE_RUNNABLE);
	v->run->immediate_exit = 0;
	tiny_vcpu_kick(v);
}

static void sleeps(struct tiny_vcpu *v)
{
	begins(v);
	mp_state_set(v, ONE_OF(KVM_MP_STATE_HALTED, KVM_MP_STATE_UNINITIALIZED,
			       KVM_MP_STATE_INIT_RECEIVED));
	v->run->immediate_exit = 0;
	usleep(below(3000));
	ends(v);
}

/* KVM resets it where it is, with its events. */
static void inits(struct fuzz_vm *f, struct tiny_vcpu *v)
{
	struct kvm_msi msi = { .address_lo = APIC_MSI | v->index << 12, .data = APIC_INIT };

	ioctl(f->vm.fd, KVM_SIGNAL_MSI, &msi);
	usleep(below(3000));
	ends(v);
}

/* What runs is a guest of the guest's, and the calls are its. */
static void nests(struct tiny_vcpu *v)
{
	begins(v);
	tiny_vcpu_nested(v);
	v->run->immediate_exit = 0;
	usleep(below(2000));
	ends(v);
}

/* The vCPU's hypercalls are Hyper-V's for a moment. */
static void as_hyperv(struct tiny_vcpu *v)
{
	begins(v);
	tiny_vcpu_hyperv(v, 1);
	v->run->immediate_exit = 0;
	usleep(below(2000));
	begins(v);
	tiny_vcpu_hyperv(v, 0);
	v->run->immediate_exit = 0;
}

/* The VM's hypercalls are Xen's for a moment. */
static void as_xen(struct fuzz_vm *f)
{
	struct kvm_xen_hvm_config xen = { .flags = KVM_XEN_HVM_CONFIG_INTERCEPT_HCALL, .msr = 0x40000200 };

	ioctl(f->vm.fd, KVM_XEN_HVM_CONFIG, &xen);
	usleep(below(2000));
	xen = (struct kvm_xen_hvm_config){ 0 };
	ioctl(f->vm.fd, KVM_XEN_HVM_CONFIG, &xen);
}

bool fuzz_vm_create(struct fuzz_vm *f)
{
	int n;

	f->apics = below(2);
	f->foreign = !below(4);
	if (f->apics ? tiny_vm_create_apics(&f->vm, FUZZ_VCPUS) : tiny_vm_create(&f->vm, FUZZ_VCPUS))
		return false;
	f->vm.quiet = true;
	/* A vCPU that has run keeps its CPUID. */
	for (n = 0; f->foreign && n < FUZZ_VCPUS; n++)
		tiny_vcpu_hyperv(&f->vm.vcpu[n], 0);
	return true;
}

void fuzz_vcpus(struct fuzz_vm *f)
{
	switch (below(7)) {
	case 0:
		if (f->apics)
			sleeps(any(f));
		break;
	case 1:
		if (f->apics)
			inits(f, any(f));
		break;
	case 2:
		if (f->foreign)
			as_hyperv(any(f));
		break;
	case 3:
		if (f->foreign)
			as_xen(f);
		break;
	case 4:
		nests(any(f));
		break;
	default:
		tiny_vcpu_kick(any(f));
	}
}
