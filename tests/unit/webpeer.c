/* SPDX-License-Identifier: BSD-2-Clause */
#include "webpeer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <netinet/in.h>

#include "unpack.h"

struct webclient {
	struct webpeer *peer;
	struct bufferevent *stream;
	bool closing;
};

static void must(bool good, const char *what)
{
	if (!good) {
		fprintf(stdout, "webpeer: %s\n", what);
		abort();
	}
}

static void client_free(struct webclient *client)
{
	client->peer->clients = g_list_remove(client->peer->clients, client);
	bufferevent_free(client->stream);
	g_free(client);
}

/* The body as it was before it was compressed. */
static GByteArray *unpack(const uint8_t *body, size_t size, enum squeeze_kind compression)
{
	static GByteArray *(*const by[])(const void *, size_t) = {
		[SQUEEZE_NONE] = unpack_none, [SQUEEZE_GZIP] = unpack_gzip, [SQUEEZE_ZSTD] = unpack_zstd};
	GByteArray *out = by[compression](body, size);

	must(out != NULL, "not compressed as it says, or bytes behind it");
	return out;
}

/* The spans of a list; the array is the caller's. */
static GPtrArray *read_list(const uint8_t *body, size_t size, enum squeeze_kind compression)
{
	GPtrArray *spans = g_ptr_array_new_with_free_func(g_free);
	GByteArray *list = unpack(body, size, compression);
	uint32_t count;
	char **words;

	must(list->len >= 5 && list->data[0] == 12, "not a list of structs");
	count = (uint32_t)list->data[1] << 24 | (uint32_t)list->data[2] << 16 | (uint32_t)list->data[3] << 8 |
		list->data[4];
	g_byte_array_append(list, (const uint8_t *)"", 1);
	words = g_strsplit((char *)list->data + 5, "span ", -1);
	must(*words[0] == '\0', "no span at the front");
	for (char **word = words + 1; *word; word++)
		g_ptr_array_add(spans, g_strconcat("span ", *word, NULL));
	must(spans->len == count, "another number of spans than the list says");
	g_strfreev(words);
	g_byte_array_unref(list);
	return spans;
}

/* Notes what a request brought, and returns the answer to it. */
static const char *take_request(struct webpeer *peer, const uint8_t *body, size_t size)
{
	GPtrArray *spans = read_list(body, size, peer->compression);
	const char *answer = peer->answers[peer->next];

	peer->requests++;
	if (peer->answers[peer->next + 1])
		peer->next++;
	for (guint i = 0; peer->bad && i < spans->len; i++)
		if (peer->bad(g_ptr_array_index(spans, i)))
			answer = peer->refusal;
	peer->refused += answer == peer->refusal;
	if (g_str_has_prefix(answer, "HTTP/1.1 2") || g_str_has_prefix(answer, "HTTP/1.1 100"))
		for (guint i = 0; i < spans->len; i++)
			g_ptr_array_add(peer->taken, g_strdup(g_ptr_array_index(spans, i)));
	g_ptr_array_unref(spans);
	return answer;
}

static void check_head(const struct webpeer *peer, const char *head)
{
	char *line = g_strdup_printf("POST %s HTTP/1.1\r\n", peer->path);
	char *own = g_strdup_printf("127.0.0.1:%u", peer->port);
	char *host = g_strdup_printf("\r\nHost: %s\r\n", peer->host ? peer->host : own);

	must(g_str_has_prefix(head, line), "another request line");
	must(strstr(head, host) != NULL, "another host");
	must(!peer->header || strstr(head, peer->header), "a header is missing");
	must(strstr(head, "\r\nContent-Type: application/x-thrift\r\n") != NULL, "another type");
	must(!strstr(head, "\r\nContent-Encoding: ") == !peer->compression, "compressed, or not");
	must(!strstr(head, "\r\nContent-Encoding: gzip\r\n") == (peer->compression != SQUEEZE_GZIP),
		"gzip, or not");
	must(!strstr(head, "\r\nContent-Encoding: zstd\r\n") == (peer->compression != SQUEEZE_ZSTD),
		"zstd, or not");
	g_free(line);
	g_free(host);
	g_free(own);
}

static void on_flushed(struct bufferevent *stream, void *arg)
{
	(void)stream;
	client_free(arg);
}

