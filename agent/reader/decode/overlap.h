/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * While one session takes another one's place, both record for a moment, so that nothing is recorded by
 * neither. What both have is taken once: of the first session, which is read to its end before the second
 * one, it is noted what it has since the second one records; of the second, what was noted is left out.
 *
 * Each session stamps its copy itself, so a copy is known by what the program recorded (fingerprint.h). What
 * is recorded alike several times is told apart by time: the two copies of an event are microseconds apart,
 * the first session's first, so each copy stands for the last one before it that no other stands for; and
 * both sessions record for longer than may lie between two copies, so that what only the first one has is not
 * taken for what only the second one has. A finished span says itself when it began, so its copy is known
 * whatever time lies between.
 *
 * It costs nothing but at such a time. It belongs to the thread that reads.
 */
#ifndef READER_DECODE_OVERLAP_H
#define READER_DECODE_OVERLAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/pack.h"
#include "session/position.h"

/* Two events that are alike are no copies of one if they are further apart, */
#define OVERLAP_TOLERANCE_NS (100 * NS_PER_MS)
/* so for so long both sessions record at least. */
#define OVERLAP_NS (2 * OVERLAP_TOLERANCE_NS)

/* So many events are noted: if there are more, the newest. */
#define OVERLAP_NOTES_MAX (512 * 1024)

struct bt_message;
struct overlap;

struct overlap *overlap_create(void);
void overlap_destroy(struct overlap *overlap);

/* Another session is about to record beside the one at hand, which was created at @created; if it was before,
 * that holds. Times are of CLOCK_MONOTONIC, ns. */
void overlap_begin(struct overlap *overlap, uint64_t created, int64_t now);

/* It does not come to that. If it was about to before, it may record since then: so that holds, and what was
 * noted, too. */
void overlap_cancel(struct overlap *overlap);

/* The other one is gone. Returns since when it may have recorded alone; 0: it never did. */
int64_t overlap_abandon(struct overlap *overlap);

/* The session at hand is about to record no more. */
void overlap_end(struct overlap *overlap, int64_t now);

/* Whether the other one may record; and whether the one at hand is not to any more. */
bool overlap_has_begun(const struct overlap *overlap);
bool overlap_has_ended(const struct overlap *overlap);

/* It is read to its end: the other one is at hand now. */
void overlap_turn(struct overlap *overlap, int64_t now);

/* The session at hand has no more copies of what another one had before it. False: none were expected. */
bool overlap_forget(struct overlap *overlap);

/* Whether an event of the session at hand, at @clock, is a copy; if not, it is noted if one may come. */
bool overlap_is_copy(struct overlap *overlap, const struct stream_key *stream,
	const struct bt_message *message, uint64_t clock);

/* Whether copies are expected in this session, or the next one. */
bool overlap_is_open(const struct overlap *overlap);

/* How many copies were met in this session. */
uint64_t overlap_copies(const struct overlap *overlap);

/* Appends it all; and reads that back: false if it is damaged, and then nothing is known. */
void overlap_save(const struct overlap *overlap, struct buffer *out);
bool overlap_load(struct overlap *overlap, struct unpacker from);

/* The same for what is to be known before another session records: since and until when both do. It is taken
 * up if it is of the session at hand, which was created at @created, and newer. */
void overlap_save_times(const struct overlap *overlap, struct buffer *out);
bool overlap_load_times(struct overlap *overlap, uint64_t created, struct unpacker *from);

#endif
