/* SPDX-License-Identifier: BSD-2-Clause */
/* What large blocks take of which little is touched. Built without sanitizers, whose allocator it would be.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#include "run.h"

#define BLOCKS 200
#define BLOCK (256 * 1024)

/* KiB of memory that is the process's own. */
static long resident(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "RssAnon: %ld", &kib) == 1)
			break;
	fclose(file);
	ck_assert_int_ge(kib, 0);
	return kib;
}

static void get_all(char **blocks)
{
	for (int i = 0; i < BLOCKS; i++) {
		blocks[i] = calloc(1, BLOCK);
		ck_assert_ptr_nonnull(blocks[i]);
		blocks[i][i] = 'x';
	}
}

static void put_all(char **blocks)
{
	for (int i = 0; i < BLOCKS; i++)
		free(blocks[i]);
}

/* As babeltrace2 does when it attaches again: blocks are freed, and as many are had. */
START_TEST(large_blocks_had_again)
{
	static char *blocks[BLOCKS];
	char *between[BLOCKS];
	long before, whole = BLOCKS * (BLOCK / 1024);

	memory_keep_large_apart();
	before = resident();
	get_all(blocks);
	for (int i = 0; i < BLOCKS; i++)
		between[i] = strdup("small");
	put_all(blocks);
	get_all(blocks);
	ck_assert_int_lt(resident() - before, whole / 10);
	put_all(blocks);
	put_all(between);
}
END_TEST

/* Freed in the middle of what is kept, as a heap's end is given back anyway. */
START_TEST(given_back)
{
	static char *blocks[BLOCKS];
	char *kept[BLOCKS];
	long most;

	for (int i = 0; i < BLOCKS; i++) {
		blocks[i] = malloc(BLOCK / 4);
		ck_assert_ptr_nonnull(blocks[i]);
		memset(blocks[i], 'x', BLOCK / 4);
		kept[i] = malloc(2048);
		ck_assert_ptr_nonnull(kept[i]);
	}
	most = resident();
	put_all(blocks);
	memory_give_back();
	ck_assert_int_lt(resident(), most - BLOCKS * (BLOCK / 4 / 1024) * 3 / 4);
	put_all(kept);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("memory");

	tcase_add_test(cases, large_blocks_had_again);
	tcase_add_test(cases, given_back);
	return run_cases("memory", cases);
}
