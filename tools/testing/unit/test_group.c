// SPDX-License-Identifier: GPL-2.0
/*
 * Groups and times of the guest (guest/group.c, guest/time.c, as they are), with a host that
 * serves each event a part of the time. perf core is modelled here: what it adds up, and in
 * which order it calls a PMU. So are the few lines of event.c, account.c and batch.c around.
 */
#include <stdio.h>
#include <stdlib.h>
#include "compat/core.h"
#include "guest/group.h"
#include "guest/state.h"
#include "guest/time.h"
#include "tap.h"

#define SEC	1000000000ull
#define TURN	4000000ull	/* of perf core's multiplexing */

struct module unit_module, other_module;
struct pvperf_cpu *pvperf_cpus;
u64 unit_now = SEC;

static struct pvperf_cpu cpu;
struct pvperf_cpu *unit_cpu = &cpu;
static struct pvperf_area area;
static struct pmu ours = { &unit_module }, foreign = { &other_module };
static double served[PVPERF_SLOTS];	/* which part of the time the host serves a slot */

static void begin_anew(void)
{
	int s;

	memset(&cpu, 0, sizeof(cpu));
	memset(&area, 0, sizeof(area));
	cpu.area = &area;
	for (s = 0; s < PVPERF_SLOTS; s++)
		served[s] = 0.5;
}

/* ------------------------------------------------------------- perf core */

static struct perf_event *event_new(struct pmu *pmu, struct perf_event *leader)
{
	struct perf_event *event = calloc(1, sizeof(*event));
	struct list_head *list;

	event->sibling_list.next = event->sibling_list.prev = &event->sibling_list;
	event->group_leader = leader ?: event;
	event->attach_state = PERF_ATTACH_CONTEXT;
	event->pmu = pmu;
	event->tstamp = unit_now;
	if (pmu == &ours)
		event->pmu_private = calloc(1, sizeof(struct pvperf_event));
	if (leader) {
		list = &leader->sibling_list;
		event->sibling_list.prev = list->prev;
		event->sibling_list.next = list;
		list->prev->next = &event->sibling_list;
		list->prev = &event->sibling_list;
	}
	return event;
}

static void group_free(struct perf_event *leader)
{
	struct perf_event *event = leader, *next;

	for (; event; event = next) {
		next = pvperf_core_next_member(event);
		free(event->pmu_private);
		free(event);
	}
}

/* perf_event_update_time() */
static void core_update(struct perf_event *event)
{
	u64 time = unit_now - event->tstamp;

	if (event->state >= PERF_EVENT_STATE_INACTIVE)
		event->total_time_enabled += time;
	if (event->state == PERF_EVENT_STATE_ACTIVE)
		event->total_time_running += time;
	event->tstamp = unit_now;
}

static void core_state(struct perf_event *event, int state)
{
	core_update(event);
	event->state = state;
}

/* ------------------------------------------------------------- the guest */

static struct pvperf_slot *slot_of(const struct perf_event *event)
{
	return pvperf_event_of(event)->slot;
}

/* account_update(): the slot was READ. */
static void synced(struct perf_event *event, enum pvperf_served next)
{
	struct pvperf_event *p = pvperf_event_of(event);
	struct guest_perf_event *ev = pvperf_cpu_event(&cpu, p->slot);
	u64 grown = ev->count - local64_read(&event->hw.prev_count);

	local64_set(&event->hw.prev_count, ev->count);
	local64_add(grown, &event->count);
	local64_add(grown, &p->since);
	if (!pvperf_time_book_whole(p, ev, next, unit_now))
		pvperf_time_book(p, ev, next, unit_now);
}

