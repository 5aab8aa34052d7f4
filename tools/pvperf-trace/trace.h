/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_TRACE_H
#define PVPERF_TRACE_H

/* The commands of pvperf-trace. Each returns the exit status. */

int command_merge(int argc, char **argv);
int command_record(int argc, char **argv);
extern const char merge_help[], record_help[];

#endif /* PVPERF_TRACE_H */
