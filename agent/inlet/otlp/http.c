/* SPDX-License-Identifier: BSD-2-Clause */
/* OTLP over HTTP/1: POST /v1/traces and /v1/logs. See otlp.h. */
#include <stdio.h>
#include <string.h>

#include "inlet/otlp/otlp.h"
#include "net/httpanswer.h"
#include "net/httprequest.h"

/* gRPC's codes, which errors have in their bodies. */
enum { RPC_INVALID_ARGUMENT = 3, RPC_NOT_FOUND = 5, RPC_RESOURCE_EXHAUSTED = 8, RPC_UNAVAILABLE = 14 };

#define PROTOBUF_TYPE "application/x-protobuf"
#define JSON_TYPE "application/json"

/* A connection's own. */
struct http_own {
	struct httprequest request;
	enum otlp_signal signal;
	const char *refusal; /* of the request under way: its body is not kept; NULL: it is taken */
	int status;
	const char *more; /* header lines of the refusal */
	bool waits;       /* its client does, for 100 Continue, which is due once the requests before it are
			     answered */
	bool over;        /* the last request has come: what is behind it is none */
};

struct http_call {
	struct otlp_call otlp;
	struct httphead head;
};

static void *open_own(struct connection *connection)
{
	struct http_own *own = g_new0(struct http_own, 1);

	(void)connection;
	own->request.most = FRAME_MAX;
	return own;
}

static void close_own(void *data)
{
	struct http_own *own = data;

	httprequest_free(&own->request);
	g_free(own);
}

/* Replies */

/* Whether nothing follows: no answer does either. */
static bool ends(const struct http_call *call)
{
	return call->head.close || (call->otlp.call.connection->inlet->quiet && !call->otlp.call.next);
}

static void let_continue(struct connection *connection)
{
	struct http_own *own = connection->own;
	struct buffer out = {0};

	if (!own->waits || connection->first || connection->closing || connection->inlet->quiet)
		return;
	own->waits = false;
	httpanswer_put_continue(&out);
	connection_write(connection, out.data, out.size);
	buffer_free(&out);
}

static void reply(
	struct http_call *call, int status, const struct buffer *body, unsigned retry, const char *more)
{
	struct connection *connection = call->otlp.call.connection;
	const struct httpanswer answer = {
		.status = status,
		.type = call->otlp.json ? JSON_TYPE : PROTOBUF_TYPE,
		.body = body->data,
		.size = body->size,
		.retry_after = retry,
		.more = more,
		.close = call->otlp.call.closes || ends(call),
	};

	call->otlp.call.closes = answer.close;
	httpanswer_put(&call->otlp.call.reply, &call->head, &answer);
	connection_flush(connection);
	let_continue(connection);
}

static void reply_error(
	struct http_call *call, int status, unsigned code, const char *words, const char *more)
{
	unsigned retry = status == 429 || status == 503 ? otlp_retry_after() : 0;
	struct buffer body = {0};

	otlp_put_status(&body, call->otlp.json, code, words);
	reply(call, status, &body, retry, more);
	buffer_free(&body);
}

static void answer(struct call *data, enum answer answer)
{
	struct http_call *call = (struct http_call *)data;
	struct buffer body = {0};

	otlp_note_answer(&call->otlp, answer);
	if (answer == ANSWER_OK) {
		otlp_put_response(&body, &call->otlp);
		reply(call, 200, &body, 0, NULL);
		buffer_free(&body);
	} else if (call->otlp.came_round) {
		reply_error(call, 429, RPC_RESOURCE_EXHAUSTED,
			"some of it has been here before: agents deliver in a circle", NULL);
	} else if (data->connection->inlet->quiet) {
		reply_error(call, 503, RPC_UNAVAILABLE, "the agent is stopping", NULL);
	} else {
		reply_error(call, 429, RPC_RESOURCE_EXHAUSTED,
			"the agent has no room: an output's queue or spool is full, or there are too many "
			"senders",
			NULL);
	}
}

/* Requests */

static const char *const paths[] = {[OTLP_TRACES] = "/v1/traces", [OTLP_LOGS] = "/v1/logs"};

static bool find_signal(const char *path, enum otlp_signal *signal)
{
	for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
		*signal = (enum otlp_signal)i;
		if (!strcmp(path, paths[i]))
			return true;
	}
	return false;
}

/* What is elsewhere than what is taken. */
static const char *judge_path(const char *path)
{
	return strcmp(path, "/v1/metrics") != 0
		       ? "OTLP's traces are taken at /v1/traces, and its logs at /v1/logs"
		       : OTLP_NO_METRICS_WORDS;
}

/* SDKs do not show what they are answered; what is refused may come by the hour. */
static void say_refused(struct connection *connection, const struct httphead *head, const char *why)
{
	inlet_say(connection->inlet, SAY_FOREIGN_CALL, "%s: %s %s is not taken: %s", connection->peer,
		head->method, head->path, why);
}

