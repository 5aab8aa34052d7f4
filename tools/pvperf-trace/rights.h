/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_RIGHTS_H
#define PVPERF_RIGHTS_H

#include <stdbool.h>

/*
 * Before a file is read that is not trusted: root becomes nobody, or, in a user namespace that has
 * nobody else, loses its capabilities; and memory has a limit.
 */
bool rights_give_up(void);

#endif /* PVPERF_RIGHTS_H */
