/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/record.h"

#include <endian.h>
#include <string.h>

#include "base/utf8.h"
#include "core/repair.h"
#include "core/varint.h"

#define VERSION 1

/* What stands where it always does, which is anywhere in memory. */
struct __attribute__((packed, may_alias)) head {
	uint8_t version, kind;
	uint16_t flags;
	uint32_t pid;
	uint64_t trace_id_high, trace_id, id, parent_id;
	uint64_t timestamp, duration, last_event;
};

_Static_assert(sizeof(struct head) == 64, "the head has no padding");

enum {
	SHARED = 1 << 0,
	DEBUG = 1 << 1,
	CLASSIC = 1 << 2,
	HAS_USER = 1 << 3,
	HAS_REMOTE = 1 << 4,
	HAS_ERROR = 1 << 5,
	HAS_MORE = 1 << 6,
	FLAGS_END = 1 << 7
};

/* Those of struct span_more. */
enum { NO_KIND = 1 << 0, HAS_ATTRIBUTES = 1 << 1, OURS = 1 << 2 };

#define TYPE_BITS 3
#define TYPE_MASK ((1u << TYPE_BITS) - 1)

_Static_assert(TAG_TYPES <= 1 << TYPE_BITS, "a type fits");

static bool is_error(const struct span *span)
{
	if (span->more && span->more->status == SPAN_STATUS_ERROR)
		return true;
	if (span->more && (!span->more->ours || span->more->status == SPAN_STATUS_OK))
		return false;
	for (size_t i = 0; i < span->tag_count; i++)
		if (span->tags[i].key.size == 5 && !memcmp(span->tags[i].key.data, "error", 5))
			return true;
	return false;
}

/* FNV-1a: names are short. */
static uint32_t hash_service(struct text service)
{
	uint32_t hash = 2166136261u;

	for (uint32_t i = 0; i < service.size; i++)
		hash = (hash ^ (uint8_t)service.data[i]) * 16777619u;
	return hash ? hash : 1;
}

struct trait trait_of(const struct span *span)
{
	return (struct trait){
		.trace_id_high = span->trace_id_high,
		.trace_id = span->trace_id,
		.id = span->id,
		.last_event = span->last_event,
		.error = is_error(span),
		.duration = span->duration > 0 ? (uint64_t)span->duration : 0,
		.service = hash_service(span->local.service),
	};
}

/* Packing */

struct packing {
	uint8_t *at;
	bool broken; /* a text is not UTF-8 */
};

static inline void put_number(struct packing *is, uint64_t number)
{
	is->at = varint_put(is->at, number);
}

static inline void put_bytes(struct packing *is, struct text bytes)
{
	if (bytes.size)
		memcpy(is->at, bytes.data, bytes.size);
	is->at += bytes.size;
}

static inline void put_utf8(struct packing *is, struct text text)
{
	if (!utf8_copy_ascii((char *)is->at, text.data, text.size))
		is->broken |= !utf8_valid(text.data, text.size);
	is->at += text.size;
}

static inline void put_text(struct packing *is, struct text text)
{
	put_number(is, text.size);
	put_utf8(is, text);
}

static inline void put_endpoint(struct packing *is, const struct endpoint *endpoint)
{
	put_text(is, endpoint->service);
	*is->at++ = endpoint->address_size;
	put_bytes(is, (struct text){(const char *)endpoint->address, endpoint->address_size});
	put_number(is, endpoint->port);
}

static inline void put_tag(struct packing *is, const struct tag *tag)
{
	put_number(is, (uint64_t)tag->key.size << TYPE_BITS | (uint64_t)tag->type);
	put_utf8(is, tag->key);
	put_number(is, tag->value.size);
	if (tag->type < TAG_BYTES)
		put_utf8(is, tag->value);
	else
		put_bytes(is, tag->value);
}

static void put_attributes(struct packing *is, const struct attributes *attributes)
{
	put_number(is, attributes->count);
	put_number(is, attributes->dropped);
	for (size_t i = 0; i < attributes->count; i++)
		put_tag(is, &attributes->tags[i]);
}

