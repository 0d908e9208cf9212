/* SPDX-License-Identifier: BSD-2-Clause */
/* What comes from the reader: inner.h. */
#include <string.h>

#include "base/clock.h"
#include "queue/item.h"
#include "supervise/inner.h"

/* No row changes by more at a time, and no place is so far ahead of the last one. */
#define CHANGE_MAX (INT64_C(1) << 40)
#define PLACES_MAX 1000000

static bool wants_events(struct collector *collector)
{
	bool events;

	pthread_mutex_lock(&collector->lock);
	events = collector->settings.events != 0;
	pthread_mutex_unlock(&collector->lock);
	return events;
}

/* The reader and the agent must be of one version. */
static bool take_hello(struct collector *collector, struct unpacker *body)
{
	char version[64];
	struct orders orders = {.user = collector->user, .own_relay = collector->own_relay};
	const struct buffer *place, *reached = books_reached(collector->options.books);
	struct buffer out = {0};

	unpack_text(body, version, sizeof(version));
	if (body->failed || strcmp(version, BLKIN_VERSION) != 0)
		return false;
	place = books_newest(collector->options.books, &orders.number, &orders.holds);
	orders.events = wants_events(collector);
	orders.lasting = books_lasting(collector->options.books);
	orders.place = unpacker_of(place->data, place->size);
	orders.reached = unpacker_of(reached->data, reached->size);
	blame_order(collector->suspects, &orders);
	orders_pack(&out, &orders);
	channel_post(&collector->channel, FRAME_START, &out);
	g_array_unref(orders.suspects);
	buffer_free(&out);
	statistics_begin_reader(collector->options.statistics);
	collector->greeted = true;
	collector->start_told = false;
	return true;
}

/* Whether the rows may change so: counts only grow, and each event goes to one of them. */
static bool adds_up(const struct ledger *change)
{
	const int64_t *row = change->row;

	for (int i = 0; i < LEDGER_ROWS; i++)
		if (row[i] > CHANGE_MAX || row[i] < (ledger_rows[i].gauge ? -CHANGE_MAX : 0))
			return false;
	return row[EVENTS_READ] == row[EVENTS_IN_SPANS] + row[EVENTS_AS_JSON] +
					   row[EVENTS_REJECTED_MALFORMED] + row[EVENTS_REJECTED_ID] +
					   row[EVENTS_REJECTED_TIME] + row[EVENTS_IGNORED];
}

/* Each event that counts as one of the outputs' is there. */
static bool has_events(const struct hand *hand)
{
	return hand->change.row[EVENTS_AS_JSON] == items_count(&hand->events);
}

/* The ledger and what was reached go together: the events' queues learn of them after the ledger, too. */
static bool take_hand(struct collector *collector, struct unpacker *body)
{
	struct ledger none = {0};
	struct hand hand;

	if (!hand_unpack(body, &hand, &collector->spans, &collector->events) || !adds_up(&hand.change) ||
		!has_events(&hand))
		return false;
	hand.spans.traits = batch_traits(&collector->spans, &collector->traits);
	if (!statistics_take(collector->options.statistics, &hand.spans))
		return false;
	statistics_give(collector->options.statistics, &hand.spans, collector->options.traces);
	audience_show(collector->options.audience, collector->options.statistics, &hand.spans);
	books_reach(collector->options.books, hand.reached.at, (size_t)(hand.reached.end - hand.reached.at));
	fanout_hand(collector->options.fanout, &hand.change, &hand.spans, clock_monotonic(), hand.at_once);
	if (items_count(&hand.events))
		fanout_hand(collector->options.fanout, &none, &hand.events, clock_monotonic(), hand.at_once);
	return true;
}

static bool take_place(struct collector *collector, struct unpacker *body)
{
	uint64_t number = unpack_u64(body), newest;
	bool holds;

	books_newest(collector->options.books, &newest, &holds);
	if (body->failed || number <= newest || number - newest > PLACES_MAX)
		return false;
	fanout_hand(collector->options.fanout, &(struct ledger){0}, NULL, clock_monotonic(), true);
	books_offer(collector->options.books, number, body->at, (size_t)(body->end - body->at));
	return true;
}

static bool take_report(struct collector *collector, struct unpacker *body)
{
	struct report report;

	if (!report_unpack(body, &report))
		return false;
	shown_report(&collector->shown, &report);
	return true;
}

static bool take_omissions(struct collector *collector, struct unpacker *body)
{
	struct omissions omissions;

	if (!omissions_unpack(body, &omissions))
		return false;
	shown_omissions(&collector->shown, &omissions);
	return true;
}

static bool take_buffers(struct collector *collector, struct unpacker *body)
{
	struct user_buffers buffers = {0};

	if (!buffers_unpack(body, &buffers))
		return false;
	shown_buffers(&collector->shown, &buffers);
	return true;
}

static bool take_culprit(struct collector *collector, struct unpacker *body)
{
	struct culprit culprit;

	if (!culprit_unpack(body, &culprit))
		return false;
	blame_unreadable(collector->suspects, &culprit);
	return true;
}

static bool take_misuse(struct collector *collector, struct unpacker *body)
{
	enum misuse_kind kind;
	struct misuse misuse;

	if (!misuse_unpack(body, &kind, &misuse))
		return false;
	shown_misuse(&collector->shown, kind, &misuse);
	return true;
}

/* It has come to its end because the agent wants to stop, or another reader to take over. */
static bool take_ended(struct collector *collector)
{
	if (collector->stop_told)
		collector->ended = true;
	else if (collector->leave_told)
		channel_post(&collector->channel, FRAME_FINISH, NULL);
	collector->left = collector->leave_told && !collector->ended;
	return collector->ended || collector->left;
}

static bool take_frame(struct collector *collector, enum frame_type type, struct unpacker *body)
{
	if (collector->greeted == (type == FRAME_HELLO))
		return false;
	switch (type) {
	case FRAME_HELLO:
		return take_hello(collector, body);
	case FRAME_HAND:
		return take_hand(collector, body);
	case FRAME_PLACE:
		return take_place(collector, body);
	case FRAME_SAVE:
		collector->save = true;
		return true;
	case FRAME_STATE:
		return take_report(collector, body);
	case FRAME_OMITS:
		return take_omissions(collector, body);
	case FRAME_BUFFERS:
		return take_buffers(collector, body);
	case FRAME_LEFT_OUT:
		return take_culprit(collector, body);
	case FRAME_MISUSE:
		return take_misuse(collector, body);
	case FRAME_WELL:
		blame_well(collector->suspects, unpack_u64(body));
		return !body->failed;
	case FRAME_ENDED:
		return take_ended(collector);
	case FRAME_FINISHED:
		if (!collector->ended)
			return collector->left;
		collector->finished = true;
		collector->nothing_left = unpack_u8(body) != 0;
		return !body->failed;
	default:
		return false;
	}
}

bool receive_frames(struct collector *collector)
{
	struct channel *channel = &collector->channel;
	struct unpacker body;
	enum frame_type type;

	while (channel_next(channel, &type, &body))
		if (!take_frame(collector, type, &body))
			return false;
	if (collector->save) /* once, however often it was asked for */
		books_write(collector->options.books, false);
	collector->save = false;
	return !channel->wrong;
}
