/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/otlphttp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "base/memory.h"
#include "base/sanitize.h"
#include "wire/httpreply.h"
#include "wire/otlpfields.h"
#include "wire/protobuf.h"

/* What stands before the attributes in an item (encode/otlp.h). */
#define ITEM_HEAD 8
/* Of a resource, what is written besides the attributes that are there: the pid, and an id with the host's
 * name. */
#define INSTANCE_MAX 300

/* The spans of one process. */
struct group {
	const uint8_t *attributes; /* borrowed from its first item */
	uint32_t attributes_size;
	uint32_t pid;
	uint32_t first, last; /* items; the next one is in `next` */
	size_t spans_size;    /* of all of its spans, with their heads */
};

struct otlphttp {
	struct wire wire;
	struct httppost post;
	char *host;
	struct buffer node;   /* attributes of each resource */
	struct buffer scope;  /* the field of each ScopeSpans */
	struct buffer body;   /* and what the last call needed: */
	struct buffer groups; /* of struct group */
	struct buffer next;   /* uint32_t: the next item of the same group */
	struct buffer items;  /* const uint8_t *: each item */
	struct buffer table;  /* uint32_t: groups by hash; 0: none, or its number plus one */
};

/* Items */

struct item {
	const uint8_t *attributes, *span;
	uint32_t attributes_size, span_size, pid;
};

