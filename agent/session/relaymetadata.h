/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How large the metadata are that lttng-relayd has of each user.
 *
 * They tell of each event that a user's programs have registered, whether it was ever logged or not, and no
 * setting of LTTng's bounds them. babeltrace2 reads them whole, and takes many times their size for it: so
 * whoever has too many is known by what is on disk, before they are read.
 */
#ifndef SESSION_RELAYMETADATA_H
#define SESSION_RELAYMETADATA_H

#include "session/relayfiles.h"

/* No user's programs need more: all events of BlkKin take about 20 KiB. */
#define RELAY_METADATA_MAX (1024 * 1024)

struct relay_metadata {
	uint64_t user;
	uint64_t size; /* in bytes: of both word sizes together */
};

/* The users whose metadata are larger than @most, by number (of struct relay_metadata, to be unreffed); most
 * often none. */
GArray *relay_metadata_above(struct relayfiles *files, uint64_t most);

#endif
