// SPDX-License-Identifier: GPL-2.0
/* Each operation that a descriptor of perf_event_open() has, but read(). */
#include "chance.h"
#include "walk.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static int slot(struct walk *w, struct walk_event *e)
{
	return e - w->events;
}

/* Most often the flags that exist. */
static unsigned long group_flag(void)
{
	return below(8) ? below(2) : ONE_OF(2, 3, ~0u);
}

static void operate_plain(struct walk *w, struct walk_event *e)
{
	static const struct {
		const char *name;
		unsigned long what;
	} plain[] = {
		{ "enable", PERF_EVENT_IOC_ENABLE }, { "enable", PERF_EVENT_IOC_ENABLE },
		{ "disable", PERF_EVENT_IOC_DISABLE }, { "reset", PERF_EVENT_IOC_RESET },
	};
	int i = below(N(plain));
	unsigned long flag = group_flag();

	say(w, "%s(%d,%#lx)", plain[i].name, slot(w, e), flag);
	say_result(w, ioctl(e->fd, plain[i].what, flag));
	if (plain[i].what == PERF_EVENT_IOC_RESET)
		walk_forget(w);
}

static void operate_refresh(struct walk *w, struct walk_event *e)
{
	unsigned long n = ONE_OF(0, 1, 1, 2, 3, ~0u);

	say(w, "refresh(%d,%#lx)", slot(w, e), n);
	say_result(w, ioctl(e->fd, PERF_EVENT_IOC_REFRESH, n));
}

static void operate_period(struct walk *w, struct walk_event *e)
{
	uint64_t period = ONE_OF(0, 50021, 90011, 150011, 1ull << 62, 1ull << 63);

	say(w, "period(%d,%#llx)", slot(w, e), (unsigned long long)period);
	say_result(w, ioctl(e->fd, PERF_EVENT_IOC_PERIOD, &period));
}

static void operate_output(struct walk *w, struct walk_event *e)
{
	int other = below(4) ? (int)below(WALK_EVENTS) : -1;

	say(w, "output(%d,%d)", slot(w, e), other);
	say_result(w, ioctl(e->fd, PERF_EVENT_IOC_SET_OUTPUT, other < 0 ? -1 : w->events[other].fd));
}

static void operate_pause(struct walk *w, struct walk_event *e)
{
	unsigned long on = below(2);

	say(w, "pause(%d,%lu)", slot(w, e), on);
	say_result(w, ioctl(e->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, on));
}

static void operate_modify(struct walk *w, struct walk_event *e)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = ONE_OF(PERF_TYPE_HARDWARE, PERF_TYPE_BREAKPOINT),
		.bp_type = HW_BREAKPOINT_RW, .bp_addr = 0x1000, .bp_len = HW_BREAKPOINT_LEN_8,
	};

	say(w, "modify(%d,%u)", slot(w, e), attr.type);
	say_result(w, ioctl(e->fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr));
}

static void operate_bpf(struct walk *w, struct walk_event *e)
{
	struct perf_event_query_bpf query = { .ids_len = below(3) };
	int fd = below(2) ? -1 : e->fd;

	if (below(2)) {
		say(w, "query_bpf(%d,%u)", slot(w, e), query.ids_len);
		say_result(w, ioctl(e->fd, PERF_EVENT_IOC_QUERY_BPF, &query));
	} else {
		say(w, "set_bpf(%d,%s)", slot(w, e), fd < 0 ? "none" : "itself");
		say_result(w, ioctl(e->fd, PERF_EVENT_IOC_SET_BPF, fd));
	}
}

static void operate_unknown(struct walk *w, struct walk_event *e)
{
	if (below(2)) {
		say(w, "filter(%d)", slot(w, e));
		say_result(w, ioctl(e->fd, PERF_EVENT_IOC_SET_FILTER, "x"));
	} else {
		say(w, "unknown(%d)", slot(w, e));
		say_result(w, ioctl(e->fd, _IO('$', 99), 0));
	}
}

static void operate_unmap(struct walk *w, struct walk_event *e)
{
	say(w, "unmap(%d)", slot(w, e));
	say_result(w, munmap(e->ring, e->pages * 4096));
	e->ring = NULL;
}

