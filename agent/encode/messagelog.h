/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A message of Scribe's (net/message.h) as a LogRecord of OpenTelemetry, an item as encode/otlp.h has them:
 * the payload is the body, a string or, where it is not UTF-8, bytes; the attribute `scribe.category` is the
 * category; the time when it came is the time at which it was observed. One that is a log record of OTLP
 * already (encode/otlplogs.h) goes on as it was.
 */
#ifndef ENCODE_MESSAGELOG_H
#define ENCODE_MESSAGELOG_H

#include "net/message.h"

#define MESSAGELOG_CATEGORY "scribe.category"

/* Appends the item. */
void messagelog_put(struct buffer *out, const struct message *message);

#endif
