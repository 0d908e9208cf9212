/* SPDX-License-Identifier: BSD-2-Clause */
/* How long each sender may take: inner.h. */
#include "base/clock.h"
#include "inlet/inner.h"

/* A call may come slowly; but it is to be whole after so many times of silence, */
#define SLOW_TIMES 6
/* and, after one such time, to have come at this rate: a byte now and then is no progress. */
#define BYTES_PER_SECOND 1024
/* Who was told all reads it, and closes; or has to. */
#define LINGER_NS (2 * NS_PER_SECOND)
/* Who says nothing for so long keeps no memory. */
#define IDLE_NS (2 * NS_PER_SECOND)

/* In the middle of a call. Waiting for our answers is another matter. */
static bool is_unfinished(const struct connection *connection)
{
	return connection->begun && !connection->paused;
}

bool timeouts_is_stalled(const struct connection *connection, int64_t now, int64_t timeout)
{
	int64_t taken = now - connection->begun;
	uint64_t due = (uint64_t)(taken / (NS_PER_SECOND / BYTES_PER_SECOND));

	return is_unfinished(connection) && taken > timeout && connection->come < due;
}

/* What is wrong with it, and the row that it is counted in. */
static const char *find_fault(
	const struct connection *connection, int64_t now, int64_t timeout, enum ledger_row *row)
{
	*row = INPUT_CLOSED_SILENT;
	if (connection->written && now - connection->written > timeout)
		return "it does not read its answers";
	if (!is_unfinished(connection))
		return NULL;
	if (now - connection->heard > timeout)
		return "it has not gone on in the middle of a call (`timeout` in [input])";
	*row = INPUT_CLOSED_SLOW;
	if (timeouts_is_stalled(connection, now, timeout))
		return "its call comes at less than 1 KiB/s (for longer than `timeout` in [input])";
	if (now - connection->begun > SLOW_TIMES * timeout)
		return "a call takes it too long (six times `timeout` in [input])";
	return NULL;
}

void timeouts_sweep(struct inlet *inlet)
{
	int64_t now = clock_monotonic(), timeout = inlet_limits(inlet).timeout_ns;

	for (GList *link = inlet->connections.head, *next; link; link = next) {
		struct connection *connection = link->data;
		enum ledger_row row;
		const char *why = find_fault(connection, now, timeout, &row);

		next = link->next;
		if (why) {
			inlet_say(inlet, SAY_SILENT, "%s: connection closed: %s", connection->peer, why);
			connection_close(connection, row);
		} else if (limits_overstays(connection, now) ||
			   (connection->lingers && now - connection->lingers > LINGER_NS)) {
			connection_end(connection);
		} else if (now - connection->heard > IDLE_NS) {
			connection_rest(connection);
		}
	}
}
