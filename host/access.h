/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_ACCESS_H
#define _PVPERF_HOST_ACCESS_H

/* What guests may count, and the switch by which the admin takes it from them. */

/* At load: hook KVM, if the parameter says so. Returns 0 or an error, after a message. */
int pvperf_access_init(void);

/* At unload: end all VMs and remove the hooks. */
void pvperf_access_exit(void);

#endif /* _PVPERF_HOST_ACCESS_H */
