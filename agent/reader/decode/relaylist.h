/* SPDX-License-Identifier: BSD-2-Clause */
/* Which live sessions lttng-relayd has, as babeltrace2 lists them. */
#ifndef READER_DECODE_RELAYLIST_H
#define READER_DECODE_RELAYLIST_H

#include <stdbool.h>

#include "config/config.h"

/*
 * Whether relayd lists a live session @name of this host: not if it cannot be asked. It goes on listing one
 * for a while after it was destroyed.
 */
bool relaylist_has(const struct config *config, const char *name);

#endif