/* What is wrong with a request, before its body comes. */
static void judge(struct connection *connection, struct http_own *own)
{
	const struct httphead *head = &own->request.head;

	own->refusal = own->more = NULL;
	if (!find_signal(head->path, &own->signal)) {
		own->status = 404;
		own->refusal = judge_path(head->path);
	} else if (!otlp_is_taken(connection, own->signal)) { /* which says so */
		own->status = 404;
		own->refusal = OTLP_NO_LOGS_WORDS;
		return;
	} else if (strcmp(head->method, "POST") != 0) {
		own->status = 405;
		own->refusal = "traces and logs are handed over by POST";
		own->more = "Allow: POST\r\n";
	} else if (strcmp(head->type, PROTOBUF_TYPE) != 0 && strcmp(head->type, JSON_TYPE) != 0) {
		own->status = 415;
		own->refusal = "the Content-Type is to be application/x-protobuf or application/json";
	} else if (*head->encoding && strcmp(head->encoding, "gzip") != 0 &&
		   strcmp(head->encoding, "identity") != 0) {
		own->status = 415;
		own->refusal = "the Content-Encoding is to be gzip or none";
		own->more = "Accept-Encoding: gzip\r\n";
	}
	if (own->refusal)
		say_refused(connection, head, own->refusal);
}

/* At the end of a head. */
static void on_head(struct connection *connection, struct http_own *own)
{
	judge(connection, own);
	if (own->refusal)
		httprequest_skip(&own->request);
	own->waits = httprequest_wants_continue(&own->request);
	let_continue(connection);
}

static struct http_call *begin(struct connection *connection, struct http_own *own)
{
	struct http_call *call = call_begin(connection, sizeof(*call), 0, true);

	own->waits = false;
	call->head = own->request.head;
	own->over = call->head.close;
	call->otlp.signal = own->signal;
	call->otlp.is_suspected =
		otlp_circle_is_suspected(own->request.head.via, own->request.head.via_count);
	call->otlp.json = !strcmp(call->head.type, JSON_TYPE);
	return call;
}

/* The body as it was before it was compressed; NULL, with the status, if it is damaged or too large. */
static const struct buffer *unpack(struct connection *connection, struct http_own *own, int *status)
{
	struct otlp_own *inlets = connection->inlet->own;
	struct buffer *to = &inlets->unpacked;
	enum unsqueezed result;

	if (strcmp(own->request.head.encoding, "gzip") != 0)
		return &own->request.body;
	to->size = 0;
	result = unsqueeze_gzip(
		inlets->unsqueeze, own->request.body.data, own->request.body.size, FRAME_MAX, to);
	*status = result == UNSQUEEZED_LARGE ? 413 : 400;
	return result == UNSQUEEZED ? to : NULL;
}

static void on_whole(struct connection *connection, struct http_own *own)
{
	struct http_call *call = begin(connection, own);
	const struct buffer *body;
	enum otlp_result result;
	int status;

	if (own->refusal) {
		reply_error(call, own->status, own->status == 404 ? RPC_NOT_FOUND : RPC_INVALID_ARGUMENT,
			own->refusal, own->more);
		return;
	}
	body = unpack(connection, own, &status);
	if (!body) {
		reply_error(call, status, RPC_INVALID_ARGUMENT,
			status == 413
				? "the body is larger than 16 MiB once it is unpacked"
				: "the body is not what gzip makes, though the Content-Encoding says so",
			NULL);
		return;
	}
	result = otlp_take(&call->otlp, body->data, body->size);
	if (result == OTLP_DONE)
		answer(&call->otlp.call, ANSWER_OK);
	else if (result == OTLP_DAMAGED)
		reply_error(call, 400, RPC_INVALID_ARGUMENT, otlp_damaged_words(own->signal), NULL);
	else if (result == OTLP_OVERSIZE)
		reply_error(call, 413, RPC_INVALID_ARGUMENT, call->otlp.why, NULL);
}

/* It is told so, and has to go. */
static void on_bad(struct connection *connection, struct http_own *own)
{
	struct http_call *call = begin(connection, own);

	ledger_add(INPUT_CLOSED_GARBAGE, 1);
	inlet_say(connection->inlet, SAY_GARBAGE, "%s: connection closed: %s", connection->peer,
		own->request.why);
	reply_error(call, own->request.status, RPC_INVALID_ARGUMENT, own->request.why, NULL);
}

static ssize_t take(
	struct connection *connection, const uint8_t *data, size_t size, char *why, size_t why_size)
{
	struct http_own *own = connection->own;
	size_t used = 0, all = 0;
	enum httprequest_state state;

	(void)why;
	(void)why_size;
	if (own->over)
		return (ssize_t)size;
	do {
		state = httprequest_feed(&own->request, data + all, size - all, &used);
		all += used;
		if (state == HTTPREQUEST_HEAD)
			on_head(connection, own);
	} while (state == HTTPREQUEST_HEAD);
	if (state == HTTPREQUEST_WHOLE) {
		on_whole(connection, own);
		otlp_tidy(connection->inlet);
		httprequest_next(&own->request);
	} else if (state == HTTPREQUEST_BAD) {
		on_bad(connection, own);
		all = size;
	}
	return (ssize_t)all;
}

static bool is_unfinished(const struct connection *connection)
{
	const struct http_own *own = connection->own;

	return httprequest_is_unfinished(&own->request);
}

static size_t room(const struct connection *connection)
{
	const struct http_own *own = connection->own;

	return httprequest_room(&own->request);
}

const struct protocol otlp_http_protocol = {
	.key = "otlp",
	.spans = BATCH_SPAN_RECORDS,
	.create = otlp_create,
	.destroy = otlp_destroy,
	.open = open_own,
	.close = close_own,
	.take = take,
	.answer = answer,
	.is_unfinished = is_unfinished,
	.room = room,
};
