// SPDX-License-Identifier: GPL-2.0
/*
 * The tasks that a walk's events count: the walk's own, its threads, and a child that does
 * what bytes in a pipe tell it.
 */
#include "chance.h"
#include "walk.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t signals;

static void signal_came(int sig)
{
	signals++;
}

void walk_signals_catch(void)
{
	struct sigaction action = { .sa_handler = signal_came, .sa_flags = SA_RESTART };

	sigaction(SIGIO, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGTRAP, &action, NULL);
}

int walk_signals(void)
{
	int n = signals;

	signals = 0;
	return n;
}

static void work(void)
{
	uint64_t turns = WALK_WORK / 2;

	asm volatile("1: dec %0\n\tjnz 1b" : "+r" (turns) : : "cc");
}

static void *work_thread(void *unused)
{
	work();
	return NULL;
}

static void thread_works(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work_thread, NULL);
	pthread_join(thread, NULL);
}

static void fork_works(void)
{
	pid_t pid = fork();

	if (!pid) {
		work();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void exec_again(int in, int out)
{
	char from[16], to[16];

	snprintf(from, sizeof(from), "%d", in);
	snprintf(to, sizeof(to), "%d", out);
	execl("/proc/self/exe", "pmu_walk", "child", from, to, NULL);
	_exit(1);
}

static void child_obey(char order, int in, int out)
{
	switch (order) {
	case 'w': work(); break;
	case 't': thread_works(); break;
	case 'f': fork_works(); break;
	case 'x': exec_again(in, out); break;
	case 'n': break;
	default: _exit(0);
	}
}

/* After exec() the new program answers first. */
static void child_loop(int in, int out)
{
	char order;

	while (read(in, &order, 1) == 1) {
		child_obey(order, in, out);
		if (write(out, &order, 1) != 1)
			break;
	}
	_exit(0);
}

int walk_child_main(char **argv)
{
	int in = atoi(argv[0]), out = atoi(argv[1]);

	walk_signals_catch();
	/*
	 * If exec() has removed a group's leader, its siblings count from the next context
	 * switch on. Without this one it is chance whether one comes before the answer.
	 */
	usleep(1000);
	if (write(out, "x", 1) == 1)
		child_loop(in, out);
	return 1;
}

/* One task at a time, on one CPU: who runs when does not depend on the time. */
void walk_priority(int priority)
{
	struct sched_param param = { .sched_priority = priority };
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	if (sched_setaffinity(0, sizeof(first), &first) ||
	    sched_setscheduler(0, SCHED_FIFO, &param))
		_exit(1);
}

static void child_order(struct walk *w, char order)
{
	char answer;

	if (write(w->to_child, &order, 1) != 1 || read(w->from_child, &answer, 1) != 1)
		say(w, " child-gone");
}

void walk_child_start(struct walk *w)
{
	int to[2], from[2];

	if (pipe(to) || pipe(from))
		_exit(1);
	w->child = fork();
	if (!w->child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(to[1]);
		close(from[0]);
		/* It has nothing left to do when the walk goes on after its answer. */
		walk_priority(2);
		child_loop(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	w->to_child = to[1];
	w->from_child = from[0];
	child_order(w, 'n');
}

void walk_pause(struct walk *w)
{
	child_order(w, 'n');
}

void walk_child_end(struct walk *w)
{
	close(w->to_child);
	close(w->from_child);
	waitpid(w->child, NULL, 0);
}

void walk_tasks(struct walk *w)
{
	char order = "wwwwwtfx"[below(8)];
	bool self = order != 'x' && below(3);

	say(w, "%s-%c", self ? "self" : "child", order);
	if (!self)
		child_order(w, order);
	else if (order == 'w')
		work();
	else if (order == 't')
		thread_works();
	else
		fork_works();
}
