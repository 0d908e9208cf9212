/* SPDX-License-Identifier: BSD-2-Clause */
#include "supervise/supervisor.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "config/load.h"
#include "supervise/inner.h"

/* A reader that computes for no longer waits for the daemon that it calls. */
#define WAITS_NS (1 * NS_PER_SECOND)
/* How often the reader is watched; and how long it may take to end when its work is done. */
#define WATCH_NS (50 * NS_PER_MS)
#define FINISH_NS (5 * NS_PER_SECOND)
/* How long the thread sleeps, ms: when nothing is under way; while no reader is, or traces wait to be
 * decided; while a position is; while a batch fills; and while the reader waits for room. */
#define IDLE_MS 500
#define LOOK_MS 250
#define PLACE_MS 20
#define BATCH_MS 10
#define ROOM_MS 5
/* What comes in a stream is taken so often only, as each waking costs; unless there is so much of it. */
#define STREAM_MS 10
#define MUCH_BYTES (RING_BYTES / 2)
/* A session that is read for so long is there to stay. */
#define SETTLED_NS (1 * NS_PER_SECOND)
/* So many pieces of what comes are taken before something else is done. */
#define PIECES_MAX 32

static bool runs(const struct supervisor *supervisor)
{
	return supervisor->child.pid != 0;
}

/* What is asked for */

static bool is_to_finish(struct supervisor *supervisor)
{
	bool finish;

	pthread_mutex_lock(&supervisor->lock);
	finish = supervisor->finish;
	pthread_mutex_unlock(&supervisor->lock);
	return finish;
}

/*
 * The reader is told what became of what it handed over. Returns whether a position came to hold. One that
 * has not greeted yet waits for its orders, which say what holds.
 */
static bool tell_delivery(struct supervisor *supervisor)
{
	bool settled;
	uint64_t number;
	int64_t cost;

	atomic_store_explicit(
		&supervisor->page->excess, fanout_excess(supervisor->options.fanout), memory_order_relaxed);
	settled = checkpoint_settle(supervisor->options.checkpoint, &number, &cost);
	if (settled && runs(supervisor) && supervisor->greeted) {
		struct buffer body = {0};

		pack_u64(&body, number);
		pack_u64(&body, (uint64_t)cost);
		channel_post(&supervisor->channel, FRAME_SETTLED, &body);
		buffer_free(&body);
	}
	return settled;
}

/* The thread */

static int pause_ms(const struct supervisor *supervisor)
{
	if (fanout_excess(supervisor->options.fanout))
		return ROOM_MS;
	if (fanout_waits(supervisor->options.fanout))
		return BATCH_MS;
	if (checkpoint_waiting(supervisor->options.checkpoint))
		return PLACE_MS;
	return supervisor->greeted && !fanout_is_undecided(supervisor->options.fanout) ? IDLE_MS : LOOK_MS;
}

static void sleep_on(struct supervisor *supervisor)
{
	struct pollfd fds[2] = {{.fd = supervisor->wake, .events = POLLIN}, {.fd = -1, .events = POLLIN}};
	int64_t now = clock_monotonic();
	int ms = pause_ms(supervisor);
	uint64_t count;

	if (runs(supervisor)) {
		fds[1].fd = supervisor->channel.socket;
		fds[1].events = POLLIN | (supervisor->channel.out.size ? POLLOUT : 0);
		ms = supervisor->streaming ? STREAM_MS : ms;
		if (!channel_may_sleep(&supervisor->channel, supervisor->streaming ? MUCH_BYTES : 1))
			ms = 0;
	} else if (!supervisor->ended) {
		ms = (int)CLAMP((supervisor->start_next - now) / NS_PER_MS, 0, ms);
	}
	poll(fds, 2, ms);
	if (fds[0].revents && read(supervisor->wake, &count, sizeof(count)) < 0 && errno != EAGAIN)
		log_error("eventfd: %s", g_strerror(errno));
	atomic_store_explicit(&supervisor->moved, clock_monotonic(), memory_order_relaxed);
}