/* slot_enter(), in a slot whose host event is off. */
static void enter(struct perf_event *event, int s)
{
	struct pvperf_event *p = pvperf_event_of(event);
	struct pvperf_slot *slot = &cpu.slot[s];
	struct guest_perf_event *ev = pvperf_cpu_event(&cpu, slot);
	bool stays = slot->leaving == event, grouped = pvperf_core_in_group(event);
	unsigned long met = grouped ? pvperf_group_meet(&cpu, event, stays) : 0;

	pvperf_for_each_slot(s, met)
		pvperf_time_take_lost(cpu.slot[s].event ?: cpu.slot[s].leaving);
	if (!stays) {
		p->added = pvperf_core_tstamp(event);
		p->lost = p->taken = p->shown = p->level_lost = 0;
		p->ran = p->together = p->frozen = false;
		local64_set(&event->hw.prev_count, ev->count);
		p->clock = p->level_clock = unit_now;
		p->enabled = ev->time_enabled;
		p->running = ev->time_running;
		p->served = PVPERF_SERVED;
	}
	slot->leaving = NULL;
	p->slot = slot;
	slot->event = event;
	if (grouped)
		pvperf_group_begin(&cpu, event, stays);
}

/* ->add() of a group, each member at its slot; of other PMUs those that are not off. */
static void group_in(struct perf_event *leader, int s)
{
	struct perf_event *event;

	for (event = leader; event; event = pvperf_core_next_member(event)) {
		if (event->state == PERF_EVENT_STATE_OFF)
			continue;
		core_state(event, PERF_EVENT_STATE_ACTIVE);
		if (event->pmu == &ours)
			enter(event, s++);
	}
}

static void event_out(struct perf_event *event, int state)
{
	struct pvperf_slot *slot;

	core_state(event, state);
	if (event->pmu != &ours)
		return;
	slot = slot_of(event);
	slot->leaving = event;
	slot->event = NULL;
}

static void group_out(struct perf_event *leader)
{
	struct perf_event *event;

	for (event = leader; event; event = pvperf_core_next_member(event))
		if (event->state == PERF_EVENT_STATE_ACTIVE)
			event_out(event, PERF_EVENT_STATE_INACTIVE);
}

/* The flush at the end of a bracket: what leaves goes, levelled with those that stay. */
static void settle(unsigned long leaving)
{
	unsigned long slots = pvperf_group_slots_of(&cpu, leaving & cpu.set.grouped) | leaving;
	int s;

	pvperf_for_each_slot(s, slots)
		synced(cpu.slot[s].event ?: cpu.slot[s].leaving,
		       cpu.slot[s].event ? PVPERF_SERVED : PVPERF_NOT_WANTED);
	pvperf_group_level(&cpu, slots);
	pvperf_for_each_slot(s, leaving) {
		pvperf_time_take_lost(cpu.slot[s].leaving);
		pvperf_group_leave(cpu.slot[s].leaving);
	}
	pvperf_for_each_slot(s, leaving) {
		pvperf_event_of(cpu.slot[s].leaving)->slot = NULL;
		cpu.slot[s].leaving = NULL;
	}
	cpu.set.grouped &= ~leaving;
}

static void group_leave(struct perf_event *leader)
{
	unsigned long leaving = pvperf_group_slots(&cpu, leader);

	group_out(leader);
	settle(leaving);
}

/* Something else was opened or enabled: core takes all out and in again. */
static void resched(struct perf_event *leader)
{
	group_out(leader);
	group_in(leader, 0);
}

static void watch(struct perf_event *leader)
{
	struct perf_event *event;

	for (event = leader; event; event = pvperf_core_next_member(event))
		if (event->pmu == &ours && slot_of(event))
			synced(event, PVPERF_SERVED);
}

static void group_read(struct perf_event *leader)
{
	unsigned long slots = pvperf_group_slots(&cpu, leader);
	struct perf_event *event;
	int s;

	for (event = leader; event; event = pvperf_core_next_member(event))
		core_update(event);
	watch(leader);
	pvperf_group_level(&cpu, slots);
	pvperf_for_each_slot(s, slots)
		pvperf_time_take_lost(cpu.slot[s].event);
}

