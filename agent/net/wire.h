/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A wire format: how a run of spans becomes a call to a server, and what its reply means. No I/O here, but
 * for a file of headers. There are two: Scribe's Log() (scribe.c), and POSTs over HTTP (httppost.c).
 */
#ifndef NET_WIRE_H
#define NET_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "core/fault.h"
#include "core/traceid.h"

/* Spans one after another, as encode/ makes them; borrowed. */
struct run {
	const uint8_t *spans;
	const uint32_t *sizes; /* of each */
	uint32_t count;
	size_t size; /* of all */
	/* what an agent in the place of the server is to know, where the wire can say it (scribecall.h) */
	uint64_t share; /* of the traces that is kept here (queue/quota.h); 0: it is told nothing */
	bool replayed;  /* they have waited on a disk: it may say how many a second it takes of these */
	bool hears;     /* it is to say which traces are wanted whole (queue/wanted.h), and is told */
	const struct trace_id *wanted; /* of these, */
	uint32_t wanted_count;
};

enum reply_kind {
	REPLY_PARTIAL, /* more bytes are needed */
	REPLY_GOOD,    /* it took the spans */
	REPLY_REFUSED, /* it does not take these spans, and will not when asked again */
	REPLY_PUT_OFF, /* not now */
	REPLY_UNFIT,   /* it takes no spans at all, not here and not from us */
	REPLY_GARBAGE  /* no answer to a call */
};

struct reply {
	bool ended;            /* given: no more bytes come, or none are waited for */
	const char *sent;      /* given: the file of headers that the call had; NULL: none */
	bool by_proxy;         /* given by the wire: what comes has a proxy's words about the connection */
	int32_t number;        /* of the call that it answers, if replies are numbered */
	size_t used;           /* bytes of it */
	uint64_t lost;         /* REPLY_GOOD: of the spans, it threw away so many; it does not say which */
	int64_t wait_ns;       /* how long to wait before the next call; 0: it does not say */
	bool later;            /* REPLY_PUT_OFF: it asks for time, and does not just fail */
	bool shares;           /* the peer finds out which share of the traces is kept: */
	uint64_t share;        /* this one (queue/quota.h); 0: it does not know yet */
	uint64_t grant;        /* it takes so many replayed spans a second from us; 0: it does not say */
	bool hears;            /* it says which traces are wanted whole: */
	const uint8_t *wanted; /* ids of 16 bytes, big-endian, which are the wire's until the next reply, */
	uint32_t wanted_count; /* so many */
	bool last;             /* the server takes no more calls on this connection */
	bool begun;            /* REPLY_PARTIAL: what came says already what it is; the end may say more */
	bool unended;          /* it has no end, though the server stays connected */
	enum fault fault;      /* REPLY_UNFIT, REPLY_GARBAGE: FAULT_NONE if it is as usual with them */
	char words[256];       /* its reason, or what is wrong with it: printable, without an end of line */
};

/* A reply larger than this is none. */
#define REPLY_MAX (64 * 1024)

struct wire {
	/* Appends the call with that number to @out, which is empty. */
	void (*put_call)(struct wire *wire, const struct run *run, int32_t number, struct buffer *out);

	/* Reads one reply from the @size bytes at @data; @reply is all zeros before, but for what is given.
	 */
	enum reply_kind (*get_reply)(
		struct wire *wire, const uint8_t *data, size_t size, struct reply *reply);

	/*
	 * Makes it ready for calls on a new connection. False if that cannot be done, with one sentence in
	 * @why, of @size bytes. NULL: it always is.
	 */
	bool (*ready)(struct wire *wire, char *why, size_t size);

	void (*destroy)(struct wire *wire);

	/* It can say which traces are wanted, and a call may have no spans. */
	bool hears;
	/* Replies carry the number of their call; otherwise they only come in the order of the calls. */
	bool numbered;
	/* Only one call may be open until a reply has said that the connection stays open. */
	bool careful;
	/* A refusal may come before its call was sent whole; then it is the last reply. */
	bool early;
};

#endif
