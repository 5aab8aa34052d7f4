// SPDX-License-Identifier: GPL-2.0
/* Opens events at random, most of them such that they count. */
#include "chance.h"
#include "walk.h"
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void choose_hardware(struct perf_event_attr *attr)
{
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	switch (below(8)) {
	case 0:
		attr->type = PERF_TYPE_RAW;
		attr->config = ONE_OF(0xc0, 0xc4, 0x3c);
		break;
	case 1:
		attr->type = PERF_TYPE_HW_CACHE;
		attr->config = PERF_COUNT_HW_CACHE_L1D;
		break;
	case 2:
	case 3:
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = ONE_OF(PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
				      PERF_COUNT_HW_CACHE_REFERENCES);
		break;
	default:
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = PERF_COUNT_HW_INSTRUCTIONS;
	}
}

static void choose_event(struct perf_event_attr *attr)
{
	if (below(6)) {
		choose_hardware(attr);
		return;
	}
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = ONE_OF(PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_CPU_CLOCK,
			      PERF_COUNT_SW_DUMMY);
}

/* Periods that a guest may have. One work is some of each. */
static void choose_samples(struct perf_event_attr *attr)
{
	static const uint8_t types[] = {
		PERF_SAMPLE_IP, PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_READ, 0,
		PERF_SAMPLE_ID, PERF_SAMPLE_ADDR, PERF_SAMPLE_CPU & 0xff,
	};

	attr->sample_period = ONE_OF(50021, 90011, 399989);
	attr->sample_type = types[below(N(types))] | types[below(N(types))];
	attr->sample_id_all = below(2);
	attr->wakeup_events = below(4);
	attr->watermark = !below(8);
	attr->write_backward = !below(8);
	attr->mmap = !below(4);
	attr->comm = !below(4);
	attr->task = !below(4);
	attr->sigtrap = !below(16);
}

static void choose_attr(struct perf_event_attr *attr)
{
	choose_event(attr);
	attr->disabled = !!below(3);
	attr->inherit = !below(4);
	attr->inherit_stat = !below(8);
	attr->inherit_thread = !below(16);
	attr->pinned = !below(8);
	attr->exclusive = !below(24);
	attr->enable_on_exec = !below(6);
	attr->remove_on_exec = !below(12);
	attr->read_format = below(32);
	if (!below(12))
		attr->exclude_user = 1;
	/* A clock's samples follow the time. */
	if (!below(3) && (attr->type != PERF_TYPE_SOFTWARE || attr->config == PERF_COUNT_SW_DUMMY))
		choose_samples(attr);
}

static void say_attr(struct walk *w, const struct perf_event_attr *attr)
{
	static const char *const flags[] = {
		"disabled", "inherit", "pinned", "exclusive", "user", "kernel", "hv", "idle",
		"mmap", "comm", "freq", "stat", "onexec", "task", "watermark",
	};
	uint64_t word = ((const uint64_t *)attr)[5];
	int i;

	say(w, "%u/%#llx", attr->type, attr->config);
	for (i = 0; i < N(flags); i++)
		if (word & 1ull << i)
			say(w, ",%s", flags[i]);
	if (word >> N(flags))
		say(w, ",flags=%#llx", (unsigned long long)(word >> N(flags) << N(flags)));
	if (attr->sample_period)
		say(w, ",period=%llu,sample=%#llx,wakeup=%u", attr->sample_period,
		    attr->sample_type, attr->wakeup_events);
	if (attr->read_format)
		say(w, ",read=%#llx", attr->read_format);
}

struct whom {
	pid_t pid;
	int cpu;
};

static struct whom choose_whom(struct walk *w)
{
	switch (below(16)) {
	case 0:
	case 1:
		return (struct whom){ 0, 0 };
	case 2:
		return (struct whom){ -1, 0 };
	case 3:
		return (struct whom){ -1, -1 };
	case 4:
	case 5:
	case 6:
		return (struct whom){ w->child, -1 };
	default:
		return (struct whom){ 0, -1 };
	}
}

/* The first slot most often, so that groups grow. */
static int choose_leader(void)
{
	return below(2) ? -1 : below(3) ? 0 : (int)below(WALK_EVENTS);
}

void walk_open(struct walk *w, struct walk_event *e)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	struct whom whom = choose_whom(w);
	int leader = choose_leader();
	uint32_t flags = below(12) ? PERF_FLAG_FD_CLOEXEC : ONE_OF(1, 2, 3);

	choose_attr(&attr);
	walk_close(w, e);
	e->fd = syscall(SYS_perf_event_open, &attr, whom.pid, whom.cpu,
			leader < 0 ? -1 : w->events[leader].fd, flags);
	e->hardware = attr.type != PERF_TYPE_SOFTWARE;
	e->exclusive = attr.exclusive;
	e->everybody = whom.pid < 0;
	e->exact = attr.type == PERF_TYPE_HARDWARE && !e->everybody &&
		   attr.config == PERF_COUNT_HW_INSTRUCTIONS;
	e->format = attr.read_format;
	say(w, "%s,leader=%d,fl=%u,", whom.pid < 0 ? whom.cpu < 0 ? "nobody" : "cpu" :
	    whom.pid ? "child" : whom.cpu < 0 ? "self" : "self-cpu", leader, flags);
	say_attr(w, &attr);
	say_result(w, e->fd < 0 ? -1 : 0);
	if (e->fd >= 0 && attr.sample_period && below(4))
		walk_map(w, e);
}

/* What a leader leaves behind counts from the next time on that the task is scheduled. */
void walk_close(struct walk *w, struct walk_event *e)
{
	if (e->ring)
		munmap(e->ring, e->pages * 4096);
	if (e->fd >= 0) {
		close(e->fd);
		walk_pause(w);
	}
	memset(e, 0, sizeof(*e));
	e->fd = -1;
}
