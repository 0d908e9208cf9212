/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/decode/intake.h"

#include <babeltrace2/babeltrace.h>
#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/ledger.h"
#include "reader/decode/decoder.h"
#include "reader/decode/foreign.h"
#include "reader/decode/streamkey.h"
#include "reader/decode/thread.h"

/* After so many attempts a stream's packets are not looked up any more: there may be no index. */
#define TRIES 8
/* Packets that are missing are logged once in this time. */
#define TELL_NS (60 * NS_PER_SECOND)

/* A stream of this reader. */
struct stream {
	const bt_stream *stream;   /* owned */
	struct position *position; /* borrowed; NULL if positions are not kept */
	bool monotonic;            /* its clock is CLOCK_MONOTONIC */
	uint32_t user;             /* whose programs' events it has */
	bool begun;                /* had a packet */
	bool mine;                 /* the packet at its position began with this reader */
	unsigned tries;            /* to locate it */
	bool located;              /* what follows is exact */
	uint64_t sequence;         /* of this packet */
	uint64_t discarded;        /* events, in all, up to this packet */
	uint64_t missing;          /* packets before this one that babeltrace2 reported as missing */
	uint64_t skip;             /* events of this packet that are done already */
	/* of the kernel's, without positions: */
	uint64_t gap;      /* so many events are missing behind this packet's last one, */
	int64_t gap_until; /* up to then, ns since the epoch */
};

struct intake {
	struct intake_options options;
	struct event_decoder *decoder;
	struct foreign *foreign;
	bool threads;        /* the pipeline is to know which thread has recorded a span */
	GHashTable *streams; /* by bt_stream; of struct stream, owned */
	GHashTable *traces;  /* stream_key_trace of each */
	struct stream *last;
	int64_t now;                   /* the line's clock */
	unsigned streams_begun, ended; /* that have begun, and come to their end */
};

static void stream_destroy(void *data)
{
	struct stream *stream = data;

	bt_stream_put_ref(stream->stream);
	g_free(stream);
}

struct intake *intake_create(const struct intake_options *options)
{
	struct intake *intake = g_new0(struct intake, 1);

	intake->options = *options;
	intake->decoder = event_decoder_create();
	intake->foreign = foreign_create(options->pipeline, options->events);
	intake->threads = pipeline_pairing(options->pipeline) != NULL;
	intake->streams = g_hash_table_new_full(NULL, NULL, NULL, stream_destroy);
	intake->traces = g_hash_table_new(NULL, NULL);
	intake->now = options->by_event_time ? 0 : clock_monotonic();
	return intake;
}

void intake_destroy(struct intake *intake)
{
	g_hash_table_destroy(intake->streams);
	g_hash_table_destroy(intake->traces);
	event_decoder_destroy(intake->decoder);
	foreign_destroy(intake->foreign);
	g_free(intake);
}

unsigned intake_streams(const struct intake *intake)
{
	return intake->streams_begun;
}

unsigned intake_ended_streams(const struct intake *intake)
{
	return intake->ended;
}

unsigned intake_traces(const struct intake *intake)
{
	return g_hash_table_size(intake->traces);
}

bool intake_has_trace(const struct intake *intake, const struct stream_key *key)
{
	return g_hash_table_contains(intake->traces, GSIZE_TO_POINTER(stream_key_trace(key)));
}

/* Streams */

static struct stream *find_stream(struct intake *intake, const bt_stream *of)
{
	struct stream *stream = intake->last;

	if (stream && stream->stream == of)
		return stream;
	stream = g_hash_table_lookup(intake->streams, of);
	if (!stream) {
		struct stream_key key = stream_key_of(of);

		stream = g_new0(struct stream, 1);
		bt_stream_get_ref(of);
		stream->stream = of;
		stream->monotonic = stream_is_monotonic(of);
		stream->user = (uint32_t)key.user;
		if (intake->options.positions)
			stream->position = positions_get(intake->options.positions, &key);
		g_hash_table_insert(intake->streams, (gpointer)(uintptr_t)of, stream);
		g_hash_table_add(intake->traces, GSIZE_TO_POINTER(stream_key_trace(&key)));
	}
	intake->last = stream;
	return stream;
}

/* Losses */

/* Whether to log a loss. A program can cause them as often as it likes (with a clock that goes back, say),
 * and each is counted anyway. */
