/* SPDX-License-Identifier: BSD-2-Clause */
/* Who holds the connections, and how much of the memory: inner.h. */
#include <string.h>

#include "base/memory.h"
#include "inlet/inner.h"

/* Freed since memory was given back last: it is not to wait for a moment at which there is time for it. */
#define FREED_MOST ((size_t)16 * 1024 * 1024)

/* Strangers choose the addresses; there are not more of them than connections. */
static guint hash(gconstpointer key)
{
	const uint8_t *bytes = key;
	guint value = 0;

	for (size_t i = 0; i < sizeof(struct peer); i++)
		value = (value ^ bytes[i]) * 16777619U;
	return value ^ value >> 15;
}

static gboolean equal(gconstpointer one, gconstpointer other)
{
	return memcmp(one, other, sizeof(struct peer)) == 0;
}

void holders_init(struct inlet *inlet)
{
	inlet->holders = g_hash_table_new_full(hash, equal, NULL, g_free);
}

void holders_free(struct inlet *inlet)
{
	g_hash_table_destroy(inlet->holders);
}

const struct holder *holders_find(const struct inlet *inlet, const struct peer *peer)
{
	return g_hash_table_lookup(inlet->holders, peer);
}

void holders_enter(struct connection *connection, const struct peer *peer)
{
	struct inlet *inlet = connection->inlet;
	struct holder *holder = g_hash_table_lookup(inlet->holders, peer);

	if (!holder) {
		holder = g_new0(struct holder, 1);
		holder->peer = *peer;
		g_hash_table_insert(inlet->holders, &holder->peer, holder);
	}
	connection->holder = holder;
	*(connection->guest ? &holder->guests : &holder->connections) += 1;
	*(connection->guest ? &inlet->guests : &inlet->members) += 1;
}

void holders_leave(struct connection *connection)
{
	struct inlet *inlet = connection->inlet;
	struct holder *holder = connection->holder;

	*(connection->guest ? &holder->guests : &holder->connections) -= 1;
	*(connection->guest ? &inlet->guests : &inlet->members) -= 1;
	connection->holder = NULL;
	if (!holder->connections && !holder->guests)
		g_hash_table_remove(inlet->holders, &holder->peer);
}

/* What many have freed is in pieces, of which the allocator makes little. */
static void note_freed(struct inlet *inlet, size_t bytes)
{
	inlet->freed += bytes;
	if (inlet->freed < FREED_MOST)
		return;
	memory_give_back();
	inlet->freed = 0;
}

static void weigh(struct connection *connection, size_t room)
{
	size_t more = room - connection->weighed; /* less, if it wraps around */

	if (room < connection->weighed)
		note_freed(connection->inlet, connection->weighed - room);
	connection->weighed = room;
	connection->inlet->in_bytes += more;
	connection->holder->bytes += more;
}

void holders_weigh(struct connection *connection)
{
	const struct protocol *protocol = connection->inlet->protocol;

	weigh(connection, connection->in.room + (protocol->room ? protocol->room(connection) : 0));
}

void holders_weigh_out(struct connection *connection)
{
	weigh(connection, 0);
}

unsigned holders_count(const struct inlet *inlet)
{
	unsigned count = 0;
	GHashTableIter iter;
	gpointer each;

	g_hash_table_iter_init(&iter, inlet->holders);
	while (g_hash_table_iter_next(&iter, NULL, &each))
		count += ((const struct holder *)each)->connections > 0;
	return count;
}

const struct holder *holders_largest(const struct inlet *inlet)
{
	const struct holder *largest = NULL;
	GHashTableIter iter;
	gpointer each;

	g_hash_table_iter_init(&iter, inlet->holders);
	while (g_hash_table_iter_next(&iter, NULL, &each))
		if (!largest || ((const struct holder *)each)->connections > largest->connections)
			largest = each;
	return largest;
}
