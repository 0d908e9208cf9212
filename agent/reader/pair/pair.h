/* SPDX-License-Identifier: BSD-2-Clause */
/* One pair: an ENTER, and once it is over, what its EXIT said. Within reader/pair/. */
#ifndef READER_PAIR_PAIR_H
#define READER_PAIR_PAIR_H

#include <sys/queue.h>

#include "base/buffer.h"
#include "base/pack.h"
#include "core/text.h"

/* The year 2096: late enough, and sums of two times cannot overflow. */
#define PAIR_TIME_MAX INT64_C(4000000000000000000)

/* Whose thread it is, as far as events of spans tell, too. */
struct pair_key {
	int64_t pid, tid;
	uint32_t user; /* 0, if has_user is not set */
	uint8_t has_user, kernel;
	uint16_t unused; /* 0: keys are compared as bytes */
};

struct pair {
	struct pair_key key;
	uint64_t where; /* a number of the host and the namespace: in each, there may be a thread of that key
			 */
	uint64_t kind;  /* a number of EXIT's name */
	uint64_t trace_id, id, parent_id;
	int64_t time, traced; /* ns since the epoch */
	int64_t deadline;     /* by the caller's clock */
	int64_t duration;     /* ns; 0: it is open */
	int64_t ends_by; /* of one that is held: neither it nor what is before it in its thread ends later */
	bool apart;      /* a pair around it is over, so it is nobody's parent */
	bool is_cut;     /* fields are missing */
	struct pair_thread *thread;
	struct pair_user *user;
	TAILQ_ENTRY(pair) in_thread, in_order, of_user;
	uint32_t pair_size, name_size, program_size, enter_size, exit_size;
	struct buffer text; /* these, one after the other */
};

TAILQ_HEAD(pair_list, pair);

static inline struct text pair_text_at(const struct pair *pair, uint32_t from, uint32_t size)
{
	return (struct text){size ? (const char *)pair->text.data + from : "", size};
}

/* Its parts: the names of the two events, the span's, the program's, the fields of ENTER, and those of EXIT.
 */
static inline struct text pair_events(const struct pair *pair)
{
	return pair_text_at(pair, 0, pair->pair_size);
}

static inline struct text pair_name(const struct pair *pair)
{
	return pair_text_at(pair, pair->pair_size, pair->name_size);
}

static inline struct text pair_program(const struct pair *pair)
{
	return pair_text_at(pair, pair->pair_size + pair->name_size, pair->program_size);
}

static inline struct text pair_enter(const struct pair *pair)
{
	return pair_text_at(pair, pair->pair_size + pair->name_size + pair->program_size, pair->enter_size);
}

static inline struct text pair_exit(const struct pair *pair)
{
	return pair_text_at(pair, pair->pair_size + pair->name_size + pair->program_size + pair->enter_size,
		pair->exit_size);
}

static inline size_t pair_bytes(const struct pair *pair)
{
	return sizeof(*pair) + pair->text.room;
}

void pair_destroy(struct pair *pair);

/* What pair_load reads, which returns NULL if it is damaged. */
void pair_save(const struct pair *pair, int64_t now, struct buffer *out);
struct pair *pair_load(struct unpacker *from, int64_t now);

#endif