/* Time passes. Each event counts 1 in a nanosecond, ours as far as the host serves them. */
static void pass(struct perf_event *leader, u64 time)
{
	struct guest_perf_event *ev;
	struct perf_event *event;
	u64 part;

	unit_now += time;
	for (event = leader; event; event = pvperf_core_next_member(event)) {
		if (event->state != PERF_EVENT_STATE_ACTIVE)
			continue;
		if (event->pmu != &ours) {
			local64_add(time, &event->count);
			continue;
		}
		part = time * served[slot_of(event) - cpu.slot];
		ev = pvperf_cpu_event(&cpu, slot_of(event));
		ev->count += part;
		ev->time_enabled += time;
		ev->time_running += part;
		ev->state = KVM_PERF_STATE_COUNTING;
	}
}

static void pass_seconds(struct perf_event *leader, int n)
{
	for (; n; n--) {
		pass(leader, SEC);
		watch(leader);
	}
}

/* ------------------------------------------------------------- the tests */

static double scaled(const struct perf_event *event, const struct perf_event *times)
{
	return (s64)local64_read(&event->count) / 1e9 * times->total_time_enabled /
	       times->total_time_running;
}

static bool near(double value, double want)
{
	return value > want * 0.995 && value < want * 1.005;
}

static bool times_fit(const struct perf_event *leader)
{
	struct perf_event *event = (struct perf_event *)leader;

	for (; event; event = pvperf_core_next_member(event))
		if (event->total_time_running > event->total_time_enabled)
			return false;
	return true;
}

/* By its own times, and by those of the leader, which a group read gives. */
static void is(const char *name, struct perf_event *event, double want)
{
	double own = scaled(event, event), group = scaled(event, event->group_leader);

	tap(near(own, want) && near(group, want) && times_fit(event->group_leader),
	    "%s: %.3f, by the leader's times %.3f, of %.3f", name, own, group, want);
}

/* {cycles, task-clock} for 100 s; every so many seconds something else is opened. */
static void test_resched(int every)
{
	struct perf_event *leader = event_new(&ours, NULL), *clock = event_new(&foreign, leader);
	char name[64];
	int i;

	begin_anew();
	group_in(leader, 0);
	for (i = 1; i <= 100; i++) {
		pass(leader, SEC);
		watch(leader);
		if (i % every == 0)
			resched(leader);
	}
	group_read(leader);
	snprintf(name, sizeof(name), "opened something each %d s: cycles", every);
	is(name, leader, 100);
	snprintf(name, sizeof(name), "opened something each %d s: task-clock", every);
	is(name, clock, 100);
	group_free(leader);
}

/* Three groups in two places: each stays for one turn, and leaves for the next. */
static void test_turns(void)
{
	struct perf_event *leader = event_new(&ours, NULL), *clock = event_new(&foreign, leader);
	int i;

	begin_anew();
	for (i = 0; i < 10000; i++) {
		group_in(leader, 0);
		pass(leader, TURN);
		resched(leader);
		pass(leader, TURN);
		group_leave(leader);
		pass(leader, TURN);
	}
	core_update(leader);
	core_update(clock);
	is("takes turns: cycles", leader, 30000 * TURN / 1e9);
	is("takes turns: task-clock", clock, 30000 * TURN / 1e9);
	group_free(leader);
}

static void test_other_joins(void)
{
	struct perf_event *leader = event_new(&ours, NULL), *clock = event_new(&foreign, leader);

	begin_anew();
	clock->state = PERF_EVENT_STATE_OFF;
	group_in(leader, 0);
	pass_seconds(leader, 10);
	core_state(clock, PERF_EVENT_STATE_INACTIVE);
	resched(leader);
	pass(leader, SEC);
	group_read(leader);
	tap(near(scaled(leader, leader), 11), "task-clock joins after 10 s: cycles %.3f", scaled(leader, leader));
	tap(near(clock->total_time_running / 1e9, 0.5) && near(scaled(clock, clock), 1) && times_fit(leader),
	    "task-clock joins after 10 s: %.3f, running %.3f", scaled(clock, clock),
	    (s64)clock->total_time_running / 1e9);
	group_free(leader);
}