static void put_link(struct packing *is, const struct span_link *link)
{
	const uint64_t ids[] = {htole64(link->trace_id_high), htole64(link->trace_id), htole64(link->id)};

	put_bytes(is, (struct text){(const char *)ids, sizeof(ids)});
	put_number(is, link->flags);
	put_text(is, link->trace_state);
	put_attributes(is, &link->attributes);
}

/* Calls @add for each list of attributes that the span has besides its tags. */
static void for_attributes(
	const struct span *span, void (*add)(void *data, const struct attributes *attributes), void *data)
{
	const struct span_more *more = span->more;

	add(data, &more->scope);
	add(data, &more->resource);
	for (size_t i = 0; i < more->link_count; i++)
		add(data, &more->links[i].attributes);
	for (size_t i = 0; more->of_annotations && i < span->annotation_count; i++)
		add(data, &more->of_annotations[i]);
}

static void add_count(void *data, const struct attributes *attributes)
{
	*(size_t *)data += attributes->count;
}

/* How many tags there are in all, and how many links, come first: who opens it then knows what room that
 * takes. */
static __attribute__((noinline)) void put_more(struct packing *is, const struct span *span)
{
	const struct span_more *more = span->more;
	size_t tags = 0;

	for_attributes(span, add_count, &tags);
	put_number(is, tags);
	put_number(is, more->link_count);
	*is->at++ = (uint8_t)((more->no_kind ? NO_KIND : 0) | (more->of_annotations ? HAS_ATTRIBUTES : 0) |
			      (more->ours ? OURS : 0));
	put_number(is, more->flags);
	put_text(is, more->trace_state);
	*is->at++ = (uint8_t)more->status;
	put_text(is, more->status_message);
	put_number(is, more->dropped_tags);
	put_number(is, more->dropped_annotations);
	put_number(is, more->dropped_links);
	put_text(is, more->scope_name);
	put_text(is, more->scope_version);
	put_text(is, more->scope_schema);
	put_attributes(is, &more->scope);
	put_text(is, more->resource_schema);
	put_attributes(is, &more->resource);
	for (size_t i = 0; i < more->link_count; i++)
		put_link(is, &more->links[i]);
	for (size_t i = 0; more->of_annotations && i < span->annotation_count; i++)
		put_attributes(is, &more->of_annotations[i]);
}

static inline void put_head(struct packing *is, const struct span *span)
{
	const unsigned flags = (span->shared ? SHARED : 0) | (span->debug ? DEBUG : 0) |
			       (span->classic ? CLASSIC : 0) | (span->has_user ? HAS_USER : 0) |
			       (span->has_remote ? HAS_REMOTE : 0) | (is_error(span) ? HAS_ERROR : 0) |
			       (span->more ? HAS_MORE : 0);
	const struct head head = {
		.version = VERSION,
		.kind = (uint8_t)span->kind,
		.flags = htole16((uint16_t)flags),
		.pid = htole32(span->pid),
		.trace_id_high = htole64(span->trace_id_high),
		.trace_id = htole64(span->trace_id),
		.id = htole64(span->id),
		.parent_id = htole64(span->parent_id),
		.timestamp = htole64((uint64_t)span->timestamp),
		.duration = htole64((uint64_t)span->duration),
		.last_event = htole64((uint64_t)span->last_event),
	};

	memcpy(is->at, &head, sizeof(head));
	is->at += sizeof(head);
}

static inline void put_span(struct packing *is, const struct span *span)
{
	put_head(is, span);
	put_number(is, span->annotation_count);
	put_number(is, span->tag_count);
	put_text(is, span->name);
	put_text(is, span->program);
	if (span->has_user)
		put_number(is, span->user);
	put_endpoint(is, &span->local);
	if (span->has_remote)
		put_endpoint(is, &span->remote);
	for (size_t i = 0; i < span->annotation_count; i++) {
		put_number(is, varint_fold((int64_t)((uint64_t)span->annotations[i].time -
						     (uint64_t)span->timestamp)));
		put_text(is, span->annotations[i].value);
	}
	for (size_t i = 0; i < span->tag_count; i++)
		put_tag(is, &span->tags[i]);
	if (span->more) { /* apart, so that the rest can stay in registers */
		struct packing more = *is;

		put_more(&more, span);
		*is = more;
	}
}

