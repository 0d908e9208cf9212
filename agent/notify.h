/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports to the service manager (sd_notify): ready, reloading, stopping, one line of status, and the
 * watchdog's keep-alive. Without NOTIFY_SOCKET in the environment nothing is sent.
 *
 * The keep-alive shows that both the main loop, whose timer sends it, and the thread that watches the reader
 * are alive: it is sent at half the watchdog's interval, but only if that thread has made progress since the
 * last one.
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
void notify_reloading(void);

/* A stop begins. It has its own time limits, so from here on the main loop alone sends keep-alives. */
void notify_stopping(struct notify *notify);

void notify_destroy(struct notify *notify);

#endif