/* An event that counts alone, and was read, gets a sibling that is served half. */
static void test_alone_before(void)
{
	struct perf_event *first = event_new(&ours, NULL), *second;
	u64 read;

	begin_anew();
	served[0] = 1;
	group_in(first, 0);
	pass_seconds(first, 60);
	group_read(first);
	read = local64_read(&first->count);
	second = event_new(&ours, first);
	resched(first);
	pass(first, SEC);
	group_read(first);
	tap(local64_read(&first->count) >= read, "a sibling joins: the count of the first does not go back");
	tap(near(scaled(first, first), 61), "a sibling joins: the first %.3f of 61", scaled(first, first));
	tap(near(scaled(second, second), 1), "a sibling joins: the second %.3f of 1", scaled(second, second));
	group_free(first);
}

/* A sibling that the host serves half is disabled alone. */
static void test_one_leaves(void)
{
	struct perf_event *first = event_new(&ours, NULL), *second = event_new(&ours, first);

	begin_anew();
	served[0] = 1;
	group_in(first, 0);
	pass_seconds(first, 60);
	event_out(second, PERF_EVENT_STATE_OFF);
	settle(BIT(1));
	group_read(first);
	is("a sibling is disabled alone: the first", first, 60);
	is("a sibling is disabled alone: the sibling", second, 60);
	group_free(first);
}

/* core tells only its own PMU when task-clock is disabled alone. @read: and meanwhile all is read. */
static void test_other_leaves(bool read)
{
	struct perf_event *leader = event_new(&ours, NULL), *clock = event_new(&foreign, leader);

	begin_anew();
	group_in(leader, 0);
	pass(leader, SEC);
	watch(leader);
	core_state(clock, PERF_EVENT_STATE_OFF);
	pass_seconds(leader, 100);
	if (read)
		group_read(leader);
	else
		core_update(leader);
	tap(!read || near(scaled(leader, leader), 101), "task-clock is disabled alone: cycles %.3f of 101",
	    scaled(leader, leader));
	tap(near(scaled(clock, clock), 1) && times_fit(leader),
	    "task-clock is disabled alone: %.3f of 1, running %.3f", scaled(clock, clock),
	    (s64)clock->total_time_running / 1e9);
	core_state(clock, PERF_EVENT_STATE_INACTIVE);
	resched(leader);
	pass_seconds(leader, 10);
	group_read(leader);
	tap(near(scaled(leader, leader), 111), "task-clock is enabled again: cycles %.3f of 111",
	    scaled(leader, leader));
	tap(near(clock->total_time_running / 1e9, 6) && near(scaled(clock, clock), 11) && times_fit(leader),
	    "task-clock is enabled again: %.3f of 11, running %.3f of 6", scaled(clock, clock),
	    (s64)clock->total_time_running / 1e9);
	group_free(leader);
}

/* task-clock leads, and is disabled: the group goes, and the leader is off in the same bracket. */
static void test_other_led(void)
{
	struct perf_event *clock = event_new(&foreign, NULL), *event = event_new(&ours, clock);
	unsigned long leaving;

	begin_anew();
	group_in(clock, 0);
	pass(clock, 10 * SEC);
	leaving = pvperf_group_slots(&cpu, event);
	group_out(clock);
	core_state(clock, PERF_EVENT_STATE_OFF);
	settle(leaving);
	tap(near(clock->total_time_running / 1e9, 5) && near(scaled(clock, clock), 10) &&
	    near(scaled(event, clock), 10), "task-clock leads and is disabled: %.3f, cycles %.3f of 10, running %.3f of 5",
	    scaled(clock, clock), scaled(event, clock), (s64)clock->total_time_running / 1e9);
	group_free(clock);
}

