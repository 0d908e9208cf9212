/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pingpong TURNS [futex]: two processes on one processor that hand a byte to and fro through pipes, so that
 * each read waits for the other one: two switches a turn, each with a read and a write. With futex they wait,
 * and wake each other, as programs do for locks. Prints how many ns a switch took, with what is between two.
 */
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int there[2], back[2];
static atomic_int *turn; /* even: it is the first one's; NULL: they have pipes */

static void hand_on(int from, int to)
{
	char byte = 'x';

	if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
		exit(1);
}

static void take_turns(int turns, bool second)
{
	for (int i = 0; i < turns; i++) {
		int now;

		while ((now = *turn) % 2 != second)
			syscall(SYS_futex, turn, FUTEX_WAIT, now, NULL, NULL, 0);
		++*turn;
		syscall(SYS_futex, turn, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void play(int turns, bool second)
{
	if (turn)
		take_turns(turns, second);
	else if (second)
		for (int i = 0; i < turns; i++)
			hand_on(there[0], back[1]);
	else if (write(there[1], "x", 1) == 1)
		for (int i = 1; i < turns; i++)
			hand_on(back[0], there[1]);
	else
		exit(1);
}

static bool prepare(bool futex)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (futex)
		turn = mmap(NULL, sizeof(*turn), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return sched_setaffinity(0, sizeof(one), &one) == 0 && pipe(there) == 0 && pipe(back) == 0 &&
	       turn != MAP_FAILED;
}

int main(int argc, char **argv)
{
	int turns = argc > 1 ? atoi(argv[1]) : 1000;
	uint64_t begun;
	pid_t other;

	if (turns < 1 || !prepare(argc > 2 && !strcmp(argv[2], "futex")))
		return 1;
	other = fork();
	if (other == 0) {
		play(turns, true);
		return 0;
	}
	begun = now();
	if (other < 0)
		return 1;
	play(turns, false);
	waitpid(other, NULL, 0);
	printf("%.1f\n", (double)(now() - begun) / (2.0 * turns));
	return 0;
}
