/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scribe's Log(), and the calls of fb303 that matter: framed and unframed, strict and not. Spans are messages
 * of a category, in Thrift and base64; other messages go to outputs that take them, as they came.
 */
#ifndef INLET_SCRIBE_SCRIBE_H
#define INLET_SCRIBE_SCRIBE_H

#include "base/siphash.h"
#include "inlet/inner.h"
#include "net/scribecall.h"
#include "net/tbinaryend.h"
#include "net/trail.h"
#include "queue/wanted.h"

extern const struct protocol scribe_protocol;

/* A connection's own. */
struct scribe_speech {
	enum { SPEECH_UNKNOWN, SPEECH_FRAMED, SPEECH_UNFRAMED } kind;
	struct tbinaryend end;
	uint64_t turn; /* in which something came that had waited on its sender's disk: quota.h */
	struct wanted_reader reader; /* of what he is told of wanted traces; number 0: he wants none */
};

struct scribe_call {
	struct call call;
	struct scribecall_id id;
	bool shares;   /* its sender tells which share of the traces he keeps, */
	bool replayed; /* or that this has waited on his disk; */
	bool hears;    /* and he wants to hear which traces are wanted */
};

/* An inlet's own: with which items are stamped; when it was drawn, CLOCK_MONOTONIC ns; and of which
 * configuration. */
struct scribe_own {
	uint8_t key[SIPHASH_KEY_SIZE];
	int64_t drawn;
	unsigned configured;
};

/* call.c */
bool scribe_take_call(
	struct connection *connection, const uint8_t *data, size_t size, char *why, size_t why_size);
void scribe_answer(struct call *call, enum answer answer);

/* asked.c */

/* The traces that a sender wants, who wants to hear of those that others want; */
void asked_hear(const struct connection *connection, const struct scribecall *from);

/* and the answer: those that he was not told yet, in @ids. */
void asked_tell(const struct connection *connection, struct scribecall_terms *terms,
	struct trace_id ids[WANTED_TOLD_MAX]);

/* circle.c */

/* What an item is, wherever it comes by: a span's ids, a message's category and payload. */
struct identity {
	const uint8_t *part[2];
	size_t size[2];
};

/* Whether the item has been here before; */
bool circle_came_round(struct inlet *inlet, const struct trail *trail, const struct identity *identity);

/* it has come one agent further. */
void circle_step(struct inlet *inlet, struct trail *trail, const struct identity *identity);

/* messages.c */

/* How many of a call's messages have been here before. */
uint32_t messages_come_round(struct inlet *inlet, const struct scribecall *call);

/* What the call has of each kind. */
struct weight messages_weigh(struct inlet *inlet, const struct scribecall *call, size_t bytes);

/* Adds the spans of a call to the group, and what else is taken. */
void messages_take(const struct connection *connection, struct group *group, struct scribecall *call,
	struct taken *taken);

#endif
