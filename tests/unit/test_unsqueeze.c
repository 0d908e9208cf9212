/* SPDX-License-Identifier: BSD-2-Clause */
/* What zlib compressed is unpacked; what is damaged, or too large, is not. */
#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>
#include <zlib.h>

#include "net/unsqueeze.h"
#include "run.h"

static struct unsqueeze *unsqueeze;

/* A member, with all that its head may have if it is @adorned. */
static void put_member(struct buffer *out, const uint8_t *body, size_t size, int level, bool adorned)
{
	gz_header head = {.extra = (uint8_t *)"extra",
		.extra_len = 5,
		.name = (uint8_t *)"a name",
		.comment = (uint8_t *)"a comment",
		.hcrc = 1};
	z_stream zip = {.next_in = (uint8_t *)(uintptr_t)body, .avail_in = (uInt)size};

	ck_assert_int_eq(deflateInit2(&zip, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	if (adorned)
		ck_assert_int_eq(deflateSetHeader(&zip, &head), Z_OK);
	zip.avail_out = (uInt)deflateBound(&zip, (uLong)size) + 100;
	zip.next_out = buffer_reserve(out, zip.avail_out);
	ck_assert_int_eq(deflate(&zip, Z_FINISH), Z_STREAM_END);
	out->size += zip.total_out;
	deflateEnd(&zip);
}

/* Random bytes, or text. */
static uint8_t *make_body(GRand *random, size_t size)
{
	uint8_t *body = g_malloc(size + 32);
	bool text = g_rand_boolean(random);

	for (size_t at = 0; at < size;)
		if (text)
			at += (size_t)g_snprintf(
				(char *)body + at, 32, "span %u of osd.3;", g_rand_int(random) % 1000);
		else
			body[at++] = (uint8_t)g_rand_int(random);
	return body;
}

/* A copy of its own, so that the sanitizer sees what is read behind it. */
static enum unsqueezed take(const struct buffer *in, size_t size, size_t most, struct buffer *out)
{
	uint8_t *copy = g_memdup2(in->data, size);
	enum unsqueezed result = unsqueeze_gzip(unsqueeze, copy, size, most, out);

	g_free(copy);
	return result;
}

START_TEST(bodies_come_back)
{
	static const size_t sizes[] = {0, 1, 7, 400, 4096, 65535, 65536, 65537, 200000, 5 << 20};
	GRand *random = g_rand_new_with_seed((guint32)_i);

	for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
		uint8_t *body = make_body(random, sizes[i]);
		struct buffer in = {0}, out = {0};

		put_member(&in, body, sizes[i], _i, i % 2);
		buffer_put(&out, "head", 4);
		ck_assert_int_eq(take(&in, in.size, sizes[i], &out), UNSQUEEZED);
		ck_assert_uint_eq(out.size, 4 + sizes[i]);
		ck_assert_mem_eq(out.data, "head", 4);
		ck_assert(!memcmp(out.data + 4, body, sizes[i]));
		if (sizes[i]) {
			ck_assert_int_eq(take(&in, in.size, sizes[i] - 1, &out), UNSQUEEZED_LARGE);
			ck_assert_uint_eq(out.size, 4 + sizes[i]);
		}
		buffer_free(&in);
		buffer_free(&out);
		g_free(body);
	}
	g_rand_free(random);
}
END_TEST

/* Some of which are empty. */
START_TEST(members_are_joined)
{
	GRand *random = g_rand_new_with_seed((guint32)_i + 100);
	struct buffer in = {0}, all = {0}, out = {0};

	for (int i = 0; i < 50; i++) {
		size_t size = g_rand_boolean(random) ? (size_t)g_rand_int_range(random, 0, 40)
						     : (size_t)g_rand_int_range(random, 0, 100000);
		uint8_t *body = make_body(random, size);

		put_member(&in, body, size, g_rand_int_range(random, 0, 10), g_rand_boolean(random));
		buffer_put(&all, body, size);
		g_free(body);
	}
	ck_assert_int_eq(take(&in, in.size, all.size, &out), UNSQUEEZED);
	ck_assert_uint_eq(out.size, all.size);
	ck_assert(!memcmp(out.data, all.data, all.size));
	ck_assert_int_eq(take(&in, in.size, all.size - 1, &out), UNSQUEEZED_LARGE);
	buffer_free(&in);
	buffer_free(&all);
	buffer_free(&out);
	g_rand_free(random);
}
END_TEST

/* Cut anywhere, or with something behind it, it is damaged; and nothing is appended. */
START_TEST(damage_is_seen)
{
	static const char body[] = "span 1 of osd.3; span 2 of osd.3; span 3 of osd.3";
	struct buffer in = {0}, out = {0};
	size_t whole;

	put_member(&in, (const uint8_t *)body, strlen(body), _i ? 0 : 6, _i);
	whole = in.size;
	for (size_t size = 0; size < whole; size++)
		ck_assert_int_eq(take(&in, size, 1000, &out), UNSQUEEZED_DAMAGED);
	for (size_t at = whole - 8; at < whole; at++) { /* checksum and length */
		in.data[at] ^= 1;
		ck_assert_int_eq(take(&in, whole, 1000, &out), UNSQUEEZED_DAMAGED);
		in.data[at] ^= 1;
	}
	for (unsigned flag = 0x20; flag < 0x100; flag *= 2) {
		in.data[3] ^= (uint8_t)flag;
		ck_assert_int_eq(take(&in, whole, 1000, &out), UNSQUEEZED_DAMAGED);
		in.data[3] ^= (uint8_t)flag;
	}
	for (size_t more = 1; more < 40; more++) {
		buffer_put(&in, "", 1);
		ck_assert_int_eq(take(&in, in.size, 1000, &out), UNSQUEEZED_DAMAGED);
	}
	in.size = whole;
	buffer_put(&in, in.data, 12); /* begins another one */
	ck_assert_int_eq(take(&in, in.size, 1000, &out), UNSQUEEZED_DAMAGED);
	ck_assert_uint_eq(out.size, 0);
	ck_assert_int_eq(take(&in, whole, 1000, &out), UNSQUEEZED);
	buffer_free(&in);
	buffer_free(&out);
}
END_TEST

/* A gigabyte of zeroes in a megabyte: memory for what is allowed is taken, and no more. */
START_TEST(bombs)
{
	static uint8_t zeroes[16 << 20];
	struct buffer in = {0}, out = {0};

	for (int i = 0; i < 64; i++)
		put_member(&in, zeroes, sizeof(zeroes), 9, false);
	ck_assert_int_eq(take(&in, in.size, 1000000, &out), UNSQUEEZED_LARGE);
	ck_assert_uint_eq(out.size, 0);
	ck_assert_uint_le(out.room, 2 << 20);
	buffer_free(&in);
	buffer_free(&out);
}
END_TEST

/* Wherever in a member's head, body or end a piece ends. */
START_TEST(pieces_end_anywhere)
{
	enum { PIECE = 64 * 1024, ROOM = 2 * PIECE };
	GRand *random = g_rand_new_with_seed(5);
	uint8_t *body = make_body(random, ROOM);

	for (size_t size = PIECE - 100; size < PIECE + 30; size++) {
		struct buffer in = {0}, out = {0};

		put_member(&in, body, size, 0, _i);
		put_member(&in, body + size, ROOM - size, 6, _i);
		ck_assert_int_eq(take(&in, in.size, ROOM, &out), UNSQUEEZED);
		ck_assert_uint_eq(out.size, ROOM);
		ck_assert(!memcmp(out.data, body, ROOM));
		buffer_free(&in);
		buffer_free(&out);
	}
	g_free(body);
	g_rand_free(random);
}
END_TEST

/* A member that means @zeroes, and then, in so many blocks without anything, no more. */
static void put_empty_blocks(struct buffer *out, size_t zeroes, size_t blocks)
{
	static const uint8_t four[] = {0x02, 0x08, 0x20, 0x80, 0x00}, end[] = {0x03, 0x00};
	uint8_t *body = g_malloc0(zeroes + 1);
	z_stream zip = {.next_in = body, .avail_in = (uInt)zeroes};
	uint32_t sum = GUINT32_TO_LE((uint32_t)crc32(0, body, (uInt)zeroes)), size = GUINT32_TO_LE(zeroes);

	buffer_put(out, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
	ck_assert_int_eq(deflateInit2(&zip, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
	zip.avail_out = (uInt)deflateBound(&zip, (uLong)zeroes) + 100;
	zip.next_out = buffer_reserve(out, zip.avail_out);
	ck_assert_int_eq(deflate(&zip, Z_FULL_FLUSH), Z_OK);
	out->size += zip.total_out;
	deflateEnd(&zip);
	for (size_t i = 0; i < blocks; i += 4)
		buffer_put(out, four, sizeof(four));
	buffer_put(out, end, sizeof(end));
	buffer_put(out, &sum, 4);
	buffer_put(out, &size, 4);
	g_free(body);
}

/* They take far longer than others: a few are read, many are none of gzip's. */
START_TEST(empty_blocks)
{
	struct buffer in = {0}, out = {0};

	put_empty_blocks(&in, (size_t)_i << 20, 40000);
	ck_assert_int_eq(take(&in, in.size, 4 << 20, &out), UNSQUEEZED);
	ck_assert_uint_eq(out.size, (size_t)_i << 20);
	in.size = out.size = 0;
	put_empty_blocks(&in, (size_t)_i << 20, 400000);
	ck_assert_int_eq(take(&in, in.size, 4 << 20, &out), UNSQUEEZED_DAMAGED);
	ck_assert_uint_eq(out.size, 0);
	buffer_free(&in);
	buffer_free(&out);
}
END_TEST

/* As from who flushes after each few bytes. */
START_TEST(many_flushes)
{
	GRand *random = g_rand_new_with_seed(7);
	uint8_t *body = make_body(random, 1 << 20);
	z_stream zip = {.next_in = body};
	struct buffer in = {0}, out = {0};

	ck_assert_int_eq(deflateInit2(&zip, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	zip.avail_out = 4 << 20;
	zip.next_out = buffer_reserve(&in, zip.avail_out);
	for (size_t at = 0; at < 1 << 20; at += 16) {
		zip.avail_in = 16;
		ck_assert_int_eq(deflate(&zip, Z_SYNC_FLUSH), Z_OK);
	}
	ck_assert_int_eq(deflate(&zip, Z_FINISH), Z_STREAM_END);
	in.size = zip.total_out;
	deflateEnd(&zip);
	ck_assert_int_eq(take(&in, in.size, 1 << 20, &out), UNSQUEEZED);
	ck_assert_uint_eq(out.size, 1 << 20);
	ck_assert(!memcmp(out.data, body, out.size));
	buffer_free(&in);
	buffer_free(&out);
	g_free(body);
	g_rand_free(random);
}
END_TEST

static void create(void)
{
	unsqueeze = unsqueeze_create();
}

static void destroy(void)
{
	unsqueeze_destroy(unsqueeze);
}

int main(void)
{
	TCase *tests = tcase_create("unsqueeze");

	tcase_add_checked_fixture(tests, create, destroy);
	tcase_add_loop_test(tests, bodies_come_back, 0, 10);
	tcase_add_loop_test(tests, members_are_joined, 0, 20);
	tcase_add_loop_test(tests, damage_is_seen, 0, 2);
	tcase_add_test(tests, bombs);
	tcase_add_loop_test(tests, pieces_end_anywhere, 0, 2);
	tcase_add_loop_test(tests, empty_blocks, 0, 3);
	tcase_add_test(tests, many_flushes);
	tcase_set_timeout(tests, 60);
	return run_cases("unsqueeze", tests);
}
