/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A cache of spans' head lines, and of the endpoints in them, by their text: a program has few of them, and a
 * node has few programs, so most are parsed only once.
 */
#ifndef READER_ASSEMBLE_ENDPOINTCACHE_H
#define READER_ASSEMBLE_ENDPOINTCACHE_H

#include "core/span.h"

/* What a head line says. */
struct span_head {
	enum span_kind kind;
	bool shared, debug;
	uint64_t trace_id_high;
	struct endpoint local;
};

/* One that was parsed before, with its text. The service is the end of the text; it borrows from another. */
struct known_head {
	struct span_head head;
	uint32_t size; /* 0: none */
	char text[100];
};

struct endpoint_cache;

struct endpoint_cache *endpoint_cache_create(void);
void endpoint_cache_destroy(struct endpoint_cache *cache);

/* Like endpoint_read, but faster. @cache may be NULL. */
bool endpoint_cache_read(
	struct endpoint_cache *cache, struct endpoint *endpoint, const char *at, const char *end);

/* Looks a whole head line up; NULL if it is not there. What is found stays valid, but may become another one.
 */
struct known_head *endpoint_cache_find_head(struct endpoint_cache *cache, struct text line);

/* Keeps one that was parsed. */
void endpoint_cache_keep_head(struct endpoint_cache *cache, const struct span_head *head, struct text line);

#endif
