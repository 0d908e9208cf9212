/* SPDX-License-Identifier: BSD-2-Clause */
/* What comes from the reader: inner.h. */
#include <string.h>

#include "base/clock.h"
#include "queue/item.h"
#include "supervise/inner.h"

/* No row changes by more at a time, and no position is so far ahead of the last one. */
#define CHANGE_MAX (INT64_C(1) << 40)
#define PLACES_MAX 1000000

static bool wants_events(struct supervisor *supervisor)
{
	bool events;

	pthread_mutex_lock(&supervisor->lock);
	events = supervisor->settings.events != 0;
	pthread_mutex_unlock(&supervisor->lock);
	return events;
}

/* The reader and the agent must be of one version. */
static bool take_hello(struct supervisor *supervisor, struct unpacker *body)
{
	char version[64];
	struct orders orders = {.user = supervisor->user, .own_relay = supervisor->own_relay};
	const struct buffer *position, *reached = checkpoint_reached(supervisor->options.checkpoint);
	struct buffer out = {0};

	unpack_text(body, version, sizeof(version));
	if (body->failed || strcmp(version, BLKIN_VERSION) != 0)
		return false;
	position = checkpoint_newest(supervisor->options.checkpoint, &orders.number, &orders.holds);
	orders.events = wants_events(supervisor);
	orders.lasting = checkpoint_lasting(supervisor->options.checkpoint);
	orders.position = unpacker_of(position->data, position->size);
	orders.reached = unpacker_of(reached->data, reached->size);
	crash_suspects_order(supervisor->suspects, &orders);
	orders_pack(&out, &orders);
	channel_post(&supervisor->channel, FRAME_START, &out);
	g_array_unref(orders.suspects);
	buffer_free(&out);
	statistics_hold(supervisor->options.namer);
	statistics_begin(supervisor->options.namer);
	statistics_release(supervisor->options.namer);
	supervisor->greeted = true;
	supervisor->start_told = false;
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

/* And shows the spans to who watches them. */
static bool count(struct supervisor *supervisor, const struct items *spans)
{
	struct namer *namer = supervisor->options.namer;
	bool good;

	statistics_hold(namer);
	good = statistics_take(namer, spans);
	if (good) {
		statistics_give(namer, spans, supervisor->options.traces);
		subscribers_show(supervisor->options.subscribers, namer, spans);
		flight_see(supervisor->flight, namer, spans);
	}
	statistics_release(namer);
	return good;
}

/* The ledger and what was reached go together: the events' queues learn of them after the ledger, too. */
static bool take_hand(struct supervisor *supervisor, struct unpacker *body)
{
	struct ledger none = {0};
	struct hand hand;

	if (!hand_unpack(body, &hand, &supervisor->spans, &supervisor->events) || !adds_up(&hand.change) ||
		!has_events(&hand))
		return false;
	hand.spans.traits = batch_traits(&supervisor->spans, &supervisor->traits);
	if (!count(supervisor, &hand.spans))
		return false;
	checkpoint_hold(supervisor->options.checkpoint);
	checkpoint_hand(supervisor->options.checkpoint, hand.reached, &hand.change, &hand.spans,
		clock_monotonic(), hand.at_once);
	if (items_count(&hand.events))
		fanout_hand(supervisor->options.fanout, &none, &hand.events, clock_monotonic(), hand.at_once);
	checkpoint_release(supervisor->options.checkpoint);
	return true;
}

static bool take_place(struct supervisor *supervisor, struct unpacker *body)
{
	uint64_t number = unpack_u64(body), newest;
	bool holds;

	checkpoint_newest(supervisor->options.checkpoint, &newest, &holds);
	if (body->failed || number <= newest || number - newest > PLACES_MAX)
		return false;
	fanout_hand(supervisor->options.fanout, &(struct ledger){0}, NULL, clock_monotonic(), true);
	checkpoint_offer(supervisor->options.checkpoint, number, body->at, (size_t)(body->end - body->at));
	return true;
}

static bool take_report(struct supervisor *supervisor, struct unpacker *body)
{
	struct report report;

	if (!report_unpack(body, &report))
		return false;
	reader_status_report(&supervisor->status, &report);
	return true;
}

static bool take_omissions(struct supervisor *supervisor, struct unpacker *body)
{
	struct omissions omissions;

	if (!omissions_unpack(body, &omissions))
		return false;
	reader_status_omissions(&supervisor->status, &omissions);
	return true;
}

static bool take_buffers(struct supervisor *supervisor, struct unpacker *body)
{
	struct user_buffers buffers = {0};

	if (!buffers_unpack(body, &buffers))
		return false;
	reader_status_buffers(&supervisor->status, &buffers);
	return true;
}

static bool take_culprit(struct supervisor *supervisor, struct unpacker *body)
{
	struct unreadable unreadable;

	if (!unreadable_unpack(body, &unreadable))
		return false;
	crash_suspects_unreadable(supervisor->suspects, &unreadable);
	return true;
}

static bool take_misuse(struct supervisor *supervisor, struct unpacker *body)
{
	enum misuse_kind kind;
	struct misuse misuse;

	if (!misuse_unpack(body, &kind, &misuse))
		return false;
	reader_status_misuse(&supervisor->status, kind, &misuse);
	return true;
}

static bool take_snapped(struct supervisor *supervisor, struct unpacker *body)
{
	uint64_t number = unpack_u64(body);
	char error[512];

	unpack_text(body, error, sizeof(error));
	if (!body->failed)
		flight_snapped(supervisor->flight, number, error);
	return !body->failed;
}

/* It has come to its end because the agent wants to stop, or another reader to take over. */
static bool take_ended(struct supervisor *supervisor)
{
	if (supervisor->stop_told)
		supervisor->ended = true;
	else if (supervisor->leave_told)
		channel_post(&supervisor->channel, FRAME_FINISH, NULL);
	supervisor->left = supervisor->leave_told && !supervisor->ended;
	return supervisor->ended || supervisor->left;
}

static bool take_frame(struct supervisor *supervisor, enum frame_type type, struct unpacker *body)
{
	if (supervisor->greeted == (type == FRAME_HELLO))
		return false;
	switch (type) {
	case FRAME_HELLO:
		return take_hello(supervisor, body);
	case FRAME_HAND:
		return take_hand(supervisor, body);
	case FRAME_POSITION:
		return take_place(supervisor, body);
	case FRAME_SAVE:
		supervisor->save = true;
		return true;
	case FRAME_STATE:
		return take_report(supervisor, body);
	case FRAME_OMITS:
		return take_omissions(supervisor, body);
	case FRAME_BUFFERS:
		return take_buffers(supervisor, body);
	case FRAME_LEFT_OUT:
		return take_culprit(supervisor, body);
	case FRAME_MISUSE:
		return take_misuse(supervisor, body);
	case FRAME_WELL:
		crash_suspects_well(supervisor->suspects, unpack_u64(body));
		return !body->failed;
	case FRAME_SNAPPED:
		return take_snapped(supervisor, body);
	case FRAME_ENDED:
		return take_ended(supervisor);
	case FRAME_FINISHED:
		if (!supervisor->ended)
			return supervisor->left;
		supervisor->finished = true;
		supervisor->nothing_left = unpack_u8(body) != 0;
		return !body->failed;
	default:
		return false;
	}
}

bool receive_frames(struct supervisor *supervisor)
{
	struct channel *channel = &supervisor->channel;
	struct unpacker body;
	enum frame_type type;

	while (channel_next(channel, &type, &body))
		if (!take_frame(supervisor, type, &body))
			return false;
	if (supervisor->save) /* once, however often it was asked for */
		checkpoint_write(supervisor->options.checkpoint, false);
	supervisor->save = false;
	return !channel->wrong;
}