static uint32_t get_u32(const uint8_t *from)
{
	return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

/* One that is damaged is taken for a span as a whole, so that the server refuses it. */
static struct item read_item(const uint8_t *item, uint32_t size)
{
	uint32_t head = size >= ITEM_HEAD ? get_u32(item) : 0;

	if (head < ITEM_HEAD || head > size)
		return (struct item){item, item, 0, size, 0};
	return (struct item){item + ITEM_HEAD, item + head, head - ITEM_HEAD, size - head, get_u32(item + 4)};
}

/* Groups */

static struct group *group_at(const struct otlphttp *http, uint32_t index)
{
	return (struct group *)(void *)http->groups.data + index;
}

static bool is_of(const struct group *group, const struct item *item)
{
	return group->pid == item->pid && group->attributes_size == item->attributes_size &&
	       !memcmp(group->attributes, item->attributes, item->attributes_size);
}

static uint32_t hash(const struct item *item)
{
	uint64_t sum = item->pid + ((uint64_t)item->attributes_size << 32), word;
	uint32_t at = 0;

	for (; at + 8 <= item->attributes_size; at += 8) {
		memcpy(&word, item->attributes + at, 8);
		sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		sum ^= sum >> 29;
	}
	word = 0;
	if (at < item->attributes_size)
		memcpy(&word, item->attributes + at, item->attributes_size - at);
	sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(sum >> 32);
}

static uint32_t add_group(struct otlphttp *http, const struct item *item)
{
	const struct group group = {.attributes = item->attributes,
		.attributes_size = item->attributes_size,
		.pid = item->pid,
		.first = UINT32_MAX};

	buffer_put(&http->groups, &group, sizeof(group));
	return (uint32_t)(http->groups.size / sizeof(group)) - 1;
}

/* The index of the item's group. */
static uint32_t find_group(struct otlphttp *http, const struct item *item)
{
	uint32_t *table = (uint32_t *)(void *)http->table.data,
		 mask = (uint32_t)(http->table.size / sizeof(*table)) - 1, slot = hash(item) & mask;

	while (table[slot] && !is_of(group_at(http, table[slot] - 1), item))
		slot = (slot + 1) & mask;
	if (!table[slot])
		table[slot] = add_group(http, item) + 1;
	return table[slot] - 1;
}

/* An empty table of twice the items at least, a power of two. */
static void clear_table(struct otlphttp *http, uint32_t items)
{
	size_t slots = 16;

	while (slots < 2 * (size_t)items)
		slots *= 2;
	http->table.size = 0;
	memset(buffer_reserve(&http->table, slots * sizeof(uint32_t)), 0, slots * sizeof(uint32_t));
	http->table.size = slots * sizeof(uint32_t);
}

static void append(struct otlphttp *http, struct group *group, uint32_t index)
{
	uint32_t *next = (uint32_t *)(void *)http->next.data;

	if (group->first == UINT32_MAX)
		group->first = index;
	else
		next[group->last] = index;
	group->last = index;
	next[index] = UINT32_MAX;
}

/* Puts the items into groups, in the order in which their processes come. */
static void sort(struct otlphttp *http, const struct run *run)
{
	const uint8_t *at = run->spans, **items;
	uint32_t found = UINT32_MAX;

	http->groups.size = http->next.size = http->items.size = 0;
	clear_table(http, run->count);
	buffer_reserve(&http->next, run->count * sizeof(uint32_t));
	items = (const uint8_t **)(void *)buffer_reserve(&http->items, run->count * sizeof(*items));
	for (uint32_t i = 0; i < run->count; at += run->sizes[i++]) {
		struct item item = read_item(at, run->sizes[i]);
		struct group *group;

		if (found == UINT32_MAX || !is_of(group_at(http, found), &item))
			found = find_group(http, &item);
		group = group_at(http, found);
		append(http, group, i);
		group->spans_size += protobuf_bytes_size(item.span_size);
		items[i] = at;
	}
}

/* The request */

static uint8_t *put_key(uint8_t *to, const char *key, size_t value_size)
{
	size_t size = strlen(key);

	to = protobuf_put_head(
		to, RESOURCE_ATTRIBUTES, protobuf_bytes_size(size) + protobuf_bytes_size(value_size));
	to = protobuf_put_bytes(to, KEYVALUE_KEY, key, size);
	return protobuf_put_head(to, KEYVALUE_VALUE, value_size);
}

static uint8_t *put_string(uint8_t *to, const char *key, const char *value)
{
	size_t size = strlen(value);

	return protobuf_put_bytes(put_key(to, key, protobuf_bytes_size(size)), ANYVALUE_STRING, value, size);
}

static uint8_t *put_int(uint8_t *to, const char *key, uint64_t value)
{
	to = put_key(to, key, 1 + protobuf_varint_size(value));
	return protobuf_put_varint(protobuf_put_field(to, ANYVALUE_INT, PROTOBUF_VARINT), value);
}

/* Writes what follows from the pid to @to, which has INSTANCE_MAX bytes; returns how many. */
static size_t put_instance(const struct otlphttp *http, uint32_t pid, uint8_t *to)
{
	char instance[128];
	uint8_t *at = to;

	if (!pid)
		return 0;
	snprintf(instance, sizeof(instance), "%s:%u", http->host, pid);
	at = put_int(at, OTLP_PID, pid);
	at = put_string(at, OTLP_INSTANCE, instance);
	return (size_t)(at - to);
}

static void put_spans(struct otlphttp *http, const struct run *run, const struct group *group)
{
	const uint32_t *next = (const uint32_t *)(const void *)http->next.data;
	const uint8_t *const *items = (const uint8_t *const *)(const void *)http->items.data;
	uint8_t *to = http->body.data + http->body.size;

	for (uint32_t i = group->first; i != UINT32_MAX; i = next[i]) {
		struct item item = read_item(items[i], run->sizes[i]);

		to = protobuf_put_bytes(to, SCOPE_SPANS_SPANS, item.span, item.span_size);
	}
	http->body.size = (size_t)(to - http->body.data);
}

/* A ResourceSpans with one ScopeSpans. */
static void put_group(struct otlphttp *http, const struct run *run, const struct group *group)
{
	uint8_t instance[INSTANCE_MAX], *to;
	size_t instance_size = put_instance(http, group->pid, instance),
	       resource = group->attributes_size + instance_size + http->node.size,
	       spans = http->scope.size + group->spans_size,
	       all = protobuf_bytes_size(resource) + protobuf_bytes_size(spans);

	to = buffer_reserve(&http->body, protobuf_bytes_size(all));
	to = protobuf_put_head(to, REQUEST_RESOURCE_SPANS, all);
	to = protobuf_put_head(to, RESOURCE_SPANS_RESOURCE, resource);
	http->body.size = (size_t)(to - http->body.data);
	buffer_put(&http->body, group->attributes, group->attributes_size);
	buffer_put(&http->body, instance, instance_size);
	buffer_put(&http->body, http->node.data, http->node.size);
	to = protobuf_put_head(http->body.data + http->body.size, RESOURCE_SPANS_SCOPE_SPANS, spans);
	http->body.size = (size_t)(to - http->body.data);
	buffer_put(&http->body, http->scope.data, http->scope.size);
	put_spans(http, run, group);
}

static void put_call(struct wire *wire, const struct run *run, int32_t number, struct buffer *out)
{
	struct otlphttp *http = (struct otlphttp *)wire;
	struct squeeze_piece body;

	(void)number;
	sort(http, run);
	http->body.size = 0;
	for (uint32_t i = 0; i < http->groups.size / sizeof(struct group); i++)
		put_group(http, run, group_at(http, i));
	body = (struct squeeze_piece){http->body.data, http->body.size};
	httppost_put(&http->post, &body, 1, out);
}

/* The reply */

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
static struct protobuf_reader open_response(const struct httpreply *http)
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
static void read_partial_success(const struct httpreply *http, struct reply *reply)
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

static enum reply_kind get_reply(struct wire *wire, const uint8_t *data, size_t size, struct reply *reply)
{
	struct httpreply http = {0};
	enum reply_kind kind = httpreply_parse(data, size, reply, &http);
	struct protobuf_field message;

	(void)wire;
	if (!http.status)
		return kind;
	if (kind == REPLY_GOOD) {
		read_partial_success(&http, reply);
		return kind;
	}
	if (kind == REPLY_PUT_OFF && !may_try_again(http.status))
		kind = REPLY_REFUSED;
	message = find_text(protobuf_read(http.body, http.body_size), RPC_STATUS_MESSAGE);
	if (message.size)
		httpreply_say(reply, &http, message.bytes, message.size);
	else
		httpreply_say(reply, &http, http.body, http.body_size);
	return kind;
}

static bool ready(struct wire *wire, char *why, size_t size)
{
	return httppost_ready(&((struct otlphttp *)wire)->post, why, size);
}

static void destroy(struct wire *wire)
{
	struct otlphttp *http = (struct otlphttp *)wire;

	httppost_free(&http->post);
	buffer_free(&http->node);
	buffer_free(&http->scope);
	buffer_free(&http->body);
	buffer_free(&http->groups);
	buffer_free(&http->next);
	buffer_free(&http->items);
	buffer_free(&http->table);
	g_free(http->host);
	free(http);
}

/* Parts that are in each request */

static void put_node(struct otlphttp *http)
{
	uint8_t *start = buffer_reserve(&http->node, 1024), *to = start;

	to = put_string(to, OTLP_HOST, http->host);
	to = put_string(to, OTLP_SDK_NAME, "blkin");
	to = put_string(to, OTLP_SDK_LANGUAGE, "c");
	to = put_string(to, OTLP_SDK_VERSION, BLKIN_VERSION);
	http->node.size = (size_t)(to - start);
}

static void put_scope(struct otlphttp *http)
{
	static const char name[] = "blkin", version[] = BLKIN_VERSION;
	size_t size = protobuf_bytes_size(sizeof(name) - 1) + protobuf_bytes_size(sizeof(version) - 1);
	uint8_t *start = buffer_reserve(&http->scope, protobuf_bytes_size(size)), *to = start;

	to = protobuf_put_head(to, SCOPE_SPANS_SCOPE, size);
	to = protobuf_put_bytes(to, SCOPE_NAME, name, sizeof(name) - 1);
	to = protobuf_put_bytes(to, SCOPE_VERSION, version, sizeof(version) - 1);
	http->scope.size = (size_t)(to - start);
}

struct wire *otlphttp_create(const struct httppost_options *options, const char *host)
{
	struct httppost_options post = *options;
	struct otlphttp *http = memory_get(sizeof(*http));

	http->wire = (struct wire){.put_call = put_call,
		.get_reply = get_reply,
		.ready = ready,
		.destroy = destroy,
		.careful = true,
		.early = true};
	http->host = g_utf8_make_valid(host, (gssize)strnlen(host, 64));
	put_node(http);
	put_scope(http);
	post.content_type = "x-protobuf";
	httppost_init(&http->post, &post);
	return &http->wire;
}
