/* SPDX-License-Identifier: BSD-2-Clause */
/* What tells babeltrace2's streams apart, as LTTng's traces say it. */
#ifndef READER_DECODE_STREAMKEY_H
#define READER_DECODE_STREAMKEY_H

#include <stdbool.h>

#include <babeltrace2/babeltrace.h>

#include "session/position.h"

struct stream_key stream_key_of(const bt_stream *stream);

/* Whether its events are dated by CLOCK_MONOTONIC. */
bool stream_is_monotonic(const bt_stream *stream);

#endif
