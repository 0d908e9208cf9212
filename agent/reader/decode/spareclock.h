/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clock of a live trace that has no stream class yet.
 *
 * A program that is killed while it registers leaves buffers, and metadata that say nothing of what is in
 * them until another program of its user registers. When such a stream is idle, babeltrace2's plugin ctf
 * asserts that its trace has a clock: 2.0 takes that from the first stream class as it makes the trace, and
 * never looks again; 2.1 reads at address 0. So the process would end, and no user's programs could be read
 * live.
 *
 * Three functions of libbabeltrace2 have another one in front of them here, which the plugin calls: it makes
 * a trace class, its clock class, what stream classes there are, then the trace. A trace class that has none
 * by then gets one with that clock, which no stream is of. Those that the metadata declare later have ids of
 * their own, so nothing else changes. 2.1 makes a clock class only for a stream class: there it is the clock
 * of another user's trace, which LTTng sets alike, or one that is made.
 */
#ifndef READER_DECODE_SPARECLOCK_H
#define READER_DECODE_SPARECLOCK_H

/* From now on the traces that this thread makes have a clock. */
void spareclock_lend(void);

#endif
