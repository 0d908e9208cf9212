/* SPDX-License-Identifier: BSD-2-Clause */
#include "uplink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>
#include <glib.h>

#include "calls.h"
#include "clock.h"
#include "connection.h"
#include "health.h"
#include "ledger.h"
#include "scribe.h"

struct uplink {
	struct event_base *base;
	struct batch_queue *queue;
	struct uplink_options options;
	char host[256];
	uint16_t port;
	struct connection *connection; /* NULL: between two tries */
	bool connected;
	bool answered; /* by this connection, so that it served before it ended */
	struct calls calls;
	struct batch *put_off; /* answered TRY_LATER while younger calls are open; newest first */
	bool waiting;          /* for the retry timer, before anything else goes out */
	bool wake_ends_wait;
	int64_t backoff; /* upper bound of the next wait, ns */
	struct event *retry, *deadline, *drained_event;
	void (*drained)(void *data);
	void *drained_data;
	struct health health;
};

static void set_timer(struct event *timer, int64_t ns)
{
	struct timeval time = {ns / 1000000000, ns % 1000000000 / 1000};

	event_add(timer, &time);
}

/* Waiting */

static void reset_backoff(struct uplink *uplink)
{
	uplink->backoff = MIN(2 * uplink->options.backoff_min_ns, uplink->options.backoff_max_ns);
}

/* For a random time up to the bound: agents that lost the same server should not come back all at once. */
static void back_off(struct uplink *uplink)
{
	int64_t min = uplink->options.backoff_min_ns;
	int64_t wait = min + (int64_t)(g_random_double() * (double)MAX(uplink->backoff - min, 0));

	uplink->backoff = MIN(2 * uplink->backoff, uplink->options.backoff_max_ns);
	uplink->waiting = true;
	uplink->wake_ends_wait = false;
	set_timer(uplink->retry, wait);
}

/* The oldest call has to be answered in time; the next one's time begins with that answer. */
static void watch_oldest(struct uplink *uplink)
{
	if (uplink->calls.open > 0)
		set_timer(uplink->deadline, uplink->options.timeout_ns);
	else
		event_del(uplink->deadline);
}

/* Told from the loop, so that whoever waits may destroy the uplink. */
static void check_drained(struct uplink *uplink)
{
	if (uplink->drained && batch_queue_done(uplink->queue))
		event_active(uplink->drained_event, EV_TIMEOUT, 1);
}

static void on_drained(evutil_socket_t fd, short what, void *arg)
{
	struct uplink *uplink = arg;
	void (*drained)(void *data) = uplink->drained;

	(void)fd;
	(void)what;
	uplink->drained = NULL;
	if (drained)
		drained(uplink->drained_data);
}

/* Calls */

static void send_batch(struct uplink *uplink, struct batch *batch)
{
	if (batch->sent_before)
		ledger_add(SPANS_SENT_AGAIN, batch->count);
	batch->sent_before = false;
	calls_send(&uplink->calls, batch, connection_output(uplink->connection));
	if (uplink->calls.open == 1)
		watch_oldest(uplink);
}

static struct batch *end_oldest(struct uplink *uplink)
{
	struct batch *batch = calls_end_oldest(&uplink->calls);

	watch_oldest(uplink);
	uplink->answered = true;
	return batch;
}

static void give_back_put_off(struct uplink *uplink)
{
	struct batch *batch;

	while ((batch = uplink->put_off)) {
		uplink->put_off = batch->next;
		batch_give_back(uplink->queue, batch);
	}
}

static size_t unsent_bytes(struct uplink *uplink)
{
	return uplink->connected ? evbuffer_get_length(connection_output(uplink->connection)) : 0;
}

/* Closes the connection and gives back what has no answer, youngest first so that the order stays. */
static void hang_up(struct uplink *uplink)
{
	size_t unsent = unsent_bytes(uplink);
	struct batch *batch;

	/* First the connection: a batch that was given back may be dropped by the queue at any time. */
	connection_destroy(uplink->connection);
	uplink->connection = NULL;
	uplink->connected = false;
	event_del(uplink->deadline);
	while ((batch = calls_end_youngest(&uplink->calls, &unsent)))
		batch_give_back(uplink->queue, batch);
	give_back_put_off(uplink);
}

