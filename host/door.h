/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_DOOR_H
#define _PVPERF_HOST_DOOR_H

/* The hooks on KVM: the ways in, and the ends. Process context. */

/*
 * Watch the ends of VMs and vCPUs. No guest can call us yet. Returns 0 or an error, after a
 * message.
 */
int pvperf_door_watch(void);

/* Prove that the hooks work, then let guests call. Returns 0 or an error, after a message. */
int pvperf_door_open(void);

/*
 * Let no guest call any more; the ends are still watched. @forever: wait for calls that are on
 * their way for as long as it takes; else for 10 s. Returns false if there are such calls.
 */
bool pvperf_door_close(bool forever);

/* Remove the last hooks. */
void pvperf_door_unwatch(void);

#endif /* _PVPERF_HOST_DOOR_H */
