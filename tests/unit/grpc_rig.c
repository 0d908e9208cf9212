/* SPDX-License-Identifier: BSD-2-Clause */
#include "grpc_rig.h"

#include <string.h>

#include <zlib.h>

#include "base/clock.h"

const size_t rig_steps[RIG_STEPS] = {1, 2, 9, 1000, SIZE_MAX};

static const char *const methods[] = {
	[RIG_TRACES] = GRPCSERVER_OTLP_TRACES, [RIG_LOGS] = GRPCSERVER_OTLP_LOGS};

/* The server's side */

static void on_call(void *data, uint32_t call, size_t method, struct buffer *message)
{
	struct rig *rig = data;
	struct rig_taken taken = {call, method, *message};

	*message = (struct buffer){0};
	g_array_append_val(rig->taken, taken);
	if (rig->answers)
		rig_answer(rig, rig->taken->len - 1, GRPCSERVER_OK, NULL);
}

static void on_refused(void *data, size_t method, const char *why)
{
	struct rig *rig = data;

	ck_assert_uint_le(method, G_N_ELEMENTS(methods));
	ck_assert(*why);
	rig->refused++;
}

struct rig_taken *rig_taken(struct rig *rig, size_t number)
{
	ck_assert_uint_lt(number, rig->taken->len);
	return &g_array_index(rig->taken, struct rig_taken, number);
}

void rig_answer(struct rig *rig, size_t number, enum grpcserver_status status, const char *words)
{
	const struct rig_taken *taken = rig_taken(rig, number);
	const struct grpcserver_answer answer = {.status = status,
		.message = taken->message.data,
		.size = taken->message.size,
		.words = words};

	grpcserver_answer(rig->server, taken->call, &answer);
}

/* The client's side */

static struct rig_call *find(nghttp2_session *session, int32_t stream)
{
	return nghttp2_session_get_stream_user_data(session, stream);
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
	size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags, void *user)
{
	struct rig_call *call = find(session, frame->hd.stream_id);
	const struct {
		const char *name;
		char *to;
		size_t room;
	} known[] = {{":status", call->http, sizeof(call->http)},
		{"grpc-status", call->status, sizeof(call->status)},
		{"grpc-message", call->words, sizeof(call->words)},
		{"grpc-status-details-bin", call->details, sizeof(call->details)}};

	(void)name_size;
	(void)value_size;
	(void)flags;
	(void)user;
	for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
		if (!strcmp((const char *)name, known[i].name))
			ck_assert_uint_lt(
				g_strlcpy(known[i].to, (const char *)value, known[i].room), known[i].room);
	return 0;
}

static int on_data(
	nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *data, size_t size, void *user)
{
	(void)flags;
	(void)user;
	buffer_put(&find(session, stream)->answer, data, size);
	return 0;
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t error, void *user)
{
	struct rig_call *call = find(session, stream);

	(void)user;
	if (call) {
		call->closed = true;
		call->error = error;
	}
	return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
	struct rig *rig = user;

	(void)session;
	if (frame->hd.type == NGHTTP2_GOAWAY)
		rig->goaway = frame->goaway.error_code;
	return 0;
}

static ssize_t read_request(nghttp2_session *session, int32_t stream, uint8_t *to, size_t room,
	uint32_t *flags, nghttp2_data_source *source, void *user)
{
	struct rig_call *call = source->ptr;
	size_t size = MIN(room, call->request.size - call->sent);

	(void)session;
	(void)stream;
	(void)user;
	if (!size && call->stays_open)
		return NGHTTP2_ERR_DEFERRED;
	if (size)
		memcpy(to, call->request.data + call->sent, size);
	call->sent += size;
	if (call->sent == call->request.size && !call->stays_open)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)size;
}

struct rig_call *rig_call_by(
	struct rig *rig, const char *const headers[][2], struct buffer request, bool stays_open)
{
	struct rig_call *call = g_new0(struct rig_call, 1);
	const nghttp2_data_provider provider = {{.ptr = call}, read_request};
	nghttp2_nv all[600];
	size_t count = 0;

	for (; headers[count][0]; count++)
		all[count] = (nghttp2_nv){(uint8_t *)(uintptr_t)headers[count][0],
			(uint8_t *)(uintptr_t)headers[count][1], strlen(headers[count][0]),
			strlen(headers[count][1]), NGHTTP2_NV_FLAG_NONE};
	call->request = request;
	call->stays_open = stays_open;
	call->stream = nghttp2_submit_request(rig->client, NULL, all, count, &provider, call);
	ck_assert_int_gt(call->stream, 0);
	g_ptr_array_add(rig->calls, call);
	return call;
}

