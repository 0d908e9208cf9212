/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/mutate.h"

#include <string.h>

#include "trace/metadata.h"

#define HARMS_MAX 4
/* Files stay below this. */
#define FILE_MAX (256 * 1024)

/* SplitMix64. */
uint32_t random_below(uint64_t *state, uint32_t limit)
{
	uint64_t value = *state += UINT64_C(0x9e3779b97f4a7c15);

	value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((value ^ value >> 31) >> 32) % limit;
}

/* Bytes */

static void flip_bits(uint64_t *state, GByteArray *bytes)
{
	for (uint32_t i = 1 + random_below(state, 8); i > 0 && bytes->len > 0; i--)
		bytes->data[random_below(state, bytes->len)] ^= (uint8_t)(1 << random_below(state, 8));
}

static void cut(uint64_t *state, GByteArray *bytes)
{
	g_byte_array_set_size(bytes, random_below(state, bytes->len + 1));
}

static void take_out(uint64_t *state, GByteArray *bytes)
{
	guint at = random_below(state, bytes->len + 1);

	g_byte_array_remove_range(bytes, at, random_below(state, bytes->len - at + 1));
}

static void insert(GByteArray *bytes, guint at, const uint8_t *piece, guint size)
{
	guint rest = bytes->len - at;

	if (size == 0 || bytes->len + size > FILE_MAX)
		return;
	g_byte_array_set_size(bytes, bytes->len + size);
	memmove(bytes->data + at + size, bytes->data + at, rest);
	memcpy(bytes->data + at, piece, size);
}

/* A piece twice, or many times. */
static void repeat(uint64_t *state, GByteArray *bytes)
{
	guint at = random_below(state, bytes->len + 1);
	guint size = random_below(state, MIN(bytes->len - at, 8192) + 1);
	g_autofree uint8_t *piece = size ? g_memdup2(bytes->data + at, size) : NULL;
	uint32_t times = random_below(state, 4) ? 1 : 1 + random_below(state, 64);

	for (uint32_t i = 0; i < times && piece; i++)
		insert(bytes, at, piece, size);
}

/* Where a trace has its numbers: at multiples of four, mostly ahead. */
static guint place_of_number(uint64_t *state, const GByteArray *bytes, guint size)
{
	guint ahead = MIN(bytes->len - size, 128), packet;

	switch (random_below(state, 3)) {
	case 0:
		return random_below(state, bytes->len - size + 1);
	case 1:
		return random_below(state, ahead + 1) & ~3u;
	default:
		packet = 4096 * random_below(state, bytes->len / 4096 + 1);
		return packet + 128 + size <= bytes->len ? packet + (random_below(state, 128) & ~3u) : 0;
	}
}

/* Sizes, clocks and ids that are forged. */
static void forge(uint64_t *state, GByteArray *bytes)
{
	static const uint64_t values[] = {0, 1, 7, 8, 63, 64, 255, 256, 4095, 4096, 32768, 65535, 65536,
		INT32_MAX, UINT32_MAX, UINT64_C(1) << 32, UINT64_C(1) << 61, INT64_MAX, UINT64_C(1) << 63,
		UINT64_MAX, UINT64_MAX - 7};
	guint size = 1u << random_below(state, 4), at;
	uint64_t value = 0;

	if (bytes->len < size)
		return;
	at = place_of_number(state, bytes, size);
	memcpy(&value, bytes->data + at, size);
	switch (random_below(state, 3)) {
	case 0:
		value = values[random_below(state, G_N_ELEMENTS(values))];
		break;
	case 1:
		value += random_below(state, 65) - UINT64_C(32);
		break;
	default:
		value *= 1 + random_below(state, 16);
	}
	if (random_below(state, 4) == 0)
		value = GUINT64_SWAP_LE_BE(value) >> (64 - 8 * size);
	memcpy(bytes->data + at, &value, size);
}

static void harm_bytes(uint64_t *state, GByteArray *bytes)
{
	static void (*const harms[])(uint64_t * state, GByteArray * bytes) = {
		flip_bits, flip_bits, cut, take_out, repeat, forge, forge, forge};

	harms[random_below(state, G_N_ELEMENTS(harms))](state, bytes);
}

/* Files */

/* Seldom the metadata: most of what is wrong with their packets makes babeltrace2 loop, and costs the time of
 * a hundred cases. */
static GByteArray *some_bytes(uint64_t *state, trace_files *trace)
{
	const struct trace_file *file;

	do
		file = trace->pdata[random_below(state, trace->len)];
	while (trace->len > 1 && strcmp(file->name, "metadata") == 0 && random_below(state, 32));
	return file->bytes;
}

/* A piece of another trace, in between or instead. */
static void mix(uint64_t *state, trace_files *trace, const trace_files *other)
{
	GByteArray *into = some_bytes(state, trace);
	const struct trace_file *from = other->pdata[random_below(state, other->len)];
	guint at = random_below(state, from->bytes->len + 1);

	if (from->bytes->len == 0)
		return;
	if (random_below(state, 2))
		g_byte_array_set_size(into, 0);
	insert(into, random_below(state, into->len + 1), from->bytes->data + at,
		random_below(state, MIN(from->bytes->len - at, 8192) + 1));
}

/* A stream that is there twice, or not at all, or in place of another. */
static void shuffle(uint64_t *state, trace_files *trace)
{
	const struct trace_file *file = trace->pdata[random_below(state, trace->len)];
	g_autofree char *name = g_strdup_printf("%s%u", file->name, random_below(state, 3));

	if (random_below(state, 3) == 0 && trace->len > 1 && strcmp(file->name, "metadata") != 0)
		g_ptr_array_remove(trace, (gpointer)(uintptr_t)file);
	else if (trace->len < 12 && trace_is_name(name) && !trace_find(trace, name))
		trace_add(trace, name, file->bytes->data, file->bytes->len);
}

static void harm(uint64_t *state, trace_files *trace, const trace_files *other)
{
	struct trace_file *metadata = trace_find(trace, "metadata");
	uint32_t what = random_below(state, 20);

	if (what < 8 && metadata) {
		metadata_harm(state, metadata->bytes);
		return;
	}
	if (what == 8)
		shuffle(state, trace);
	else if (what == 9)
		mix(state, trace, other);
	else
		harm_bytes(
			state, ((struct trace_file *)trace->pdata[random_below(state, trace->len)])->bytes);
}

void mutate(uint64_t *state, trace_files *trace, const trace_files *other)
{
	uint32_t harms = random_below(state, 3) ? 1 : 1 + random_below(state, HARMS_MAX);

	for (; harms > 0; harms--)
		harm(state, trace, other);
}
