/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/repair.h"

#include "base/utf8.h"

/* Where the repaired texts and the copies of tags go: there is room for all. */
struct repair {
	char *at;
	struct tag *tags;
	unsigned repaired;
};

/* What a span needs of that. */
struct needs {
	size_t texts, tags;
};

static void repair(struct repair *repair, struct text *text)
{
	size_t size;

	if (utf8_valid(text->data, text->size))
		return;
	size = utf8_repair(repair->at, text->data, text->size);
	*text = (struct text){repair->at, (uint32_t)size};
	repair->at += size;
	repair->repaired++;
}

static const struct tag *repair_tags(struct repair *is, const struct tag *tags, size_t count)
{
	struct tag *copies = is->tags;

	for (size_t i = 0; i < count; i++) {
		copies[i] = tags[i];
		repair(is, &copies[i].key);
		if (tags[i].type < TAG_BYTES)
			repair(is, &copies[i].value);
	}
	is->tags += count;
	return copies;
}

static void need_tags(struct needs *needs, const struct tag *tags, size_t count)
{
	for (size_t i = 0; i < count; i++)
		needs->texts += (size_t)tags[i].key.size + tags[i].value.size;
	needs->tags += count;
}

/* struct span_more */

static void need_more(struct needs *needs, const struct span *span)
{
	const struct span_more *more = span->more;

	needs->texts += (size_t)more->trace_state.size + more->status_message.size + more->scope_name.size +
			more->scope_version.size + more->scope_schema.size + more->resource_schema.size;
	need_tags(needs, more->scope.tags, more->scope.count);
	need_tags(needs, more->resource.tags, more->resource.count);
	for (size_t i = 0; i < more->link_count; i++) {
		needs->texts += more->links[i].trace_state.size;
		need_tags(needs, more->links[i].attributes.tags, more->links[i].attributes.count);
	}
	for (size_t i = 0; more->of_annotations && i < span->annotation_count; i++)
		need_tags(needs, more->of_annotations[i].tags, more->of_annotations[i].count);
}

static void repair_attributes(struct repair *is, struct attributes *attributes)
{
	attributes->tags = repair_tags(is, attributes->tags, attributes->count);
}

/* Makes @to, behind which is room for what it has several of. */
static void repair_more(struct repair *is, const struct span *span, struct span_more *to)
{
	const struct span_more *more = span->more;
	struct span_link *links = (struct span_link *)(void *)(to + 1);
	struct attributes *of_annotations = (struct attributes *)(void *)(links + more->link_count);

	*to = *more;
	repair(is, &to->trace_state);
	repair(is, &to->status_message);
	repair(is, &to->scope_name);
	repair(is, &to->scope_version);
	repair(is, &to->scope_schema);
	repair(is, &to->resource_schema);
	repair_attributes(is, &to->scope);
	repair_attributes(is, &to->resource);
	for (size_t i = 0; i < more->link_count; i++) {
		links[i] = more->links[i];
		repair(is, &links[i].trace_state);
		repair_attributes(is, &links[i].attributes);
	}
	to->links = links;
	if (!more->of_annotations)
		return;
	for (size_t i = 0; i < span->annotation_count; i++) {
		of_annotations[i] = more->of_annotations[i];
		repair_attributes(is, &of_annotations[i]);
	}
	to->of_annotations = of_annotations;
}

static size_t more_size(const struct span *span)
{
	if (!span->more)
		return 0;
	return sizeof(struct span_more) + span->more->link_count * sizeof(struct span_link) +
	       span->annotation_count * sizeof(struct attributes);
}

/* The span */

static struct needs needs_of(const struct span *span)
{
	struct needs needs = {(size_t)span->name.size + span->program.size + span->local.service.size +
				      span->remote.service.size,
		0};

	for (size_t i = 0; i < span->annotation_count; i++)
		needs.texts += span->annotations[i].value.size;
	need_tags(&needs, span->tags, span->tag_count);
	if (span->more)
		need_more(&needs, span);
	return needs;
}

unsigned span_repair(const struct span *from, struct span *to, struct buffer *memory)
{
	size_t annotations = from->annotation_count * sizeof(struct annotation);
	struct needs needs = needs_of(from);
	struct annotation *its_annotations;
	struct span_more *more;
	struct repair texts = {0};

	memory->size = 0;
	buffer_reserve(memory, annotations + needs.tags * sizeof(struct tag) + more_size(from) +
				       UTF8_REPAIRED_MAX(needs.texts));
	its_annotations = (struct annotation *)(void *)memory->data;
	texts.tags = (struct tag *)(void *)(memory->data + annotations);
	more = (struct span_more *)(void *)(texts.tags + needs.tags);
	texts.at = (char *)more + more_size(from);
	*to = *from;
	repair(&texts, &to->name);
	repair(&texts, &to->program);
	repair(&texts, &to->local.service);
	repair(&texts, &to->remote.service);
	for (size_t i = 0; i < from->annotation_count; i++) {
		its_annotations[i] = from->annotations[i];
		repair(&texts, &its_annotations[i].value);
	}
	to->annotations = its_annotations;
	to->tags = repair_tags(&texts, from->tags, from->tag_count);
	if (from->more) {
		repair_more(&texts, from, more);
		to->more = more;
	}
	return texts.repaired;
}
