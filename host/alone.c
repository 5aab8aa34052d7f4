// SPDX-License-Identifier: GPL-2.0
/*
 * The VM that has the host alone, by its number: it may end at any time.
 */
#include <linux/atomic.h>
#include "alone.h"
#include "rules.h"
#include "state.h"

static atomic64_t alone;

u64 pvperf_alone(void)
{
	return atomic64_read(&alone);
}

void pvperf_alone_set(u64 serial)
{
	atomic64_set(&alone, serial);
	/* A VM that makes its first call now is judged again. */
	pvperf_rules_changed();
}

int pvperf_alone_judge(struct pvperf_vm *vm, struct pvperf_verdict *verdict)
{
	int err = pvperf_rules_judge(vm->process, vm->name, verdict);
	u32 *access = &verdict->policy.word[PVPERF_WORD_ACCESS];
	u64 serial = pvperf_alone();

	verdict->reason = KVM_PERF_REASON_DENIED;
	if (err || !serial)
		return err;
	if (vm->serial == serial) {
		if (*access > PVPERF_ACCESS_GLOBAL)
			*access = PVPERF_ACCESS_GLOBAL;		/* it need not ask again */
		else	/* The rules say so no more. claim.c lets the others back in. */
			atomic64_cmpxchg(&alone, serial, 0);
	} else if (*access >= PVPERF_ACCESS_LOCAL) {
		*access = PVPERF_ACCESS_UNAVAILABLE;
		verdict->reason = KVM_PERF_REASON_ALONE;
	}
	return 0;
}
