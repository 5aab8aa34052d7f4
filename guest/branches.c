// SPDX-License-Identifier: GPL-2.0
/*
 * The branches that a sample has. The host gives all of user mode; which of these a program wants
 * is told by the instructions, which are decoded here, in the task that has executed them.
 */
#include <linux/atomic.h>
#include <linux/minmax.h>
#include <asm/ptrace.h>
#include "../compat/perf.h"
#include "branches.h"
#include "state.h"

/* What a program may say besides: which modes, kinds, and what of a branch to leave out. */
#define BRANCHES_KINDS	(PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_ANY_CALL |		\
			 PERF_SAMPLE_BRANCH_ANY_RETURN | PERF_SAMPLE_BRANCH_IND_CALL |	\
			 PERF_SAMPLE_BRANCH_COND | PERF_SAMPLE_BRANCH_IND_JUMP |	\
			 PERF_SAMPLE_BRANCH_CALL)
#define BRANCHES_OTHER	(PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_HV |		\
			 PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES |	\
			 PERF_SAMPLE_BRANCH_TYPE_SAVE | PERF_SAMPLE_BRANCH_HW_INDEX)

static atomic64_t missing;

bool pvperf_branches_can(const struct perf_event *event)
{
	const u64 asked = event->attr.branch_sample_type;

	return !(asked & ~(u64)(BRANCHES_KINDS | BRANCHES_OTHER)) &&
	       asked & PERF_SAMPLE_BRANCH_USER &&
	       (!(asked & (BRANCHES_KINDS & ~PERF_SAMPLE_BRANCH_ANY)) ||
		pvperf_compat_has_branch_types());
}

u64 pvperf_branches_missing(void)
{
	return atomic64_read(&missing);
}

/* What a program asks for if it wants branches of @type, one of enum PERF_BR_*. */
static u64 branch_kinds(int type)
{
	switch (type) {
	case PERF_BR_COND:
		return PERF_SAMPLE_BRANCH_COND;
	case PERF_BR_IND:
		return PERF_SAMPLE_BRANCH_IND_JUMP;
	case PERF_BR_CALL:
		return PERF_SAMPLE_BRANCH_CALL | PERF_SAMPLE_BRANCH_ANY_CALL;
	case PERF_BR_IND_CALL:
		return PERF_SAMPLE_BRANCH_IND_CALL | PERF_SAMPLE_BRANCH_ANY_CALL;
	case PERF_BR_RET:
		return PERF_SAMPLE_BRANCH_ANY_RETURN;
	default:
		return 0;
	}
}

static void branch_flags(struct perf_branch_entry *entry, u64 flags)
{
	if (!flags)
		return;		/* the host does not tell */
	entry->mispred = !!(flags & KVM_PERF_BRANCH_MISPREDICTED);
	entry->predicted = !entry->mispred;
	entry->spec = (flags & KVM_PERF_BRANCH_CORRECT ? PERF_BR_NON_SPEC_CORRECT_PATH : 0) +
		      (flags & KVM_PERF_BRANCH_SPECULATIVE ? PERF_BR_SPEC_WRONG_PATH : 0);
}

static_assert(PERF_BR_NON_SPEC_CORRECT_PATH + PERF_BR_SPEC_WRONG_PATH ==
	      PERF_BR_SPEC_CORRECT_PATH);

/* Returns whether a program that asks for @asked wants it. */
static bool branch_take_nmi(struct perf_branch_entry *entry, const struct guest_perf_branch *from,
			    u64 asked)
{
	int type, offset = 0;

	*entry = (struct perf_branch_entry) { .from = from->from, .to = from->to };
	/* AMD may name the comparison that the branch is fused with. */
	type = pvperf_compat_branch_type_nmi(entry->from, entry->to, &offset);
	if (!(asked & (PERF_SAMPLE_BRANCH_ANY | branch_kinds(type))))
		return false;
	entry->from += offset;
	if (asked & PERF_SAMPLE_BRANCH_TYPE_SAVE)
		entry->type = type;
	if (!(asked & PERF_SAMPLE_BRANCH_NO_FLAGS))
		branch_flags(entry, from->flags);
	return true;
}

/*
 * Returns whether the host has some, and the copy is whole: after an overflow meanwhile the host
 * has written anew.
 */
static bool branches_copy_nmi(struct pvperf_cpu *cpu, const struct guest_perf_branches *from,
			      u64 asked)
{
	struct perf_branch_stack *stack = &cpu->branches.stack;
	u32 i, n, sequence = READ_ONCE(from->sequence);
	bool ok;

	stack->nr = 0;
	stack->hw_idx = 0;	/* the last branch is the first entry */
	barrier();
	ok = READ_ONCE(from->status) == KVM_PERF_BRANCHES_OK;
	n = min_t(u32, READ_ONCE(from->number), KVM_PERF_BRANCHES_MAX);
	for (i = 0; i < n; i++)
		if (branch_take_nmi(&cpu->branches.entry[stack->nr], &from->branch[i], asked))
			stack->nr++;
	barrier();
	return ok && !(sequence & 1) && sequence == READ_ONCE(from->sequence);
}

/*
 * In the kernel the last branches of user mode may be those of the task before: the way into the
 * kernel is not among them. An event that leaves the kernel out has overflowed in user mode.
 */
static bool branches_are_of_task(const struct perf_event *event, struct pt_regs *regs)
{
	return event->attr.exclude_kernel || user_mode(regs);
}

void pvperf_branches_take_nmi(struct pvperf_cpu *cpu, int s, const struct perf_event *event,
			      u32 n, struct pt_regs *regs)
{
	const struct guest_perf_branches *from = pvperf_cpu_branches(cpu, s);

	cpu->branches.samples = 0;
	if (!branches_are_of_task(event, regs))
		return;
	if (branches_copy_nmi(cpu, from, event->attr.branch_sample_type))
		cpu->branches.samples = n;
	else
		atomic64_inc(&missing);
}

void pvperf_branches_give_nmi(struct perf_event *event, struct perf_sample_data *data)
{
	struct pvperf_cpu *cpu = pvperf_cpu_this();

	if (cpu->branches.samples && !--cpu->branches.samples)
		pvperf_compat_save_branches(data, event, &cpu->branches.stack);
}
