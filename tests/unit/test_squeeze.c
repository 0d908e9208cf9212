/* SPDX-License-Identifier: BSD-2-Clause */
/* What is compressed, other libraries unpack; and where memory is short, it is waited for. */
#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "net/squeeze.h"

#include "run.h"
#include "unpack.h"

static const struct {
	enum squeeze_kind kind;
	const char *encoding;
	GByteArray *(*unpack)(const void *body, size_t size);
} kinds[] = {
	{SQUEEZE_NONE, NULL, unpack_none},
	{SQUEEZE_GZIP, "gzip", unpack_gzip},
	{SQUEEZE_ZSTD, "zstd", unpack_zstd},
};

/* Memory that is short for a while: so many calls of each of these fail. The linker has them in front. */
static int failures;

static bool fails(void)
{
	return failures > 0 && failures-- > 0;
}

ZSTD_CCtx *__real_ZSTD_createCCtx(void);
ZSTD_CCtx *__wrap_ZSTD_createCCtx(void);
ZSTD_CCtx *__wrap_ZSTD_createCCtx(void)
{
	return fails() ? NULL : __real_ZSTD_createCCtx();
}

size_t __real_ZSTD_compress2(ZSTD_CCtx *context, void *to, size_t room, const void *from, size_t size);
size_t __wrap_ZSTD_compress2(ZSTD_CCtx *context, void *to, size_t room, const void *from, size_t size);
size_t __wrap_ZSTD_compress2(ZSTD_CCtx *context, void *to, size_t room, const void *from, size_t size)
{
	return fails() ? (size_t)-ZSTD_error_memory_allocation
		       : __real_ZSTD_compress2(context, to, room, from, size);
}

/* A body of @size bytes: random ones, which nothing compresses, or text like that of spans. */
static uint8_t *make_body(GRand *random, size_t size, bool spans)
{
	uint8_t *body = g_malloc(size + 32);

	for (size_t at = 0; at < size;)
		if (spans)
			at += (size_t)g_snprintf(
				(char *)body + at, 32, "span %u of osd.3;", g_rand_int(random) % 1000);
		else
			body[at++] = (uint8_t)g_rand_int(random);
	return body;
}

/* Cuts the body into pieces, some of which are empty, each of its own size for the sanitizer. */
static size_t cut(GRand *random, const uint8_t *body, size_t size, struct squeeze_piece pieces[4])
{
	size_t count = (size_t)g_rand_int_range(random, 1, 5);

	for (size_t i = 0, at = 0; i < count; i++) {
		size_t part =
			i + 1 == count ? size - at : (size_t)(g_rand_double(random) * (double)(size - at));

		pieces[i] = (struct squeeze_piece){g_memdup2(body + at, part), part};
		at += part;
	}
	return count;
}

static void check_body(struct squeeze *squeeze, int kind, GRand *random, size_t size, bool spans)
{
	uint8_t *body = make_body(random, size, spans);
	struct squeeze_piece pieces[4];
	size_t count = cut(random, body, size, pieces);
	struct buffer out = {0};
	GByteArray *back;

	buffer_put(&out, "head", 4);
	squeeze_put(squeeze, pieces, count, &out);
	ck_assert(memcmp(out.data, "head", 4) == 0);
	back = kinds[kind].unpack(out.data + 4, out.size - 4);
	ck_assert_ptr_nonnull(back);
	ck_assert_uint_eq(back->len, size);
	ck_assert(size == 0 || memcmp(back->data, body, size) == 0);
	if (spans && size >= 4096 && kinds[kind].encoding)
		ck_assert_uint_lt(out.size, size / 2);
	ck_assert_uint_lt(out.size, size + size / 100 + 64);
	g_byte_array_unref(back);
	for (size_t i = 0; i < count; i++)
		g_free((void *)pieces[i].data);
	buffer_free(&out);
	g_free(body);
}

/* One after another with one squeeze: none takes anything from the one before. */
START_TEST(others_unpack_it)
{
	static const size_t sizes[] = {0, 1, 5, 400, 4096, 65535, 65536, 200000, 9 << 20, 3, 0};
	struct squeeze *squeeze = squeeze_create(kinds[_i].kind);
	GRand *random = g_rand_new_with_seed(7);

	ck_assert_pstr_eq(squeeze_encoding(squeeze), kinds[_i].encoding);
	for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++)
		for (int spans = 0; spans < 2; spans++)
			check_body(squeeze, _i, random, sizes[i], spans);
	for (int round = 0; round < 300; round++)
		check_body(squeeze, _i, random, (size_t)g_rand_int_range(random, 0, 3000), round % 2);
	g_rand_free(random);
	squeeze_destroy(squeeze);
}
END_TEST

/* The oracle sees damage. */
START_TEST(damage_is_seen)
{
	struct squeeze *squeeze = squeeze_create(kinds[_i].kind);
	const struct squeeze_piece piece = {"span 1 span 2 span 3 span 4 span 5", 34};
	struct buffer out = {0};

	squeeze_put(squeeze, &piece, 1, &out);
	ck_assert_ptr_null(kinds[_i].unpack(out.data, out.size - 1));
	buffer_put(&out, "x", 1);
	ck_assert_ptr_null(kinds[_i].unpack(out.data, out.size));
	buffer_free(&out);
	squeeze_destroy(squeeze);
}
END_TEST

/* zstd's: what ISA-L needs is had from memory_get, which waits, and then it allocates nothing. */
START_TEST(short_memory_is_waited_for)
{
	GRand *random = g_rand_new_with_seed(9);
	struct squeeze *squeeze;

	failures = 2;
	squeeze = squeeze_create(kinds[_i].kind);
	ck_assert_int_eq(failures, 0);
	failures = 2;
	check_body(squeeze, _i, random, 100000, true);
	ck_assert_int_eq(failures, 0);
	g_rand_free(random);
	squeeze_destroy(squeeze);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("squeeze");

	tcase_add_loop_test(tests, others_unpack_it, 0, G_N_ELEMENTS(kinds));
	tcase_add_loop_test(tests, damage_is_seen, 1, G_N_ELEMENTS(kinds));
	tcase_add_loop_test(tests, short_memory_is_waited_for, 2, G_N_ELEMENTS(kinds));
	tcase_set_timeout(tests, 60);
	return run_cases("squeeze", tests);
}
