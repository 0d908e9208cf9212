/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flight recorder's side of the agent: of a late span's trace it asks the reader for a snapshot of what
 * the kernel did (session/flightsession.h), has `blkin why` find out where the time went, in a process of its
 * own, and keeps the answer below the state directory (flightfolder.h). One at a time, a few a minute.
 *
 * It belongs to the supervisor's thread.
 */
#ifndef SUPERVISE_FLIGHT_H
#define SUPERVISE_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "config/config.h"
#include "queue/batch.h"
#include "stats/statistics.h"

struct flight;

/* What an agent before this one has left unfinished is removed. */
struct flight *flight_create(const struct config *config);

/* Ends what it does, and removes what is not finished. */
void flight_destroy(struct flight *flight);

/* Another configuration holds, which is also @text, for the process. Any thread. */
void flight_configure(struct flight *flight, const struct config *config, const struct buffer *text);

/* Looks for late ones among spans that were counted, after statistics_take, for whoever holds the statistics.
 */
void flight_see(struct flight *flight, const struct namer *namer, const struct items *spans);

/* Goes on with what is under way; to be called again and again. Returns the number of a snapshot that the
 * reader is to be asked for; 0: none. @ready: the reader can be asked. */
uint64_t flight_tick(struct flight *flight, bool ready);

/* The reader has taken the snapshot of this number, or could not, and said why. */
void flight_snapped(struct flight *flight, uint64_t number, const char *error);

#endif
