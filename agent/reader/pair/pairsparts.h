/* SPDX-License-Identifier: BSD-2-Clause */
/* What struct pairs is, and what its files do for each other. Within reader/pair/. */
#ifndef READER_PAIR_PAIRSPARTS_H
#define READER_PAIR_PAIRSPARTS_H

#include <glib.h>

#include "reader/pair/pair.h"
#include "reader/pair/pairs.h"
#include "reader/pair/pairspan.h"

struct pair_thread {
	struct pair_key key;
	struct pair_list open; /* the innermost one last */
	struct pair_list held; /* the last one to end last */
	unsigned depth;        /* of those open */
};

struct pair_user {
	uint64_t number;
	struct pair_list open, held; /* the oldest first */
	size_t bytes, held_bytes;    /* of both; of those held */
	int64_t first, spans; /* when it was met; when there was a span of its programs' own, or INT64_MIN */
};

struct pairs {
	struct pairs_limits limits;
	struct ledger *change;
	void (*emit)(void *data, const struct span *span);
	void *data;
	GHashTable *threads;         /* of struct pair_thread, by its key */
	GHashTable *users;           /* of struct pair_user, by its number */
	struct pair_list open, held; /* by deadline */
	size_t bytes, held_bytes;
	uint32_t count;
	int64_t now;   /* the caller's clock, at its last call */
	char host[64]; /* the last one that was met, */
	uint32_t host_size;
	uint64_t host_number; /* and its number */
	struct pair_memory memory;
};

/* The user of that number, who is made if need be. */
uint64_t pairs_user_number(bool kernel, bool has_user, uint32_t user);
struct pair_user *pairs_user(struct pairs *pairs, uint64_t number);

/* Puts a pair among those that are open or held, and takes it out again, perhaps with its thread. */
void pairs_put(struct pairs *pairs, struct pair *pair);
void pairs_take_out(struct pairs *pairs, struct pair *pair);

/* Emits and frees a pair that was taken out: as a child of @own, if that is not NULL. It was kept from @since
 * on. */
void pairs_emit(struct pairs *pairs, struct pair *pair, const struct span *own, int64_t since);

/* Takes out one that is open, and emits it without a duration. */
void pairs_give_up(struct pairs *pairs, struct pair *pair);

/* Keeps to the bounds. */
void pairs_shed(struct pairs *pairs);

static inline void pairs_count(struct pairs *pairs, enum ledger_row row, int64_t amount)
{
	pairs->change->row[row] += amount;
}

#endif
