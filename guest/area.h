/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_AREA_H
#define _PVPERF_GUEST_AREA_H

/*
 * The memory that CPUs share with the host. The host pins it, and a pin holds the whole
 * huge page around it: so the areas of a node's CPUs lie next to each other.
 */

struct pvperf_area;

/**
 * pvperf_area_alloc() - memory for a CPU that has none yet
 * @nr: the CPU
 *
 * Context: Process context; the caller keeps other CPUs from coming online.
 * Return: the area, zeroed, or NULL. It lasts until pvperf_area_exit().
 */
struct pvperf_area *pvperf_area_alloc(unsigned int nr);

/**
 * pvperf_area_exit() - free all areas
 */
void pvperf_area_exit(void);

#endif /* _PVPERF_GUEST_AREA_H */
