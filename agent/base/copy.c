/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/copy.h"

typedef uint64_t pair __attribute__((vector_size(16)));

static inline pair copy_pair(char *to, const char *from)
{
	pair both;

	memcpy(&both, from, sizeof(both));
	memcpy(to, &both, sizeof(both));
	return both;
}

uint64_t copy_long(char *to, const char *from, size_t size)
{
	size_t last = size - sizeof(pair);
	pair bits = copy_pair(to + last, from + last);

	for (size_t at = 0; at < last; at += sizeof(pair))
		bits |= copy_pair(to + at, from + at);
	return bits[0] | bits[1];
}
