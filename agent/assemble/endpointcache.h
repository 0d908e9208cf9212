/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A cache of endpoints from spans' head lines, by their text: a program has the same endpoint in every span,
 * and a node has few programs, so most endpoints are parsed only once.
 */
#ifndef ASSEMBLE_ENDPOINTCACHE_H
#define ASSEMBLE_ENDPOINTCACHE_H

#include "core/span.h"

struct endpoint_cache;

struct endpoint_cache *endpoint_cache_create(void);
void endpoint_cache_destroy(struct endpoint_cache *cache);

/* Like span_endpoint_read, but faster. @cache may be NULL. */
bool endpoint_cache_read(
	struct endpoint_cache *cache, struct endpoint *endpoint, const char *at, const char *end);

#endif
