/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the agent tells the service manager (sd_notify): ready, reloading, stopping, its state in one line,
 * and the watchdog's sign of life. Without NOTIFY_SOCKET in the environment nothing is sent.
 *
 * The sign of life is one of the main loop, whose timer sends it, and of the collector's thread too: at half
 * the watchdog's interval, but only if that thread has moved since the last one. So a call into LTTng or
 * babeltrace2 may take the whole interval, which is far more than any does that is well, and one that takes
 * one and a half always trips the watchdog.
 */
#ifndef NOTIFY_H
#define NOTIFY_H

#include <event2/event.h>

#include "status/status.h"

struct notify;

/* @source is borrowed. Nothing is sent before notify_ready. */
struct notify *notify_create(struct event_base *base, const struct status_source *source);

/* Started: everything listens and runs; or a reload is over. */
void notify_ready(struct notify *notify);

/* A reload begins; notify_ready ends it. */
void notify_reloading(struct notify *notify);

/* A stop begins, which has limits of its own: from here on the main loop alone keeps the watchdog quiet. */
void notify_stopping(struct notify *notify);

void notify_destroy(struct notify *notify);

#endif
