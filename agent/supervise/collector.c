/* SPDX-License-Identifier: BSD-2-Clause */
#include "supervise/collector.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "supervise/inner.h"

/* A reader that computes for no longer waits for the daemon that it calls. */
#define WAITS_NS (1 * NS_PER_SECOND)
/* How often the reader is watched; and how long it may take to end when its work is done. */
#define WATCH_NS (50 * NS_PER_MS)
#define FINISH_NS (5 * NS_PER_SECOND)
/* How long the thread sleeps, ms: when nothing is under way; while a place is; while a batch fills; and while
 * the reader waits for room. */
#define IDLE_MS 250
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

static bool runs(const struct collector *collector)
{
	return collector->child.pid != 0;
}

/* What is asked for */

static bool is_to_finish(struct collector *collector)
{
	bool finish;

	pthread_mutex_lock(&collector->lock);
	finish = collector->finish;
	pthread_mutex_unlock(&collector->lock);
	return finish;
}

/*
 * The reader is told what became of what it handed over. Returns whether a place came to hold. One that has
 * not greeted yet waits for its orders, which say what holds.
 */
static bool tell_delivery(struct collector *collector)
{
	bool settled;
	uint64_t number;
	int64_t cost;

	atomic_store_explicit(
		&collector->page->excess, fanout_excess(collector->options.fanout), memory_order_relaxed);
	settled = books_settle(collector->options.books, &number, &cost);
	if (settled && runs(collector) && collector->greeted) {
		struct buffer body = {0};

		pack_u64(&body, number);
		pack_u64(&body, (uint64_t)cost);
		channel_post(&collector->channel, FRAME_SETTLED, &body);
		buffer_free(&body);
	}
	return settled;
}

/* The thread */

static int pause_ms(const struct collector *collector)
{
	if (fanout_excess(collector->options.fanout))
		return ROOM_MS;
	if (fanout_waits(collector->options.fanout))
		return BATCH_MS;
	return books_waiting(collector->options.books) ? PLACE_MS : IDLE_MS;
}

static void sleep_on(struct collector *collector)
{
	struct pollfd fds[2] = {{.fd = collector->wake, .events = POLLIN}, {.fd = -1, .events = POLLIN}};
	int64_t now = clock_monotonic();
	int ms = pause_ms(collector);
	uint64_t count;

	if (runs(collector)) {
		fds[1].fd = collector->channel.socket;
		fds[1].events = POLLIN | (collector->channel.out.size ? POLLOUT : 0);
		ms = collector->streaming ? STREAM_MS : ms;
		if (!channel_may_sleep(&collector->channel, collector->streaming ? MUCH_BYTES : 1))
			ms = 0;
	} else if (!collector->ended) {
		ms = (int)CLAMP((collector->start_next - now) / NS_PER_MS, 0, ms);
	}
	poll(fds, 2, ms);
	if (fds[0].revents && read(collector->wake, &count, sizeof(count)) < 0 && errno != EAGAIN)
		log_error("eventfd: %s", g_strerror(errno));
	atomic_store_explicit(&collector->moved, clock_monotonic(), memory_order_relaxed);
}

/* Takes what the reader has sent by now; returns false if it is to be lost. */
static bool listen_on(struct collector *collector)
{
	struct channel *channel = &collector->channel;
	bool open = true;

	/* not for ever, as it may send faster than it is listened to */
	for (int i = 0; i < PIECES_MAX && (!i || channel_has_more(channel)); i++) {
		open = channel_collect(channel);
		collector->misspoke = !receive_frames(collector);
		if (collector->misspoke || !open)
			return false;
	}
	return true;
}

static void look_at_daemons(struct collector *collector)
{
	struct daemons_health healths;

	wellness_look(collector->wellness);
	wellness_read(collector->wellness, &healths);
	shown_daemons(&collector->shown, &healths);
}

/* Where the canary's event stays, when the daemons that can be asked are, and what the reader is at. */
static enum canary_stage stage_of(const struct collector *collector)
{
	int64_t now = clock_monotonic(), unmoved = now - atomic_load(&collector->page->moved);
	uint32_t called = atomic_load(&collector->page->called);
	struct daemons_health healths;

	wellness_read(collector->wellness, &healths);
	if (healths.consumer.gone || (healths.consumer.silent && now - healths.consumer.silent >= WAITS_NS))
		return STAGE_CONSUMER;
	if (healths.session.gone || (healths.session.silent && now - healths.session.silent >= WAITS_NS))
		return STAGE_SESSION_DAEMON;
	if (!runs(collector) || collector->child.stopped)
		return STAGE_READER;
	if (unmoved < WAITS_NS) /* it gets nothing, live or in the relay's files */
		return STAGE_CONSUMER;
	if (called == DAEMON_NONE)
		return STAGE_READER;
	return called == DAEMON_RELAY ? STAGE_RELAY : STAGE_SESSION_DAEMON;
}

