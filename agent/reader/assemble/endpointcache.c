/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/assemble/endpointcache.h"

#include <string.h>

#include <glib.h>

#include "base/memfind.h"
#include "reader/assemble/endpoint.h"

/* Each text maps to one place; of texts that share a place, the latest is kept. */
#define PLACE_BITS 6
#define PLACES (1 << PLACE_BITS)
#define TEXT_MIN 8

/* With more heads than places, to keep each that comes would be in vain, and cost more than to read it: one
 * takes the place of another only so often. */
#define KEPT_IN 8

/* Of an endpoint's text there is what stands before the service, which a node's services have in common, and
 * the head has only the local one. */
struct endpoint_cache {
	struct known_head endpoints[PLACES], heads[PLACES];
	unsigned met;
};

struct endpoint_cache *endpoint_cache_create(void)
{
	return g_new0(struct endpoint_cache, 1);
}

void endpoint_cache_destroy(struct endpoint_cache *cache)
{
	g_free(cache);
}

static uint64_t mix(uint64_t hash, const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
}

/*
 * Hashes eight bytes at a time, the last eight from the end. Programs that choose colliding names only lose
 * the benefit of the cache.
 */
static struct known_head *place_of(struct known_head *places, const char *text, size_t size)
{
	uint64_t hash = size;

	for (size_t at = 0; at + TEXT_MIN < size; at += TEXT_MIN)
		hash = mix(hash, text + at);
	return &places[mix(hash, text + size - TEXT_MIN) >> (64 - PLACE_BITS)];
}

/* Eight bytes at a time, as most are short: the call of memcmp would cost as much again. */
static bool is_same(const char *one, const char *other, size_t size)
{
	uint64_t differ = 0, a, b;

	for (size_t at = 0; at < size; at += TEXT_MIN) {
		size_t here = at + TEXT_MIN <= size ? at : size - TEXT_MIN;

		memcpy(&a, one + here, sizeof(a));
		memcpy(&b, other + here, sizeof(b));
		differ |= a ^ b;
	}
	return !differ;
}

/* NULL: there is no place for it. */
static struct known_head *find(struct known_head *places, const char *text, size_t size, bool *found)
{
	struct known_head *known = NULL;

	*found = false;
	if (size >= TEXT_MIN && size <= sizeof(known->text)) {
		known = place_of(places, text, size);
		*found = known->size == size && is_same(known->text, text, size);
	}
	return known;
}

static void keep(struct known_head *known, const char *text, size_t size)
{
	known->size = (uint32_t)size;
	memcpy(known->text, text, size);
}

/* The size of what stands before the service; 0 if that is not there. */
static size_t beginning(const char *text, const char *end)
{
	const char *port = find_near(text, end, ' '), *address = port ? find_near(port + 1, end, ' ') : NULL;

	return address ? (size_t)(address + 1 - text) : 0;
}

bool endpoint_cache_read(
	struct endpoint_cache *cache, struct endpoint *endpoint, const char *at, const char *end)
{
	size_t before = cache ? beginning(at, end) : 0;
	bool found = false;
	struct known_head *known = cache ? find(cache->endpoints, at, before, &found) : NULL;

	if (found) {
		*endpoint = known->head.local;
		endpoint->service = (struct text){at + before, (uint32_t)((size_t)(end - at) - before)};
		return true;
	}
	if (!endpoint_read(endpoint, at, end))
		return false;
	if (known) {
		keep(known, at, before);
		known->head.local = *endpoint;
	}
	return true;
}

struct known_head *endpoint_cache_find_head(struct endpoint_cache *cache, struct text line)
{
	bool found;
	struct known_head *known = find(cache->heads, line.data, line.size, &found);

	return found ? known : NULL;
}

void endpoint_cache_keep_head(struct endpoint_cache *cache, const struct span_head *head, struct text line)
{
	bool found;
	struct known_head *known = find(cache->heads, line.data, line.size, &found);

	if (!known || (known->size && ++cache->met % KEPT_IN))
		return;
	keep(known, line.data, line.size);
	known->head = *head;
}
