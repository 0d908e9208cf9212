/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/otlpours.h"

#include <stdio.h>

#include <glib.h>

#include "encode/terms.h"
#include "net/otlpfields.h"

/* The remote endpoint's, and two flags. */
#define MADE 5

static void add(struct otlpours *ours, const char *key, struct text value, enum tag_type type)
{
	for (size_t i = 0; i < ours->span.tag_count; i++)
		if (text_is(ours->tags[i].key, key))
			return;
	ours->tags[ours->span.tag_count++] = (struct tag){{key, (uint32_t)strlen(key)}, value, type};
}

static void add_remote(struct otlpours *ours, const struct endpoint *remote, bool client)
{
	char *end;
	int size;

	if (remote->service.size)
		add(ours, OTLP_PEER_SERVICE, remote->service, TAG_TEXT);
	if (remote->address_size) {
		end = iptext_put(ours->address, remote);
		add(ours, client ? OTLP_CLIENT_ADDRESS : OTLP_SERVER_ADDRESS,
			(struct text){ours->address, (uint32_t)(end - ours->address)}, TAG_TEXT);
	}
	if (remote->port) {
		size = snprintf(ours->port, sizeof(ours->port), "%u", remote->port);
		add(ours, client ? OTLP_CLIENT_PORT : OTLP_SERVER_PORT,
			(struct text){ours->port, (uint32_t)size}, TAG_INT);
	}
}

/* "true" is what a program says that knows no reason. */
static void take_error(struct otlpours *ours, struct text value)
{
	if (ours->more.status != SPAN_STATUS_UNSET)
		return;
	ours->more.status = SPAN_STATUS_ERROR;
	ours->more.status_message = text_is(value, "true") ? (struct text){"", 0} : value;
}

static void take_tags(struct otlpours *ours, const struct span *span)
{
	for (size_t i = 0; i < span->tag_count; i++) {
		if (!terms_tag_counts(span, i))
			continue;
		if (text_is(span->tags[i].key, "error"))
			take_error(ours, span->tags[i].value);
		else
			ours->tags[ours->span.tag_count++] = span->tags[i];
	}
}

void otlpours_make(struct otlpours *ours, const struct span *span)
{
	static const struct text yes = {"true", 4};

	ours->span = *span;
	ours->more = *span->more;
	ours->tags = g_new(struct tag, span->tag_count + MADE);
	ours->span.tag_count = 0;
	take_tags(ours, span);
	if (span->has_remote)
		add_remote(ours, &span->remote, span->kind == SPAN_SERVER);
	if (span->shared)
		add(ours, OTLP_SHARED, yes, TAG_BOOL);
	if (span->debug)
		add(ours, OTLP_DEBUG, yes, TAG_BOOL);
	ours->more.flags |= OTLP_SAMPLED;
	ours->span.tags = ours->tags;
	ours->span.more = &ours->more;
}

void otlpours_free(struct otlpours *ours)
{
	g_free(ours->tags);
}