struct rig_call *rig_call(
	struct rig *rig, const char *path, const char *name, const char *value, struct buffer request)
{
	const char *const headers[][2] = {{":method", "POST"}, {":scheme", "http"}, {":path", path},
		{":authority", "localhost"}, {"te", "trailers"}, {"content-type", "application/grpc"},
		{"grpc-timeout", "10S"}, {name, value}, {NULL, NULL}};

	return rig_call_by(rig, headers, request, false);
}

struct buffer rig_frame(bool compressed, const void *message, size_t size)
{
	const uint8_t prefix[] = {compressed, (uint8_t)(size >> 24), (uint8_t)(size >> 16),
		(uint8_t)(size >> 8), (uint8_t)size};
	struct buffer frame = {0};

	buffer_put(&frame, prefix, sizeof(prefix));
	buffer_put(&frame, message, size);
	return frame;
}

/* Messages */

struct buffer rig_gzip(const void *data, size_t size)
{
	struct buffer out = {0};
	z_stream zip = {.next_in = (uint8_t *)(uintptr_t)data, .avail_in = (uInt)size};

	ck_assert_int_eq(deflateInit2(&zip, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	zip.avail_out = (uInt)deflateBound(&zip, (uLong)size) + 100;
	zip.next_out = buffer_reserve(&out, zip.avail_out);
	ck_assert_int_eq(deflate(&zip, Z_FINISH), Z_STREAM_END);
	out.size = zip.total_out;
	deflateEnd(&zip);
	return out;
}

void rig_expect_echo(const struct rig_call *call, const uint8_t *message, size_t size)
{
	struct buffer frame = rig_frame(false, message, size);

	ck_assert_str_eq(call->http, "200");
	ck_assert_str_eq(call->status, "0");
	ck_assert(call->closed);
	ck_assert_uint_eq(call->error, 0);
	ck_assert_uint_eq(call->answer.size, frame.size);
	ck_assert(!memcmp(call->answer.data, frame.data, frame.size));
	buffer_free(&frame);
}

/* Between them */

static bool say(struct rig *rig)
{
	const uint8_t *data;
	ssize_t size = nghttp2_session_mem_send(rig->client, &data);

	ck_assert_int_ge(size, 0);
	for (size_t at = 0; at < (size_t)size;) {
		size_t piece = MIN(rig->step, (size_t)size - at);
		uint8_t *copy = g_memdup2(data + at, piece);

		grpcserver_feed(rig->server, copy, piece, rig->now);
		g_free(copy);
		at += piece;
		rig->most_bytes = MAX(rig->most_bytes, grpcserver_state(rig->server).bytes);
	}
	return size > 0;
}

bool rig_listen(struct rig *rig)
{
	struct buffer out = {0};
	bool any;

	grpcserver_take_output(rig->server, &out, rig->step);
	any = out.size;
	if (any)
		ck_assert_int_eq(
			nghttp2_session_mem_recv(rig->client, out.data, out.size), (ssize_t)out.size);
	buffer_free(&out);
	return any;
}

void rig_pump(struct rig *rig)
{
	bool more;

	do {
		more = false;
		while (say(rig))
			more = true;
		more |= rig_listen(rig);
	} while (more);
}

void rig_begin(struct rig *rig)
{
	struct grpcserver_options options = {.methods = methods,
		.method_count = G_N_ELEMENTS(methods),
		.unknown = RIG_UNKNOWN,
		.calls = RIG_CALLS,
		.message_max = RIG_MESSAGE_MAX,
		.on_call = on_call,
		.on_refused = on_refused,
		.data = rig};
	nghttp2_session_callbacks *callbacks;

	*rig = (struct rig){.now = NS_PER_SECOND, .step = SIZE_MAX, .goaway = -1};
	rig->unsqueeze = options.unsqueeze = unsqueeze_create();
	rig->server = grpcserver_create(&options);
	rig->calls = g_ptr_array_new();
	rig->taken = g_array_new(FALSE, FALSE, sizeof(struct rig_taken));
	nghttp2_session_callbacks_new(&callbacks);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
	nghttp2_session_client_new(&rig->client, callbacks, rig);
	nghttp2_session_callbacks_del(callbacks);
	nghttp2_submit_settings(rig->client, NGHTTP2_FLAG_NONE, NULL, 0);
}

void rig_end(struct rig *rig)
{
	grpcserver_destroy(rig->server);
	unsqueeze_destroy(rig->unsqueeze);
	nghttp2_session_del(rig->client);
	for (guint i = 0; i < rig->taken->len; i++)
		buffer_free(&rig_taken(rig, i)->message);
	for (guint i = 0; i < rig->calls->len; i++) {
		struct rig_call *call = rig->calls->pdata[i];

		buffer_free(&call->request);
		buffer_free(&call->answer);
		g_free(call);
	}
	g_array_unref(rig->taken);
	g_ptr_array_unref(rig->calls);
}
