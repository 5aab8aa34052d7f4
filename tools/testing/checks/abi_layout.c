// SPDX-License-Identifier: GPL-2.0
/* What must not move in the ABI's structures, whatever the guest's word is. */
#include <stddef.h>
#include <linux/kvm_pvperf.h>

#define SIZE(type, size) _Static_assert(sizeof(struct type) == (size), #type)
#define AT(type, field, at) _Static_assert(offsetof(struct type, field) == (at), #type "." #field)

SIZE(guest_perf_attr, 72);
AT(guest_perf_attr, type, 0);
AT(guest_perf_attr, size, 4);
AT(guest_perf_attr, config, 8);
AT(guest_perf_attr, sample_period, 16);
AT(guest_perf_attr, sample_type, 24);
AT(guest_perf_attr, read_format, 32);
AT(guest_perf_attr, flags, 40);
AT(guest_perf_attr, bp_type, 48);
AT(guest_perf_attr, cpu, 52);
AT(guest_perf_attr, bp_addr, 56);
AT(guest_perf_attr, bp_len, 64);

SIZE(guest_perf_event, 64);
AT(guest_perf_event, count, 0);
AT(guest_perf_event, overflows, 8);
AT(guest_perf_event, state, 12);
AT(guest_perf_event, time_enabled, 16);
AT(guest_perf_event, time_running, 24);
AT(guest_perf_event, period, 32);
AT(guest_perf_event, sequence, 40);
AT(guest_perf_event, flags, 44);
AT(guest_perf_event, count_at_overflow, 48);
AT(guest_perf_event, page, 56);

SIZE(guest_perf_event_param, 32);
AT(guest_perf_event_param, attr_addr, 0);
AT(guest_perf_event_param, guest_event_addr, 8);
AT(guest_perf_event_param, id, 16);
AT(guest_perf_event_param, event_size, 20);
AT(guest_perf_event_param, branches_addr, 24);

SIZE(guest_perf_branch, 24);
AT(guest_perf_branch, from, 0);
AT(guest_perf_branch, to, 8);
AT(guest_perf_branch, flags, 16);

SIZE(guest_perf_branches, 784);
AT(guest_perf_branches, sequence, 0);
AT(guest_perf_branches, status, 4);
AT(guest_perf_branches, number, 8);
AT(guest_perf_branches, reserved, 12);
AT(guest_perf_branches, branch, 16);

SIZE(guest_perf_op, 32);
AT(guest_perf_op, op, 0);
AT(guest_perf_op, id, 4);
AT(guest_perf_op, arg, 8);
AT(guest_perf_op, result, 16);
AT(guest_perf_op, reserved, 20);
AT(guest_perf_op, reserved2, 24);

SIZE(guest_perf_page, 2112);
AT(guest_perf_page, version, 0);
AT(guest_perf_page, state, 4);
AT(guest_perf_page, epoch, 8);
AT(guest_perf_page, pending, 16);
AT(guest_perf_page, nmis, 24);
AT(guest_perf_page, reason, 28);
AT(guest_perf_page, clock, 32);
AT(guest_perf_page, reserved2, 40);
AT(guest_perf_page, batch, 64);
