/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/otlprequest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "base/memory.h"
#include "wire/otlpattribute.h"

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

struct otlprequest {
	struct payload payload;
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

static struct group *group_at(const struct otlprequest *otlp, uint32_t index)
{
	return (struct group *)(void *)otlp->groups.data + index;
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

static uint32_t add_group(struct otlprequest *otlp, const struct item *item)
{
	const struct group group = {.attributes = item->attributes,
		.attributes_size = item->attributes_size,
		.pid = item->pid,
		.first = UINT32_MAX};

	buffer_put(&otlp->groups, &group, sizeof(group));
	return (uint32_t)(otlp->groups.size / sizeof(group)) - 1;
}

/* The index of the item's group. */
static uint32_t find_group(struct otlprequest *otlp, const struct item *item)
{
	uint32_t *table = (uint32_t *)(void *)otlp->table.data,
		 mask = (uint32_t)(otlp->table.size / sizeof(*table)) - 1, slot = hash(item) & mask;

	while (table[slot] && !is_of(group_at(otlp, table[slot] - 1), item))
		slot = (slot + 1) & mask;
	if (!table[slot])
		table[slot] = add_group(otlp, item) + 1;
	return table[slot] - 1;
}

/* An empty table of twice the items at least, a power of two. */
static void clear_table(struct otlprequest *otlp, uint32_t items)
{
	size_t slots = 16;

	while (slots < 2 * (size_t)items)
		slots *= 2;
	otlp->table.size = 0;
	memset(buffer_reserve(&otlp->table, slots * sizeof(uint32_t)), 0, slots * sizeof(uint32_t));
	otlp->table.size = slots * sizeof(uint32_t);
}

static void append(struct otlprequest *otlp, struct group *group, uint32_t index)
{
	uint32_t *next = (uint32_t *)(void *)otlp->next.data;

	if (group->first == UINT32_MAX)
		group->first = index;
	else
		next[group->last] = index;
	group->last = index;
	next[index] = UINT32_MAX;
}

/* Puts the items into groups, in the order in which their processes come. */
static void sort(struct otlprequest *otlp, const struct run *run)
{
	const uint8_t *at = run->spans, **items;
	uint32_t found = UINT32_MAX;

	otlp->groups.size = otlp->next.size = otlp->items.size = 0;
	clear_table(otlp, run->count);
	buffer_reserve(&otlp->next, run->count * sizeof(uint32_t));
	items = (const uint8_t **)(void *)buffer_reserve(&otlp->items, run->count * sizeof(*items));
	for (uint32_t i = 0; i < run->count; at += run->sizes[i++]) {
		struct item item = read_item(at, run->sizes[i]);
		struct group *group;

		if (found == UINT32_MAX || !is_of(group_at(otlp, found), &item))
			found = find_group(otlp, &item);
		group = group_at(otlp, found);
		append(otlp, group, i);
		group->spans_size += protobuf_bytes_size(item.span_size);
		items[i] = at;
	}
}

/* The request */

static struct text text_of(const char *text)
{
	return (struct text){text, (uint32_t)strlen(text)};
}

static uint8_t *put_string(uint8_t *to, const char *key, const char *value)
{
	return otlpattribute_put(to, text_of(key), text_of(value));
}

static uint8_t *put_int(uint8_t *to, const char *key, uint64_t value)
{
	to = otlpattribute_put_key(to, text_of(key), 1 + protobuf_varint_size(value));
	return protobuf_put_varint(protobuf_put_field(to, ANYVALUE_INT, PROTOBUF_VARINT), value);
}

/* Writes what follows from the pid to @to, which has INSTANCE_MAX bytes; returns how many. */
static size_t put_instance(const struct otlprequest *otlp, uint32_t pid, uint8_t *to)
{
	char instance[128];
	uint8_t *at = to;

	if (!pid)
		return 0;
	snprintf(instance, sizeof(instance), "%s:%u", otlp->host, pid);
	at = put_int(at, OTLP_PID, pid);
	at = put_string(at, OTLP_INSTANCE, instance);
	return (size_t)(at - to);
}

static void put_spans(struct otlprequest *otlp, const struct run *run, const struct group *group)
{
	const uint32_t *next = (const uint32_t *)(const void *)otlp->next.data;
	const uint8_t *const *items = (const uint8_t *const *)(const void *)otlp->items.data;
	uint8_t *to = otlp->body.data + otlp->body.size;

	for (uint32_t i = group->first; i != UINT32_MAX; i = next[i]) {
		struct item item = read_item(items[i], run->sizes[i]);

		to = protobuf_put_bytes(to, SCOPE_SPANS_SPANS, item.span, item.span_size);
	}
	otlp->body.size = (size_t)(to - otlp->body.data);
}

/* A ResourceSpans with one ScopeSpans. */
static void put_group(struct otlprequest *otlp, const struct run *run, const struct group *group)
{
	uint8_t instance[INSTANCE_MAX], *to;
	size_t instance_size = put_instance(otlp, group->pid, instance),
	       resource = group->attributes_size + instance_size + otlp->node.size,
	       spans = otlp->scope.size + group->spans_size,
	       all = protobuf_bytes_size(resource) + protobuf_bytes_size(spans);

	to = buffer_reserve(&otlp->body, protobuf_bytes_size(all));
	to = protobuf_put_head(to, REQUEST_RESOURCE_SPANS, all);
	to = protobuf_put_head(to, RESOURCE_SPANS_RESOURCE, resource);
	otlp->body.size = (size_t)(to - otlp->body.data);
	buffer_put(&otlp->body, group->attributes, group->attributes_size);
	buffer_put(&otlp->body, instance, instance_size);
	buffer_put(&otlp->body, otlp->node.data, otlp->node.size);
	to = protobuf_put_head(otlp->body.data + otlp->body.size, RESOURCE_SPANS_SCOPE_SPANS, spans);
	otlp->body.size = (size_t)(to - otlp->body.data);
	buffer_put(&otlp->body, otlp->scope.data, otlp->scope.size);
	put_spans(otlp, run, group);
}

static size_t put(struct payload *payload, const struct run *run, struct squeeze_piece pieces[PAYLOAD_PIECES])
{
	struct otlprequest *otlp = (struct otlprequest *)payload;

	sort(otlp, run);
	otlp->body.size = 0;
	for (uint32_t i = 0; i < otlp->groups.size / sizeof(struct group); i++)
		put_group(otlp, run, group_at(otlp, i));
	pieces[0] = (struct squeeze_piece){otlp->body.data, otlp->body.size};
	return 1;
}

static void destroy(struct payload *payload)
{
	struct otlprequest *otlp = (struct otlprequest *)payload;

	buffer_free(&otlp->node);
	buffer_free(&otlp->scope);
	buffer_free(&otlp->body);
	buffer_free(&otlp->groups);
	buffer_free(&otlp->next);
	buffer_free(&otlp->items);
	buffer_free(&otlp->table);
	g_free(otlp->host);
	free(otlp);
}

/* Parts that are in each request */

static void put_node(struct otlprequest *otlp)
{
	uint8_t *start = buffer_reserve(&otlp->node, 1024), *to = start;

	to = put_string(to, OTLP_HOST, otlp->host);
	to = put_string(to, OTLP_SDK_NAME, "blkin");
	to = put_string(to, OTLP_SDK_LANGUAGE, "c");
	to = put_string(to, OTLP_SDK_VERSION, BLKIN_VERSION);
	otlp->node.size = (size_t)(to - start);
}

static void put_scope(struct otlprequest *otlp)
{
	static const char name[] = "blkin", version[] = BLKIN_VERSION;
	size_t size = protobuf_bytes_size(sizeof(name) - 1) + protobuf_bytes_size(sizeof(version) - 1);
	uint8_t *start = buffer_reserve(&otlp->scope, protobuf_bytes_size(size)), *to = start;

	to = protobuf_put_head(to, SCOPE_SPANS_SCOPE, size);
	to = protobuf_put_bytes(to, SCOPE_NAME, name, sizeof(name) - 1);
	to = protobuf_put_bytes(to, SCOPE_VERSION, version, sizeof(version) - 1);
	otlp->scope.size = (size_t)(to - start);
}

struct payload *otlprequest_create(const char *host)
{
	struct otlprequest *otlp = memory_get(sizeof(*otlp));

	otlp->payload = (struct payload){.put = put, .destroy = destroy, .content_type = "x-protobuf"};
	otlp->host = g_utf8_make_valid(host, (gssize)strnlen(host, 64));
	put_node(otlp);
	put_scope(otlp);
	return &otlp->payload;
}
