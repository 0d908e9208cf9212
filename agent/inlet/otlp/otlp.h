/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenTelemetry's protocol, as every SDK sends it: over HTTP, in Protocol Buffers and JSON (http.c), and over
 * gRPC (grpc.c). A request is taken as a whole, or is to be sent again; spans in it that are none are named
 * in the answer (`partial_success`), as SDKs do not send these again. Log records are messages
 * (encode/otlplogs.h), which are taken while an output takes messages.
 */
#ifndef INLET_OTLP_OTLP_H
#define INLET_OTLP_OTLP_H

#include "base/siphash.h"
#include "encode/otlptraces.h"
#include "inlet/inner.h"
#include "net/unsqueeze.h"

extern const struct protocol otlp_http_protocol, otlp_grpc_protocol;

/* An inlet's own. */
struct otlp_own {
	struct otlp_circle *circle; /* NULL: nothing is kept */
	struct otlp_again *again;   /* the same */
	struct otlptraces_memory memory;
	struct unsqueeze *unsqueeze;
	struct buffer unpacked; /* a body */
};

/* What a request has; the numbers are those of the methods of gRPC. */
enum otlp_signal { OTLP_TRACES, OTLP_LOGS };

/* What the spans, or records, of a request may take once each has what they share, and what it takes to read
 * one span; records are not read. */
#define OTLP_RECORDS_MAX (2 * FRAME_MAX)
#define OTLP_READING_MAX (2 * FRAME_MAX)

void *otlp_create(void);
void otlp_destroy(void *own);

struct otlp_call {
	struct call call;
	enum otlp_signal signal;
	bool is_suspected; /* some of it may have been here before, */
	bool came_round;   /* and has */
	bool is_kept;      /* it is known again */
	bool is_taken;     /* something of it waits to be safe */
	bool json;         /* the answer is, as the request was */
	uint32_t rejected; /* spans, or records */
	char why[200];     /* the first one was; or all of it */
};

/* What a request became. */
enum otlp_result {
	OTLP_WAITS,   /* it is answered once it is safe */
	OTLP_DONE,    /* to be answered now: nothing of it has to be kept */
	OTLP_LATER,   /* to be sent again; it is counted, and protocol->answer was called */
	OTLP_DAMAGED, /* it is none, which is counted, */
	OTLP_OVERSIZE /* or is too large, which is counted, too; call->why says what of it */
};

/* Whether it is one of those that some output takes. If not, it is logged, with the words that the sender is
 * to be told. */
bool otlp_is_taken(struct connection *connection, enum otlp_signal signal);
#define OTLP_NO_METRICS_WORDS                                                                                \
	"this agent takes traces and logs, but no metrics: switch their exporter off "                       \
	"(OTEL_METRICS_EXPORTER=none)"
#define OTLP_NO_LOGS_WORDS                                                                                   \
	"no output of this agent takes messages (`takes` in an [output]), which log records are: switch "    \
	"their exporter off (OTEL_LOGS_EXPORTER=none)"

/* What is said to who sent a request that is damaged. */
const char *otlp_damaged_words(enum otlp_signal signal);

/* Takes an ExportTraceServiceRequest, or an ExportLogsServiceRequest. */
enum otlp_result otlp_take(struct otlp_call *call, const uint8_t *request, size_t size);

/* Has to be called with each answer of a call whose items are safe, or are to come again. */
void otlp_note_answer(struct otlp_call *call, enum answer answer);

/* circle.c */

/* Notes by way of which agents a request comes. Returns whether this one is among them. */
bool otlp_circle_is_suspected(const uint64_t *via, size_t count);

/* Whether an item of a suspected request came before, in another; from now on it has, with @keep. */
bool otlp_circle_has(struct inlet *inlet, const void *identity, size_t size, bool keep);

/* None has. */
void otlp_circle_forget(struct otlp_own *own);

/* again.c */

/* A span of a request that came at @now is taken; returns whether it, and others, have been again and again.
 */
bool otlp_again_note(struct otlp_own *own, const struct span *span, int64_t now);

/* None has. */
void otlp_again_forget(struct otlp_own *own);

/* Between requests: large memory goes. */
void otlp_tidy(struct inlet *inlet);

/* Appends an ExportTraceServiceResponse. */
void otlp_put_response(struct buffer *out, const struct otlp_call *call);

/* Appends a google.rpc.Status, which says what is wrong. */
void otlp_put_status(struct buffer *out, bool json, unsigned code, const char *words);

/* A client that is told to come again is not to do so with all others: seconds. */
unsigned otlp_retry_after(void);

#endif
