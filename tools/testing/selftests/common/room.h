/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROOM_H
#define ROOM_H

/*
 * More memory of a tiny guest, for many events on pages of their own: a room for each vCPU,
 * with calls that need no test harness. Calls are made in the caller's thread.
 */
#include "tiny_guest.h"

#define ROOM_EVENTS	64
#define ROOM_KINDS	6	/* instructions, cycles, and four of the host's software events */

/* 0 or -errno. */
int room_add(struct tiny_vm *vm);
int64_t room_attach(struct tiny_vcpu *v);

/* What the events of this vCPU are; @period 0: they only count. */
void room_period(struct tiny_vcpu *v, uint64_t period);
/* The operations of the next batch. */
struct guest_perf_op *room_op(struct tiny_vcpu *v, int i);
/* Makes operation @i the OPEN of event @n, with this id, in the event's own page. */
void room_open(struct tiny_vcpu *v, int i, int n, int32_t id, int kind);
/* Does the batch; returns how many operations succeeded. */
int room_batch(struct tiny_vcpu *v, int ops);
/* Opens and enables @n events, of the first @kinds kinds; returns how many are enabled. */
int room_open_many(struct tiny_vcpu *v, int n, int kinds, int id_step);
/* Ids are the VM's: a vCPU's own are so many steps apart. */
int32_t room_id(struct tiny_vcpu *v, int n, int id_step);

#endif /* ROOM_H */