/* A ring that most samples fit into. */
void walk_map(struct walk *w, struct walk_event *e)
{
	void *at = mmap(NULL, 5 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, e->fd, 0);

	say(w, ",map");
	say_result(w, at == MAP_FAILED ? -1 : 0);
	if (at == MAP_FAILED)
		return;
	e->ring = at;
	e->pages = 5;
}

/* A second time, too; with the wrong size, too. */
static void operate_map(struct walk *w, struct walk_event *e)
{
	size_t pages = below(4) ? 1 + (1ul << below(5)) : ONE_OF(0, 1, 4, 1ul << 30);
	bool overwrite = !below(4), private = !below(16);
	off_t from = below(12) ? 0 : 4096;
	void *at = mmap(NULL, pages * 4096, overwrite ? PROT_READ : PROT_READ | PROT_WRITE,
			private ? MAP_PRIVATE : MAP_SHARED, e->fd, from);

	say(w, "map(%d,%zu%s%s,%ld)", slot(w, e), pages, overwrite ? ",overwrite" : "",
	    private ? ",private" : "", (long)from);
	say_result(w, at == MAP_FAILED ? -1 : 0);
	if (at == MAP_FAILED)
		return;
	if (e->ring) {
		munmap(at, pages * 4096);
		return;
	}
	e->ring = at;
	e->pages = pages;
	e->overwrite = overwrite;
}

static void operate_small_read(struct walk *w, struct walk_event *e)
{
	char values[16];
	size_t size = 8 * below(3);

	say(w, "read(%d,%zu)", slot(w, e), size);
	say_result(w, read(e->fd, values, size));
}

static void operate_poll(struct walk *w, struct walk_event *e)
{
	struct pollfd fd = { .fd = e->fd, .events = POLLIN | POLLPRI };
	int n = poll(&fd, 1, 0);

	say(w, "poll(%d)=%d/%#x", slot(w, e), n, fd.revents);
}

static void operate_signal(struct walk *w, struct walk_event *e)
{
	struct f_owner_ex owner = { .type = F_OWNER_PID, .pid = getpid() };
	int sig = ONE_OF(0, SIGIO, SIGUSR1);
	long result = fcntl(e->fd, F_SETOWN_EX, &owner);

	result = result ?: fcntl(e->fd, F_SETSIG, sig);
	result = result ?: fcntl(e->fd, F_SETFL, O_ASYNC);
	say(w, "signal(%d,%d)", slot(w, e), sig);
	say_result(w, result);
}

/* Closes the first descriptor of two. */
static void operate_duplicate(struct walk *w, struct walk_event *e)
{
	int fd = dup(e->fd);

	close(e->fd);
	e->fd = fd;
	say(w, "duplicate(%d)=0", slot(w, e));
}

static void operate_all(struct walk *w, struct walk_event *e)
{
	bool on = below(2);

	say(w, "all-events(%s)", on ? "on" : "off");
	say_result(w, prctl(on ? PR_TASK_PERF_EVENTS_ENABLE : PR_TASK_PERF_EVENTS_DISABLE));
}

static void operate_close(struct walk *w, struct walk_event *e)
{
	walk_close(w, e);
	say(w, "close(%d)=0", slot(w, e));
}

void walk_operate(struct walk *w, struct walk_event *e)
{
	static void (*const operations[])(struct walk *w, struct walk_event *e) = {
		operate_plain, operate_plain, operate_plain, operate_plain, operate_plain,
		operate_refresh, operate_refresh, operate_period, operate_period,
		operate_output, operate_output, operate_pause, operate_modify, operate_bpf,
		operate_unknown, operate_map, operate_map, operate_map, operate_map,
		operate_small_read, operate_poll, operate_poll, operate_signal, operate_signal,
		operate_duplicate, operate_all, operate_close, operate_close,
	};
	int i = below(N(operations));

	if (operations[i] == operate_map && e->ring && below(2))
		operate_unmap(w, e);
	else
		operations[i](w, e);
}
