/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/file/lines.h"

#include <glib.h>

#include "encode/messagejson.h"
#include "encode/otlpjson.h"
#include "net/otlprequest.h"

void filelines_init(struct filelines *lines, enum batch_format format)
{
	*lines = (struct filelines){0};
	if (format == BATCH_OTLP_SPANS)
		lines->payload = otlprequest_create(g_get_host_name());
	lines->messages = format == BATCH_MESSAGES;
}

void filelines_free(struct filelines *lines)
{
	filelines_clear(lines);
	if (lines->payload)
		lines->payload->destroy(lines->payload);
	*lines = (struct filelines){0};
}

void filelines_clear(struct filelines *lines)
{
	batch_unref(lines->lines);
	lines->lines = NULL;
}

/* Appends the item: as a request of its own, or as a message. */
static void put(struct filelines *lines, struct buffer *out, const uint8_t *item, uint32_t size)
{
	const struct run run = {item, &size, 1, size};
	struct squeeze_piece pieces[PAYLOAD_PIECES];
	struct message message;

	if (lines->messages) {
		if (message_read(item, size, &message))
			messagejson_put(out, &message);
		return;
	}
	lines->payload->put(lines->payload, &run, pieces);
	otlpjson_put(out, pieces[0].data, pieces[0].size);
}

const struct batch *filelines_of(struct filelines *lines, const struct batch *batch)
{
	const uint8_t *item = batch->spans.data;
	struct buffer line = {0};

	if (!lines->payload && !lines->messages)
		return batch;
	filelines_clear(lines);
	lines->lines = batch_create(batch->format, batch->count, 5 * batch->spans.size);
	for (uint32_t i = 0; i < batch->count; i++) {
		uint32_t size = batch_sizes(batch)[i];

		line.size = 0;
		if (size)
			put(lines, &line, item, size);
		batch_add(lines->lines, line.data, line.size, batch_events(batch)[i]);
		item += size;
	}
	buffer_free(&line);
	return lines->lines;
}
