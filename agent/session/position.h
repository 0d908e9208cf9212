/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Positions: how far each of a session's streams was read.
 *
 * A stream is the sequence of packets of one CPU and channel, for one user and word size, or for the kernel.
 * A packet is known by its begin clock, which only grows within a stream, and which live reading, relayd's
 * index and the packet itself all have; its sequence number shows whether packets before it are missing.
 *
 * Each position says up to where events were *done*: read, in this run or before the checkpoint. *Before* is
 * where a run that was killed had read to beyond its checkpoint: those events are read again, and counted as
 * read again.
 */
#ifndef SESSION_POSITION_H
#define SESSION_POSITION_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "base/pack.h"

/* The kernel has one trace, which is no user's. */
#define KERNEL_USER UINT32_MAX
#define KERNEL_BITS 0

struct stream_key {
	uint64_t user;     /* tracer_buffering_id, or KERNEL_USER */
	uint32_t bits;     /* of the user's programs' words, or KERNEL_BITS */
	uint64_t class_id; /* of the channel */
	uint64_t id;       /* of the stream: LTTng's number of the CPU */
};

/* A place in a stream; zero-initialised is its beginning. */
struct stream_point {
	bool started;      /* a packet was */
	bool ended;        /* that one, and so all its events are read */
	uint64_t begin;    /* the packet's begin clock */
	uint64_t sequence; /* its number, from 0 */
	uint64_t events;   /* of it read */
};

struct position {
	struct stream_key key;
	struct stream_point done, before;
	uint64_t discarded; /* events of this stream that LTTng had discarded, counted as lost so far */
};

/* What relayd's index knows of a packet. */
struct packet_info {
	uint64_t sequence;
	uint64_t discarded; /* events of the stream that were discarded up to its end */
};

struct positions;

struct positions *positions_create(void);
void positions_destroy(struct positions *positions);

/* Forgets all. */
void positions_clear(struct positions *positions);

/* The position of a stream, made if it is not known; NULL if there are too many. Borrowed until they
 * are cleared. */
struct position *positions_get(struct positions *positions, const struct stream_key *key);

/* How many streams are known. */
size_t positions_count(const struct positions *positions);

/* The position of a stream, or NULL. */
const struct position *positions_find(const struct positions *positions, const struct stream_key *key);

bool stream_key_equal(const struct stream_key *left, const struct stream_key *right);

/* A number for the stream's trace: each user and word size has one. */
gsize stream_key_trace(const struct stream_key *key);

/* Notes that one has moved, and counts that: a checkpoint is made only if one has. */
void positions_moved(struct positions *positions);
uint64_t positions_moves(const struct positions *positions);

/* Whether the event after @place was read by the previous run. */
bool stream_point_is_before(const struct stream_point *place, const struct stream_point *before);

/* What is known of a packet by how far its stream is done. */
enum packet_state {
	PACKET_NEW,
	PACKET_BEGUN, /* its first events are done */
	PACKET_DONE
};

/* Of the packet that begins at @begin, in a stream that is @done so far. */
enum packet_state stream_point_packet(const struct stream_point *done, uint64_t begin);

/* Counts the packet as done although it cannot be read. Returns how many packets are lost: those before it
 * that are not done are too. */
uint64_t stream_point_give_up(struct stream_point *done, uint64_t begin, uint64_t sequence);

/* What is done, as a list of bytes; or, if @reached, what was read at all, by this run or the previous one.
 */
void positions_save(const struct positions *positions, bool reached, struct buffer *out);

/* Reads two such lists back: what was done, and what was reached. False if one is damaged. */
bool positions_load(struct positions *positions, struct unpacker done, struct unpacker reached);

#endif
