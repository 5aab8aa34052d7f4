/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_LEARN_H
#define PVPERF_LEARN_H

/* What a file says of its clock: read once, before it is stamped. */

#include "merge_dat.h"

/* The name of the file's clock event. */
const char *clock_of(const struct copies *copies, const struct dat *dat);

int dat_learn(struct copies *copies, struct dat *dat);

#endif /* PVPERF_LEARN_H */
