/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page through which `blkin sampling` controls running programs: a file of one struct, mapped read-only
 * by every traced program and written in place by the command. A user's own is
 * $XDG_RUNTIME_DIR/blkin/sampling. Host byte order: it never leaves the node. It must never be truncated,
 * because programs that have it mapped would get SIGBUS; it may be removed.
 *
 * A rate 1/N is stored as a threshold, UINT64_MAX / N; roots whose id's hash is not above it are recorded.
 * All fields are loaded and stored one at a time, atomically; a service's hash never changes while its
 * threshold is in use. (An entry without one may become another service's.)
 */
#ifndef SAMPLING_PAGE_H
#define SAMPLING_PAGE_H

#include <stdint.h>

#define SAMPLING_PAGE_FILE "/run/blkin/sampling"
/* Names another file, for tests and developers; ignored in a setuid program. */
#define SAMPLING_PAGE_VARIABLE "BLKIN_SAMPLING_PAGE"
#define SAMPLING_PAGE_MAGIC UINT64_C(0x31656c706d617362) /* "bsample1" */
#define SAMPLING_PAGE_SERVICES 200
/* The smallest threshold, which records nothing; 0 means that no rate is set. */
#define SAMPLING_OFF 1

/* A threshold of 0 means no rate: that of the program or BLKIN_SAMPLE applies. */
struct sampling_service {
	uint64_t hash; /* of its name; 0: the entry is free, and so are those behind it */
	uint64_t threshold;
};

struct sampling_page {
	uint64_t magic;
	uint64_t threshold; /* of services without an entry */
	uint64_t services;  /* entries in use; with 0, programs need not search */
	struct sampling_service service[SAMPLING_PAGE_SERVICES];
	char names[SAMPLING_PAGE_SERVICES][64]; /* for the list that the command prints; may be cut off */
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
