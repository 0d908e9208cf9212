/* SPDX-License-Identifier: BSD-2-Clause */
/* One span in assembly: what has arrived of it so far, in its own memory. */
#ifndef READER_ASSEMBLE_PENDING_H
#define READER_ASSEMBLE_PENDING_H

#include <sys/queue.h>

#include "base/buffer.h"
#include "core/span.h"

/* pending_key.side of pieces, minus one */
#define SIDE_KIND 7u
#define SIDE_SHARED 8u

/*
 * What identifies a span in assembly. Classic annotations have side 0; pieces have their span's kind and
 * shared flag, plus one. These are all of one program, and so of one user: whoever else knows a span's ids
 * has no part in it.
 */
struct pending_key {
	uint64_t trace_id_high, trace_id, span_id;
	unsigned side;
	uint32_t user; /* of pieces, whose program they are of; 0 where that is not known */
	struct text service;
};

/* A slice of the pending span's text. */
struct slice {
	uint32_t offset, size;
};

struct pending_annotation {
	int64_t time; /* ns since the epoch */
	struct slice value;
};

/* The type of a tag that is none, but lines of the span: see pieces.h. */
#define PENDING_LINES TAG_TYPES

struct pending_tag {
	struct slice key, value;
	enum tag_type type;
};

struct pending {
	struct pending_key key; /* its service is allocated together with the struct */
	uint64_t parent_id;
	struct slice name;
	struct endpoint local; /* without the service */
	int64_t first, last;   /* event times, ns since the epoch */
	int64_t deadline;      /* when it is emitted unless another event arrives, on the assembler's clock */
	bool ended;
	uint64_t pieces; /* that have arrived */
	struct buffer text;
	struct buffer annotations; /* of struct pending_annotation */
	struct buffer tags;        /* of struct pending_tag */
	TAILQ_ENTRY(pending) link; /* in a list by deadline */
};

struct pending *pending_create(const struct pending_key *key);
void pending_destroy(struct pending *pending);

/* Bytes of memory that it uses. */
size_t pending_bytes(const struct pending *pending);

struct slice pending_keep(struct pending *pending, struct text text);
void pending_annotate(struct pending *pending, int64_t time, struct text value);
void pending_tag(struct pending *pending, const struct tag *tag);

static inline struct text pending_text(const struct pending *pending, struct slice slice)
{
	return (struct text){slice.size ? (const char *)pending->text.data + slice.offset : "", slice.size};
}

static inline size_t pending_annotation_count(const struct pending *pending)
{
	return pending->annotations.size / sizeof(struct pending_annotation);
}

static inline size_t pending_tag_count(const struct pending *pending)
{
	return pending->tags.size / sizeof(struct pending_tag);
}

#endif