/* Takes what the reader has sent by now; returns false if it is to be lost. */
static bool listen_on(struct supervisor *supervisor)
{
	struct channel *channel = &supervisor->channel;
	bool open = true;

	/* not for ever, as it may send faster than it is listened to */
	for (int i = 0; i < PIECES_MAX && (!i || channel_has_more(channel)); i++) {
		open = channel_collect(channel);
		supervisor->misspoke = !receive_frames(supervisor);
		if (supervisor->misspoke || !open)
			return false;
	}
	return true;
}

static void look_at_daemons(struct supervisor *supervisor)
{
	struct daemons_health healths;

	wellness_look(supervisor->wellness);
	wellness_read(supervisor->wellness, &healths);
	reader_status_daemons(&supervisor->status, &healths);
}

/* Where the canary's event stays, when the daemons that can be asked are, and what the reader is at. */
static enum canary_stage stage_of(const struct supervisor *supervisor)
{
	int64_t now = clock_monotonic(), unmoved = now - atomic_load(&supervisor->page->moved);
	uint32_t called = atomic_load(&supervisor->page->called);
	struct daemons_health healths;

	wellness_read(supervisor->wellness, &healths);
	if (healths.consumer.gone || (healths.consumer.silent && now - healths.consumer.silent >= WAITS_NS))
		return STAGE_CONSUMER;
	if (healths.session.gone || (healths.session.silent && now - healths.session.silent >= WAITS_NS))
		return STAGE_SESSION_DAEMON;
	if (!runs(supervisor) || supervisor->child.stopped)
		return STAGE_READER;
	if (unmoved < WAITS_NS) /* it gets nothing, live or in the relay's files */
		return STAGE_CONSUMER;
	if (called == DAEMON_NONE || unmoved - child_busy(&supervisor->child) < WAITS_NS)
		return STAGE_READER;
	return called == DAEMON_RELAY ? STAGE_RELAY : STAGE_SESSION_DAEMON;
}

static enum canary_session session_for_canary(const struct supervisor_state *state)
{
	if (state->collecting)
		return clock_monotonic() - state->since >= SETTLED_NS ? CANARY_SESSION_READ
								      : CANARY_SESSION_UNKNOWN;
	return state->reason == REASON_SESSION_LOST || state->reason == REASON_NO_SESSION_DAEMON ||
			       state->reason == REASON_NO_RELAY
		       ? CANARY_SESSION_NONE
		       : CANARY_SESSION_UNKNOWN;
}

static void look_at_canary(struct supervisor *supervisor)
{
	struct supervisor_state state;

	reader_status_read(&supervisor->status, &state);
	canary_tick(supervisor->canary, session_for_canary(&state));
	if (canary_is_late(supervisor->canary))
		canary_blame(supervisor->canary, stage_of(supervisor));
}

static uint64_t memory_of_reader(struct supervisor *supervisor)
{
	uint64_t bytes;

	pthread_mutex_lock(&supervisor->lock);
	bytes = supervisor->reader_memory;
	pthread_mutex_unlock(&supervisor->lock);
	return bytes;
}

/* Talks to the reader; returns false if it is to be lost. */
static bool serve(struct supervisor *supervisor)
{
	uint64_t before = supervisor->channel.ring_taken;
	bool open = listen_on(supervisor);
	int64_t now = clock_monotonic();
	bool lately = now - supervisor->heard < 2 * STREAM_MS * NS_PER_MS;

	if (supervisor->channel.ring_taken > before) {
		supervisor->streaming = lately;
		supervisor->heard = now;
	} else {
		supervisor->streaming &= lately;
	}
	if (!open)
		return false;
	channel_flush(&supervisor->channel);
	if (supervisor->greeted)
		requests_tell(supervisor);
	if (now - supervisor->checked >= WATCH_NS) {
		supervisor->checked = now;
		child_watch(&supervisor->child, supervisor->page);
		look_at_daemons(supervisor);
		look_at_canary(supervisor);
		reader_status_watch(&supervisor->status, child_busy(&supervisor->child));
		child_bound(&supervisor->child, memory_of_reader(supervisor));
	}
	return true;
}

/* Whether the stop needs another reader: a session that does not outlive the agent is to be ended. */
static bool needs_reader(struct supervisor *supervisor)
{
	int64_t deadline = requests_deadline(supervisor);

	return !deadline || (!supervisor->keeps && clock_monotonic() < deadline);
}

