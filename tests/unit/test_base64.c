/* SPDX-License-Identifier: BSD-2-Clause */
/* Our base64 against GLib's. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "wire/base64.h"

#include "run.h"

static void assert_base64(
	void (*encode)(char *to, const uint8_t *from, size_t size), const uint8_t *data, size_t size)
{
	/* exactly as large as it says: the sanitizer sees a write beyond */
	g_autofree char *ours = g_malloc(BASE64_SIZE(size)), *reference = g_base64_encode(data, size);

	encode(ours, data, size);
	ck_assert_uint_eq(strlen(reference), BASE64_SIZE(size));
	ck_assert(size == 0 || memcmp(ours, reference, BASE64_SIZE(size)) == 0);
}

START_TEST(test_base64_agrees_with_glib)
{
	GRand *random = g_rand_new_with_seed(3);

	for (size_t size = 0; size < 200; size++) {
		uint8_t *data = g_malloc(size); /* the same for a read */

		for (size_t i = 0; i < size; i++)
			data[i] = (uint8_t)g_rand_int_range(random, 0, 256);
		assert_base64(base64_encode, data, size);
		assert_base64(base64_encode_plain, data, size);
		g_free(data);
	}
	g_rand_free(random);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("base64");

	tcase_add_test(tests, test_base64_agrees_with_glib);
	return run_cases("base64", tests);
}