/* task-clock leads, ours are disabled one by one; @back: and are enabled again. */
static void test_led_one_by_one(bool back)
{
	struct perf_event *clock = event_new(&foreign, NULL), *event[3];
	int i, seconds = back ? 45 : 30;

	begin_anew();
	for (i = 0; i < 3; i++)
		event[i] = event_new(&ours, clock);
	group_in(clock, 0);
	pass_seconds(clock, 10);
	for (i = 0; i < 2; i++) {
		event_out(event[i], PERF_EVENT_STATE_OFF);
		settle(BIT(i));
		pass_seconds(clock, 10);
	}
	if (back) {
		pass(clock, 5 * SEC);	/* and nobody reads */
		core_state(event[0], PERF_EVENT_STATE_INACTIVE);
		core_state(event[1], PERF_EVENT_STATE_INACTIVE);
		resched(clock);
		pass_seconds(clock, 10);
	}
	group_read(clock);
	tap(near(clock->total_time_running / 0.5e9, seconds) && near(scaled(clock, clock), seconds) &&
	    near(scaled(event[2], clock), seconds) && times_fit(clock),
	    "task-clock leads, ours go one by one: %.3f, cycles %.3f of %d, running %.3f of half",
	    scaled(clock, clock), scaled(event[2], clock), seconds,
	    (s64)clock->total_time_running / 1e9);
	group_free(clock);
}

/* The host is away at two reads, and serves all of the time in between. */
static void test_away_twice(void)
{
	struct perf_event *event = event_new(&ours, NULL);
	int i;

	begin_anew();
	served[0] = 1;
	group_in(event, 0);
	for (i = 0; i < 2; i++) {
		pass_seconds(event, 4);
		synced(event, PVPERF_UNSERVED);
		unit_now += SEC;
		core_update(event);
		pvperf_time_book(pvperf_event_of(event), NULL, PVPERF_UNSERVED, unit_now);
		pvperf_time_take_lost(event);
		unit_now += SEC;
		synced(event, PVPERF_SERVED);
	}
	tap(near(event->total_time_running / 8e9, 1), "the host is away at two reads: running %.3f of 8 s",
	    event->total_time_running / 1e9);
	group_free(event);
}

/* The host is away, and a program reads the group's events one by one. */
static void test_away_one_by_one(void)
{
	struct perf_event *leader = event_new(&ours, NULL), *event[] = { leader, event_new(&ours, leader) };
	int i, s;

	begin_anew();
	served[0] = served[1] = 1;
	group_in(leader, 0);
	pass(leader, 5 * SEC);
	watch(leader);
	unit_now += SEC;
	for (i = 0; i < 2; i++) {
		core_update(event[i]);
		for (s = 0; s < 2; s++)
			pvperf_time_book(pvperf_event_of(event[s]), NULL, PVPERF_UNSERVED, unit_now);
		for (s = 0; s < 2; s++)
			pvperf_time_take_lost(event[s]);
	}
	tap(near(leader->total_time_running / 5e9, 1) && near(event[1]->total_time_running / 5e9, 1),
	    "the host is away, the events are read one by one: running %.3f and %.3f of 5 s",
	    leader->total_time_running / 1e9, event[1]->total_time_running / 1e9);
	group_free(leader);
}

/* What a sampling event counts is not cut, and nothing of the others is taken. */
static void test_sampling(void)
{
	struct perf_event *leader = event_new(&ours, NULL), *clock = event_new(&foreign, leader);

	begin_anew();
	pvperf_event_of(leader)->key.sampling = true;
	leader->attr.sample_period = 1;
	group_in(leader, 0);
	pass(leader, SEC);
	group_read(leader);
	tap(near(scaled(leader, leader), 1) && near(scaled(clock, clock), 1),
	    "a group that samples: cycles %.3f, task-clock %.3f of 1", scaled(leader, leader),
	    scaled(clock, clock));
	group_free(leader);
}

/* {cpu-clock,cycles}:S: the clock's samples have told what it counted. */
static void test_sampling_other(void)
{
	struct perf_event *clock = event_new(&foreign, NULL), *cycles = event_new(&ours, clock);

	begin_anew();
	clock->attr.sample_period = 1;
	group_in(clock, 0);
	pass(clock, SEC);
	group_read(clock);
	tap((s64)local64_read(&clock->count) == SEC && clock->total_time_running == SEC &&
	    (s64)local64_read(&cycles->count) == SEC / 2,
	    "another PMU's event samples: task-clock %.3f, running %.3f of 1", local64_read(&clock->count) / 1e9,
	    clock->total_time_running / 1e9);
	group_free(clock);
}

