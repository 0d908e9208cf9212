/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/repair.h"

#include "base/utf8.h"

/* Where the repaired texts go: there is room for all. */
struct repair {
	char *at;
	unsigned repaired;
};

static void repair(struct repair *repair, struct text *text)
{
	size_t size;

	if (utf8_valid(text->data, text->size))
		return;
	size = utf8_repair(repair->at, text->data, text->size);
	*text = (struct text){repair->at, (uint32_t)size};
	repair->at += size;
	repair->repaired++;
}

static size_t text_bytes(const struct span *span)
{
	size_t bytes =
		span->name.size + span->program.size + span->local.service.size + span->remote.service.size;

	for (size_t i = 0; i < span->annotation_count; i++)
		bytes += span->annotations[i].value.size;
	for (size_t i = 0; i < span->tag_count; i++)
		bytes += span->tags[i].key.size + span->tags[i].value.size;
	return bytes;
}

unsigned span_repair(const struct span *from, struct span *to, struct buffer *memory)
{
	size_t annotations = from->annotation_count * sizeof(struct annotation),
	       tags = from->tag_count * sizeof(struct tag);
	struct annotation *its_annotations;
	struct repair texts = {0};
	struct tag *its_tags;

	memory->size = 0;
	buffer_reserve(memory, annotations + tags + UTF8_REPAIRED_MAX(text_bytes(from)));
	its_annotations = (struct annotation *)(void *)memory->data;
	its_tags = (struct tag *)(void *)(memory->data + annotations);
	texts.at = (char *)memory->data + annotations + tags;
	*to = *from;
	to->annotations = its_annotations;
	to->tags = its_tags;
	repair(&texts, &to->name);
	repair(&texts, &to->program);
	repair(&texts, &to->local.service);
	repair(&texts, &to->remote.service);
	for (size_t i = 0; i < from->annotation_count; i++) {
		its_annotations[i] = from->annotations[i];
		repair(&texts, &its_annotations[i].value);
	}
	for (size_t i = 0; i < from->tag_count; i++) {
		its_tags[i] = from->tags[i];
		repair(&texts, &its_tags[i].key);
		repair(&texts, &its_tags[i].value);
	}
	return texts.repaired;
}
