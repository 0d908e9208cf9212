/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which streams of a session move. Of each, lttng-consumerd passes on a packet or, while it is idle, a time,
 * with every turn of the live timer. It passes on nothing of a stream whose ring buffer holds an event that
 * was begun and not ended: its program was killed, or is stopped, in the middle of it. LTTng before 2.15
 * never gets past that; all that programs of the user record on that CPU stays away, and live reading, which
 * merges the streams by time, ends for all.
 */
#ifndef SESSION_RELAYPROBE_H
#define SESSION_RELAYPROBE_H

#include <glib.h>

#include "config/config.h"
#include "session/viewer.h"

enum probed {
	PROBED_MOVES,   /* all streams do */
	PROBED_STUCK,   /* some of programs do, and some of programs do not */
	PROBED_KERNEL,  /* only some of the kernel do not: its consumer daemon is stopped, say */
	PROBED_STILL,   /* none of programs does: their consumer daemon passes on nothing, or all are stuck */
	PROBED_ALONE,   /* those of the kernel do, and there are no others */
	PROBED_NOTHING, /* there are no streams */
	PROBED_FAILED   /* the relay daemon does not answer, or another viewer is attached */
};

/* Looks for about two seconds, or until all streams have moved. Appends those of programs that do not (struct
 * viewer_stream) to @stuck. No reader may be attached. With a slow live timer that is five turns of it: so
 * @turn is called whenever the relay daemon has answered, several times a second. */
enum probed relayprobe_run(const struct config *config, const struct session_identity *session, GArray *stuck,
	void (*turn)(void *data), void *data);

#endif
