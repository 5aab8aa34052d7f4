/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_DOOR_H
#define _PVPERF_HOST_DOOR_H

/* The hooks on KVM: the ways in, and the ends. Process context. */

/**
 * pvperf_door_watch() - watch the ends of VMs and vCPUs
 *
 * No guest can call us yet.
 *
 * Return: 0 or an error, after a message.
 */
int pvperf_door_watch(void);

/**
 * pvperf_door_open() - prove that the hooks work, then let guests call
 *
 * Return: 0 or an error, after a message.
 */
int pvperf_door_open(void);

/**
 * pvperf_door_close() - let no guest call any more; the ends are still watched
 * @forever: wait for calls that are on their way for as long as it takes; else for 10 s
 *
 * Return: false if there are such calls.
 */
bool pvperf_door_close(bool forever);

/**
 * pvperf_door_unwatch() - remove the last hooks
 */
void pvperf_door_unwatch(void);

#endif /* _PVPERF_HOST_DOOR_H */
