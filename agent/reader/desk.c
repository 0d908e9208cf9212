/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/desk.h"

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
/* Orders may have a place of any size that a configuration allows. */
#define ORDERS_MAX UINT32_MAX

struct desk {
	struct channel channel; /* sends in the thread that reads, receives in the other one */
	struct desk_asks asks;
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

static void send_body(struct desk *desk, enum frame_type type, const struct buffer *body)
{
	const struct iovec piece = {body->data, body->size};

	if (!channel_send(&desk->channel, type, &piece, 1))
		_exit(EXIT_SUCCESS);
}

static void send_empty(struct desk *desk, enum frame_type type)
{
	send_body(desk, type, &(struct buffer){0});
}

/* What the ledger has got since it was handed over last; false if nothing. */
static bool take_change(struct desk *desk, struct ledger *change)
{
	struct ledger now;
	int64_t any = 0;

	ledger_read(&now);
	for (int i = 0; i < LEDGER_ROWS; i++) {
		change->row[i] = now.row[i] - desk->sent.row[i];
		any |= change->row[i];
	}
	desk->sent = now;
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

static void hand_over(struct desk *desk, const struct pipeline_output *made, bool at_once, bool always)
{
	struct hand hand = {.at_once = at_once, .spans = made->spans, .events = made->events};
	struct buffer *body = &desk->body;
	struct iovec pieces[1 + MADE_PIECES];
	bool any = is_anything(made);

	if (!take_change(desk, &hand.change) && !any && !always)
		return;
	desk->reached.size = body->size = 0;
	desk->asks.reached(desk->asks.data, &desk->reached);
	hand.reached = unpacker_of(desk->reached.data, desk->reached.size);
	hand_pack(body, &hand);
	pieces[0] = piece_of(body);
	if (!channel_send(&desk->channel, FRAME_HAND, pieces, 1 + put_made(pieces + 1, made)))
		_exit(EXIT_SUCCESS);
	desk->handed = clock_monotonic();
}

/* The pipeline's: the ledger is this process's own, which the agent is told of. */
static void hand(
	void *data, struct ledger *change, const struct pipeline_output *made, int64_t now, bool at_once)
{
	struct desk *desk = data;

	(void)now;
	ledger_post(change);
	memset(change, 0, sizeof(*change));
	if (is_anything(made) || at_once)
		hand_over(desk, made, at_once, false);
}

struct pipeline_sink desk_sink(struct desk *desk)
{
	return (struct pipeline_sink){hand, desk};
}

bool desk_is_due(const struct desk *desk)
{
	return clock_monotonic() - desk->handed >= HAND_NS;
}

void desk_tick(struct desk *desk, uint64_t moves)
{
	hand_over(desk, &nothing, false, moves != desk->moves);
	desk->moves = moves;
	desk->handed = clock_monotonic();
}

void desk_offer(struct desk *desk, uint64_t number, const struct buffer *place)
{
	struct iovec pieces[2];
	struct buffer head = {0};

	hand_over(desk, &nothing, true, true);
	pack_u64(&head, number);
	pieces[0] = (struct iovec){head.data, head.size};
	pieces[1] = (struct iovec){place->data, place->size};
	if (!channel_send(&desk->channel, FRAME_PLACE, pieces, 2))
		_exit(EXIT_SUCCESS);
	buffer_free(&head);
}

void desk_save(struct desk *desk)
{
	hand_over(desk, &nothing, true, true);
	send_empty(desk, FRAME_SAVE);
}

void desk_report(struct desk *desk, const struct report *report)
{
	desk->body.size = 0;
	report_pack(&desk->body, report);
	send_body(desk, FRAME_STATE, &desk->body);
}

void desk_omits(struct desk *desk, const struct omissions *omissions)
{
	desk->body.size = 0;
	omissions_pack(&desk->body, omissions);
	send_body(desk, FRAME_OMITS, &desk->body);
}

void desk_measured(struct desk *desk, const struct user_buffers *buffers)
{
	desk->body.size = 0;
	buffers_pack(&desk->body, buffers);
	send_body(desk, FRAME_BUFFERS, &desk->body);
}

void desk_left_out(struct desk *desk, const struct culprit *culprit)
{
	desk->body.size = 0;
	culprit_pack(&desk->body, culprit);
	send_body(desk, FRAME_LEFT_OUT, &desk->body);
}

void desk_misuses(struct desk *desk, struct misuses *misuses)
{
	int64_t now;

	if (!misuses->fresh)
		return;
	now = clock_monotonic();
	if (now < desk->misuses_next)
		return;
	desk->misuses_next = now + MISUSES_NS;
	for (int i = 0; i < MISUSES; i++) {
		if (misuse_wanted(misuses, i))
			continue;
		desk->body.size = 0;
		misuse_pack(&desk->body, i, &misuses->of[i]);
		send_body(desk, FRAME_MISUSE, &desk->body);
	}
	misuses->fresh = 0;
}

void desk_well(struct desk *desk, uint64_t user)
{
	desk->body.size = 0;
	pack_u64(&desk->body, user);
	send_body(desk, FRAME_WELL, &desk->body);
}

/* Listening */

static void take_settled(struct desk *desk, struct unpacker *body)
{
	uint64_t number = unpack_u64(body);

	atomic_store(&desk->cost, (int64_t)unpack_u64(body));
	atomic_store(&desk->settled, number);
}

static void take_finish(struct desk *desk)
{
	pthread_mutex_lock(&desk->lock);
	desk->finishing = true;
	pthread_cond_signal(&desk->finish);
	pthread_mutex_unlock(&desk->lock);
}

static void take(struct desk *desk, enum frame_type type, struct unpacker *body)
{
	struct settings settings;

	switch (type) {
	case FRAME_CONFIGURE:
		if (settings_unpack(body, &settings))
			desk->asks.configure(desk->asks.data, &settings);
		break;
	case FRAME_SETTLED:
		take_settled(desk, body);
		break;
	case FRAME_STOP:
		desk->asks.stop(desk->asks.data, (int64_t)unpack_u64(body));
		break;
	case FRAME_LEAVE:
		desk->asks.leave(desk->asks.data);
		break;
	case FRAME_FINISH:
		take_finish(desk);
		break;
	default:
		break;
	}
}

static void *listen_on(void *data)
{
	struct desk *desk = data;
	struct unpacker body;
	enum frame_type type;

	do
		while (channel_next(&desk->channel, &type, &body))
			take(desk, type, &body);
	while (channel_receive(&desk->channel));
	_exit(EXIT_SUCCESS); /* the agent is gone */
}

struct desk *desk_create(int socket, struct ring *ring, struct orders *orders)
{
	struct desk *desk = g_new0(struct desk, 1);
	struct buffer hello = {0};
	struct unpacker body;
	enum frame_type type;

	channel_init(&desk->channel, socket, ring, ORDERS_MAX);
	pthread_mutex_init(&desk->lock, NULL);
	pthread_cond_init(&desk->finish, NULL);
	pack_text(&hello, BLKIN_VERSION);
	send_body(desk, FRAME_HELLO, &hello);
	buffer_free(&hello);
	while (!channel_next(&desk->channel, &type, &body))
		if (!channel_receive(&desk->channel))
			_exit(EXIT_SUCCESS); /* the agent is gone */
	return type == FRAME_START && orders_unpack(&body, orders) ? desk : NULL;
}

bool desk_open(struct desk *desk, const struct desk_asks *asks)
{
	desk->asks = *asks;
	return pthread_create(&desk->listener, NULL, listen_on, desk) == 0;
}

uint64_t desk_settled(const struct desk *desk, int64_t *cost)
{
	uint64_t number = atomic_load(&desk->settled);

	*cost = atomic_load(&desk->cost);
	return number;
}

/* The end */

void desk_end(struct desk *desk)
{
	send_empty(desk, FRAME_ENDED);
	pthread_mutex_lock(&desk->lock);
	while (!desk->finishing)
		pthread_cond_wait(&desk->finish, &desk->lock);
	pthread_mutex_unlock(&desk->lock);
}

void desk_finish(struct desk *desk, bool nothing_left)
{
	hand_over(desk, &nothing, true, true);
	desk->body.size = 0;
	pack_u8(&desk->body, nothing_left);
	send_body(desk, FRAME_FINISHED, &desk->body);
}
