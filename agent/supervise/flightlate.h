/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which spans are late, for the flight recorder: those that take longer than [thresholds] has for the 99th
 * percentile of their name, or, without that, for their mean; and those with an error, of names that have any
 * limit: of others nobody has said that they matter.
 *
 * For the thread that counts.
 */
#ifndef SUPERVISE_FLIGHTLATE_H
#define SUPERVISE_FLIGHTLATE_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "queue/batch.h"
#include "stats/statistics.h"

struct flight_late;

struct flight_late *flight_late_create(void);
void flight_late_destroy(struct flight_late *late);

/* Takes over @thresholds, a list of thresholds.h. */
void flight_late_configure(struct flight_late *late, GPtrArray *thresholds);

/* Whether span @i is, after statistics_take, for whoever holds the statistics; the spans have traits. */
bool flight_late_is(
	struct flight_late *late, const struct namer *namer, const struct items *spans, uint32_t i);

#endif
