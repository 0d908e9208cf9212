/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/agentlink.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "handover/channel.h"
#include "stats/names.h"

/* What programs record wrongly is told no sooner than so long after the last time. */
#define MISUSES_NS (1 * NS_PER_SECOND)
/* What changes without spans is handed over so often while there is more to read. */
#define HAND_NS (50 * NS_PER_MS)
/* Orders may have a position of any size that a configuration allows. */
#define ORDERS_MAX UINT32_MAX

struct agent_link {
	struct channel channel; /* sends in the thread that reads, receives in the other one */
	struct agent_link_asks asks;
	struct ledger sent;    /* what the agent knows of it */
	struct buffer reached; /* what is sent now, */
	struct buffer body;    /* and what is ahead of the spans */
	uint64_t moves;        /* when it was handed over, */
	int64_t handed;        /* and when that was; CLOCK_MONOTONIC ns */
	int64_t misuses_next;  /* are not to be told before; the same */
	pthread_t listener;
	_Atomic uint64_t settled;
	_Atomic int64_t cost;
	pthread_mutex_t lock;
	pthread_cond_t finish;
	bool finishing; /* guarded by the lock */
};

static const struct pipeline_output nothing;

/* Sending: if the agent is gone there is nobody to read for. */

static void send_body(struct agent_link *link, enum frame_type type, const struct buffer *body)
{
	const struct iovec piece = {body->data, body->size};

	if (!channel_send(&link->channel, type, &piece, 1))
		_exit(EXIT_SUCCESS);
}

static void send_empty(struct agent_link *link, enum frame_type type)
{
	send_body(link, type, &(struct buffer){0});
}

/* What the ledger has got since it was handed over last; false if nothing. */
static bool take_change(struct agent_link *link, struct ledger *change)
{
	struct ledger now;
	int64_t any = 0;

	ledger_read(&now);
	for (int i = 0; i < LEDGER_ROWS; i++) {
		change->row[i] = now.row[i] - link->sent.row[i];
		any |= change->row[i];
	}
	link->sent = now;
	return any != 0;
}

static struct iovec piece_at(const uint8_t *bytes, size_t size)
{
	return (struct iovec){(void *)(uintptr_t)bytes, size};
}

static struct iovec piece_of(const struct buffer *bytes)
{
	return (struct iovec){bytes->data, bytes->size};
}

#define BATCH_PIECES 3

static size_t put_batch(struct iovec *pieces, const struct items *items)
{
	if (!items_count(items))
		return 0;
	pieces[0] = piece_of(&items->batch->sizes);
	pieces[1] = piece_of(&items->batch->events);
	pieces[2] = piece_of(&items->batch->spans);
	return BATCH_PIECES;
}

#define MADE_PIECES (2 + 2 * BATCH_PIECES)

static size_t put_made(struct iovec *pieces, const struct pipeline_output *made)
{
	const struct items *spans = &made->spans;
	size_t count = 0;

	if (items_count(spans)) {
		pieces[count++] = piece_at(spans->named, items_count(spans) * sizeof(struct named));
		pieces[count++] = piece_at(spans->words, spans->words_size);
	}
	count += put_batch(pieces + count, spans);
	return count + put_batch(pieces + count, &made->events);
}

static bool is_anything(const struct pipeline_output *made)
{
	return items_count(&made->spans) || items_count(&made->events);
}

static void hand_over(struct agent_link *link, const struct pipeline_output *made, bool at_once, bool always)
{
	struct hand hand = {.at_once = at_once, .spans = made->spans, .events = made->events};
	struct buffer *body = &link->body;
	struct iovec pieces[1 + MADE_PIECES];
	bool any = is_anything(made);

	if (!take_change(link, &hand.change) && !any && !always)
		return;
	link->reached.size = body->size = 0;
	link->asks.reached(link->asks.data, &link->reached);
	hand.reached = unpacker_of(link->reached.data, link->reached.size);
	hand_pack(body, &hand);
	pieces[0] = piece_of(body);
	if (!channel_send(&link->channel, FRAME_HAND, pieces, 1 + put_made(pieces + 1, made)))
		_exit(EXIT_SUCCESS);
	link->handed = clock_monotonic();
}

/* The pipeline's: the ledger is this process's own, which the agent is told of. */
static void hand(
	void *data, struct ledger *change, const struct pipeline_output *made, int64_t now, bool at_once)
{
	struct agent_link *link = data;

	(void)now;
	ledger_post(change);
	memset(change, 0, sizeof(*change));
	if (is_anything(made) || at_once)
		hand_over(link, made, at_once, false);
}

struct pipeline_sink agent_link_sink(struct agent_link *link)
{
	return (struct pipeline_sink){hand, link};
}

bool agent_link_is_due(const struct agent_link *link)
{
	return clock_monotonic() - link->handed >= HAND_NS;
}

void agent_link_tick(struct agent_link *link, uint64_t moves)
{
	hand_over(link, &nothing, false, moves != link->moves);
	link->moves = moves;
	link->handed = clock_monotonic();
}

void agent_link_offer(struct agent_link *link, uint64_t number, const struct buffer *position)
{
	struct iovec pieces[2];
	struct buffer head = {0};

	hand_over(link, &nothing, true, true);
	pack_u64(&head, number);
	pieces[0] = (struct iovec){head.data, head.size};
	pieces[1] = (struct iovec){position->data, position->size};
	if (!channel_send(&link->channel, FRAME_POSITION, pieces, 2))
		_exit(EXIT_SUCCESS);
	buffer_free(&head);
}

