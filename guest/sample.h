/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_SAMPLE_H
#define _PVPERF_GUEST_SAMPLE_H

struct pt_regs;
struct pvperf_cpu;

/* Makes samples from the overflows of slot @s. In an NMI, on @cpu. */
void pvperf_sample_nmi(struct pvperf_cpu *cpu, int s, struct pt_regs *regs);

#endif /* _PVPERF_GUEST_SAMPLE_H */
