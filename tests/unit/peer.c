/* SPDX-License-Identifier: BSD-2-Clause */
#include "peer.h"

#include <arpa/inet.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/listener.h>

#include "base/clock.h"

/* Thrift's. */
enum { T_STOP = 0, T_I32 = 8, T_I64 = 10, T_LIST = 15, T_STRING = 11, T_REPLY = 2, T_EXCEPTION = 3 };

/* An answer that is not out yet. */
struct answer {
	enum peer_act act;
	char span[64]; /* the bad one */
	int32_t seqid;
	unsigned int call;
	bool asks; /* for wanted traces */
};

struct client {
	struct peer *peer;
	struct bufferevent *stream;
	struct event *timer;
	GQueue answers;
	unsigned int open;
	size_t received;
	bool answered_early;
};

/* Memory and a failed set-up are not what is tested. */
static void must(bool good, const char *what)
{
	if (!good) {
		perror(what);
		abort();
	}
}

static void client_free(struct client *client)
{
	client->peer->clients = g_list_remove(client->peer->clients, client);
	bufferevent_free(client->stream);
	event_free(client->timer);
	g_queue_clear_full(&client->answers, g_free);
	g_free(client);
}

/* Replies */

static size_t put_u32(uint8_t *to, uint32_t value)
{
	value = htonl(value);
	memcpy(to, &value, 4);
	return 4;
}

/* Frames a reply to Log() with this header and body. */
static void put_reply(GByteArray *out, bool strict, uint8_t type, int32_t seqid, const void *body, guint size)
{
	uint8_t head[32];
	size_t used = 4;

	if (strict)
		used += put_u32(head + used, 0x80010000u | type);
	used += put_u32(head + used, 3);
	memcpy(head + used, "Log", 3);
	used += 3;
	if (!strict)
		head[used++] = type;
	used += put_u32(head + used, (uint32_t)seqid);
	put_u32(head, (uint32_t)(used - 4 + size));
	g_byte_array_append(out, head, (guint)used);
	g_byte_array_append(out, body, size);
}

static void put_number(GByteArray *out, uint64_t number)
{
	number = htobe64(number);
	g_byte_array_append(out, (const uint8_t *)&number, sizeof(number));
}

/* @says: it says in it which traces are wanted, or NULL. */
static void put_result(GByteArray *out, bool strict, int32_t seqid, uint8_t code, const struct peer *says)
{
	uint8_t head[] = {T_I32, 0, 0, 0, 0, 0, code}, field[] = {T_LIST, 0x62, 0x6b, T_I64, 0, 0, 0, 0};
	GByteArray *body = g_byte_array_new();

	g_byte_array_append(body, head, sizeof(head));
	if (says) {
		put_u32(field + 4, (uint32_t)(2 * says->says_count));
		g_byte_array_append(body, field, sizeof(field));
		for (size_t i = 0; i < says->says_count; i++) {
			put_number(body, says->says[i].high);
			put_number(body, says->says[i].low);
		}
	}
	g_byte_array_append(body, (const uint8_t[]){T_STOP}, 1);
	put_reply(out, strict, T_REPLY, seqid, body->data, body->len);
	g_byte_array_unref(body);
}

static void put_exception(GByteArray *out, int32_t seqid, const char *words)
{
	char body[128] = {T_STRING, 0, 1};
	int size = snprintf(body + 7, sizeof(body) - 8, "%s", words);

	put_u32((uint8_t *)body + 3, (uint32_t)size);
	body[7 + size] = T_STOP;
	put_reply(out, true, T_EXCEPTION, seqid, body, (guint)size + 8);
}

static void put_bytes(GByteArray *out, const char *bytes, size_t size)
{
	g_byte_array_append(out, (const uint8_t *)bytes, (guint)size);
}