void agent_link_save(struct agent_link *link)
{
	hand_over(link, &nothing, true, true);
	send_empty(link, FRAME_SAVE);
}

void agent_link_report(struct agent_link *link, const struct report *report)
{
	link->body.size = 0;
	report_pack(&link->body, report);
	send_body(link, FRAME_STATE, &link->body);
}

void agent_link_omits(struct agent_link *link, const struct omissions *omissions)
{
	link->body.size = 0;
	omissions_pack(&link->body, omissions);
	send_body(link, FRAME_OMITS, &link->body);
}

void agent_link_measured(struct agent_link *link, const struct user_buffers *buffers)
{
	link->body.size = 0;
	buffers_pack(&link->body, buffers);
	send_body(link, FRAME_BUFFERS, &link->body);
}

void agent_link_snapped(struct agent_link *link, uint64_t number, const char *error)
{
	link->body.size = 0;
	pack_u64(&link->body, number);
	pack_text(&link->body, error);
	send_body(link, FRAME_SNAPPED, &link->body);
}

void agent_link_left_out(struct agent_link *link, const struct unreadable *unreadable)
{
	link->body.size = 0;
	unreadable_pack(&link->body, unreadable);
	send_body(link, FRAME_LEFT_OUT, &link->body);
}

void agent_link_misuses(struct agent_link *link, struct misuses *misuses)
{
	int64_t now;

	if (!misuses->fresh)
		return;
	now = clock_monotonic();
	if (now < link->misuses_next)
		return;
	link->misuses_next = now + MISUSES_NS;
	for (int i = 0; i < MISUSES; i++) {
		if (misuse_wanted(misuses, i))
			continue;
		link->body.size = 0;
		misuse_pack(&link->body, i, &misuses->of[i]);
		send_body(link, FRAME_MISUSE, &link->body);
	}
	misuses->fresh = 0;
}

void agent_link_well(struct agent_link *link, uint64_t user)
{
	link->body.size = 0;
	pack_u64(&link->body, user);
	send_body(link, FRAME_WELL, &link->body);
}

/* Listening */

static void take_settled(struct agent_link *link, struct unpacker *body)
{
	uint64_t number = unpack_u64(body);

	atomic_store(&link->cost, (int64_t)unpack_u64(body));
	atomic_store(&link->settled, number);
}

static void take_finish(struct agent_link *link)
{
	pthread_mutex_lock(&link->lock);
	link->finishing = true;
	pthread_cond_signal(&link->finish);
	pthread_mutex_unlock(&link->lock);
}

static void take(struct agent_link *link, enum frame_type type, struct unpacker *body)
{
	struct settings settings;

	switch (type) {
	case FRAME_CONFIGURE:
		/* once the reader may end, what is configured may be gone; only this thread sets that */
		if (!link->finishing && settings_unpack(body, &settings))
			link->asks.configure(link->asks.data, &settings);
		break;
	case FRAME_SETTLED:
		take_settled(link, body);
		break;
	case FRAME_STOP:
		link->asks.stop(link->asks.data, (int64_t)unpack_u64(body));
		break;
	case FRAME_LEAVE:
		link->asks.leave(link->asks.data);
		break;
	case FRAME_SNAPSHOT:
		if (!link->finishing)
			link->asks.snapshot(link->asks.data, unpack_u64(body));
		break;
	case FRAME_FINISH:
		take_finish(link);
		break;
	default:
		break;
	}
}

static void *listen_on(void *data)
{
	struct agent_link *link = data;
	struct unpacker body;
	enum frame_type type;

	do
		while (channel_next(&link->channel, &type, &body))
			take(link, type, &body);
	while (channel_receive(&link->channel));
	_exit(EXIT_SUCCESS); /* the agent is gone */
}

struct agent_link *agent_link_create(int socket, struct ring *ring, struct orders *orders)
{
	struct agent_link *link = g_new0(struct agent_link, 1);
	struct buffer hello = {0};
	struct unpacker body;
	enum frame_type type;

	channel_init(&link->channel, socket, ring, ORDERS_MAX);
	pthread_mutex_init(&link->lock, NULL);
	pthread_cond_init(&link->finish, NULL);
	pack_text(&hello, BLKIN_VERSION);
	send_body(link, FRAME_HELLO, &hello);
	buffer_free(&hello);
	while (!channel_next(&link->channel, &type, &body))
		if (!channel_receive(&link->channel))
			_exit(EXIT_SUCCESS); /* the agent is gone */
	return type == FRAME_START && orders_unpack(&body, orders) ? link : NULL;
}

bool agent_link_open(struct agent_link *link, const struct agent_link_asks *asks)
{
	link->asks = *asks;
	return pthread_create(&link->listener, NULL, listen_on, link) == 0;
}

uint64_t agent_link_settled(const struct agent_link *link, int64_t *cost)
{
	uint64_t number = atomic_load(&link->settled);

	*cost = atomic_load(&link->cost);
	return number;
}

/* The end */

void agent_link_end(struct agent_link *link)
{
	send_empty(link, FRAME_ENDED);
	pthread_mutex_lock(&link->lock);
	while (!link->finishing)
		pthread_cond_wait(&link->finish, &link->lock);
	pthread_mutex_unlock(&link->lock);
}

void agent_link_finish(struct agent_link *link, bool nothing_left)
{
	hand_over(link, &nothing, true, true);
	link->body.size = 0;
	pack_u8(&link->body, nothing_left);
	send_body(link, FRAME_FINISHED, &link->body);
}
