// SPDX-License-Identifier: GPL-2.0
/* Calls at random. */
#include "fuzz.h"
#include <limits.h>
#include <linux/kvm_pvperf.h>
#include <stdio.h>
#include <string.h>

#define OPENS	8	/* params that lie ready */

struct own {
	struct guest_perf_attr attr[OPENS];
	struct guest_perf_event_param param[OPENS];
};

uint64_t fuzz_address(void)
{
	uint64_t page = below(3) ? AT_POOL + below(POOL_PAGES) * TINY_PAGE :
				   AT_SLOT + below(SLOT_PAGES) * TINY_PAGE;

	switch (below(32)) {
	case 0:
		return ONE_OF(TINY_ROM, TINY_HOLE, TINY_MEM - 8, ~0ull, 1ull << 63, 1ull << 45);
	case 1:
		return page + below(TINY_PAGE);
	case 2 ... 9:
		return page;
	default:
		return page + 64 * below(64);
	}
}

/* A vCPU's own, and now and then another one's or nobody's. */
static int32_t fuzz_id(const struct tiny_vcpu *v)
{
	if (below(16))
		return v->index * 8 + below(8);
	return ONE_OF(-1, INT_MAX, INT_MIN, below(32), 1000);
}

static uint64_t own_at(const struct tiny_vcpu *v, size_t offset)
{
	return AT_OWN(v->index, 0) + offset;
}

static struct own *own_of(struct tiny_vcpu *v)
{
	return tiny_ptr(v->vm, AT_OWN(v->index, 0));
}

static uint64_t fuzz_config(uint32_t type)
{
	switch (type) {
	case KVM_PERF_TYPE_SOFTWARE:
		return below(12);
	case KVM_PERF_TYPE_HW_CACHE:
		return below(8) | below(3) << 8 | below(3) << 16;
	case KVM_PERF_TYPE_RAW:
		return ONE_OF(0xc0, 0x1c0, 0x76, 0x3c, 0x410076, 1ull << 21, below(0x10000));
	default:
		return below(32) ? below(6) : below(12);
	}
}

static void open_prepare(struct tiny_vcpu *v, int n)
{
	struct own *own = own_of(v);
	uint32_t type = ONE_OF(KVM_PERF_TYPE_HARDWARE, KVM_PERF_TYPE_HARDWARE, KVM_PERF_TYPE_HARDWARE,
			       KVM_PERF_TYPE_SOFTWARE, KVM_PERF_TYPE_HW_CACHE, KVM_PERF_TYPE_RAW,
			       below(8));

	own->attr[n] = (struct guest_perf_attr){
		.type = type, .size = below(16) ? KVM_PERF_ATTR_SIZE_VER0 : below(200),
		.config = fuzz_config(type),
		.sample_period = below(16) ? ONE_OF(0, 0, 1000, 1000, 5000, 100000) : ONE_OF(1, 1ull << 63),
		.flags = below(4) ? 0 : ONE_OF(KVM_PERF_FLAG_EXCLUDE_USER, KVM_PERF_FLAG_EXCLUDE_KERNEL,
					       KVM_PERF_FLAG_HOST, KVM_PERF_FLAG_CPU, below(1 << 17)),
	};
	if (!below(4))
		own->attr[n].sample_type = below(16) ? KVM_PERF_SAMPLE_BRANCHES : below(1 << 13);
	if (own->attr[n].flags & KVM_PERF_FLAG_CPU)
		own->attr[n].cpu = below(4);
	own->param[n] = (struct guest_perf_event_param){
		.attr_addr = below(16) ? own_at(v, offsetof(struct own, attr[n])) : fuzz_address(),
		.guest_event_addr = fuzz_address(), .id = fuzz_id(v),
		.event_size = ONE_OF(0, 16, 64, 64, 64, below(128)), .branches_addr = fuzz_address(),
	};
}

static uint64_t param_at(const struct tiny_vcpu *v, int n)
{
	return below(32) ? own_at(v, offsetof(struct own, param[n])) : fuzz_address();
}

