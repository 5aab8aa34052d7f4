/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_RIGHTS_H
#define PVPERF_RIGHTS_H

#include <stdbool.h>
#include <sys/resource.h>

/*
 * Before a file is read that is not trusted: root becomes nobody, or, in a user namespace that has
 * nobody else, loses its capabilities; and memory has a limit.
 */
bool rights_give_up(void);

/* A limit of RLIMIT_*, unless there is a lower one. */
bool rights_limit(int what, rlim_t most);

#endif /* PVPERF_RIGHTS_H */