/* {cycles, context-switches, misses}: one in each stint, of which the host serves 9 tenths to cycles. */
static void test_rare(void)
{
	struct perf_event *leader = event_new(&ours, NULL), *rare = event_new(&foreign, leader);
	struct perf_event *misses = event_new(&ours, leader);
	int i;

	begin_anew();
	served[0] = 0.9;
	served[1] = 1;
	for (i = 0; i < 10000; i++) {
		group_in(leader, 0);
		pass(leader, TURN + i);
		local64_add(1 - (s64)(TURN + i), &rare->count);	/* they are no clocks */
		pvperf_cpu_event(&cpu, slot_of(misses))->count += 1 - (s64)(TURN + i);
		group_leave(leader);
	}
	tap(local64_read(&rare->count) > 8800 && local64_read(&rare->count) < 9200 &&
	    local64_read(&misses->count) > 8800 && local64_read(&misses->count) < 9200,
	    "10,000 times one, 9 tenths served: %llu of another PMU, %llu of ours",
	    (unsigned long long)local64_read(&rare->count), (unsigned long long)local64_read(&misses->count));
	group_free(leader);
}

#define MEMBERS	4

/* Of these members some are other PMUs'. All that core may do, in any order. */
static void random_group(unsigned int seed, int *back, int *wrapped, int *off)
{
	struct perf_event *member[MEMBERS] = { NULL };
	u64 told[MEMBERS] = { 0 };
	int i, step, slot = 0;
	bool in = true;

	srand(seed);
	begin_anew();
	for (i = 0; i < MEMBERS; i++) {
		member[i] = event_new(i && rand() % 2 ? &foreign : &ours, member[0]);
		served[i] = (rand() % 9 + 1) / 10.0;
	}
	group_in(member[0], 0);
	for (step = 0; step < 200; step++) {
		switch (rand() % 4) {
		case 0:
			if (in)
				resched(member[0]);
			break;
		case 1:
			if (in)
				group_leave(member[0]);
			else
				group_in(member[0], slot);
			in = !in;
			break;
		case 2:
			if (in)
				watch(member[0]);
			break;
		default:
			if (in)
				group_read(member[0]);
			for (i = 0; i < MEMBERS; i++) {
				*back += local64_read(&member[i]->count) < told[i];
				told[i] = local64_read(&member[i]->count);
			}
			*wrapped += !times_fit(member[0]);
		}
		pass(member[0], rand() % 10000000 + 1000000);
	}
	if (in)
		group_read(member[0]);
	for (i = 0; i < MEMBERS; i++) {
		core_update(member[i]);
		*off += !near(scaled(member[i], member[0]), member[0]->total_time_enabled / 1e9);
	}
	group_free(member[0]);
}

static void test_random(void)
{
	int back = 0, wrapped = 0, off = 0;
	unsigned int seed;

	for (seed = 1; seed <= 2000; seed++)
		random_group(seed, &back, &wrapped, &off);
	tap(!back, "of 2000 groups %d counts go back", back);
	tap(!wrapped, "of 2000 groups %d have run for longer than they were enabled", wrapped);
	tap(!off, "of 2000 groups %d counts are scaled to something else than the truth", off);
}

int main(void)
{
	test_resched(1000);
	test_resched(60);
	test_resched(2);
	test_turns();
	test_other_joins();
	test_alone_before();
	test_one_leaves();
	test_other_leaves(true);
	test_other_led();
	test_other_leaves(false);
	test_led_one_by_one(false);
	test_led_one_by_one(true);
	test_away_twice();
	test_away_one_by_one();
	test_sampling();
	test_sampling_other();
	test_rare();
	test_random();
	return tap_end();
}
