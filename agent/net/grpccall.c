/* SPDX-License-Identifier: BSD-2-Clause */
/* A call on its way: headers, the message, and room for it. See grpcserverparts.h. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "net/grpcserverparts.h"

#define HEADER_OVERHEAD 32

struct grpccall *grpccall_find(const struct grpcserver *server, int32_t stream)
{
	return server->session ? nghttp2_session_get_stream_user_data(server->session, stream) : NULL;
}

bool grpccall_begin(struct grpcserver *server, int32_t stream)
{
	struct grpccall *call;

	if (server->stopped || server->calls.length + server->orphans >= server->options.calls)
		return false;
	call = memory_get(sizeof(*call));
	call->link.data = call->waiting.data = call;
	call->server = server;
	call->stream = stream;
	call->method = server->options.method_count;
	nghttp2_session_set_stream_user_data(server->session, stream, call);
	g_queue_push_tail_link(&server->calls, &call->link);
	return true;
}

/* Room */

static bool has_room(const struct grpcserver *server, size_t need)
{
	return server->room_used + need <= server->options.room;
}

static size_t need_of(const struct grpccall *call)
{
	size_t whole = GRPC_PREFIX_SIZE + (size_t)call->length;

	return whole > GRPCSERVER_WINDOW ? whole - GRPCSERVER_WINDOW : 0;
}

static void give_room(struct grpccall *call)
{
	struct grpcserver *server = call->server;

	call->room = need_of(call);
	server->room_used += call->room;
	nghttp2_session_set_local_window_size(
		server->session, NGHTTP2_FLAG_NONE, call->stream, (int32_t)(GRPCSERVER_WINDOW + call->room));
}

/* In turn, so that a large one is not passed by for ever. */
static void ask_room(struct grpccall *call)
{
	struct grpcserver *server = call->server;

	if (!need_of(call))
		return;
	if (!server->waiting.length && has_room(server, need_of(call))) {
		give_room(call);
		return;
	}
	call->waits = true;
	g_queue_push_tail_link(&server->waiting, &call->waiting);
}

static void stop_waiting(struct grpccall *call)
{
	if (call->waits)
		g_queue_unlink(&call->server->waiting, &call->waiting);
	call->waits = false;
}

void grpccall_leave_room(struct grpccall *call)
{
	struct grpcserver *server = call->server;
	GList *next;

	stop_waiting(call);
	server->room_used -= call->room;
	call->room = 0;
	while ((next = server->waiting.head) && has_room(server, need_of(next->data))) {
		stop_waiting(next->data);
		give_room(next->data);
	}
}

void grpccall_end(struct grpccall *call)
{
	struct grpcserver *server = call->server;

	grpccall_leave_room(call);
	server->orphans += call->state == GRPCCALL_WAITS;
	g_queue_unlink(&server->calls, &call->link);
	buffer_free(&call->in);
	buffer_free(&call->out);
	free(call);
}

/* Refusals: what gRPC's documents say of each ("Status codes and their use in gRPC"). */

static void note(struct grpccall *call, const char *why)
{
	const struct grpcserver_options *options = &call->server->options;

	if (options->on_refused)
		options->on_refused(options->data, call->method, why);
}

static void refuse(struct grpccall *call, enum grpcserver_status status, const char *why)
{
	const struct grpcserver_answer answer = {.status = status, .words = why};

	note(call, why);
	grpcanswer_put(call, &answer);
}

static void refuse_http(struct grpccall *call, const char *status, const char *why)
{
	note(call, why);
	grpcanswer_put_http(call, status);
}

/* Headers */

static bool is(const nghttp2_vec *text, const char *word)
{
	return text->len == strlen(word) && memcmp(text->base, word, text->len) == 0;
}

static size_t find_method(const struct grpcserver_options *options, const nghttp2_vec *path)
{
	size_t i = 0;

	while (i < options->method_count && !is(path, options->methods[i]))
		i++;
	return i;
}

/* With parameters, or as application/grpc+proto; but gRPC-Web is another protocol. */
static bool is_grpc(const nghttp2_vec *type)
{
	static const char *const names[] = {"application/grpc+proto", "application/grpc"};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		size_t size = strlen(names[i]);

		if (type->len >= size && !memcmp(type->base, names[i], size))
			return type->len == size || memchr("; \t", type->base[size], 3);
	}
	return false;
}

