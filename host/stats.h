/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_STATS_H
#define _PVPERF_HOST_STATS_H

/* debugfs: pvperf/totals and pvperf/vms. Process context. */

/* Create the files. */
void pvperf_stats_init(void);

/* Remove the files, and wait for their readers. */
void pvperf_stats_exit(void);

#endif /* _PVPERF_HOST_STATS_H */
