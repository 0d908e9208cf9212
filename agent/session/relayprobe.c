/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/relayprobe.h"

#include <unistd.h>

#include "base/clock.h"
#include "session/position.h"

/* Between the first look and the last one, or as many turns of the live timer if that is longer: the time of
 * a daemon that is busy. */
#define LOOK_NS (2 * NS_PER_SECOND)
#define LOOK_TURNS 5
/* A look asks for so many packets at most: what comes is news, so there is no need for all of it. */
#define PACKETS_MAX 16
/* The relay daemon takes a moment to let go of the last viewer. */
#define ATTACH_TRIES 20
#define ATTACH_PAUSE_US 50000

struct probed_stream {
	bool moves, ended, heard;
	uint64_t time; /* up to when it was idle */
};

/* Takes what is new of a stream; @first: that shows nothing, as it may be old. False if the relay daemon does
 * not answer. */
static bool look_at(int fd, const struct viewer_stream *stream, struct probed_stream *probed, bool first)
{
	enum viewer_next next = VIEWER_PACKET;
	uint64_t time = 0;

	for (int i = 0; i < PACKETS_MAX && next == VIEWER_PACKET; i++) {
		next = viewer_next(fd, stream->id, &time);
		probed->moves |= next == VIEWER_PACKET && !first;
	}
	if (next == VIEWER_IDLE) {
		probed->moves |= !first && (!probed->heard || time > probed->time);
		probed->time = time;
		probed->heard = true;
	}
	probed->ended |= next == VIEWER_ENDED;
	return next != VIEWER_FAILED;
}

static bool look(int fd, const GArray *streams, struct probed_stream *probed, bool first)
{
	for (guint i = 0; i < streams->len; i++)
		if (!probed[i].ended && !probed[i].moves &&
			!look_at(fd, &g_array_index(streams, struct viewer_stream, i), &probed[i], first))
			return false;
	return true;
}

/* The kernel's streams have a consumer daemon of their own, and tell nothing of programs'. */
static enum probed judge(const GArray *streams, const struct probed_stream *probed, GArray *stuck)
{
	guint moving = 0, still = 0, kernel = 0;

	for (guint i = 0; i < streams->len; i++) {
		const struct viewer_stream *stream = &g_array_index(streams, struct viewer_stream, i);

		if (probed[i].ended)
			continue;
		moving += probed[i].moves && stream->user != KERNEL_USER;
		kernel += probed[i].moves && stream->user == KERNEL_USER;
		still += !probed[i].moves;
		if (!probed[i].moves && stream->user != KERNEL_USER)
			g_array_append_val(stuck, *stream);
	}
	if (!still && !moving)
		return kernel ? PROBED_ALONE : PROBED_NOTHING;
	if (!still)
		return PROBED_MOVES;
	if (!stuck->len)
		return PROBED_KERNEL;
	return moving ? PROBED_STUCK : PROBED_STILL;
}

/* Whether there is a stream of which it is not known yet. */
static bool waits(const struct probed_stream *probed, guint count)
{
	for (guint i = 0; i < count; i++)
		if (!probed[i].moves && !probed[i].ended)
			return true;
	return false;
}

static enum probed probe(const struct config *config, int fd, const GArray *streams, GArray *stuck,
	void (*turn)(void *data), void *data)
{
	g_autofree struct probed_stream *probed = g_new0(struct probed_stream, streams->len + 1);
	int64_t until = clock_monotonic() + MAX(LOOK_NS, LOOK_TURNS * config->live_timer);
	bool answers = look(fd, streams, probed, true);

	while (answers && waits(probed, streams->len) && clock_monotonic() < until) {
		turn(data);
		g_usleep((gulong)CLAMP(config->live_timer / 1000, 10000, 200000));
		answers = look(fd, streams, probed, false);
	}
	return answers ? judge(streams, probed, stuck) : PROBED_FAILED;
}

enum probed relayprobe_run(const struct config *config, const struct session_identity *session, GArray *stuck,
	void (*turn)(void *data), void *data)
{
	g_autoptr(GArray) streams = g_array_new(FALSE, TRUE, sizeof(struct viewer_stream));
	enum probed probed = PROBED_FAILED;
	int fd = viewer_open(config);
	struct viewer_session listed;
	bool attached = false;

	if (fd < 0)
		return PROBED_FAILED;
	for (int i = 0; i < ATTACH_TRIES && !attached && viewer_find(fd, session, &listed); i++) {
		attached = viewer_attach(fd, listed.id, streams);
		if (!attached)
			g_usleep(ATTACH_PAUSE_US);
	}
	if (attached)
		probed = probe(config, fd, streams, stuck, turn, data);
	close(fd);
	return probed;
}
