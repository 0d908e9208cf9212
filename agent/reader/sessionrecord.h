/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of the sessions that are not at hand, as the checkpoint has them: what each is known by, and its
 * positions as lists of bytes. */
#ifndef READER_SESSIONRECORD_H
#define READER_SESSIONRECORD_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "base/pack.h"
#include "session/position.h"
#include "session/sessionid.h"

/* A session that is not at hand. */
struct session_record {
	struct session_identity session;
	struct buffer done;    /* to be read from here; empty: from the beginning */
	struct buffer reached; /* what was read of it */
	uint64_t over_at;      /* of one that has ended: it is over once the position of this number holds */
};

/* A list of them; it owns them. */
GPtrArray *session_records_create(void);

/* The record of the session, or NULL. */
struct session_record *session_records_find(const GPtrArray *records, const struct session_identity *session);

/* Adds one without positions; borrowed. */
struct session_record *session_records_add(GPtrArray *records, const struct session_identity *session);

/* Appends each with its positions, done or reached, without their number. */
void session_records_save(const GPtrArray *records, bool reached, struct buffer *out);

/* Reads a number and so many sessions with positions into @records, adding those it does not have; false on
 * damage. */
bool session_records_load(GPtrArray *records, struct unpacker *from, bool reached);

/* Takes the record's positions into @positions; false if they are damaged, and then these are empty. */
bool session_record_take(const struct session_record *record, struct positions *positions);

#endif
