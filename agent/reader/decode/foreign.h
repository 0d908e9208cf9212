/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events that are no part of a span, as records. It keeps a plan for each event class that it has met.
 */
#ifndef READER_DECODE_FOREIGN_H
#define READER_DECODE_FOREIGN_H

#include <babeltrace2/babeltrace.h>

#include "core/clocksteps.h"
#include "reader/assemble/pipeline.h"

struct foreign;

/* @patterns: of the names of the events that are wanted, ended by NULL; NULL: all. Both are borrowed. */
struct foreign *foreign_create(struct pipeline *pipeline, char *const *patterns);
void foreign_destroy(struct foreign *foreign);

/*
 * Puts an event into the pipeline, as it is, or as half of a pair; false if that wants none, or not this one.
 * @steps, of its clock, or NULL, date it; @now is the pipeline's clock. Of @whose, what is known of the user
 * is read.
 */
bool foreign_take(struct foreign *foreign, const bt_message *message, const struct event *whose,
	struct clock_steps *steps, int64_t now);

#endif
