/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_FAULT_H
#define PVPERF_FAULT_H

/* Why files cannot be merged. */

#include <stdint.h>

/* Says why a file can't be merged, and returns the exit status. */
int merge_failed(const char *path, const char *why);
/* Says what pvperf itself can't do, by errno. */
int merge_broke(const char *what);

extern const char merge_no_name[], merge_moved[], merge_no_tsc[], merge_no_rights[], merge_no_proof[];
int merge_no_clock(const char *host, const char *guest, uint64_t name);

#endif /* PVPERF_FAULT_H */
