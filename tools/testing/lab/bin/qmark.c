// SPDX-License-Identifier: GPL-2.0
/*
 * qmark [LABEL]: one line of what the emulated PMU itself counted so far, by
 * the RDPMC backdoor of the lab's QEMU and Bochs (see their pmu.patch). It works
 * at any privilege and nesting level and costs the measured system only its own
 * few instructions: bracket a workload with two of them and subtract. On real
 * hardware it says that there is no backdoor, and its status is 4.
 *
 *	QM LABEL total=.. host=.. guest=.. .. ns=.. x400=..
 *
 * total, host, guest, hostuser, guestuser: instructions retired by this CPU;
 * x400 and the like: exits from guests by AMD's exit codes, or Intel's exit reasons.
 * x081 is hypercalls on both.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define BACKDOOR	0x51500000u
#define EXIT_FIRST	0x1000u
#define EXIT_CODES	0x480u

static const char *const names[] = {
	"total", "host", "guest", "hostuser", "guestuser", "vmruns", "vmexits",
	"pmi", "msr_rd_host", "msr_rd_guest", "msr_wr_host", "msr_wr_guest",
	"rdpmc_host", "rdpmc_guest", "ns",
};

#define NAMES	(sizeof(names) / sizeof(names[0]))

static uint64_t backdoor(uint32_t index)
{
	uint32_t low, high;

	asm volatile("rdpmc" : "=a" (low), "=d" (high) : "c" (BACKDOOR | index));
	return (uint64_t)high << 32 | low;
}

static void absent(int signal __attribute__((unused)))
{
	static const char text[] =
		"qmark: no backdoor here: this is not the lab's emulator\n";

	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	_exit(4);
}

int main(int argc, char **argv)
{
	static uint64_t value[NAMES], exits[EXIT_CODES];
	uint32_t i;

	signal(SIGSEGV, absent);	/* of the #GP */
	/* All reads first: printing is work too. */
	for (i = 0; i < NAMES; i++)
		value[i] = backdoor(i);
	for (i = 0; i < EXIT_CODES; i++)
		exits[i] = backdoor(EXIT_FIRST + i);

	printf("QM %s", argc > 1 ? argv[1] : "-");
	for (i = 0; i < NAMES; i++)
		printf(" %s=%llu", names[i], (unsigned long long)value[i]);
	for (i = 0; i < EXIT_CODES; i++)
		if (exits[i])
			printf(" x%03x=%llu", i, (unsigned long long)exits[i]);
	printf("\n");
	return 0;
}
