/* SPDX-License-Identifier: BSD-2-Clause */
#include "assemble/endpointcache.h"

#include <string.h>

#include <glib.h>

#include "assemble/spanhead.h"
#include "base/memfind.h"

/* Each text maps to one place; of texts that share a place, the latest is kept. */
#define PLACE_BITS 6
#define PLACES (1 << PLACE_BITS)
#define TEXT_MIN 8
#define TEXT_MAX 100

/* Spaces before the service: behind the port and the address, and in a head line behind its words, which are
 * no longer than this unless there is half of a trace's id among them. */
#define ENDPOINT_SPACES 2
#define HEAD_SPACES 3
#define WORDS_MAX ((int)sizeof("consumer,shared,debug") - 1)

/* A text of which only the beginning is known is kept each time that so many were met: with more services
 * than there are places, to keep each would be in vain, and cost more than to look it up. */
#define KEPT_IN 8

struct known {
	uint32_t size; /* 0: none */
	char text[TEXT_MAX];
	struct span_head head; /* of an endpoint only the local one; without the service, which is the end
				  of the text */
};

struct endpoint_cache {
	struct known whole[PLACES];
	struct known
		begun[PLACES]; /* what is before the service: a node's services have much of it in common */
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
static struct known *place_of(struct known *places, const char *text, size_t size)
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
static struct known *find(struct known *places, const char *text, size_t size, bool *found)
{
	struct known *known = NULL;

	*found = false;
	if (size >= TEXT_MIN && size <= TEXT_MAX) {
		known = place_of(places, text, size);
		*found = known->size == size && is_same(known->text, text, size);
	}
	return known;
}

static void keep(struct known *known, const char *text, size_t size, const struct span_head *head)
{
	if (!known)
		return;
	known->size = (uint32_t)size;
	memcpy(known->text, text, size);
	known->head = *head;
}

/* The size of what is before the service; 0 if that is not there, or is another one in each trace. */
static size_t beginning(const char *text, const char *end, int spaces)
{
	const char *at = text;

	for (int i = 0; i < spaces; i++) {
		at = find_near(at, end, ' ');
		if (!at || (i == 0 && at - text > WORDS_MAX))
			return 0;
		at++;
	}
	return (size_t)(at - text);
}

/* Keeps the text, and what is before its service. */
static void keep_both(
	struct endpoint_cache *cache, const char *text, size_t size, const struct span_head *head)
{
	size_t before = size - head->local.service.size;
	bool found;

	keep(find(cache->whole, text, size, &found), text, size, head);
	keep(find(cache->begun, text, before, &found), text, before, head);
}

/* Looks for the text, and if there is none, for what is before its service. NULL: there is neither. */
static const struct span_head *look(
	struct endpoint_cache *cache, const char *text, size_t size, int spaces, size_t *before)
{
	bool found;
	struct known *known = find(cache->whole, text, size, &found), *begun;

	if (G_LIKELY(found)) {
		*before = size - known->head.local.service.size;
		return &known->head;
	}
	*before = beginning(text, text + size, spaces);
	begun = find(cache->begun, text, *before, &found);
	if (!found)
		return NULL;
	begun->head.local.service.size = (uint32_t)(size - *before);
	if (++cache->met % KEPT_IN == 0)
		keep(known, text, size, &begun->head);
	return &begun->head;
}

bool endpoint_cache_read(
	struct endpoint_cache *cache, struct endpoint *endpoint, const char *at, const char *end)
{
	size_t size = (size_t)(end - at), before;
	const struct span_head *known = cache ? look(cache, at, size, ENDPOINT_SPACES, &before) : NULL;

	if (known) {
		*endpoint = known->local;
		endpoint->service.data = at + before;
		return true;
	}
	if (!span_endpoint_read(endpoint, at, end))
		return false;
	if (cache)
		keep_both(cache, at, size, &(struct span_head){.local = *endpoint});
	return true;
}

/* Lines with half of a trace's id, each another one, are not kept. */
bool endpoint_cache_find_head(struct endpoint_cache *cache, struct span_head *head, struct text line)
{
	const struct span_head *known;
	size_t before;

	known = cache ? look(cache, line.data, line.size, HEAD_SPACES, &before) : NULL;
	if (!known)
		return false;
	*head = *known;
	head->local.service.data = line.data + before;
	return true;
}

/* An endpoint has no text that is a head line, too: one begins with a digit, the other with a letter. */
void endpoint_cache_keep_head(struct endpoint_cache *cache, const struct span_head *head, struct text line)
{
	if (cache)
		keep_both(cache, line.data, line.size, head);
}
