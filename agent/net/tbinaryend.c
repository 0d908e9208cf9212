/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/tbinaryend.h"

#include "net/tbinary.h"

/* Longer than any method's name. */
#define METHOD_MAX 256
#define VERSION_MASK 0xffff0000u

struct walk {
	struct tbinaryend *end;
	const uint8_t *data;
	size_t size;
	bool bad;
};

static bool have(const struct walk *walk, size_t bytes)
{
	return walk->size - walk->end->at >= bytes;
}

static bool wrong(struct walk *walk)
{
	walk->bad = true;
	return false;
}

/* The message's head, with or without a version. */
static bool take_head(struct walk *walk)
{
	struct tbinaryend *end = walk->end;
	size_t strict = 0;
	uint32_t name;

	if (!have(walk, 4))
		return false;
	if (walk->data[0] & 0x80) {
		if ((tbinary_i32_at(walk->data) & VERSION_MASK) != TBINARY_VERSION_1)
			return wrong(walk);
		strict = 4;
	}
	if (!have(walk, strict + 4))
		return false;
	name = tbinary_i32_at(walk->data + strict);
	if (name > METHOD_MAX)
		return wrong(walk);
	if (!have(walk, strict + 4 + name + (strict ? 4 : 5)))
		return false;
	end->at = strict + 4 + name + (strict ? 4 : 5);
	end->begun = true;
	end->pending = TBINARY_STRUCT;
	return true;
}

static bool enter(struct walk *walk, uint8_t kind, uint8_t key, uint8_t value, uint64_t left)
{
	struct tbinaryend *end = walk->end;

	if (end->depth == TBINARYEND_DEPTH)
		return wrong(walk);
	end->in[end->depth].kind = kind;
	end->in[end->depth].key = key;
	end->in[end->depth].value = value;
	end->in[end->depth].left = left;
	end->depth++;
	return true;
}

/* What is of no type would have no bytes, and so no end. */
static bool is_type(uint8_t type)
{
	return type >= TBINARY_BOOL && type <= TBINARY_LIST;
}

static bool take_list(struct walk *walk)
{
	const uint8_t *at = walk->data + walk->end->at;
	uint32_t count;

	if (!have(walk, TBINARY_LIST_HEAD))
		return false;
	count = tbinary_i32_at(at + 1);
	walk->end->at += TBINARY_LIST_HEAD;
	if (count > INT32_MAX || (count && !is_type(at[0])))
		return wrong(walk);
	return enter(walk, TBINARY_LIST, 0, at[0], count);
}

static bool take_map(struct walk *walk)
{
	const uint8_t *at = walk->data + walk->end->at;
	uint32_t count;

	if (!have(walk, 6))
		return false;
	count = tbinary_i32_at(at + 2);
	walk->end->at += 6;
	if (count > INT32_MAX || (count && !(is_type(at[0]) && is_type(at[1]))))
		return wrong(walk);
	return enter(walk, TBINARY_MAP, at[0], at[1], 2 * (uint64_t)count);
}

static bool take_bytes(struct walk *walk, size_t bytes)
{
	if (!have(walk, bytes))
		return false;
	walk->end->at += bytes;
	return true;
}

static bool take_string(struct walk *walk)
{
	uint32_t length;

	if (!have(walk, 4))
		return false;
	length = tbinary_i32_at(walk->data + walk->end->at);
	return length > INT32_MAX ? wrong(walk) : take_bytes(walk, 4 + (size_t)length);
}

/* The value that is next, or as much of it as leads into it. */
static bool take_value(struct walk *walk)
{
	switch (walk->end->pending) {
	case TBINARY_BOOL:
	case TBINARY_BYTE:
		return take_bytes(walk, 1);
	case TBINARY_I16:
		return take_bytes(walk, 2);
	case TBINARY_I32:
		return take_bytes(walk, 4);
	case TBINARY_I64:
	case TBINARY_DOUBLE:
		return take_bytes(walk, 8);
	case TBINARY_STRING:
		return take_string(walk);
	case TBINARY_STRUCT:
		return enter(walk, TBINARY_STRUCT, 0, 0, 0);
	case TBINARY_LIST:
	case TBINARY_SET:
		return take_list(walk);
	case TBINARY_MAP:
		return take_map(walk);
	default:
		return wrong(walk);
	}
}

/* Goes to the next value of a struct, or to its end. */
static bool take_field(struct walk *walk)
{
	struct tbinaryend *end = walk->end;
	uint8_t type;

	if (!have(walk, 1))
		return false;
	type = walk->data[end->at];
	if (type == TBINARY_STOP) {
		end->at++;
		end->depth--;
		return true;
	}
	if (!have(walk, 3))
		return false;
	end->at += 3;
	end->pending = type;
	return true;
}

/* The same of a list or map. */
static void take_next(struct tbinaryend *end)
{
	uint64_t left = end->in[end->depth - 1].left;

	if (!left) {
		end->depth--;
		return;
	}
	end->in[end->depth - 1].left--;
	end->pending = end->in[end->depth - 1].kind == TBINARY_MAP && left % 2 == 0
			       ? end->in[end->depth - 1].key
			       : end->in[end->depth - 1].value;
}

static bool step(struct walk *walk)
{
	struct tbinaryend *end = walk->end;
	uint8_t type = end->pending;

	if (!end->begun)
		return take_head(walk);
	if (type) {
		if (!take_value(walk))
			return false;
		end->pending = 0;
		return true;
	}
	if (end->in[end->depth - 1].kind == TBINARY_STRUCT)
		return take_field(walk);
	take_next(end);
	return true;
}

enum tbinaryend_state tbinaryend_find(struct tbinaryend *end, const uint8_t *data, size_t size)
{
	struct walk walk = {.end = end, .data = data, .size = size};

	while (!(end->begun && !end->pending && !end->depth))
		if (!step(&walk))
			return walk.bad ? TBINARYEND_BAD : TBINARYEND_MORE;
	return TBINARYEND_FOUND;
}
