/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/spool/due.h"

#include <glib.h>

#include "base/clock.h"

/* How long the collector may be away before anything is stored: most failures are over at once. */
#define PATIENCE_NS (1 * NS_PER_SECOND)
/* The same if it is only busy: what is stored is delivered behind all that was stored before. Who hands over
 * spans waits for less than ten seconds mostly. */
#define BUSY_NS (5 * NS_PER_SECOND)
/* How long batches wait for a commit. */
#define GROUP_NS (500 * NS_PER_MS)
/* The same of both while a place in the checkpoint waits for them: what the other outputs get until it holds
 * is delivered a second time if the agent is killed. */
#define MARKED_NS (50 * NS_PER_MS)

/* When what has waited longest for a busy collector, which takes some in between, has waited long enough. */
static int64_t late_at(const struct backlog *backlog, int64_t stored_at)
{
	if (!backlog->oldest || backlog->oldest >= backlog->busy_at)
		return INT64_MAX;
	return MAX(backlog->oldest + BUSY_NS, stored_at + GROUP_NS);
}

static int64_t away_at(const struct backlog *backlog, int64_t stored_at)
{
	if (backlog->delivering)
		return INT64_MAX;
	if (backlog->unsettled)
		return MAX(backlog->since, stored_at) + MARKED_NS;
	return MAX(backlog->since + (backlog->busy ? BUSY_NS : PATIENCE_NS), stored_at + GROUP_NS);
}

int64_t due_at(const struct backlog *backlog, int64_t stored_at)
{
	return backlog->waiting_bytes ? MIN(late_at(backlog, stored_at), away_at(backlog, stored_at))
				      : INT64_MAX;
}

size_t due_bytes(const struct backlog *backlog, int64_t stored_at, int64_t now)
{
	size_t waiting = backlog->waiting_bytes, limit = backlog->limit;

	if (now >= due_at(backlog, stored_at) || (!backlog->delivering && waiting > limit / 8))
		return waiting;
	return waiting > limit / 2 ? waiting - limit * 3 / 8 : 0;
}
