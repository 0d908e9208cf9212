/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pingpong TURNS: two processes on one processor that hand a byte to and fro through pipes, so that each read
 * waits for the other one: two switches a turn. Prints how many ns a switch took, with what is between two.
 */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void hand_on(int from, int to)
{
	char byte = 'x';

	if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
		exit(1);
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

int main(int argc, char **argv)
{
	int turns = argc > 1 ? atoi(argv[1]) : 1000, there[2], back[2];
	cpu_set_t one;
	uint64_t begun;
	pid_t other;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (turns < 1 || sched_setaffinity(0, sizeof(one), &one) != 0 || pipe(there) != 0 || pipe(back) != 0)
		return 1;
	other = fork();
	if (other == 0) {
		for (int i = 0; i < turns; i++)
			hand_on(there[0], back[1]);
		return 0;
	}
	begun = now();
	if (other < 0 || write(there[1], "x", 1) != 1)
		return 1;
	for (int i = 1; i < turns; i++)
		hand_on(back[0], there[1]);
	waitpid(other, NULL, 0);
	printf("%.1f\n", (double)(now() - begun) / (2.0 * turns));
	return 0;
}
