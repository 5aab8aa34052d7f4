/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_LIST_H
#define PVPERF_LIST_H

/* The file that lists the VMs, in lines as debugfs.h reads them. */
#define LIST_VMS	"/sys/kernel/debug/pvperf/vms"

/* What to do if a file below there can't be read, for the errno value @err. */
const char *list_unread_todo(int err);

#endif /* PVPERF_LIST_H */
