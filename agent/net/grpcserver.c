/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/grpcserver.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "net/grpcserverparts.h"

/* Of what all calls send, so much may be on its way: it goes to the calls at once, who have their bounds. */
#define CONNECTION_WINDOW (1024 * 1024)
/* What nghttp2 takes for a stream, about; and for headers that are not whole, for each of their bytes: some
 * of Huffman's codes have five bits. */
#define STREAM_BYTES 512
#define HEADERS_GROW 2

static const char broken_rules[] = "it breaks the rules of HTTP/2";

/* Callbacks of nghttp2. Each gets the server as @user. */

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
	if (frame->headers.cat != NGHTTP2_HCAT_REQUEST || grpccall_begin(user, frame->hd.stream_id))
		return 0;
	nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_REFUSED_STREAM);
	return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
	size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags, void *user)
{
	struct grpccall *call = grpccall_find(user, frame->hd.stream_id);
	nghttp2_vec words[] = {
		{(uint8_t *)(uintptr_t)name, name_size}, {(uint8_t *)(uintptr_t)value, value_size}};

	(void)session;
	(void)flags;
	if (call && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
		grpccall_take_header(call, &words[0], &words[1]);
	return 0;
}

static int on_data(
	nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *data, size_t size, void *user)
{
	struct grpccall *call = grpccall_find(user, stream);

	(void)flags;
	nghttp2_session_consume_connection(session, size);
	if (call)
		grpccall_take_data(call, data, size);
	return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
	struct grpccall *call;

	(void)session;
	if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)
		return 0;
	call = grpccall_find(user, frame->hd.stream_id);
	if (!call)
		return 0;
	call->ended |= (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
	if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
		grpccall_finish_headers(call);
	if (call->ended)
		grpccall_finish(call);
	return 0;
}

/* An answer that is there before the question is: the peer need not say the rest. */
static int on_sent(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
	struct grpcserver *server = user;
	struct grpccall *call;

	if (frame->hd.type == NGHTTP2_GOAWAY && frame->goaway.error_code != NGHTTP2_NO_ERROR &&
		!server->why && !server->left)
		server->why = broken_rules;
	if (frame->hd.type != NGHTTP2_HEADERS || !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
		return 0;
	call = grpccall_find(server, frame->hd.stream_id);
	if (call && !call->ended)
		nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
	return 0;
}

/* grpc-go takes its leave with a number of streams that nghttp2 finds none. It is leaving all the same. */
static int on_invalid(nghttp2_session *session, const nghttp2_frame *frame, int error, void *user)
{
	struct grpcserver *server = user;

	(void)session;
	(void)error;
	server->left |= frame->hd.type == NGHTTP2_GOAWAY;
	return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t stream, uint32_t error, void *user)
{
	struct grpccall *call = grpccall_find(user, stream);

	(void)session;
	(void)error;
	if (call)
		grpccall_end(call);
	return 0;
}

/* Memory is waited for, so that nothing of nghttp2's fails for want of it. */

static void *get(size_t size, void *user)
{
	(void)user;
	return memory_resize(NULL, size);
}

static void *get_cleared(size_t count, size_t size, void *user)
{
	(void)user;
	return memory_get(count * size);
}

static void *resize(void *data, size_t size, void *user)
{
	(void)user;
	return memory_resize(data, size);
}

static void give_back(void *data, void *user)
{
	(void)user;
	free(data);
}

static void create_session(struct grpcserver *server)
{
	nghttp2_mem memory = {NULL, get, give_back, get_cleared, resize};
	nghttp2_session_callbacks *callbacks;
	nghttp2_option *option;

	nghttp2_session_callbacks_new(&callbacks);
	nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
	nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_sent);
	nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, on_invalid);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
	nghttp2_option_new(&option);
	nghttp2_option_set_no_auto_window_update(option, 1);
	nghttp2_option_set_no_closed_streams(option, 1);
	nghttp2_session_server_new3(&server->session, callbacks, server, option, &memory);
	nghttp2_option_del(option);
	nghttp2_session_callbacks_del(callbacks);
}

struct grpcserver *grpcserver_create(const struct grpcserver_options *options)
{
	struct grpcserver *server = memory_get(sizeof(*server));
	const nghttp2_settings_entry settings[] = {
		{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, options->calls},
		{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, GRPC_HEADERS_MAX},
	};