static bool may_tell(void)
{
	static int64_t next;
	int64_t now = clock_monotonic();

	if (now < next)
		return false;
	next = now + TELL_NS;
	return true;
}

static void tell_lost_packets(
	const struct stream *stream, const struct position *position, uint64_t count, double seconds)
{
	if (!position->done.started)
		log_warning("the first %" G_GUINT64_FORMAT " packets of user %" G_GUINT64_FORMAT
			    ", CPU %" G_GUINT64_FORMAT
			    ", are lost: the relay overwrote them before they were read (raise `disk` in "
			    "[session])",
			count, position->key.user, position->key.id);
	else if (stream->located)
		log_warning(
			"%" G_GUINT64_FORMAT " packets of user %" G_GUINT64_FORMAT ", CPU %" G_GUINT64_FORMAT
			", are lost, covering %.3f s: the relay overwrote them before they were read (raise "
			"`disk` in [session])",
			count, position->key.user, position->key.id, seconds);
	else
		log_warning("packets of user %" G_GUINT64_FORMAT ", CPU %" G_GUINT64_FORMAT
			    ", covering %.3f s, may be lost: only the relay's index could tell how many (see "
			    "`relay-output` in [session]); %" G_GUINT64_FORMAT " is counted",
			position->key.user, position->key.id, seconds, count);
}

static void lose_packets(struct intake *intake, const struct stream *stream, uint64_t count, uint64_t until)
{
	const struct position *position = stream->position;

	pipeline_lost_packets(intake->options.pipeline, count, stream->user == KERNEL_USER);
	if (may_tell())
		tell_lost_packets(stream, position, count,
			((double)until - (double)position->done.begin) / NS_PER_SECOND);
}

/* LTTng discarded so many events of the stream in all: what was not counted yet is lost. */
static void lose_events(struct intake *intake, struct stream *stream)
{
	struct position *position = stream->position;

	if (stream->discarded <= position->discarded)
		return;
	pipeline_lost_events(intake->options.pipeline,
		ledger_credible(stream->discarded - position->discarded), stream->user == KERNEL_USER);
	position->discarded = stream->discarded;
}

/*
 * Finds out which packet of the stream this is. babeltrace2 does not say what was before a reader's first
 * packet; the index does, and so does the position if it is at this packet.
 */
static void locate(struct intake *intake, struct stream *stream, uint64_t begin)
{
	const struct intake_options *options = &intake->options;
	const struct stream_point *done = &stream->position->done;
	struct packet_info info;

	stream->sequence += stream->begun + stream->missing;
	stream->begun = true;
	if (stream->located)
		return;
	if (options->locate && stream->tries++ < TRIES &&
		options->locate(options->data, &stream->position->key, begin, &info)) {
		stream->located = true;
		stream->sequence = info.sequence;
		stream->discarded = info.discarded;
	} else if (done->started && begin == done->begin) {
		stream->located = true;
		stream->sequence = done->sequence;
		stream->discarded = stream->position->discarded;
	} else if (stream->discarded && done->started) {
		stream->discarded =
			stream->position->discarded; /* all that is known is that there were some */
	}
}

/* Begins a packet that is not done, and counts what is missing before it. */
static void begin_new(struct intake *intake, struct stream *stream, uint64_t begin)
{
	struct stream_point *done = &stream->position->done;
	uint64_t next = done->started ? done->sequence + 1 : 0, missing = stream->missing;
	uint64_t lost;

	if (stream->located)
		missing = stream->sequence > next ? stream->sequence - next : 0;
	/* a packet that was not read to its end, and does not come again, is lost too */
	lost = ledger_credible(missing) + (done->started && !done->ended);
	/* this reader's first, and it is not known what was before it */
	if (!stream->located && !stream->mine && done->started)
		lost = MAX(lost, 1);
	if (lost)
		lose_packets(intake, stream, lost, begin);
	*done = (struct stream_point){.started = true, .begin = begin, .sequence = next + missing};
	stream->mine = true;
	stream->skip = 0;
}

/* When the loss is over; unknown: at once. */
static int64_t end_of_loss(const bt_clock_snapshot *end)
{
	int64_t time = INT64_MIN;

	if (end && bt_clock_snapshot_get_ns_from_origin(end, &time) !=
			   BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK)
		bt_current_thread_clear_error();
	return time;
}

