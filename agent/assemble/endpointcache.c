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
		struct span_head head; /* of an endpoint only the local one; without the service, which is
					  the end of the text */
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
static struct known *find(struct endpoint_cache *cache, const char *text, size_t size, bool *found)
{
	struct known *known = NULL;

	*found = false;
	if (cache && size >= TEXT_MIN && size <= TEXT_MAX) {
		known = place_of(cache, text, size);
		*found = known->size == size && is_same(known->text, text, size);
	}
	return known;
}

static void keep(struct known *known, const char *text, size_t size)
{
	known->size = (uint32_t)size;
	memcpy(known->text, text, size);
}

bool endpoint_cache_read(
	struct endpoint_cache *cache, struct endpoint *endpoint, const char *at, const char *end)
{
	size_t size = (size_t)(end - at);
	bool found;
	struct known *known = find(cache, at, size, &found);

	if (found) {
		*endpoint = known->head.local;
		endpoint->service.data = end - endpoint->service.size;
		return true;
	}
	if (!span_endpoint_read(endpoint, at, end))
		return false;
	if (known) {
		keep(known, at, size);
		known->head.local = *endpoint;
	}
	return true;
}

bool endpoint_cache_find_head(struct endpoint_cache *cache, struct span_head *head, struct text line)
{
	bool found;
	const struct known *known = find(cache, line.data, line.size, &found);

	if (!found)
		return false;
	*head = known->head;
	head->local.service.data = line.data + line.size - head->local.service.size;
	return true;
}

/* An endpoint has no text that is a head line, too: one begins with a digit, the other with a letter. */
void endpoint_cache_keep_head(struct endpoint_cache *cache, const struct span_head *head, struct text line)
{
	bool found;
	struct known *known = find(cache, line.data, line.size, &found);

	if (!known)
		return;
	keep(known, line.data, line.size);
	known->head = *head;
}
