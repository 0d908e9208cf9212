/* SPDX-License-Identifier: BSD-2-Clause */
#include "notify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>
#include <systemd/sd-daemon.h>

#include "base/clock.h"

/* Interval of the timer: how old the status text may be, and how late a keep-alive. */
#define TICK_NS (1 * NS_PER_SECOND)

/* The longest time that a stop takes besides its two stages. */
#define STOP_MORE_NS (10 * NS_PER_SECOND)

struct notify {
	const struct status_source *source;
	struct event *tick;       /* NULL: nobody listens */
	int64_t watchdog;         /* half of the watchdog's interval, ns; 0: no watchdog */
	int64_t alive_said;       /* when the last keep-alive was sent, CLOCK_MONOTONIC ns */
	int64_t progress_counted; /* the supervisor's progress at that time */
	bool ready, stopping;
	char text[512]; /* the status that was sent last */
};

static void tell_status(struct notify *notify)
{
	struct buffer line = {0};
	char text[sizeof(notify->text)];

	status_write_line(&line, notify->source);
	buffer_put(&line, "", 1);
	g_strlcpy(text, (const char *)line.data, sizeof(text));
	if (strcmp(text, notify->text) != 0) {
		memcpy(notify->text, text, sizeof(text));
		sd_notifyf(0, "STATUS=%s", notify->text);
	}
	buffer_free(&line);
}

static void tell_alive(struct notify *notify)
{
	int64_t now = clock_monotonic(), progress = supervisor_progress(notify->source->supervisor);

	if (now - notify->alive_said < notify->watchdog)
		return;
	if (progress == notify->progress_counted && !notify->stopping)
		return;
	notify->alive_said = now;
	notify->progress_counted = progress;
	sd_notify(0, "WATCHDOG=1");
}

static void on_tick(evutil_socket_t fd, short what, void *data)
{
	struct notify *notify = data;

	(void)fd;
	(void)what;
	if (!notify->ready)
		return;
	if (!notify->stopping)
		tell_status(notify);
	if (notify->watchdog)
		tell_alive(notify);
}

struct notify *notify_create(struct event_base *base, const struct status_source *source)
{
	struct notify *notify = g_new0(struct notify, 1);
	struct timeval time = {.tv_sec = 1};
	uint64_t interval_us;

	notify->source = source;
	if (!getenv("NOTIFY_SOCKET"))
		return notify;
	if (sd_watchdog_enabled(0, &interval_us) > 0)
		notify->watchdog = (int64_t)(interval_us / 2) * 1000;
	if (notify->watchdog && notify->watchdog / 4 < TICK_NS)
		time = (struct timeval){0, notify->watchdog / 4 / 1000};
	notify->tick = event_new(base, -1, EV_PERSIST, on_tick, notify);
	event_add(notify->tick, &time);
	return notify;
}

void notify_ready(struct notify *notify)
{
	notify->ready = true;
	sd_notify(0, "READY=1");
	if (notify->tick)
		tell_status(notify);
}

void notify_reloading(void)
{
	/* the manager uses the time to match READY=1 with a reload */
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRId64, clock_monotonic() / 1000);
}

void notify_stopping(struct notify *notify)
{
	notify->stopping = true;
	/* two stages and the end may take longer than the manager's default limit */
	sd_notifyf(0,
		"STOPPING=1\nSTATUS=stopping: reading what was recorded, then delivering "
		"it\nEXTEND_TIMEOUT_USEC=%" PRId64,
		(2 * notify->source->config->stop_timeout + STOP_MORE_NS) / 1000);
}

void notify_destroy(struct notify *notify)
{
	if (notify->tick)
		event_free(notify->tick);
	g_free(notify);
}
