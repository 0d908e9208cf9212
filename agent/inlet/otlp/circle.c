/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans and log records that come round: otlp.h.
 *
 * OTLP has no place for a trail as Scribe's items have one, so a request says by way of which agents what it
 * has may have come (`Blkin-Via`, core/via.h). What comes by way of this one is looked up among what came so
 * before: a second time, it goes in a circle. Nothing is looked up, nor kept, for others. Anybody may tell
 * any number, so nothing is refused for that alone.
 *
 * What is kept is forgotten every few minutes, when the configuration changes, and when something is to be
 * sent again: so what was held up is taken once the circle is undone. What still goes round is found again.
 */
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "core/via.h"
#include "inlet/otlp/otlp.h"

/* Of so many of them, the newest, it is known that they were here; a power of two. */
#define PLACES 32768
#define KEPT_NS (5 * 60 * NS_PER_SECOND)

struct otlp_circle {
	uint8_t key[SIPHASH_KEY_SIZE];
	int64_t began;
	unsigned configured;
	uint64_t seen[PLACES]; /* hashes, by their last bits; 0: none */
};

bool otlp_circle_is_suspected(const uint64_t *via, size_t count)
{
	int64_t now = clock_monotonic();
	bool own = false;

	for (size_t i = 0; i < count; i++) {
		own |= via_is_own(via[i]);
		via_note(via[i], now);
	}
	return own;
}

static struct otlp_circle *circle_of(struct inlet *inlet)
{
	const unsigned configured = atomic_load(&inlet->configured);
	struct otlp_own *own = inlet->own;
	int64_t now = clock_monotonic();

	if (own->circle && own->circle->configured == configured && now - own->circle->began < KEPT_NS)
		return own->circle;
	g_free(own->circle);
	own->circle = g_new0(struct otlp_circle, 1);
	own->circle->began = now;
	own->circle->configured = configured;
	if (getrandom(own->circle->key, SIPHASH_KEY_SIZE, 0) != SIPHASH_KEY_SIZE)
		memcpy(own->circle->key, &now, sizeof(now)); /* there always is some */
	return own->circle;
}

bool otlp_circle_has(struct inlet *inlet, const void *identity, size_t size, bool keep)
{
	struct otlp_circle *circle = circle_of(inlet);
	uint64_t hash = siphash(circle->key, identity, size), *place = &circle->seen[hash % PLACES];
	bool has = *place == hash;

	if (keep)
		*place = hash;
	return has;
}

void otlp_circle_forget(struct otlp_own *own)
{
	g_free(own->circle);
	own->circle = NULL;
}
