/* SPDX-License-Identifier: BSD-2-Clause */
/* What each call is answered: scribe.h. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/sanitize.h"
#include "core/via.h"
#include "inlet/scribe/scribe.h"

/* fb303's states of a service. */
enum { FB_ALIVE = 2, FB_STOPPING = 3, FB_WARNING = 5 };

static struct scribe_call *begin(struct connection *connection, const struct scribecall *from)
{
	const struct scribe_speech *speech = connection->own;
	struct scribe_call *call = call_begin(connection, sizeof(*call), from->count, from->wants_reply);

	scribecall_identify(from, speech->kind == SPEECH_FRAMED, &call->id);
	call->shares = from->share != 0;
	call->replayed = from->replayed;
	call->hears = from->hears;
	return call;
}

void scribe_answer(struct call *call, enum answer answer)
{
	const struct scribe_call *its = (const struct scribe_call *)call;
	const struct fanout *fanout = call->connection->inlet->fanout;
	struct trace_id ids[WANTED_TOLD_MAX];
	struct scribecall_terms terms = {0};

	if (its->hears && call->wants_reply)
		asked_tell(call->connection, &terms, ids);
	if (its->shares)
		terms.share = fanout_offer(fanout, &terms.shares);
	if (its->replayed)
		terms.grant = fanout_grant(fanout);
	if (call->wants_reply)
		scribecall_put_result(&call->reply, &its->id, answer, &terms);
	connection_flush(call->connection);
}

/* fb303 */

static int answer_status(struct inlet *inlet)
{
	bool putting_off;

	pthread_mutex_lock(&inlet->lock);
	putting_off = inlet->state.putting_off;
	pthread_mutex_unlock(&inlet->lock);
	return inlet->quiet ? FB_STOPPING : putting_off ? FB_WARNING : FB_ALIVE;
}

static const char *status_words(int status)
{
	return status == FB_STOPPING ? "stopping"
	       : status == FB_WARNING
		       ? "senders are told to try later: the outputs' queues or spools have no room"
		       : "taking spans";
}

static const struct {
	const char *name;
	enum ledger_row row;
} counters[] = {
	{"messages", MESSAGES_RECEIVED},
	{"messages_taken", MESSAGES_TAKEN},
	{"messages_put_off", MESSAGES_PUT_OFF},
	{"messages_refused_category", MESSAGES_REFUSED_CATEGORY},
	{"messages_refused_malformed", MESSAGES_REFUSED_MALFORMED},
	{"messages_refused_id", MESSAGES_REFUSED_ID},
	{"messages_refused_oversize", MESSAGES_REFUSED_OVERSIZE},
	{"spans", SPANS_RECEIVED},
};

static void answer_counters(struct scribe_call *call)
{
	struct scribecall_counter list[G_N_ELEMENTS(counters)];
	struct ledger rows;

	ledger_read(&rows);
	for (size_t i = 0; i < G_N_ELEMENTS(counters); i++)
		list[i] = (struct scribecall_counter){counters[i].name, rows.row[counters[i].row]};
	scribecall_put_counters(&call->call.reply, &call->id, list, G_N_ELEMENTS(list));
}

static void answer_counter(struct scribe_call *call, const struct scribecall *from)
{
	struct ledger rows;
	int64_t value = 0;

	ledger_read(&rows);
	for (size_t i = 0; i < G_N_ELEMENTS(counters); i++)
		if (from->key && from->key_size == strlen(counters[i].name) &&
			memcmp(from->key, counters[i].name, from->key_size) == 0)
			value = rows.row[counters[i].row];
	scribecall_put_number(&call->call.reply, &call->id, TBINARY_I64, value);
}

static void refuse(struct scribe_call *call)
{
	char words[64];

	words_copy(words, sizeof(words), (const uint8_t *)call->id.method, strlen(call->id.method));
	inlet_say(call->call.connection->inlet, SAY_FOREIGN_CALL, "%s: refused its call of %s()",
		call->call.connection->peer, words);
	scribecall_put_exception(&call->call.reply, &call->id, SCRIBECALL_INTERNAL_ERROR,
		"refused: an agent is not stopped or set up by its senders");
}

