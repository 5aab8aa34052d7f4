// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "proof.h"

struct thread {
	uint64_t left;		/* when it last left the guest */
	uint32_t known;		/* as of how many losses, plus 1; 0: never seen */
	bool in_guest;
	/* Since then; they count only if the host's recording goes on. */
	struct share *share;
	uint64_t outside;
};

static uint32_t losses = 1;

/* Of all threads; the kernel gives memory to those in use. */
static struct thread *thread_of(uint64_t tid)
{
	static struct thread *threads;

	if (!threads)
		threads = calloc(TIDS, sizeof(*threads));
	return threads && tid < TIDS ? &threads[tid] : NULL;
}

static void outside_count(const struct thread *t)
{
	if (t->outside && t->known == losses)
		t->share->judged += t->outside;
}

void proof_entry(uint64_t tid)
{
	struct thread *t = thread_of(tid);

	if (!t)
		return;
	outside_count(t);
	*t = (struct thread){ .left = t->left, .known = losses, .in_guest = true };
}

void proof_exit(uint64_t tid, uint64_t at)
{
	struct thread *t = thread_of(tid);

	if (!t)
		return;
	outside_count(t);
	*t = (struct thread){ .left = at, .known = losses };
}

void proof_forget(void)
{
	losses++;
}

void proof_judge(struct share *share, uint64_t tid, uint64_t at)
{
	struct thread *t = thread_of(tid);

	if (!t || t->known != losses)
		return;
	/* A tick of the guest's TSC may be two of the host's: it can seem to be a tick late. */
	if (!t->in_guest && at > t->left + 1) {
		t->share = share;
		t->outside++;
		return;
	}
	share->judged++;
	share->inside++;
}

bool proof_tell(const char *path, unsigned int cpu, const struct share *share)
{
	if (share->judged)
		fprintf(stderr, "pvperf: %s: CPU %u: %" PRIu64 " of %" PRIu64 " events lie between a kvm_entry and a kvm_exit\n",
			path, cpu, share->inside, share->judged);
	return share->inside == share->judged;
}
