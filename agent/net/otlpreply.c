/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/otlpreply.h"

#include <glib.h>

#include "base/sanitize.h"
#include "net/httpreply.h"
#include "net/otlpfields.h"
#include "net/protobuf.h"

/* The text that is the field @number of a message; empty if there is none. */
static struct protobuf_field find_text(struct protobuf_reader from, uint32_t number)
{
	struct protobuf_field field, found = {0};

	while (protobuf_next(&from, &field))
		if (field.number == number && field.type == PROTOBUF_BYTES)
			found = field;
	if (from.failed)
		found.size = 0;
	return found;
}

/*
 * The fields of the one message that a response is, as far as they are there: of a long response the end may
 * be missing, and what it says first is what counts.
 */
static struct protobuf_reader open_response(const struct httpmessage *http)
{
	struct protobuf_reader from = protobuf_read(http->body, http->body_size);
	size_t head = 1;

	if (from.at == from.end || *from.at != (RESPONSE_PARTIAL_SUCCESS << 3 | PROTOBUF_BYTES))
		return protobuf_read(NULL, 0);
	while (from.at + head < from.end && from.at[head] > 0x7f)
		head++;
	from.at += MIN(head + 1, (size_t)(from.end - from.at));
	return from;
}

/* What the server took is not kept in part: ExportTracePartialSuccess. */
static void read_partial_success(const struct httpmessage *http, struct reply *reply)
{
	struct protobuf_reader from = open_response(http);
	struct protobuf_field field;

	while (protobuf_next(&from, &field)) {
		if (field.number == PARTIAL_SUCCESS_REJECTED && field.type == PROTOBUF_VARINT)
			reply->lost = (int64_t)field.value > 0 ? field.value : 0;
		else if (field.number == PARTIAL_SUCCESS_MESSAGE && field.type == PROTOBUF_BYTES)
			words_copy(reply->words, sizeof(reply->words), field.bytes, field.size);
	}
}

/* Of the statuses from 500 on, the specification has us try again after these only. */
static bool may_try_again(int status)
{
	return status < 500 || status == 502 || status == 503 || status == 504;
}

enum reply_kind otlpreply_read(const uint8_t *data, size_t size, struct reply *reply)
{
	struct httpmessage http = {0};
	enum reply_kind kind = httpreply_parse(data, size, reply, &http);
	struct protobuf_field message;

	if (!http.status)
		return kind;
	if (kind == REPLY_GOOD) {
		read_partial_success(&http, reply);
		return kind;
	}
	/* a page is the proxy's own, which has no connection to the server */
	if (kind == REPLY_PUT_OFF && !may_try_again(http.status) && !(reply->by_proxy && http.html))
		kind = REPLY_REFUSED;
	message = find_text(protobuf_read(http.body, http.body_size), RPC_STATUS_MESSAGE);
	if (message.size)
		httpreply_say(reply, &http, true, message.bytes, message.size);
	else
		httpreply_say(reply, &http, true, http.body, http.body_size);
	return kind;
}
