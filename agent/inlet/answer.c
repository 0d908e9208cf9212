/* SPDX-License-Identifier: BSD-2-Clause */
/* What each call is answered: inner.h. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/sanitize.h"
#include "core/via.h"
#include "inlet/inner.h"

/* fb303's states of a service. */
enum { FB_ALIVE = 2, FB_STOPPING = 3, FB_WARNING = 5 };

/* Calls that are under way at a connection: at its end the group's part of them goes, too. */
void call_free(struct call *call)
{
	group_forget_call(call);
	buffer_free(&call->reply);
	g_free(call);
}

static struct call *make_call(struct connection *connection, const struct scribecall *from)
{
	struct call *call = g_new0(struct call, 1);

	call->connection = connection;
	call->wants_reply = from->wants_reply;
	call->messages = from->count;
	scribecall_identify(from, connection->speech == SPEECH_FRAMED, &call->id);
	*connection->last = call;
	connection->last = &call->next;
	connection->calls++;
	return call;
}

void answer_log(struct call *call, enum answer answer)
{
	if (call->wants_reply)
		scribecall_put_number(&call->reply, &call->id, TBINARY_I32, answer);
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

static void answer_counters(struct call *call)
{
	struct scribecall_counter list[G_N_ELEMENTS(counters)];
	struct ledger rows;

	ledger_read(&rows);
	for (size_t i = 0; i < G_N_ELEMENTS(counters); i++)
		list[i] = (struct scribecall_counter){counters[i].name, rows.row[counters[i].row]};
	scribecall_put_counters(&call->reply, &call->id, list, G_N_ELEMENTS(list));
}

static void answer_counter(struct call *call, const struct scribecall *from)
{
	struct ledger rows;
	int64_t value = 0;

	ledger_read(&rows);
	for (size_t i = 0; i < G_N_ELEMENTS(counters); i++)
		if (from->key && from->key_size == strlen(counters[i].name) &&
			memcmp(from->key, counters[i].name, from->key_size) == 0)
			value = rows.row[counters[i].row];
	scribecall_put_number(&call->reply, &call->id, TBINARY_I64, value);
}

static void refuse(struct call *call)
{
	char words[64];

	words_copy(words, sizeof(words), (const uint8_t *)call->id.method, strlen(call->id.method));
	inlet_say(call->connection->inlet, SAY_FOREIGN_CALL, "%s: refused its call of %s()",
		call->connection->peer, words);
	scribecall_put_exception(&call->reply, &call->id, SCRIBECALL_INTERNAL_ERROR,
		"refused: an agent is not stopped or set up by its senders");
}

static void answer_question(struct inlet *inlet, struct call *call, const struct scribecall *from)
{
	switch (from->method) {
	case SCRIBECALL_GET_NAME:
		scribecall_put_text(&call->reply, &call->id, "blkin-agent");
		break;
	case SCRIBECALL_GET_VERSION:
		scribecall_put_text(&call->reply, &call->id, BLKIN_VERSION);
		break;
	case SCRIBECALL_GET_STATUS:
		scribecall_put_number(&call->reply, &call->id, TBINARY_I32, answer_status(inlet));
		break;
	case SCRIBECALL_GET_STATUS_DETAILS:
		scribecall_put_text(&call->reply, &call->id, status_words(answer_status(inlet)));
		break;
	case SCRIBECALL_GET_COUNTERS:
		answer_counters(call);
		break;
	case SCRIBECALL_GET_COUNTER:
		answer_counter(call, from);
		break;
	case SCRIBECALL_GET_OPTION:
		scribecall_put_text(&call->reply, &call->id, "");
		break;
	case SCRIBECALL_GET_OPTIONS:
		scribecall_put_options(&call->reply, &call->id);
		break;
	case SCRIBECALL_ALIVE_SINCE:
		scribecall_put_number(&call->reply, &call->id, TBINARY_I64, inlet->began);
		break;
	case SCRIBECALL_REFUSED:
		refuse(call);
		break;
	default:
		scribecall_put_exception(
			&call->reply, &call->id, SCRIBECALL_UNKNOWN_METHOD, "unknown method");
	}
	if (!call->wants_reply)
		call->reply.size = 0;
	connection_flush(call->connection);
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

static void tell_loop(struct inlet *inlet, const struct connection *connection, uint32_t count, uint32_t of)
{
	pthread_mutex_lock(&inlet->lock);
	inlet->state.looped = clock_monotonic();
	g_strlcpy(inlet->state.loop_peer, connection->peer, sizeof(inlet->state.loop_peer));
	pthread_mutex_unlock(&inlet->lock);
	inlet_say(inlet, SAY_LOOP,
		"%s: %u of %u messages of its call have come through this agent before: outputs and inlets "
		"go "
		"in a circle. The call is told to try later, until one of the agents delivers elsewhere",
		connection->peer, count, of);
}

/* Half of the memory is for calls that wait; messages get half of that, so that some is left for spans. */
static bool may_hold(const struct inlet *inlet, const struct weight *weight, size_t limit)
{
	size_t held = weight_sum(&inlet->held), messages = inlet->held.of[KIND_MESSAGES];

	return (!held || held + weight_sum(weight) <= limit / 2) &&
	       (!weight->of[KIND_MESSAGES] || !messages || messages + weight->of[KIND_MESSAGES] <= limit / 4);
}

/* Whether the outputs have room for that, and for what is open. */
static bool are_admitted(const struct inlet *inlet, const struct weight *weight, bool safe)
{
	for (int kind = 0; kind < KINDS; kind++) {
		size_t bytes = weight->of[kind];

		for (size_t i = 0; i < G_N_ELEMENTS(inlet->open) && weight->of[kind]; i++)
			bytes += inlet->open[i] ? inlet->open[i]->weight.of[kind] : 0;
		if (bytes && !fanout_admits(inlet->fanout, kind, bytes, safe))
			return false;
	}
	return true;
}

static void take_up_outlets(struct inlet *inlet)
{
	if (fanout_waits(inlet->fanout))
		fanout_hand(inlet->fanout, &(struct ledger){0}, NULL, clock_monotonic(), false);
}

static bool has_room(struct inlet *inlet, const struct weight *weight)
{
	struct inlet_limits limits = inlet_limits(inlet);
	bool room = may_hold(inlet, weight, limits.bytes) && !inlet->quiet &&
		    are_admitted(inlet, weight, limits.safe);

	pthread_mutex_lock(&inlet->lock);
	inlet->state.putting_off = !room;
	pthread_mutex_unlock(&inlet->lock);
	return room;
}

static void put_off(struct call *call, enum ledger_row also)
{
	struct ledger change = {0};

	change.row[MESSAGES_RECEIVED] = change.row[MESSAGES_PUT_OFF] = call->messages;
	if (also != MESSAGES_PUT_OFF)
		change.row[also] = 1;
	ledger_post(&change);
	answer_log(call, ANSWER_TRY_LATER);
}

static void enter(struct ledger *change, const struct messages *messages)
{
	static const enum ledger_row rows[] = {
		[REFUSED_CATEGORY] = MESSAGES_REFUSED_CATEGORY,
		[REFUSED_MALFORMED] = MESSAGES_REFUSED_MALFORMED,
		[REFUSED_ID] = MESSAGES_REFUSED_ID,
		[REFUSED_OVERSIZE] = MESSAGES_REFUSED_OVERSIZE,
	};

	change->row[MESSAGES_RECEIVED] += messages->taken;
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		change->row[MESSAGES_RECEIVED] += messages->refused[i];
		change->row[rows[i]] += messages->refused[i];
	}
}

/* What is good is taken; a call of which nothing is, is refused, so that its sender sees it. */
static void take(struct inlet *inlet, struct call *call, struct scribecall *from, const struct weight *weight)
{
	struct group *group = group_open(inlet, weight);
	struct messages messages;
	struct ledger change = {0};

	messages_take(inlet, group, from, &messages);
	if (*messages.why)
		inlet_say(inlet, SAY_REFUSED + messages.reason, "%s: refused %u of %u messages: %s",
			call->connection->peer, call->messages - messages.taken, call->messages,
			messages.why);
	enter(messages.taken ? &group->change : &change, &messages);
	if (messages.taken) {
		group_add(group, call, weight);
		return;
	}
	ledger_post(&change);
	if (call->wants_reply)
		scribecall_put_exception(&call->reply, &call->id, SCRIBECALL_INTERNAL_ERROR, messages.why);
	connection_flush(call->connection);
}

bool answer_call(struct connection *connection, const uint8_t *data, size_t size, char *why, size_t why_size)
{
	struct inlet *inlet = connection->inlet;
	struct scribecall from;
	struct weight weight;
	struct call *call;
	uint32_t round;

	if (!scribecall_read(&from, data, size, why, why_size))
		return false;
	call = make_call(connection, &from);
	connection->served |= from.count > 0;
	if (from.method != SCRIBECALL_LOG) {
		answer_question(inlet, call, &from);
	} else if (!from.count) {
		answer_log(call, ANSWER_OK);
	} else if (!crowd_promote(connection)) {
		put_off(call, MESSAGES_PUT_OFF);
	} else if ((round = messages_come_round(inlet, &from)) > 0) {
		tell_loop(inlet, connection, round, from.count);
		put_off(call, INPUT_CALLS_LOOPED);
	} else {
		take_up_outlets(inlet);
		weight = messages_weigh(inlet, &from, size);
		if (!has_room(inlet, &weight)) {
			put_off(call, MESSAGES_PUT_OFF);
		} else {
			note_via(&from);
			take(inlet, call, &from, &weight);
		}
	}
	return true;
}
