/* SPDX-License-Identifier: BSD-2-Clause */
#include "spool/due.h"

#include <glib.h>

#include "base/clock.h"

/* How long the collector may be away before anything is stored: most failures are over at once. */
#define PATIENCE_NS (1 * NS_PER_SECOND)
/* How long batches wait for a commit. */
#define GROUP_NS (500 * NS_PER_MS)
/* The same of both while a place in the books waits for them: what the other outputs get until it holds is
 * delivered a second time if the agent is killed. */
#define MARKED_NS (50 * NS_PER_MS)

int64_t due_at(const struct backlog *backlog, int64_t stored_at)
{
	if (backlog->delivering || !backlog->waiting_bytes)
		return INT64_MAX;
	if (backlog->unsettled)
		return MAX(backlog->since, stored_at) + MARKED_NS;
	return MAX(backlog->since + PATIENCE_NS, stored_at + GROUP_NS);
}

size_t due_bytes(const struct backlog *backlog, int64_t stored_at, int64_t now)
{
	size_t waiting = backlog->waiting_bytes, limit = backlog->limit;

	if (!backlog->delivering && (waiting > limit / 8 || now >= due_at(backlog, stored_at)))
		return waiting;
	return waiting > limit / 2 ? waiting - limit * 3 / 8 : 0;
}
