/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/terms.h"

#include <string.h>

/* Comparing more of them would take too long. */
#define TAGS_COMPARED 100

/* The kind of which a classic span's annotation is a core annotation; SPAN_LOCAL: it is none. */
static enum span_kind core_kind(const struct span *span, struct text value)
{
	if (!span->classic || value.size != 2 || (value.data[1] != 's' && value.data[1] != 'r'))
		return SPAN_LOCAL;
	switch (value.data[0]) {
	case 'c':
		return SPAN_CLIENT;
	case 's':
		return SPAN_SERVER;
	case 'm':
		return value.data[1] == 's' ? SPAN_PRODUCER : SPAN_CONSUMER;
	default:
		return SPAN_LOCAL;
	}
}

enum span_kind terms_kind(const struct span *span)
{
	enum span_kind kind = span->kind;

	for (size_t i = 0; i < span->annotation_count && kind == SPAN_LOCAL; i++)
		kind = core_kind(span, span->annotations[i].value);
	return kind;
}

bool terms_say(const struct span *span, enum span_kind kind, const struct annotation *annotation)
{
	return kind != SPAN_LOCAL && core_kind(span, annotation->value) == kind &&
	       (annotation->time == span->timestamp || annotation->time == span_end(span));
}

bool terms_tag_counts(const struct span *span, size_t index)
{
	struct text key = span->tags[index].key;

	if (span->tag_count > TAGS_COMPARED)
		return true;
	for (size_t i = index + 1; i < span->tag_count; i++)
		if (span->tags[i].key.size == key.size && !memcmp(span->tags[i].key.data, key.data, key.size))
			return false;
	return true;
}
