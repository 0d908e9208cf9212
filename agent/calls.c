/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls.h"

#include <glib.h>

#include "scribe.h"

void calls_init(struct calls *calls, uint32_t room, const char *category)
{
	memset(calls, 0, sizeof(*calls));
	calls->ring = g_new0(struct call, room);
	calls->room = room;
	calls->seqid = 1;
	calls->category = category;
}

void calls_free(struct calls *calls)
{
	for (uint32_t i = 0; i < calls->room; i++)
		buffer_free(&calls->ring[i].entries);
	g_free(calls->ring);
	memset(calls, 0, sizeof(*calls));
}

static struct call *call_at(const struct calls *calls, uint32_t index)
{
	return &calls->ring[(calls->first + index) % calls->room];
}

/* Wraps the batch's spans for the wire. */
static void wrap(struct buffer *entries, const char *category, const struct batch *batch)
{
	const uint32_t *sizes = batch_sizes(batch);
	const uint8_t *span = batch->spans.data;
	size_t category_size = strlen(category);

	entries->size = 0;
	for (uint32_t i = 0; i < batch->count; span += sizes[i++])
		scribe_put_entry(entries, category, category_size, span, sizes[i]);
}

void calls_send(struct calls *calls, struct batch *batch, struct evbuffer *output)
{
	struct call *call = call_at(calls, calls->open);
	uint8_t head[SCRIBE_HEAD_SIZE], tail[SCRIBE_TAIL_SIZE];

	call->batch = batch;
	call->seqid = calls->seqid;
	wrap(&call->entries, calls->category, batch);
	call->size = sizeof(head) + call->entries.size + sizeof(tail);
	calls->seqid = calls->seqid == INT32_MAX ? 1 : calls->seqid + 1;
	calls->bytes += call->size;
	calls->open++;
	scribe_put_head(head, call->seqid, batch->count, call->entries.size);
	scribe_put_tail(tail);
	if (evbuffer_add(output, head, sizeof(head)) < 0 ||
		evbuffer_add_reference(output, call->entries.data, call->entries.size, NULL, NULL) < 0 ||
		evbuffer_add(output, tail, sizeof(tail)) < 0)
		g_error("out of memory");
}

const char *calls_mismatch(const struct calls *calls, int32_t seqid, size_t unsent)
{
	const char *why = NULL;

	if (calls->open == 0 || call_at(calls, 0)->seqid != seqid)
		why = "the peer answers a call that was not made";
	else if (unsent > calls->bytes - call_at(calls, 0)->size)
		why = "the peer answers a call before it got all of it";
	return why;
}

struct batch *calls_end_oldest(struct calls *calls)
{
	struct call *call = call_at(calls, 0);

	calls->bytes -= call->size;
	calls->first = (calls->first + 1) % calls->room;
	calls->open--;
	return call->batch;
}

struct batch *calls_end_youngest(struct calls *calls, size_t *unsent)
{
	struct call *call;

	if (calls->open == 0)
		return NULL;
	call = call_at(calls, --calls->open);
	calls->bytes -= call->size;
	/* A call that did not go out whole cannot have been taken; any other may arrive twice. */
	call->batch->sent_before = *unsent == 0;
	*unsent -= MIN(*unsent, call->size);
	return call->batch;
}
