/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/assemble/pieces.h"

#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "reader/assemble/spannumber.h"

struct piece {
	uint64_t number;
	bool goes_on;
	struct text lines;
};

static const char mark[] = "#~";

bool piece_key_read(struct piece_key *key, const struct event *event)
{
	const char *at = event->key.data, *end = at + event->key.size;
	const size_t size = sizeof(mark) - 1;

	if (event->type != EVENT_TAG || event->key.size <= size || memcmp(at, mark, size) != 0)
		return false;
	at = span_number_read(at + size, end, &key->number);
	if (!at || at == end || (*at != '+' && *at != '-'))
		return false;
	key->goes_on = *at == '-';
	return span_number_read(at + 1, end, &key->start) == end;
}

/* As a tag, so that it is saved as these are: its key is the piece's number, and then '-' if it goes on. */
void pieces_keep(struct pending *pending, const struct piece_key *key, struct text lines)
{
	char number[32];
	int size = g_snprintf(
		number, sizeof(number), "%020" G_GUINT64_FORMAT "%s", key->number, key->goes_on ? "-" : "");
	const struct tag tag = {{number, (uint32_t)size}, lines, PENDING_LINES};

	pending_tag(pending, &tag);
}

static int compare(const void *one, const void *other)
{
	const struct piece *a = one, *b = other;

	return a->number < b->number ? -1 : a->number > b->number;
}

/* Those that were kept, in order, or NULL; what was saved may be anything. */
static struct piece *collect(const struct pending *pending, size_t *count)
{
	const struct pending_tag *tags = (const void *)pending->tags.data;
	struct piece *pieces = NULL, *piece;

	*count = 0;
	for (size_t i = 0; i < pending_tag_count(pending); i++) {
		struct text key = pending_text(pending, tags[i].key);
		const char *end = key.data + key.size, *at = key.data;

		if (tags[i].type != PENDING_LINES)
			continue;
		if (!pieces) /* most spans have none */
			pieces = g_new(struct piece, pending_tag_count(pending) - i);
		piece = &pieces[*count];
		piece->number = 0;
		for (; at < end && g_ascii_isdigit(*at); at++)
			piece->number = piece->number * 10 + (uint64_t)(*at - '0');
		piece->goes_on = at < end;
		piece->lines = pending_text(pending, tags[i].value);
		++*count;
	}
	if (*count > 1)
		qsort(pieces, *count, sizeof(*pieces), compare);
	return pieces;
}

/* Takes what is of a line that has no end off what was written from @begin on; returns whether there was
 * such. */
static bool cut(struct buffer *out, size_t begin)
{
	const size_t size = out->size;

	while (out->size > begin && out->data[out->size - 1] != '\n')
		out->size--;
	return out->size < size;
}

/* Returns whether something of a line is left out. */
static bool put(struct buffer *out, size_t begin, const struct piece *piece, bool gap)
{
	struct text lines = piece->lines;
	bool is_cut = false;

	if (gap) {
		const char *line_end = memchr(lines.data, '\n', lines.size);
		uint32_t skip = !piece->goes_on ? 0
				: line_end      ? (uint32_t)(line_end + 1 - lines.data)
						: lines.size;

		is_cut = cut(out, begin) || skip > 0;
		buffer_put(out, "\0\n", 2);
		lines = (struct text){lines.data + skip, lines.size - skip};
	} else if (!piece->goes_on) {
		is_cut = cut(out, begin);
	}
	buffer_put(out, lines.data, lines.size);
	return is_cut;
}

size_t pieces_join(
	const struct pending *pending, struct text data, uint64_t all, struct buffer *out, bool *is_cut)
{
	const char *line_end = data.size ? memchr(data.data, '\n', data.size) : NULL;
	size_t head = line_end ? (size_t)(line_end + 1 - data.data) : 0, count;
	g_autofree struct piece *pieces = collect(pending, &count);
	const struct piece *last = NULL;

	out->size = 0;
	*is_cut = false;
	if (!count)
		return 0;
	buffer_reserve(out, 1); /* so that there is a text, if it is an empty one */
	buffer_put(out, data.data, head);
	for (size_t i = 0; i < count; i++) {
		if (last &&
			pieces[i].number == last->number) { /* it was read twice, or two go by one number */
			*is_cut |= !text_is_equal(pieces[i].lines, last->lines);
			continue;
		}
		*is_cut |= put(out, head, &pieces[i], pieces[i].number != (last ? last->number : 0) + 1);
		last = &pieces[i];
	}
	*is_cut |= cut(out, head);
	if (last->number < all) /* there were more, or these were others, which nothing says of a piece */
		buffer_put(out, "\0\n", 2);
	buffer_put(out, data.data + head, data.size - head);
	return count;
}
