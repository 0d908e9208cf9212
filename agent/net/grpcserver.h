/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server's side of a connection of gRPC over cleartext HTTP/2: bytes in, bytes out, no I/O. Methods are
 * unary. Everything from the peer is untrusted. libnghttp2 is seen here alone.
 *
 * A connection has so many calls at a time, and of each 64 KiB are taken; one with a larger message gets
 * room for all of it out of what the connection has, or waits for that until another one is whole. So what is
 * held is bounded, and calls never wait for each other without an end.
 *
 * The engine, and what belongs to it, is used by one thread at a time, and is not to be destroyed in its
 * callbacks. Memory is waited for, as by memory.h.
 */
#ifndef NET_GRPCSERVER_H
#define NET_GRPCSERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "net/unsqueeze.h"

#define GRPCSERVER_OTLP_TRACES "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
#define GRPCSERVER_OTLP_LOGS "/opentelemetry.proto.collector.logs.v1.LogsService/Export"

/* What the peer's first frames may use of each call without being asked. */
#define GRPCSERVER_WINDOW 65535

struct grpcserver;

struct grpcserver_options {
	const char *const *methods; /* paths; must outlive the engine */
	const char *unknown;        /* what the call of another method is told; the same */
	size_t method_count;
	unsigned calls;              /* at a time, those that wait for their answer among them */
	size_t message_max;          /* bytes, compressed and not */
	size_t room;                 /* for messages above GRPCSERVER_WINDOW together; at least one's */
	struct unsqueeze *unsqueeze; /* borrowed */
	/*
	 * A call has come whole: of methods[@method], by the number @call. Its @message may be taken over,
	 * leaving zeroes. It is to be answered once, now or later; also if its peer is not there any more.
	 */
	void (*on_call)(void *data, uint32_t call, size_t method, struct buffer *message);
	/* A call was refused: of that method, or of none that there is (@method is the count then). May be
	 * NULL. */
	void (*on_refused)(void *data, size_t method, const char *why);
	void *data;
};

/* @options are copied. */
struct grpcserver *grpcserver_create(const struct grpcserver_options *options);
void grpcserver_destroy(struct grpcserver *server);

/*
 * Takes what has come at @now, CLOCK_MONOTONIC ns: all of it. To be called only while the output is taken: a
 * peer that does not read its answers is not to be read from.
 */
void grpcserver_feed(struct grpcserver *server, const uint8_t *data, size_t size, int64_t now);

/* Appends what is to be sent: until there is no more, or @most bytes or a frame more. */
void grpcserver_take_output(struct grpcserver *server, struct buffer *out, size_t most);

/* gRPC's codes. */
enum grpcserver_status {
	GRPCSERVER_OK = 0,
	GRPCSERVER_INVALID_ARGUMENT = 3,
	GRPCSERVER_RESOURCE_EXHAUSTED = 8,
	GRPCSERVER_UNIMPLEMENTED = 12,
	GRPCSERVER_INTERNAL = 13,
	GRPCSERVER_UNAVAILABLE = 14
};

struct grpcserver_answer {
	enum grpcserver_status status;
	const void *message; /* of GRPCSERVER_OK; borrowed, as what follows */
	size_t size;
	const char *words; /* of all others; NULL: none */
	/*
	 * How long the client should wait, ms, told by google.rpc.RetryInfo; 0: that is not told. A client of
	 * OTLP repeats a call that is GRPCSERVER_RESOURCE_EXHAUSTED only if it is told.
	 */
	uint32_t retry_after;
};

/* Answers a call; there is output then. */
void grpcserver_answer(struct grpcserver *server, uint32_t call, const struct grpcserver_answer *answer);

/* Takes no new calls from now on, and tells the peer. Those that have begun are finished. */
void grpcserver_stop(struct grpcserver *server);

/* Whether the connection is over, once the output is taken. */
bool grpcserver_wants_close(const struct grpcserver *server);

/* What the peer did wrong, so that the connection ends: a sentence about it, of static text; NULL: nothing.
 */
const char *grpcserver_why(const struct grpcserver *server);

struct grpcserver_state {
	unsigned unfinished; /* calls that are not whole */
	unsigned unanswered;
	bool greeted; /* the peer has begun as one of HTTP/2 does */
	size_t bytes; /* of memory for calls that are not whole, and for answers that were not sent */
};

struct grpcserver_state grpcserver_state(const struct grpcserver *server);

#endif
