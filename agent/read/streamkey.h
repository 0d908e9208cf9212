/* SPDX-License-Identifier: BSD-2-Clause */
/* What tells a stream of a session from the others, and what its clock is. */
#ifndef READ_STREAMKEY_H
#define READ_STREAMKEY_H

#include <stdbool.h>

#include <babeltrace2/babeltrace.h>

#include "session/position.h"

struct stream_key stream_key_of(const bt_stream *stream);

/* Its clock is CLOCK_MONOTONIC. */
bool stream_is_monotonic(const bt_stream *stream);

#endif
