/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sessions as the checkpoint has them: what a session is known by, and, of one that is not at hand, its
 * positions as lists of bytes.
 */
#ifndef COLLECT_STAGE_H
#define COLLECT_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "base/pack.h"
#include "session/position.h"
#include "session/sessionid.h"

/* A session that is not at hand. */
struct stage {
	struct session_identity session;
	struct buffer done;    /* to be read from here; empty: from the beginning */
	struct buffer reached; /* what was read of it */
};

/* A list of them; it owns them. */
GPtrArray *stages_create(void);

/* Adds one without positions; borrowed. */
struct stage *stages_add(GPtrArray *stages, const struct session_identity *session);

/* Appends each with its positions, done or reached, without their number. */
void stages_save(const GPtrArray *stages, bool reached, struct buffer *out);

/* Reads a number and so many sessions with positions into @stages, adding those it does not have; false on
 * damage. */
bool stages_load(GPtrArray *stages, struct unpacker *from, bool reached);

/* Takes the stage's positions into @positions; false if they are damaged, and then these are empty. */
bool stage_take(const struct stage *stage, struct positions *positions);

#endif
