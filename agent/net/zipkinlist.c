/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/zipkinlist.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "net/asciijson.h"
#include "net/tbinary.h"

struct zipkinlist {
	struct payload payload;
	bool ascii;
	struct buffer json;              /* the list */
	uint8_t head[TBINARY_LIST_HEAD]; /* of the list in Thrift */
};

/* [SPAN,SPAN]: each comma takes the place of a bracket that is not there. */
static size_t put_json(
	struct payload *payload, const struct run *run, struct squeeze_piece pieces[PAYLOAD_PIECES])
{
	bool ascii = ((struct zipkinlist *)payload)->ascii;
	struct buffer *list = &((struct zipkinlist *)payload)->json;
	const uint8_t *span = run->spans;

	list->size = 0;
	buffer_reserve(list, run->size + run->count + 1);
	for (uint32_t i = 0; i < run->count; span += run->sizes[i++]) {
		buffer_put(list, i ? "," : "[", 1);
		if (ascii)
			asciijson_put(list, span, run->sizes[i]);
		else
			buffer_put(list, span, run->sizes[i]);
	}
	buffer_put(list, "]", 1);
	pieces[0] = (struct squeeze_piece){list->data, list->size};
	return 1;
}

static size_t put_thrift(
	struct payload *payload, const struct run *run, struct squeeze_piece pieces[PAYLOAD_PIECES])
{
	struct zipkinlist *list = (struct zipkinlist *)payload;

	tbinary_put_list(list->head, TBINARY_STRUCT, run->count);
	pieces[0] = (struct squeeze_piece){list->head, sizeof(list->head)};
	pieces[1] = (struct squeeze_piece){run->spans, run->size};
	return 2;
}

static void destroy(struct payload *payload)
{
	struct zipkinlist *list = (struct zipkinlist *)payload;

	buffer_free(&list->json);
	free(list);
}

struct payload *zipkinlist_create(enum zipkinlist_kind kind)
{
	bool json = kind != ZIPKINLIST_THRIFT;
	struct zipkinlist *list = memory_get(sizeof(*list));

	list->payload = (struct payload){.put = json ? put_json : put_thrift,
		.destroy = destroy,
		.content_type = json ? "json" : "x-thrift"};
	list->ascii = kind == ZIPKINLIST_ASCII_JSON;
	return &list->payload;
}
