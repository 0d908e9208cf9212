/* SPDX-License-Identifier: BSD-2-Clause */
#include "http/post.h"

#include <string.h>

#include "http/body.h"
#include "net/httpanswer.h"

#define WHERE "POST /v1/traces (OTLP), /api/v1/spans or /api/v2/spans (Zipkin)"
/* More is no request of a program that sends spans. */
#define BODY_MAX (15 * 1024 * 1024)

/* Where spans come, and in what. */
static const struct route {
	const char *path, *type;
	enum body_kind kind;
	int status;       /* when they are taken */
	const char *body; /* with the same type as the request's; NULL: none */
} routes[] = {
	{"/v1/traces", "application/x-protobuf", BODY_OTLP, 200, ""},
	{"/v1/traces", "application/json", BODY_OTLP_JSON, 200, "{}"},
	{"/api/v1/spans", "application/x-thrift", BODY_ZIPKIN_LIST, 202, NULL},
	{"/api/v2/spans", "application/json", BODY_ZIPKIN_JSON, 202, NULL},
};

static void reply(struct post *post, int status, const char *type, const char *body)
{
	const struct httpanswer answer = {.status = status, .type = type, .body = body, .size = strlen(body)};

	post->close = post->request.head.close;
	httpanswer_put(&post->reply, &post->request.head, &answer);
}

/* What it says goes to the client, and to who looks on. */
static void refuse(struct post *post, int status, const char *why)
{
	g_strlcpy(post->refused, why, sizeof(post->refused));
	reply(post, status, "text/plain", post->refused);
}

static const struct route *find_route(const struct httphead *head, bool *path_is_known)
{
	*path_is_known = false;
	for (size_t i = 0; i < G_N_ELEMENTS(routes); i++) {
		if (strcmp(routes[i].path, head->path) != 0)
			continue;
		*path_is_known = true;
		if (strcmp(routes[i].type, head->type) == 0)
			return &routes[i];
	}
	return NULL;
}

static bool is_packed(const struct httphead *head)
{
	return *head->encoding && strcmp(head->encoding, "identity") != 0;
}

/* Whose body is read, whatever is in it; NULL, with the status and the reason of a refusal. */
static const struct route *judge(const struct httphead *head, int *status, const char **why)
{
	bool path_is_known;
	const struct route *route = find_route(head, &path_is_known);

	if (!path_is_known) {
		*status = 404;
		*why = "this port takes Scribe, and over HTTP " WHERE;
	} else if (strcmp(head->method, "POST") != 0) {
		*status = 405;
		*why = "spans come with " WHERE;
	} else if (!route) {
		*status = 415;
		*why = "/v1/traces takes application/x-protobuf and application/json, /api/v1/spans "
		       "application/x-thrift, /api/v2/spans application/json";
	} else if (is_packed(head) && strcmp(head->encoding, "gzip") != 0 &&
		   strcmp(head->encoding, "zstd") != 0) {
		*status = 415;
		*why = "a body is sent as it is, or with gzip or zstd";
	} else {
		return route;
	}
	return NULL;
}

static void on_head(struct post *post)
{
	const char *why;
	int status;

	if (!judge(&post->request.head, &status, &why))
		httprequest_skip(&post->request);
	if (httprequest_wants_continue(&post->request))
		httpanswer_put_continue(&post->reply);
}

static void take_body(struct post *post, const struct route *route)
{
	const struct buffer *body = &post->request.body;
	struct buffer unpacked = {0};

	if (is_packed(&post->request.head)) {
		if (!body_unpack(post->request.head.encoding, body->data, body->size, &unpacked)) {
			refuse(post, 400, "the body cannot be unpacked");
			buffer_free(&unpacked);
			return;
		}
		body = &unpacked;
	}
	if (body_read(route->kind, body->data, body->size, post->spans))
		reply(post, route->status, route->body ? route->type : NULL, route->body ? route->body : "");
	else
		refuse(post, 400, "the body is not what its path and type say");
	buffer_free(&unpacked);
}

static void on_whole(struct post *post)
{
	const struct route *route;
	const char *why;
	int status;

	route = judge(&post->request.head, &status, &why);
	if (route)
		take_body(post, route);
	else
		refuse(post, status, why);
	httprequest_next(&post->request);
}

/* What cannot be read tells nothing of where the next request begins. */
static void on_bad(struct post *post)
{
	const struct httprequest *request = &post->request;
	char why[sizeof(post->refused)];

	if (request->status == 413)
		g_strlcpy(why, "a body of more than 15 MiB is not taken", sizeof(why));
	else
		g_snprintf(why, sizeof(why), "%s: over HTTP this port takes " WHERE,
			request->status == 505 ? "this is no request of HTTP/1.1" : request->why);
	refuse(post, request->status, why);
}

/* A piece of what has come. */
static enum httprequest_state feed(struct evbuffer *input, struct post *post)
{
	size_t size = evbuffer_get_contiguous_space(input), used;
	const uint8_t *data = size ? evbuffer_pullup(input, (ev_ssize_t)size) : NULL;
	enum httprequest_state state = httprequest_feed(&post->request, data, size, &used);

	evbuffer_drain(input, used);
	return state;
}

void post_begin(struct post *post)
{
	*post = (struct post){.request.most = BODY_MAX};
}

bool post_take(struct evbuffer *input, struct post *post)
{
	for (;;) {
		switch (feed(input, post)) {
		case HTTPREQUEST_HEAD:
			on_head(post);
			break;
		case HTTPREQUEST_WHOLE:
			on_whole(post);
			return true;
		case HTTPREQUEST_BAD:
			on_bad(post);
			return true;
		default:
			if (!evbuffer_get_length(input))
				return false;
		}
	}
}

bool post_is_unfinished(const struct post *post)
{
	return httprequest_is_unfinished(&post->request);
}

void post_end(struct post *post)
{
	httprequest_free(&post->request);
	buffer_free(&post->reply);
}