static size_t tags_room(const struct tag *tags, size_t count)
{
	size_t room = count * 2 * VARINT_MAX;

	for (size_t i = 0; i < count; i++)
		room += (size_t)tags[i].key.size + tags[i].value.size;
	return room;
}

static void add_room(void *data, const struct attributes *attributes)
{
	*(size_t *)data += 2 * VARINT_MAX + tags_room(attributes->tags, attributes->count);
}

static size_t more_room(const struct span *span)
{
	const struct span_more *more = span->more;
	size_t room = 16 * VARINT_MAX + more->trace_state.size + more->status_message.size +
		      more->scope_name.size + more->scope_version.size + more->scope_schema.size +
		      more->resource_schema.size;

	for (size_t i = 0; i < more->link_count; i++)
		room += 24 + 2 * VARINT_MAX + more->links[i].trace_state.size;
	for_attributes(span, add_room, &room);
	return room;
}

/* An upper limit of the record's size. */
static size_t room_of(const struct span *span)
{
	size_t room = sizeof(struct head) + 11 * VARINT_MAX + 34 + span->name.size + span->program.size +
		      span->local.service.size + span->remote.service.size +
		      span->annotation_count * 2 * VARINT_MAX + tags_room(span->tags, span->tag_count);

	for (size_t i = 0; i < span->annotation_count; i++)
		room += span->annotations[i].value.size;
	return room + (span->more ? more_room(span) : 0);
}

/* Returns whether all texts were UTF-8. */
static bool pack(struct buffer *out, const struct span *span, size_t room)
{
	struct packing is = {buffer_reserve(out, room), false};

	put_span(&is, span);
	if (!is.broken)
		out->size = (size_t)(is.at - out->data);
	return !is.broken;
}

int record_put(struct buffer *out, const struct span *span)
{
	size_t room = room_of(span);
	struct buffer memory = {0};
	struct span repaired;
	unsigned count;

	if (UTF8_REPAIRED_MAX(room) > RECORD_MAX)
		return -1;
	if (pack(out, span, room))
		return 0;
	count = span_repair(span, &repaired, &memory);
	pack(out, &repaired, room_of(&repaired));
	buffer_free(&memory);
	return (int)count;
}

/* Opening */

struct opening {
	const uint8_t *at, *end;
	struct tag *tags; /* where the next ones go */
	size_t tags_left;
	bool failed;
};

/* What fails comes to the end at once, so that all that follows fails, too. */
static inline void fail(struct opening *is)
{
	is->failed = true;
	is->at = is->end;
}

static inline uint64_t get_number(struct opening *is)
{
	uint64_t number;
	const uint8_t *next = varint_get(is->at, is->end, &number);

	if (!next) {
		fail(is);
		return 0;
	}
	is->at = next;
	return number;
}

/* How many there are of what takes two bytes at least. */
static inline size_t get_count(struct opening *is)
{
	uint64_t count = get_number(is);

	if (count > (uint64_t)(is->end - is->at) / 2) {
		fail(is);
		return 0;
	}
	return (size_t)count;
}

static inline struct text take_bytes(struct opening *is, uint64_t size)
{
	struct text bytes = {(const char *)is->at, (uint32_t)size};

	if (size > (uint64_t)(is->end - is->at)) {
		fail(is);
		return (struct text){"", 0};
	}
	is->at += size;
	return bytes;
}

static inline struct text get_text(struct opening *is)
{
	return take_bytes(is, get_number(is));
}

static uint8_t get_u8(struct opening *is)
{
	struct text byte = take_bytes(is, 1);

	return byte.size ? (uint8_t)*byte.data : 0;
}

static inline void get_endpoint(struct opening *is, struct endpoint *endpoint)
{
	struct text address;

	endpoint->service = get_text(is);
	endpoint->address_size = get_u8(is);
	if (endpoint->address_size && endpoint->address_size != 4 && endpoint->address_size != 16) {
		endpoint->address_size = 0;
		fail(is);
	}
	address = take_bytes(is, endpoint->address_size);
	memset(endpoint->address, 0, sizeof(endpoint->address));
	if (address.size == 4)
		memcpy(endpoint->address, address.data, 4);
	else if (address.size)
		memcpy(endpoint->address, address.data, 16);
	endpoint->port = (uint16_t)get_number(is);
}

