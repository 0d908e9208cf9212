/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Items that come round: scribe.h.
 *
 * An agent that is the first, second, fourth and so on by which an item comes stamps it with a keyed hash of
 * what it is, in place of the stamp that it has. In a circle of agents some one of them so finds its own, the
 * sooner the smaller the circle is. No other can make it, so nobody can have another's items taken for ones
 * that came round; and it says nothing of other items.
 *
 * The key is drawn anew when the configuration changes, and every few minutes: so what was held up in a
 * circle is taken once that is undone, wherever that was. What still goes round is found again.
 */
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/siphash.h"
#include "inlet/scribe/scribe.h"

/* Counting goes on from there, so that items are stamped for ever. */
#define MOST_HOPS 64
#define KEY_NS (5 * 60 * NS_PER_SECOND)

static void draw_key(struct inlet *inlet)
{
	unsigned configured = atomic_load(&inlet->configured);
	struct scribe_own *own = inlet->own;
	int64_t now = clock_monotonic();

	if (own->configured == configured && own->drawn && now - own->drawn < KEY_NS)
		return;
	if (getrandom(own->key, sizeof(own->key), 0) != sizeof(own->key))
		memcpy(own->key, &now, sizeof(now)); /* there always is some */
	own->drawn = now;
	own->configured = configured;
}

/* Never 0, which is none. */
static uint64_t stamp_of(struct inlet *inlet, const struct identity *identity)
{
	const struct scribe_own *own = inlet->own;
	uint64_t parts[G_N_ELEMENTS(identity->part)], stamp;

	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
		parts[i] = siphash(own->key, identity->part[i], identity->size[i]);
	stamp = siphash(own->key, parts, sizeof(parts));
	return stamp ? stamp : 1;
}

bool circle_came_round(struct inlet *inlet, const struct trail *trail, const struct identity *identity)
{
	draw_key(inlet);
	return trail->stamp && trail->stamp == stamp_of(inlet, identity);
}

void circle_step(struct inlet *inlet, struct trail *trail, const struct identity *identity)
{
	trail->hops = trail->hops >= MOST_HOPS ? MOST_HOPS / 2 + 1 : (uint8_t)(trail->hops + 1);
	if (trail->hops & (trail->hops - 1))
		return;
	draw_key(inlet);
	trail->stamp = stamp_of(inlet, identity);
}
