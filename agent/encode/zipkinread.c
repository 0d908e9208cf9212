/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading a span in TBinary: spanread.h. */
#include <string.h>

#include "encode/spanread.h"
#include "encode/zipkin.h"
#include "encode/zipkinwire.h"
#include "net/tbinary.h"

/* Annotations that may say the span's times; each stays an annotation if it does not. */
enum edge { BEGIN, END, WIRE_SENT, WIRE_RECEIVED, EDGES };

struct found {
	bool is_there;
	int64_t time; /* ns */
	size_t at;    /* among the annotations */
};

/* Whose address it is, when that is a tag: the server's, the client's, the broker's. */
enum remote { REMOTE_SERVER, REMOTE_CLIENT, REMOTE_BROKER, REMOTES };

/* What is found while the annotations and tags come by. */
struct reading {
	struct span *span;
	struct span_memory *memory;
	bool has_host; /* the local endpoint was there */
	struct found edges[EDGES];
	bool has_remote[REMOTES];
	struct endpoint remotes[REMOTES];
};

/* There are encoders that take no text without data. */
static struct text some(struct text text)
{
	return text.data ? text : (struct text){"", 0};
}

static struct endpoint endpoint_of(const struct zipkinwire_host *host)
{
	struct endpoint endpoint = {.service = host->service, .port = host->port};

	if (host->ipv6.size == 16) {
		memcpy(endpoint.address, host->ipv6.data, 16);
		endpoint.address_size = 16;
	} else if (host->ipv4) {
		tbinary_put_i32(endpoint.address, host->ipv4);
		endpoint.address_size = 4;
	}
	return endpoint;
}

static const struct core {
	char words[3];
	enum span_kind kind;
	enum edge edge;
} cores[] = {
	{"cs", SPAN_CLIENT, BEGIN},
	{"cr", SPAN_CLIENT, END},
	{"sr", SPAN_SERVER, BEGIN},
	{"ss", SPAN_SERVER, END},
	{"ms", SPAN_PRODUCER, BEGIN},
	{"mr", SPAN_CONSUMER, BEGIN},
	{"ws", SPAN_LOCAL, WIRE_SENT},
	{"wr", SPAN_LOCAL, WIRE_RECEIVED},
};

static const struct core *find_core(struct text value)
{
	for (size_t i = 0; i < sizeof(cores) / sizeof(*cores); i++)
		if (value.size == 2 && !memcmp(value.data, cores[i].words, 2))
			return &cores[i];
	return NULL;
}

/* The kind is that of the first core annotation; each of its edges counts once. */
static void note_edge(struct reading *is, int64_t time, struct text value)
{
	const struct core *core = find_core(value);
	struct found *edge = core ? &is->edges[core->edge] : NULL;

	if (core && is->span->kind == SPAN_LOCAL)
		is->span->kind = core->kind;
	if (core && !edge->is_there && (core->kind == is->span->kind || core->kind == SPAN_LOCAL))
		*edge = (struct found){true, time, is->memory->annotations.size / sizeof(struct annotation)};
}

static void take_annotation(void *data, const struct zipkinwire_annotation *annotation)
{
	struct reading *is = data;
	int64_t time = spanread_ns(annotation->time);

	if (annotation->host) {
		is->span->local = endpoint_of(annotation->host);
		is->has_host = true;
		note_edge(is, time, annotation->value);
	}
	spanread_annotation(is->memory, time, some(annotation->value));
}

static const char *const addresses[REMOTES] = {"sa", "ca", "ma"};

static bool is_address(struct text key)
{
	return text_is(key, addresses[0]) || text_is(key, addresses[1]) || text_is(key, addresses[2]);
}

static void take_remote(struct reading *is, struct text key, const struct zipkinwire_host *host)
{
	for (int i = 0; i < REMOTES; i++) {
		if (!text_is(key, addresses[i]))
			continue;
		is->has_remote[i] = true;
		is->remotes[i] = endpoint_of(host);
	}
}

/*
 * The remote endpoint is in `sa`, `ca` or `ma`, which are true; an empty `lc` has just the place. What is no
 * text otherwise is not shown by Zipkin, either.
 */
static void take_tag(void *data, const struct zipkinwire_tag *tag)
{
	struct text key = some(tag->key), value = some(tag->value);
	bool is_place = tag->host && text_is(key, "lc") && !value.size;
	struct reading *is = data;

	if (tag->host && tag->type == ZIPKINWIRE_BOOL && value.size == 1 && *value.data == 1)
		take_remote(is, key, tag->host);
	if (tag->type != ZIPKINWIRE_STRING) {
		is->memory->left_out += tag->type != ZIPKINWIRE_BOOL || !is_address(key);
		return;
	}
	if (tag->host && !is->has_host) {
		is->span->local = endpoint_of(tag->host);
		is->has_host = true;
	}
	if (!is_place)
		spanread_tag(is->memory, &(struct tag){key, value, TAG_TEXT});
}

/* An annotation that the span's kind and times say is none. */
static void drop(struct reading *is, struct found *edge)
{
	struct buffer *lines = &is->memory->annotations;
	size_t begin = edge->at * sizeof(struct annotation), end = begin + sizeof(struct annotation);

	if (!edge->is_there)
		return;
	memmove(lines->data + begin, lines->data + end, lines->size - end);
	lines->size -= sizeof(struct annotation);
	for (int i = 0; i < EDGES; i++)
		is->edges[i].at -= is->edges[i].at > edge->at;
	edge->is_there = false;
}