static void on_event(struct bufferevent *stream, short what, void *arg)
{
	(void)stream;
	if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
		client_free(arg);
}

/* An answer that says so is the last; an empty one closes at once. */
static void give(struct webclient *client, const char *answer)
{
	bufferevent_write(client->stream, answer, strlen(answer));
	if (client->peer->lingers)
		return;
	if (!*answer || strstr(answer, "Connection: close") || g_str_has_prefix(answer, "HTTP/1.0")) {
		client->closing = true;
		bufferevent_disable(client->stream, EV_READ);
		if (*answer)
			bufferevent_setcb(client->stream, NULL, on_flushed, on_event, client);
		else
			client_free(client);
	}
}

/* Takes one request out of the input, if it is there; returns whether to go on. */
static bool take_one(struct webclient *client, struct evbuffer *input)
{
	struct evbuffer_ptr end = evbuffer_search(input, "\r\n\r\n", 4, NULL);
	struct webpeer *peer = client->peer;
	size_t size, head = (size_t)end.pos + 4;
	const uint8_t *data;
	const char *length, *answer;
	char *text;

	if (end.pos < 0)
		return false;
	text = g_strndup((const char *)evbuffer_pullup(input, (ssize_t)head), head);
	check_head(peer, text);
	length = strstr(text, "\r\nContent-Length:");
	must(length != NULL, "no length");
	size = strtoul(length + strlen("\r\nContent-Length:"), NULL, 10);
	g_free(text);
	if (peer->early) {
		give(client, peer->answers[peer->next]);
		return false;
	}
	if (evbuffer_get_length(input) < head + size)
		return false;
	data = evbuffer_pullup(input, -1);
	answer = take_request(peer, data + head, size);
	evbuffer_drain(input, head + size);
	give(client, answer);
	return *answer && !client->closing;
}

static void on_readable(struct bufferevent *stream, void *arg)
{
	struct webclient *client = arg;
	struct webpeer *peer = client->peer;
	unsigned int before = peer->requests;

	while (take_one(client, bufferevent_get_input(stream)))
		;
	peer->open_max = MAX(peer->open_max, peer->requests - before);
}

static void on_connection(
	struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address, int size, void *arg)
{
	struct webclient *client = g_new0(struct webclient, 1);
	struct webpeer *peer = arg;

	(void)listener;
	(void)address;
	(void)size;
	client->peer = peer;
	client->stream = bufferevent_socket_new(peer->base, fd, BEV_OPT_CLOSE_ON_FREE);
	bufferevent_setcb(client->stream, on_readable, NULL, on_event, client);
	bufferevent_enable(client->stream, EV_READ | EV_WRITE);
	peer->clients = g_list_prepend(peer->clients, client);
	peer->connections++;
}

void webpeer_say(struct webpeer *peer, const char *answer)
{
	GList *clients = g_list_copy(peer->clients);

	for (GList *at = clients; at; at = at->next)
		give(at->data, answer);
	g_list_free(clients);
}

void webpeer_set_answers(struct webpeer *peer, const char *const *answers)
{
	peer->answers = answers;
	peer->next = 0;
}

struct webpeer *webpeer_create(struct event_base *base)
{
	static const char *const good[] = {WEB_GOOD, NULL};
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct webpeer *peer = g_new0(struct webpeer, 1);
	socklen_t length = sizeof(address);

	peer->base = base;
	peer->path = "/api/v1/spans";
	peer->taken = g_ptr_array_new_with_free_func(g_free);
	peer->listener = evconnlistener_new_bind(base, on_connection, peer, LEV_OPT_CLOSE_ON_FREE, -1,
		(struct sockaddr *)&address, sizeof(address));
	must(peer->listener != NULL, "cannot listen");
	getsockname(evconnlistener_get_fd(peer->listener), (struct sockaddr *)&address, &length);
	peer->port = ntohs(address.sin_port);
	webpeer_set_answers(peer, good);
	return peer;
}

void webpeer_destroy(struct webpeer *peer)
{
	evconnlistener_free(peer->listener);
	while (peer->clients)
		client_free(peer->clients->data);
	g_ptr_array_unref(peer->taken);
	g_free(peer);
}
