/* SPDX-License-Identifier: BSD-2-Clause */
/* What an output's rules make of one span: retag.h. */
#include <stdio.h>

#include "core/iptext.h"
#include "encode/terms.h"
#include "encode/zipkin.h"
#include "net/otlpfields.h"
#include "queue/retag.h"

static const struct text redacted = {TAGRULES_REDACTED, sizeof(TAGRULES_REDACTED) - 1};

/* The tags of a span, or of a part of it, before any of them changes. */
struct tag_list {
	const struct tag *tags;
	size_t count;
	struct asked { /* whether a new key is there, of those that a tag was to get: each is a rule's own */
		const char *key;
		bool there;
	} asked[TAGRULES_MAX];
	size_t asked_count;
};

/* What the tags of one span share. */
struct retagging {
	const struct tagrules *rules;
	struct retag_memory *memory;
	struct retag_counts *counts;
	const struct tag *error; /* the one that counts of those at hand; NULL: there is none */
	bool changed;
};

void retag_memory_free(struct retag_memory *memory)
{
	buffer_free(&memory->tags);
	buffer_free(&memory->attributes);
}

static bool has_key(const struct tag *tags, size_t count, struct text key)
{
	for (size_t i = 0; i < count; i++)
		if (text_is_equal(tags[i].key, key))
			return true;
	return false;
}

static const struct tag *find_error(const struct tag *tags, size_t count)
{
	const struct tag *error = NULL;

	for (size_t i = 0; i < count; i++)
		if (text_is(tags[i].key, "error"))
			error = &tags[i];
	return error;
}

/* What tells the reason of an error once more goes the same way. */
static struct tagfate find_fate(const struct retagging *is, const struct tag *tag)
{
	struct tagfate fate = tagrules_find(is->rules, tag->key, tag->value), error;

	if (!is->error || !text_is(tag->key, ZIPKIN_STATUS_DESCRIPTION) ||
		!text_is_equal(tag->value, is->error->value))
		return fate;
	error = tagrules_find(is->rules, is->error->key, is->error->value);
	fate.dropped |= error.dropped;
	fate.redacted |= error.redacted;
	return fate;
}

/* The same of the key that a rule gives, which is looked for once: a span may have any number of tags of the
 * old one. */
static bool has_new_key(struct tag_list *list, struct text key)
{
	size_t i = 0;

	while (i < list->asked_count && list->asked[i].key != key.data)
		i++;
	if (i == list->asked_count)
		list->asked[list->asked_count++] =
			(struct asked){key.data, has_key(list->tags, list->count, key)};
	return list->asked[i].there;
}

static bool is_redacted_now(const struct tagfate *fate, const struct tag *tag)
{
	return fate->redacted && !(tag->type == TAG_TEXT && text_is_equal(tag->value, redacted));
}

static bool changes(const struct tagfate *fate, const struct tag *tag)
{
	return fate->dropped || fate->key.data != tag->key.data || is_redacted_now(fate, tag);
}

/* Makes a tag that changes, one of the list, what becomes of it; false: nothing does. Of two tags that would
 * have the same key, the one that always had it stays. */
static bool change(struct retagging *is, const struct tagfate *fate, struct tag *tag, struct tag_list *list)
{
	bool renamed = fate->key.data != tag->key.data;

	is->changed = true;
	if (fate->dropped || (renamed && has_new_key(list, fate->key))) {
		is->counts->dropped++;
		return false;
	}
	tag->key = fate->key;
	is->counts->renamed += renamed;
	if (!is_redacted_now(fate, tag))
		return true;
	is->counts->redacted++;
	tag->value = redacted;
	tag->type = TAG_TEXT;
	return true;
}

/* Copies those that stay to where there is room for all; returns how many they are. */
static size_t edit(struct retagging *is, struct tag *to, const struct tag *tags, size_t count)
{
	struct tag_list list = {.tags = tags, .count = count};
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		const struct tagfate fate = find_fate(is, &tags[i]);
		struct tag tag = tags[i];

		if (!changes(&fate, &tag) || change(is, &fate, &tag, &list))
			to[kept++] = tag;
	}
	return kept;
}

static void edit_attributes(struct retagging *is, struct tag **to, struct attributes *attributes)
{
	attributes->count = edit(is, *to, attributes->tags, attributes->count);
	attributes->tags = *to;
	*to += attributes->count;
}

/* The text of a status is what Zipkin has in the tag `error`; it has no name that could change. */
static void edit_status(struct retagging *is, struct span_more *more)
{
	const struct tag error = {{"error", 5}, more->status_message, TAG_TEXT};
	struct tagfate fate = find_fate(is, &error);

	if (!more->status_message.size)
		return;
	if (fate.dropped) {
		more->status_message = (struct text){"", 0};
		is->counts->dropped++;
	} else if (fate.redacted && !text_is_equal(more->status_message, redacted)) {
		more->status_message = redacted;
		is->counts->redacted++;
	} else {
		return;
	}
	is->changed = true;
}

