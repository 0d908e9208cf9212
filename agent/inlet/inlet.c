/* SPDX-License-Identifier: BSD-2-Clause */
#include "inlet/inlet.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <event2/buffer.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/waker.h"
#include "core/via.h"
#include "inlet/inner.h"
#include "net/listen.h"

/* One line of a kind in so much time. */
#define SAY_NS (10 * NS_PER_SECOND)
/* At the end, for what is safe to be written down and answered, and for the answers to go. */
#define END_NS (1 * NS_PER_SECOND)
/* Sweeps: one a second. */
#define OWING_MAX 10

static const struct timeval sweep_time = {.tv_sec = 1};

struct inlet_limits inlet_limits(struct inlet *inlet)
{
	struct inlet_limits limits;

	pthread_mutex_lock(&inlet->lock);
	limits = inlet->limits;
	pthread_mutex_unlock(&inlet->lock);
	return limits;
}

void inlet_say(struct inlet *inlet, enum saying what, const char *format, ...)
{
	int64_t now = clock_monotonic();
	char text[512], more[64] = "";
	va_list args;

	if (inlet->said[what].at && now - inlet->said[what].at < SAY_NS) {
		inlet->said[what].unsaid++;
		return;
	}
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (inlet->said[what].unsaid)
		snprintf(more, sizeof(more), " (and %u more of this kind since the last line)",
			inlet->said[what].unsaid);
	log_warning("input: %s%s", text, more);
	inlet->said[what].at = now;
	inlet->said[what].unsaid = 0;
}

void inlet_sweep_soon(struct inlet *inlet)
{
	if (!event_pending(inlet->sweep, EV_TIMEOUT, NULL))
		event_add(inlet->sweep, &sweep_time);
}

/* The thread */

static void publish(struct inlet *inlet)
{
	const struct holder *largest = holders_largest(inlet);
	uint64_t waiting = 0;

	for (GList *link = inlet->connections.head; link; link = link->next)
		waiting += ((struct connection *)link->data)->calls;
	pthread_mutex_lock(&inlet->lock);
	inlet->state.connections = inlet->members;
	inlet->state.largest = largest ? largest->connections : 0;
	inlet->state.waiting_calls = waiting;
	inlet->state.bytes = inlet->in_bytes + weight_sum(&inlet->held);
	pthread_mutex_unlock(&inlet->lock);
}

static void stop_reading(struct inlet *inlet)
{
	listener_close(inlet);
	for (GList *link = inlet->connections.head; link; link = link->next) {
		struct connection *connection = link->data;

		connection->paused = true;
		bufferevent_disable(connection->bev, EV_READ);
	}
	group_hand(inlet);
	fanout_end(inlet->fanout);
	inlet->quiet = true;
	for (GList *link = inlet->connections.head; link && inlet->protocol->stop; link = link->next)
		inlet->protocol->stop(link->data);
	inlet->options.stopped(inlet->options.data);
}

/* Whether all that can be answered is, and has gone. */
static bool is_over(struct inlet *inlet)
{
	if (clock_monotonic() > inlet->ending)
		return true;
	if (inlet->groups.length)
		return false;
	for (GList *link = inlet->connections.head; link; link = link->next)
		if (evbuffer_get_length(bufferevent_get_output(((struct connection *)link->data)->bev)))
			return false;
	return true;
}

static void check_end(struct inlet *inlet, bool finish)
{
	static const struct timeval soon = {.tv_usec = 10000};

	if (!finish)
		return;
	if (!inlet->ending)
		inlet->ending = clock_monotonic() + END_NS;
	group_look(inlet);
	if (is_over(inlet))
		event_base_loopbreak(inlet->base);
	else
		event_add(inlet->over, &soon);
}

static bool is_to_retry(struct inlet *inlet)
{
	bool is;

	pthread_mutex_lock(&inlet->lock);
	is = *inlet->state.address && *inlet->state.error && !inlet->stop;
	pthread_mutex_unlock(&inlet->lock);
	return is;
}

/* With no address, senders who are connected have to go; what they wait for an OK for, they send again. */
static void move_listener(struct inlet *inlet, int listening)
{
	listener_take_up(inlet, listening);
	while (listening < 0 && inlet->connections.head)
		connection_end(inlet->connections.head->data);
	if (is_to_retry(inlet))
		inlet_sweep_soon(inlet);
}

static void on_over(evutil_socket_t fd, short what, void *data)
{
	(void)fd;
	(void)what;
	check_end(data, true);
}

static void on_wake(void *data)
{
	struct inlet *inlet = data;
	bool stop, finish, moved;
	int listening;

	pthread_mutex_lock(&inlet->lock);
	stop = inlet->stop;
	finish = inlet->finish;
	moved = inlet->moved;
	listening = inlet->listening;
	inlet->moved = false;
	inlet->listening = -1;
	pthread_mutex_unlock(&inlet->lock);
	if (moved && !inlet->quiet)
		move_listener(inlet, listening);
	else if (moved && listening >= 0)
		close(listening);
	if (fanout_waits(inlet->fanout))
		fanout_hand(inlet->fanout, &(struct ledger){0}, NULL, clock_monotonic(), false);
	if (stop && !inlet->quiet)
		stop_reading(inlet);
	group_look(inlet);
	check_end(inlet, finish);
	publish(inlet);
}

