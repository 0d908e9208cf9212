/* SPDX-License-Identifier: BSD-2-Clause */
/* Of tags that are to be added to a span, of which there are few, those of which it has none of its own. */
#ifndef ENCODE_WANTED_H
#define ENCODE_WANTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/span.h"

struct wanted {
	const struct tag *tags;
	size_t count;
	uint64_t bits; /* one for each */
};

static inline struct wanted want(const struct tag *tags, size_t count)
{
	return (struct wanted){tags, count, count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX};
}

static inline bool is_wanted(const struct wanted *wanted, size_t tag)
{
	return wanted->bits >> tag & 1;
}

static inline void leave_out(struct wanted *wanted, struct text key)
{
	for (size_t i = 0; i < wanted->count; i++)
		if (wanted->tags[i].key.size == key.size &&
			!memcmp(wanted->tags[i].key.data, key.data, key.size))
			wanted->bits &= ~(UINT64_C(1) << i);
}

#endif