/*
 * LTTng counts what it discards in the packet that it then closes, as a full ring buffer closes none: so it
 * is missing behind that packet's last event, though babeltrace2 tells it before the first one.
 */
static void note_gap(struct stream *stream, const bt_message *message, uint64_t count)
{
	const bt_stream_class *class = bt_stream_borrow_class_const(stream->stream);
	bool dated = bt_stream_class_discarded_events_have_default_clock_snapshots(class);

	stream->gap += count;
	stream->gap_until = end_of_loss(
		dated ? bt_message_discarded_events_borrow_end_default_clock_snapshot_const(message) : NULL);
}

static void tell_gap(struct intake *intake, struct stream *stream)
{
	if (!stream->gap)
		return;
	pipeline_lost_events(intake->options.pipeline, ledger_credible(stream->gap), true);
	pipeline_kernel_gap(intake->options.pipeline, stream->gap_until);
	stream->gap = 0;
}

/* Messages */

/* 0 where the trace does not say it: LTTng's do. */
static uint64_t begin_of(const bt_message *message, const bt_stream *stream)
{
	const bt_stream_class *class = bt_stream_borrow_class_const(stream);

	if (!bt_stream_class_packets_have_beginning_default_clock_snapshot(class))
		return 0;
	return bt_clock_snapshot_get_value(
		bt_message_packet_beginning_borrow_default_clock_snapshot_const(message));
}

static void begin_packet(struct intake *intake, const bt_message *message)
{
	const bt_packet *packet = bt_message_packet_beginning_borrow_packet_const(message);
	struct stream *stream = find_stream(intake, bt_packet_borrow_stream_const(packet));
	enum packet_state state;
	const struct stream_point *done;
	uint64_t begin;

	if (!stream->position)
		return;
	done = &stream->position->done;
	begin = begin_of(message, stream->stream);
	locate(intake, stream, begin);
	lose_events(intake, stream);
	state = stream_point_packet(done, begin);
	if (stream->mine && begin == done->begin)
		state = PACKET_NEW; /* another one that begins at the same moment */
	if (state == PACKET_NEW)
		begin_new(intake, stream, begin);
	else
		stream->skip = state == PACKET_DONE ? UINT64_MAX : done->events;
	stream->missing = 0;
}

static void end_packet(struct intake *intake, const bt_message *message)
{
	const bt_packet *packet = bt_message_packet_end_borrow_packet_const(message);
	struct stream *stream = find_stream(intake, bt_packet_borrow_stream_const(packet));

	tell_gap(intake, stream);
	if (!stream->position || stream->skip == UINT64_MAX)
		return;
	stream->position->done.ended = true;
	positions_moved(intake->options.positions);
}

/* Whether the next event of the stream is new; @again: but was read before. Then it counts as done. */
static bool pass(struct stream *stream, bool *again)
{
	struct position *position = stream->position;

	if (stream->skip) {
		if (stream->skip != UINT64_MAX)
			stream->skip--;
		return false;
	}
	if (position->before.started) {
		*again = stream_point_is_before(&position->done, &position->before);
		position->before.started = *again;
	}
	position->done.events++;
	return true;
}

/* Whether the session before this one had it, too. What is recorded by another clock has none that tells. */
static bool is_copy(struct intake *intake, const struct stream *stream, const bt_message *message)
{
	struct overlap *overlap = intake->options.overlap;

	if (!overlap || !stream->position || !stream->monotonic || !overlap_is_open(overlap))
		return false;
	return overlap_is_copy(overlap, &stream->position->key, message,
		bt_clock_snapshot_get_value(bt_message_event_borrow_default_clock_snapshot_const(message)));
}

/* Corrects the time of a decoded event, which then is known to others. */
static void complete(
	struct intake *intake, struct event *event, const bt_message *message, struct clock_steps *steps)
{
	const struct intake_options *options = &intake->options;

	if (steps)
		event->time = clock_steps_time(steps, (int64_t)event->clock, event->time);
	if (options->by_event_time && event->time > intake->now)
		intake->now = event->time;
	if (options->seen)
		options->seen(options->data, event, thread_of(message), processor_of(message));
}

/* The agent's own event is no program's: it is counted apart, and goes nowhere. */
static void take_canary(struct intake *intake, const struct event *event)
{
	pipeline_canary(intake->options.pipeline);
	if (intake->options.page)
		page_beat(intake->options.page, (uint64_t)event->number);
}

