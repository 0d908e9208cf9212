/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader: babeltrace2 in process, from a live session or from CTF traces on disk, into an intake.
 *
 * Live, the source's one port is connected straight to our sink: it merges the streams itself, and a muxer
 * would cost another tenth. All calls belong to one thread.
 */
#ifndef READER_DECODE_READER_H
#define READER_DECODE_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "reader/decode/intake.h"

struct reader;

enum reader_status {
	READER_MORE, /* read something; call again */
	READER_IDLE, /* nothing to read at the moment */
	READER_END,  /* the session is gone, or the files are read */
	READER_ERROR /* reader_error tells what */
};

/* Reads the live session at @url (net://HOST:PORT/host/HOSTNAME/SESSION); NULL on failure, @error then says
 * why. */
struct reader *reader_open_live(
	const char *url, const struct intake_options *into, char *error, size_t error_size);

/*
 * Reads the CTF traces in @dirs (each holds a `metadata` file), merged by time. NULL on failure, @error then
 * says why. With @into NULL, what is read is thrown away.
 */
struct reader *reader_open_files(
	char *const *dirs, size_t count, const struct intake_options *into, char *error, size_t error_size);

/*
 * From now on, babeltrace2 writes to standard error what it finds wrong with traces on disk: often the only
 * place where it does.
 */
void reader_log_errors(void);

/* Reads some messages. */
enum reader_status reader_step(struct reader *reader);

/* While @hold is set, what is read is held back; it is taken with the first step after that. */
void reader_hold(struct reader *reader, bool hold);

/* How many traces have sent packets, and whether that of stream @key has. */
unsigned reader_traces(const struct reader *reader);
bool reader_has_trace(const struct reader *reader, const struct stream_key *key);

/* How many streams have begun. In a session that records, each sends messages with every turn of the live
 * timer, be it that nothing was recorded. */
unsigned reader_streams(const struct reader *reader);

/* How many streams have ended: in a session that records, none does. */
unsigned reader_ended_streams(const struct reader *reader);

/* What went wrong, in one line; valid until reader_close. */
const char *reader_error(const struct reader *reader);

void reader_close(struct reader *reader);

#endif
