/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lttng-relayd's index of a trace file: where its packets are, and what each is.
 *
 * A header, then an entry for each packet, all big-endian. relayd appends to it while it is read here, and
 * what it says is checked before anything is read by it.
 */
#ifndef SESSION_RELAYINDEX_H
#define SESSION_RELAYINDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct relay_packet {
	uint64_t offset, size; /* in the trace file, bytes */
	uint64_t content;      /* of these: header and events, the rest is padding */
	uint64_t begin, end;   /* on the tracing clock */
	uint64_t discarded;    /* events of the stream, up to the packet's end */
	uint64_t class_id, id; /* of the stream */
	uint64_t sequence;
};

/* No packet of a ring buffer is larger: an entry that says so is wrong. */
#define RELAY_PACKET_MAX (UINT64_C(1) << 32)

/* LTTng-UST's header of a packet, in bytes: one without events, as each stream begins with, has no more. */
#define RELAY_PACKET_HEADER 88

/* Whether it says anything: programs that register, and log nothing, leave packets that do not. */
static inline bool relay_packet_holds_events(const struct relay_packet *packet)
{
	return packet->content > RELAY_PACKET_HEADER || packet->discarded;
}

/*
 * Calls @take for each packet in an index of @size bytes at @index, an entry that is not whole yet left out.
 * Returns false if it is no index that we know, or an entry cannot be; the others, each of which says itself
 * where its packet is, are taken then. That of a packet that begins when the one before did cannot be:
 * packets are known by when they begin (position.h), and only a clock that stands still makes such.
 */
bool relay_index_read(const void *index, size_t size,
	void (*take)(void *data, const struct relay_packet *packet), void *data);

#endif