static void fail(struct uplink *uplink, enum ledger_row row, const char *why)
{
	ledger_add(row, 1);
	health_failing(&uplink->health, why);
	hang_up(uplink);
	back_off(uplink);
	check_drained(uplink);
}

static void start_connection(struct uplink *uplink);

/* Connects, or sends what the window allows, if it is time to. A server that failed is tried with one call.
 */
static void pump(struct uplink *uplink)
{
	uint32_t window = uplink->health.failing ? 1 : uplink->options.window;
	struct batch *batch;

	if (uplink->waiting || uplink->put_off)
		return;
	if (!uplink->connection)
		start_connection(uplink);
	while (uplink->connected && uplink->calls.open < window && (batch = batch_take(uplink->queue)))
		send_batch(uplink, batch);
}

static void on_retry(evutil_socket_t fd, short what, void *arg)
{
	struct uplink *uplink = arg;

	(void)fd;
	(void)what;
	uplink->waiting = false;
	pump(uplink);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct uplink *uplink = arg;
	char why[64];

	(void)fd;
	(void)what;
	snprintf(why, sizeof(why), "no answer within %g s", (double)uplink->options.timeout_ns / 1e9);
	fail(uplink, OUTPUT_ERRORS_TIMEOUT, why);
}

/* Answers */

static void take_good(struct uplink *uplink)
{
	struct batch *batch = end_oldest(uplink);

	ledger_move(SPANS_QUEUED, SPANS_SENT, batch->count);
	ledger_delivered(batch_events(batch), batch->count, clock_wall());
	batch_release(uplink->queue, batch);
	reset_backoff(uplink);
	health_good(&uplink->health);
}

static void take_refusal(struct uplink *uplink, const char *words)
{
	struct batch *batch = end_oldest(uplink);

	ledger_add(OUTPUT_ERRORS_REFUSED, 1);
	ledger_move(SPANS_QUEUED, SPANS_DROPPED_REFUSED, batch->count);
	health_refused(&uplink->health, batch->count, words);
	batch_release(uplink->queue, batch);
}

static void take_put_off(struct uplink *uplink)
{
	struct batch *batch = end_oldest(uplink);

	ledger_add(OUTPUT_ERRORS_TRY_LATER, 1);
	health_failing(&uplink->health, "the server asks to try later");
	batch->next = uplink->put_off;
	uplink->put_off = batch;
}

/* Takes one reply from the input; returns false when there is none, or the connection was given up. */
static bool take_reply(struct uplink *uplink, struct evbuffer *input)
{
	size_t size = evbuffer_get_length(input), used = 0;
	const uint8_t *data = evbuffer_pullup(input, -1);
	char message[256] = "";
	const char *wrong = message;
	int32_t seqid = 0;
	enum scribe_reply reply = scribe_read_reply(data, size, &seqid, &used, message, sizeof(message));

	if (reply == SCRIBE_PARTIAL)
		return false;
	if (reply != SCRIBE_GARBAGE)
		wrong = calls_mismatch(&uplink->calls, seqid, unsent_bytes(uplink));
	if (wrong) {
		fail(uplink, OUTPUT_ERRORS_PROTOCOL, wrong);
		return false;
	}
	evbuffer_drain(input, used);
	if (reply == SCRIBE_OK)
		take_good(uplink);
	else if (reply == SCRIBE_EXCEPTION)
		take_refusal(uplink, message);
	else
		take_put_off(uplink);
	return true;
}

static void on_readable(struct evbuffer *input, void *data)
{
	struct uplink *uplink = data;

	while (take_reply(uplink, input))
		;
	if (uplink->put_off && uplink->calls.open == 0) {
		give_back_put_off(uplink);
		back_off(uplink);
	}
	pump(uplink);
	check_drained(uplink);
}

/* The connection */

static void on_up(void *data)
{
	struct uplink *uplink = data;

	uplink->connected = true;
	pump(uplink);
	/* A server that failed is good again when it takes spans, or when there are none for it to take. */
	if (!uplink->health.failing || uplink->calls.open == 0)
		health_good(&uplink->health);
}

