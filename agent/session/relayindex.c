/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/relayindex.h"

#include "base/pack.h"

#define MAGIC 0xC1F1DCC1
#define HEADER_SIZE 16
/* Version 1.1, LTTng's since 2.8, has these fields; later ones may have more behind them. */
#define MAJOR 1
#define MINOR 1
#define ENTRY_SIZE 72
#define ENTRY_SIZE_MAX 4096

static bool read_header(struct unpacker *from, size_t *entry_size)
{
	uint32_t magic = unpack_u32(from), major = unpack_u32(from), minor = unpack_u32(from);

	*entry_size = unpack_u32(from);
	return !from->failed && magic == MAGIC && major == MAJOR && minor >= MINOR &&
	       *entry_size >= ENTRY_SIZE && *entry_size <= ENTRY_SIZE_MAX;
}

/* Sizes are in bits. */
static bool read_entry(struct unpacker entry, struct relay_packet *packet)
{
	uint64_t size, content;

	packet->offset = unpack_u64(&entry);
	size = unpack_u64(&entry);
	content = unpack_u64(&entry);
	packet->size = size / 8;
	packet->content = content / 8;
	packet->begin = unpack_u64(&entry);
	packet->end = unpack_u64(&entry);
	packet->discarded = unpack_u64(&entry);
	packet->class_id = unpack_u64(&entry);
	packet->id = unpack_u64(&entry);
	packet->sequence = unpack_u64(&entry);
	return size % 8 == 0 && content <= size && packet->size && packet->size <= RELAY_PACKET_MAX &&
	       packet->offset <= INT64_MAX - RELAY_PACKET_MAX && packet->begin <= packet->end;
}

bool relay_index_read(const void *index, size_t size,
	void (*take)(void *data, const struct relay_packet *packet), void *data)
{
	struct unpacker from = unpacker_of(index, size);
	struct relay_packet packet;
	uint64_t begin = UINT64_MAX; /* of the packet before */
	size_t entry_size;
	bool good = true;

	if (size == 0)
		return true; /* just made */
	if (!read_header(&from, &entry_size))
		return false;
	while ((size_t)(from.end - from.at) >= entry_size) {
		if (read_entry(unpacker_of(from.at, ENTRY_SIZE), &packet) && packet.begin != begin)
			take(data, &packet);
		else
			good = false;
		begin = packet.begin;
		from.at += entry_size;
	}
	return good;
}
