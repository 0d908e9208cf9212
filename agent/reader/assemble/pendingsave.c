/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/assemble/pendingsave.h"

#include <glib.h>

/* A tag's type stands in the upper bits of its key's size, which needs them not: a pending span is small. */
#define TYPE_SHIFT 28

/* Of a side: its user follows, which earlier versions did not know. */
#define SIDE_HAS_USER (1u << 31)

static void save_slice(struct slice slice, struct buffer *out)
{
	pack_u32(out, slice.offset);
	pack_u32(out, slice.size);
}

static void save_endpoint(const struct endpoint *endpoint, struct buffer *out)
{
	buffer_put(out, endpoint->address, sizeof(endpoint->address));
	pack_u8(out, endpoint->address_size);
	pack_number(out, endpoint->port, 2);
}

void pending_save(const struct pending *pending, int64_t now, struct buffer *out)
{
	const struct pending_annotation *annotations = (const void *)pending->annotations.data;
	const struct pending_tag *tags = (const void *)pending->tags.data;

	pack_u64(out, pending->key.trace_id_high);
	pack_u64(out, pending->key.trace_id);
	pack_u64(out, pending->key.span_id);
	pack_u32(out, pending->key.side | (pending->key.user ? SIDE_HAS_USER : 0));
	if (pending->key.user)
		pack_u32(out, pending->key.user);
	pack_bytes(out, pending->key.service.data, pending->key.service.size);
	pack_u64(out, pending->parent_id);
	save_slice(pending->name, out);
	save_endpoint(&pending->local, out);
	pack_u64(out, (uint64_t)pending->first);
	pack_u64(out, (uint64_t)pending->last);
	pack_u64(out, (uint64_t)MAX(pending->deadline - now, 0));
	pack_u8(out, pending->ended);
	pack_u64(out, pending->pieces);
	pack_bytes(out, pending->text.data, pending->text.size);
	pack_u32(out, (uint32_t)pending_annotation_count(pending));
	for (size_t i = 0; i < pending_annotation_count(pending); i++) {
		pack_u64(out, (uint64_t)annotations[i].time);
		save_slice(annotations[i].value, out);
	}
	pack_u32(out, (uint32_t)pending_tag_count(pending));
	for (size_t i = 0; i < pending_tag_count(pending); i++) {
		struct slice key = tags[i].key;

		key.size |= (uint32_t)tags[i].type << TYPE_SHIFT;
		save_slice(key, out);
		save_slice(tags[i].value, out);
	}
}

/* A slice of the text, which is read later; slice_fits checks it then. */
static struct slice load_slice(struct unpacker *from)
{
	uint32_t offset = unpack_u32(from);

	return (struct slice){offset, unpack_u32(from)};
}

static bool slice_fits(const struct pending *pending, struct slice slice)
{
	return slice.offset <= pending->text.size && slice.size <= pending->text.size - slice.offset;
}

static void load_endpoint(struct unpacker *from, struct endpoint *endpoint)
{
	const uint8_t *address = unpack_run(from, sizeof(endpoint->address));

	if (address)
		memcpy(endpoint->address, address, sizeof(endpoint->address));
	endpoint->address_size = unpack_u8(from);
	endpoint->port = (uint16_t)unpack_number(from, 2);
	if (endpoint->address_size != 0 && endpoint->address_size != 4 && endpoint->address_size != 16)
		from->failed = true;
}

static void load_annotations(struct unpacker *from, struct pending *pending)
{
	uint32_t count = unpack_u32(from);

	for (uint32_t i = 0; i < count && !from->failed; i++) {
		struct pending_annotation annotation = {.time = (int64_t)unpack_u64(from)};

		annotation.value = load_slice(from);
		if (!slice_fits(pending, annotation.value))
			from->failed = true;
		buffer_put(&pending->annotations, &annotation, sizeof(annotation));
	}
}

static void load_tags(struct unpacker *from, struct pending *pending)
{
	uint32_t count = unpack_u32(from);

	for (uint32_t i = 0; i < count && !from->failed; i++) {
		struct pending_tag tag = {.key = load_slice(from)};

		tag.type = tag.key.size >> TYPE_SHIFT;
		tag.key.size &= (UINT32_C(1) << TYPE_SHIFT) - 1;
		tag.value = load_slice(from);
		if (tag.type > PENDING_LINES || !slice_fits(pending, tag.key) ||
			!slice_fits(pending, tag.value))
			from->failed = true;
		buffer_put(&pending->tags, &tag, sizeof(tag));
	}
}

/* Whether @side is valid: 0, or a piece's kind and flag plus one. */
static bool side_can_be(unsigned side)
{
	unsigned flags = side - 1;

	return side == 0 ||
	       ((flags & ~(SIDE_KIND | SIDE_SHARED)) == 0 && (flags & SIDE_KIND) <= SPAN_CONSUMER);
}

static struct pending *load_key(struct unpacker *from)
{
	struct pending_key key;
	struct unpacker service;

	key.trace_id_high = unpack_u64(from);
	key.trace_id = unpack_u64(from);
	key.span_id = unpack_u64(from);
	key.side = unpack_u32(from);
	key.user = key.side & SIDE_HAS_USER ? unpack_u32(from) : 0;
	key.side &= ~SIDE_HAS_USER;
	service = unpack_bytes(from);
	if (service.failed || !key.trace_id || !key.span_id || !side_can_be(key.side))
		from->failed = true;
	if (from->failed)
		return NULL;
	key.service = (struct text){(const char *)service.at, (uint32_t)(service.end - service.at)};
	return pending_create(&key);
}

struct pending *pending_load(struct unpacker *from, int64_t now)
{
	struct pending *pending = load_key(from);
	struct unpacker text;
	uint64_t left;

	if (!pending)
		return NULL;
	pending->parent_id = unpack_u64(from);
	pending->name = load_slice(from);
	load_endpoint(from, &pending->local);
	pending->first = (int64_t)unpack_u64(from);
	pending->last = (int64_t)unpack_u64(from);
	if (pending->first < 0 || pending->last < pending->first)
		from->failed = true;
	left = unpack_u64(from);
	pending->deadline = now + (int64_t)MIN(left, (uint64_t)INT64_MAX / 2);
	pending->ended = unpack_u8(from) != 0;
	pending->pieces = unpack_u64(from);
	text = unpack_bytes(from);
	if (!text.failed)
		buffer_put(&pending->text, text.at, (size_t)(text.end - text.at));
	load_annotations(from, pending);
	load_tags(from, pending);
	if (!from->failed && slice_fits(pending, pending->name))
		return pending;
	from->failed = true;
	pending_destroy(pending);
	return NULL;
}
