/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The messages of several streams on disk, by time. babeltrace2's muxer does the same through its queues, and
 * looks at every stream for each message: a tenth of what reading a span takes, and more with more streams.
 */
#ifndef READER_DECODE_MERGE_H
#define READER_DECODE_MERGE_H

#include <babeltrace2/babeltrace.h>

struct merge;

/* Merges what comes to @count ports of the sink; NULL on failure. */
struct merge *merge_create(bt_self_component_sink *sink, uint64_t count);
void merge_destroy(struct merge *merge);

/*
 * Gives the next messages of one stream, @most at the most, if it returns OK: they are the caller's, their
 * array until the next call. END if there are none left. Messages without a time of their own come with what
 * is before them in their stream.
 */
bt_message_iterator_next_status merge_next(
	struct merge *merge, uint64_t most, bt_message_array_const *messages, uint64_t *count);

#endif
