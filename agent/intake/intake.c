/* SPDX-License-Identifier: BSD-2-Clause */
#include "intake/intake.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <event2/buffer.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/via.h"
#include "intake/inner.h"
#include "net/listen.h"

/* One line of a kind in so much time. */
#define SAY_NS (10 * NS_PER_SECOND)
/* At the end, for what is safe to be written down and answered, and for the answers to go. */
#define END_NS (1 * NS_PER_SECOND)

static const struct timeval sweep_time = {.tv_sec = 1};

struct intake_limits intake_limits(struct intake *intake)
{
	struct intake_limits limits;

	pthread_mutex_lock(&intake->lock);
	limits = intake->limits;
	pthread_mutex_unlock(&intake->lock);
	return limits;
}

void intake_say(struct intake *intake, enum saying what, const char *format, ...)
{
	int64_t now = clock_monotonic();
	char text[512], more[64] = "";
	va_list args;

	if (intake->said[what].at && now - intake->said[what].at < SAY_NS) {
		intake->said[what].unsaid++;
		return;
	}
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (intake->said[what].unsaid)
		snprintf(more, sizeof(more), " (and %u more of this kind since the last line)", intake->said[what].unsaid);
	log_warning("input: %s%s", text, more);
	intake->said[what].at = now;
	intake->said[what].unsaid = 0;
}

void intake_sweep_soon(struct intake *intake)
{
	if (!event_pending(intake->sweep, EV_TIMEOUT, NULL))
		event_add(intake->sweep, &sweep_time);
}

/* The thread */

static void publish(struct intake *intake)
{
	uint64_t waiting = 0;

	for (GList *link = intake->connections.head; link; link = link->next)
		waiting += ((struct connection *)link->data)->calls;
	pthread_mutex_lock(&intake->lock);
	intake->state.connections = intake->connections.length;
	intake->state.waiting_calls = waiting;
	intake->state.bytes = intake->in_bytes + intake->held_bytes;
	pthread_mutex_unlock(&intake->lock);
}

static void stop_reading(struct intake *intake)
{
	door_close(intake);
	for (GList *link = intake->connections.head; link; link = link->next) {
		struct connection *connection = link->data;

		connection->paused = true;
		bufferevent_disable(connection->bev, EV_READ);
	}
	group_hand(intake);
	intake->quiet = true;
	intake->options.stopped(intake->options.data);
}

/* Whether all that can be answered is, and has gone. */
static bool is_over(struct intake *intake)
{
	if (clock_monotonic() > intake->ending)
		return true;
	if (intake->groups.length)
		return false;
	for (GList *link = intake->connections.head; link; link = link->next)
		if (evbuffer_get_length(bufferevent_get_output(((struct connection *)link->data)->bev)))
			return false;
	return true;
}

static void check_end(struct intake *intake, bool finish)
{
	static const struct timeval soon = {.tv_usec = 10000};

	if (!finish)
		return;
	if (!intake->ending)
		intake->ending = clock_monotonic() + END_NS;
	group_look(intake);
	if (is_over(intake))
		event_base_loopbreak(intake->base);
	else
		event_add(intake->wake, &soon);
}

/* With no address, senders who are connected have to go; what they wait for an OK for, they send again. */
static void move_door(struct intake *intake, int listening)
{
	door_take_up(intake, listening);
	while (listening < 0 && intake->connections.head)
		connection_end(intake->connections.head->data);
}

static void on_wake(evutil_socket_t fd, short what, void *data)
{
	struct intake *intake = data;
	bool stop, finish, moved;
	int listening;

	(void)fd;
	(void)what;
	pthread_mutex_lock(&intake->lock);
	stop = intake->stop;
	finish = intake->finish;
	moved = intake->moved;
	listening = intake->listening;
	intake->moved = false;
	intake->listening = -1;
	pthread_mutex_unlock(&intake->lock);
	if (moved && !intake->quiet)
		move_door(intake, listening);
	else if (moved && listening >= 0)
		close(listening);
	if (fanout_waits(intake->fanout))
		fanout_hand(intake->fanout, &(struct ledger){0}, NULL, clock_monotonic(), false);
	if (stop && !intake->quiet)
		stop_reading(intake);
	group_look(intake);
	check_end(intake, finish);
	publish(intake);
}

static void on_hand(evutil_socket_t fd, short what, void *data)
{
	struct intake *intake = data;

	(void)fd;
	(void)what;
	group_hand(intake);
	group_look(intake);
	publish(intake);
}

static bool is_to_retry(struct intake *intake)
{
	bool is;

	pthread_mutex_lock(&intake->lock);
	is = *intake->state.address && *intake->state.error && !intake->stop;
	pthread_mutex_unlock(&intake->lock);
	return is;
}

/* Tries an address again that could not be had. */
static void retry(struct intake *intake)
{
	char address[sizeof(intake->state.address)], why[sizeof(intake->state.error)] = "";
	int fd = -1;

	if (!is_to_retry(intake))
		return;
	pthread_mutex_lock(&intake->lock);
	g_strlcpy(address, intake->state.address, sizeof(address));
	pthread_mutex_unlock(&intake->lock);
	fd = listen_at(address, false, why, sizeof(why));
	if (fd < 0)
		return;
	pthread_mutex_lock(&intake->lock);
	if (strcmp(address, intake->state.address) != 0 || !*intake->state.error) {
		close(fd); /* it was moved meanwhile */
		fd = -1;
	} else {
		intake->state.error[0] = '\0';
		intake->door = fd;
	}
	pthread_mutex_unlock(&intake->lock);
	if (fd < 0)
		return;
	door_take_up(intake, fd);
	log_info("input: listening on %s now", address);
}

