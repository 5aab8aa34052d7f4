// SPDX-License-Identifier: GPL-2.0
/*
 * The page protocol, with its sides as threads: the host, which counts and overflows; the
 * guest's handler, which takes what an NMI announces; and another vCPU of the guest, which
 * only reads. All numbers of an update are computed from its count, so a torn update
 * shows.
 */

#include "kernel.h"
#include <pvperf/page.h>
#include "tap.h"

#ifdef BREAK
#define ROUNDS		1000000u	/* or until the test fails */
#elif defined(WEAK)
#define ROUNDS		200000u
#else
#define ROUNDS		50000u
#endif
/* After so many rounds the host waits, and gives the guest so many turns. */
#define ROUNDS_APART	256
#ifdef WEAK
#define TURNS		1000
#else
#define TURNS		1000000
#endif
#define EVENTS		3

static const int ids[EVENTS] = { 0, 37, 64 + 5 };
/* An event overflows once in so many rounds. */
static const unsigned int periods[EVENTS] = { 1, 3, 7 };

static struct shared {
	struct guest_perf_page page;
	struct guest_perf_event event[EVENTS];
} shared __attribute__((aligned(64)));

static bool ended, failed;
static uint64_t handled;
static uint32_t seen;		/* the last NMI that the guest has dealt with */

enum check { TORN, BACKWARDS, OLD_COUNT, UNANNOUNCED, CHECKS };
static const char *const names[CHECKS] = {
	[TORN] = "no update is seen torn",
	[BACKWARDS] = "no count goes back",
	[OLD_COUNT] = "who takes an overflow sees the count that made it",
	[UNANNOUNCED] = "who sees an NMI finds its overflow",
};
static unsigned long wrong[CHECKS];

static void note(enum check check)
{
	__atomic_fetch_add(&wrong[check], 1, __ATOMIC_RELAXED);
#ifdef BREAK
	__atomic_store_n(&failed, true, __ATOMIC_RELAXED);
#endif
}

static bool is_ended(void)
{
	return __atomic_load_n(&ended, __ATOMIC_ACQUIRE);
}

static struct pvperf_event_sync sync_of(uint64_t count)
{
	return (struct pvperf_event_sync){
		.count = count, .time_enabled = count * 5,
		.time_running = count * 3, .state = count % 5,
		.flags = count % 2,
	};
}

static bool is_whole(const struct pvperf_event_sync *s)
{
	struct pvperf_event_sync want = sync_of(s->count);

	return s->time_enabled == want.time_enabled &&
	       s->time_running == want.time_running &&
	       s->state == want.state && s->flags == want.flags;
}

/* The sum of what was added, to compare at the end. */
static uint64_t added[EVENTS];

static void host_overflow(int i, uint32_t *nmis)
{
	if (!broken("no-overflow") || added[i] % 1000)
		pvperf_page_overflows_add(&shared.event[i], 1);
	added[i]++;
	++*nmis;
	if (broken("pending-late")) {
		pvperf_page_nmis_set(&shared.page, *nmis);
		pvperf_page_pending_set(&shared.page, ids[i]);
		return;
	}
	pvperf_page_pending_set(&shared.page, ids[i]);
	pvperf_page_nmis_set(&shared.page, *nmis);
}

/* Waits until the guest has taken all, so that both run on a busy machine, too. */
static void host_wait(uint32_t nmis)
{
	int tries;

	for (tries = 0; tries < TURNS; tries++) {
		if (__atomic_load_n(&seen, __ATOMIC_RELAXED) == nmis ||
		    __atomic_load_n(&failed, __ATOMIC_RELAXED))
			return;
		cpu_relax();
	}
}

static void host(void *unused)
{
	uint32_t sequence[EVENTS] = { 0 }, nmis = 0;
	uint64_t round;
	int i;

	for (round = 1; round <= ROUNDS; round++) {
		if (__atomic_load_n(&failed, __ATOMIC_RELAXED))
			break;
		if (round % ROUNDS_APART == 0)
			host_wait(nmis);
		for (i = 0; i < EVENTS; i++) {
			struct pvperf_event_sync s = sync_of(round);

			pvperf_page_event_write(&shared.event[i], &sequence[i], &s);
			if (round % periods[i] == 0)
				host_overflow(i, &nmis);
		}
	}
	side_done();
	__atomic_store_n(&ended, true, __ATOMIC_RELEASE);
}

static void read_checked(int i, uint64_t *last, uint64_t at_least)
{
	struct pvperf_event_sync s;

	/* A busy machine may have stopped the host's side within an update, for more than all tries. */
	while (!pvperf_page_event_read(&shared.event[i], &s))
		sched_yield();
	if (!is_whole(&s))
		note(TORN);
	if (s.count < *last)
		note(BACKWARDS);
	if (s.count < at_least)
		note(OLD_COUNT);
	*last = s.count;
}

struct handler {
	uint32_t seen;
	uint64_t taken[EVENTS], total, last[EVENTS];
};

/* The guest's NMI handler. */
static void handle(struct handler *h)
{
	uint32_t nmis = pvperf_page_nmis(&shared.page);
	uint64_t pending;
	int i;

	if (nmis == h->seen)
		return;
	h->seen = nmis;
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
	pending = pvperf_page_pending_take(&shared.page);
	for (i = 0; i < EVENTS; i++) {
		uint32_t n;

		if (!(pending >> (ids[i] % 64) & 1))
			continue;
		n = pvperf_page_overflows_take(&shared.event[i]);
		h->taken[i] += n;
		h->total += n;
		read_checked(i, &h->last[i], h->taken[i] * periods[i]);
	}
	/* here each NMI is for one overflow, and comes after it */
	if (h->total < nmis)
		note(UNANNOUNCED);
	__atomic_store_n(&seen, nmis, __ATOMIC_RELAXED);
}

static void guest(void *arg)
{
	while (!is_ended())
		handle(arg);
	/* handle the last NMI, and only what it announces */
	side_sync();
	handle(arg);
}

static void reader(void *unused)
{
	uint64_t last[EVENTS] = { 0 };
	int i;

	while (!is_ended())
		for (i = 0; i < EVENTS; i++)
			read_checked(i, &last[i], 0);
}

int main(void)
{
	static struct handler h;
	struct side sides[] = {
		{ host, NULL }, { guest, &h }, { reader, NULL },
	};
	unsigned int i;

	sides_run(sides, 3, &shared, sizeof(shared));

	for (i = 0; i < CHECKS; i++)
		tap(!wrong[i], "%s (%lu times)", names[i], wrong[i]);
	for (i = 0; i < EVENTS; i++)
		tap(h.taken[i] == added[i],
		    "event %d: %llu overflows, %llu taken", ids[i],
		    (unsigned long long)added[i], (unsigned long long)h.taken[i]);
	tap(!shared.page.pending, "nothing is left pending");
	if (!failed)
		tap(handled >= ROUNDS / ROUNDS_APART,
		    "both sides ran: %llu times handled",
		    (unsigned long long)handled);
	return tap_end();
}
