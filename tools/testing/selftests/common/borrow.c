// SPDX-License-Identifier: GPL-2.0
/*
 * borrow FILE: be a VM with a mediated vPMU, and so borrow the host's PMU, until FILE is
 * gone. Makes FILE when the VM is there; ends with 1 if the VM can't start.
 */

#include "tiny_guest.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static struct tiny_vm vm;
	int err;

	if (argc != 2)
		return 2;
	err = tiny_vm_create_apics(&vm, 1);
	if (err) {
		fprintf(stderr, "no VM: %s\n", strerror(-err));
		return 1;
	}
	close(open(argv[1], O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	while (!access(argv[1], F_OK))
		usleep(1000);
	tiny_vm_destroy(&vm);
	return 0;
}
