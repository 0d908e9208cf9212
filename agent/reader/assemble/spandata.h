/* SPDX-License-Identifier: BSD-2-Clause */
/* The `data` field of a blkin:span event: a head line, then one for each annotation, tag and so on
 * (blkin/span.h). */
#ifndef READER_ASSEMBLE_SPANDATA_H
#define READER_ASSEMBLE_SPANDATA_H

#include "reader/assemble/spanhead.h"
#include "reader/assemble/spanmarks.h"

/* No program writes more lines into one event with our calls. */
#define SPAN_DATA_LINES 1024
/* Nor, with pieces or by an SDK, into one span: 384 KiB, of which a line takes more than six bytes. Each
 * takes memory here. */
#define SPAN_DATA_MOST 65536

struct span_data {
	const struct span_head *head; /* one of those: */
	struct known_head *last;      /* in the cache; NULL: */
	struct span_head new_head;
	struct endpoint_cache *cache;   /* allocated at the first use, like the following */
	struct annotation *annotations; /* as many as there may be, and some room */
	struct tag *tags;               /* the same; what the agent adds has room behind them */
	size_t room;                    /* of both */
	struct span_marks marks;        /* what lines say that only newer clients write */
	size_t annotation_count, tag_count;
	bool has_remote;
	struct endpoint remote;
	bool has_finish;
	int64_t finish; /* ns after the start */
	uint32_t pid;   /* of struct span, and so is this: */
	struct text program;
	uint64_t pieces; /* how many blkin:annotation and blkin:tag events of this span came before */
	struct known_process {
		uint32_t size, pid, name_size;
		char line[64];
	} process; /* of a span before: its last line, with the break */
};

/*
 * Parses @data of a span that started @start ns after the epoch. The result borrows from @data. Returns false
 * if it is malformed. @lines is zero-initialised before its first use, and reuses its memory.
 */
bool span_data_read(struct span_data *lines, struct text data, int64_t start);

/*
 * The same of a span some of whose lines came before, in events of their own: they are behind the head in
 * @data, SPAN_DATA_MOST of them. In lines that begin with NUL, as none does that a program writes, some are
 * missing.
 */
bool span_data_read_joined(struct span_data *lines, struct text data, int64_t start);

/* The same of such lines alone, without a head. */
bool span_data_read_lines(struct span_data *lines, struct text data, int64_t start);

void span_data_free(struct span_data *lines);

#endif
