/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/zipkinhttp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>
#include <zlib.h>

#include "base/memory.h"
#include "wire/httpreply.h"
#include "wire/tbinary.h"

/* Digits of a Content-Length, which is known last; filled up with blanks. */
#define LENGTH_DIGITS 10
/* zlib's number for gzip's format with the largest window. */
#define GZIP_WINDOW (15 + 16)

struct zipkinhttp {
	struct wire wire;
	struct buffer head; /* of each request, to where the length goes */
	struct buffer list; /* the spans as a list of JSON */
	z_stream zip;
	bool json, gzip;
};

/* A body, in pieces. */
struct body {
	struct piece_of_body {
		const uint8_t *data;
		size_t size;
	} head, spans;
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

static void squeeze(z_stream *zip, const uint8_t *from, size_t size, int flush)
{
	zip->next_in = (uint8_t *)from; /* which it does not write to */
	zip->avail_in = (uInt)size;
	/* There is room for all, so it does all. */
	if (deflate(zip, flush) == Z_STREAM_ERROR || zip->avail_in > 0)
		g_error("zlib does not compress");
}

static void put_zipped(struct zipkinhttp *http, const struct body *body, struct buffer *out)
{
	z_stream *zip = &http->zip;
	size_t room;

	deflateReset(zip);
	room = deflateBound(zip, body->head.size + body->spans.size);
	zip->next_out = buffer_reserve(out, room);
	zip->avail_out = (uInt)room;
	squeeze(zip, body->head.data, body->head.size, Z_NO_FLUSH);
	squeeze(zip, body->spans.data, body->spans.size, Z_FINISH);
	out->size += room - zip->avail_out;
}

static void put_plain(const struct body *body, struct buffer *out)
{
	buffer_reserve(out, body->head.size + body->spans.size);
	buffer_put(out, body->head.data, body->head.size);
	buffer_put(out, body->spans.data, body->spans.size);
}

static void put_body(struct zipkinhttp *http, const struct run *run, struct buffer *out)
{
	uint8_t head[TBINARY_LIST_HEAD];
	struct body body = {{head, sizeof(head)}, {run->spans, run->size}};

	if (http->json) {
		put_list(&http->list, run);
		body = (struct body){{NULL, 0}, {http->list.data, http->list.size}};
	} else {
		tbinary_put_list(head, TBINARY_STRUCT, run->count);
	}
	if (http->gzip)
		put_zipped(http, &body, out);
	else
		put_plain(&body, out);
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

	if (http->gzip)
		deflateEnd(&http->zip);
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
	http->gzip = options->gzip;
	address_print(options->server, server);
	buffer_printf(&http->head,
		"POST %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: blkin-agent/%s\r\n"
		"Content-Type: application/%s\r\n%sContent-Length: ",
		options->path, server, BLKIN_VERSION, http->json ? "json" : "x-thrift",
		http->gzip ? "Content-Encoding: gzip\r\n" : "");
	/* The quickest level: spans are so alike that the others gain little and take long. */
	if (http->gzip && deflateInit2(&http->zip, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, 8,
				  Z_DEFAULT_STRATEGY) != Z_OK)
		g_error("out of memory");
	return &http->wire;
}