static void on_hand(evutil_socket_t fd, short what, void *data)
{
	struct inlet *inlet = data;

	(void)fd;
	(void)what;
	group_hand(inlet);
	group_look(inlet);
	publish(inlet);
}

/* Tries an address again that could not be had. */
static void retry(struct inlet *inlet)
{
	char address[sizeof(inlet->state.address)], why[sizeof(inlet->state.error)] = "";
	int fd = -1;

	if (!is_to_retry(inlet))
		return;
	pthread_mutex_lock(&inlet->lock);
	g_strlcpy(address, inlet->state.address, sizeof(address));
	pthread_mutex_unlock(&inlet->lock);
	fd = listen_at(address, NULL, LISTEN_AGAIN_NS, why, sizeof(why));
	if (fd < 0)
		return;
	pthread_mutex_lock(&inlet->lock);
	if (inlet->moved || strcmp(address, inlet->state.address) != 0 || !*inlet->state.error) {
		close(fd); /* it was moved meanwhile, and may be back */
		fd = -1;
	} else {
		inlet->state.error[0] = '\0';
		inlet->current = fd;
	}
	pthread_mutex_unlock(&inlet->lock);
	if (fd < 0)
		return;
	listener_take_up(inlet, fd);
	log_info("input: listening on %s now", address);
}

/* What large calls took goes back to the system at the first sweep without any, or at one in so many. */
static void give_back(struct inlet *inlet)
{
	bool busy = inlet->freed_much,
	     large = inlet->scratch.room > KEPT_BYTES || inlet->memory.annotations.room > KEPT_BYTES;

	inlet->freed_much = false;
	inlet->owing += busy || large || inlet->owing;
	if (!inlet->owing || (busy && inlet->owing < OWING_MAX))
		return;
	if (large) {
		buffer_free(&inlet->scratch);
		buffer_free(&inlet->encoded);
		span_memory_free(&inlet->memory);
	}
	memory_give_back();
	inlet->owing = 0;
}

static void on_sweep(evutil_socket_t fd, short what, void *data)
{
	struct inlet *inlet = data;

	(void)fd;
	(void)what;
	retry(inlet);
	timeouts_sweep(inlet);
	/* what leaves for another agent's word is pushed, as nothing else may come */
	if (fanout_is_undecided(inlet->fanout))
		fanout_hand(inlet->fanout, &(struct ledger){0}, NULL, clock_monotonic(), true);
	group_look(inlet);
	give_back(inlet);
	publish(inlet);
	if (inlet->connections.length || inlet->groups.length || inlet->owing || is_to_retry(inlet) ||
		fanout_is_undecided(inlet->fanout))
		inlet_sweep_soon(inlet);
}

static void on_resume(evutil_socket_t fd, short what, void *data)
{
	struct inlet *inlet = data;

	(void)fd;
	(void)what;
	if (inlet->listener)
		evconnlistener_enable(inlet->listener);
}

static void *run(void *data)
{
	struct inlet *inlet = data;

	event_base_loop(inlet->base, EVLOOP_NO_EXIT_ON_EMPTY);
	return NULL;
}

/* The owner */

static void take_limits(struct inlet *inlet, const struct config *config, unsigned connections)
{
	struct inlet_limits *limits = &inlet->limits;

	g_strlcpy(limits->category, config->input_category, sizeof(limits->category));
	limits->safe = config->input_ack == CONFIG_ACK_SPOOLED;
	limits->connections = connections;
	limits->bytes = config->input_memory;
	limits->timeout_ns = config->input_timeout;
	inlet->state.limit = config->input_memory;
	inlet->state.most = limits->connections;
}

static void warn_of_retries(const struct inlet *inlet, const char *address, const char *why)
{
	log_warning("cannot listen on %s: %s; the agent does not take spans from others, and keeps trying "
		    "(`%s` in [input] sets the address)",
		address, why, inlet->protocol->key);
}

static void listen_first(struct inlet *inlet, const char *address)
{
	if (!*address)
		return;
	via_begin();
	g_strlcpy(inlet->state.address, address, sizeof(inlet->state.address));
	inlet->current =
		listen_at(address, NULL, LISTEN_FIRST_NS, inlet->state.error, sizeof(inlet->state.error));
	if (inlet->current < 0) {
		warn_of_retries(inlet, address, inlet->state.error);
		return;
	}
	inlet->state.error[0] = '\0';
	listener_take_up(inlet, inlet->current);
}

static void inlet_free(struct inlet *inlet)
{
	group_end_all(inlet);
	while (inlet->connections.head)
		connection_end(inlet->connections.head->data);
	listener_close(inlet);
	if (inlet->current >= 0)
		listen_remove(inlet->state.address);
	holders_free(inlet);
	waker_destroy(inlet->wake);
	event_free(inlet->over);
	event_free(inlet->hand);
	event_free(inlet->sweep);
	event_free(inlet->resume);
	event_base_free(inlet->base);
	inlet->protocol->destroy(inlet->own);
	fanout_destroy(inlet->fanout);
	buffer_free(&inlet->scratch);
	buffer_free(&inlet->encoded);
	names_destroy(inlet->names[0]);
	names_destroy(inlet->names[1]);
	span_memory_free(&inlet->memory);
	pthread_mutex_destroy(&inlet->lock);
	g_free(inlet);
}