	server->options = *options;
	server->options.room = MAX(options->room, options->message_max);
	create_session(server);
	nghttp2_submit_settings(server->session, NGHTTP2_FLAG_NONE, settings, G_N_ELEMENTS(settings));
	nghttp2_session_set_local_window_size(server->session, NGHTTP2_FLAG_NONE, 0, CONNECTION_WINDOW);
	return server;
}

/* There is no more of it; what waits for answers waits in vain. */
static void end_session(struct grpcserver *server)
{
	GList *link;

	while ((link = server->calls.head))
		grpccall_end(link->data);
	nghttp2_session_del(server->session);
	server->session = NULL;
	server->meter.headers = 0;
	server->dead = true;
}

void grpcserver_destroy(struct grpcserver *server)
{
	if (!server)
		return;
	end_session(server);
	free(server);
}

/* Input */

/* What is not the beginning of HTTP/2, but has that first byte. */
static const char *foreign(uint8_t first)
{
	if (first == 0x16)
		return "it speaks TLS, and this port does not";
	if (g_ascii_isupper(first))
		return "it does not speak HTTP/2; for HTTP/1, OTLP has another port (4318)";
	return "it does not speak HTTP/2, as gRPC does";
}

static void end_flood(struct grpcserver *server)
{
	server->why = "it sends frames that bring nothing, without an end";
	nghttp2_session_terminate_session(server->session, NGHTTP2_ENHANCE_YOUR_CALM);
}

/* The session is of no use any more. */
static void end_broken(struct grpcserver *server, int error, const uint8_t *data, size_t size)
{
	bool begun = server->meter.preface > size; /* as HTTP/2 does */

	server->why = error == NGHTTP2_ERR_BAD_CLIENT_MAGIC ? foreign(begun ? 'P' : data[0]) : broken_rules;
	server->dead = true;
}

void grpcserver_feed(struct grpcserver *server, const uint8_t *data, size_t size, int64_t now)
{
	ssize_t used;

	if (server->why || server->dead || !size)
		return;
	if (!h2meter_count(&server->meter, data, size, now)) {
		end_flood(server);
		return;
	}
	used = nghttp2_session_mem_recv(server->session, data, size);
	if (used < 0)
		end_broken(server, (int)used, data, size);
}

/* Output */

void grpcserver_take_output(struct grpcserver *server, struct buffer *out, size_t most)
{
	size_t begin = out->size;
	const uint8_t *data;
	ssize_t size;

	while (!server->dead && out->size - begin < most) {
		size = nghttp2_session_mem_send(server->session, &data);
		if (size <= 0) {
			server->dead = size < 0;
			if (grpcserver_wants_close(server)) /* the peer may take its time to see that */
				end_session(server);
			return;
		}
		buffer_put(out, data, (size_t)size);
	}
}

void grpcserver_answer(struct grpcserver *server, uint32_t call, const struct grpcserver_answer *answer)
{
	struct grpccall *found = grpccall_find(server, (int32_t)call);

	if (found && found->state == GRPCCALL_WAITS)
		grpcanswer_put(found, answer);
	else if (!found && server->orphans)
		server->orphans--;
}

void grpcserver_stop(struct grpcserver *server)
{
	server->stopped = true;
	if (server->dead)
		return;
	nghttp2_submit_goaway(server->session, NGHTTP2_FLAG_NONE,
		nghttp2_session_get_last_proc_stream_id(server->session), NGHTTP2_NO_ERROR, NULL, 0);
}

bool grpcserver_wants_close(const struct grpcserver *server)
{
	return server->dead ||
	       (!nghttp2_session_want_read(server->session) && !nghttp2_session_want_write(server->session));
}

const char *grpcserver_why(const struct grpcserver *server)
{
	return server->why;
}

struct grpcserver_state grpcserver_state(const struct grpcserver *server)
{
	struct grpcserver_state state = {
		.unanswered = server->orphans,
		.greeted = server->meter.preface == H2METER_PREFACE,
		.bytes = HEADERS_GROW * server->meter.headers,
	};

	for (GList *link = server->calls.head; link; link = link->next) {
		const struct grpccall *call = link->data;

		state.unfinished += call->state < GRPCCALL_WAITS;
		state.unanswered += call->state == GRPCCALL_WAITS;
		state.bytes += sizeof(*call) + STREAM_BYTES + call->in.room + call->out.room;
	}
	return state;
}
