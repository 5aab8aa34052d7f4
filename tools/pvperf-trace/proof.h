/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_PROOF_H
#define PVPERF_PROOF_H

/* Whether a guest's events lie where KVM says that the host ran their vCPU. */

#include <stdbool.h>
#include <stdint.h>

/* What the host did, in the order of time: kvm_entry and kvm_exit of a thread. */
void proof_entry(uint64_t tid);
void proof_exit(uint64_t tid, uint64_t at);

/* Events of the host were lost. */
void proof_forget(void);

/*
 * Of one of the guest's CPUs. Those that are seen and not judged lie before the host's first
 * event about their vCPU, or after its last one.
 */
struct share {
	uint64_t seen, judged, inside;
	uint64_t lost;		/* can't be judged, as events were lost, or of two files; not among those seen */
};

/* An event of the vCPU that thread @tid runs. */
void proof_judge(struct share *share, uint64_t tid, uint64_t at);

/* Says it; false if an event lies outside, or most could not be judged. */
bool proof_tell(const char *path, unsigned int cpu, const struct share *share);

#endif /* PVPERF_PROOF_H */
