/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/server/calls.h"

#include <stdlib.h>

#include <glib.h>

#include "base/memory.h"

void calls_init(struct calls *calls, uint32_t room, struct wire *wire)
{
	memset(calls, 0, sizeof(*calls));
	calls->ring = memory_get(room * sizeof(*calls->ring));
	calls->room = room;
	calls->number = 1;
	calls->wire = wire;
}

void calls_free(struct calls *calls)
{
	for (uint32_t i = 0; i < calls->room; i++)
		buffer_free(&calls->ring[i].bytes);
	for (uint32_t i = 0; i < calls->spares; i++)
		buffer_free(&calls->spare[i]);
	free(calls->ring);
	memset(calls, 0, sizeof(*calls));
}

static struct call *call_at(const struct calls *calls, uint32_t index)
{
	return &calls->ring[(calls->first + index) % calls->room];
}

size_t calls_send(struct calls *calls, const struct run *run, void *cargo, struct evbuffer *output)
{
	struct call *call = call_at(calls, calls->open);

	call->cargo = cargo;
	call->number = calls->number;
	calls->number = calls->number == INT32_MAX ? 1 : calls->number + 1;
	/* The most recently returned first: it is the most likely to be in the CPU's cache. */
	if (calls->spares > 0)
		call->bytes = calls->spare[--calls->spares];
	calls->wire->put_call(calls->wire, run, call->number, &call->bytes);
	calls->bytes += call->bytes.size;
	calls->open++;
	if (evbuffer_add_reference(output, call->bytes.data, call->bytes.size, NULL, NULL) < 0)
		g_error("out of memory");
	return call->bytes.size;
}

const char *calls_mismatch(const struct calls *calls, enum reply_kind kind, const struct reply *reply,
	size_t unsent, bool *early)
{
	const struct call *oldest = call_at(calls, 0);
	bool numbered = calls->wire->numbered;

	*early = false;
	if (calls->open == 0 || (numbered && oldest->number != reply->number))
		return "the peer sent an answer without a call";
	*early = unsent > calls->bytes - oldest->bytes.size;
	if (*early && (!calls->wire->early || kind == REPLY_GOOD))
		return "the peer answered a call before it was sent completely";
	return NULL;
}

void *calls_oldest(const struct calls *calls)
{
	return calls->open ? call_at(calls, 0)->cargo : NULL;
}

static void *end_call(struct calls *calls, struct call *call)
{
	calls->bytes -= call->bytes.size;
	calls->open--;
	call->bytes.size = 0;
	if (calls->spares < CALLS_SPARE && call->bytes.room <= CALLS_SPARE_BYTES)
		calls->spare[calls->spares++] = call->bytes;
	else
		buffer_free(&call->bytes);
	memset(&call->bytes, 0, sizeof(call->bytes));
	return call->cargo;
}

void *calls_end_oldest(struct calls *calls)
{
	struct call *call = call_at(calls, 0);

	calls->first = (calls->first + 1) % calls->room;
	return end_call(calls, call);
}

void *calls_end_youngest(struct calls *calls, size_t *unsent, bool *whole)
{
	struct call *call;

	if (calls->open == 0)
		return NULL;
	call = call_at(calls, calls->open - 1);
	/* A call that was not sent completely cannot have been accepted; any other may arrive twice. */
	*whole = *unsent == 0;
	*unsent -= MIN(*unsent, call->bytes.size);
	return end_call(calls, call);
}
