/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scribe's Log() on the wire: Thrift's framed transport, TBinary with a strict header, packed by hand. Calls
 * are pipelined; a call is refused as a whole, by an exception.
 */
#ifndef NET_SCRIBE_H
#define NET_SCRIBE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "net/wire.h"

/* Bytes that scribe_put_head writes, and scribe_put_tail. */
#define SCRIBE_HEAD_SIZE 27
#define SCRIBE_TAIL_SIZE 1

/* Appends one LogEntry, an element of the list that Log() carries: its message is @span in base64. */
void scribe_put_entry(struct buffer *entries, const char *category, size_t category_size, const uint8_t *span,
	size_t span_size);

/* Writes what stands before the entries: frame length, message header, args struct, list header. */
void scribe_put_head(uint8_t head[SCRIBE_HEAD_SIZE], int32_t seqid, uint32_t count, size_t entries_size);

/* Writes what stands behind them: the end of the args struct. */
void scribe_put_tail(uint8_t tail[SCRIBE_TAIL_SIZE]);

/* Log() with spans, as messages of that @category, which is copied; */
struct wire *scribe_create(const char *category);
/* the same with items that go as they are; */
struct wire *scribe_create_plain(const char *category);
/* with messages (message.h), each of its own category, as it came. */
struct wire *scribe_create_messages(void);

#endif
