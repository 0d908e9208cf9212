/* SPDX-License-Identifier: BSD-2-Clause */
#include "http/post.h"

#include <string.h>

#include "http/body.h"
#include "http/request.h"

#define WHERE "POST /v1/traces (OTLP), /api/v1/spans or /api/v2/spans (Zipkin)"

/* Where spans come, and in what. */
static const struct route {
	const char *path, *type;
	enum body_kind kind;
	const char *status; /* when they are taken */
	const char *body;   /* with the same type as the request's; NULL: none */
} routes[] = {
	{"/v1/traces", "application/x-protobuf", BODY_OTLP, "200 OK", ""},
	{"/v1/traces", "application/json", BODY_OTLP_JSON, "200 OK", "{}"},
	{"/api/v1/spans", "application/x-thrift", BODY_ZIPKIN_LIST, "202 Accepted", NULL},
	{"/api/v2/spans", "application/json", BODY_ZIPKIN_JSON, "202 Accepted", NULL},
};

static void reply(struct post *post, const char *status, const char *type, const char *body)
{
	buffer_printf(&post->reply, "HTTP/1.1 %s\r\n", status);
	if (type)
		buffer_printf(&post->reply, "Content-Type: %s\r\n", type);
	if (post->close)
		buffer_printf(&post->reply, "Connection: close\r\n");
	buffer_printf(&post->reply, "Content-Length: %zu\r\n\r\n%s", strlen(body), body);
}

/* @why goes to the client, and to who looks on. */
static void refuse(struct post *post, const char *status, const char *why)
{
	g_strlcpy(post->refused, why, sizeof(post->refused));
	reply(post, status, "text/plain", why);
}

/* What cannot be read tells nothing of where the next request begins. */
static void refuse_and_close(struct post *post, const char *status, const char *why)
{
	post->close = true;
	refuse(post, status, why);
}

static const struct route *find_route(const struct request *request, bool *path_is_known)
{
	*path_is_known = false;
	for (size_t i = 0; i < G_N_ELEMENTS(routes); i++) {
		if (strcmp(routes[i].path, request->path) != 0)
			continue;
		*path_is_known = true;
		if (strcmp(routes[i].type, request->type) == 0)
			return &routes[i];
	}
	return NULL;
}

static void take_body(struct post *post, const struct request *request, const uint8_t *data, size_t size)
{
	bool path_is_known, packed = *request->encoding && strcmp(request->encoding, "identity") != 0;
	const struct route *route = find_route(request, &path_is_known);
	struct buffer unpacked = {0};

	if (!path_is_known) {
		refuse(post, "404 Not Found", "this port takes Scribe, and over HTTP " WHERE);
	} else if (strcmp(request->method, "POST") != 0) {
		refuse(post, "405 Method Not Allowed", "spans come with " WHERE);
	} else if (!route) {
		refuse(post, "415 Unsupported Media Type",
			"/v1/traces takes application/x-protobuf and application/json, /api/v1/spans "
			"application/x-thrift, /api/v2/spans application/json");
	} else if (packed && strcmp(request->encoding, "gzip") != 0 &&
		   strcmp(request->encoding, "zstd") != 0) {
		refuse(post, "415 Unsupported Media Type", "a body is sent as it is, or with gzip or zstd");
	} else if (packed && !body_unpack(request->encoding, data, size, &unpacked)) {
		refuse(post, "400 Bad Request", "the body cannot be unpacked");
	} else if (!body_read(route->kind, packed ? unpacked.data : data, packed ? unpacked.size : size,
			   post->spans)) {
		refuse(post, "400 Bad Request", "the body is not what its path and type say");
	} else {
		reply(post, route->status, route->body ? route->type : NULL, route->body ? route->body : "");
	}
	buffer_free(&unpacked);
}

/* The body is @length bytes behind the head. */
static bool take_plain(struct evbuffer *input, size_t head, const struct request *request, struct post *post)
{
	size_t whole = head + request->length;

	if (evbuffer_get_length(input) < whole)
		return false;
	take_body(post, request, evbuffer_pullup(input, (ev_ssize_t)whole) + head, request->length);
	evbuffer_drain(input, whole);
	return true;
}

static bool take_chunks(struct evbuffer *input, size_t head, const struct request *request, struct post *post)
{
	size_t size = evbuffer_get_length(input);
	const uint8_t *data = evbuffer_pullup(input, -1);
	enum request_state state = request_walk(data + head, size - head, &post->walked);
	struct buffer body = {0};

	if (state == REQUEST_WHOLE) {
		request_join(&body, data + head, post->walked);
		take_body(post, request, body.data, body.size);
		evbuffer_drain(input, head + post->walked);
	} else if (state == REQUEST_BAD) {
		refuse_and_close(post, "400 Bad Request", "the chunks cannot be read, or are too large");
	}
	if (state != REQUEST_MORE)
		post->walked = 0;
	buffer_free(&body);
	return state != REQUEST_MORE;
}

bool post_take(struct evbuffer *input, struct post *post)
{
	size_t size = MIN(evbuffer_get_length(input), (size_t)REQUEST_HEAD_MAX), head = 0;
	struct request request;
	enum request_state state = REQUEST_MORE;

	if (size)
		state = request_read(&request, evbuffer_pullup(input, (ev_ssize_t)size), size, &head);
	if (state == REQUEST_MORE)
		return false;
	post->close = request.close;
	if (state == REQUEST_BAD)
		refuse_and_close(post, "400 Bad Request",
			"this is no request of HTTP/1.1: over HTTP this port takes " WHERE);
	else if (request.chunked)
		return take_chunks(input, head, &request, post);
	else if (request.length > REQUEST_BODY_MAX)
		refuse_and_close(post, "413 Content Too Large", "a body of more than 15 MiB is not taken");
	else
		return take_plain(input, head, &request, post);
	return true;
}
