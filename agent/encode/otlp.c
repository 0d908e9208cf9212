/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/otlp.h"

#include "base/shortest.h"
#include "core/iptext.h"
#include "core/repair.h"
#include "encode/otlpours.h"
#include "encode/otlpput.h"
#include "encode/otlpwhole.h"
#include "encode/terms.h"
#include "encode/wanted.h"
#include "net/otlpattribute.h"
#include "net/otlpitem.h"

/* Size of everything except texts: in a span, and in an annotation or tag. */
#define SPAN_ROOM 768
#define ITEM_ROOM 48

/* Tags */

/* What is not finite is a text: there are servers that store such a number, and then cannot show the trace.
 */
static void put_real(struct encoding *encoding, uint32_t field, struct text key, double value)
{
	const char *word = shortest_word(value);

	if (word)
		put_string(encoding, field, key, (struct text){word, (uint32_t)strlen(word)});
	else
		put_double(encoding, field, key, value);
}

static inline void put_tag(struct encoding *encoding, const struct tag *tag)
{
	switch (tag->type) {
	case TAG_INT:
		put_int(encoding, SPAN_ATTRIBUTES, tag->key, int_of(tag->value));
		break;
	case TAG_DOUBLE:
		put_real(encoding, SPAN_ATTRIBUTES, tag->key, double_of(tag->value));
		break;
	case TAG_BOOL:
		put_bool(encoding, SPAN_ATTRIBUTES, tag->key, bool_of(tag->value));
		break;
	default:
		put_string(encoding, SPAN_ATTRIBUTES, tag->key, tag->value);
	}
}

static bool is_error(const struct tag *tag)
{
	return text_is(tag->key, "error");
}

/* Returns the tag `error`, which is no attribute; NULL: there is none. */
static const struct tag *put_tags(struct encoding *encoding, const struct span *span)
{
	const struct tag *error = NULL;

	for (size_t i = 0; i < span->tag_count; i++) {
		if (!terms_tag_counts(span, i))
			continue;
		if (is_error(&span->tags[i]))
			error = &span->tags[i];
		else
			put_tag(encoding, &span->tags[i]);
	}
	return error;
}

static bool has_tag(const struct span *span, struct text key)
{
	for (size_t i = 0; i < span->tag_count; i++)
		if (text_is_equal(span->tags[i].key, key))
			return true;
	return false;
}

static void put_address(
	struct encoding *encoding, uint32_t field, struct text key, const struct endpoint *endpoint)
{
	char text[IPTEXT_MAX];
	size_t size = (size_t)(iptext_put(text, endpoint) - text);

	put_string(encoding, field, key, (struct text){text, (uint32_t)size});
}

static __attribute__((noinline)) void put_remote(
	struct encoding *encoding, const struct span *span, enum span_kind kind)
{
	const struct endpoint *remote = &span->remote;
	bool client = kind == SPAN_SERVER;
	struct text service = LITERAL(OTLP_PEER_SERVICE),
		    address = client ? LITERAL(OTLP_CLIENT_ADDRESS) : LITERAL(OTLP_SERVER_ADDRESS),
		    port = client ? LITERAL(OTLP_CLIENT_PORT) : LITERAL(OTLP_SERVER_PORT);

	if (remote->service.size && !has_tag(span, service))
		put_string(encoding, SPAN_ATTRIBUTES, service, remote->service);
	if (remote->address_size && !has_tag(span, address))
		put_address(encoding, SPAN_ATTRIBUTES, address, remote);
	if (remote->port && !has_tag(span, port))
		put_int(encoding, SPAN_ATTRIBUTES, port, remote->port);
}

/* The span */

static void put_events(struct encoding *encoding, const struct span *span, enum span_kind kind)
{
	for (size_t i = 0; i < span->annotation_count; i++) {
		const struct annotation *annotation = &span->annotations[i];

		if (terms_say(span, kind, annotation))
			continue;
		encoding->at = protobuf_put_head(encoding->at, SPAN_EVENTS, 9 + name_size(annotation->value));
		encoding->at = protobuf_put_i64(encoding->at, EVENT_TIME, (uint64_t)annotation->time);
		put_name(encoding, EVENT_NAME, annotation->value);
	}
}

