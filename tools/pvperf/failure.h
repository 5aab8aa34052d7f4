/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_FAILURE_H
#define PVPERF_FAILURE_H

/* Why the command failed: prints it on stderr, and keeps it for the object of --json. */

__attribute__((format(printf, 1, 2)))
void failure(const char *format, ...);
extern char failure_why[512];

#endif /* PVPERF_FAILURE_H */
