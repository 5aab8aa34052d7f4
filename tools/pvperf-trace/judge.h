/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_JUDGE_H
#define PVPERF_JUDGE_H

/* The proof: all files are read once more, as they were stamped. */

#include "merge_dat.h"
#include "why.h"

/* Tells what it finds, and what @why asks for; returns the exit status. */
int judge_all(struct copies *copies, const struct why *why);

#endif /* PVPERF_JUDGE_H */
