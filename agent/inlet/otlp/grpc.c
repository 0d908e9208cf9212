/* SPDX-License-Identifier: BSD-2-Clause */
/* OTLP over gRPC: TraceService/Export and LogsService/Export. See otlp.h. */
#include <string.h>

#include "base/clock.h"
#include "inlet/otlp/otlp.h"
#include "net/grpcserver.h"

/* Bytes of messages that are not whole, over all calls of a connection. */
#define ROOM_BYTES (FRAME_MAX + 1024 * 1024)
/* Written at a time. */
#define OUTPUT_BYTES (256 * 1024)

/* A connection's own. */
struct grpc_own {
	struct grpcserver *server;
	struct connection *connection;
	bool feeding; /* output is taken behind that */
	bool noted;   /* what it does wrong */
};

struct grpc_call {
	struct otlp_call otlp;
	uint32_t number;
};

static void write_output(struct connection *connection)
{
	struct grpc_own *own = connection->own;
	struct buffer out = {0};

	grpcserver_take_output(own->server, &out, OUTPUT_BYTES);
	connection_write(connection, out.data, out.size);
	buffer_free(&out);
	if (grpcserver_wants_close(own->server))
		connection_close_soon(connection);
}

/* Replies: in whatever order calls are through. */

static void finish(struct grpc_call *call, const struct grpcserver_answer *answer)
{
	struct connection *connection = call->otlp.call.connection;
	struct grpc_own *own = connection->own;

	grpcserver_answer(own->server, call->number, answer);
	if (!own->feeding)
		write_output(connection);
	connection_end_call(connection, &call->otlp.call);
}

static void answer(struct call *data, enum answer answer)
{
	struct grpc_call *call = (struct grpc_call *)data;
	struct grpcserver_answer with = {.status = GRPCSERVER_OK};
	struct buffer response = {0};

	otlp_note_answer(&call->otlp, answer);
	if (answer == ANSWER_OK) {
		otlp_put_response(&response, &call->otlp);
		with.message = response.data;
		with.size = response.size;
	} else if (data->connection->inlet->quiet) {
		with.status = GRPCSERVER_UNAVAILABLE;
		with.words = "the agent is stopping";
	} else {
		with.status = GRPCSERVER_RESOURCE_EXHAUSTED;
		with.words = "the agent has no room: an output's queue or spool is full, or there are too "
			     "many senders";
		with.retry_after = 1000 * otlp_retry_after();
	}
	finish(call, &with);
	buffer_free(&response);
}

/* Calls */

static void on_call(void *data, uint32_t number, size_t method, struct buffer *message)
{
	struct grpc_own *own = data;
	struct grpc_call *call = call_begin(own->connection, sizeof(*call), 0, true);
	enum otlp_result result;

	call->number = number;
	call->otlp.signal = (enum otlp_signal)method;
	if (!otlp_is_taken(own->connection, call->otlp.signal)) {
		finish(call, &(struct grpcserver_answer){
				     .status = GRPCSERVER_UNIMPLEMENTED, .words = OTLP_NO_LOGS_WORDS});
		return;
	}
	result = otlp_take(&call->otlp, message->data, message->size);
	if (result == OTLP_DONE)
		answer(&call->otlp.call, ANSWER_OK);
	else if (result == OTLP_DAMAGED)
		finish(call, &(struct grpcserver_answer){.status = GRPCSERVER_INVALID_ARGUMENT,
				     .words = otlp_damaged_words(call->otlp.signal)});
	else if (result == OTLP_OVERSIZE) /* without a time to try again: it would be in vain */
		finish(call, &(struct grpcserver_answer){
				     .status = GRPCSERVER_RESOURCE_EXHAUSTED, .words = call->otlp.why});
	otlp_tidy(own->connection->inlet);
}

static void on_refused(void *data, size_t method, const char *why)
{
	struct grpc_own *own = data;

	(void)method;
	inlet_say(own->connection->inlet, SAY_FOREIGN_CALL, "%s: a call was refused: %s",
		own->connection->peer, why);
}

static void *open_own(struct connection *connection)
{
	static const char *const methods[] = {
		[OTLP_TRACES] = GRPCSERVER_OTLP_TRACES, [OTLP_LOGS] = GRPCSERVER_OTLP_LOGS};
	struct otlp_own *inlets = connection->inlet->own;
	struct grpc_own *own = g_new0(struct grpc_own, 1);

	own->connection = connection;
	own->server = grpcserver_create(&(struct grpcserver_options){
		.methods = methods,
		.method_count = G_N_ELEMENTS(methods),
		.unknown = "there is no such method here: " OTLP_NO_METRICS_WORDS,
		.calls = limits_calls(connection->inlet),
		.message_max = FRAME_MAX,
		.room = ROOM_BYTES,
		.unsqueeze = inlets->unsqueeze,
		.on_call = on_call,
		.on_refused = on_refused,
		.data = own,
	});
	return own;
}

static void close_own(void *data)
{
	struct grpc_own *own = data;

	grpcserver_destroy(own->server);
	g_free(own);
}

static void note_fault(struct connection *connection, struct grpc_own *own)
{
	const char *why = grpcserver_why(own->server);

	if (!why || own->noted)
		return;
	own->noted = true;
	ledger_add(INPUT_CLOSED_GARBAGE, 1);
	inlet_say(connection->inlet, SAY_GARBAGE, "%s: connection closed: %s", connection->peer, why);
}

static ssize_t take(
	struct connection *connection, const uint8_t *data, size_t size, char *why, size_t why_size)
{
	struct grpc_own *own = connection->own;

	(void)why;
	(void)why_size;
	own->feeding = true;
	grpcserver_feed(own->server, data, size, clock_monotonic());
	own->feeding = false;
	write_output(connection);
	note_fault(connection, own); /* some is known once the output says so */
	return (ssize_t)size;
}

static bool is_unfinished(const struct connection *connection)
{
	const struct grpc_own *own = connection->own;
	struct grpcserver_state state = grpcserver_state(own->server);

	return state.unfinished > 0 || !state.greeted;
}

static size_t room(const struct connection *connection)
{
	const struct grpc_own *own = connection->own;

	return grpcserver_state(own->server).bytes;
}

static void stop(struct connection *connection)
{
	struct grpc_own *own = connection->own;

	grpcserver_stop(own->server);
	write_output(connection);
}

const struct protocol otlp_grpc_protocol = {
	.key = "otlp-grpc",
	.spans = BATCH_SPAN_RECORDS,
	.create = otlp_create,
	.destroy = otlp_destroy,
	.open = open_own,
	.close = close_own,
	.take = take,
	.answer = answer,
	.is_unfinished = is_unfinished,
	.room = room,
	.stop = stop,
};
