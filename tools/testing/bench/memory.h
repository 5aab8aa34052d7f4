/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_MEMORY_H
#define BENCH_MEMORY_H

/* Prints the figures memory.*. */
void memory(void);

#endif /* BENCH_MEMORY_H */
