/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/assemble/pendingkey.h"

#include <pthread.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "reader/assemble/pending.h"

/*
 * Two odd random numbers, secret from programs: otherwise a program could choose ids that all collide in the
 * table.
 */
static uint64_t hash_secret[2];

static void make_secret(void)
{
	if (getrandom(hash_secret, sizeof(hash_secret), 0) != (ssize_t)sizeof(hash_secret))
		hash_secret[0] = (uint64_t)clock_wall(), hash_secret[1] = (uint64_t)clock_monotonic();
	hash_secret[0] |= 1;
	hash_secret[1] |= 1;
}

/*
 * Combines both halves of a product with the secret: each bit of the word changes about half of the result's
 * bits.
 */
static uint64_t mix(uint64_t hash, uint64_t word)
{
	unsigned __int128 product = (unsigned __int128)(hash ^ word ^ hash_secret[0]) * hash_secret[1];

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static guint key_hash(gconstpointer data)
{
	const struct pending_key *key = data;
	uint64_t hash = mix((uint64_t)key->user << 32 | key->side, key->trace_id_high), word = 0;

	hash = mix(mix(hash, key->trace_id), key->span_id);

	for (uint32_t i = 0; i < key->service.size; i++) {
		word = word << 8 | (unsigned char)key->service.data[i];
		if (i % 8 == 7)
			hash = mix(hash, word);
	}
	hash = mix(hash, word ^ key->service.size);
	return (guint)(hash ^ hash >> 32);
}

static gboolean key_equal(gconstpointer left, gconstpointer right)
{
	const struct pending_key *a = left, *b = right;

	return a->span_id == b->span_id && a->trace_id == b->trace_id &&
	       a->trace_id_high == b->trace_id_high && a->side == b->side && a->user == b->user &&
	       a->service.size == b->service.size &&
	       memcmp(a->service.data, b->service.data, a->service.size) == 0;
}

GHashTable *pending_table_create(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_secret);
	return g_hash_table_new(key_hash, key_equal);
}
