/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls to a Scribe server, read by hand, and the replies to them. Framed and unframed, with TBinary's strict
 * header and without. Everything in a call is untrusted.
 */
#ifndef NET_SCRIBECALL_H
#define NET_SCRIBECALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "core/traceid.h"
#include "net/tbinary.h"
#include "net/trail.h"

/* The most messages of a call. */
#define SCRIBECALL_MESSAGES_MAX (1 << 18)
/*
 * Beside its messages, an agent's call of Log() may name the agents that they may have come through, in a
 * field that other servers skip: a list of numbers of eight bytes. It is no string, as a server in Python 3
 * decodes even those that it skips.
 */
#define SCRIBECALL_VIA_FIELD 25196
/* And one with the entries' trails (trail.h), packed one after the other: a list of bytes. */
#define SCRIBECALL_TRAILS_FIELD 25197
/*
 * An output that finds out which share of the traces it keeps tells the one that it keeps now, as the largest
 * hash (queue/quota.h), in eight bytes; and then an agent that finds one out, too, has its own in this field
 * of the answer, or 0 if it does not know yet. Who does not tell any gets the usual answer.
 */
#define SCRIBECALL_SHARE_FIELD 25198
/*
 * With spans from its disk, an agent says so, by a number that is not 0; and then one whose own outputs do
 * not keep up says in this field of the answer how many of those it takes from this sender in a second.
 */
#define SCRIBECALL_REPLAY_FIELD 25199
/*
 * An agent that keeps whole traces names them here, in a list of numbers of eight bytes, two for each id, the
 * upper half first. It may be empty; who sends it gets the same field in the answer, with those that others
 * named. Such a call may have no messages.
 */
#define SCRIBECALL_WANTED_FIELD 25195
#define SCRIBECALL_VIA_MAX 256

enum scribecall_method {
	SCRIBECALL_LOG,
	SCRIBECALL_GET_NAME,
	SCRIBECALL_GET_VERSION,
	SCRIBECALL_GET_STATUS,
	SCRIBECALL_GET_STATUS_DETAILS,
	SCRIBECALL_GET_COUNTERS,
	SCRIBECALL_GET_COUNTER,
	SCRIBECALL_GET_OPTION,
	SCRIBECALL_GET_OPTIONS,
	SCRIBECALL_ALIVE_SINCE,
	SCRIBECALL_REFUSED, /* it is known, and not for others to call: shutdown, reinitialize, setOption */
	SCRIBECALL_UNKNOWN
};

struct scribecall {
	enum scribecall_method method;
	struct tbinary_message head; /* borrows from the bytes, as all below */
	bool strict;
	bool wants_reply;
	/* of Log() */
	uint32_t count;
	struct tbinary_reader entries; /* at the first; all are sound */
	const uint8_t *via;
	uint32_t via_count;
	const uint8_t *trails; /* of the entries that were not read yet */
	uint32_t trails_size;
	uint64_t share;        /* that its sender keeps; 0: it does not say */
	bool replayed;         /* its messages have waited on its sender's disk */
	bool hears;            /* its sender wants to hear which traces are wanted, and names */
	const uint8_t *wanted; /* these: ids of 16 bytes, */
	uint32_t wanted_count; /* so many */
	/* of getCounter() and getOption() */
	const uint8_t *key;
	uint32_t key_size;
};

/* Reads the call in @size bytes; false, with the reason, in @why, if it is none, and no answer is possible.
 */
bool scribecall_read(struct scribecall *call, const void *data, size_t size, char *why, size_t why_size);

/* A message; what is missing is NULL. */
struct scribecall_entry {
	const uint8_t *category, *message;
	uint32_t category_size, message_size;
	struct trail trail;
};

/* Reads the next of the entries; to be called `count` times. */
void scribecall_next(struct scribecall *call, struct scribecall_entry *entry);

/* Replies. What identifies the call, so that its bytes may be gone by then. */
struct scribecall_id {
	char method[64];
	int32_t seqid;
	bool strict, framed;
};

/* The id at @at, of those that a call or a reply names. */
struct trace_id scribecall_wanted(const uint8_t *wanted, uint32_t at);

/* What is in a list of elements of that type and size, or in a string, as agents of before sent some lists,
 * and its size in bytes; NULL: it is something else. */
const uint8_t *scribecall_elements(
	struct tbinary_reader *at, uint8_t type, uint8_t element, uint32_t element_size, uint32_t *size);

void scribecall_identify(const struct scribecall *call, bool framed, struct scribecall_id *id);

/* Each appends a reply. */
void scribecall_put_number(
	struct buffer *out, const struct scribecall_id *id, enum tbinary_type type, int64_t value);
/* What the answer to Log() says beside its result. */
struct scribecall_terms {
	bool shares; /* to a sender who tells a share: */
	uint64_t share;
	uint64_t grant;                /* to one who replays; 0: nothing is said of that */
	bool hears;                    /* to one who wants to hear which traces are wanted: */
	const struct trace_id *wanted; /* these, */
	uint32_t wanted_count;
};

void scribecall_put_result(struct buffer *out, const struct scribecall_id *id, int32_t result,
	const struct scribecall_terms *terms);
void scribecall_put_text(struct buffer *out, const struct scribecall_id *id, const char *text);

struct scribecall_counter {
	const char *name;
	int64_t value;
};

void scribecall_put_counters(struct buffer *out, const struct scribecall_id *id,
	const struct scribecall_counter *counters, uint32_t count);
void scribecall_put_options(struct buffer *out, const struct scribecall_id *id);

enum scribecall_exception { SCRIBECALL_UNKNOWN_METHOD = 1, SCRIBECALL_INTERNAL_ERROR = 6 };

void scribecall_put_exception(struct buffer *out, const struct scribecall_id *id,
	enum scribecall_exception type, const char *words);

#endif
