/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FUZZ_H
#define FUZZ_H

/*
 * A guest, its VMM and the admin do anything at random, each in a thread with numbers of its own
 * that follow from the seed. Under -icount a seed gives the same run.
 */
#include "chance.h"
#include "tiny_guest.h"
#include <stdbool.h>
#include <stdint.h>

#define FUZZ_VCPUS	3
#define FUZZ_USER	65534		/* the VMM's, as that of tiny vCPUs */

/* Memory that calls name: of the VM's own slot, and of one that comes and goes. */
#define AT_POOL		TINY_DATA
#define POOL_PAGES	32
#define AT_SLOT		0x40000000ull
#define SLOT_PAGES	16
/* Of a vCPU: attrs and params on the first page, a batch on the second. */
#define AT_OWN(i, n)	(AT_POOL + (POOL_PAGES + (i) * 2 + (n)) * TINY_PAGE)
/* No call names it, so nothing is written there. */
#define AT_CANARY	(AT_POOL + 64 * TINY_PAGE)
#define CANARY_SIZE	(4 * TINY_PAGE)
#define CANARY		0x5a

/* Of a round, in memory that its processes share. */
struct fuzz_round {
	uint64_t seed;
	int calls;			/* of each vCPU */
	long done, opened;		/* calls so far, of all rounds; OPENs with result 0 */
	int signal;			/* that has ended the VMM; 0: none */
	volatile int closed;		/* not 0: a rule lets no VM have anything */
	bool broken;			/* something was wrong, and printed */
};

struct fuzz_vm {
	struct tiny_vm vm;
	struct fuzz_round *round;
	uint8_t *slot;			/* the memory behind AT_SLOT ... */
	uint8_t *other;			/* ... and what may be put there */
	int faults;			/* a userfaultfd; -1: none */
	bool apics;			/* they are in KVM */
	bool foreign;			/* hypercalls may be Hyper-V's and Xen's */
	volatile bool stop;
};

/* Mostly of the memory above, and aligned. */
uint64_t fuzz_address(void);

/* The guest: @calls calls of a vCPU, one after the other. */
void fuzz_guest(struct fuzz_vm *f, struct tiny_vcpu *v, int calls);

/* The VMM: until .stop. Memory goes, comes and changes, and what fuzz_vcpus() does. */
bool fuzz_slot_add(struct fuzz_vm *f);
void fuzz_vmm(struct fuzz_vm *f);
/* Its vCPUs; one thing. */
bool fuzz_vm_create(struct fuzz_vm *f);
void fuzz_vcpus(struct fuzz_vm *f);

/* The admin: one thing. @vmm is the process of a VM. */
void fuzz_admin(struct fuzz_round *round, int vmm);
extern bool fuzz_admin_failed;
/* All as it was after the module's load. */
void fuzz_admin_restore(void);

#endif /* FUZZ_H */
