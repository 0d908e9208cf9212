/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/tails.h"

#include <string.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <glib.h>

#include "base/clock.h"

/* How often what came is passed on, and how many bytes at a time, to all together. */
#define TURN_NS (50 * NS_PER_MS)
#define TURN_BYTES (128 * 1024)
/* The other side is slow if so much waits for it. */
#define WAITING_MAX (256 * 1024)
/* The news come so often, also while nothing else does. */
#define NEWS_NS (NS_PER_SECOND / 2)

struct tail {
	struct tails *tails;
	struct evhttp_request *request;
	struct evhttp_connection *connection;
	struct subscriber *subscriber;
	int64_t news;        /* when they were told last; CLOCK_MONOTONIC ns */
	struct buffer bytes; /* of a record that is not whole yet */
};

struct tails {
	struct subscribers *subscribers;
	struct event *turn;
	GPtrArray *open; /* of struct tail */
};

static void end(struct tail *tail)
{
	struct tails *tails = tail->tails;

	subscribers_leave(tails->subscribers, tail->subscriber);
	g_ptr_array_remove_fast(tails->open, tail);
	if (!tails->open->len)
		event_del(tails->turn);
	buffer_free(&tail->bytes);
	g_free(tail);
}

/* The other side has gone, or the server is. */
static void on_close(struct evhttp_connection *connection, void *data)
{
	struct tail *tail = data;

	(void)connection;
	/* libevent gives up a request that is being answered, if the other side has gone */
	if (!evhttp_request_get_connection(tail->request))
		evhttp_request_free(tail->request);
	end(tail);
}

/* How many of the bytes are whole records. */
static size_t whole(const struct buffer *bytes)
{
	size_t at = 0;

	for (;;) {
		struct tail_record record;

		if (bytes->size - at < sizeof(record))
			return at;
		memcpy(&record, bytes->data + at, sizeof(record));
		if (bytes->size - at - sizeof(record) < record.size)
			return at;
		at += sizeof(record) + record.size;
	}
}

static void add_news(struct tail *tail, struct evbuffer *chunk, int64_t now)
{
	struct tail_record record = {sizeof(struct tail_news), TAIL_NEWS};
	struct tail_news news = {subscriber_lost(tail->subscriber)};

	if (now - tail->news < NEWS_NS)
		return;
	tail->news = now;
	evbuffer_add(chunk, &record, sizeof(record));
	evbuffer_add(chunk, &news, sizeof(news));
}

static size_t waiting(struct tail *tail)
{
	struct bufferevent *to = evhttp_connection_get_bufferevent(tail->connection);

	return evbuffer_get_length(bufferevent_get_output(to));
}

/* What is begun and not whole is kept, as the news go between two records. */
static void pass_on(struct tail *tail, size_t most, int64_t now)
{
	struct evbuffer *chunk;
	size_t size;

	if (waiting(tail) >= WAITING_MAX)
		return;
	subscriber_take(tail->subscriber, most, &tail->bytes);
	size = whole(&tail->bytes);
	chunk = evbuffer_new();
	evbuffer_add(chunk, tail->bytes.data, size);
	if (size) /* otherwise there may be no bytes at all */
		memmove(tail->bytes.data, tail->bytes.data + size, tail->bytes.size - size);
	tail->bytes.size -= size;
	add_news(tail, chunk, now);
	if (evbuffer_get_length(chunk))
		evhttp_send_reply_chunk(tail->request, chunk);
	evbuffer_free(chunk);
}

static void on_turn(evutil_socket_t fd, short what, void *data)
{
	struct tails *tails = data;
	int64_t now = clock_monotonic();
	unsigned ready = 0; /* to take something */

	(void)fd;
	(void)what;
	for (guint i = 0; i < tails->open->len; i++)
		ready += waiting(g_ptr_array_index(tails->open, i)) < WAITING_MAX;
	for (guint i = tails->open->len; i > 0; i--)
		pass_on(g_ptr_array_index(tails->open, i - 1), TURN_BYTES / MAX(ready, 1), now);
}

struct tails *tails_create(struct event_base *base, struct subscribers *subscribers)
{
	struct tails *tails = g_new0(struct tails, 1);

	tails->subscribers = subscribers;
	tails->open = g_ptr_array_new();
	tails->turn = event_new(base, -1, EV_PERSIST, on_turn, tails);
	return tails;
}

const char *tails_answer(struct tails *tails, struct evhttp_request *request, const char *query)
{
	const struct timeval turn = clock_timeval(TURN_NS);
	struct tail *tail;
	struct subscriber *subscriber;
	struct tail_filter filter;
	const char *wrong = tail_filter_get(query, &filter);

	if (wrong)
		return wrong;
	subscriber = subscribers_join(tails->subscribers, &filter);
	if (!subscriber)
		return "as many as may watch do already: end another `blkin tail` first";
	tail = g_new0(struct tail, 1);
	tail->tails = tails;
	tail->request = request;
	tail->connection = evhttp_request_get_connection(request);
	tail->subscriber = subscriber;
	if (!tails->open->len)
		event_add(tails->turn, &turn);
	g_ptr_array_add(tails->open, tail);
	evhttp_connection_set_closecb(tail->connection, on_close, tail);
	evhttp_add_header(
		evhttp_request_get_output_headers(request), "Content-Type", "application/octet-stream");
	evhttp_add_header(evhttp_request_get_output_headers(request), "Connection", "close");
	/* it may be silent for as long as it likes */
	bufferevent_set_timeouts(evhttp_connection_get_bufferevent(tail->connection), NULL, NULL);
	evhttp_send_reply_start(request, HTTP_OK, NULL);
	return NULL;
}

void tails_destroy(struct tails *tails)
{
	if (!tails)
		return;
	while (tails->open->len)
		end(g_ptr_array_index(tails->open, 0));
	g_ptr_array_unref(tails->open);
	event_free(tails->turn);
	g_free(tails);
}
