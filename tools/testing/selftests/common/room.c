// SPDX-License-Identifier: GPL-2.0
#include "room.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

/* Behind what the guest itself maps: only the host reads these addresses. */
#define AT_ROOMS	0x200000ull
#define ROOM_PAGES	(4 + ROOM_EVENTS)
#define ROOM_SIZE	(ROOM_PAGES * TINY_PAGE)
#define ROOMS_SIZE	(TINY_VCPUS * ROOM_SIZE)

enum { BATCH, ATTRS, PARAMS, HEAD, EVENT };	/* pages of a room */
#define ATTR_STEP	128
#define PARAM_STEP	32

static uint8_t *rooms;		/* one VM of a process has them */

static const struct { uint32_t type; uint64_t config; } kinds[ROOM_KINDS] = {
	{ KVM_PERF_TYPE_HARDWARE, 1 }, { KVM_PERF_TYPE_HARDWARE, 0 },
	{ KVM_PERF_TYPE_SOFTWARE, 0 }, { KVM_PERF_TYPE_SOFTWARE, 2 },
	{ KVM_PERF_TYPE_SOFTWARE, 3 }, { KVM_PERF_TYPE_SOFTWARE, 4 },
};

static uint64_t gpa_of(struct tiny_vcpu *v, int page)
{
	return AT_ROOMS + v->index * ROOM_SIZE + page * TINY_PAGE;
}

static void *room_ptr(struct tiny_vcpu *v, int page)
{
	return rooms + (gpa_of(v, page) - AT_ROOMS);
}

int room_add(struct tiny_vm *vm)
{
	rooms = mmap(NULL, ROOMS_SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (rooms == MAP_FAILED)
		return -errno;
	return tiny_slot_set(vm, 2, AT_ROOMS, ROOMS_SIZE, rooms, 0);
}

int64_t room_attach(struct tiny_vcpu *v)
{
	return tiny_call_here(v, KVM_PERF_OP_ATTACH, gpa_of(v, HEAD), 0);
}

void room_period(struct tiny_vcpu *v, uint64_t period)
{
	uint8_t *at = room_ptr(v, ATTRS);
	int i;

	for (i = 0; i < ROOM_KINDS; i++) {
		struct guest_perf_attr attr = {
			.type = kinds[i].type, .config = kinds[i].config,
			.size = KVM_PERF_ATTR_SIZE_VER0, .sample_period = period,
		};

		memcpy(at + i * ATTR_STEP, &attr, sizeof(attr));
	}
}

struct guest_perf_op *room_op(struct tiny_vcpu *v, int i)
{
	return (struct guest_perf_op *)room_ptr(v, BATCH) + i;
}

void room_open(struct tiny_vcpu *v, int i, int n, int32_t id, int kind)
{
	struct guest_perf_event_param param = {
		.attr_addr = gpa_of(v, ATTRS) + kind * ATTR_STEP,
		.guest_event_addr = gpa_of(v, EVENT + n),
		.id = id, .event_size = KVM_PERF_EVENT_SIZE,
	};

	memcpy(room_ptr(v, PARAMS) + i * PARAM_STEP, &param, sizeof(param));
	*room_op(v, i) = (struct guest_perf_op){
		.op = KVM_PERF_OP_OPEN, .id = id, .arg = gpa_of(v, PARAMS) + i * PARAM_STEP,
	};
}

int room_batch(struct tiny_vcpu *v, int ops)
{
	int i, n = 0;

	if (tiny_call_here(v, KVM_PERF_OP_BATCH, gpa_of(v, BATCH), ops) != ops)
		return 0;
	for (i = 0; i < ops; i++)
		n += !room_op(v, i)->result;
	return n;
}

int32_t room_id(struct tiny_vcpu *v, int n, int id_step)
{
	return (v->index * ROOM_EVENTS + n) * id_step;
}

int room_open_many(struct tiny_vcpu *v, int n, int kinds, int id_step)
{
	int i;

	for (i = 0; i < n; i++)
		room_open(v, i, i, room_id(v, i, id_step), i % kinds);
	room_batch(v, n);
	for (i = 0; i < n; i++)
		*room_op(v, i) = (struct guest_perf_op){
			.op = KVM_PERF_OP_ENABLE, .id = room_id(v, i, id_step),
		};
	return room_batch(v, n);
}
