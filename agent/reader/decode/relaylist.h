/* SPDX-License-Identifier: BSD-2-Clause */
/* Which live sessions lttng-relayd has, as babeltrace2 lists them. */
#ifndef READER_DECODE_RELAYLIST_H
#define READER_DECODE_RELAYLIST_H

#include <stdbool.h>

#include "config/config.h"
#include "session/sessionid.h"

/*
 * Whether relayd lists a live session of that name and this host: not if it cannot be asked. It goes on
 * listing one for a while after it was destroyed.
 */
bool relaylist_has(const struct config *config, const struct session_identity *session);

#endif