static void put_answer(GByteArray *out, const struct answer *answer, const struct peer *peer)
{
	const struct peer *says = answer->asks && peer->hears ? peer : NULL;
	static const char text[] = "\0\0\0\x12"
				   "Bad request, sorry",
			  http[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
			  garbage[] = "\0\0\0\x08\xde\xad\xbe\xef\xfe\xed\xfa\xce";

	char words[100];

	switch (answer->act) {
	case PEER_TWICE:
		put_result(out, true, answer->seqid, 0, says);
		/* fall through */
	case PEER_OK:
	case PEER_HALF_AND_HANG:
	case PEER_HALF_AND_CLOSE:
		put_result(out, true, answer->seqid, 0, says);
		break;
	case PEER_OLD_OK:
		put_result(out, false, answer->seqid, 0, says);
		break;
	case PEER_TRY_LATER:
		put_result(out, true, answer->seqid, 1, says);
		break;
	case PEER_WRONG_SEQID:
		put_result(out, true, answer->seqid + 1, 0, says);
		break;
	case PEER_EXCEPTION:
		snprintf(words, sizeof(words), "no room for %u", answer->call);
		put_exception(out, answer->seqid, words);
		break;
	case PEER_BAD_SPAN:
		snprintf(words, sizeof(words), "bad span %s", answer->span);
		put_exception(out, answer->seqid, words);
		break;
	case PEER_TEXT:
		put_bytes(out, text, sizeof(text) - 1);
		break;
	case PEER_HTTP:
		put_bytes(out, http, sizeof(http) - 1);
		break;
	case PEER_GARBAGE:
		put_bytes(out, garbage, sizeof(garbage) - 1);
		break;
	case PEER_SILENT:
	case PEER_CLOSE:
		break;
	}
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

/* By a handshake within the connection, which TLS 1.3 has no more, or by a message. */
static void renew_keys(struct client *client)
{
	SSL *tls = bufferevent_openssl_get_ssl(client->stream);

	if (SSL_version(tls) == TLS1_3_VERSION)
		must(SSL_key_update(tls, SSL_KEY_UPDATE_REQUESTED) == 1, "SSL_key_update");
	else
		must(SSL_renegotiate_pending(tls) || SSL_renegotiate(tls) == 1, "SSL_renegotiate");
	must(SSL_do_handshake(tls) == 1, "SSL_do_handshake");
}

/* Does it; the client may be gone afterwards, where this returns false. */
static bool give_answer(struct client *client, const struct answer *answer)
{
	GByteArray *out = g_byte_array_new();
	bool half = answer->act == PEER_HALF_AND_HANG || answer->act == PEER_HALF_AND_CLOSE, stays = true;

	put_answer(out, answer, client->peer);
	if (client->peer->tls_renews)
		renew_keys(client);
	bufferevent_write(client->stream, out->data, half ? out->len / 2 : out->len);
	g_byte_array_unref(out);
	if (answer->act != PEER_SILENT)
		client->open--;
	if (answer->act == PEER_CLOSE) {
		client_free(client);
		stays = false;
	} else if (answer->act == PEER_HALF_AND_CLOSE) {
		bufferevent_setcb(client->stream, NULL, on_flushed, on_event, client);
		stays = false;
	}
	return stays;
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct client *client = arg;
	struct answer *answer = g_queue_pop_head(&client->answers);
	struct timeval delay = {0, client->peer->delay_ms * 1000};

	(void)fd;
	(void)what;
	if (!g_queue_is_empty(&client->answers))
		event_add(client->timer, &delay);
	give_answer(client, answer);
	g_free(answer);
}

/* Calls: read by hand and strictly, as test_scribe proves that the uplink's bytes are Thrift's. */

static uint32_t get_u32(const uint8_t *from)
{
	return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

/* Takes @size bytes off the front of what is left of the call. */
static const uint8_t *take(const uint8_t **at, const uint8_t *end, size_t size)
{
	const uint8_t *bytes = *at;

	must(size <= (size_t)(end - bytes), "a call that is too short");
	*at += size;
	return bytes;
}

static void expect(const uint8_t **at, const uint8_t *end, const void *bytes, size_t size)
{
	must(memcmp(take(at, end, size), bytes, size) == 0, "not a call of Log()");
}

static void note_span(struct peer *peer, char *span)
{
	g_hash_table_insert(peer->counts, g_strdup(span), GUINT_TO_POINTER(peer_count(peer, span) + 1));
	g_ptr_array_add(peer->taken, span);
}

/* Returns the span in a message; the caller's. */
static char *read_span(const uint8_t *base64, size_t base64_size)
{
	char *text = g_strndup((const char *)base64, base64_size);
	gsize size;
	guchar *bytes = g_base64_decode(text, &size);
	char *span = g_strndup((char *)bytes, size);

	g_free(bytes);
	g_free(text);
	return span;
}

/* Notes the spans of a call that is good; frees the others. */
static void take_spans(struct peer *peer, struct answer *answer, GPtrArray *spans)
{
	bool refuses = answer->act == PEER_TRY_LATER || answer->act == PEER_EXCEPTION;

	for (guint i = 0; peer->bad && !refuses && i < spans->len; i++) {
		const char *span = g_ptr_array_index(spans, i);

		if (peer->bad(span)) {
			answer->act = peer->bad_act ? peer->bad_act : PEER_BAD_SPAN;
			refuses = true;
			g_strlcpy(answer->span, span, sizeof(answer->span));
		}
	}
	peer->refused += answer->act == PEER_BAD_SPAN || answer->act == PEER_EXCEPTION;
	for (guint i = 0; i < spans->len; i++) {
		if (refuses)
			g_free(g_ptr_array_index(spans, i));
		else
			note_span(peer, g_ptr_array_index(spans, i));
	}
	g_ptr_array_unref(spans);
}

static void note_wanted(struct peer *peer, const uint8_t bytes[16])
{
	const struct trace_id id = {(uint64_t)get_u32(bytes) << 32 | get_u32(bytes + 4),
		(uint64_t)get_u32(bytes + 8) << 32 | get_u32(bytes + 12)};

	g_array_append_val(peer->told, id);
}

/* Reads one call, notes what it brings, and says how it is to be answered. */
static struct answer take_call(struct peer *peer, const uint8_t *at, const uint8_t *end)
{
	struct answer answer = {
		.act = peer->acts[MIN(peer->calls, peer->act_count - 1)], .call = peer->calls};
	GPtrArray *spans = g_ptr_array_new();

	expect(&at, end, "\x80\1\0\1\0\0\0\3Log", 11);
	answer.seqid = (int32_t)get_u32(take(&at, end, 4));
	expect(&at, end, "\x0f\0\1\x0c", 4);
	for (uint32_t count = get_u32(take(&at, end, 4)); count > 0; count--) {
		uint32_t size;

		expect(&at, end, "\x0b\0\1\0\0\0\6zipkin\x0b\0\2", 16);
		size = get_u32(take(&at, end, 4));
		g_ptr_array_add(spans, read_span(take(&at, end, size), size));
		expect(&at, end, "", 1);
	}
	if (at < end && *at == T_I64) { /* spans from a disk say so, in a field that other servers skip */
		expect(&at, end, "\x0a\x62\x6f\0\0\0\0\0\0\0\1", 11);
		peer->replayed++;
	}
	if (at < end && *at) { /* as do those that are wanted */
		expect(&at, end, "\x0f\x62\x6b\x0a", 4);
		for (uint32_t count = get_u32(take(&at, end, 4)) / 2; count > 0; count--)
			note_wanted(peer, take(&at, end, 16));
		answer.asks = true;
		peer->asked++;
	}
	expect(&at, end, "", 1);
	must(at == end, "bytes behind the call");
	peer->calls++;
	take_spans(peer, &answer, spans);
	return answer;
}

/* Takes one call out of the input, if it is there; returns whether to go on. */
static bool take_frame(struct client *client, struct evbuffer *input)
{
	struct timeval delay = {0, client->peer->delay_ms * 1000};
	struct answer answer;
	uint8_t head[4], *bytes;
	uint32_t size;

	if (evbuffer_copyout(input, head, 4) < 4)
		return false;
	size = get_u32(head);
	if (evbuffer_get_length(input) < 4 + (size_t)size)
		return false;
	evbuffer_drain(input, 4);
	bytes = evbuffer_pullup(input, size);
	answer = take_call(client->peer, bytes, bytes + size);
	evbuffer_drain(input, size);
	client->open++;
	client->peer->open_max = MAX(client->peer->open_max, client->open);
	if (client->peer->delay_ms == 0)
		return give_answer(client, &answer);
	if (g_queue_is_empty(&client->answers))
		event_add(client->timer, &delay);
	g_queue_push_tail(&client->answers, g_memdup2(&answer, sizeof(answer)));
	return true;
}

/* Answers a call as soon as its head is there, and reads no more of it. */
static void answer_head(struct client *client, struct evbuffer *input)
{
	struct answer answer = {.act = PEER_OK};
	uint8_t head[19];

	if (client->answered_early || evbuffer_copyout(input, head, sizeof(head)) < (ssize_t)sizeof(head))
		return;
	client->answered_early = true;
	client->open++;
	answer.seqid = (int32_t)get_u32(head + 15);
	give_answer(client, &answer);
	bufferevent_disable(client->stream, EV_READ);
}

static void on_readable(struct bufferevent *stream, void *arg)
{
	struct evbuffer *input = bufferevent_get_input(stream);
	struct client *client = arg;

	if (client->peer->answer_early)
		answer_head(client, input);
	else if (client->peer->close_after && evbuffer_get_length(input) >= client->peer->close_after)
		client_free(client);
	else
		while (take_frame(client, input))
			;
}

static void on_connection(
	struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address, int size, void *arg)
{
	struct client *client = g_new0(struct client, 1);
	struct peer *peer = arg;
	int64_t now = clock_monotonic();

	(void)listener;
	(void)address;
	(void)size;
	client->peer = peer;
	if (peer->tls)
		client->stream = bufferevent_openssl_socket_new(
			peer->base, fd, SSL_new(peer->tls), BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE);
	else
		client->stream = bufferevent_socket_new(peer->base, fd, BEV_OPT_CLOSE_ON_FREE);
	client->timer = evtimer_new(peer->base, on_timer, client);
	g_queue_init(&client->answers);
	bufferevent_setcb(client->stream, on_readable, NULL, on_event, client);
	bufferevent_enable(client->stream, EV_READ | EV_WRITE);
	peer->clients = g_list_prepend(peer->clients, client);
	peer->connections++;
	g_array_append_val(peer->connected_at, now);
}

/* The peer */

void peer_start(struct peer *peer)
{
	struct sockaddr_storage address;
	int size = sizeof(address), small = 4096;
	socklen_t length = sizeof(address);
	char text[80];

	snprintf(text, sizeof(text), strchr(peer->address, ':') ? "[%s]" : "%s", peer->address);
	must(evutil_parse_sockaddr_port(text, (struct sockaddr *)&address, &size) == 0, peer->address);
	/* The port's place is the same for both families. */
	((struct sockaddr_in *)&address)->sin_port = htons(peer->port);
	peer->listener = evconnlistener_new_bind(peer->base, on_connection, peer,
		LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE, -1, (struct sockaddr *)&address, size);
	must(peer->listener != NULL, "listen");
	/* So that a large call cannot be on its way as a whole. */
	setsockopt(evconnlistener_get_fd(peer->listener), SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	getsockname(evconnlistener_get_fd(peer->listener), (struct sockaddr *)&address, &length);
	peer->port = ntohs(((struct sockaddr_in *)&address)->sin_port);
}

void peer_hang_up(struct peer *peer)
{
	while (peer->clients)
		client_free(peer->clients->data);
}

void peer_stop(struct peer *peer)
{
	if (peer->listener)
		evconnlistener_free(peer->listener);
	peer->listener = NULL;
	peer_hang_up(peer);
}

void peer_set_acts(struct peer *peer, const enum peer_act *acts, size_t count)
{
	peer->acts = acts;
	peer->act_count = count;
	peer->calls = 0;
}

struct peer *peer_create_on(struct event_base *base, const char *address, uint16_t port)
{
	static const enum peer_act good[] = {PEER_OK};
	struct peer *peer = g_new0(struct peer, 1);

	peer->base = base;
	peer->address = address;
	peer->port = port;
	peer->told = g_array_new(FALSE, FALSE, sizeof(struct trace_id));
	peer->taken = g_ptr_array_new_with_free_func(g_free);
	peer->counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	peer->connected_at = g_array_new(FALSE, FALSE, sizeof(int64_t));
	peer_set_acts(peer, good, 1);
	peer_start(peer);
	return peer;
}

struct peer *peer_create(struct event_base *base, const char *address)
{
	return peer_create_on(base, address, 0);
}

void peer_destroy(struct peer *peer)
{
	peer_stop(peer);
	g_array_unref(peer->told);
	g_ptr_array_unref(peer->taken);
	g_hash_table_unref(peer->counts);
	g_array_unref(peer->connected_at);
	g_free(peer);
}

unsigned int peer_count(struct peer *peer, const char *span)
{
	return GPOINTER_TO_UINT(g_hash_table_lookup(peer->counts, span));
}
