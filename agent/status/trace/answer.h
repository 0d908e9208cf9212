/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `blkin why` has answered about a late trace, as the flight recorder keeps it
 * (supervise/flightfolder.h): a line of JSON for each span. The file may be damaged, huge, or something else:
 * so much of it is read, and what is no answer is counted and left out.
 */
#ifndef STATUS_TRACE_ANSWER_H
#define STATUS_TRACE_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "base/buffer.h"
#include "core/text.h"
#include "status/trace/span2.h"
#include "status/trace/spanpart.h"
#include "status/trace/whom.h"

/* So much of a file is read, and so many spans, sentences and bytes of one. */
#define ANSWER_BYTES_MAX (4 * 1024 * 1024)
#define ANSWER_SPANS_MAX 1000
#define ANSWER_SENTENCES_MAX 20
#define ANSWER_SENTENCE_MAX 1000
/* Of each kind the first are kept, which took longest, and the others are counted. */
#define ANSWER_RUNNERS 3
#define ANSWER_WAITS 3
#define ANSWER_CALLS 6

/* A system call's name; "" if there was none, it is not known, or these are several. */
typedef char answer_call_name[32];

/* Times are in ns. */
struct answer_span {
	uint64_t id;
	enum span2_kind kind;
	struct span2 *span;  /* as it was then, owned; NULL once somebody has taken it */
	int64_t tid;         /* its thread, in the program's numbers; WHOM_NO_NUMBER if it is not known */
	int64_t duration;    /* the sum of */
	int64_t part[PARTS]; /* which are not negative */
	char *cause;         /* a sentence without its end, owned; "" if there is none */
	struct answer_runner {
		struct whom whom;
		int64_t time;
	} runners[ANSWER_RUNNERS]; /* who ran while it was runnable */
	struct answer_wait {
		answer_call_name call;
		struct whom by; /* who woke it */
		int64_t count, time;
	} waits[PARTS][ANSWER_WAITS];
	struct answer_call {
		answer_call_name name;
		int64_t count, time;
	} calls[ANSWER_CALLS];
	unsigned runner_count, wait_count[PARTS], call_count; /* also of those that are not kept */
};

struct answer {
	bool is;             /* there is a file, whatever is in it */
	const char *error;   /* why it cannot be read, a clause; NULL if it could be */
	GPtrArray *spans;    /* of struct answer_span; owned, as all here */
	GPtrArray *missing;  /* sentences, of char *: what was not recorded, so that it is not known */
	unsigned damaged;    /* lines that are no answer about this trace */
	bool cut;            /* the file has more */
	struct buffer lines; /* of JSON, of those spans: each ends with a line break */
};

/* Reads what the folder @path has of the trace @trace_id; @high: the upper half of its id, 0 finds any. The
 * caller's, to be cleared. */
void answer_read(struct answer *answer, const char *path, uint64_t high, uint64_t trace_id);

/* The same, of text that is there. */
void answer_parse(struct answer *answer, const char *text, size_t size, uint64_t high, uint64_t trace_id);

void answer_clear(struct answer *answer);

/* What it has about a span, or one program's half of it; NULL: nothing. */
const struct answer_span *answer_about(const struct answer *answer, uint64_t id, enum span2_kind kind);

/* All about its spans as a list in JSON, as `blkin why --json` has it of each. */
void answer_put_json(struct buffer *out, const struct answer *answer);

/* answerline.c: reads a line, whose sentences go to @missing unless that is NULL. The span, to be freed;
 * NULL: it is none. */
struct answer_span *answer_read_line(struct text line, GPtrArray *missing);
void answer_span_free(void *span);

#endif
