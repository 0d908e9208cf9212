/* SPDX-License-Identifier: BSD-2-Clause */
#include "assemble/endpointcache.h"

#include <string.h>

#include <glib.h>

#include "assemble/spanhead.h"

/* Each text maps to one place; of texts that share a place, the latest is kept. */
#define PLACE_BITS 6
#define TEXT_MIN 8
#define TEXT_MAX 100

struct endpoint_cache {
	struct known {
		uint32_t size; /* 0: none */
		char text[TEXT_MAX];
		struct endpoint endpoint; /* without the service, which is the end of the text */
	} known[1 << PLACE_BITS];
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
static struct known *place_of(struct endpoint_cache *cache, const char *text, size_t size)
{
	uint64_t hash = size;

	for (size_t at = 0; at + TEXT_MIN < size; at += TEXT_MIN)
		hash = mix(hash, text + at);
	return &cache->known[mix(hash, text + size - TEXT_MIN) >> (64 - PLACE_BITS)];
}

static void keep(struct known *known, const struct endpoint *endpoint, const char *text, size_t size)
{
	known->size = (uint32_t)size;
	memcpy(known->text, text, size);
	known->endpoint = *endpoint;
}

bool endpoint_cache_read(
	struct endpoint_cache *cache, struct endpoint *endpoint, const char *at, const char *end)
{
	size_t size = (size_t)(end - at);
	struct known *known;

	if (!cache || size < TEXT_MIN || size > TEXT_MAX)
		return span_endpoint_read(endpoint, at, end);
	known = place_of(cache, at, size);
	if (known->size == size && memcmp(known->text, at, size) == 0) {
		*endpoint = known->endpoint;
		endpoint->service.data = end - endpoint->service.size;
		return true;
	}
	if (!span_endpoint_read(endpoint, at, end))
		return false;
	keep(known, endpoint, at, size);
	return true;
}