static enum canary_session session_for_canary(const struct collector_state *state)
{
	if (state->collecting)
		return clock_monotonic() - state->since >= SETTLED_NS ? CANARY_SESSION_READ
								      : CANARY_SESSION_UNKNOWN;
	return state->reason == REASON_SESSION_LOST || state->reason == REASON_NO_SESSION_DAEMON ||
			       state->reason == REASON_NO_RELAY
		       ? CANARY_SESSION_NONE
		       : CANARY_SESSION_UNKNOWN;
}

static void look_at_canary(struct collector *collector)
{
	struct collector_state state;

	shown_read(&collector->shown, &state);
	canary_tick(collector->canary, session_for_canary(&state));
	if (canary_is_late(collector->canary))
		canary_blame(collector->canary, stage_of(collector));
}

/* Talks to the reader; returns false if it is to be lost. */
static bool serve(struct collector *collector)
{
	uint64_t before = collector->channel.ring_taken;
	bool open = listen_on(collector);
	int64_t now = clock_monotonic();
	bool lately = now - collector->heard < 2 * STREAM_MS * NS_PER_MS;

	if (collector->channel.ring_taken > before) {
		collector->streaming = lately;
		collector->heard = now;
	} else {
		collector->streaming &= lately;
	}
	if (!open)
		return false;
	channel_flush(&collector->channel);
	if (collector->greeted)
		requests_tell(collector);
	if (now - collector->checked >= WATCH_NS) {
		collector->checked = now;
		child_watch(&collector->child, collector->page);
		look_at_daemons(collector);
		look_at_canary(collector);
		shown_watch(&collector->shown, collector->child.computed < WAITS_NS);
		child_bound(&collector->child, collector->reader_memory);
	}
	return true;
}

/* Whether the stop needs another reader: a session that does not outlive the agent is to be ended. */
static bool needs_reader(struct collector *collector)
{
	int64_t deadline = requests_deadline(collector);

	return !deadline || (!collector->keeps && clock_monotonic() < deadline);
}

/* Writes the ledger down if somebody waits for that. */
static void record(struct collector *collector)
{
	uint64_t number;

	pthread_mutex_lock(&collector->lock);
	number = collector->record;
	pthread_mutex_unlock(&collector->lock);
	if (number == collector->recorded)
		return;
	books_write(collector->options.books, false);
	collector->recorded = number;
	collector->options.recorded(collector->options.data, number);
}

static void turn(struct collector *collector)
{
	bool ended = collector->ended;

	if (runs(collector) && !serve(collector))
		succession_end(collector, collector->child.killed || collector->misspoke ? 0 : FINISH_NS);
	else if (!runs(collector) && !ended && !needs_reader(collector))
		collector->ended = true;
	else if (!runs(collector) && !ended && clock_monotonic() >= collector->start_next)
		succession_start(collector);
	if (fanout_waits(collector->options.fanout) || fanout_is_undecided(collector->options.fanout))
		fanout_hand(collector->options.fanout, &(struct ledger){0}, NULL, clock_monotonic(), false);
	tell_delivery(collector);
	record(collector);
	if (!ended && collector->ended) {
		fanout_end(collector->options.fanout);
		collector->options.done(collector->options.data);
	}
}

/* The reader's last word, if it has come so far; or else its end. */
static void finish_reader(struct collector *collector)
{
	int64_t until = clock_monotonic() + FINISH_NS;
	bool orderly = collector->ended;

	if (orderly)
		channel_post(&collector->channel, FRAME_FINISH, NULL);
	while (orderly && !collector->finished && clock_monotonic() < until) {
		struct pollfd fd = {.fd = collector->channel.socket, .events = POLLIN};

		if (channel_may_sleep(&collector->channel, 1))
			poll(&fd, 1, PLACE_MS);
		channel_flush(&collector->channel);
		if (!listen_on(collector))
			break;
	}
	collector->ended = true;
	succession_end(collector, collector->finished ? FINISH_NS : 0);
}

static void *run(void *data)
{
	struct collector *collector = data;

	while (!is_to_finish(collector)) {
		turn(collector);
		sleep_on(collector);
	}
	/* the last place may wait behind another one */
	while (tell_delivery(collector))
		;
	if (runs(collector))
		finish_reader(collector);
	if (collector->nothing_left)
		books_forget(collector->options.books);
	else
		books_write(collector->options.books, true);
	return NULL;
}

