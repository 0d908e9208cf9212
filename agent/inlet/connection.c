/* SPDX-License-Identifier: BSD-2-Clause */
/* A sender's connection: bytes become calls, and replies bytes, in the order of the calls. See inner.h. */
#include <stdio.h>
#include <string.h>

#include <event2/buffer.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/sanitize.h"
#include "inlet/inner.h"

/* Read at a time, so that all have their turn; libevent reads this much of it. */
#define READ_BYTES (64 * 1024)
#define READ_BY_LIBEVENT 4096
/* Kept for what comes next, by all. */
#define KEPT_ALL (4 * 1024 * 1024)
/* A peer with this much of its answers unread is not read from. */
#define REPLIES_MAX (16 * 1024)
/* The kernel keeps no more of them either: it would take some MiB for each peer that does not read. */
#define KERNEL_REPLIES (64 * 1024)
/* A peer that is gone without a word is found after two minutes, not after two hours. */
#define ALIVE_SECONDS 60
#define ALIVE_PAUSE_SECONDS 15
#define ALIVE_TIMES 4

void connection_end(struct connection *connection)
{
	struct inlet *inlet = connection->inlet;
	struct call *call;

	while ((call = connection->first)) {
		connection->first = call->next;
		call_free(call);
	}
	inlet->freed_much |= connection->weighed > KEPT_BYTES / 4;
	buffer_free(&connection->in);
	inlet->protocol->close(connection->own);
	holders_weigh_out(connection);
	holders_leave(connection);
	bufferevent_free(connection->bev);
	g_queue_unlink(&inlet->connections, &connection->link);
	g_free(connection);
}

void connection_close(struct connection *connection, enum ledger_row row)
{
	ledger_add(row, 1);
	connection_end(connection);
}

/* What has come */

/* Memory that a connection keeps for what comes next: of many, each keeps little. */
static size_t kept_of(const struct inlet *inlet)
{
	return MIN(KEPT_ALL / MAX(inlet->connections.length, 1), KEPT_BYTES);
}

/* What is parsed goes; memory of a large call is not kept. */
static void tidy(struct connection *connection)
{
	struct buffer *in = &connection->in;
	size_t left = in->size - connection->parsed;

	if (left)
		memmove(in->data, in->data + connection->parsed, left);
	in->size = left;
	connection->parsed = 0;
	if (!left && in->room > kept_of(connection->inlet)) {
		connection->inlet->freed_much |= in->room > KEPT_BYTES;
		buffer_free(in);
	}
	holders_weigh(connection);
}

void connection_rest(struct connection *connection)
{
	if (!connection->in.room || connection->in.size)
		return;
	connection->inlet->freed_much |= connection->in.room > KEPT_BYTES / 2;
	buffer_free(&connection->in);
	holders_weigh(connection);
}

static bool may_read(const struct connection *connection)
{
	return connection->calls < limits_calls(connection->inlet) && !connection->closing &&
	       evbuffer_get_length(bufferevent_get_output(connection->bev)) < REPLIES_MAX &&
	       !connection->inlet->quiet;
}

static void pause_reading(struct connection *connection)
{
	connection->paused = true;
	bufferevent_disable(connection->bev, EV_READ);
}

static bool is_unfinished(const struct connection *connection)
{
	const struct protocol *protocol = connection->inlet->protocol;

	return connection->in.size > connection->parsed ||
	       (protocol->is_unfinished && protocol->is_unfinished(connection));
}

/* What is left is the beginning of another call. */
static void begin_next(struct connection *connection)
{
	connection->begun = is_unfinished(connection) ? connection->heard : 0;
	connection->come = connection->in.size - connection->parsed;
}

