/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/otlprequest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "base/memory.h"
#include "net/otlpattribute.h"
#include "net/otlpitem.h"

/* Of a resource, what is written besides the attributes that are there: the pid, and an id with the host's
 * name. */
#define INSTANCE_MAX 300

#define NONE UINT32_MAX

/* Spans of the same process and scope, or those scopes of the same process that are not ours. */
struct group {
	const uint8_t
		*key; /* borrowed from its first item: process and scope with the head, or just the process */
	uint32_t key_size;
	uint32_t first, last; /* items, or groups; the next one is in `next`, or in the group */
	uint32_t next;        /* of the same process */
	size_t spans_size;    /* of all of its spans, with their heads */
	bool whole;           /* it goes below the group of its process */
	bool is_process;
};

struct otlprequest {
	struct payload payload;
	char *host;
	struct buffer node;      /* attributes of each resource */
	struct buffer scope;     /* the field of each ScopeSpans */
	struct buffer body;      /* and what the last call needed: */
	struct buffer groups;    /* of struct group */
	struct buffer next;      /* uint32_t: the next item of the same group */
	struct buffer items;     /* const uint8_t *: each item */
	struct buffer table;     /* uint32_t: groups by hash; 0: none, or its number plus one */
	struct buffer processes; /* the same of those that are processes; empty until there is one */
};

/* One that is damaged is taken for a span as a whole, so that the server refuses it. */
static struct otlpitem read_item(const uint8_t *bytes, uint32_t size)
{
	struct otlpitem item;

	if (!otlpitem_read(&item, bytes, size))
		item = (struct otlpitem){.process = bytes, .span = bytes, .span_size = size};
	return item;
}

/* Groups */

static struct group *group_at(const struct otlprequest *otlp, uint32_t index)
{
	return (struct group *)(void *)otlp->groups.data + index;
}

static bool is_of(const struct group *group, const uint8_t *key, uint32_t size)
{
	return group->key_size == size && !memcmp(group->key, key, size);
}

static uint32_t hash(const uint8_t *key, uint32_t size)
{
	uint64_t sum = (uint64_t)size << 32, word;
	uint32_t at = 0;

	for (; at + 8 <= size; at += 8) {
		memcpy(&word, key + at, 8);
		sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		sum ^= sum >> 29;
	}
	word = 0;
	if (at < size)
		memcpy(&word, key + at, size - at);
	sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(sum >> 32);
}

static uint32_t add_group(struct otlprequest *otlp, const uint8_t *key, uint32_t size)
{
	const struct group group = {.key = key, .key_size = size, .first = NONE, .last = NONE, .next = NONE};

	buffer_put(&otlp->groups, &group, sizeof(group));
	return (uint32_t)(otlp->groups.size / sizeof(group)) - 1;
}

/* The index of the group with the key, in the table; *@added: it was not there. */
static uint32_t find_group(
	struct otlprequest *otlp, struct buffer *in, const uint8_t *key, uint32_t size, bool *added)
{
	uint32_t *table = (uint32_t *)(void *)in->data, mask = (uint32_t)(in->size / sizeof(*table)) - 1,
		 slot = hash(key, size) & mask;

	while (table[slot] && !is_of(group_at(otlp, table[slot] - 1), key, size))
		slot = (slot + 1) & mask;
	*added = !table[slot];
	if (*added)
		table[slot] = add_group(otlp, key, size) + 1;
	return table[slot] - 1;
}

/* An empty table of twice the items at least, a power of two. */
static void clear_table(struct buffer *table, uint32_t items)
{
	size_t slots = 16;

	while (slots < 2 * (size_t)items)
		slots *= 2;
	table->size = 0;
	memset(buffer_reserve(table, slots * sizeof(uint32_t)), 0, slots * sizeof(uint32_t));
	table->size = slots * sizeof(uint32_t);
}

/* Puts a new group of a whole item below its process, of which there may be others. */
static void join_process(
	struct otlprequest *otlp, uint32_t index, const struct otlpitem *item, uint32_t items)
{
	struct group *process;
	uint32_t found;
	bool added;

	if (!otlp->processes.size)
		clear_table(&otlp->processes, items);
	found = find_group(otlp, &otlp->processes, item->process, item->process_size, &added);
	process = group_at(otlp, found);
	process->is_process = true;
	if (process->first == NONE)
		process->first = index;
	else
		group_at(otlp, process->last)->next = index;
	process->last = index;
	group_at(otlp, index)->whole = true;
}

static void append(struct otlprequest *otlp, struct group *group, uint32_t index)
{
	uint32_t *next = (uint32_t *)(void *)otlp->next.data;

	if (group->first == NONE)
		group->first = index;
	else
		next[group->last] = index;
	group->last = index;
	next[index] = NONE;
}

