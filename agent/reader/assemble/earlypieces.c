/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/assemble/earlypieces.h"

/* About a megabyte of memory. */
#define SPANS_MAX 16384

struct early {
	uint64_t number; /* of the span */
	uint64_t pieces;
	TAILQ_ENTRY(early) link;
};

void early_pieces_init(struct early_pieces *early)
{
	early->spans = NULL;
	TAILQ_INIT(&early->order);
}

void early_pieces_free(struct early_pieces *early)
{
	struct early *each;

	while ((each = TAILQ_FIRST(&early->order))) {
		TAILQ_REMOVE(&early->order, each, link);
		g_free(each);
	}
	g_clear_pointer(&early->spans, g_hash_table_destroy);
}

/* Ids are random: two spans that share a number are not to be expected among so few. */
static uint64_t number_of(const struct pending_key *key)
{
	uint64_t number = key->trace_id * UINT64_C(0x9e3779b97f4a7c15) ^ key->span_id;

	return (number ^ key->trace_id_high) * UINT64_C(0x9e3779b97f4a7c15) ^
	       ((uint64_t)key->user << 8 | key->side);
}

static uint64_t forget(struct early_pieces *early, struct early *each)
{
	uint64_t pieces = each->pieces;

	g_hash_table_remove(early->spans, &each->number);
	TAILQ_REMOVE(&early->order, each, link);
	g_free(each);
	return pieces;
}

void early_pieces_add(struct early_pieces *early, const struct pending_key *key, uint64_t pieces)
{
	struct early *each;
	uint64_t number = number_of(key);

	if (!early->spans)
		early->spans = g_hash_table_new(g_int64_hash, g_int64_equal);
	each = g_hash_table_lookup(early->spans, &number);
	if (!each) {
		if (g_hash_table_size(early->spans) == SPANS_MAX)
			forget(early, TAILQ_FIRST(&early->order));
		each = g_new0(struct early, 1);
		each->number = number;
		g_hash_table_insert(early->spans, &each->number, each);
		TAILQ_INSERT_TAIL(&early->order, each, link);
	}
	each->pieces += pieces;
}

uint64_t early_pieces_take(struct early_pieces *early, const struct pending_key *key)
{
	uint64_t number = number_of(key);
	struct early *each = early->spans ? g_hash_table_lookup(early->spans, &number) : NULL;

	return each ? forget(early, each) : 0;
}