/* Takes all calls that are there; false, with the reason in @why, if something else is. */
static bool take_calls(struct connection *connection, char *why, size_t why_size)
{
	const struct protocol *protocol = connection->inlet->protocol;
	ssize_t used = 1;

	while (!connection->paused && used > 0 && connection->in.size > connection->parsed) {
		const uint64_t calls = connection->calls_begun;

		used = protocol->take(connection, connection->in.data + connection->parsed,
			connection->in.size - connection->parsed, why, why_size);
		connection->parsed += used > 0 ? (size_t)used : 0;
		if (connection->calls_begun != calls)
			begin_next(connection);
		if (!may_read(connection))
			pause_reading(connection);
	}
	if (!is_unfinished(connection))
		connection->begun = 0;
	return used >= 0;
}

static void close_garbage(struct connection *connection, const char *why)
{
	const uint8_t *data = connection->in.data + connection->parsed;
	size_t size = MIN(connection->in.size - connection->parsed, 32);
	char words[40] = "";
	bool said = size >= 4 && words_readable(data, size);

	if (said)
		words_copy(words, sizeof(words), data, size);
	inlet_say(connection->inlet, SAY_GARBAGE, "%s: connection closed: %s%s%s%s", connection->peer, why,
		said ? ": \"" : "", words, said ? "\"" : "");
	connection_close(connection, INPUT_CLOSED_GARBAGE);
}

static void parse(struct connection *connection)
{
	char why[200] = "";

	if (!take_calls(connection, why, sizeof(why)))
		close_garbage(connection, why);
	else
		tidy(connection);
}

/*
 * What has come behind what libevent read: a request of 40 KiB would be eleven more turns of its loop. The
 * end and errors are libevent's to find, in its next turn.
 */
static size_t read_rest(struct connection *connection)
{
	uint8_t rest[READ_BYTES - READ_BY_LIBEVENT];
	ssize_t size = recv(bufferevent_getfd(connection->bev), rest, sizeof(rest), MSG_DONTWAIT);

	if (size <= 0)
		return 0;
	buffer_put(&connection->in, rest, (size_t)size);
	return (size_t)size;
}

/* Moves what has come into the connection's own memory, as a call has to be in one piece. */
static bool collect(struct connection *connection)
{
	struct evbuffer *from = bufferevent_get_input(connection->bev);
	size_t size = evbuffer_get_length(from);

	if (!size)
		return true;
	evbuffer_remove(from, buffer_reserve(&connection->in, size), size);
	connection->in.size += size;
	if (size == READ_BY_LIBEVENT)
		size += read_rest(connection);
	connection->heard = clock_monotonic();
	if (!connection->begun) {
		connection->begun = connection->heard;
		connection->come = 0;
	}
	connection->come += size;
	holders_weigh(connection);
	return limits_grown(connection);
}

static void on_read(struct bufferevent *bev, void *data)
{
	struct connection *connection = data;
	struct evbuffer *from = bufferevent_get_input(bev);

	if (connection->lingers)
		evbuffer_drain(from, evbuffer_get_length(from));
	else if (!connection->paused && collect(connection))
		parse(connection);
}

/* Replies */

/* Goes on reading, if it may. */
static void resume(struct connection *connection)
{
	if (!connection->paused || !may_read(connection))
		return;
	connection->paused = false;
	connection->heard = clock_monotonic(); /* the wait was ours */
	connection->begun = connection->begun ? connection->heard : 0;
	bufferevent_enable(connection->bev, EV_READ);
	bufferevent_trigger(connection->bev, EV_READ, BEV_TRIG_IGNORE_WATERMARKS | BEV_TRIG_DEFER_CALLBACKS);
}

void connection_write(struct connection *connection, const void *data, size_t size)
{
	if (!size)
		return;
	evbuffer_add(bufferevent_get_output(connection->bev), data, size);
	if (!connection->written)
		connection->written = clock_monotonic();
}

void connection_close_soon(struct connection *connection)
{
	connection->closing = true;
	pause_reading(connection);
	if (!evbuffer_get_length(bufferevent_get_output(connection->bev))) /* not in the middle of a call */
		bufferevent_trigger(
			connection->bev, EV_WRITE, BEV_TRIG_IGNORE_WATERMARKS | BEV_TRIG_DEFER_CALLBACKS);
}

