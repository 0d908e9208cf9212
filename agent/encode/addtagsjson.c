/* SPDX-License-Identifier: BSD-2-Clause */
/* Adding tags to a span in JSON: addtags.h. */
#include "encode/addtags.h"
#include "encode/wanted.h"

/* Where a text ends that begins at @at; NULL: it does not. */
static const char *find_quote(const char *at, const char *end)
{
	const char *quote = memchr(at, '"', (size_t)(end - at));

	while (quote) {
		const char *before = quote;

		while (before > at && before[-1] == '\\')
			before--;
		if ((quote - before) % 2 == 0)
			break;
		quote = memchr(quote + 1, '"', (size_t)(end - quote - 1));
	}
	return quote;
}

/* Goes through the span's own tags. A key that needs an escape is none of ours. */
static bool read_own(const char *at, const char *end, struct wanted *wanted)
{
	const char *key_end, *value_end;

	while (at < end && *at == '"') {
		key_end = find_quote(at + 1, end);
		if (!key_end || end - key_end < 4 || key_end[1] != ':' || key_end[2] != '"')
			return false;
		value_end = find_quote(key_end + 3, end);
		if (!value_end || end - value_end < 2)
			return false;
		leave_out(wanted, (struct text){at + 1, (uint32_t)(key_end - at - 1)});
		at = value_end + (value_end[1] == ',' ? 2 : 1);
	}
	return at < end && *at == '}';
}

/* Behind the bracket of the span's own tags; NULL: it has none. In a text, quotes are escaped. */
static const char *find_own(const char *begin, const char *end)
{
	static const char before[] = ",\"tags\":";
	const size_t size = sizeof(before) - 1;

	for (const char *at = begin + 1; (at = memchr(at, '{', (size_t)(end - at))); at++)
		if ((size_t)(at - begin) >= size && !memcmp(at - size, before, size))
			return at + 1;
	return NULL;
}

static bool ends_with(const char *begin, const char *end, const char *member)
{
	size_t size = strlen(member);

	return (size_t)(end - begin) > size && !memcmp(end - size, member, size);
}

/* Where the tags go if there are none: ahead of what would follow them. */
static const char *find_place(const char *begin, const char *end)
{
	static const char *const members[] = {",\"debug\":true", ",\"shared\":true"};
	const char *place = end - 1;

	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
		if (ends_with(begin, *place == '}' ? place : place - 1, members[i]))
			place = (*place == '}' ? place : place - 1) - strlen(members[i]) + 1;
	return place;
}

static char *put(char *to, const char *bytes, size_t size)
{
	memcpy(to, bytes, size);
	return to + size;
}

#define PUT(to, literal) put(to, literal, sizeof(literal) - 1)

static char *put_members(char *to, const struct wanted *wanted)
{
	for (size_t i = 0; i < wanted->count; i++) {
		const struct tag *tag = &wanted->tags[i];

		if (!is_wanted(wanted, i))
			continue;
		*to++ = '"';
		to = put(to, tag->key.data, tag->key.size);
		to = PUT(to, "\":\"");
		to = put(to, tag->value.data, tag->value.size);
		to = PUT(to, "\",");
	}
	return to - 1;
}

static size_t room(const struct wanted *wanted)
{
	size_t bytes = sizeof(",\"tags\":{},");

	for (size_t i = 0; i < wanted->count; i++)
		bytes += wanted->tags[i].key.size + wanted->tags[i].value.size + sizeof("\"\":\"\",");
	return bytes;
}

static char *put_item(char *to, struct text item, const char *place, bool own, const struct wanted *wanted)
{
	size_t before = (size_t)(place - item.data);
	bool last = *place == '}';

	to = put(to, item.data, before);
	if (!own && last)
		*to++ = ',';
	if (!own)
		to = PUT(to, "\"tags\":{");
	to = put_members(to, wanted);
	if (!own)
		*to++ = '}';
	if (!last)
		*to++ = ',';
	return put(to, place, item.size - before);
}

bool addtags_json(struct buffer *out, struct text item, const struct tag *tags, size_t count)
{
	const char *begin = item.data, *end = begin + item.size, *place;
	struct wanted wanted = want(tags, count);
	char *start;
	bool own;

	if (item.size < 2 || *begin != '{' || end[-1] != '}')
		return false;
	place = find_own(begin, end);
	own = place;
	if (own && !read_own(place, end, &wanted))
		return false;
	if (!wanted.bits) {
		buffer_put(out, item.data, item.size);
		return true;
	}
	start = (char *)buffer_reserve(out, item.size + room(&wanted));
	out->size +=
		(size_t)(put_item(start, item, own ? place : find_place(begin, end), own, &wanted) - start);
	return true;
}
