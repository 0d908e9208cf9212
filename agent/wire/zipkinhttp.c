/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/zipkinhttp.h"

#include <stdlib.h>

#include "base/memory.h"
#include "wire/httpreply.h"
#include "wire/tbinary.h"

struct zipkinhttp {
	struct wire wire;
	struct httppost post;
	struct buffer list; /* the spans as a list of JSON */
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

static void put_json(struct zipkinhttp *http, const struct run *run, struct buffer *out)
{
	struct squeeze_piece list;

	put_list(&http->list, run);
	list = (struct squeeze_piece){http->list.data, http->list.size};
	httppost_put(&http->post, &list, 1, out);
}

static void put_thrift(struct zipkinhttp *http, const struct run *run, struct buffer *out)
{
	uint8_t head[TBINARY_LIST_HEAD];
	const struct squeeze_piece pieces[] = {{head, sizeof(head)}, {run->spans, run->size}};

	tbinary_put_list(head, TBINARY_STRUCT, run->count);
	httppost_put(&http->post, pieces, 2, out);
}

static void put_call(struct wire *wire, const struct run *run, int32_t number, struct buffer *out)
{
	struct zipkinhttp *http = (struct zipkinhttp *)wire;

	(void)number;
	if (http->json)
		put_json(http, run, out);
	else
		put_thrift(http, run, out);
}

static enum reply_kind get_reply(struct wire *wire, const uint8_t *data, size_t size, struct reply *reply)
{
	(void)wire;
	return httpreply_read(data, size, reply);
}

static bool ready(struct wire *wire, char *why, size_t size)
{
	return httppost_ready(&((struct zipkinhttp *)wire)->post, why, size);
}

static void destroy(struct wire *wire)
{
	struct zipkinhttp *http = (struct zipkinhttp *)wire;

	httppost_free(&http->post);
	buffer_free(&http->list);
	free(http);
}

struct wire *zipkinhttp_create(const struct httppost_options *options, bool json)
{
	struct httppost_options post = *options;
	struct zipkinhttp *http = memory_get(sizeof(*http));

	http->wire = (struct wire){.put_call = put_call,
		.get_reply = get_reply,
		.ready = ready,
		.destroy = destroy,
		.careful = true,
		.early = true};
	http->json = json;
	post.content_type = json ? "json" : "x-thrift";
	httppost_init(&http->post, &post);
	return &http->wire;
}
