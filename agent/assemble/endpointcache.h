/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Endpoints as spans' head lines tell them, by their text: a program says the same of itself in every span,
 * and a node's programs are few, so what was read once is mostly not read again.
 */
#ifndef ASSEMBLE_ENDPOINTCACHE_H
#define ASSEMBLE_ENDPOINTCACHE_H

#include "core/span.h"

struct endpoint_cache;

struct endpoint_cache *endpoint_cache_create(void);
void endpoint_cache_destroy(struct endpoint_cache *cache);

/* As span_endpoint_read, the fast way. @cache may be NULL. */
bool endpoint_cache_read(
	struct endpoint_cache *cache, struct endpoint *endpoint, const char *at, const char *end);

#endif