static void answer_question(struct inlet *inlet, struct scribe_call *call, const struct scribecall *from)
{
	switch (from->method) {
	case SCRIBECALL_GET_NAME:
		scribecall_put_text(&call->call.reply, &call->id, "blkin-agent");
		break;
	case SCRIBECALL_GET_VERSION:
		scribecall_put_text(&call->call.reply, &call->id, BLKIN_VERSION);
		break;
	case SCRIBECALL_GET_STATUS:
		scribecall_put_number(&call->call.reply, &call->id, TBINARY_I32, answer_status(inlet));
		break;
	case SCRIBECALL_GET_STATUS_DETAILS:
		scribecall_put_text(&call->call.reply, &call->id, status_words(answer_status(inlet)));
		break;
	case SCRIBECALL_GET_COUNTERS:
		answer_counters(call);
		break;
	case SCRIBECALL_GET_COUNTER:
		answer_counter(call, from);
		break;
	case SCRIBECALL_GET_OPTION:
		scribecall_put_text(&call->call.reply, &call->id, "");
		break;
	case SCRIBECALL_GET_OPTIONS:
		scribecall_put_options(&call->call.reply, &call->id);
		break;
	case SCRIBECALL_ALIVE_SINCE:
		scribecall_put_number(&call->call.reply, &call->id, TBINARY_I64, inlet->began);
		break;
	case SCRIBECALL_REFUSED:
		refuse(call);
		break;
	default:
		scribecall_put_exception(
			&call->call.reply, &call->id, SCRIBECALL_UNKNOWN_METHOD, "unknown method");
	}
	if (!call->call.wants_reply)
		call->call.reply.size = 0;
	connection_flush(call->call.connection);
}

/* Log() */

static uint64_t via_at(const struct scribecall *call, uint32_t index)
{
	uint64_t number = 0;

	for (int i = 0; i < 8; i++)
		number = number << 8 | call->via[8 * index + (uint32_t)i];
	return number;
}

/* For agents of before trails, who know circles by these numbers; nothing else depends on them, as anybody
 * may tell any. */
static void note_via(const struct scribecall *call)
{
	int64_t now = clock_monotonic();

	for (uint32_t i = 0; i < call->via_count; i++)
		via_note(via_at(call, i), now);
}

/* What is good is taken; a call of which nothing is, is refused, so that its sender sees it. */
static void take(struct scribe_call *call, struct scribecall *from, const struct weight *weight)
{
	const struct connection *connection = call->call.connection;
	struct scribe_speech *speech = connection->own;
	struct fanout *fanout = connection->inlet->fanout;
	struct group *group = group_open(connection, weight);
	struct taken taken;

	messages_take(connection, group, from, &taken);
	if (from->share)
		fanout_tell(fanout, taken.taken, from->share);
	if (from->replayed)
		fanout_replay(fanout, taken.taken, &speech->turn, clock_monotonic());
	if (call_enter(&call->call, group, weight, &taken))
		return;
	if (call->call.wants_reply)
		scribecall_put_exception(&call->call.reply, &call->id, SCRIBECALL_INTERNAL_ERROR, taken.why);
	connection_flush(call->call.connection);
}

/* Of no messages: it may ask, or name traces. */
static void answer_nothing(struct scribe_call *call, const struct scribecall *from)
{
	if (from->hears)
		asked_hear(call->call.connection, from);
	scribe_answer(&call->call, ANSWER_OK);
}

/* Of messages that are spans, or others. */
static void log_messages(struct scribe_call *call, struct scribecall *from, size_t size)
{
	struct connection *connection = call->call.connection;
	struct inlet *inlet = connection->inlet;
	struct weight weight;
	uint32_t round;

	if (!limits_promote(connection)) {
		/* the answer says so: it is not told again */
		if (from->hears)
			asked_hear(connection, from);
		call_put_off(&call->call, MESSAGES_PUT_OFF);
	} else if ((round = messages_come_round(inlet, from)) > 0) {
		call_tell_loop(&call->call, round, from->count);
		call_put_off(&call->call, INPUT_CALLS_LOOPED);
	} else {
		/* also if they have to wait */
		if (from->hears)
			asked_hear(connection, from);
		call_take_up_outlets(inlet);
		weight = messages_weigh(inlet, from, size);
		if (!call_has_room(inlet, &weight)) {
			call_put_off(&call->call, MESSAGES_PUT_OFF);
		} else {
			note_via(from);
			take(call, from, &weight);
		}
	}
}

bool scribe_take_call(
	struct connection *connection, const uint8_t *data, size_t size, char *why, size_t why_size)
{
	struct scribecall from;
	struct scribe_call *call;

	if (!scribecall_read(&from, data, size, why, why_size))
		return false;
	call = begin(connection, &from);
	if (from.method != SCRIBECALL_LOG)
		answer_question(connection->inlet, call, &from);
	else if (!from.count)
		answer_nothing(call, &from);
	else
		log_messages(call, &from, size);
	return true;
}
