/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/zipkinhttp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "wire/httpreply.h"
#include "wire/tbinary.h"

/* Digits of a Content-Length, which is known last; filled up with blanks. */
#define LENGTH_DIGITS 10

struct zipkinhttp {
	struct wire wire;
	struct buffer head; /* of each request, to where the length goes */
	struct buffer list; /* the spans as a list of JSON */
	struct squeeze *squeeze;
	bool json;
};

/* [SPAN,SPAN]: each comma takes the place of a bracket that is not there. */
static void put_list(struct buffer *list, const struct run *run)
{
	const uint8_t *span = run->spans;

	list->size = 0;
	buffer_reserve(list, run->size + run->count + 1);
	for (uint32_t i = 0; i < run->count; span += run->sizes[i++]) {
		buffer_put(list, i ? "," : "[", 1);
		buffer_put(list, span, run->sizes[i]);
	}
	buffer_put(list, "]", 1);
}

static void put_body(struct zipkinhttp *http, const struct run *run, struct buffer *out)
{
	uint8_t head[TBINARY_LIST_HEAD];

	if (http->json) {
		put_list(&http->list, run);
		squeeze_put(http->squeeze, &(struct squeeze_piece){http->list.data, http->list.size}, 1, out);
	} else {
		tbinary_put_list(head, TBINARY_STRUCT, run->count);
		squeeze_put(http->squeeze,
			(struct squeeze_piece[]){{head, sizeof(head)}, {run->spans, run->size}}, 2, out);
	}
}

static void put_call(struct wire *wire, const struct run *run, int32_t number, struct buffer *out)
{
	struct zipkinhttp *http = (struct zipkinhttp *)wire;
	char length[LENGTH_DIGITS + 5];
	size_t body;

	(void)number;
	buffer_put(out, http->head.data, http->head.size);
	out->size += sizeof(length) - 1;
	body = out->size;
	put_body(http, run, out);
	snprintf(length, sizeof(length), "%*zu\r\n\r\n", LENGTH_DIGITS, out->size - body);
	memcpy(out->data + http->head.size, length, sizeof(length) - 1);
}

static enum reply_kind get_reply(struct wire *wire, const uint8_t *data, size_t size, struct reply *reply)
{
	(void)wire;
	return httpreply_read(data, size, reply);
}

static void destroy(struct wire *wire)
{
	struct zipkinhttp *http = (struct zipkinhttp *)wire;

	squeeze_destroy(http->squeeze);
	buffer_free(&http->head);
	buffer_free(&http->list);
	free(http);
}

struct wire *zipkinhttp_create(const struct zipkinhttp_options *options)
{
	struct zipkinhttp *http = memory_get(sizeof(*http));
	char server[ADDRESS_TEXT];

	http->wire = (struct wire){.put_call = put_call,
		.get_reply = get_reply,
		.destroy = destroy,
		.careful = true,
		.early = true};
	http->json = options->json;
	http->squeeze = squeeze_create(options->compression);
	address_print(options->server, server);
	buffer_printf(&http->head,
		"POST %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: blkin-agent/%s\r\nContent-Type: "
		"application/%s\r\n",
		options->path, server, BLKIN_VERSION, http->json ? "json" : "x-thrift");
	if (squeeze_encoding(http->squeeze))
		buffer_printf(&http->head, "Content-Encoding: %s\r\n", squeeze_encoding(http->squeeze));
	buffer_printf(&http->head, "Content-Length: ");
	return &http->wire;
}
