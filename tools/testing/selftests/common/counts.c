// SPDX-License-Identifier: GPL-2.0
/* counts SECONDS: be a VM that has an event for so long. */

#include "tiny_test.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static struct tiny_vm vm;
	int64_t err;

	if (argc != 2)
		return 2;
	if (tiny_vm_create(&vm, 1))
		return 1;
	err = open_event(&vm.vcpu[0], 0, 0);
	printf("counts: %lld\n", (long long)err);
	sleep(err ? 0 : atoi(argv[1]));
	tiny_vm_destroy(&vm);
	return !!err;
}
