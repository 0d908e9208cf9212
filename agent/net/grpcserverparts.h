/* SPDX-License-Identifier: BSD-2-Clause */
/* The engine of gRPC as its parts share it. */
#ifndef NET_GRPCSERVERPARTS_H
#define NET_GRPCSERVERPARTS_H

#include <glib.h>
#include <nghttp2/nghttp2.h>

#include "net/grpcserver.h"
#include "net/h2meter.h"

/* Headers of a call, as HTTP/2 counts them: with 32 bytes more for each. */
#define GRPC_HEADERS_MAX (16 * 1024)
/* Before each message: whether it is compressed, and its length. */
#define GRPC_PREFIX_SIZE 5

struct grpcserver {
	struct grpcserver_options options;
	nghttp2_session *session;
	struct h2meter meter;
	GQueue calls;     /* of struct grpccall: each stream there is */
	GQueue waiting;   /* of struct grpccall: for room, the first one first */
	size_t room_used; /* by calls that wait no more */
	unsigned orphans; /* calls that wait for an answer which nobody waits for */
	bool stopped;     /* no call begins any more */
	bool left;        /* the peer has said that it goes */
	const char *why;  /* the connection ends */
	bool dead;        /* there is no more output either */
};

enum grpccall_state {
	GRPCCALL_HEADERS,
	GRPCCALL_MESSAGE, /* comes */
	GRPCCALL_WAITS,   /* for its answer */
	GRPCCALL_ANSWERED
};

enum grpccall_encoding { GRPCCALL_IDENTITY, GRPCCALL_GZIP, GRPCCALL_OTHER };

/* A stream. */
struct grpccall {
	GList link;    /* in `calls` */
	GList waiting; /* in `waiting`, while `waits` */
	struct grpcserver *server;
	int32_t stream;
	enum grpccall_state state;
	/* its headers */
	size_t headers_size;
	size_t method; /* the count of them: none that there is */
	enum grpccall_encoding encoding;
	bool posts, speaks_grpc, ended; /* the peer says no more */
	/* its message */
	uint8_t prefix[GRPC_PREFIX_SIZE];
	unsigned prefix_size;
	uint32_t length;
	bool waits;
	size_t room; /* of the server's */
	struct buffer in;
	/* its answer */
	struct buffer out;
	size_t sent;
};

/* grpccall.c: what nghttp2 tells of streams */

/* NULL: there is none, or none any more. */
struct grpccall *grpccall_find(const struct grpcserver *server, int32_t stream);

/* A stream begins; false if there are too many. */
bool grpccall_begin(struct grpcserver *server, int32_t stream);
void grpccall_take_header(struct grpccall *call, const nghttp2_vec *name, const nghttp2_vec *value);
/* The headers are whole. */
void grpccall_finish_headers(struct grpccall *call);
void grpccall_take_data(struct grpccall *call, const uint8_t *data, size_t size);
/* The peer has said all. */
void grpccall_finish(struct grpccall *call);
/* The stream is over, by whomever. */
void grpccall_end(struct grpccall *call);

/* Room for the message is given back; others get it. */
void grpccall_leave_room(struct grpccall *call);

/* grpcanswer.c */

/* Once for each call. */
void grpcanswer_put(struct grpccall *call, const struct grpcserver_answer *answer);

/* What does not speak gRPC gets a status of HTTP. */
void grpcanswer_put_http(struct grpccall *call, const char *status);

#endif
