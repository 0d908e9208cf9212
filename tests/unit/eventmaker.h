/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of any field class, also those that CTF 1.8 does not have, made of bytes that say which; and what
 * the encoders must make of each, written down by other code than theirs.
 */
#ifndef EVENTMAKER_H
#define EVENTMAKER_H

#include <stddef.h>
#include <stdint.h>

#include <babeltrace2/babeltrace.h>
#include <glib.h>

struct event_maker {
	/* what to make */
	const uint8_t *data, *end;
	unsigned depth, fields;
	const char *name; /* NULL: "made" */
	/* what is expected: the JSON's payload, its `bytes` ("" if there are none), and the body of a
	 * LogRecord as text of the same form */
	GString *payload, *bytes, *body;
	/* takes each event message */
	void (*take)(void *user, const bt_message *message);
	void *user;
};

/* Makes one event of @size bytes at @data, and gives it to @maker->take. */
void event_maker_run(struct event_maker *maker, const uint8_t *data, size_t size);
void event_maker_free(struct event_maker *maker);

/* Text as the JSON of an event has it, with its quotes. */
void event_maker_put_text(GString *out, const char *text, size_t size);

#endif
