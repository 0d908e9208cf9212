/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/assemble/pending.h"

#include <glib.h>

struct pending *pending_create(const struct pending_key *key)
{
	struct pending *pending = g_malloc0(sizeof(*pending) + key->service.size);
	char *service = (char *)(pending + 1);

	memcpy(service, key->service.data, key->service.size);
	pending->key = *key;
	pending->key.service.data = service;
	return pending;
}

void pending_destroy(struct pending *pending)
{
	buffer_free(&pending->text);
	buffer_free(&pending->annotations);
	buffer_free(&pending->tags);
	g_free(pending);
}

size_t pending_bytes(const struct pending *pending)
{
	return sizeof(*pending) + pending->key.service.size + pending->text.room + pending->annotations.room +
	       pending->tags.room;
}

struct slice pending_keep(struct pending *pending, struct text text)
{
	struct slice slice = {(uint32_t)pending->text.size, text.size};

	buffer_put(&pending->text, text.data, text.size);
	return slice;
}

void pending_annotate(struct pending *pending, int64_t time, struct text value)
{
	struct pending_annotation annotation = {time, pending_keep(pending, value)};

	buffer_put(&pending->annotations, &annotation, sizeof(annotation));
}

void pending_tag(struct pending *pending, const struct tag *tag)
{
	struct pending_tag kept = {
		pending_keep(pending, tag->key), pending_keep(pending, tag->value), tag->type};

	buffer_put(&pending->tags, &kept, sizeof(kept));
}