static void on_down(bool was_up, const char *why, void *data)
{
	struct uplink *uplink = data;

	if (!was_up) {
		fail(uplink, OUTPUT_ERRORS_CONNECT, why);
	} else if (uplink->calls.open > 0) {
		fail(uplink, OUTPUT_ERRORS_CLOSED, why);
	} else {
		/* Idle: no error. One that served comes back as soon as it is needed. */
		health_idle(&uplink->health, why);
		hang_up(uplink);
		if (!uplink->waiting) {
			back_off(uplink);
			uplink->wake_ends_wait = uplink->answered;
		}
	}
}

static void start_connection(struct uplink *uplink)
{
	struct connection_handler handler = {on_up, on_readable, on_down, uplink};

	uplink->answered = false;
	uplink->connection = connection_create(
		uplink->base, uplink->host, uplink->port, uplink->options.timeout_ns, &handler);
}

/* For whoever owns the uplink */

#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* How much of @text is an IPv6 address, with its zone if it names one. */
static size_t span_ipv6(const char *text)
{
	size_t size = strspn(text, DIGITS "abcdefABCDEF:.");

	if (!memchr(text, ':', size))
		size = 0;
	else if (text[size] == '%')
		size += 1 + strspn(text + size + 1, DIGITS LETTERS "-._");
	return size;
}

bool uplink_parse_server(const char *server, char *host, uint16_t *port)
{
	bool bracket = server[0] == '[';
	const char *start = server + bracket, *rest;
	size_t size = bracket ? span_ipv6(start) : strspn(start, DIGITS LETTERS "-._");
	size_t digits;
	long number;

	rest = start + size;
	if (size == 0 || size > 255 || (bracket && *rest++ != ']') || *rest++ != ':')
		return false;
	digits = strspn(rest, DIGITS);
	number = digits > 0 && digits <= 5 ? strtol(rest, NULL, 10) : 0;
	if (rest[digits] || number < 1 || number > UINT16_MAX)
		return false;
	memcpy(host, start, size);
	host[size] = '\0';
	*port = (uint16_t)number;
	return true;
}

struct uplink *uplink_create(
	struct event_base *base, struct batch_queue *queue, const struct uplink_options *options)
{
	struct uplink *uplink = g_new0(struct uplink, 1);

	if (!uplink_parse_server(options->server, uplink->host, &uplink->port)) {
		g_free(uplink);
		return NULL;
	}
	uplink->base = base;
	uplink->queue = queue;
	uplink->options = *options;
	uplink->options.window = MAX(options->window, 1);
	calls_init(&uplink->calls, uplink->options.window, options->category);
	health_init(&uplink->health, options->server);
	uplink->retry = evtimer_new(base, on_retry, uplink);
	uplink->deadline = evtimer_new(base, on_deadline, uplink);
	uplink->drained_event = evtimer_new(base, on_drained, uplink);
	if (!uplink->retry || !uplink->deadline || !uplink->drained_event)
		g_error("out of memory");
	reset_backoff(uplink);
	pump(uplink);
	return uplink;
}

void uplink_destroy(struct uplink *uplink)
{
	if (!uplink)
		return;
	hang_up(uplink);
	event_free(uplink->retry);
	event_free(uplink->deadline);
	event_free(uplink->drained_event);
	calls_free(&uplink->calls);
	g_free(uplink);
}

void uplink_wake(struct uplink *uplink)
{
	if (uplink->waiting && uplink->wake_ends_wait) {
		event_del(uplink->retry);
		uplink->waiting = false;
	}
	pump(uplink);
	check_drained(uplink);
}

/* A stop has no time to sit out a long wait. */
void uplink_when_drained(struct uplink *uplink, void (*done)(void *data), void *data)
{
	uplink->drained = done;
	uplink->drained_data = data;
	reset_backoff(uplink);
	if (uplink->waiting)
		back_off(uplink);
	check_drained(uplink);
}

void uplink_read_state(const struct uplink *uplink, struct uplink_state *state)
{
	memset(state, 0, sizeof(*state));
	state->up = uplink->connected && !uplink->health.error[0];
	state->server = uplink->options.server;
	state->calls_open = uplink->calls.open;
	memcpy(state->error, uplink->health.error, sizeof(state->error));
}
