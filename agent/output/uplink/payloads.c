/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/uplink/payloads.h"

#include <stdlib.h>

#include <glib.h>

#include "base/memory.h"
#include "encode/messagelog.h"
#include "net/otlprequest.h"
#include "net/zipkinlist.h"

struct logs {
	struct payload payload;
	struct payload *request;
	struct buffer items, sizes; /* of the last run, as log records */
};

static size_t put(struct payload *payload, const struct run *run, struct squeeze_piece pieces[PAYLOAD_PIECES])
{
	struct logs *logs = (struct logs *)payload;
	const uint8_t *at = run->spans;
	struct run records = {.count = run->count};

	logs->items.size = logs->sizes.size = 0;
	for (uint32_t i = 0; i < run->count; at += run->sizes[i++]) {
		size_t before = logs->items.size;
		struct message message;
		uint32_t size;

		message_read(at, run->sizes[i], &message);
		messagelog_put(&logs->items, &message);
		size = (uint32_t)(logs->items.size - before);
		buffer_put(&logs->sizes, &size, sizeof(size));
	}
	records.spans = logs->items.data;
	records.sizes = (const uint32_t *)(const void *)logs->sizes.data;
	records.size = logs->items.size;
	return logs->request->put(logs->request, &records, pieces);
}

static void destroy(struct payload *payload)
{
	struct logs *logs = (struct logs *)payload;

	logs->request->destroy(logs->request);
	buffer_free(&logs->items);
	buffer_free(&logs->sizes);
	free(logs);
}

struct payload *payload_create_logs(const char *host)
{
	struct logs *logs = memory_get(sizeof(*logs));

	logs->request = otlprequest_create(host);
	logs->payload =
		(struct payload){.put = put, .destroy = destroy, .content_type = logs->request->content_type};
	return &logs->payload;
}

/* What Zipkin unpacks has to be in ASCII: asciijson.h. */
static enum zipkinlist_kind list_kind(enum batch_format format, bool gzipped)
{
	if (format != BATCH_ZIPKIN_JSON)
		return ZIPKINLIST_THRIFT;
	return gzipped ? ZIPKINLIST_ASCII_JSON : ZIPKINLIST_JSON;
}

struct payload *payload_create(enum batch_format format, bool gzipped)
{
	if (format == BATCH_OTLP_SPANS || format == BATCH_EVENT_OTLP)
		return otlprequest_create(g_get_host_name());
	if (format == BATCH_MESSAGES)
		return payload_create_logs(g_get_host_name());
	return zipkinlist_create(list_kind(format, gzipped));
}