/* What a span says that it took counts, if it is whole; or else what its annotations do. */
static void settle_between(struct span *span, const struct found *begin, const struct found *end)
{
	if (span->timestamp && span->duration)
		return;
	span->timestamp = begin->time;
	span->duration = end->is_there && end->time > begin->time ? end->time - begin->time : 0;
}

/*
 * The server's half of a shared span has no times of its own, or no duration. An end without a beginning says
 * nothing but when it was, unless it is where the span's duration ends.
 */
static void settle_call(struct reading *is)
{
	struct found *begin = &is->edges[BEGIN], *end = &is->edges[END];
	struct span *span = is->span;
	bool ends = end->is_there, whole = span->timestamp && span->duration,
	     begins = begin->is_there || (ends && whole && end->time == span->timestamp + span->duration);

	if (span->kind == SPAN_SERVER)
		span->shared = begins && (!span->timestamp || (ends && !span->duration));
	if (begin->is_there && (ends || !span->timestamp))
		settle_between(span, begin, end);
	if (begins)
		drop(is, end);
	drop(is, begin);
}

/* A message that is sent ends on the wire, and one that is received begins there. */
static void settle_message(struct reading *is)
{
	struct found *core = &is->edges[BEGIN], *sent = &is->edges[WIRE_SENT],
		     *received = &is->edges[WIRE_RECEIVED];

	if (is->span->kind == SPAN_PRODUCER)
		settle_between(is->span, core, sent);
	else if (received->is_there)
		settle_between(is->span, received, core);
	else
		settle_between(is->span, core, &(struct found){0});
	drop(is, core);
	drop(is, sent);
	drop(is, received);
}

/* As Zipkin does when it makes a span of version 2 of one of version 1. */
static void settle_times(struct reading *is)
{
	is->span->shared = !is->span->timestamp;
	if (is->span->kind == SPAN_CLIENT || is->span->kind == SPAN_SERVER)
		settle_call(is);
	else if (is->span->kind != SPAN_LOCAL)
		settle_message(is);
	if (!is->span->timestamp)
		is->span->duration = 0;
}

/* Of what is no call, a server's address counts first; a client's alone says that this is the server's side.
 */
static enum remote other_side(struct reading *is)
{
	struct span *span = is->span;

	if (span->kind == SPAN_CLIENT || span->kind == SPAN_SERVER)
		return span->kind == SPAN_CLIENT ? REMOTE_SERVER : REMOTE_CLIENT;
	if (is->has_remote[REMOTE_SERVER]) {
		if (is->has_remote[REMOTE_CLIENT] && !is->has_host)
			span->local = is->remotes[REMOTE_CLIENT];
		return REMOTE_SERVER;
	}
	if (is->has_remote[REMOTE_CLIENT]) {
		span->kind = SPAN_SERVER;
		return REMOTE_CLIENT;
	}
	return span->kind == SPAN_LOCAL ? REMOTE_SERVER : REMOTE_BROKER;
}

static void settle_remote(struct reading *is)
{
	enum remote other = other_side(is);

	is->span->has_remote = is->has_remote[other];
	if (is->span->has_remote)
		is->span->remote = is->remotes[other];
}

/* What the encoder has added follows from the tag `error`. */
static void drop_reason(struct span_memory *memory)
{
	struct tag *tags = (struct tag *)(void *)memory->tags.data, *error = NULL, *added = NULL;
	size_t count = memory->tags.size / sizeof(*tags);

	for (size_t i = 0; i < count; i++) {
		if (text_is(tags[i].key, "error"))
			error = &tags[i];
		else if (text_is(tags[i].key, ZIPKIN_STATUS_DESCRIPTION))
			added = &tags[i];
	}
	if (!error || !added || error->value.size != added->value.size ||
		memcmp(error->value.data, added->value.data, error->value.size) != 0)
		return;
	memmove(added, added + 1, (size_t)(tags + count - added - 1) * sizeof(*tags));
	memory->tags.size -= sizeof(*tags);
}

/* What the fields say by themselves. */
static void take_fields(struct span *span, const struct zipkinwire_span *wire)
{
	span->trace_id_high = wire->trace_id_high;
	span->trace_id = wire->trace_id;
	span->id = wire->id;
	span->parent_id = wire->parent_id;
	span->name = wire->name;
	span->debug = wire->debug;
	span->timestamp = spanread_ns(wire->timestamp);
	span->duration = spanread_ns(wire->duration);
}

bool spanread_thrift(struct span *span, const uint8_t *bytes, size_t size, struct span_memory *memory)
{
	struct reading is = {.span = span, .memory = memory};
	const struct zipkinwire_sink sink = {take_annotation, take_tag, &is};
	struct zipkinwire_span wire;
	size_t used;

	span_memory_clear(memory);
	*span = (struct span){0};
	used = zipkinwire_read(&wire, bytes, size, &sink);
	take_fields(span, &wire);
	settle_times(&is);
	settle_remote(&is);
	drop_reason(memory);
	spanread_lines(memory, span);
	return used && used == size;
}