static void take_event(struct intake *intake, const bt_message *message)
{
	const struct intake_options *options = &intake->options;
	struct clock_steps *steps;
	struct stream *stream = NULL;
	struct event *event;
	bool again = false;

	if (options->positions) {
		stream = find_stream(
			intake, bt_event_borrow_stream_const(bt_message_event_borrow_event_const(message)));
		if (stream->position && !pass(stream, &again))
			return;
		if (is_copy(intake, stream, message))
			return;
	}
	event = event_decode(intake->decoder, message);
	if (event->type == EVENT_CANARY) {
		take_canary(intake, event);
		return;
	}
	if (again)
		pipeline_event_again(options->pipeline);
	steps = stream && stream->monotonic ? options->steps : NULL;
	event->has_user = stream && stream->user != KERNEL_USER;
	event->user = event->has_user ? stream->user : 0;
	if (event->type == EVENT_FOREIGN && foreign_take(intake->foreign, message, event, steps, intake->now))
		return;
	if (intake->threads)
		pipeline_thread(options->pipeline, event->type == EVENT_SPAN ? thread_of(message) : -1);
	if (event->type != EVENT_FOREIGN && event->type != EVENT_MALFORMED)
		complete(intake, event, message, steps);
	pipeline_event(options->pipeline, event, intake->now);
}

static void take_discarded_events(struct intake *intake, const bt_message *message)
{
	struct stream *stream = find_stream(intake, bt_message_discarded_events_borrow_stream_const(message));
	uint64_t count;

	/* of a stream's first packet there is no number: some, but perhaps long before */
	if (bt_message_discarded_events_get_count(message, &count) != BT_PROPERTY_AVAILABILITY_AVAILABLE)
		count = stream->position ? 1 : 0;
	stream->discarded += count;
	if (!stream->position && stream->user == KERNEL_USER)
		note_gap(stream, message, count);
	else if (!stream->position)
		pipeline_lost_events(intake->options.pipeline, ledger_credible(count), false);
	else if (stream->begun)
		lose_events(intake, stream);
}

static int64_t end_of_missing(const struct stream *stream, const bt_message *message)
{
	const bt_stream_class *class = bt_stream_borrow_class_const(stream->stream);

	if (!bt_stream_class_discarded_packets_have_default_clock_snapshots(class))
		return INT64_MIN;
	return end_of_loss(bt_message_discarded_packets_borrow_end_default_clock_snapshot_const(message));
}

static void take_discarded_packets(struct intake *intake, const bt_message *message)
{
	struct stream *stream =
		find_stream(intake, bt_message_discarded_packets_borrow_stream_const(message));
	uint64_t count = 1;

	bt_message_discarded_packets_get_count(message, &count);
	stream->missing += count; /* counted once it is known whether they are new */
	if (stream->position)
		return;
	pipeline_lost_packets(intake->options.pipeline, ledger_credible(count), stream->user == KERNEL_USER);
	if (stream->user == KERNEL_USER)
		pipeline_kernel_gap(intake->options.pipeline, end_of_missing(stream, message));
}

/* The stream that is behind all others has nothing up to a moment. */
static void take_idleness(struct intake *intake, const bt_message *message)
{
	if (intake->options.heard)
		*intake->options.heard = bt_clock_snapshot_get_value(
			bt_message_message_iterator_inactivity_borrow_clock_snapshot_const(message));
}

void intake_message(struct intake *intake, const bt_message *message)
{
	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_EVENT:
		take_event(intake, message);
		break;
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		begin_packet(intake, message);
		break;
	case BT_MESSAGE_TYPE_PACKET_END:
		end_packet(intake, message);
		break;
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		intake->streams_begun++;
		break;
	case BT_MESSAGE_TYPE_STREAM_END:
		intake->ended++;
		break;
	case BT_MESSAGE_TYPE_MESSAGE_ITERATOR_INACTIVITY:
		take_idleness(intake, message);
		break;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		take_discarded_events(intake, message);
		break;
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		take_discarded_packets(intake, message);
		break;
	default:
		break;
	}
}

void intake_tick(struct intake *intake, bool idle)
{
	if (!intake->options.by_event_time)
		intake->now = clock_monotonic();
	pipeline_tick(intake->options.pipeline, intake->now, idle);
}