/* "true" is what a program says that knows no reason. */
static void put_status(struct encoding *encoding, struct text reason)
{
	size_t message = reason.size && !text_is(reason, "true") ? protobuf_bytes_size(reason.size) : 0;

	encoding->at = protobuf_put_head(encoding->at, SPAN_STATUS, message + 2);
	if (message)
		put_text_field(encoding, STATUS_MESSAGE, reason);
	put_varint(encoding, STATUS_CODE, STATUS_ERROR);
}

static void put_ids(struct encoding *encoding, const struct span *span)
{
	uint8_t *to = protobuf_put_head(encoding->at, SPAN_TRACE_ID, 16);

	to = put_id(put_id(to, span->trace_id_high), span->trace_id);
	to = put_id(protobuf_put_head(to, SPAN_ID, 8), span->id);
	if (span->parent_id)
		to = put_id(protobuf_put_head(to, SPAN_PARENT_ID, 8), span->parent_id);
	encoding->at = to;
}

static void put_span(struct encoding *encoding, const struct span *span)
{
	static const uint8_t kinds[] = {
		OTLP_INTERNAL, OTLP_CLIENT, OTLP_SERVER, OTLP_PRODUCER, OTLP_CONSUMER};
	enum span_kind kind = terms_kind(span);
	const struct tag *error;

	put_ids(encoding, span);
	put_name(encoding, SPAN_NAME, span->name);
	put_varint(encoding, SPAN_KIND, kinds[kind]);
	encoding->at = protobuf_put_i64(encoding->at, SPAN_START, (uint64_t)span->timestamp);
	encoding->at = protobuf_put_i64(encoding->at, SPAN_END, (uint64_t)span_end(span));
	error = put_tags(encoding, span);
	if (span->has_remote)
		put_remote(encoding, span, kind);
	if (span->shared)
		put_bool(encoding, SPAN_ATTRIBUTES, LITERAL(OTLP_SHARED), true);
	if (span->debug)
		put_bool(encoding, SPAN_ATTRIBUTES, LITERAL(OTLP_DEBUG), true);
	put_events(encoding, span, kind);
	if (error)
		put_status(encoding, error->value);
	encoding->at = protobuf_put_i32(encoding->at, SPAN_FLAGS, OTLP_SAMPLED);
}

/* The process */

/* What the wire puts into each resource (net/otlprequest.c), and what put_process has. */
static void leave_out_own(struct wanted *wanted, const struct span *span)
{
	static const char *const keys[] = {OTLP_HOST, OTLP_SDK_NAME, OTLP_SDK_LANGUAGE, OTLP_SDK_VERSION,
		OTLP_INSTANCE, OTLP_PID, OTLP_SERVICE};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		leave_out(wanted, (struct text){keys[i], (uint32_t)strlen(keys[i])});
	if (span->program.size)
		leave_out(wanted, LITERAL(OTLP_PROGRAM));
	if (span->local.address_size)
		leave_out(wanted, LITERAL(OTLP_LOCAL_ADDRESS));
	if (span->local.port)
		leave_out(wanted, LITERAL(OTLP_LOCAL_PORT));
}

static __attribute__((noinline)) void put_added(struct encoding *encoding, const struct span *span)
{
	struct wanted wanted = want(span->added, span->added_count);

	leave_out_own(&wanted, span);
	for (size_t i = 0; i < wanted.count; i++)
		if (is_wanted(&wanted, i))
			encoding->at =
				otlpattribute_put(encoding->at, wanted.tags[i].key, wanted.tags[i].value);
}

static void put_process(struct encoding *encoding, const struct span *span)
{
	const struct endpoint *local = &span->local;

	put_string(encoding, RESOURCE_ATTRIBUTES, LITERAL(OTLP_SERVICE),
		local->service.size ? local->service : LITERAL(OTLP_NO_SERVICE));
	if (span->program.size)
		put_string(encoding, RESOURCE_ATTRIBUTES, LITERAL(OTLP_PROGRAM), span->program);
	if (local->address_size)
		put_address(encoding, RESOURCE_ATTRIBUTES, LITERAL(OTLP_LOCAL_ADDRESS), local);
	if (local->port)
		put_int(encoding, RESOURCE_ATTRIBUTES, LITERAL(OTLP_LOCAL_PORT), local->port);
	if (span->added_count)
		put_added(encoding, span);
}

