/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_DOOR_H
#define _PVPERF_HOST_DOOR_H

/* The way into KVM, and the way out. Process context. */

/* The ends of VMs and vCPUs are seen; nobody can ask for anything yet. */
int pvperf_door_watch(void);
/* Proves that the hooks work, then lets guests in. */
int pvperf_door_open(void);
/* Nobody asks any more; ends are still seen. */
void pvperf_door_close(void);
void pvperf_door_unwatch(void);

#endif /* _PVPERF_HOST_DOOR_H */
