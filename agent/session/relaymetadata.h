/* SPDX-License-Identifier: BSD-2-Clause */
/* What a trace of lttng-relayd's says of itself, as far as it matters before it is read. */
#ifndef SESSION_RELAYMETADATA_H
#define SESSION_RELAYMETADATA_H

#include <stdbool.h>

#include "session/relayfiles.h"

/* Whether its metadata declare a class of streams, or may: if not, no program has come to record in it. */
bool relay_metadata_have_streams(struct relayfiles *files, const struct stream_key *key);

#endif
