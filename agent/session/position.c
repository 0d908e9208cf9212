/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/position.h"

#include <glib.h>

#include "core/ledger.h"

/* Thousands of users times CPUs: no node has more (relayscan.c leaves out streams that programs make up). */
#define POSITIONS_MAX (1024 * 1024)

struct positions {
	GPtrArray *list; /* of struct position, owned */
	GHashTable *by_key;
	uint64_t moves;
};

static guint key_hash(gconstpointer data)
{
	const struct stream_key *key = data;
	uint64_t hash = key->user * UINT64_C(0x9e3779b97f4a7c15) ^ key->bits;

	hash = (hash ^ key->class_id) * UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ key->id) * UINT64_C(0x9e3779b97f4a7c15);
	return (guint)(hash >> 32);
}

bool stream_key_equal(const struct stream_key *left, const struct stream_key *right)
{
	return left->user == right->user && left->bits == right->bits && left->class_id == right->class_id &&
	       left->id == right->id;
}

gsize stream_key_trace(const struct stream_key *key)
{
	return (gsize)key->user << 1 | (key->bits == 32);
}

static gboolean key_equal(gconstpointer left, gconstpointer right)
{
	return stream_key_equal(left, right);
}

struct positions *positions_create(void)
{
	struct positions *positions = g_new0(struct positions, 1);

	positions->list = g_ptr_array_new_with_free_func(g_free);
	positions->by_key = g_hash_table_new(key_hash, key_equal);
	return positions;
}

void positions_destroy(struct positions *positions)
{
	g_hash_table_destroy(positions->by_key);
	g_ptr_array_unref(positions->list);
	g_free(positions);
}

void positions_clear(struct positions *positions)
{
	g_hash_table_remove_all(positions->by_key);
	g_ptr_array_set_size(positions->list, 0);
}

struct position *positions_get(struct positions *positions, const struct stream_key *key)
{
	struct position *position = g_hash_table_lookup(positions->by_key, key);

	if (position || positions->list->len == POSITIONS_MAX)
		return position;
	position = g_new0(struct position, 1);
	position->key = *key;
	g_ptr_array_add(positions->list, position);
	g_hash_table_insert(positions->by_key, &position->key, position);
	return position;
}

size_t positions_count(const struct positions *positions)
{
	return positions->list->len;
}

const struct position *positions_find(const struct positions *positions, const struct stream_key *key)
{
	return g_hash_table_lookup(positions->by_key, key);
}

void positions_moved(struct positions *positions)
{
	positions->moves++;
}

uint64_t positions_moves(const struct positions *positions)
{
	return positions->moves;
}

bool stream_point_is_before(const struct stream_point *place, const struct stream_point *before)
{
	if (!before->started || !place->started)
		return before->started;
	if (place->begin != before->begin)
		return place->begin < before->begin;
	return place->events < before->events;
}

enum packet_state stream_point_packet(const struct stream_point *done, uint64_t begin)
{
	if (!done->started || begin > done->begin)
		return PACKET_NEW;
	if (begin < done->begin || done->ended)
		return PACKET_DONE;
	return PACKET_BEGUN;
}

uint64_t stream_point_give_up(struct stream_point *done, uint64_t begin, uint64_t sequence)
{
	uint64_t lost = 1;

	if (stream_point_packet(done, begin) == PACKET_DONE)
		return 0;
	/* those between are lost too, and the rest of the one that was not read to its end */
	if (!done->started)
		lost = ledger_credible(sequence) + 1;
	else if (sequence > done->sequence)
		lost = ledger_credible(sequence - done->sequence) + !done->ended;
	*done = (struct stream_point){
		.started = true, .ended = true, .begin = begin, .sequence = sequence, .events = 0};
	return lost;
}

static void save_position(const struct position *position, bool reached, struct buffer *out)
{
	const struct stream_point *place = &position->done;

	if (reached && stream_point_is_before(place, &position->before))
		place = &position->before;
	pack_u64(out, position->key.user);
	pack_u32(out, position->key.bits);
	pack_u64(out, position->key.class_id);
	pack_u64(out, position->key.id);
	pack_u8(out, (uint8_t)(place->started | place->ended << 1));
	pack_u64(out, place->begin);
	pack_u64(out, place->sequence);
	pack_u64(out, place->events);
	pack_u64(out, position->discarded);
}

void positions_save(const struct positions *positions, bool reached, struct buffer *out)
{
	pack_u32(out, positions->list->len);
	for (guint i = 0; i < positions->list->len; i++)
		save_position(g_ptr_array_index(positions->list, i), reached, out);
}

/* Reads one list: what was reached, or what is done. */
static bool load_list(struct positions *positions, struct unpacker from, bool reached)
{
	uint32_t count = unpack_u32(&from);

	for (uint32_t i = 0; i < count && !from.failed; i++) {
		struct stream_key key;
		struct position *position;
		struct stream_point place;
		uint64_t discarded;
		uint8_t flags;

		key.user = unpack_u64(&from);
		key.bits = unpack_u32(&from);
		key.class_id = unpack_u64(&from);
		key.id = unpack_u64(&from);
		flags = unpack_u8(&from);
		place.started = flags & 1;
		place.ended = flags >> 1 & 1;
		place.begin = unpack_u64(&from);
		place.sequence = unpack_u64(&from);
		place.events = unpack_u64(&from);
		discarded = unpack_u64(&from);
		position = from.failed ? NULL : positions_get(positions, &key);
		if (!position)
			return false;
		*(reached ? &position->before : &position->done) = place;
		/* lost events are counted in the ledger, which is saved as of what was reached */
		if (reached)
			position->discarded = discarded;
	}
	return !from.failed && from.at == from.end;
}

bool positions_load(struct positions *positions, struct unpacker done, struct unpacker reached)
{
	positions_clear(positions);
	if (load_list(positions, done, false) && load_list(positions, reached, true))
		return true;
	positions_clear(positions);
	return false;
}
