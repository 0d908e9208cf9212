/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The keeper keeps a session at hand: it creates one, or takes up the one that the last run left; reads it;
 * and when it is gone, or records no more, reads what relayd's files still have of it before it makes
 * another.
 *
 * A kept session is taken up in an order that loses nothing: what is on disk is read until little is left;
 * then the reader attaches, and its messages are held; what has come to disk until then is read; and then the
 * messages are released. Disk and live overlap, and what comes twice is left out by its position.
 *
 * It belongs to the thread that reads.
 */
#ifndef READER_KEEPER_H
#define READER_KEEPER_H

#include <stdbool.h>

#include "config/config.h"
#include "reader/agentlink.h"
#include "reader/assemble/pipeline.h"
#include "reader/progress.h"
#include "reader/runstate.h"

struct keeper;

/* What it works with; all borrowed. */
struct keeper_parts {
	const struct config *config;
	struct pipeline *pipeline;
	struct progress *progress;
	struct runstate *state;
	struct agent_link *link;
};

/* @orders: how to begin. NULL if no thread can be had for the watch over the session. */
struct keeper *keeper_create(const struct keeper_parts *parts, const struct orders *orders);

/*
 * Does what the session needs next, and returns when that has ended: because the agent is to stop, or because
 * something went wrong. Returns whether to call it again at once rather than after a pause.
 */
bool keeper_run(struct keeper *keeper);

/* A stop, and the session at hand is not to outlive it: ends it, and reads it to its end, within the stop's
 * time. */
void keeper_stop(struct keeper *keeper);

/* Removes what relayd left of sessions that are over. */
void keeper_clean(struct keeper *keeper);

/* Takes what a reload changed. Any thread. */
void keeper_configure(struct keeper *keeper, const struct settings *settings);

/* A snapshot of the flight recorder is to be taken; the agent is told of it by this number. Any thread. */
void keeper_take_snapshot(struct keeper *keeper, uint64_t number);

void keeper_destroy(struct keeper *keeper);

#endif
