/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page through which `blkin sampling` steers running programs: a file of one struct, mapped read-only by
 * every traced program and written in place by the command. Host byte order: it never leaves the node.
 * It must never be truncated, as programs that have it mapped would get SIGBUS; to be rid of it, remove it.
 *
 * A rate 1/N is kept as the threshold that a root's id has to stay below: UINT64_MAX / N. All fields are
 * loaded and stored one at a time, atomically; a service's hash is stored last, and never changes while its
 * threshold counts.
 */
#ifndef SAMPLING_PAGE_H
#define SAMPLING_PAGE_H

#include <stdint.h>

#define SAMPLING_PAGE_FILE "/run/blkin/sampling"
/* Names another file, for tests and for developers; not heeded in a setuid program. */
#define SAMPLING_PAGE_VARIABLE "BLKIN_SAMPLING_PAGE"
#define SAMPLING_PAGE_MAGIC UINT64_C(0x31656c706d617362) /* "bsample1" */
#define SAMPLING_PAGE_SERVICES 200
/* The smallest threshold: it says that nothing is recorded, where 0 says nothing. */
#define SAMPLING_OFF 1

/* A threshold of 0 says nothing: what the program or BLKIN_SAMPLE says counts. */
struct sampling_service {
	uint64_t hash; /* of its name; 0: the entry is free, and so are those behind it */
	uint64_t threshold;
};

struct sampling_page {
	uint64_t magic;
	uint64_t threshold; /* of services that have none of their own */
	uint64_t services;  /* entries in use: 0 spares programs the look */
	struct sampling_service service[SAMPLING_PAGE_SERVICES];
	char names[SAMPLING_PAGE_SERVICES][64]; /* for the command's own list; cut to fit */
};

/* FNV-1a (Fowler, Noll and Vo); never 0. */
static inline uint64_t sampling_hash(const char *name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	return hash ? hash : 1;
}

#endif
