// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include "clocks.h"
#include "grow.h"

bool clocks_add(struct clocks *clocks, const struct clock *clock)
{
	struct clock *more;

	if (!clock->map.ratio || clock->map.frac > 62)
		return true;
	more = grow(clocks->all, clocks->nr, sizeof(*clock));
	if (!more)
		return false;
	clocks->all = more;
	more[clocks->nr++] = *clock;
	return true;
}

static int vcpu_compare(const struct clock *a, const struct clock *b)
{
	return compare(a->name, b->name) ?: compare(a->vcpu, b->vcpu);
}

static int clock_compare(const void *a, const void *b)
{
	const struct clock *one = a, *two = b;

	return vcpu_compare(one, two) ?: compare(one->at, two->at);
}

void clocks_sort(struct clocks *clocks)
{
	if (clocks->nr)
		qsort(clocks->all, clocks->nr, sizeof(*clocks->all), clock_compare);
}

/* The first clock that is not before @wanted. */
static const struct clock *first_from(const struct clocks *clocks, const struct clock *wanted)
{
	const struct clock *c = clocks->all;
	size_t n = clocks->nr, half;

	while (n) {
		half = n / 2;
		if (clock_compare(&c[half], wanted) < 0) {
			c += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return c;
}

const struct clock *clocks_first(const struct clocks *clocks, uint64_t name)
{
	const struct clock wanted = { .name = name };
	const struct clock *c = first_from(clocks, &wanted);

	return c < clocks->all + clocks->nr && c->name == name ? c : NULL;
}

unsigned int clocks_unclaimed(const struct clocks *clocks, bool (*claimed)(uint64_t vm), uint64_t *name)
{
	const struct clock *c, *end = clocks->all + clocks->nr;
	unsigned int n = 0;

	for (c = clocks->all; c < end; c++) {
		if (c->name != c->vm || (c > clocks->all && c[-1].name == c->name) || claimed(c->vm))
			continue;
		*name = c->name;
		n++;
	}
	return n;
}

/* The VM's @n-th vCPU, or one that it has not got. */
static uint64_t vcpu_nth(const struct clocks *clocks, uint64_t name, unsigned int n)
{
	const struct clock *end = clocks->all + clocks->nr, *c;
	struct clock wanted = { .name = name };

	for (;; wanted.vcpu = c->vcpu + 1) {
		c = first_from(clocks, &wanted);
		if (c == end || c->name != name)
			return APIC_UNKNOWN;
		if (!n--)
			return c->vcpu;
	}
}

/* KVM's debugfs names vCPUs by their APIC ids. */
static bool by_debugfs(const struct clocks *clocks, uint64_t name)
{
	const struct clock *c = clocks_first(clocks, name);

	return c && c->vm == name;
}

static uint64_t vcpu_of(const struct clocks *clocks, uint64_t name, unsigned int cpu, uint64_t apic)
{
	if (clocks->by_index && !by_debugfs(clocks, name))
		return cpu;
	return apic != APIC_UNKNOWN ? apic : vcpu_nth(clocks, name, cpu);
}

struct run clocks_run(const struct clocks *clocks, uint64_t name, unsigned int cpu, uint64_t apic)
{
	struct clock wanted = { .name = name, .vcpu = vcpu_of(clocks, name, cpu, apic) };
	struct run run = { .now = first_from(clocks, &wanted) };

	wanted.at = UINT64_MAX;
	run.end = first_from(clocks, &wanted);
	if (run.now == run.end)
		run.now = NULL;
	return run;
}

const struct clock *run_at(struct run *run, uint64_t tsc)
{
	/* In the guest's time: the host's may be before 0 by a clock that is not yet valid. */
	while (run->now && run->now + 1 < run->end &&
	       (int64_t)(tsc - map_to_guest(&run->now[1].map, run->now[1].at)) >= 0)
		run->now++;
	return run->now;
}

uint64_t run_thread(struct run *run, uint64_t at)
{
	if (!run->now)
		return 0;
	run->judged = run->judged ?: run->now;
	while (run->judged + 1 < run->end && run->judged[1].at <= at)
		run->judged++;
	return run->judged->tid;
}

const struct clock *run_next(const struct run *run)
{
	const struct clock *c = run->now;

	while (c < run->end && map_same(&c->map, &run->now->map))
		c++;
	return c;
}
