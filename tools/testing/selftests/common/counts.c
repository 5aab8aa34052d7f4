// SPDX-License-Identifier: GPL-2.0
/* counts SECONDS: be a VM that counts for so long. */

#include "tiny_test.h"
#include "named.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static struct tiny_vm vm;

	if (argc != 2)
		return 2;
	if (tiny_vm_create(&vm, 1) || !begins(&vm))
		return 1;
	puts("it counts");
	sleep(atoi(argv[1]));
	tiny_vm_destroy(&vm);
	return 0;
}
