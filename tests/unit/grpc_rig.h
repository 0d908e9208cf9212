/* SPDX-License-Identifier: BSD-2-Clause */
/* The agent's server of gRPC, and a client of HTTP/2 by nghttp2, with what goes between them in pieces. */
#ifndef GRPC_RIG_H
#define GRPC_RIG_H

#include <check.h>
#include <glib.h>
#include <nghttp2/nghttp2.h>

#include "net/grpcserver.h"

#define RIG_CALLS 8
#define RIG_MESSAGE_MAX (1024 * 1024)
#define RIG_TRACES 0
#define RIG_LOGS 1
#define RIG_UNKNOWN "there is no such method here"

/* Sizes of pieces that all is tried in. */
#define RIG_STEPS 5
extern const size_t rig_steps[RIG_STEPS];

/* A call as the client has it. */
struct rig_call {
	int32_t stream;
	struct buffer request;
	size_t sent;
	bool stays_open; /* the request does not end */
	/* what came */
	char http[8], status[8], words[2048], details[1024];
	struct buffer answer;
	bool closed;
	uint32_t error; /* of RST_STREAM */
};

/* And as the server has it. */
struct rig_taken {
	uint32_t call;
	size_t method;
	struct buffer message;
};

struct rig {
	struct unsqueeze *unsqueeze;
	struct grpcserver *server;
	nghttp2_session *client;
	int64_t now;
	size_t step;       /* bytes of a piece */
	bool answers;      /* each call at once, by OK and its own message */
	GPtrArray *calls;  /* of struct rig_call * */
	GArray *taken;     /* of struct rig_taken */
	unsigned refused;  /* calls, as on_refused says */
	size_t most_bytes; /* of the server's, at any time */
	int64_t goaway;    /* the code; -1: none came */
};

void rig_begin(struct rig *rig);
void rig_end(struct rig *rig);

/* Moves bytes to and fro until there are none. */
void rig_pump(struct rig *rig);

/* Takes what the server says, which nghttp2 reads; returns whether there was anything. */
bool rig_listen(struct rig *rig);

/* A message with its prefix. */
struct buffer rig_frame(bool compressed, const void *message, size_t size);

struct buffer rig_gzip(const void *data, size_t size);

/* It was answered by this message. */
void rig_expect_echo(const struct rig_call *call, const uint8_t *message, size_t size);

/* Begins a call of these headers, to NULL as a name, with those bytes, which are taken over. */
struct rig_call *rig_call_by(
	struct rig *rig, const char *const headers[][2], struct buffer request, bool stays_open);

/* The same with what gRPC's headers are, and one more if @name is not NULL. */
struct rig_call *rig_call(
	struct rig *rig, const char *path, const char *name, const char *value, struct buffer request);

struct rig_taken *rig_taken(struct rig *rig, size_t number);
void rig_answer(struct rig *rig, size_t number, enum grpcserver_status status, const char *words);

#endif
