// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include "grow.h"
#include "proof.h"
#include "quote.h"

struct thread {
	uint64_t left;		/* when it last left the guest */
	uint32_t known;		/* as of how many losses, plus 1; 0: never seen */
	bool in_guest;
	/* Since then; they are judged by what the host says next of the thread. */
	struct share *share;
	uint64_t inside, outside;
};

static uint32_t losses = 1;
static bool no_memory;
static bool entered;		/* the host's recording has kvm_entry */

static struct thread *thread_of(uint64_t tid)
{
	static struct tids threads = { .each = sizeof(struct thread) };
	struct thread *t = tids_at(&threads, tid);

	no_memory |= !t && tid < TIDS;
	return t;
}

/* Whether its events since the last entry or exit lie inside is not known. */
static void give_up(struct thread *t)
{
	t->share->seen -= t->inside + t->outside;
	t->share->lost += t->inside + t->outside;
	t->inside = t->outside = 0;
}

/* The events since the last entry or exit: @left says whether the guest was left in order. */
static void settle(struct thread *t, bool left)
{
	struct share *share = t->share;

	if (!share)
		return;
	/* An exit is missing, or events were lost. */
	if (t->known != losses || (t->in_guest && !left)) {
		give_up(t);
		return;
	}
	share->judged += t->inside + t->outside;
	share->inside += t->inside;
}

void proof_entry(uint64_t tid)
{
	struct thread *t = thread_of(tid);

	if (!t)
		return;
	entered = true;
	settle(t, false);
	*t = (struct thread){ .left = t->left, .known = losses, .in_guest = true };
}

void proof_exit(uint64_t tid, uint64_t at)
{
	struct thread *t = thread_of(tid);

	if (!t)
		return;
	settle(t, true);
	*t = (struct thread){ .left = at, .known = losses };
}

void proof_forget(void)
{
	losses++;
}

void proof_judge(struct share *share, uint64_t tid, uint64_t at)
{
	struct thread *t = thread_of(tid);

	if (!t)
		return;
	if (t->known && t->known != losses) {
		share->lost++;
		return;
	}
	share->seen++;
	if (!t->known)
		return;
	/* Two files of one VM. */
	if (t->share && t->share != share)
		give_up(t);
	t->share = share;
	/* A tick of the guest's TSC may be two of the host's: it can seem to be a tick late. */
	if (t->in_guest || at <= t->left + 1)
		t->inside++;
	else
		t->outside++;
}

/* A few at the begin and the end are beside what the host has recorded. */
#define BESIDE_MANY	10

bool proof_tell(const char *path, unsigned int cpu, const struct share *share)
{
	uint64_t beside = share->seen - share->judged;
	bool many = beside + share->lost > share->judged * BESIDE_MANY;
	static bool told;

	if (no_memory) {
		if (!told)
			fprintf(stderr, "pvperf: no memory to tell whether events lie where their vCPUs ran\n");
		told = true;
		return false;
	}
	if (!entered)
		return true;
	if (share->judged) {
		quote_begin(path);
		fprintf(stderr, "CPU %u: %" PRIu64 " of %" PRIu64 " events lie between a kvm_entry and a kvm_exit\n",
			cpu, share->inside, share->judged);
	}
	if (beside) {
		quote_begin(path);
		fprintf(stderr, "CPU %u: %" PRIu64 " events lie before or after all that the host has recorded of their vCPU%s\n",
			cpu, beside, many ? ": are these recordings of the same time, and is the clock right?" : "");
	}
	if (share->lost) {
		quote_begin(path);
		fprintf(stderr, "CPU %u: %" PRIu64 " events cannot be judged, as the host lost events, or two files are of one VM\n", cpu, share->lost);
	}
	return share->inside == share->judged && !many;
}