/* A late trace is looked into while the reader can be asked. */
static void attend_flight(struct supervisor *supervisor)
{
	bool ready =
		runs(supervisor) && supervisor->greeted && !supervisor->stop_told && !supervisor->leave_told;
	uint64_t number = flight_tick(supervisor->flight, ready);
	struct buffer body = {0};

	if (!number)
		return;
	pack_u64(&body, number);
	channel_post(&supervisor->channel, FRAME_SNAPSHOT, &body);
	buffer_free(&body);
}

static void turn(struct supervisor *supervisor)
{
	bool ended = supervisor->ended;

	if (runs(supervisor) && !serve(supervisor))
		succession_end(supervisor, supervisor->child.killed || supervisor->misspoke ? 0 : FINISH_NS);
	else if (!runs(supervisor) && !ended && !needs_reader(supervisor))
		supervisor->ended = true;
	else if (!runs(supervisor) && !ended && clock_monotonic() >= supervisor->start_next)
		succession_start(supervisor);
	if (fanout_waits(supervisor->options.fanout) || fanout_is_undecided(supervisor->options.fanout))
		fanout_hand(supervisor->options.fanout, &(struct ledger){0}, NULL, clock_monotonic(), false);
	tell_delivery(supervisor);
	attend_flight(supervisor);
	if (!ended && supervisor->ended) {
		fanout_end(supervisor->options.fanout);
		supervisor->options.done(supervisor->options.data);
	}
}

/* The reader's last word, if it has come so far; or else its end. */
static void finish_reader(struct supervisor *supervisor)
{
	int64_t until = clock_monotonic() + FINISH_NS;
	bool orderly = supervisor->ended;

	if (orderly)
		channel_post(&supervisor->channel, FRAME_FINISH, NULL);
	while (orderly && !supervisor->finished && clock_monotonic() < until) {
		struct pollfd fd = {.fd = supervisor->channel.socket, .events = POLLIN};

		if (channel_may_sleep(&supervisor->channel, 1))
			poll(&fd, 1, PLACE_MS);
		channel_flush(&supervisor->channel);
		if (!listen_on(supervisor))
			break;
	}
	supervisor->ended = true;
	succession_end(supervisor, supervisor->finished ? FINISH_NS : 0);
}

static void *run(void *data)
{
	struct supervisor *supervisor = data;

	while (!is_to_finish(supervisor)) {
		turn(supervisor);
		sleep_on(supervisor);
	}
	/* the last position may wait behind another one */
	while (tell_delivery(supervisor))
		;
	if (runs(supervisor))
		finish_reader(supervisor);
	if (supervisor->nothing_left)
		checkpoint_forget(supervisor->options.checkpoint);
	else
		checkpoint_write(supervisor->options.checkpoint, true);
	return NULL;
}

/* Other threads */

/* The reader gets its configuration as text: what a reload or the command line has made of it is in no file.
 */
static void take_config(struct supervisor *supervisor, const struct config *config)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	config_print_own(config, out);
	fclose(out);
	supervisor->config.size = 0;
	buffer_put(&supervisor->config, text, size);
	free(text);
	supervisor->settings = settings_of(config);
	supervisor->reader_memory = config->reader_memory;
	flight_configure(supervisor->flight, config, &supervisor->config);
	reader_status_kernel(&supervisor->status, config_reads_kernel(config) || config_flies(config));
	supervisor->configured = true;
}

static void wake(struct supervisor *supervisor)
{
	const uint64_t one = 1;

	if (write(supervisor->wake, &one, sizeof(one)) < 0)
		log_error("eventfd: %s", g_strerror(errno));
}

static void supervisor_free(struct supervisor *supervisor)
{
	if (supervisor->wake >= 0)
		close(supervisor->wake);
	if (supervisor->page) {
		page_unmap(supervisor->page);
		close(supervisor->page_fd);
	}
	reader_status_free(&supervisor->status);
	crash_suspects_destroy(supervisor->suspects);
	wellness_destroy(supervisor->wellness);
	flight_destroy(supervisor->flight);
	if (supervisor->canary)
		canary_destroy(supervisor->canary);
	buffer_free(&supervisor->config);
	buffer_free(&supervisor->spans.sizes);
	buffer_free(&supervisor->spans.events);
	buffer_free(&supervisor->events.sizes);
	buffer_free(&supervisor->events.events);
	buffer_free(&supervisor->traits);
	pthread_mutex_destroy(&supervisor->lock);
	g_free(supervisor);
}