static void on_sweep(evutil_socket_t fd, short what, void *data)
{
	struct intake *intake = data;

	(void)fd;
	(void)what;
	retry(intake);
	crowd_sweep(intake);
	group_look(intake);
	publish(intake);
	if (intake->connections.length || intake->groups.length || is_to_retry(intake))
		intake_sweep_soon(intake);
}

static void on_resume(evutil_socket_t fd, short what, void *data)
{
	struct intake *intake = data;

	(void)fd;
	(void)what;
	if (intake->listener)
		evconnlistener_enable(intake->listener);
}

static void *run(void *data)
{
	struct intake *intake = data;

	event_base_loop(intake->base, EVLOOP_NO_EXIT_ON_EMPTY);
	return NULL;
}

/* The owner */

static void wake(struct intake *intake)
{
	event_active(intake->wake, 0, 0);
}

static void take_limits(struct intake *intake, const struct config *config)
{
	struct intake_limits *limits = &intake->limits;

	g_strlcpy(limits->category, config->input_category, sizeof(limits->category));
	limits->safe = config->input_ack == CONFIG_ACK_SPOOLED;
	limits->connections = (unsigned)config->input_connections;
	limits->bytes = config->input_memory;
	limits->timeout_ns = config->input_timeout;
	intake->state.limit = config->input_memory;
}

static void listen_first(struct intake *intake, const char *address)
{
	if (!*address)
		return;
	via_begin();
	g_strlcpy(intake->state.address, address, sizeof(intake->state.address));
	intake->door = listen_at(address, false, intake->state.error, sizeof(intake->state.error));
	if (intake->door < 0) {
		log_warning("cannot listen on %s: %s; the agent runs without its intake, and keeps trying (`scribe` in "
			    "[input] sets the address)",
			address, intake->state.error);
		return;
	}
	intake->state.error[0] = '\0';
	door_take_up(intake, intake->door);
}

static void intake_free(struct intake *intake)
{
	group_end_all(intake);
	while (intake->connections.head)
		connection_end(intake->connections.head->data);
	door_close(intake);
	event_free(intake->wake);
	event_free(intake->hand);
	event_free(intake->sweep);
	event_free(intake->resume);
	event_base_free(intake->base);
	fanout_destroy(intake->fanout);
	buffer_free(&intake->scratch);
	buffer_free(&intake->encoded);
	spanread_free(&intake->memory);
	pthread_mutex_destroy(&intake->lock);
	g_free(intake);
}

struct intake *intake_create(
	const struct config *config, struct outlets *outlets, const struct intake_options *options)
{
	struct intake *intake = g_new0(struct intake, 1);

	intake->options = *options;
	intake->listening = intake->door = -1;
	intake->began = clock_wall() / NS_PER_SECOND;
	intake->fanout = fanout_create_second(outlets);
	pthread_mutex_init(&intake->lock, NULL);
	take_limits(intake, config);
	intake->base = event_base_new();
	intake->wake = event_new(intake->base, -1, EV_PERSIST, on_wake, intake);
	intake->hand = event_new(intake->base, -1, EV_PERSIST, on_hand, intake);
	intake->sweep = evtimer_new(intake->base, on_sweep, intake);
	intake->resume = evtimer_new(intake->base, on_resume, intake);
	listen_first(intake, config->input_scribe);
	if (is_to_retry(intake))
		intake_sweep_soon(intake);
	if (pthread_create(&intake->thread, NULL, run, intake) == 0)
		return intake;
	log_error("the intake cannot be started: too many threads, or too little memory");
	intake_free(intake);
	return NULL;
}

int intake_move(struct intake *intake, const char *address)
{
	int fd = -1, door = intake->door;
	char why[256];

	if (*address) {
		if (door >= 0)
			listen_share(door, true);
		fd = listen_at(address, door >= 0, why, sizeof(why));
		if (door >= 0)
			listen_share(door, false);
		if (fd < 0) {
			log_error("cannot listen on %s: %s (`scribe` in [input] sets the address)", address, why);
			return -1;
		}
		listen_share(fd, false);
		via_begin();
	}
	pthread_mutex_lock(&intake->lock);
	if (intake->moved && intake->listening >= 0)
		close(intake->listening);
	intake->listening = intake->door = fd;
	intake->moved = true;
	g_strlcpy(intake->state.address, address, sizeof(intake->state.address));
	intake->state.error[0] = '\0';
	pthread_mutex_unlock(&intake->lock);
	wake(intake);
	return 0;
}

void intake_configure(struct intake *intake, const struct config *config, struct outlets *outlets)
{
	fanout_configure(intake->fanout, outlets);
	pthread_mutex_lock(&intake->lock);
	take_limits(intake, config);
	pthread_mutex_unlock(&intake->lock);
	wake(intake);
}

void intake_recorded(struct intake *intake, uint64_t number)
{
	atomic_store(&intake->recorded, number);
	wake(intake);
}

void intake_stop(struct intake *intake)
{
	pthread_mutex_lock(&intake->lock);
	intake->stop = true;
	pthread_mutex_unlock(&intake->lock);
	wake(intake);
}

void intake_destroy(struct intake *intake)
{
	pthread_mutex_lock(&intake->lock);
	intake->stop = intake->finish = true;
	pthread_mutex_unlock(&intake->lock);
	wake(intake);
	pthread_join(intake->thread, NULL);
	intake_free(intake);
}

void intake_read_state(struct intake *intake, struct intake_state *state)
{
	pthread_mutex_lock(&intake->lock);
	*state = intake->state;
	pthread_mutex_unlock(&intake->lock);
}
