/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_NMI_H
#define _PVPERF_GUEST_NMI_H

/* Both in process context. */
int pvperf_nmi_init(void);
void pvperf_nmi_exit(void);

#endif /* _PVPERF_GUEST_NMI_H */
