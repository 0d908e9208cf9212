/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/spanread.h"

void spanread_free(struct spanread_memory *memory)
{
	buffer_free(&memory->annotations);
	buffer_free(&memory->tags);
	buffer_free(&memory->texts);
}

void spanread_clear(struct spanread_memory *memory)
{
	memory->annotations.size = memory->tags.size = memory->texts.size = 0;
}

void spanread_annotation(struct spanread_memory *memory, int64_t time, struct text value)
{
	const struct annotation annotation = {time, value};

	buffer_put(&memory->annotations, &annotation, sizeof(annotation));
}

void spanread_tag(struct spanread_memory *memory, struct text key, struct text value)
{
	const struct tag tag = {key, value};

	buffer_put(&memory->tags, &tag, sizeof(tag));
}

void spanread_lines(struct spanread_memory *memory, struct span *span)
{
	span->annotations = (const struct annotation *)(const void *)memory->annotations.data;
	span->annotation_count = memory->annotations.size / sizeof(struct annotation);
	span->tags = (const struct tag *)(const void *)memory->tags.data;
	span->tag_count = memory->tags.size / sizeof(struct tag);
}
