/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls, whatever protocol they come by: inner.h. */
#include "base/clock.h"
#include "inlet/inner.h"

void *call_begin(struct connection *connection, size_t size, uint32_t messages, bool wants_reply)
{
	struct call *call = g_malloc0(size);

	call->connection = connection;
	call->messages = messages;
	call->wants_reply = wants_reply;
	*connection->last = call;
	connection->last = &call->next;
	connection->calls++;
	connection->calls_begun++;
	connection->served |= messages > 0;
	return call;
}

/* Calls that are under way at a connection: at its end the group's part of them goes, too. */
void call_free(struct call *call)
{
	group_forget_call(call);
	buffer_free(&call->reply);
	g_free(call);
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

void call_take_up_outlets(struct inlet *inlet)
{
	if (fanout_waits(inlet->fanout))
		fanout_hand(inlet->fanout, &(struct ledger){0}, NULL, clock_monotonic(), false);
}

bool call_has_room(struct inlet *inlet, const struct weight *weight)
{
	struct inlet_limits limits = inlet_limits(inlet);
	bool room = may_hold(inlet, weight, limits.bytes) && !inlet->quiet &&
		    are_admitted(inlet, weight, limits.safe);

	pthread_mutex_lock(&inlet->lock);
	inlet->state.putting_off = !room;
	pthread_mutex_unlock(&inlet->lock);
	return room;
}

void call_put_off(struct call *call, enum ledger_row also)
{
	struct ledger change = {0};

	change.row[MESSAGES_RECEIVED] = change.row[MESSAGES_PUT_OFF] = call->messages;
	if (also != MESSAGES_PUT_OFF)
		change.row[also] = 1;
	ledger_post(&change);
	call->connection->inlet->protocol->answer(call, ANSWER_TRY_LATER);
}

void call_tell_loop(const struct call *call, uint32_t count, uint32_t of)
{
	const struct connection *connection = call->connection;
	struct inlet *inlet = connection->inlet;

	pthread_mutex_lock(&inlet->lock);
	inlet->state.looped = clock_monotonic();
	g_strlcpy(inlet->state.loop_peer, connection->peer, sizeof(inlet->state.loop_peer));
	pthread_mutex_unlock(&inlet->lock);
	inlet_say(inlet, SAY_LOOP,
		"%s: %u of %u messages of its call have come through this agent before: outputs and inlets "
		"go in a circle. The call is told to try later, until one of the agents delivers elsewhere",
		connection->peer, count, of);
}

void call_tell_again(const struct call *call, uint32_t count)
{
	const struct connection *connection = call->connection;
	struct inlet *inlet = connection->inlet;

	pthread_mutex_lock(&inlet->lock);
	inlet->state.again = clock_monotonic();
	g_strlcpy(inlet->state.again_peer, connection->peer, sizeof(inlet->state.again_peer));
	pthread_mutex_unlock(&inlet->lock);
	inlet_say(inlet, SAY_LOOP,
		"%s: %u spans of its call have been taken here several times in half a minute, and are taken "
		"again: they may go in "
		"a circle, through a server that is none of ours",
		connection->peer, count);
}

static void count(struct ledger *change, const struct taken *taken)
{
	static const enum ledger_row rows[] = {
		[REFUSED_CATEGORY] = MESSAGES_REFUSED_CATEGORY,
		[REFUSED_MALFORMED] = MESSAGES_REFUSED_MALFORMED,
		[REFUSED_ID] = MESSAGES_REFUSED_ID,
		[REFUSED_OVERSIZE] = MESSAGES_REFUSED_OVERSIZE,
	};

	change->row[MESSAGES_RECEIVED] += taken->taken;
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		change->row[MESSAGES_RECEIVED] += taken->refused[i];
		change->row[rows[i]] += taken->refused[i];
	}
}

bool call_enter(
	struct call *call, struct group *group, const struct weight *weight, const struct taken *taken)
{
	struct ledger change = {0};

	if (*taken->why)
		inlet_say(call->connection->inlet, SAY_REFUSED + taken->reason,
			"%s: refused %u of %u messages: %s", call->connection->peer,
			call->messages - taken->taken, call->messages, taken->why);
	count(taken->taken ? &group->change : &change, taken);
	if (taken->taken) {
		group_add(group, call, weight);
		return true;
	}
	ledger_post(&change);
	group_give_up(call->connection->inlet, group);
	return false;
}