void grpccall_take_header(struct grpccall *call, const nghttp2_vec *name, const nghttp2_vec *value)
{
	call->headers_size += name->len + value->len + HEADER_OVERHEAD;
	if (is(name, ":path"))
		call->method = find_method(&call->server->options, value);
	else if (is(name, ":method"))
		call->posts = is(value, "POST");
	else if (is(name, "content-type"))
		call->speaks_grpc = is_grpc(value);
	else if (is(name, "grpc-encoding"))
		call->encoding = is(value, "identity") ? GRPCCALL_IDENTITY
				 : is(value, "gzip")   ? GRPCCALL_GZIP
						       : GRPCCALL_OTHER;
}

void grpccall_finish_headers(struct grpccall *call)
{
	if (call->headers_size > GRPC_HEADERS_MAX)
		refuse(call, GRPCSERVER_RESOURCE_EXHAUSTED, "the call's headers are too large");
	else if (!call->speaks_grpc)
		refuse_http(call, "415", "the call is none of gRPC");
	else if (!call->posts)
		refuse_http(call, "405", "the call is no POST");
	else if (call->method == call->server->options.method_count)
		refuse(call, GRPCSERVER_UNIMPLEMENTED, call->server->options.unknown);
	else if (call->encoding == GRPCCALL_OTHER)
		refuse(call, GRPCSERVER_UNIMPLEMENTED,
			"the message's compression is none that is known here");
	else
		call->state = GRPCCALL_MESSAGE;
}

/* The message */

static void take_prefix(struct grpccall *call)
{
	const uint8_t *prefix = call->prefix;

	call->length =
		(uint32_t)prefix[1] << 24 | (uint32_t)prefix[2] << 16 | (uint32_t)prefix[3] << 8 | prefix[4];
	if (prefix[0] > 1 || (prefix[0] && call->encoding == GRPCCALL_IDENTITY))
		refuse(call, GRPCSERVER_INTERNAL, "the message is compressed in a way that is not told");
	else if (call->length > call->server->options.message_max)
		refuse(call, GRPCSERVER_RESOURCE_EXHAUSTED, "the message is too large");
	else
		ask_room(call);
}

void grpccall_take_data(struct grpccall *call, const uint8_t *data, size_t size)
{
	size_t step;

	if (call->state != GRPCCALL_MESSAGE)
		return;
	step = MIN(size, GRPC_PREFIX_SIZE - call->prefix_size);
	memcpy(call->prefix + call->prefix_size, data, step);
	call->prefix_size += (unsigned)step;
	if (step && call->prefix_size == GRPC_PREFIX_SIZE)
		take_prefix(call);
	if (call->state != GRPCCALL_MESSAGE || size == step)
		return;
	if (size - step > call->length - call->in.size)
		refuse(call, GRPCSERVER_UNIMPLEMENTED, "the call has more than one message");
	else
		buffer_put(&call->in, data + step, size - step);
}

/* Unpacks it, if it is packed; false, having refused it, if that fails. */
static bool unpack(struct grpccall *call, struct buffer *message)
{
	const struct grpcserver_options *options = &call->server->options;
	enum unsqueezed result;

	if (!call->prefix[0]) {
		*message = call->in;
		call->in = (struct buffer){0};
		return true;
	}
	result = unsqueeze_gzip(
		options->unsqueeze, call->in.data, call->in.size, options->message_max, message);
	if (result == UNSQUEEZED_LARGE)
		refuse(call, GRPCSERVER_RESOURCE_EXHAUSTED, "the message is too large once it is unpacked");
	else if (result == UNSQUEEZED_DAMAGED)
		refuse(call, GRPCSERVER_INTERNAL, "the message is not what gzip makes");
	return result == UNSQUEEZED;
}

static void hand_over(struct grpccall *call)
{
	const struct grpcserver_options *options = &call->server->options;
	struct buffer message = {0};

	if (unpack(call, &message)) {
		call->state = GRPCCALL_WAITS;
		buffer_free(&call->in);
		grpccall_leave_room(call);
		h2meter_reward(&call->server->meter);
		options->on_call(options->data, (uint32_t)call->stream, call->method, &message);
	}
	buffer_free(&message);
}

void grpccall_finish(struct grpccall *call)
{
	if (call->state != GRPCCALL_MESSAGE)
		return;
	if (!call->prefix_size)
		refuse(call, GRPCSERVER_UNIMPLEMENTED, "the call has no message");
	else if (call->prefix_size < GRPC_PREFIX_SIZE || call->in.size < call->length)
		refuse(call, GRPCSERVER_INTERNAL, "the message is not whole");
	else
		hand_over(call);
}
