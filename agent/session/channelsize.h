/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session's channels, and how large they are. Nothing here calls liblttng-ctl, with which the agent's own
 * process is not linked: its calls may hang.
 */
#ifndef SESSION_CHANNELSIZE_H
#define SESSION_CHANNELSIZE_H

#include <stdint.h>

#include <lttng/lttng.h>

#include "config/config.h"

/* The session's channels: the programs' spans, their other events, and the kernel's. */
#define CHANNEL "spans"
#define EVENTS_CHANNEL "events"
#define KERNEL_CHANNEL "kernel"

/* The processors that there can be: LTTng has a ring for each. */
uint64_t channelsize_cpus(void);

/* How large the channel @name is to be. */
void channelsize_of(const struct config *config, const char *name, struct lttng_channel_attr *attr);

#endif
