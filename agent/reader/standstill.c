/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Streams that stand still: keeperparts.h.
 *
 * With each turn of the live timer the consumer daemon sends, of each stream, what was recorded, or that
 * nothing was; so a session that records is never silent. If it is, what programs record stays where it is,
 * although all daemons may answer: the consumer daemon's timer may be caught in a fault that a program's
 * buffers cause.
 */
#include "reader/keeperparts.h"

#include "base/clock.h"

/* So long, and so many turns of the live timer, a session may be silent. */
#define SILENT_NS (5 * NS_PER_SECOND)
#define SILENT_TURNS 10
/* So often it is looked whether there are any streams. */
#define LOOK_NS (1 * NS_PER_SECOND)
/* Between two looks no more counts as silence, beside their pause: the agent itself may have been stopped. */
#define STEP_NS (500 * NS_PER_MS)

void keeper_consumer_stands_still(struct keeper *keeper, bool still)
{
	const char *session = progress_session(keeper->progress)->name;

	if (still == keeper->still)
		return;
	keeper->still = still;
	if (still)
		runstate_waits(keeper->state, REASON_CONSUMER_STILL,
			"lttng-consumerd passes on nothing of what programs record, although it answers");
	else
		runstate_collects(keeper->state, session, false);
}

void keeper_begins_to_listen(struct keeper *keeper)
{
	keeper->silence = 0;
	keeper->listened = clock_monotonic();
}

void keeper_hears(struct keeper *keeper)
{
	keeper->silence = 0;
	keeper->probe_next = 0;
	keeper->stuck[0] = '\0';
	keeper_consumer_stands_still(keeper, false);
}

/* A reader that attached while nothing moves is told of none, but another one was before. */
static bool has_streams(const struct keeper *keeper, const struct reader *reader)
{
	return reader_streams(reader) > reader_ended_streams(reader) ||
	       positions_count(progress_positions(keeper->progress)) > 0 ||
	       livereader_has_traces(keeper->live);
}

bool keeper_hears_nothing(struct keeper *keeper, const struct reader *reader)
{
	int64_t now = clock_monotonic();

	keeper->silence += MIN(now - keeper->listened, keeper->paused + STEP_NS);
	keeper->listened = now;
	if (now < keeper->probe_next ||
		keeper->silence < MAX(SILENT_NS, SILENT_TURNS * keeper->config->live_timer))
		return false;
	keeper->probe_next = now + LOOK_NS;
	return has_streams(keeper, reader);
}
