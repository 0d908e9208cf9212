/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/zipkinplain.h"

#include "encode/wanted.h"

/* So many tags need no memory. */
#define FEW 32

static void put_added(struct span *plain, struct tag *tags, const struct span *span)
{
	struct wanted wanted = want(span->added, span->added_count);

	for (size_t i = 0; i < span->tag_count; i++)
		leave_out(&wanted, span->tags[i].key);
	for (size_t i = 0; i < wanted.count; i++)
		if (is_wanted(&wanted, i))
			tags[plain->tag_count++] = wanted.tags[i];
}

int zipkinplain_encode(struct buffer *out, const struct span *span, zipkinplain_encoder *encode)
{
	size_t most = span->added_count + span->tag_count;
	struct buffer memory = {0};
	struct span plain = *span;
	struct tag few[FEW], *tags = few;
	int repaired;

	if (most > FEW)
		tags = (struct tag *)(void *)buffer_reserve(&memory, most * sizeof(*tags));
	plain.tags = tags;
	plain.tag_count = plain.added_count = 0;
	put_added(&plain, tags, span);
	if (span->tag_count)
		memcpy(tags + plain.tag_count, span->tags, span->tag_count * sizeof(*tags));
	plain.tag_count += span->tag_count;
	repaired = encode(out, &plain);
	buffer_free(&memory);
	return repaired;
}
