/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pieces of spans that were emitted before their span's event came: the span was silent for too long, or
 * memory was short. They are delivered, as another part of the span, and so are not missing in it.
 */
#ifndef READER_ASSEMBLE_EARLYPIECES_H
#define READER_ASSEMBLE_EARLYPIECES_H

#include <glib.h>

#include "reader/assemble/pending.h"

struct early_pieces {
	GHashTable *spans;                   /* of struct early, by number; NULL: none was so far */
	TAILQ_HEAD(early_list, early) order; /* the oldest first */
};

void early_pieces_init(struct early_pieces *early);
void early_pieces_free(struct early_pieces *early);

/* So many pieces of the span @key were emitted. Of too many spans the oldest is forgotten. */
void early_pieces_add(struct early_pieces *early, const struct pending_key *key, uint64_t pieces);

/* How many were of the span @key, whose event has come. */
uint64_t early_pieces_take(struct early_pieces *early, const struct pending_key *key);

#endif
