/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/server/link.h"

#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>
#include <glib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "output/server/calls.h"

struct link {
	struct wire *wire;
	struct link_handler handler;
	struct connection *connection; /* NULL: given up */
	uint32_t window;
	bool up;
	bool persists; /* the last reply said that the connection stays */
	bool begun;    /* a reply has, and not ended */
	struct event *patience;
	struct timeval patience_time;
	size_t unsent; /* set once it is given up */
	struct calls calls;
};

static size_t unsent_bytes(const struct link *link)
{
	if (!link->up)
		return 0;
	return link->connection ? evbuffer_get_length(connection_output(link->connection)) : link->unsent;
}

/* Drops the connection: nothing more is sent or read. The open calls remain, to be taken back. */
static void give_up(struct link *link)
{
	link->unsent = unsent_bytes(link);
	event_del(link->patience);
	connection_destroy(link->connection);
	link->connection = NULL;
}

static void end(struct link *link, enum fault fault, const char *why)
{
	give_up(link);
	link->handler.down(fault, why, link->handler.data);
}

static void on_up(void *data)
{
	struct link *link = data;

	char why[320];

	if (link->wire->ready && !link->wire->ready(link->wire, why, sizeof(why))) {
		end(link, FAULT_HEADERS, why);
		return;
	}
	link->up = true;
	link->handler.up(link->handler.data);
}

static void tell(struct link *link, enum reply_kind kind, const struct reply *reply)
{
	void *cargo;

	if (reply->last)
		give_up(link);
	else
		link->persists = true;
	cargo = calls_end_oldest(&link->calls);
	link->handler.answered(kind, reply, cargo, link->handler.data);
}

/* A server that closes an idle connection may send an answer without a call first. */
static bool ends_idle(const struct link *link, enum reply_kind kind, const struct reply *reply)
{
	return link->calls.open == 0 && !link->wire->numbered && reply->last && kind != REPLY_GARBAGE &&
	       kind != REPLY_GOOD;
}

static enum fault fault_in(enum reply_kind kind, const struct reply *reply)
{
	if ((kind == REPLY_GARBAGE || kind == REPLY_UNFIT) && reply->fault)
		return reply->fault;
	return kind == REPLY_UNFIT ? FAULT_UNFIT : FAULT_GARBLED;
}

enum took { TOOK_ONE, TOOK_NONE, TOOK_THE_LAST };

/* How much more there may be of the input. */
enum more { MORE, NO_MORE, NOT_WAITED_FOR };

/* Takes one reply from the input; the link may be gone after the last one. */
static enum took take_reply(struct link *link, struct evbuffer *input, enum more more)
{
	size_t size = evbuffer_get_length(input);
	enum reply_kind kind = REPLY_PARTIAL;
	struct reply reply = {.ended = more != MORE};
	const char *wrong = reply.words;
	bool early = false;

	if (size > 0)
		kind = link->wire->get_reply(link->wire, evbuffer_pullup(input, -1), size, &reply);
	link->begun = kind == REPLY_PARTIAL && reply.begun;
	if (kind == REPLY_PARTIAL)
		return TOOK_NONE;
	event_del(link->patience);
	reply.unended |= more == NOT_WAITED_FOR;
	if (ends_idle(link, kind, &reply)) {
		end(link, FAULT_CLOSED, reply.words);
		return TOOK_THE_LAST;
	}
	if (kind != REPLY_GARBAGE)
		wrong = calls_mismatch(&link->calls, kind, &reply, unsent_bytes(link), &early);
	if (wrong || kind == REPLY_UNFIT) {
		end(link, fault_in(kind, &reply), wrong ? wrong : reply.words);
		return TOOK_THE_LAST;
	}
	reply.last |= early;
	evbuffer_drain(input, reply.used);
	tell(link, kind, &reply);
	if (!reply.last)
		return TOOK_ONE;
	end(link, FAULT_NONE, "the server ended the connection");
	return TOOK_THE_LAST;
}

static void on_readable(struct evbuffer *input, void *data)
{
	struct link *link = data;
	enum took took;

	do
		took = take_reply(link, input, MORE);
	while (took == TOOK_ONE);
	if (took != TOOK_NONE)
		return;
	if (link->begun && !event_pending(link->patience, EV_TIMEOUT, NULL))
		event_add(link->patience, &link->patience_time);
	link->handler.idle(link->handler.data);
}

static bool take_rest(struct link *link, enum more more)
{
	return link->up && link->connection &&
	       take_reply(link, connection_input(link->connection), more) != TOOK_NONE;
}

static void on_patience_over(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	take_rest(arg, NOT_WAITED_FOR);
}

bool link_take_rest(struct link *link)
{
	return take_rest(link, NOT_WAITED_FOR);
}

static void on_down(enum fault fault, const char *why, void *data)
{
	char words[320];

	if (fault == FAULT_CLOSED && take_rest(data, NO_MORE))
		return;
	/* The text belongs to the connection, which is destroyed. */
	g_strlcpy(words, why, sizeof(words));
	end(data, fault, words);
}

struct link *link_create(struct event_base *base, const struct link_options *options, struct wire *wire,
	const struct link_handler *handler)
{
	struct connection_handler below = {on_up, on_readable, on_down, NULL};
	struct link *link = memory_get(sizeof(*link));

	below.data = link;
	link->wire = wire;
	link->handler = *handler;
	link->window = options->window;
	link->patience = evtimer_new(base, on_patience_over, link);
	if (!link->patience)
		g_error("out of memory");
	link->patience_time = clock_timeval(options->patience_ns);
	calls_init(&link->calls, options->window, wire);
	link->connection = connection_create(base, &options->connection, &below);
	return link;
}

bool link_has_room(const struct link *link, uint32_t window)
{
	uint32_t room = link->wire->careful && !link->persists ? 1 : MIN(window, link->window);

	return link->up && link->connection && link->calls.open < room;
}

uint32_t link_open(const struct link *link)
{
	return link->calls.open;
}

void *link_oldest(const struct link *link)
{
	return calls_oldest(&link->calls);
}

size_t link_send(struct link *link, const struct run *run, void *cargo)
{
	return calls_send(&link->calls, run, cargo, connection_output(link->connection));
}

void *link_take_back(struct link *link, bool *whole)
{
	if (link->connection)
		give_up(link);
	return calls_end_youngest(&link->calls, &link->unsent, whole);
}

void link_reached(const struct link *link, struct reached *reached)
{
	connection_reached(link->connection, reached);
}

void link_set_handler(struct link *link, const struct link_handler *handler)
{
	link->handler = *handler;
}

void link_destroy(struct link *link)
{
	if (!link)
		return;
	connection_destroy(link->connection);
	event_free(link->patience);
	calls_free(&link->calls);
	free(link);
}