static inline void get_tags(struct opening *is, size_t count)
{
	if (count > is->tags_left) {
		fail(is);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		uint64_t key = get_number(is);
		struct tag *tag = is->tags++;

		tag->type = (enum tag_type)(key & TYPE_MASK);
		tag->key = take_bytes(is, key >> TYPE_BITS);
		tag->value = get_text(is);
	}
	is->tags_left -= count;
}

static inline void get_annotations(struct opening *is, struct span *span, struct annotation *annotations)
{
	for (size_t i = 0; i < span->annotation_count; i++) {
		uint64_t since = (uint64_t)varint_unfold(get_number(is));

		annotations[i].time = (int64_t)((uint64_t)span->timestamp + since);
		annotations[i].value = get_text(is);
	}
	span->annotations = annotations;
}

static struct attributes get_attributes(struct opening *is)
{
	struct attributes attributes = {is->tags, get_count(is), 0};

	attributes.dropped = (uint32_t)get_number(is);
	get_tags(is, attributes.count);
	return attributes;
}

static struct span_link get_link(struct opening *is)
{
	struct text ids = take_bytes(is, 24);
	struct span_link link = {0};

	if (is->failed)
		return link;
	memcpy(&link.trace_id_high, ids.data, 8);
	memcpy(&link.trace_id, ids.data + 8, 8);
	memcpy(&link.id, ids.data + 16, 8);
	link.trace_id_high = le64toh(link.trace_id_high);
	link.trace_id = le64toh(link.trace_id);
	link.id = le64toh(link.id);
	link.flags = (uint32_t)get_number(is);
	link.trace_state = get_text(is);
	link.attributes = get_attributes(is);
	return link;
}

/* Makes room for @count tags behind those that are there, which may move. */
static void make_tags(struct opening *is, struct span *span, struct span_memory *memory, size_t count)
{
	is->tags = (struct tag *)(void *)buffer_reserve(&memory->tags, count * sizeof(struct tag));
	is->tags_left = count;
	memory->tags.size += count * sizeof(struct tag);
	span->tags = (const struct tag *)(const void *)memory->tags.data;
}

static __attribute__((noinline)) void get_more(
	struct opening *is, struct span *span, struct span_memory *memory)
{
	size_t tags = get_count(is), links = get_count(is), annotations = span->annotation_count;
	uint8_t flags = get_u8(is);
	struct attributes *of_annotations;
	struct span_link *its_links;
	struct span_more *more;

	if (is->failed)
		return;
	make_tags(is, span, memory, tags);
	annotations = flags & HAS_ATTRIBUTES ? annotations : 0;
	more = (struct span_more *)(void *)buffer_reserve(&memory->more,
		sizeof(*more) + annotations * sizeof(*of_annotations) + links * sizeof(*its_links));
	of_annotations = (struct attributes *)(void *)(more + 1);
	its_links = (struct span_link *)(void *)(of_annotations + annotations);
	*more = (struct span_more){.ours = (flags & OURS) != 0,
		.no_kind = (flags & NO_KIND) != 0,
		.links = its_links,
		.link_count = links};
	more->of_annotations = flags & HAS_ATTRIBUTES ? of_annotations : NULL;
	more->flags = (uint32_t)get_number(is);
	more->trace_state = get_text(is);
	more->status = (enum span_status)get_u8(is);
	if (more->status > SPAN_STATUS_ERROR)
		fail(is);
	more->status_message = get_text(is);
	more->dropped_tags = (uint32_t)get_number(is);
	more->dropped_annotations = (uint32_t)get_number(is);
	more->dropped_links = (uint32_t)get_number(is);
	more->scope_name = get_text(is);
	more->scope_version = get_text(is);
	more->scope_schema = get_text(is);
	more->scope = get_attributes(is);
	more->resource_schema = get_text(is);
	more->resource = get_attributes(is);
	for (size_t i = 0; i < links && !is->failed; i++)
		its_links[i] = get_link(is);
	for (size_t i = 0; i < annotations && !is->failed; i++)
		of_annotations[i] = get_attributes(is);
	span->more = more;
}

