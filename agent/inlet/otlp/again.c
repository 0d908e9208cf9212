/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans that come again and again: otlp.h.
 *
 * A circle through servers that pass no `Blkin-Via` on (circle.c) brings each span back without an end, and
 * so do some who send the same for ever. So some of the spans that are taken, one in four, and of these the
 * first of their place in a table, are watched for half a minute: whether they are taken again meanwhile.
 * Once some have been several times, that is told. Nothing is refused for it, as who lost an answer may send
 * all of a request again, once or twice.
 */
#include <string.h>

#include "base/clock.h"
#include "inlet/otlp/otlp.h"

/* A power of two, of that many bits. */
#define PLACE_BITS 12
#define PLACES (1 << PLACE_BITS)
#define WATCHED_NS (30 * NS_PER_SECOND)
/* So often a span is taken, */
#define TIMES 4
/* and so many are. */
#define SPANS 3
/* One span in so many is looked at, by its ids: the table is in no near cache of the processor. */
#define ONE_IN 4

struct watched {
	uint64_t hash;
	int64_t since, last; /* taken for the first time, and the last */
	unsigned times;      /* 0: nothing is */
};

struct otlp_again {
	unsigned coming; /* that have been taken TIMES */
	struct watched watched[PLACES];
};

/* Ids are random. Who chooses others is told of wrongly, or not. */
static uint64_t hash_of(const struct span *span)
{
	uint64_t hash = (span->id ^ span->trace_id_high) * UINT64_C(0x9e3779b97f4a7c15);

	return (hash ^ hash >> 32 ^ span->trace_id) * UINT64_C(0x9e3779b97f4a7c15);
}

bool otlp_again_note(struct otlp_own *own, const struct span *span, int64_t now)
{
	uint64_t hash = hash_of(span);
	struct watched *watched;

	if (hash % ONE_IN)
		return false;
	if (!own->again)
		own->again = g_new0(struct otlp_again, 1);
	watched = &own->again->watched[hash >> (64 - PLACE_BITS)];
	if (!watched->times || now - watched->since >= WATCHED_NS || now < watched->since) {
		own->again->coming -= watched->times == TIMES;
		*watched = (struct watched){hash, now, now, 1};
		return false;
	}
	if (watched->hash != hash || watched->last == now) /* twice in one request */
		return false;
	watched->last = now;
	if (watched->times < TIMES && ++watched->times == TIMES)
		own->again->coming++;
	return watched->times == TIMES && own->again->coming >= SPANS;
}

void otlp_again_forget(struct otlp_own *own)
{
	g_free(own->again);
	own->again = NULL;
}