/* Puts the items into groups, in the order in which their processes come. */
static void sort(struct otlprequest *otlp, const struct run *run)
{
	const uint8_t *at = run->spans, **items;
	uint32_t found = NONE;

	otlp->groups.size = otlp->next.size = otlp->items.size = otlp->processes.size = 0;
	clear_table(&otlp->table, run->count);
	buffer_reserve(&otlp->next, run->count * sizeof(uint32_t));
	items = (const uint8_t **)(void *)buffer_reserve(&otlp->items, run->count * sizeof(*items));
	for (uint32_t i = 0; i < run->count; at += run->sizes[i++]) {
		struct otlpitem item = read_item(at, run->sizes[i]);
		uint32_t size = (uint32_t)(item.span - at);
		struct group *group;
		bool added = false;

		if (found == NONE || !is_of(group_at(otlp, found), at, size))
			found = find_group(otlp, &otlp->table, at, size, &added);
		if (added && item.whole)
			join_process(otlp, found, &item, run->count);
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

	for (uint32_t i = group->first; i != NONE; i = next[i]) {
		struct otlpitem item = read_item(items[i], run->sizes[i]);

		to = protobuf_put_bytes(to, SCOPE_SPANS_SPANS, item.span, item.span_size);
	}
	otlp->body.size = (size_t)(to - otlp->body.data);
}

/* The item from which the group has its key. */
static struct otlpitem first_item(const struct group *group)
{
	return read_item(group->key, group->key_size);
}

/* A head of @size bytes that follow, for which there is room then. */
static void put_message(struct otlprequest *otlp, uint32_t field, size_t size)
{
	uint8_t *to = buffer_reserve(&otlp->body, protobuf_bytes_size(size));

	otlp->body.size = (size_t)(protobuf_put_head(to, field, size) - otlp->body.data);
}

/* A ResourceSpans with one ScopeSpans, both ours. */
static void put_group(struct otlprequest *otlp, const struct run *run, const struct group *group)
{
	struct otlpitem item = first_item(group);
	uint8_t instance[INSTANCE_MAX];
	size_t instance_size = put_instance(otlp, item.pid, instance),
	       resource = item.process_size + instance_size + otlp->node.size,
	       spans = otlp->scope.size + group->spans_size;

	put_message(otlp, REQUEST_RESOURCE_SPANS, protobuf_bytes_size(resource) + protobuf_bytes_size(spans));
	put_message(otlp, RESOURCE_SPANS_RESOURCE, resource);
	buffer_put(&otlp->body, item.process, item.process_size);
	buffer_put(&otlp->body, instance, instance_size);
	buffer_put(&otlp->body, otlp->node.data, otlp->node.size);
	put_message(otlp, RESOURCE_SPANS_SCOPE_SPANS, spans);
	buffer_put(&otlp->body, otlp->scope.data, otlp->scope.size);
	put_spans(otlp, run, group);
}

static size_t spans_size(const struct group *group)
{
	return first_item(group).scope_size + group->spans_size;
}

/* A ResourceSpans with all its ScopeSpans, as their SDKs sent them. */
static void put_process(struct otlprequest *otlp, const struct run *run, const struct group *process)
{
	size_t size = process->key_size;
	const struct group *group;

	for (uint32_t i = process->first; i != NONE; i = group->next) {
		group = group_at(otlp, i);
		size += protobuf_bytes_size(spans_size(group));
	}
	put_message(otlp, REQUEST_RESOURCE_SPANS, size);
	buffer_put(&otlp->body, process->key, process->key_size);
	for (uint32_t i = process->first; i != NONE; i = group->next) {
		struct otlpitem item;

		group = group_at(otlp, i);
		item = first_item(group);
		put_message(otlp, RESOURCE_SPANS_SCOPE_SPANS, spans_size(group));
		buffer_put(&otlp->body, item.scope, item.scope_size);
		put_spans(otlp, run, group);
	}
}

static size_t put(struct payload *payload, const struct run *run, struct squeeze_piece pieces[PAYLOAD_PIECES])
{
	struct otlprequest *otlp = (struct otlprequest *)payload;

	sort(otlp, run);
	otlp->body.size = 0;
	for (uint32_t i = 0; i < otlp->groups.size / sizeof(struct group); i++) {
		const struct group *group = group_at(otlp, i);

		if (group->is_process)
			put_process(otlp, run, group);
		else if (!group->whole)
			put_group(otlp, run, group);
	}
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
	buffer_free(&otlp->processes);
	g_free(otlp->host);
	free(otlp);
}

/* Parts that are in each request */

static void put_node(struct otlprequest *otlp)
{
	uint8_t *start = buffer_reserve(&otlp->node, 1024), *to = start;

	to = put_string(to, OTLP_HOST, otlp->host);
	to = put_string(to, OTLP_SDK_NAME, OTLP_SDK_OURS);
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