static void op_prepare(struct tiny_vcpu *v, struct guest_perf_op *op)
{
	int n = below(OPENS);

	*op = (struct guest_perf_op){
		.op = ONE_OF(KVM_PERF_OP_OPEN, KVM_PERF_OP_OPEN, KVM_PERF_OP_CLOSE, KVM_PERF_OP_ENABLE,
			     KVM_PERF_OP_ENABLE, KVM_PERF_OP_DISABLE, KVM_PERF_OP_READ, KVM_PERF_OP_READ,
			     below(12)),
		.id = fuzz_id(v),
		.reserved = below(64) ? 0 : 1,
	};
	if (op->op == KVM_PERF_OP_OPEN) {
		open_prepare(v, n);
		op->arg = param_at(v, n);
		op->id = own_of(v)->param[n].id;
	} else if (op->op == KVM_PERF_OP_READ && below(2)) {
		op->arg = ONE_OF(~0ull, 1, (uint64_t)below(INT_MAX) << below(33));
	} else if (op->op == KVM_PERF_OP_ENABLE) {
		op->arg = below(2000);
	}
}

/* Of the time before the call that is under way. */
static __thread int closed;

/* Hyper-V's and Xen's hypercalls have results of their own. */
static void opened(const struct fuzz_vm *f, bool yes)
{
	if (!yes)
		return;
	__atomic_add_fetch(&f->round->opened, 1, __ATOMIC_RELAXED);
	if (closed && closed == f->round->closed && !f->foreign) {
		printf("# an OPEN was taken while no VM may have anything\n");
		f->round->broken = true;
	}
}

static int64_t batch(struct fuzz_vm *f, struct tiny_vcpu *v)
{
	uint64_t at = below(8) ? AT_OWN(v->index, 1) : AT_POOL + below(POOL_PAGES) * TINY_PAGE;
	struct guest_perf_op *op = tiny_ptr(v->vm, at);
	int i, n = below(16) ? 1 + below(16) : below(70);
	int64_t result;

	for (i = 0; i < n && i < KVM_PERF_BATCH_MAX; i++)
		op_prepare(v, &op[i]);
	result = tiny_call_gpa(v, KVM_PERF_OP_BATCH, at, n);
	/* Where others write, the results may be theirs. */
	for (i = 0; at == AT_OWN(v->index, 1) && i < result && i < n; i++)
		opened(f, op[i].op == KVM_PERF_OP_OPEN && !op[i].result);
	return result;
}

static void open_one(struct fuzz_vm *f, struct tiny_vcpu *v)
{
	int n = below(OPENS);

	open_prepare(v, n);
	opened(f, !tiny_call_gpa(v, KVM_PERF_OP_OPEN, param_at(v, n), 0));
}

/* Userspace gives the vCPU to another thread for a moment. */
static void elsewhere(struct tiny_vcpu *v)
{
	tiny_call_here(v, KVM_PERF_OP_READ, fuzz_id(v), 0);
}

static void reset(struct tiny_vcpu *v)
{
	tiny_vcpu_reset(v);
	tiny_vcpu_mode64(v);
}

static void act(struct fuzz_vm *f, struct tiny_vcpu *v)
{
	uint32_t out[4];

	switch (below(32)) {
	case 0 ... 7:
		batch(f, v);
		break;
	case 8 ... 12:
		open_one(f, v);
		break;
	case 13 ... 18:
		tiny_call(v, ONE_OF(KVM_PERF_OP_ENABLE, KVM_PERF_OP_DISABLE, KVM_PERF_OP_READ,
				    KVM_PERF_OP_CLOSE), fuzz_id(v), 0, 0);
		break;
	case 19 ... 21:
		tiny_call_gpa(v, KVM_PERF_OP_ATTACH, fuzz_address() & ~(below(8) ? TINY_PAGE - 1 : 0), 0);
		break;
	case 22:
		tiny_call(v, ONE_OF(KVM_PERF_OP_DETACH, KVM_PERF_OP_DETACH, KVM_PERF_OP_RESET), 0, 0, 0);
		break;
	case 23:
		tiny_call(v, below(14), below(INT_MAX), below(INT_MAX), below(INT_MAX));
		break;
	case 24:
		tiny_cpuid(v, KVM_PERF_CPUID_BASE + below(12), out);
		break;
	case 25:
		elsewhere(v);
		break;
	case 26:
		if (!below(4))
			reset(v);
		break;
	default:
		tiny_spin(v, 1 + below(20000));
	}
}

void fuzz_guest(struct fuzz_vm *f, struct tiny_vcpu *v, int calls)
{
	while (calls--) {
		closed = f->round->closed;
		act(f, v);
		/* It was reset: where it is now nothing of ours runs. */
		if (v->result == TINY_BROKEN && below(2))
			tiny_vcpu_mode64(v);
		__atomic_add_fetch(&f->round->done, 1, __ATOMIC_RELAXED);
	}
}
