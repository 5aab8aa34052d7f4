// SPDX-License-Identifier: GPL-2.0
/*
 * hot [MILLIONS]: a program whose profile is known: nine tenths of its time go
 * by in hot(), one tenth in warm(), both called from work().
 */
#include <stdlib.h>

static volatile unsigned long sum;

static __attribute__((noipa)) void hot(unsigned long n)
{
	while (n--)
		sum += n;
}

static __attribute__((noipa)) void warm(unsigned long n)
{
	while (n--)
		sum ^= n;
}

static __attribute__((noipa)) void work(unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n; i++) {
		hot(900);
		warm(100);
	}
}

int main(int argc, char **argv)
{
	work((argc > 1 ? strtoul(argv[1], NULL, 0) : 100) * 1000);
	return 0;
}
