/* SPDX-License-Identifier: BSD-2-Clause */
/* Bounds for all senders together, and for the patience with each: inner.h. */
#include "base/clock.h"
#include "inlet/inner.h"

/* A call may come slowly; but it is to be whole after so many times of silence. */
#define SLOW_TIMES 6

/* In the middle of a call; waiting for our answers is another matter. */
static bool is_unfinished(const struct connection *connection)
{
	return connection->begun && !connection->paused;
}

/* The one that nothing is going on at for longest. */
static struct connection *find_idle(struct inlet *inlet)
{
	struct connection *idle = NULL;

	for (GList *link = inlet->connections.head; link; link = link->next) {
		struct connection *each = link->data;

		if (!each->begun && !each->calls && (!idle || each->heard < idle->heard))
			idle = each;
	}
	return idle;
}

bool crowd_admits(struct inlet *inlet)
{
	struct inlet_limits limits = inlet_limits(inlet);
	struct connection *idle;

	if (inlet->connections.length < limits.connections)
		return true;
	idle = find_idle(inlet);
	inlet_say(inlet, SAY_CROWDED,
		"%u senders are connected, which is the most (`connections` in [input]): %s",
		inlet->connections.length,
		idle ? "the one that was idle longest is disconnected for a new one"
		     : "a new one is turned away");
	if (idle)
		connection_close(idle, INPUT_CLOSED_CROWDED);
	else
		ledger_add(INPUT_CLOSED_CROWDED, 1);
	return idle != NULL;
}

/* The one whose call is on its way for longest, and how many calls are. */
static struct connection *find_slowest(struct inlet *inlet, unsigned *count)
{
	struct connection *slowest = NULL;

	for (GList *link = inlet->connections.head; link; link = link->next) {
		struct connection *each = link->data;

		if (!is_unfinished(each))
			continue;
		(*count)++;
		if (!slowest || each->begun < slowest->begun)
			slowest = each;
	}
	return slowest;
}

bool crowd_grown(struct connection *connection)
{
	struct inlet *inlet = connection->inlet;
	size_t most = inlet_limits(inlet).bytes / 2;

	while (inlet->in_bytes > most && connection->in.room > 0) {
		unsigned count = 0;
		struct connection *slowest = find_slowest(inlet, &count);

		if (count < 2) /* a single call has its own bound */
			return true;
		inlet_say(inlet, SAY_CROWDED,
			"%s: connection closed: calls that are not whole take more memory than `memory` in "
			"[input] "
			"allows, and its is on its way for longest",
			slowest->peer);
		connection_close(slowest, INPUT_CLOSED_CROWDED);
		if (slowest == connection)
			return false;
	}
	return true;
}

static const char *why_silent(const struct connection *connection, int64_t now, int64_t timeout)
{
	if (connection->written && now - connection->written > timeout)
		return "it does not read its answers";
	if (!is_unfinished(connection))
		return NULL;
	if (now - connection->heard > timeout)
		return "it has not gone on in the middle of a call (`timeout` in [input])";
	if (now - connection->begun > SLOW_TIMES * timeout)
		return "a call takes it too long (six times `timeout` in [input])";
	return NULL;
}

void crowd_sweep(struct inlet *inlet)
{
	int64_t now = clock_monotonic(), timeout = inlet_limits(inlet).timeout_ns;

	for (GList *link = inlet->connections.head, *next; link; link = next) {
		struct connection *connection = link->data;
		const char *why = why_silent(connection, now, timeout);

		next = link->next;
		if (!why)
			continue;
		inlet_say(inlet, SAY_SILENT, "%s: connection closed: %s", connection->peer, why);
		connection_close(connection, INPUT_CLOSED_SILENT);
	}
}
