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

/* The bytes of ring buffer for each user: `memory` in [session], or what it has grown to. Any thread. */
uint64_t channelsize_memory(const struct config *config);

/* From now on they are at least @memory; 0: what the configuration says. */
void channelsize_grow(uint64_t memory);

/* How large the channel @name is to be. The kernel's does not grow. */
void channelsize_of(const struct config *config, const char *name, struct lttng_channel_attr *attr);

/* The bytes that all buffers of a user would take with @memory instead. */
uint64_t channelsize_sum(const struct config *config, uint64_t memory);

#endif
