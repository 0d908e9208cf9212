/* SPDX-License-Identifier: BSD-2-Clause */
/* Our base64 against GLib's. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <glib.h>

#include "net/base64.h"

#include "run.h"

static void assert_base64(enum base64_way way, const uint8_t *data, size_t size)
{
	/* exactly as large as it says: the sanitizer sees a write beyond */
	g_autofree char *ours = g_malloc(BASE64_SIZE(size)), *reference = g_base64_encode(data, size);

	base64_encode_by(way, ours, data, size);
	ck_assert_uint_eq(strlen(reference), BASE64_SIZE(size));
	ck_assert(size == 0 || memcmp(ours, reference, BASE64_SIZE(size)) == 0);
	base64_encode(ours, data, size);
	ck_assert(size == 0 || memcmp(ours, reference, BASE64_SIZE(size)) == 0);
}

/* In each way that this CPU has. */
START_TEST(test_base64_agrees_with_glib)
{
	GRand *random = g_rand_new_with_seed(3);

	for (size_t size = 0; size <= 300 && base64_has(_i); size++) {
		for (int round = 0; round < 10; round++) {
			uint8_t *data = g_malloc(size); /* the same for a read */

			for (size_t i = 0; i < size; i++)
				data[i] = (uint8_t)g_rand_int_range(random, 0, 256);
			assert_base64(_i, data, size);
			g_free(data);
		}
	}
	g_rand_free(random);
}
END_TEST

/* Each value of each place, in each place of a block. */
START_TEST(test_every_character)
{
	uint8_t data[96] = {0};

	for (size_t at = 0; at < sizeof(data) && base64_has(_i); at++) {
		for (unsigned value = 0; value < 256; value++) {
			data[at] = (uint8_t)value;
			assert_base64(_i, data, sizeof(data));
		}
	}
}
END_TEST

/* No byte before or behind the text is written, and none of the data's neighbours is read: AVX-512's masks
 * are not seen by the sanitizer. */
START_TEST(test_bounds)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *pages = mmap(NULL, 4 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(pages, MAP_FAILED);
	ck_assert_int_eq(mprotect(pages + page, page, PROT_READ | PROT_WRITE), 0);
	ck_assert_int_eq(mprotect(pages + 3 * page, page, PROT_READ | PROT_WRITE), 0);
	for (size_t size = 0; size <= 300 && base64_has(_i); size++) {
		char *text = (char *)pages + 3 * page;

		memset(text, '#', page);
		base64_encode_by(_i, text + 64, pages + 2 * page - size, size);
		for (size_t i = 0; i < 64; i++)
			ck_assert(text[i] == '#' && text[64 + BASE64_SIZE(size) + i] == '#');
		base64_encode_by(_i, text, pages + page, size);
	}
	munmap(pages, 4 * page);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("base64");

	tcase_add_loop_test(tests, test_base64_agrees_with_glib, BASE64_PLAIN, BASE64_AVX512 + 1);
	tcase_add_loop_test(tests, test_every_character, BASE64_PLAIN, BASE64_AVX512 + 1);
	tcase_add_loop_test(tests, test_bounds, BASE64_PLAIN, BASE64_AVX512 + 1);
	return run_cases("base64", tests);
}
