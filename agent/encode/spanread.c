/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/spanread.h"

#include <glib.h>

/* Half of what fits, so that times can be added. */
#define TIME_MAX (INT64_MAX / 2)

int64_t spanread_time(int64_t ns)
{
	return CLAMP(ns, 0, TIME_MAX);
}

int64_t spanread_ns(int64_t us)
{
	return us > TIME_MAX / 1000 ? TIME_MAX : us < 0 ? 0 : us * 1000;
}

void spanread_annotation(struct span_memory *memory, int64_t time, struct text value)
{
	const struct annotation annotation = {time, value};

	buffer_put(&memory->annotations, &annotation, sizeof(annotation));
}

void spanread_tag(struct span_memory *memory, const struct tag *tag)
{
	buffer_put(&memory->tags, tag, sizeof(*tag));
}

void spanread_lines(struct span_memory *memory, struct span *span)
{
	span->annotations = (const struct annotation *)(const void *)memory->annotations.data;
	span->annotation_count = memory->annotations.size / sizeof(struct annotation);
	span->tags = (const struct tag *)(const void *)memory->tags.data;
	span->tag_count = memory->tags.size / sizeof(struct tag);
}