/* Other threads */

/* The reader gets its configuration as text: what a reload or the command line has made of it is in no file.
 */
static void take_config(struct collector *collector, const struct config *config)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	config_print_own(config, out);
	fclose(out);
	collector->config.size = 0;
	buffer_put(&collector->config, text, size);
	free(text);
	collector->settings = settings_of(config);
	collector->reader_memory = config->reader_memory;
	collector->configured = true;
}

static void wake(struct collector *collector)
{
	const uint64_t one = 1;

	if (write(collector->wake, &one, sizeof(one)) < 0)
		log_error("eventfd: %s", g_strerror(errno));
}

static void collector_free(struct collector *collector)
{
	if (collector->wake >= 0)
		close(collector->wake);
	if (collector->page) {
		page_unmap(collector->page);
		close(collector->page_fd);
	}
	shown_free(&collector->shown);
	blame_destroy(collector->suspects);
	wellness_destroy(collector->wellness);
	if (collector->canary)
		canary_destroy(collector->canary);
	buffer_free(&collector->config);
	buffer_free(&collector->spans.sizes);
	buffer_free(&collector->spans.events);
	buffer_free(&collector->events.sizes);
	buffer_free(&collector->events.events);
	buffer_free(&collector->traits);
	pthread_mutex_destroy(&collector->lock);
	g_free(collector);
}

struct collector *collector_create(const struct collector_options *options)
{
	const struct config *config = options->config;
	struct collector *collector = g_new0(struct collector, 1);

	collector->options = *options;
	collector->user = config->user;
	collector->own_relay = config->own_relay;
	collector->keeps = config->keep && books_lasting(options->books);
	collector->moved = clock_monotonic();
	collector->channel.socket = -1;
	pthread_mutex_init(&collector->lock, NULL);
	collector->suspects = blame_create();
	collector->wellness = wellness_create(config->tracing_group);
	take_config(collector, config);
	collector->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	collector->page = page_create(&collector->page_fd);
	shown_init(&collector->shown, collector->page);
	if (collector->page)
		collector->canary = canary_create(config, collector->page);
	if (collector->wake >= 0 && collector->page &&
		pthread_create(&collector->thread, NULL, run, collector) == 0)
		return collector;
	log_error("the session cannot be read: %s", g_strerror(errno));
	collector_free(collector);
	return NULL;
}

bool collector_keeps(const struct collector *collector)
{
	return collector->keeps;
}

void collector_stop(struct collector *collector, int64_t timeout_ns)
{
	pthread_mutex_lock(&collector->lock);
	collector->stop_deadline = clock_monotonic() + timeout_ns;
	pthread_mutex_unlock(&collector->lock);
	wake(collector);
}

void collector_record(struct collector *collector, uint64_t number)
{
	pthread_mutex_lock(&collector->lock);
	collector->record = number;
	pthread_mutex_unlock(&collector->lock);
	wake(collector);
}

void collector_configure(struct collector *collector, const struct config *config)
{
	pthread_mutex_lock(&collector->lock);
	take_config(collector, config);
	pthread_mutex_unlock(&collector->lock);
	wake(collector);
}

void collector_renew(struct collector *collector, const struct config *config)
{
	pthread_mutex_lock(&collector->lock);
	take_config(collector, config);
	collector->renew = true;
	pthread_mutex_unlock(&collector->lock);
	wake(collector);
}

int64_t collector_progress(const struct collector *collector)
{
	return atomic_load_explicit(&collector->moved, memory_order_relaxed);
}

int64_t collector_reader_progress(const struct collector *collector)
{
	return atomic_load_explicit(&collector->page->moved, memory_order_relaxed);
}

void collector_read_state(struct collector *collector, struct collector_state *state)
{
	shown_read(&collector->shown, state);
}

void collector_read_canary(struct collector *collector, struct canary_state *state)
{
	canary_read(collector->canary, state);
}

enum collector_reason collector_reason(struct collector *collector)
{
	struct collector_state state;

	shown_read(&collector->shown, &state);
	return state.reason;
}

unsigned collector_left_out(struct collector *collector, uint64_t *users, unsigned max)
{
	return blame_left_out(collector->suspects, users, max);
}

void collector_destroy(struct collector *collector)
{
	pthread_mutex_lock(&collector->lock);
	collector->finish = true;
	pthread_mutex_unlock(&collector->lock);
	wake(collector);
	pthread_join(collector->thread, NULL);
	collector_free(collector);
}
