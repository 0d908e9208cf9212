/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scribe's Log() on the wire: Thrift's framed transport, TBinary, packed by hand. No I/O here.
 *
 * The call is written strict; the reply is read in both header forms, as the classic Scribe server answers
 * non-strict.
 */
#ifndef SCRIBE_H
#define SCRIBE_H

#include <stddef.h>
#include <stdint.h>

#include "buffer.h"

/* Bytes that scribe_put_head writes, and scribe_put_tail. */
#define SCRIBE_HEAD_SIZE 27
#define SCRIBE_TAIL_SIZE 1
/* A reply larger than this is not one to Log(). */
#define SCRIBE_REPLY_MAX (64 * 1024)

/* Appends one LogEntry, an element of the list that Log() carries: its message is @span in base64. */
void scribe_put_entry(struct buffer *entries, const char *category, size_t category_size, const uint8_t *span,
	size_t span_size);

/* Writes what goes before the entries: frame length, message header, args struct, list header. */
void scribe_put_head(uint8_t head[SCRIBE_HEAD_SIZE], int32_t seqid, uint32_t count, size_t entries_size);

/* Writes what goes behind them: the end of the args struct. */
void scribe_put_tail(uint8_t tail[SCRIBE_TAIL_SIZE]);

enum scribe_reply {
	SCRIBE_OK,
	SCRIBE_TRY_LATER,
	SCRIBE_EXCEPTION, /* the server refuses the call as a whole */
	SCRIBE_PARTIAL,   /* more bytes are needed */
	SCRIBE_GARBAGE    /* not a reply to Log() */
};

/*
 * Reads one framed reply from the @size bytes at @data. On OK, TRY_LATER and EXCEPTION, *seqid is the call's
 * and *used the bytes of the frame; on EXCEPTION, @message (of @message_size bytes) gets the server's words,
 * printable, cut to fit; on GARBAGE it says what is wrong.
 */
enum scribe_reply scribe_read_reply(
	const uint8_t *data, size_t size, int32_t *seqid, size_t *used, char *message, size_t message_size);

#endif