struct supervisor *supervisor_create(const struct supervisor_options *options)
{
	const struct config *config = options->config;
	struct supervisor *supervisor = g_new0(struct supervisor, 1);
	int error;

	supervisor->options = *options;
	supervisor->user = config->user;
	supervisor->own_relay = config->own_relay;
	supervisor->keeps = config->keep && checkpoint_lasting(options->checkpoint);
	supervisor->moved = clock_monotonic();
	supervisor->channel.socket = -1;
	pthread_mutex_init(&supervisor->lock, NULL);
	supervisor->suspects = crash_suspects_create();
	supervisor->wellness = wellness_create(config->tracing_group);
	supervisor->flight = flight_create(config);
	supervisor->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	error = supervisor->wake < 0 ? errno : 0;
	supervisor->page = page_create(&supervisor->page_fd);
	if (!error && !supervisor->page)
		error = errno;
	reader_status_init(&supervisor->status, supervisor->page);
	take_config(supervisor, config);
	if (supervisor->page)
		supervisor->canary = canary_create(config, supervisor->page);
	if (!error)
		error = pthread_create(&supervisor->thread, NULL, run, supervisor);
	if (!error)
		return supervisor;
	log_error("the session cannot be read: %s", g_strerror(error));
	supervisor_free(supervisor);
	return NULL;
}

bool supervisor_keeps(const struct supervisor *supervisor)
{
	return supervisor->keeps;
}

void supervisor_stop(struct supervisor *supervisor, int64_t timeout_ns)
{
	pthread_mutex_lock(&supervisor->lock);
	supervisor->stop_deadline = clock_monotonic() + timeout_ns;
	pthread_mutex_unlock(&supervisor->lock);
	wake(supervisor);
}

void supervisor_configure(struct supervisor *supervisor, const struct config *config)
{
	pthread_mutex_lock(&supervisor->lock);
	take_config(supervisor, config);
	pthread_mutex_unlock(&supervisor->lock);
	wake(supervisor);
}

void supervisor_renew(struct supervisor *supervisor, const struct config *config)
{
	pthread_mutex_lock(&supervisor->lock);
	take_config(supervisor, config);
	supervisor->renew = true;
	pthread_mutex_unlock(&supervisor->lock);
	wake(supervisor);
}

int64_t supervisor_progress(const struct supervisor *supervisor)
{
	return atomic_load_explicit(&supervisor->moved, memory_order_relaxed);
}

int64_t supervisor_reader_progress(const struct supervisor *supervisor)
{
	return atomic_load_explicit(&supervisor->page->moved, memory_order_relaxed);
}

void supervisor_read_state(struct supervisor *supervisor, struct supervisor_state *state)
{
	reader_status_read(&supervisor->status, state);
}

void supervisor_read_canary(struct supervisor *supervisor, struct canary_state *state)
{
	canary_read(supervisor->canary, state);
}

void supervisor_read_flight(struct supervisor *supervisor, struct flight_failure *failure)
{
	flight_read_failure(supervisor->flight, failure);
}

enum reason supervisor_reason(struct supervisor *supervisor)
{
	struct supervisor_state state;

	reader_status_read(&supervisor->status, &state);
	return state.reason;
}

unsigned supervisor_left_out(struct supervisor *supervisor, uint64_t *users, unsigned max)
{
	return crash_suspects_left_out(supervisor->suspects, users, max);
}

bool supervisor_lacks_memory(struct supervisor *supervisor)
{
	return crash_suspects_too_large(supervisor->suspects);
}

void supervisor_destroy(struct supervisor *supervisor)
{
	pthread_mutex_lock(&supervisor->lock);
	supervisor->finish = true;
	pthread_mutex_unlock(&supervisor->lock);
	wake(supervisor);
	pthread_join(supervisor->thread, NULL);
	supervisor_free(supervisor);
}
