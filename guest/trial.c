// SPDX-License-Identifier: GPL-2.0
/*
 * Would the host open an event? What it has answered is remembered as long as it is the same
 * host with the same policy, and until a second after the last event: then nobody looks whether
 * it is. If there is no answer the event is opened in a slot of this CPU that has no perf_event.
 * Calls slot.h for the slot, batch.h for the OPEN, and watch.h, which closes a host event that no
 * perf_event takes over.
 */
#define pr_fmt(fmt) "pvperf_guest: " fmt

#include <linux/hash.h>
#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include "batch.h"
#include "link.h"
#include "slot.h"
#include "state.h"
#include "trial.h"
#include "watch.h"

/*
 * An answer: 0, -KVM_ENOENT or -KVM_EPERM. Others may be gone a moment later, as -KVM_ENOENT is of
 * branches. It depends on these parts of the key; no host has an event in one mode of the CPU only.
 */
struct answer {
	u32 what;
	u16 flags;		/* of ANSWER_FLAGS */
	bool sampling;		/* the host may let nobody sample */
	u64 config;
	int losses;		/* pvperf_link_losses() when it was given */
	int err;
	struct rcu_head rcu;
};

#define ANSWER_BITS	6
#define ANSWER_FLAGS	(KVM_PERF_FLAG_HOST | KVM_PERF_FLAG_CPU | KVM_PERF_FLAG_KINDS |	\
			 PVPERF_KEY_BRANCHES)

static struct answer __rcu *answers[1 << ANSWER_BITS];

/* It never runs. */
#define TRIAL_PERIOD	(1U << 31)

static struct answer __rcu **answer_place(const struct pvperf_key *key)
{
	return &answers[hash_64(key->config ^ (u64)key->what << 32 ^ (u64)key->sampling << 63,
				ANSWER_BITS)];
}

/* Returns 1 if there is no answer. */
static int answer_find(const struct pvperf_key *key)
{
	const struct answer *answer;
	int err = 1;

	rcu_read_lock();
	answer = rcu_dereference(*answer_place(key));
	if (answer && answer->what == key->what && answer->flags == (key->flags & ANSWER_FLAGS) &&
	    answer->config == key->config && answer->sampling == key->sampling &&
	    answer->losses == pvperf_link_losses())
		err = answer->err;
	rcu_read_unlock();
	return err;
}

static void answer_set(struct answer __rcu **place, struct answer *answer)
{
	struct answer *was = unrcu_pointer(xchg(place, RCU_INITIALIZER(answer)));

	if (was)
		kfree_rcu(was, rcu);
}

/*
 * If there is no memory the next one asks again. A CPU of the host comes and goes.
 * @losses: before the OPEN; if it is another one now, the answer may be one of before.
 */
static void answer_note(const struct pvperf_key *key, int losses, int err)
{
	struct answer *answer;
	bool stays = !err || err == -KVM_EPERM ||
		     (err == -KVM_ENOENT && !(key->flags & PVPERF_KEY_BRANCHES));

	if (!stays || key->flags & KVM_PERF_FLAG_CPU || losses != pvperf_link_losses())
		return;
	answer = kmalloc(sizeof(*answer), GFP_KERNEL);
	if (!answer)
		return;
	*answer = (struct answer) {
		.what = key->what, .flags = key->flags & ANSWER_FLAGS, .config = key->config,
		.sampling = key->sampling,
		.losses = losses, .err = err,
	};
	answer_set(answer_place(key), answer);
}

void pvperf_trial_exit(void)
{
	struct answer __rcu **place;

	for (place = answers; place < answers + ARRAY_SIZE(answers); place++)
		answer_set(place, NULL);
}

/* Returns 1 if there is no answer. */
static int trial_ask(struct pvperf_cpu *cpu, const struct pvperf_key *key, u32 period, int *found)
{
	int s = cpu->link.online ? pvperf_slot_find(cpu, key, 0) : -1;
	struct pvperf_slot *slot;

	if (s < 0)
		return 1;
	*found = s;
	slot = &cpu->slot[s];
	slot->error = 0;
	slot->trial = period;
	/* Asks anew if an event with the key is open there, with another period. */
	slot->close |= slot->open && period != TRIAL_PERIOD;
	pvperf_slot_claim(cpu, s, key);
	pvperf_batch_flush(cpu);
	slot->trial = 0;
	return slot->error ?: !slot->open;
}

/* As pvperf_trial_ask(). */
static int trial_here(struct pvperf_cpu *cpu, const struct pvperf_key *key, int *found)
{
	int s;

	for (s = 0; s < PVPERF_SLOTS; s++)
		if (cpu->slot[s].open && pvperf_key_equal(&cpu->slot[s].key, key)) {
			*found = s;
			return 0;
		}
	return trial_ask(cpu, key, TRIAL_PERIOD, found);
}

static int trial(const struct pvperf_key *key, int *slot)
{
	unsigned long flags;
	int err, losses = pvperf_link_losses();

	/* The watch closes the host event if no perf_event takes it, and its place is wanted. */
	pvperf_watch_get();
	local_irq_save(flags);
	err = trial_here(pvperf_cpu_this(), key, slot);
	local_irq_restore(flags);
	if (err <= 0)
		answer_note(key, losses, err);
	pvperf_watch_put();
	return err;
}

int pvperf_trial_open(const struct pvperf_key *key, int *slot)
{
	return min(pvperf_trial_ask(key, slot), 0);
}

int pvperf_trial_ask(const struct pvperf_key *key, int *slot)
{
	int err = pvperf_watch_awake() ? answer_find(key) : 1;

	if (err > 0)
		err = trial(key, slot);
	if (err == -KVM_EOPNOTSUPP)
		pr_notice_once("the host gives no event of this kind now: it has lent out its PMU (mediated vPMU), or lets nobody sample (kernel.perf_event_max_sample_rate)\n");
	if (err == -KVM_EUSERS)
		pr_notice_once("this VM counts only while no other VM does (access=exclusive at the host), and others count: its events begin when the others' have ended\n");
	return err;
}

void pvperf_trial_period(const struct pvperf_key *key, u32 period)
{
	static struct ratelimit_state rs =
		RATELIMIT_STATE_INIT_FLAGS(rs, HZ, 1, RATELIMIT_MSG_ON_RELEASE);
	unsigned long flags;
	int slot;

	if (!__ratelimit(&rs))
		return;
	pvperf_watch_get();
	local_irq_save(flags);
	trial_ask(pvperf_cpu_this(), key, period, &slot);
	local_irq_restore(flags);
	pvperf_watch_put();
}

/* While no event was there to notice, the host may have changed what it allows. */
void pvperf_trial_look_again(void)
{
	struct pvperf_cpu *cpu;
	unsigned long flags;

	local_irq_save(flags);
	cpu = pvperf_cpu_this();
	if (cpu->area && pvperf_link_gone(cpu))
		pvperf_batch_flush(cpu);
	local_irq_restore(flags);
}