static size_t count_more(const struct span *span)
{
	const struct span_more *more = span->more;
	size_t count = more->scope.count + more->resource.count;

	for (size_t i = 0; i < more->link_count; i++)
		count += more->links[i].attributes.count;
	for (size_t i = 0; more->of_annotations && i < span->annotation_count; i++)
		count += more->of_annotations[i].count;
	return count;
}

static void edit_more(struct retagging *is, struct span *span, struct tag *to)
{
	struct retag_memory *memory = is->memory;
	struct span_more *more = &memory->more;
	struct attributes *of_annotations;
	struct span_link *links;
	size_t annotations = span->more->of_annotations ? span->annotation_count : 0;

	*more = *span->more;
	memory->attributes.size = 0;
	of_annotations = (struct attributes *)(void *)buffer_reserve(&memory->attributes,
		annotations * sizeof(*of_annotations) + more->link_count * sizeof(*links));
	links = (struct span_link *)(void *)(of_annotations + annotations);
	for (size_t i = 0; i < annotations; i++) {
		of_annotations[i] = more->of_annotations[i];
		edit_attributes(is, &to, &of_annotations[i]);
	}
	for (size_t i = 0; i < more->link_count; i++) {
		links[i] = more->links[i];
		edit_attributes(is, &to, &links[i].attributes);
	}
	edit_attributes(is, &to, &more->scope);
	edit_attributes(is, &to, &more->resource);
	edit_status(is, more);
	more->of_annotations = annotations ? of_annotations : NULL;
	more->links = links;
	span->more = more;
}

/* The remote endpoint's tags, as encode/otlp.h names them */

enum { OF_SERVICE, OF_ADDRESS, OF_PORT, OF_ALL };

static bool make_name(const struct span *span, int of, struct retag_memory *memory, struct tag *tag)
{
	bool client = terms_kind(span) == SPAN_SERVER;
	const struct endpoint *remote = &span->remote;
	const char *keys[OF_ALL] = {OTLP_PEER_SERVICE, client ? OTLP_CLIENT_ADDRESS : OTLP_SERVER_ADDRESS,
		client ? OTLP_CLIENT_PORT : OTLP_SERVER_PORT};
	char *end = memory->address;

	*tag = (struct tag){{keys[of], (uint32_t)strlen(keys[of])}, {"", 0}, TAG_TEXT};
	if (of == OF_SERVICE) {
		tag->value = remote->service;
	} else if (of == OF_ADDRESS && remote->address_size) {
		end = iptext_put(memory->address, remote);
		tag->value = (struct text){memory->address, (uint32_t)(end - memory->address)};
	} else if (of == OF_PORT && remote->port) {
		tag->type = TAG_INT;
		tag->value.size = (uint32_t)snprintf(memory->port, sizeof(memory->port), "%u", remote->port);
		tag->value.data = memory->port;
	}
	return tag->value.size && !has_key(span->tags, span->tag_count, tag->key);
}

static void forget(struct endpoint *remote, int of)
{
	if (of == OF_SERVICE)
		remote->service = (struct text){"", 0};
	else if (of == OF_ADDRESS)
		remote->address_size = 0;
	else
		remote->port = 0;
}

/* One that changes is a tag like any other from then on. Returns how many these are, at @to. */
static size_t edit_remote(struct retagging *is, struct span *span, struct tag *to)
{
	struct tag_list list = {.tags = span->tags, .count = span->tag_count};
	size_t count = 0;

	for (int of = 0; of < OF_ALL; of++) {
		struct tagfate fate;
		struct tag tag;

		if (!make_name(span, of, is->memory, &tag))
			continue;
		fate = find_fate(is, &tag);
		if (!changes(&fate, &tag))
			continue;
		forget(&span->remote, of);
		if (change(is, &fate, &tag, &list))
			to[count++] = tag;
	}
	span->has_remote = span->remote.service.size || span->remote.address_size || span->remote.port;
	return count;
}

bool retag_span(struct span *span, const struct tagrules *rules, bool names, struct retag_memory *memory,
	struct retag_counts *counts)
{
	struct retagging is = {rules, memory, counts, find_error(span->tags, span->tag_count), false};
	size_t more = span->more ? count_more(span) : 0, count = span->tag_count;
	struct tag *to;

	memory->tags.size = 0;
	to = (struct tag *)(void *)buffer_reserve(&memory->tags, (count + OF_ALL + more) * sizeof(*to));
	span->tag_count = edit(&is, to, span->tags, count);
	span->tags = to;
	is.error = NULL;
	if (names && span->has_remote && (!span->more || span->more->ours))
		span->tag_count += edit_remote(&is, span, to + span->tag_count);
	if (span->more)
		edit_more(&is, span, to + span->tag_count);
	return is.changed;
}
