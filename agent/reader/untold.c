/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/untold.h"

#include <unistd.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "session/viewer.h"

/* Between two looks, or longer. */
#define PERIOD_NS (1 * NS_PER_SECOND)
/* So many in a row must find such streams. */
#define LOOKS 2

/* How many streams relayd lists; 0: it does not answer. */
static uint32_t count_listed(const struct config *config, const struct session_identity *session)
{
	struct viewer_session listed = {0};
	int fd = viewer_open(config);

	if (fd < 0)
		return 0;
	viewer_find(fd, session, &listed);
	close(fd);
	return listed.streams;
}

void untold_attach(struct untold *untold, const struct session_identity *session)
{
	untold->attached = count_listed(untold->config, session);
	untold->looks = 0;
}

/* With the metadata of each trace. */
static uint32_t count_known(const struct untold *untold, const struct reader *reader)
{
	return MAX(untold->attached, reader_streams(reader) + reader_traces(reader));
}

bool untold_look(struct untold *untold, const struct session_identity *session,
	const struct positions *positions, const struct reader *reader)
{
	uint64_t moves = positions_moves(positions);
	int64_t now = clock_monotonic();
	bool moved = moves != untold->moves;

	if (now < untold->next)
		return false;
	untold->next = now + MAX(PERIOD_NS, 2 * untold->config->live_timer);
	untold->moves = moves;
	/* relayd tells of them with what comes */
	untold->looks = !moved && count_listed(untold->config, session) > count_known(untold, reader)
				? untold->looks + 1
				: 0;
	if (untold->looks < LOOKS)
		return false;
	log_info("there are programs that lttng-relayd does not report while all others are idle: attaching "
		 "to the session again");
	return true;
}
