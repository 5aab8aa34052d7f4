/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_CLAIM_H
#define _PVPERF_HOST_CLAIM_H

/* A VM asks for the host alone: access=exclusive and access=force. */

struct pvperf_vm;

/*
 * Take the host for a VM, before it opens an event. @vm: its policy says that it counts alone or
 * not at all; @waits: this has slept. The VM has the host until a look, once a second, finds it
 * without an event. Its policy is access=global meanwhile. Returns 0; -KVM_EUSERS if other VMs
 * count, or one of them has the host; -KVM_ENOMEM.
 */
int pvperf_claim(struct pvperf_vm *vm, bool *waits);

/* At load. Returns 0 or -ENOMEM. */
int pvperf_claim_init(void);

/* At unload, when no VM is left. */
void pvperf_claim_exit(void);

#endif /* _PVPERF_HOST_CLAIM_H */
