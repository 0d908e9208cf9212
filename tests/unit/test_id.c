/* SPDX-License-Identifier: BSD-2-Clause */
/* Ids: ten million of them from 64 forked processes and 64 threads, none twice, none 0. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <blkin/blkin.h>

#include "run.h"

#define PROCESSES 64
#define THREADS 64
#define IDS_EACH 78125 /* of 128 makers: ten million in all */

static uint64_t *ids;       /* shared with the children */
static bool has_no_entropy; /* as in the first moments of a boot */

/* In the place of libc's; who would wait fails. */
ssize_t getrandom(void *buffer, size_t size, unsigned flags)
{
	if (!has_no_entropy)
		return syscall(SYS_getrandom, buffer, size, flags);
	ck_assert(flags & GRND_NONBLOCK);
	errno = EAGAIN;
	return -1;
}

static void make_ids(uint64_t *to)
{
	for (int i = 0; i < IDS_EACH; i++)
		to[i] = blkin_id();
}

static void *make_in_thread(void *to)
{
	make_ids(to);
	return NULL;
}

/* Puts each id into a hash table with twice the room: the ids, being random, are their own hashes. */
static void assert_distinct(const uint64_t *all, size_t count)
{
	size_t room = 1;
	uint64_t *table;

	while (room < 2 * count)
		room *= 2;
	table = mmap(NULL, room * sizeof(*table), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(table, MAP_FAILED);
	for (size_t i = 0; i < count; i++) {
		size_t at = all[i] & (room - 1);

		while (table[at] && table[at] != all[i])
			at = (at + 1) & (room - 1);
		if (!all[i] || table[at])
			ck_abort_msg("id %llx is 0, or came twice", (unsigned long long)all[i]);
		table[at] = all[i];
	}
	munmap(table, room * sizeof(*table));
}

static void make_ten_million(void)
{
	size_t count = (size_t)(PROCESSES + THREADS) * IDS_EACH;
	pthread_t threads[THREADS];

	ids = mmap(NULL, count * sizeof(*ids), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(ids, MAP_FAILED);
	blkin_id(); /* the parent's generator is seeded: its children must not go on with it */
	for (int i = 0; i < PROCESSES; i++) {
		if (fork() == 0) {
			make_ids(ids + (size_t)i * IDS_EACH);
			_exit(0);
		}
	}
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, make_in_thread,
					 ids + (size_t)(PROCESSES + i) * IDS_EACH),
			0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < PROCESSES; i++) {
		int status;

		ck_assert_int_gt(wait(&status), 0);
		ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	assert_distinct(ids, count);
	munmap(ids, count * sizeof(*ids));
}

START_TEST(test_ten_million)
{
	make_ten_million();
}
END_TEST

/* No program waits for the kernel to have random numbers, and ids are distinct all the same. */
START_TEST(test_early_in_a_boot)
{
	has_no_entropy = true;
	make_ten_million();
}
END_TEST

/* A child of a child, and a thread that forks, too. */
START_TEST(test_generations)
{
	enum { DEPTH = 6, EACH = 1000 };
	uint64_t *all = mmap(
		NULL, DEPTH * EACH * sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child = 0;
	int depth = 0, status;

	for (; depth < DEPTH; depth++) {
		for (int i = 0; i < EACH; i++)
			all[depth * EACH + i] = blkin_id();
		if (depth + 1 < DEPTH && (child = fork()) > 0)
			break;
	}
	if (child > 0)
		waitpid(child, &status, 0);
	if (depth > 0)
		_exit(0);
	assert_distinct(all, DEPTH * EACH);
	munmap(all, DEPTH * EACH * sizeof(*all));
}
END_TEST

/* Each bit is as often 1 as 0, and changes half of the time from one id to the next. */
START_TEST(test_bits)
{
	enum { COUNT = 100000 };
	int ones[64] = {0}, changes[64] = {0};
	uint64_t last = blkin_id();

	for (int i = 0; i < COUNT; i++) {
		uint64_t id = blkin_id();

		for (int bit = 0; bit < 64; bit++) {
			ones[bit] += id >> bit & 1;
			changes[bit] += (id ^ last) >> bit & 1;
		}
		last = id;
	}
	for (int bit = 0; bit < 64; bit++) { /* six standard deviations */
		ck_assert_int_lt(abs(ones[bit] - COUNT / 2), 950);
		ck_assert_int_lt(abs(changes[bit] - COUNT / 2), 950);
	}
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("ids");

	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, test_ten_million);
	tcase_add_test(tests, test_early_in_a_boot);
	tcase_add_test(tests, test_generations);
	tcase_add_test(tests, test_bits);
	return run_cases("id", tests);
}
