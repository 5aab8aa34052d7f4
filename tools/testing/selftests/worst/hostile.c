// SPDX-License-Identifier: GPL-2.0
/* How a hostile process starts and ends; worst.c has what it does. */
#include "hostile.h"
#include "room.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static struct tiny_vm vm;
static sem_t prepared;
static volatile bool failed;

struct hand {
	const struct worst *worst;
	struct tiny_vcpu *first;
	int n;
};

static void *hand_thread(void *arg)
{
	const struct hand *h = arg;
	int i;

	for (i = 0; i < h->n; i++)
		if (h->worst->prepare && !h->worst->prepare(&h->first[i]))
			failed = true;
	sem_post(&prepared);
	while (h->worst->act)
		for (i = 0; i < h->n; i++)
			h->worst->act(&h->first[i]);
	return NULL;
}

/* True once all threads have prepared. */
static bool hands_start(const struct worst *worst)
{
	static struct hand hand[TINY_VCPUS];
	int i, hands = worst->one_thread ? 1 : worst->vcpus;
	pthread_t thread;

	sem_init(&prepared, 0, 0);
	for (i = 0; i < hands; i++) {
		hand[i] = (struct hand){ worst, &vm.vcpu[i], worst->vcpus / hands };
		if (pthread_create(&thread, NULL, hand_thread, &hand[i]))
			return false;
	}
	for (i = 0; i < hands; i++)
		while (sem_wait(&prepared))
			;
	return !failed;
}

static void hostile_run(const struct worst *worst, int tell, int hear)
{
	char byte;

	tiny_stay_on(0);
	byte = !worst->vcpus ||
	       (!tiny_vm_create(&vm, worst->vcpus) && !room_add(&vm) && hands_start(worst));
	if (write(tell, &byte, 1) != 1)
		_exit(1);
	/* The other end is closed when it is to end, or when the test has died. */
	while (read(hear, &byte, 1) > 0)
		;
	if (worst->let_go)
		worst->let_go();
	_exit(0);
}

bool hostile_start(struct hostile *h, const struct worst *worst)
{
	int told[2], heard[2];
	char byte = 0;

	if (pipe(told) || pipe(heard))
		return false;
	h->pid = fork();
	if (!h->pid) {
		close(told[1]);
		close(heard[0]);
		hostile_run(worst, heard[1], told[0]);
	}
	close(told[0]);
	close(heard[1]);
	h->tell = told[1];
	h->hear = heard[0];
	return h->pid > 0 && read(h->hear, &byte, 1) == 1 && byte;
}

void hostile_end(struct hostile *h)
{
	int status;

	if (h->pid <= 0)
		return;
	close(h->tell);
	close(h->hear);
	while (waitpid(h->pid, &status, 0) < 0)
		;
	h->pid = 0;
}