struct inlet *inlet_create(const struct config *config, unsigned connections, const struct protocol *protocol,
	const char *address, struct outlets *outlets, const struct inlet_options *options)
{
	struct inlet *inlet = g_new0(struct inlet, 1);

	inlet->options = *options;
	inlet->listening = inlet->current = -1;
	inlet->began = clock_wall() / NS_PER_SECOND;
	inlet->protocol = protocol;
	inlet->own = inlet->protocol->create();
	inlet->fanout = fanout_create_second(outlets);
	pthread_mutex_init(&inlet->lock, NULL);
	holders_init(inlet);
	take_limits(inlet, config, connections);
	inlet->base = event_base_new();
	inlet->wake = waker_create(inlet->base, on_wake, inlet);
	inlet->over = evtimer_new(inlet->base, on_over, inlet);
	inlet->hand = event_new(inlet->base, -1, EV_PERSIST, on_hand, inlet);
	inlet->sweep = evtimer_new(inlet->base, on_sweep, inlet);
	inlet->resume = evtimer_new(inlet->base, on_resume, inlet);
	listen_first(inlet, address);
	if (is_to_retry(inlet))
		inlet_sweep_soon(inlet);
	if (pthread_create(&inlet->thread, NULL, run, inlet) == 0)
		return inlet;
	log_error("the input cannot be started: too many threads, or too little memory");
	inlet_free(inlet);
	return NULL;
}

void inlet_share(struct inlet *inlet, bool on)
{
	pthread_mutex_lock(&inlet->lock);
	if (inlet->current >= 0)
		listen_share(inlet->current, on);
	pthread_mutex_unlock(&inlet->lock);
}

void inlet_stay(struct inlet *inlet, struct listen_staying *staying)
{
	pthread_mutex_lock(&inlet->lock);
	listen_stay(staying, inlet->current);
	pthread_mutex_unlock(&inlet->lock);
}

/* From now on its place is @address, with the socket @fd; -1: there is none, by @error, if there is to be
 * one. */
static void settle(struct inlet *inlet, const char *address, int fd, const char *error)
{
	pthread_mutex_lock(&inlet->lock);
	if (inlet->moved && inlet->listening >= 0)
		close(inlet->listening);
	if (inlet->current >= 0)
		listen_remove(inlet->state.address);
	inlet->listening = inlet->current = fd;
	inlet->moved = true;
	g_strlcpy(inlet->state.address, address, sizeof(inlet->state.address));
	g_strlcpy(inlet->state.error, error, sizeof(inlet->state.error));
	pthread_mutex_unlock(&inlet->lock);
	waker_wake(inlet->wake);
}

int inlet_move(struct inlet *inlet, const char *address, struct listen_staying *staying)
{
	int fd = -1;
	char why[256];

	if (*address) {
		fd = listen_at(address, staying, LISTEN_FIRST_NS, why, sizeof(why));
		if (fd < 0) {
			log_error("cannot listen on %s: %s (`%s` in [input] sets the address)", address, why,
				inlet->protocol->key);
			return -1;
		}
		listen_stay(staying, fd);
		via_begin();
	}
	settle(inlet, address, fd, "");
	return 0;
}

void inlet_move_back(struct inlet *inlet, const char *address)
{
	const struct listen_staying nobody = {.count = 0};
	char why[256] = "";
	int fd = *address ? listen_at(address, &nobody, LISTEN_FIRST_NS, why, sizeof(why)) : -1;

	if (*address && fd < 0)
		warn_of_retries(inlet, address, why);
	settle(inlet, address, fd, fd < 0 ? why : "");
}

void inlet_configure(
	struct inlet *inlet, const struct config *config, unsigned connections, struct outlets *outlets)
{
	fanout_configure(inlet->fanout, outlets);
	atomic_fetch_add(&inlet->configured, 1);
	pthread_mutex_lock(&inlet->lock);
	take_limits(inlet, config, connections);
	pthread_mutex_unlock(&inlet->lock);
	waker_wake(inlet->wake);
}

void inlet_stop(struct inlet *inlet)
{
	pthread_mutex_lock(&inlet->lock);
	inlet->stop = true;
	pthread_mutex_unlock(&inlet->lock);
	waker_wake(inlet->wake);
}

void inlet_destroy(struct inlet *inlet)
{
	pthread_mutex_lock(&inlet->lock);
	inlet->stop = inlet->finish = true;
	pthread_mutex_unlock(&inlet->lock);
	waker_wake(inlet->wake);
	pthread_join(inlet->thread, NULL);
	inlet_free(inlet);
}

void inlet_read_state(struct inlet *inlet, struct inlet_state *state)
{
	pthread_mutex_lock(&inlet->lock);
	*state = inlet->state;
	pthread_mutex_unlock(&inlet->lock);
}
