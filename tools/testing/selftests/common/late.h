/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LATE_H
#define LATE_H

/* A page of a tiny guest that arrives when the test says so, or never (userfaultfd). */
#include "tiny_guest.h"

#define AT_LATE		(TINY_MEM - TINY_PAGE)

/* Takes the page away; returns what stands for it, or -errno. */
int late_page(struct tiny_vm *vm);
/* Somebody waits for the page, or does so within @ms. */
bool late_wanted(int fd, int ms);
/* The page arrives, full of zeroes. */
void late_arrive(struct tiny_vm *vm, int fd);

#endif /* LATE_H */