void connection_flush(struct connection *connection)
{
	struct call *call;

	while ((call = connection->first) && !connection->closing && !call->group &&
		(call->reply.size || !call->wants_reply)) {
		connection_write(connection, call->reply.data, call->reply.size);
		if (call->closes)
			connection_close_soon(connection);
		connection->first = call->next;
		if (!connection->first)
			connection->last = &connection->first;
		connection->calls--;
		call_free(call);
	}
	resume(connection);
}

void connection_end_call(struct connection *connection, struct call *call)
{
	struct call **at = &connection->first;

	while (*at != call)
		at = &(*at)->next;
	*at = call->next;
	if (!*at)
		connection->last = at;
	connection->calls--;
	call_free(call);
	resume(connection);
}

/* Who is in the middle of a call, as one that is too large, would not get to see our answer if it were closed
 * at once: what comes for it then resets the connection. */
static void linger(struct connection *connection)
{
	if (connection->lingers)
		return;
	connection->lingers = clock_monotonic();
	shutdown(bufferevent_getfd(connection->bev), SHUT_WR);
	if (!connection->inlet->quiet)
		bufferevent_enable(connection->bev, EV_READ);
}

static void on_written(struct bufferevent *bev, void *data)
{
	struct connection *connection = data;

	(void)bev;
	connection->written = 0;
	if (connection->closing)
		linger(connection);
	else
		connection_flush(connection);
}

static bool has_to_answer(const struct connection *connection)
{
	return connection->first || evbuffer_get_length(bufferevent_get_output(connection->bev)) > 0;
}

/*
 * It is gone, and so are the answers that it waits for. But at the end of what it says it may still be there
 * for them, as of `nc -N`: the end comes again each time that it is read from, and is waited with until all
 * is said. If it is gone after all, the first answer shows it.
 */
static void on_event(struct bufferevent *bev, short what, void *data)
{
	struct connection *connection = data;

	(void)bev;
	if (what & BEV_EVENT_EOF && !connection->lingers && has_to_answer(connection))
		pause_reading(connection);
	else
		connection_end(connection);
}

/* Those of TCP mean nothing to a socket of this node. */
static void set_up(int fd)
{
	static const struct {
		int level, name, value;
	} options[] = {
		{IPPROTO_TCP, TCP_NODELAY, 1},
		{SOL_SOCKET, SO_SNDBUF, KERNEL_REPLIES},
		{SOL_SOCKET, SO_KEEPALIVE, 1},
		{IPPROTO_TCP, TCP_KEEPIDLE, ALIVE_SECONDS},
		{IPPROTO_TCP, TCP_KEEPINTVL, ALIVE_PAUSE_SECONDS},
		{IPPROTO_TCP, TCP_KEEPCNT, ALIVE_TIMES},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(options); i++)
		setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof(int));
}

void connection_accept(struct inlet *inlet, evutil_socket_t fd, const struct sockaddr *address,
	const struct peer *peer, enum seat seat)
{
	struct connection *connection = g_new0(struct connection, 1);

	set_up(fd);
	connection->inlet = inlet;
	connection->guest = seat == SEAT_GUEST;
	holders_enter(connection, peer);
	connection->link.data = connection;
	connection->last = &connection->first;
	connection->came = connection->heard = clock_monotonic();
	peer_print_connection(address, peer, connection->peer);
	connection->bev = bufferevent_socket_new(inlet->base, fd, BEV_OPT_CLOSE_ON_FREE);
	bufferevent_setcb(connection->bev, on_read, on_written, on_event, connection);
	bufferevent_setwatermark(connection->bev, EV_READ, 0, READ_BYTES);
	connection->own = inlet->protocol->open(connection);
	g_queue_push_tail_link(&inlet->connections, &connection->link);
	inlet_sweep_soon(inlet);
	bufferevent_enable(connection->bev, EV_READ | EV_WRITE);
}