/* NULL: it is none. */
static inline const struct head *find_head(const uint8_t *bytes, size_t size)
{
	const struct head *head = (const struct head *)bytes;

	if (size < sizeof(*head) || head->version != VERSION || head->kind > SPAN_CONSUMER ||
		le16toh(head->flags) >= FLAGS_END)
		return NULL;
	return head;
}

/* All of the span that record_open does not set itself. Field by field, as clearing it first takes longer
 * than all of this. */
static inline void set_head(struct span *span, const struct head *head)
{
	unsigned flags = le16toh(head->flags);

	span->trace_id_high = le64toh(head->trace_id_high);
	span->trace_id = le64toh(head->trace_id);
	span->id = le64toh(head->id);
	span->parent_id = le64toh(head->parent_id);
	span->kind = (enum span_kind)head->kind;
	span->shared = (flags & SHARED) != 0;
	span->debug = (flags & DEBUG) != 0;
	span->classic = (flags & CLASSIC) != 0;
	span->timestamp = (int64_t)le64toh(head->timestamp);
	span->duration = (int64_t)le64toh(head->duration);
	span->pid = le32toh(head->pid);
	span->has_user = (flags & HAS_USER) != 0;
	span->has_remote = (flags & HAS_REMOTE) != 0;
	span->last_event = (int64_t)le64toh(head->last_event);
	span->more = NULL;
	span->added = NULL;
	span->added_count = 0;
}

bool record_open(struct span *span, const uint8_t *bytes, size_t size, struct span_memory *memory)
{
	struct opening is = {.end = bytes + size};
	const struct head *head = find_head(bytes, size);

	if (!head)
		return false;
	is.at = bytes + sizeof(*head);
	set_head(span, head);
	span_memory_clear(memory);
	span->annotation_count = get_count(&is);
	span->tag_count = get_count(&is);
	span->name = get_text(&is);
	span->program = get_text(&is);
	span->user = span->has_user ? (uint32_t)get_number(&is) : 0;
	get_endpoint(&is, &span->local);
	if (span->has_remote)
		get_endpoint(&is, &span->remote);
	else
		span->remote = (struct endpoint){0};
	if (is.failed)
		return false;
	get_annotations(&is, span,
		(struct annotation *)(void *)buffer_reserve(
			&memory->annotations, span->annotation_count * sizeof(struct annotation)));
	make_tags(&is, span, memory, span->tag_count);
	get_tags(&is, span->tag_count);
	if (le16toh(head->flags) & HAS_MORE &&
		!is.failed) { /* apart, so that the rest can stay in registers */
		struct opening rest = is;

		get_more(&rest, span, memory);
		is = rest;
	}
	return !is.failed && is.at == is.end;
}

bool record_trait(struct trait *trait, const uint8_t *bytes, size_t size)
{
	const struct head *head = find_head(bytes, size);
	int64_t duration;

	if (!head)
		return false;
	duration = (int64_t)le64toh(head->duration);
	*trait = (struct trait){
		.trace_id_high = le64toh(head->trace_id_high),
		.trace_id = le64toh(head->trace_id),
		.id = le64toh(head->id),
		.last_event = (int64_t)le64toh(head->last_event),
		.error = (le16toh(head->flags) & HAS_ERROR) != 0,
		.duration = duration > 0 ? (uint64_t)duration : 0,
	};
	return true;
}

uint32_t record_service(const uint8_t *bytes, size_t size)
{
	struct opening is = {.at = bytes, .end = bytes + size};
	const struct head *head = find_head(bytes, size);

	if (!head)
		return 1;
	is.at += sizeof(*head);
	get_number(&is); /* annotations */
	get_number(&is); /* tags */
	get_text(&is);   /* its name */
	get_text(&is);   /* the program's */
	if (le16toh(head->flags) & HAS_USER)
		get_number(&is);
	return hash_service(get_text(&is));
}
