/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_NMI_H
#define _PVPERF_GUEST_NMI_H

struct pvperf_cpu;

/* Process context. */
int pvperf_nmi_init(void);
void pvperf_nmi_exit(void);

/* Another host side numbers its NMIs anew. IRQs off, on @cpu. */
void pvperf_nmi_new_host(struct pvperf_cpu *cpu);

#endif /* _PVPERF_GUEST_NMI_H */
