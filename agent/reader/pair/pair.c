/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/pair/pair.h"

#include <glib.h>

#define OPEN_APART 1
#define IS_CUT 2
#define HAS_USER 4
#define OF_KERNEL 8

void pair_destroy(struct pair *pair)
{
	buffer_free(&pair->text);
	g_free(pair);
}

void pair_save(const struct pair *pair, int64_t now, struct buffer *out)
{
	pack_u8(out, (uint8_t)((pair->apart ? OPEN_APART : 0) | (pair->is_cut ? IS_CUT : 0) |
			       (pair->key.has_user ? HAS_USER : 0) | (pair->key.kernel ? OF_KERNEL : 0)));
	pack_u64(out, (uint64_t)pair->key.pid);
	pack_u64(out, (uint64_t)pair->key.tid);
	pack_u32(out, pair->key.user);
	pack_u64(out, pair->where);
	pack_u64(out, pair->kind);
	pack_u64(out, pair->trace_id);
	pack_u64(out, pair->id);
	pack_u64(out, pair->parent_id);
	pack_u64(out, (uint64_t)pair->time);
	pack_u64(out, (uint64_t)pair->traced);
	pack_u64(out, (uint64_t)MAX(pair->deadline - now, 0));
	pack_u64(out, (uint64_t)pair->duration);
	pack_u32(out, pair->pair_size);
	pack_u32(out, pair->name_size);
	pack_u32(out, pair->program_size);
	pack_u32(out, pair->enter_size);
	pack_u32(out, pair->exit_size);
	pack_bytes(out, pair->text.data, pair->text.size);
}

static bool is_whole(const struct pair *pair)
{
	return pair->trace_id && pair->id && pair->duration >= 0 && pair->duration <= PAIR_TIME_MAX &&
	       pair->time > 0 && pair->time <= PAIR_TIME_MAX && pair->traced > 0 &&
	       pair->traced <= PAIR_TIME_MAX &&
	       (uint64_t)pair->pair_size + pair->name_size + pair->program_size + pair->enter_size +
			       pair->exit_size ==
		       pair->text.size;
}

struct pair *pair_load(struct unpacker *from, int64_t now)
{
	struct pair *pair = g_new0(struct pair, 1);
	uint8_t flags = unpack_u8(from);
	struct unpacker text;
	uint64_t left;

	pair->apart = flags & OPEN_APART;
	pair->is_cut = flags & IS_CUT;
	pair->key.has_user = (flags & HAS_USER) != 0;
	pair->key.kernel = (flags & OF_KERNEL) != 0;
	pair->key.pid = (int64_t)unpack_u64(from);
	pair->key.tid = (int64_t)unpack_u64(from);
	pair->key.user = unpack_u32(from);
	pair->where = unpack_u64(from);
	pair->kind = unpack_u64(from);
	pair->trace_id = unpack_u64(from);
	pair->id = unpack_u64(from);
	pair->parent_id = unpack_u64(from);
	pair->time = (int64_t)unpack_u64(from);
	pair->traced = (int64_t)unpack_u64(from);
	left = unpack_u64(from);
	pair->deadline = now + (int64_t)MIN(left, (uint64_t)INT64_MAX / 2);
	pair->duration = (int64_t)unpack_u64(from);
	pair->pair_size = unpack_u32(from);
	pair->name_size = unpack_u32(from);
	pair->program_size = unpack_u32(from);
	pair->enter_size = unpack_u32(from);
	pair->exit_size = unpack_u32(from);
	text = unpack_bytes(from);
	if (!text.failed)
		buffer_put(&pair->text, text.at, (size_t)(text.end - text.at));
	if (text.failed || !is_whole(pair)) {
		from->failed = true;
		pair_destroy(pair);
		return NULL;
	}
	return pair;
}
