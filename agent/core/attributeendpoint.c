/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/attributeendpoint.h"

#include <stdlib.h>

#include "core/attributenames.h"
#include "core/iptext.h"

/* 0 if it has more than @digits, or is below that. */
static uint32_t number_of(struct text value, size_t digits)
{
	char number[16] = "";

	if (value.size && value.size <= digits && *value.data != '-')
		memcpy(number, value.data, value.size);
	return (uint32_t)strtoul(number, NULL, 10);
}

static uint16_t port_of(struct text value)
{
	return (uint16_t)number_of(value, 7);
}

/* Returns whether the attribute is one of those that the encoder makes of an endpoint. */
static bool take_endpoint(struct endpoint *endpoint, const struct tag *tag, bool address, bool port)
{
	if (address && tag->type == TAG_TEXT)
		return iptext_read(endpoint, tag->value);
	if (!port || tag->type != TAG_INT || port_of(tag->value) == 0)
		return false;
	endpoint->port = port_of(tag->value);
	return true;
}

bool endpoint_take_remote(struct span *span, const struct tag *tag)
{
	bool client = span->kind == SPAN_SERVER,
	     address = text_is(tag->key, client ? OTLP_CLIENT_ADDRESS : OTLP_SERVER_ADDRESS),
	     port = text_is(tag->key, client ? OTLP_CLIENT_PORT : OTLP_SERVER_PORT), taken;

	if (text_is(tag->key, OTLP_PEER_SERVICE) && tag->type == TAG_TEXT) {
		span->remote.service = tag->value;
		taken = true;
	} else {
		taken = take_endpoint(&span->remote, tag, address, port);
	}
	span->has_remote |= taken;
	return taken;
}

bool endpoint_take_process(struct span *span, const struct tag *tag)
{
	if (tag->type >= TAG_BYTES)
		return false;
	if (text_is(tag->key, OTLP_SERVICE))
		span->local.service = tag->value;
	else if (text_is(tag->key, OTLP_PROGRAM))
		span->program = tag->value;
	else if (text_is(tag->key, OTLP_PID) && tag->type == TAG_INT)
		span->pid = number_of(tag->value, 10);
	else
		return take_endpoint(&span->local, tag, text_is(tag->key, OTLP_LOCAL_ADDRESS),
			text_is(tag->key, OTLP_LOCAL_PORT));
	return true;
}
