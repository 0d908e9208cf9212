/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reply to Scribe's Log(), read in both of TBinary's header forms, as the classic Scribe server answers
 * in the old one, without version. Everything in it is untrusted.
 */
#ifndef WIRE_SCRIBEREPLY_H
#define WIRE_SCRIBEREPLY_H

#include <stddef.h>
#include <stdint.h>

/* A reply larger than this is not one to Log(). */
#define SCRIBE_REPLY_MAX (64 * 1024)

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
