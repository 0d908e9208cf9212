/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/cleanup.h"

#include <glib.h>

#include "base/clock.h"
#include "session/relayremove.h"
#include "session/session.h"

/* What could not be removed is tried so often, with such pauses: relayd may not be quite done with it. */
#define TRIES_MAX 60
#define PAUSE_NS (1 * NS_PER_SECOND)

/* Returns false if another try may do better. */
static bool remove_files(const struct config *config, const struct session_identity *session)
{
	struct relayfiles *files;
	char error[512];
	enum relayfiles_status status =
		relayfiles_open(config->relay_output, session, &files, error, sizeof(error));
	bool removed;

	if (status != RELAYFILES_OK)
		return status != RELAYFILES_BUSY;
	removed = relay_remove(files);
	relayfiles_close(files);
	return removed;
}

/* A session that another one has replaced is still there: what was read of it is settled only now. */
static bool take_down(struct cleanup *cleanup, const struct session_identity *session)
{
	bool gone = session_take_down(cleanup->config, session, cleanup->cleared == session->created);

	cleanup->cleared = gone ? 0 : session->created;
	return gone;
}

void cleanup_run(struct cleanup *cleanup)
{
	const GArray *over = progress_over(cleanup->progress);
	bool last;

	if (!over->len || clock_monotonic() < cleanup->next)
		return;
	if (over->len > cleanup->left)
		cleanup->tries = 0; /* what has ended since then has as many, too */
	last = ++cleanup->tries >= TRIES_MAX;
	for (guint i = over->len; i-- > 0;) {
		const struct session_identity *session = &g_array_index(over, struct session_identity, i);

		if (!take_down(cleanup, session) && !last)
			break;
		if (remove_files(cleanup->config, session) || last)
			progress_removed(cleanup->progress, i);
	}
	cleanup->next = over->len ? clock_monotonic() + PAUSE_NS : 0;
	cleanup->left = over->len;
}
