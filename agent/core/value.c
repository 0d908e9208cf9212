/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/value.h"

#include "core/varint.h"

static uint8_t *put_text(uint8_t *to, struct text text)
{
	to = varint_put(to, text.size);
	if (text.size)
		memcpy(to, text.data, text.size);
	return to + text.size;
}

void value_put(struct buffer *out, bool in_map, const struct tag *value)
{
	uint8_t *to = buffer_reserve(out, 1 + 2 * VARINT_MAX + (size_t)value->key.size + value->value.size);

	*to++ = (uint8_t)value->type;
	if (in_map)
		to = put_text(to, value->key);
	to = put_text(to, value->value);
	out->size = (size_t)(to - out->data);
}

/* Most are short: a byte is kept for the size, and what turns out longer is moved. */
size_t value_open(struct buffer *out, bool in_map, struct text key, enum tag_type type)
{
	uint8_t *to = buffer_reserve(out, 2 + VARINT_MAX + (size_t)key.size);

	*to++ = (uint8_t)type;
	if (in_map)
		to = put_text(to, key);
	*to++ = 0;
	out->size = (size_t)(to - out->data);
	return out->size;
}

void value_close(struct buffer *out, size_t begin)
{
	uint8_t size[VARINT_MAX];
	size_t bytes = (size_t)(varint_put(size, out->size - begin) - size), more = bytes - 1;

	buffer_reserve(out, more);
	if (more)
		memmove(out->data + begin + more, out->data + begin, out->size - begin);
	memcpy(out->data + begin - 1, size, bytes);
	out->size += more;
}

static const uint8_t *get_text(const uint8_t *at, const uint8_t *end, struct text *text)
{
	uint64_t size;

	at = varint_get(at, end, &size);
	if (!at || size > (uint64_t)(end - at))
		return NULL;
	*text = (struct text){(const char *)at, (uint32_t)size};
	return at + size;
}

bool value_next(struct text *rest, bool in_map, struct tag *value)
{
	const uint8_t *at = (const uint8_t *)rest->data, *end = at + rest->size;

	if (!rest->size || *at >= TAG_TYPES)
		return false;
	*value = (struct tag){{"", 0}, {"", 0}, (enum tag_type) * at++};
	if (in_map)
		at = get_text(at, end, &value->key);
	at = at ? get_text(at, end, &value->value) : NULL;
	if (!at)
		return false;
	*rest = (struct text){(const char *)at, (uint32_t)(end - at)};
	return true;
}