void otlp_put_item_head(uint8_t head[OTLP_ITEM_HEAD], uint32_t size, uint32_t pid)
{
	otlpitem_put_u32(otlpitem_put_u32(head, size), pid);
}

static void put_item_head(struct encoding *encoding, const struct span *span)
{
	uint8_t *start = encoding->at;

	encoding->at += OTLP_ITEM_HEAD;
	put_process(encoding, span);
	otlp_put_item_head(start, (uint32_t)(encoding->at - start), span->pid);
}

static void put_item(struct encoding *encoding, const struct span *span)
{
	put_item_head(encoding, span);
	put_span(encoding, span);
}

static __attribute__((noinline)) size_t added_texts(const struct span *span)
{
	size_t texts = 0;

	for (size_t i = 0; i < span->added_count; i++)
		texts += (size_t)span->added[i].key.size + span->added[i].value.size;
	return texts;
}

/* An upper limit of the item's size, its texts being UTF-8. */
static size_t room(const struct span *span)
{
	size_t items = span->annotation_count + span->tag_count + span->added_count,
	       texts = span->name.size + span->program.size + span->local.service.size +
		       span->remote.service.size;

	for (size_t i = 0; i < span->annotation_count; i++)
		texts += span->annotations[i].value.size;
	for (size_t i = 0; i < span->tag_count; i++)
		texts += span->tags[i].key.size + span->tags[i].value.size;
	if (span->added_count)
		texts += added_texts(span);
	return SPAN_ROOM + items * ITEM_ROOM + texts;
}

/* Returns whether all texts were UTF-8. */
static bool encode(struct buffer *out, const struct span *span, size_t span_room)
{
	struct encoding encoding = {buffer_reserve(out, span_room), false};

	put_item(&encoding, span);
	if (!encoding.broken)
		out->size = (size_t)(encoding.at - out->data);
	return !encoding.broken;
}

static int encode_plain(struct buffer *out, const struct span *span)
{
	size_t span_room = room(span);
	struct buffer memory = {0};
	struct span repaired;
	unsigned count;

	if (UTF8_REPAIRED_MAX(span_room) > OTLP_SPAN_MAX)
		return -1;
	if (encode(out, span, span_room))
		return 0;
	count = span_repair(span, &repaired, &memory);
	encode(out, &repaired, room(&repaired));
	buffer_free(&memory);
	return (int)count;
}

/* One of ours that has what only OpenTelemetry has a word for. Returns whether all texts were UTF-8. */
static bool put_ours(struct buffer *out, const struct span *span)
{
	size_t before = out->size;
	struct encoding encoding = {buffer_reserve(out, room(span)), false};
	struct otlpours ours;
	bool good;

	put_item_head(&encoding, span);
	out->size = (size_t)(encoding.at - out->data);
	otlpours_make(&ours, span);
	good = otlpwhole_put_span(out, &ours.span) && !encoding.broken;
	otlpours_free(&ours);
	if (!good)
		out->size = before;
	return good;
}

static __attribute__((noinline)) int encode_more(struct buffer *out, const struct span *span)
{
	bool (*put)(struct buffer * out, const struct span *span) =
		span->more->ours ? put_ours : otlpwhole_put;
	size_t before = out->size;
	struct buffer memory = {0};
	struct span repaired;
	bool good = put(out, span);
	unsigned count = 0;

	if (!good) {
		count = span_repair(span, &repaired, &memory);
		good = put(out, &repaired);
		buffer_free(&memory);
	}
	if (good && out->size - before <= OTLP_SPAN_MAX)
		return (int)count;
	out->size = before;
	return -1;
}

int otlp_encode(struct buffer *out, const struct span *span)
{
	return span->more ? encode_more(out, span) : encode_plain(out, span);
}
