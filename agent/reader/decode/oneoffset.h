/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All traces of one clock that a thread reads have one offset: clockoffsets.h says why.
 *
 * babeltrace2 dates events by the offset of their trace's clock class, merges live streams by that, and lets
 * nobody change it once the trace is there. So a function of libbabeltrace2 has another one in front of it
 * here: the plugin ctf gives a clock class to a stream class when it knows all of it; before that happens,
 * the clock class is given the offset that its clock has.
 */
#ifndef READER_DECODE_ONEOFFSET_H
#define READER_DECODE_ONEOFFSET_H

#include "core/clockoffsets.h"

/* From now on the traces that this thread makes have the offsets of this table, which is borrowed, and
 * which they may add to. To be called before each call in which babeltrace2 may make a trace. NULL: those
 * that they say. */
void oneoffset_use(struct clock_offsets *offsets);

#endif
